"""Commands and their order.

A command starts when everything it depends on has finished: the command before it on its stream,
the last writer of what it reads, the last writer and the readers of what it writes. A stream is
therefore only a chain of commands and needs no thread of its own; ready commands run on a small
shared pool, or at once on the caller's thread if the caller is going to wait anyway.

A command that fails leaves what it writes without content: whoever reads that fails too, until
somebody writes it again. Order alone (a stream, a write after a read) passes no failure on.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import itertools
import os
import sys
import threading
import traceback
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Protocol

from dala.errors import CommandError, CommandTimeoutError

Status = Literal["pending", "completed", "failed"]
REMEMBERED_FAILURES = 4096  # failed commands that can still be asked about by their number


class Tracked(Protocol):
    """Something commands read and write: who wrote it last, and who reads that."""

    writer: Command | None
    readers: list[Command]


class Chain(Protocol):
    """A stream, as the scheduler sees it."""

    last: Command | None


_lock = threading.Lock()  # guards the graph of dependencies
_numbers = itertools.count(1)
_pending: dict[int, Command] = {}
_known: weakref.WeakValueDictionary[int, Command] = weakref.WeakValueDictionary()
_failures: OrderedDict[int, BaseException] = OrderedDict()
_newest = 0


class Command:
    """Work handed to a device: wait for it, await it, or poll it.

    >>> from dala import compute
    >>> a, b = compute.buffer([-1.0, 2.0]), compute.buffer_zeros((2,))
    >>> command = compute.run_kernel_async("relu", [a], b)
    >>> command.wait()
    >>> command.status
    'completed'
    """

    def __init__(self, label: str, run: Callable[[], None]) -> None:
        self.id = next(_numbers)
        self.label = label
        self.error: BaseException | None = None
        self._run: Callable[[], None] | None = run
        self._waits_for = 0
        self._writers: list[Command] = []  # whose results it reads
        self._origin = ""  # of its failure, if that was somebody else's first
        self._dependents: list[Command] = []
        self._callbacks: list[Callable[[], None]] = []
        self._event: threading.Event | None = None
        self._done = False

    def __repr__(self) -> str:
        return f"<dala command {self.id} {self.label}: {self.status}>"

    def __index__(self) -> int:
        return self.id

    __int__ = __index__

    @property
    def status(self) -> Status:
        """``"pending"``, ``"completed"`` or ``"failed"``."""
        if not self._done:
            return "pending"
        return "completed" if self.error is None else "failed"

    def wait(self, timeout: float | None = None) -> None:
        """Block until the command is done; raises its error if it failed."""
        if not self._wait_until_done(timeout):
            raise CommandTimeoutError(
                f"command {self.id} ({self.label}) is not done after {timeout:g} s"
            )
        if self.error is not None:
            raise _renewed(self.error)

    def _wait_until_done(self, timeout: float | None) -> bool:
        if self._done:
            return True
        with _lock:
            if self._event is None:
                self._event = threading.Event()
                if self._done:
                    self._event.set()
            event = self._event
        return event.wait(None if timeout is None else min(timeout, threading.TIMEOUT_MAX))

    def __await__(self) -> Generator[object, None, None]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not future.done():  # the awaiting task may have been cancelled
                future.set_result(None)

        def wake() -> None:
            try:
                loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the loop was closed meanwhile: nobody is waiting any more
                return

        self._when_done(wake)
        yield from future.__await__()
        if self.error is not None:
            raise _renewed(self.error)

    def _failure(self) -> str:
        """What went wrong first; the same text for everything that depends on it."""
        return self._origin or f"command {self.id} ({self.label}) failed: {self.error}"

    def _when_done(self, callback: Callable[[], None]) -> None:
        with _lock:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def _execute(self) -> list[Command]:
        """Do the work; returns the commands that can start now."""
        run, self._run = self._run, None
        writers, self._writers = self._writers, []
        assert run is not None
        error: BaseException | None = None
        self._origin = next((w._failure() for w in writers if w.error is not None), "")
        if self._origin:
            error = CommandError(f"{self.label}: its input was never written: {self._origin}")
        else:
            handled = sys.exc_info()[1]  # what the caller is dealing with: none of our business
            try:
                run()
            except BaseException as raised:
                error = _detached(raised, handled)
        del run  # it holds the buffers
        return self._finish(error)

    def _finish(self, error: BaseException | None) -> list[Command]:
        with _lock:
            self.error = error
            self._done = True
            _pending.pop(self.id, None)
            if error is not None:
                _failures[self.id] = error
                while len(_failures) > REMEMBERED_FAILURES:
                    _failures.popitem(last=False)
            dependents, self._dependents = self._dependents, []
            callbacks, self._callbacks = self._callbacks, []
            if self._event is not None:
                self._event.set()
            ready = []
            for command in dependents:
                command._waits_for -= 1
                if command._waits_for == 0:
                    ready.append(command)
        for callback in callbacks:
            callback()
        return ready


class _Where(Exception):
    """Where a command failed, as text. Frames would keep alive what everybody in them held."""


def _detached(error: BaseException, handled: BaseException | None) -> BaseException:
    """An error to remember: its traceback as text, and without what the caller was handling."""
    chain = [error]
    while True:
        before = chain[-1].__cause__ or chain[-1].__context__
        if before is None or before is handled or any(before is link for link in chain):
            break
        chain.append(before)
    first = chain[-1]
    if first.__context__ is handled:
        first.__context__ = None
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    for link in chain:
        link.__traceback__ = None
    if first.__cause__ is None and not isinstance(first, _Where):
        first.__cause__ = _Where("\n" + text)
    return error


def _renewed(error: BaseException) -> BaseException:
    """The error to raise: a copy, because raising adds the frames of whoever waits to it, and the
    original is remembered for others who ask."""
    try:
        fresh = copy.copy(error)
    except Exception:  # an exception with a constructor of its own kind
        return error.with_traceback(None)
    fresh.__cause__ = error.__cause__
    return fresh


def _start(ready: Iterable[Command]) -> None:
    """Hand commands to the pool; while the interpreter shuts down, run them and theirs here."""
    waiting = deque(ready)
    while waiting:
        command = waiting.popleft()
        try:
            _runners().submit(_execute_and_start, command)
        except RuntimeError:
            waiting.extend(command._execute())


def _execute_and_start(command: Command) -> None:
    _start(command._execute())


def submit_command(
    label: str,
    run: Callable[[], None],
    *,
    reads: Iterable[Tracked],
    writes: Iterable[Tracked],
    stream: Chain | None,
    inline: bool,
) -> Command:
    """Put work in order. ``inline`` runs it on this thread if nothing stands in its way, and waits."""
    global _newest
    command = Command(label, run)
    with _lock:
        _newest = max(_newest, command.id)
        needs: dict[int, Command] = {}
        reads, writes = list(reads), list(writes)
        for tracked in reads:
            writer = tracked.writer
            if writer is not None:
                if not writer._done:
                    needs[writer.id] = writer
                if not writer._done or writer.error is not None:
                    command._writers.append(writer)
        for tracked in writes:
            for other in (tracked.writer, *tracked.readers):
                if other is not None and not other._done:
                    needs[other.id] = other
        if stream is not None:
            if stream.last is not None and not stream.last._done:
                needs[stream.last.id] = stream.last
            stream.last = command
        for tracked in reads:
            tracked.readers = [r for r in tracked.readers if not r._done]
            tracked.readers.append(command)
        for tracked in writes:
            tracked.writer, tracked.readers = command, []
        for other in needs.values():
            other._dependents.append(command)
        command._waits_for = len(needs)
        _pending[command.id] = command
        _known[command.id] = command
    if not needs:
        if inline:
            _execute_and_start(command)
        else:
            _start([command])
    if inline:
        command.wait()
    return command


def find_command(command: Command | int) -> Command | int:
    """The Command behind a number, or the number itself if the command is long done."""
    if isinstance(command, Command):
        return command
    if isinstance(command, bool) or not isinstance(command, int):
        raise CommandError(f"expected a command or its number, got {type(command).__name__}")
    if not 1 <= command <= _newest:
        raise CommandError(f"there is no command {command}; the newest is {_newest}")
    with _lock:
        return _known.get(command, command)


def poll_command(command: Command | int) -> Status:
    """The status of a command, or of its number."""
    found = find_command(command)
    if isinstance(found, Command):
        return found.status
    return "failed" if found in _failures else "completed"


def wait_command(command: Command | int, timeout: float | None = None) -> None:
    """Wait for a command, or for its number."""
    found = find_command(command)
    if isinstance(found, Command):
        found.wait(timeout)
    elif (error := _failures.get(found)) is not None:
        raise _renewed(error)


def wait_for_all() -> None:
    """Wait until everything submitted so far is done; errors stay with their commands."""
    with _lock:
        waiting = list(_pending.values())
    for command in waiting:
        command._wait_until_done(None)


def _begin_in_child() -> None:
    """A forked process has none of its parent's threads: new pool, nothing under way."""
    global _lock
    _lock = threading.Lock()
    _runners.cache_clear()
    for command in list(_pending.values()):
        command._finish(CommandError(f"{command.label}: the process was forked meanwhile"))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


@functools.cache
def _runners() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(8, 2 + (os.cpu_count() or 1)), thread_name_prefix="dala-run")
