"""The threads behind commands and passes: a queue, and nothing that a signal can leave locked.

A signal handler's exception (Ctrl-C) may come between any two lines of Python on the main thread. The
locks inside concurrent.futures, threading.Condition, threading.Event and the start of a threading.Thread
are handled in Python and would stay locked for good; SimpleQueue, Lock and start_new_thread are C, and are
either done or not. locks.py makes a ``Condition`` and an ``Event`` of those.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar, cast

from dala import forking, leaving, locks

T = TypeVar("T")


_stacks = forking.lock()  # the size of the next threads' stacks is one for the whole process


class NoThread(RuntimeError):
    """The system gives no more threads."""


def call_with_stack(size: int, work: Callable[[], T]) -> T:
    """Call something on a thread of its own that has so many bytes of stack, and wait for it.

    How much a thread has otherwise depends on the system: 8 MiB, 512 KiB, with musl 128 KiB. No signal
    comes there. Raises NoThread if it cannot be started.

    The caller is in ``leaving.native`` on its behalf. ``work`` must not enter that itself: a fork waits
    for the caller, and lets no other thread in.

    >>> from dala.threads import call_with_stack
    >>> call_with_stack(16 << 20, lambda: 6 * 7)
    42
    """
    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # raised again by the caller
            done.put((None, error))

    thread = threading.Thread(target=run, name="dala-stack", daemon=True)

    def start() -> None:
        try:
            with _stacks:
                before = threading.stack_size(size)
                try:
                    thread.start()
                finally:
                    threading.stack_size(before)
        except RuntimeError as error:
            done.put((None, NoThread(str(error))))

    try:
        _thread.start_new_thread(start, ())  # not here: a signal may come while a Thread is started
    except RuntimeError as error:
        raise NoThread(str(error)) from error
    result, failed = done.get()
    if isinstance(failed, NoThread):
        raise failed
    thread.join()
    if failed is not None:
        raise failed
    return cast("T", result)


class Runners:
    """A few threads that do what is put in. All of it is done before the interpreter leaves.

    ``settle`` is called before that: it may still put something in.
    """

    def __init__(self, name: str, count: int, settle: Callable[[], None] | None = None) -> None:
        self._name = name
        self._count = count
        self._settle = settle
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = locks.lock()
        self._known = False  # to ``leaving``
        self._closed = False
        self._ended = False  # there are no threads any more
        self._process = os.getpid()

    def put(self, work: Callable[[], None]) -> bool:
        """Whether it will be done here; not so without threads, or once the interpreter is leaving."""
        if not self._threads:
            self._start()
        if self._closed or not self._threads:
            return False
        self._queue.put(work)
        if self._ended:  # meanwhile: then it may have come too late for them
            self._do_the_rest()
        return True

    def _start(self) -> None:
        """All under the lock, which is taken to close, too: whoever is started is waited for."""
        with self._lock:
            if self._threads or self._closed:
                return
            if not self._known:
                self._known = True
                leaving.at_leave(self._close)
            if leaving.has_begun():  # asked for behind that: by now it may be too late to be closed
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

    def _serve(self) -> None:
        with leaving.serving():
            while True:
                work = self._queue.get()
                if work is None:
                    return
                work()
                del work  # or it would keep its buffers until the next one comes

    def _close(self) -> None:
        """Daemon threads may be cut off within native code, so they are told to end and waited for."""
        if (
            os.getpid() != self._process
        ):  # forked: the threads, and what they were given, are the parent's
            return
        if self._settle is not None:
            self._settle()
        with self._lock:
            self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._ended = True
        self._do_the_rest()

    def _do_the_rest(self) -> None:
        """Do here what came after the threads were told to end."""
        while True:
            try:
                work = self._queue.get_nowait()
            except Empty:
                return
            if work is not None:
                work()
