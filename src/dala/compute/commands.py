"""Commands and their order.

A command starts when everything it depends on has finished: the command before it on its stream,
the last writer of what it reads, the last writer and the readers of what it writes. A stream is
therefore only a chain of commands and needs no thread of its own; ready commands run on a small
shared pool, or at once on the caller's thread if the caller is going to wait anyway.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import os
import threading
import weakref
from collections import OrderedDict
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
        self._dependents: list[Command] = []
        self._callbacks: list[Callable[[], None]] = []
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
        if not self._done:
            done = threading.Event()
            self._when_done(done.set)
            if not done.wait(timeout):
                raise CommandTimeoutError(
                    f"command {self.id} ({self.label}) is not done after {timeout:g} s"
                )
        if self.error is not None:
            raise self.error

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
            raise self.error

    def _when_done(self, callback: Callable[[], None]) -> None:
        with _lock:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def _execute(self) -> None:
        run, self._run = self._run, None
        assert run is not None
        error: BaseException | None = None
        try:
            if self.error is None:
                run()
        except BaseException as raised:
            error = raised
        del run  # it holds the buffers
        self._finish(error)

    def _finish(self, error: BaseException | None) -> None:
        with _lock:
            self.error = error or self.error
            self._done = True
            _pending.pop(self.id, None)
            if self.error is not None:
                _failures[self.id] = self.error
                while len(_failures) > REMEMBERED_FAILURES:
                    _failures.popitem(last=False)
            dependents, self._dependents = self._dependents, []
            callbacks, self._callbacks = self._callbacks, []
            ready = []
            for command in dependents:
                command._waits_for -= 1
                if command._waits_for == 0:
                    ready.append(command)
        for command in ready:
            _runners().submit(command._execute)
        for callback in callbacks:
            callback()


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
            if writer is not None and not writer._done:
                needs[writer.id] = writer
            elif writer is not None and writer.error is not None and command.error is None:
                command.error = CommandError(
                    f"{label}: its input was never written: command {writer.id} "
                    f"({writer.label}) failed: {writer.error}"
                )
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
            command._execute()
        else:
            _runners().submit(command._execute)
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
    elif found in _failures:
        raise _failures[found]


def wait_for_all() -> None:
    """Wait until everything submitted so far is done; errors stay with their commands."""
    with _lock:
        waiting = list(_pending.values())
    for command in waiting:
        done = threading.Event()
        command._when_done(done.set)
        done.wait()


@functools.cache
def _runners() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(8, 2 + (os.cpu_count() or 1)), thread_name_prefix="dala-run")
