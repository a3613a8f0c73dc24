"""A command: what its caller holds, and how it runs.

Ready commands run on a small shared pool, or at once on the caller's thread if the caller is going to wait
anyway. One that fails leaves what it writes without content: whoever reads that fails too, until somebody
writes it again. Which commands are ready is said in commands.py.

When the interpreter leaves, daemon threads are left behind, and so is what only they have asked for;
everything else is done.

A signal handler may raise (Ctrl-C) between any two lines on the main thread, and again in what mends
that. A command that is left behind half placed or half finished would block all that come after it, so it
is brought to its end on a thread where no signal comes. To start that thread is a call of C right behind
``except``, where CPython does not look for signals; what is done there may be repeated. What is done under
the lock stands in functions of its own: see ``once`` for why no loop is written inside of ``with lock``.
"""

from __future__ import annotations

import _thread
import functools
import itertools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from dala import forking
from dala.compute.failures import RememberedFailures, detached
from dala.compute.handle import Handle
from dala.errors import CommandCancelledError, CommandError
from dala.once import once_per_process
from dala.threads import Runners

Status = Literal["pending", "completed", "failed"]
REMEMBERED_FAILURES = 4096  # failed commands that can still be asked about by their number


class Tracked(Protocol):
    """Something commands read and write: who writes it (or failed to), and who reads that."""

    writer: Command | None  # None: its content is there
    readers: list[Command]

    @property
    def size(self) -> int:
        """In bytes."""


lock = forking.lock()  # guards the graph of dependencies
_numbers = itertools.count(1)
pending: dict[int, Command] = {}  # empty: nothing is under way, and nothing need be put in order
failures = RememberedFailures(REMEMBERED_FAILURES)
# buffers of commands under way, and whose they are
holders: dict[int, tuple[Tracked, set[int]]] = {}
INTERRUPTED = CommandError("it was interrupted by a signal")


class _Here(threading.local):
    """This thread."""

    executes = False  # a command, or what is called when one is done


here = _Here()


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
    _runner: list[Command] | None = None  # whose turn it is in: see execute
    _begun = False
    _on_demand = False  # it runs when somebody asks for it
    _left_behind = False  # with its thread, when the interpreter leaves
    _fault: BaseException | None = INTERRUPTED  # until the work has said otherwise
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
        with lock:
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
            execute(self, "caller")
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
        with lock:
            if not self._done:
                self._callbacks.remove(open_gate)
            return self._done

    def _failure(self) -> str:
        """What went wrong first; the same text for everything that depends on it."""
        reason = str(self.error) or type(self.error).__name__
        return self._origin or f"{self._title} failed: {reason}"

    def _demand(self) -> None:
        if self._on_demand:
            if not hand_over(self):
                execute(self, "caller")
            self._on_demand = False

    def _when_done(self, callback: Callable[[], None]) -> None:
        self._demand()
        with lock:
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
        with lock:
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
                failures.remember(self.id, self.error)
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


def execute(first: Command, thread: Literal["pool", "caller"]) -> None:
    """Run a command unless another thread does, and start what waited for it."""
    turn = [first]
    before = here.executes
    try:
        run_all(turn, thread)
    except BaseException:
        baton = [turn]
        try:
            _thread.start_new_thread(_go_on, (baton, thread))
        except (
            RuntimeError
        ):  # the system gives no more threads; or it is a handler's own, behind that
            _go_on(baton, thread)
        raise
    finally:
        here.executes = before


def _go_on(baton: list[list[Command]], thread: Literal["pool", "caller"]) -> None:
    """With what was interrupted; who takes the baton does so alone."""
    try:
        turn = baton.pop()
    except IndexError:
        return
    run_all(turn, thread)


def run_all(turn: list[Command], thread: Literal["pool", "caller"]) -> None:
    """Run all commands of a list, which grows by those that they start. May be repeated."""
    here.executes = True
    while turn:
        command = turn[-1]
        with lock:
            claim(command, turn, thread)
        if command._runner is turn:
            if not command._begun:
                command._begun = True
                command._work()
            command._finish()
            _start_ready(command, turn)
        turn.remove(command)


def claim(command: Command, turn: list[Command], thread: Literal["pool", "caller"]) -> None:
    """Say who runs it, unless that is said already."""
    if not command._runs_on:
        command._runs_on, command._runner = thread, turn


def _start_ready(command: Command, turn: list[Command]) -> None:
    """Start what the command made ready; on this thread if the pool takes nothing. May be repeated."""
    while command._ready:
        number, ready = next(iter(command._ready.items()))
        if not hand_over(ready):
            turn.append(ready)
        command._ready.pop(number, None)


def hand_over(command: Command) -> bool:
    """Give a command to the pool, which takes nothing more while the interpreter shuts down."""
    return _runners().put(functools.partial(execute, command, "pool"))


def _let_go(tracked: Tracked, command: Command) -> None:
    """May be repeated."""
    _, numbers = holders.get(id(tracked), (tracked, set()))
    numbers.discard(command.id)
    if not numbers:
        holders.pop(id(tracked), None)


def _cancelled() -> None:
    raise CommandCancelledError("it was cancelled before it began")


def under_way() -> list[Command]:
    with lock:
        return list(pending.values())


def _settle_all() -> None:
    """Before the interpreter leaves: do what is asked for by threads that it has waited for, and whatever
    that depends on. The rest fails; those who wait for it are daemon threads, and wait on."""
    with lock:
        needed, dropped = _divide()
    for command in dropped:
        command._finish()
        turn: list[Command] = []
        _start_ready(command, turn)  # if somebody has just come behind it: that fails in its turn
        for late in turn:
            execute(late, "caller")
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
