"""Commands and their order.

A command starts when everything it depends on has finished: the command before it on its stream,
the last writer of what it reads, the last writer and the readers of what it writes. A stream is
therefore only a chain of commands and needs no thread of its own; ready commands run on a small
shared pool, or at once on the caller's thread if the caller is going to wait anyway.

A command that fails leaves what it writes without content: whoever reads that fails too, until
somebody writes it again. Order alone (a stream, a write after a read) passes no failure on.

Whoever submits faster than the device works waits until half of what is queued is done: commands keep their
buffers from being freed. Not so a command that submits others, which the queue may be waiting for.

When the interpreter leaves, daemon threads are left behind, and so is what only they have asked for;
everything else is done.

A signal handler may raise (Ctrl-C) between any two lines on the main thread, and again in what mends
that. A command that is left behind half placed or half finished would block all that come after it, so it
is brought to its end on a thread where no signal comes. To start that thread is a call of C right behind
``except``, where CPython does not look for signals; what is done there may be repeated. What is done under
the lock stands in functions of its own: see ``once`` for why no loop is written inside of ``with _lock``.
"""

from __future__ import annotations

import _thread
import functools
import itertools
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from dala import forking, leaving
from dala.backends.host import physical_memory
from dala.compute.failures import detached, renewed
from dala.compute.handle import Handle
from dala.errors import CommandCancelledError, CommandError
from dala.once import once, once_per_process
from dala.threads import Runners

Status = Literal["pending", "completed", "failed"]
REMEMBERED_FAILURES = 4096  # failed commands that can still be asked about by their number
QUEUED = 4096  # commands under way before whoever submits more has to wait
HELD_PART = 4  # of main memory is what their buffers may take


class Tracked(Protocol):
    """Something commands read and write: who writes it (or failed to), and who reads that."""

    writer: Command | None  # None: its content is there
    readers: list[Command]

    @property
    def size(self) -> int:
        """In bytes."""


class Chain(Protocol):
    """A stream, as the scheduler sees it."""

    last: Command | None


_lock = forking.lock()  # guards the graph of dependencies
_numbers = itertools.count(1)
pending: dict[int, Command] = {}  # empty: nothing is under way, and nothing need be put in order
_failures: OrderedDict[int, BaseException] = OrderedDict()
_forgotten = 0  # the newest number whose failure is no longer remembered
_newest = 0
_holders: dict[
    int, tuple[Tracked, set[int]]
] = {}  # buffers of commands under way, and whose they are
_held_at_most = 0  # their bytes: each counted as often as it was submitted since the last look
_INTERRUPTED = CommandError("it was interrupted by a signal")


class _Here(threading.local):
    """This thread."""

    executes = False  # a command, or what is called when one is done


_here = _Here()


class Command(Handle[None]):
    """Work handed to a device: wait for it, await it, or poll it.

    >>> from dala import compute
    >>> a, b = compute.buffer([-1.0, 2.0]), compute.buffer_zeros((2,))
    >>> command = compute.run_kernel_async("relu", [a], b)
    >>> command.wait()
    >>> command.status
    'completed'
    """

    # How every command begins. On the class: most are run at once, and hardly any of it changes.
    _writers: Sequence[Command] = ()  # whose results it reads, if they are not there yet
    _writes: Sequence[Tracked] = ()
    _holds: Sequence[Tracked] = ()  # all that it touches, if it was submitted
    _waits_for = 1  # commands; and one while it is being placed among them
    _linked = False  # known to those it waits for
    _placed = False  # known to those that wait for it
    _runs_on: Literal["", "pool", "caller"] = ""
    _runner: list[Command] | None = None  # whose turn it is in: see _execute
    _begun = False
    _on_demand = False  # it runs when somebody asks for it
    _left_behind = False  # with its thread, when the interpreter leaves
    _fault: BaseException | None = _INTERRUPTED  # until the work has said otherwise
    _origin = ""  # of its failure, if that was somebody else's first
    _done = False
    error: BaseException | None = None
    _timer: object = None  # what the run returned: a way to ask for the device's own time

    def __init__(self, label: str, run: Callable[[], object]) -> None:
        self.id = next(_numbers)
        self.label = label
        self._run: Callable[[], object] | None = run
        self._callbacks: list[Callable[[], None]] = []
        self._dependents: list[Command] = []
        self._ready: dict[int, Command] = {}  # those of them that can start

    def __repr__(self) -> str:
        return f"<dala command {self.id} {self.label}: {self.status}>"

    def __index__(self) -> int:
        return self.id

    __int__ = __index__

    @property
    def status(self) -> Status:
        """``"pending"``, ``"completed"`` or ``"failed"``."""
        if not self._done:
            self._demand()
            return "pending"
        return "completed" if self.error is None else "failed"

    @property
    def gpu_ms(self) -> float | None:
        """The milliseconds the GPU itself took, once done; None where a device cannot tell (any more).

        >>> from dala import compute
        >>> a = compute.buffer([-1.0, 2.0])
        >>> command = compute.run_kernel_async("relu", [a], a)
        >>> command.wait()
        >>> command.gpu_ms is None or command.gpu_ms > 0
        True
        """
        return self._timer() if callable(self._timer) else None

    @property
    def done(self) -> bool:
        """Whether it has completed or failed."""
        return self.status != "pending"

    def cancel(self) -> bool:
        """Let it not begin; whether it was in time. What has begun, or is done, goes on as it is.

        A cancelled command fails in its turn, with a CommandCancelledError, and so does whoever reads what
        it would have written; everything else keeps its order.

        >>> from dala import compute
        >>> a = compute.buffer([-1.0, 2.0])
        >>> command = compute.run_kernel_async("relu", [a], a)
        >>> command.wait()
        >>> command.cancel()  # too late
        False
        """
        with _lock:
            if self._done or self._runs_on:
                return False
            self._run = _cancelled
            return True

    @property
    def _title(self) -> str:
        return f"command {self.id} ({self.label})"

    def _result(self) -> None:
        """What it wrote is in its buffers."""

    def _wait_until_done(self, timeout: float | None) -> bool:
        if self._done:
            return True
        if self._on_demand and timeout is None:
            _execute(self, "caller")
            self._on_demand = False
        gate = threading.Lock()
        gate.acquire()

        def open_gate() -> None:
            if gate.locked():
                gate.release()

        self._when_done(open_gate)
        limit = -1 if timeout is None else max(0, min(timeout, threading.TIMEOUT_MAX))
        if gate.acquire(timeout=limit):
            return True
        with _lock:
            if not self._done:
                self._callbacks.remove(open_gate)
            return self._done

    def _failure(self) -> str:
        """What went wrong first; the same text for everything that depends on it."""
        reason = str(self.error) or type(self.error).__name__
        return self._origin or f"{self._title} failed: {reason}"

    def _demand(self) -> None:
        if self._on_demand:
            if not _hand_over(self):
                _execute(self, "caller")
            self._on_demand = False

    def _when_done(self, callback: Callable[[], None]) -> None:
        self._demand()
        with _lock:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def _work(self) -> None:
        for writer in self._writers:
            if writer.error is not None:
                self._origin = origin = writer._failure()
                self._fault = CommandError(f"{self.label}: its input was never written: {origin}")
                return
        assert self._run is not None
        handled = sys.exc_info()[1]  # what the caller is dealing with: none of our business
        try:
            self._timer = self._run()
        except BaseException as raised:
            self._fault = detached(raised, handled)
        else:
            self._fault = None

    def _finish(self) -> None:
        """Say that it is done, and find out who can start. May be repeated."""
        with _lock:
            self._leave()
        while self._callbacks:
            self._callbacks[-1]()
            self._callbacks.pop()

    def _leave(self) -> None:
        """Out of the graph."""
        self._run, self._writers = None, ()  # they hold the buffers
        if not self._done:
            self.error = self._fault
            if self.error is not None:
                _remember(self.id, self.error)
            self._done = True
        if self.error is None:
            for tracked in self._writes:
                if tracked.writer is self:
                    tracked.writer = None
        for tracked in self._holds:
            _let_go(tracked, self)
        self._writes = self._holds = ()
        pending.pop(self.id, None)
        while self._dependents:
            command = self._dependents[-1]
            if command._waits_for == 1:
                self._ready[command.id] = command
            command._waits_for -= 1
            self._dependents.pop()


def _remember(number: int, failure: BaseException) -> None:
    global _forgotten
    _failures[number] = failure
    while len(_failures) > REMEMBERED_FAILURES:
        _forgotten = max(_forgotten, _failures.popitem(last=False)[0])


def _execute(first: Command, thread: Literal["pool", "caller"]) -> None:
    """Run a command unless another thread does, and start what waited for it."""
    here = [first]
    before = _here.executes
    try:
        _run_all(here, thread)
    except BaseException:
        baton = [here]
        try:
            _thread.start_new_thread(_go_on, (baton, thread))
        except (
            RuntimeError
        ):  # the system gives no more threads; or it is a handler's own, behind that
            _go_on(baton, thread)
        raise
    finally:
        _here.executes = before


def _go_on(baton: list[list[Command]], thread: Literal["pool", "caller"]) -> None:
    """With what was interrupted; who takes the baton does so alone."""
    try:
        here = baton.pop()
    except IndexError:
        return
    _run_all(here, thread)


def _run_all(here: list[Command], thread: Literal["pool", "caller"]) -> None:
    """Run all commands of a list, which grows by those that they start. May be repeated."""
    _here.executes = True
    while here:
        command = here[-1]
        with _lock:
            _claim(command, here, thread)
        if command._runner is here:
            if not command._begun:
                command._begun = True
                command._work()
            command._finish()
            _start_ready(command, here)
        here.remove(command)


def _claim(command: Command, here: list[Command], thread: Literal["pool", "caller"]) -> None:
    """Say who runs it, unless that is said already."""
    if not command._runs_on:
        command._runs_on, command._runner = thread, here


def _start_ready(command: Command, here: list[Command]) -> None:
    """Start what the command made ready; on this thread if the pool takes nothing. May be repeated."""
    while command._ready:
        number, ready = next(iter(command._ready.items()))
        if not _hand_over(ready):
            here.append(ready)
        command._ready.pop(number, None)


def _hand_over(command: Command) -> bool:
    """Give a command to the pool, which takes nothing more while the interpreter shuts down."""
    return _runners().put(functools.partial(_execute, command, "pool"))


def submit_command(
    label: str,
    run: Callable[[], object],
    touched: Sequence[Any],
    reads: Sequence[int],
    writes: Sequence[int],
    *,
    stream: Chain | None,
    inline: bool,
) -> Command:
    """Put work in order. ``inline`` runs it on this thread if nothing stands in its way, and waits.

    ``reads`` and ``writes`` say which of ``touched`` are read and written; those are Tracked.
    """
    if not inline and (len(pending) >= QUEUED or _held_at_most > _memory()):
        _wait_for_room()
    leaving.check()
    command = Command(label, run)
    try:
        with _lock:
            ready = _place(command, touched, reads, writes, stream, inline=inline)
        if ready and (inline or not _hand_over(command)):
            _execute(command, "caller")
    except BaseException:
        try:
            _thread.start_new_thread(_give_up, (command,))
        except RuntimeError:  # the system gives no more threads
            _give_up(command)
        raise
    if inline and (not command._done or command.error is not None):
        command.wait()
    return command


def _wait_for_room() -> None:
    """Wait until the older half is done, and half of the rest, …: it depends on nothing that comes later.
    Nobody may have asked for those that run on demand, so they neither count nor are waited for."""
    if _here.executes:
        return
    while not _has_room():
        queued = [c for c in _under_way() if not c._on_demand]
        if not queued:
            return
        queued[len(queued) // 2]._wait_until_done(None)


def _has_room() -> bool:
    global _held_at_most
    with _lock:
        _held_at_most = _held()
    if _held_at_most > _memory():
        return False
    return len(pending) < QUEUED or sum(not c._on_demand for c in _under_way()) < QUEUED


def _held() -> int:
    """Bytes of the buffers that commands under way keep, each counted once."""
    return sum(tracked.size for tracked, _ in _holders.values())


def _hold(tracked: Tracked, command: Command) -> None:
    _holders.setdefault(id(tracked), (tracked, set()))[1].add(command.id)


def _let_go(tracked: Tracked, command: Command) -> None:
    """May be repeated."""
    _, numbers = _holders.get(id(tracked), (tracked, set()))
    numbers.discard(command.id)
    if not numbers:
        _holders.pop(id(tracked), None)


@once
def _memory() -> int:
    return physical_memory() // HELD_PART


def command_on_demand(label: str, run: Callable[[], object]) -> Command:
    """Work that nothing else depends on, and that is not begun before somebody asks for it: on the thread
    of whoever waits, or in the pool for others.
    """
    command = Command(label, run)
    command._on_demand = True
    with _lock:
        _place(command, (), (), (), None, inline=False)
    return command


def is_busy(tracked: Tracked) -> bool:
    """Whether somebody is at work on it, or failed to write it."""
    return tracked.writer is not None or not all(reader._done for reader in tracked.readers)


def _place(
    command: Command,
    touched: Sequence[Any],
    reads: Sequence[int],
    writes: Sequence[int],
    stream: Chain | None,
    *,
    inline: bool,
) -> bool:
    """Put a command behind those it depends on, under the lock; whether there are none.

    Whether it is left behind is said before anybody can find it: by then the interpreter may be leaving.
    """
    global _newest, _held_at_most
    if command.id > _newest:
        _newest = command.id
    for number in reads:
        writer = touched[number].writer
        if writer is not None and not (writer._done and writer.error is None):
            command._writers = [*command._writers, writer]
    if pending:  # otherwise all others are done
        for other in _obstacles(command._writers, [touched[n] for n in writes], stream):
            other._dependents.append(command)
            command._waits_for += 1
    pending[command.id] = command
    command._linked = True
    if stream is not None:
        stream.last = command
    for number in reads:
        readers = [command]
        for other in touched[number].readers:
            if not other._done:
                readers.append(other)
        touched[number].readers = readers
    command._writes = [touched[number] for number in writes]
    for tracked in command._writes:
        tracked.writer, tracked.readers = command, []
    if not inline:
        command._holds = [touched[number] for number in {*reads, *writes}]
        for tracked in command._holds:
            _hold(tracked, command)
        _held_at_most += sum(tracked.size for tracked in command._holds)
    if command._waits_for > 1 or not inline:  # otherwise it runs at once, on this thread
        command._left_behind = not leaving.is_waited_for()
    command._waits_for -= 1
    command._placed = True
    return command._waits_for == 0


def _obstacles(
    writers: Sequence[Command], writes: Sequence[Tracked], stream: Chain | None
) -> list[Command]:
    """Who must be done first: writers of what is read, all users of what is written, the stream."""
    found: list[Command | None] = [*writers, None if stream is None else stream.last]
    for tracked in writes:
        found += (tracked.writer, *tracked.readers)
    return [c for c in dict.fromkeys(found) if c is not None and not c._done]


def _give_up(command: Command) -> None:
    """Its caller was interrupted: what nobody else will run fails in its turn."""
    here = [command]
    with _lock:
        if command._linked and not command._placed:
            command._run = _refuse  # others may be waiting for it already
            command._waits_for -= 1
            command._placed = True
        if command._placed and command._waits_for:
            return
        _claim(command, here, "caller")
        command._begun = command._begun or command._runner is here
    before = _here.executes
    _run_all(here, "caller")
    _here.executes = before


def _refuse() -> None:
    raise _INTERRUPTED


def _cancelled() -> None:
    raise CommandCancelledError("it was cancelled before it began")


def poll_command(command: Command | int) -> Status:
    """The status of a command, or of its number."""
    found = _look_up(command)
    if isinstance(found, Command):
        return found.status
    return "completed" if found is None else "failed"


def wait_command(command: Command | int, timeout: float | None = None) -> None:
    """Wait for a command, or for its number."""
    found = _look_up(command)
    if isinstance(found, Command):
        found.wait(timeout)
    elif found is not None:
        leaving.check()
        raise renewed(found)


def _look_up(command: Command | int) -> Command | BaseException | None:
    """A command by its number, as long as it is pending; then only its failure, if it failed."""
    if isinstance(command, Command):
        return command
    if isinstance(command, np.integer):  # a number out of an array
        command = int(command)
    if isinstance(command, bool) or not isinstance(command, int):
        raise CommandError(f"expected a command or its number, got {type(command).__name__}")
    with _lock:
        if not 1 <= command <= _newest:
            raise CommandError(f"there is no command {command}; the newest is {_newest}")
        found = pending.get(command) or _failures.get(command)
        if found is None and command <= _forgotten:
            raise CommandError(f"command {command} is too long ago to tell what became of it")
        return found


def wait_for_all() -> None:
    """Wait until everything submitted so far is done; errors stay with their commands."""
    for command in _under_way():
        command._wait_until_done(None)


def _under_way() -> list[Command]:
    with _lock:
        return list(pending.values())


def _settle_all() -> None:
    """Before the interpreter leaves: do what is asked for by threads that it has waited for, and whatever
    that depends on. The rest fails; those who wait for it are daemon threads, and wait on."""
    with _lock:
        needed, dropped = _divide()
    for command in dropped:
        command._finish()
        here: list[Command] = []
        _start_ready(command, here)  # if somebody has just come behind it: that fails in its turn
        for late in here:
            _execute(late, "caller")
    for command in needed.values():
        command._wait_until_done(None)


def _divide() -> tuple[dict[int, Command], list[Command]]:
    """What is to be done before the interpreter leaves, by its numbers; and what will not be begun."""
    needed = _needed([c for c in pending.values() if not (c._left_behind or c._on_demand)])
    dropped = [c for c in pending.values() if c._left_behind and c.id not in needed]
    dropped = [c for c in dropped if not c._runs_on]
    for command in dropped:
        command._runs_on, command._dependents, command._callbacks = "caller", [], []
        command._fault = CommandError(f"{command.label}: the interpreter left before it began")
    return needed, dropped


def _needed(asked_for: Sequence[Command]) -> dict[int, Command]:
    """Pending commands, and those that must be done before them; by their numbers."""
    before: dict[int, list[Command]] = {}
    for command in pending.values():
        for dependent in command._dependents:
            before.setdefault(dependent.id, []).append(command)
    needed: dict[int, Command] = {}
    found = list(asked_for)
    while found:
        command = found.pop()
        if command.id not in needed:
            needed[command.id] = command
            found += before.get(command.id, ())
    return needed


def _begin_in_child() -> None:
    """A forked process has none of its parent's threads: new pool, nothing under way."""
    under_way = list(pending.values())
    for command in under_way:
        command._runs_on, command._dependents, command._callbacks = "caller", [], []
    for command in under_way:
        command._fault = CommandError(f"{command.label}: the process was forked meanwhile")
        command._finish()


forking.in_child(_begin_in_child)


@once_per_process
def _runners() -> Runners:
    return Runners("dala-run", min(8, 2 + (os.cpu_count() or 1)), settle=_settle_all)
