"""Commands in order.

A command starts when everything it depends on has finished: the command before it on its stream,
the last writer of what it reads, the last writer and the readers of what it writes. A stream is
therefore only a chain of commands and needs no thread of its own. Order alone (a stream, a write after a
read) passes no failure on.

Whoever submits faster than the device works waits until half of what is queued is done: commands keep their
buffers from being freed. Not so a command that submits others, which the queue may be waiting for.

What a signal handler's exception (Ctrl-C) leaves half placed is brought to its end: see running.py.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from dala import leaving
from dala.backends.host import physical_memory
from dala.compute.failures import renewed
from dala.compute.running import (
    INTERRUPTED,
    Command,
    Status,
    Tracked,
    claim,
    execute,
    failures,
    hand_over,
    here,
    holders,
    lock,
    pending,
    run_all,
    under_way,
)
from dala.errors import CommandError
from dala.once import once

QUEUED = 4096  # commands under way before whoever submits more has to wait
HELD_PART = 4  # of main memory is what their buffers may take

_newest = 0
_held_at_most = 0  # their bytes: each counted as often as it was submitted since the last look


class Chain(Protocol):
    """A stream, as the scheduler sees it."""

    last: Command | None


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
        with lock:
            ready = _place(command, touched, reads, writes, stream, inline=inline)
        if ready and (inline or not hand_over(command)):
            execute(command, "caller")
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
    if here.executes:
        return
    while not _has_room():
        queued = [c for c in under_way() if not c._on_demand]
        if not queued:
            return
        queued[len(queued) // 2]._wait_until_done(None)


def _has_room() -> bool:
    global _held_at_most
    with lock:
        _held_at_most = _held()
    if _held_at_most > _memory():
        return False
    return len(pending) < QUEUED or sum(not c._on_demand for c in under_way()) < QUEUED


def _held() -> int:
    """Bytes of the buffers that commands under way keep, each counted once."""
    return sum(tracked.size for tracked, _ in holders.values())


def _hold(tracked: Tracked, command: Command) -> None:
    holders.setdefault(id(tracked), (tracked, set()))[1].add(command.id)


@once
def _memory() -> int:
    return physical_memory() // HELD_PART


def command_on_demand(label: str, run: Callable[[], object]) -> Command:
    """Work that nothing else depends on, and that is not begun before somebody asks for it: on the thread
    of whoever waits, or in the pool for others.
    """
    command = Command(label, run)
    command._on_demand = True
    with lock:
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
    turn = [command]
    with lock:
        if command._linked and not command._placed:
            command._run = _refuse  # others may be waiting for it already
            command._waits_for -= 1
            command._placed = True
        if command._placed and command._waits_for:
            return
        claim(command, turn, "caller")
        command._begun = command._begun or command._runner is turn
    before = here.executes
    run_all(turn, "caller")
    here.executes = before


def _refuse() -> None:
    raise INTERRUPTED


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
    with lock:
        if not 1 <= command <= _newest:
            raise CommandError(f"there is no command {command}; the newest is {_newest}")
        found = pending.get(command) or failures.get(command)
        if found is None and command <= failures.forgotten:
            raise CommandError(f"command {command} is too long ago to tell what became of it")
        return found


def wait_for_all() -> None:
    """Wait until everything submitted so far is done; errors stay with their commands."""
    for command in under_way():
        command._wait_until_done(None)
