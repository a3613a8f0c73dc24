"""The threads behind commands and passes: a queue, and nothing that a signal can leave locked.

A signal handler's exception (Ctrl-C) may come between any two lines of Python on the main thread. The
locks inside concurrent.futures and threading.Event are handled in Python and would stay locked for
good; SimpleQueue and Lock are C, and are either taken or not.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


class Renewable(Protocol):
    """What has locks of its own."""

    def renew(self) -> None:
        """Called in a forked child: the threads that may have held the locks are gone."""


_renewables: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_in_child(owner: Renewable) -> None:
    """Let a forked child renew the locks of ``owner``, for as long as that lives."""
    _renewables.add(owner)


def _renew_all() -> None:
    for owner in list(_renewables):
        owner.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


class once(Generic[T]):
    """A function without arguments whose result is made once, under a lock, and kept for good.

    ``functools.cache`` lets several threads make it at once and frees all results but one. For machine
    code that is fatal: a thread may already be running in the copy that is freed.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        functools.update_wrapper(self, make)
        self._make = make
        self._made: list[T] = []
        self._lock = threading.RLock()
        renew_in_child(self)

    def __call__(self) -> T:
        made = self._made
        if made:
            return made[0]
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    def renew(self) -> None:
        """In a forked child: whoever was making it is gone, and has left the lock locked."""
        self._lock = threading.RLock()


class once_per_process(once[T]):
    """Likewise, and made anew in a forked child: threads do not survive a fork."""

    def renew(self) -> None:
        super().renew()
        self._made = []


class OnceByKey(Generic[Key, T]):
    """One value per key, made once however many threads ask for it at once; the last used ones stay.

    Others that want the same key wait for it; those that want another one do not.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.made = 0  # how often a value was made
        self._values: OrderedDict[Key, T] = OrderedDict()
        self._being_made: dict[Key, threading.RLock] = {}
        self._lock = threading.Lock()
        renew_in_child(self)

    def peek(self, key: Key) -> T | None:
        """The value if it is there; cheaper than ``get``, and does not count as a use."""
        return self._values.get(key)

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """The value of ``key``; if there is none, what ``make`` makes. What that raises is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            turn = self._being_made.setdefault(key, threading.RLock())
        with turn:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                fresh = make()
                with self._lock:
                    self.made += 1
                    value = self._values.setdefault(key, fresh)
                    while len(self._values) > self.limit:
                        self._values.popitem(last=False)
                    return value
            finally:
                with self._lock:
                    self._being_made.pop(key, None)

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)

    def renew(self) -> None:
        """In a forked child: whoever was making a value is gone."""
        self._lock = threading.Lock()
        self._being_made = {}


_stacks = threading.Lock()  # the size of the next threads' stacks is one for the whole process


def call_with_stack(size: int, work: Callable[[], T]) -> T:
    """Call something on a thread of its own that has so many bytes of stack, and wait for it.

    How much a thread has otherwise depends on the system: 8 MiB, 512 KiB, with musl 128 KiB.

    >>> from dala.threads import call_with_stack
    >>> call_with_stack(16 << 20, lambda: 6 * 7)
    42
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # raised again by the caller
            failed.append(error)

    thread = threading.Thread(target=run, name="dala-stack", daemon=True)
    with _stacks:
        before = threading.stack_size(size)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    if failed:
        raise failed.pop()
    return done.pop()


class Runners:
    """A few threads that do what is put in. All of it is done before the interpreter leaves."""

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._count = count
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def put(self, work: Callable[[], None]) -> bool:
        """Whether it will be done here; not so without threads, or once the interpreter is leaving."""
        if not self._threads:
            self._start()
        if self._closed or not self._threads:
            return False
        self._queue.put(work)
        return True

    def _start(self) -> None:
        with self._lock:
            if self._threads or self._closed:
                return
            for number in range(self._count):
                thread = threading.Thread(
                    target=self._serve, name=f"{self._name}-{number}", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError:  # the system gives no more: fewer will do
                    break
                self._threads.append(thread)
            atexit.register(self._close)

    def _serve(self) -> None:
        while True:
            work = self._queue.get()
            if work is None:
                return
            work()
            del work  # or it would keep its buffers until the next one comes

    def _close(self) -> None:
        """Daemon threads may be cut off within native code, so they are told to end and waited for."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()


COPIERS = min(4, os.cpu_count() or 1)  # threads that memory keeps busy


def share(parts: Sequence[Callable[[], None]]) -> None:
    """Do all parts at once, one of them here; raises what one of them raised, when all are done.

    They move memory and release the interpreter's lock. Each must hold what it needs: should a signal
    handler's exception end the waiting, the others go on.
    """
    done: SimpleQueue[BaseException | None] = SimpleQueue()

    def work(part: Callable[[], None]) -> None:
        try:
            part()
        except BaseException as error:
            done.put(error)
        else:
            done.put(None)

    for number, part in enumerate(parts, 1):
        if number == len(parts) or not _copiers().put(functools.partial(work, part)):
            work(part)
    for error in [done.get() for _ in parts]:
        if error is not None:
            raise error


@once_per_process
def _copiers() -> Runners:
    return Runners("dala-copy", COPIERS - 1)
