"""Three threads in a row, with bounded queues between, that always end.

    produce ── queue ── transform ── queue ── consume        the caller's thread waits and reports

Each is a function of iterators on a thread of its own. The first error, or an exception on the caller's
thread (Ctrl-C), stops all of them at their next step; the caller gets it once they have ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, Full, Queue, SimpleQueue
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")
Thing = TypeVar("Thing")
DEPTH = 4  # frames between two threads: enough to even out their pace, little memory
POLL_S = 0.05
NETWORK_S = (
    0.8  # a thread that waits for a network ends by its own time-out; nobody waits that long
)


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
    consume: Callable[[Iterator[Made]], None],
    *,
    watch: Callable[[], None],
) -> None:
    """Run the three until the last is done; ``watch`` is called on this thread, some 20 times a second."""
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

    works: dict[str, Callable[[], None]] = {
        "decode": lambda: pour(produce, given),
        "filter": lambda: pour(transform(iter(given)), made),
        "encode": lambda: consume(iter(made)),
    }
    threads = [
        threading.Thread(target=guard, args=(work,), name=f"dala-{name}", daemon=True)
        for name, work in works.items()
    ]
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            try:
                ended.get(timeout=POLL_S)
                left -= 1
            except Empty:
                pass
            watch()
    finally:
        stopped.append(True)
        for thread, patience in zip(threads, (NETWORK_S, None, None), strict=True):
            if thread.ident is not None:
                thread.join(patience)
    if errors:
        raise errors[0]
