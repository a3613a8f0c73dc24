"""Three threads in a row, with bounded queues between, that always end.

    produce ── queue ── transform ── queue ── consume        the caller's thread waits and reports

Each is a function of iterators on a thread of its own. The first error, or an exception on the caller's
thread (Ctrl-C), stops all of them at their next step, and the caller gets it once they have ended. After a
Ctrl-C nobody waits longer than PATIENCE_S: a thread that is inside FFmpeg by then (a slow encoder at its
end, a network that is silent) ends when FFmpeg returns, and cleans up after itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Empty, Full, Queue, SimpleQueue
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")
Thing = TypeVar("Thing")
DEPTH = 4  # frames between two threads: enough to even out their pace, little memory
POLL_S = 0.05
PATIENCE_S = 0.7


class _Stopped(Exception):
    """Raised inside a thread to end it."""


class _Channel(Generic[Thing]):
    """A bounded queue with an end, whose waits end when everything is stopped."""

    def __init__(self, stopped: list[bool]) -> None:
        self._queue: Queue[Thing | None] = Queue(DEPTH)
        self._stopped = stopped

    def put(self, thing: Thing | None) -> None:
        """Wait for room; None is the end."""
        while True:
            if self._stopped:
                raise _Stopped
            try:
                return self._queue.put(thing, timeout=POLL_S)
            except Full:
                continue

    def __iter__(self) -> Iterator[Thing]:
        while True:
            if self._stopped:
                raise _Stopped
            try:
                thing = self._queue.get(timeout=POLL_S)
            except Empty:
                continue
            if thing is None:
                return
            yield thing


def run_flow(
    produce: Iterable[Given],
    transform: Callable[[Iterator[Given]], Iterable[Made]],
    consume: Callable[[Iterator[Made], Callable[[], None]], None],
    *,
    watch: Callable[[], None],
) -> None:
    """Run the three until the last is done; ``watch`` is called on this thread, some 20 times a second.

    ``consume`` also gets a function to call now and then while it works without taking anything: that
    ends it when everything is stopped.
    """
    stopped: list[bool] = []  # a list, because appending is one step that no signal can halve
    errors: list[BaseException] = []
    ended: SimpleQueue[None] = SimpleQueue()
    given: _Channel[Given] = _Channel(stopped)
    made: _Channel[Made] = _Channel(stopped)

    def pour(things: Iterable[Thing], channel: _Channel[Thing]) -> None:
        for thing in things:
            channel.put(thing)
        channel.put(None)

    def guard(work: Callable[[], None]) -> None:
        try:
            work()
        except _Stopped:
            pass
        except BaseException as error:
            errors.append(error)
            stopped.append(True)
        ended.put(None)

    def checkpoint() -> None:
        if stopped:
            raise _Stopped

    works: dict[str, Callable[[], None]] = {
        "decode": lambda: pour(produce, given),
        "filter": lambda: pour(transform(iter(given)), made),
        "encode": lambda: consume(iter(made), checkpoint),
    }
    threads = [
        threading.Thread(target=guard, args=(work,), name=f"dala-{name}", daemon=True)
        for name, work in works.items()
    ]
    patience: float | None = PATIENCE_S
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left and not errors:
            try:
                ended.get(timeout=POLL_S)
                left -= 1
            except Empty:
                pass
            watch()
        patience = None if errors else PATIENCE_S
    finally:
        stopped.append(True)
        _join(threads, patience)
    if errors:
        raise errors[0]


def _join(threads: Sequence[threading.Thread], patience: float | None) -> None:
    """Wait until the threads have ended, all together no longer than that."""
    deadline = None if patience is None else time.monotonic() + patience
    for thread in threads:
        if thread.ident is not None:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
