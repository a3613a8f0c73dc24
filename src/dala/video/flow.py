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
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")
Thing = TypeVar("Thing")
DEPTH = 4  # frames between two threads: enough to even out their pace, little memory
POLL_S = 0.05
PATIENCE_S = 0.7


class _Stopped(Exception):
    """Raised inside a thread to end it."""


class _Flow:
    """What the threads share: whether to stop, what went wrong, who has ended."""

    def __init__(self) -> None:
        self.stopped: list[bool] = []  # a list: appending is one step that no signal can halve
        self.errors: list[BaseException] = []
        self.ended: list[None] = []
        self._bell = threading.Lock()  # free when a thread has ended since the last look
        self._bell.acquire()

    def checkpoint(self) -> None:
        """End the thread that calls it if everything is to stop."""
        if self.stopped:
            raise _Stopped

    def guard(self, work: Callable[[], None]) -> None:
        """Run a thread's work; an error of it stops the others."""
        try:
            work()
        except _Stopped:
            pass
        except BaseException as error:
            self.errors.append(error)
            self.stopped.append(True)
        self.ended.append(None)
        with suppress(RuntimeError):  # it is free already
            self._bell.release()

    def wait_for_an_end(self) -> None:
        """Until a thread has ended, or for POLL_S. Not by SimpleQueue.get(timeout=…): in CPython 3.11 it
        waits for good if its time is over just when it has found the queue's lock free."""
        self._bell.acquire(timeout=POLL_S)


class _Channel(Generic[Thing]):
    """A bounded queue with an end, whose waits end when everything is stopped."""

    def __init__(self, flow: _Flow) -> None:
        self._queue: Queue[Thing | None] = Queue(DEPTH)
        self._flow = flow

    def pour(self, things: Iterable[Thing]) -> None:
        """Put everything in, and then the end."""
        for thing in things:
            self._put(thing)
        self._put(None)

    def _put(self, thing: Thing | None) -> None:
        while True:
            self._flow.checkpoint()
            try:
                return self._queue.put(thing, timeout=POLL_S)
            except Full:
                continue

    def __iter__(self) -> Iterator[Thing]:
        while True:
            self._flow.checkpoint()
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
    flow = _Flow()
    given: _Channel[Given] = _Channel(flow)
    made: _Channel[Made] = _Channel(flow)
    works: dict[str, Callable[[], None]] = {
        "decode": lambda: given.pour(produce),
        "filter": lambda: made.pour(transform(iter(given))),
        "encode": lambda: consume(iter(made), flow.checkpoint),
    }
    threads = [
        threading.Thread(target=flow.guard, args=(work,), name=f"dala-{name}", daemon=True)
        for name, work in works.items()
    ]
    patience: float | None = PATIENCE_S
    try:
        for thread in threads:
            thread.start()
        _wait(flow, len(threads), watch)
        patience = None  # they have ended, or are about to
    finally:
        flow.stopped.append(True)
        _join(threads, patience)
    if flow.errors:
        raise flow.errors[0]


def _wait(flow: _Flow, count: int, watch: Callable[[], None]) -> None:
    """Until all threads have ended, or one of them has failed."""
    while len(flow.ended) < count and not flow.errors:
        flow.wait_for_an_end()
        watch()


def _join(threads: Sequence[threading.Thread], patience: float | None) -> None:
    """Wait until the threads have ended, all together no longer than that."""
    deadline = None if patience is None else time.monotonic() + patience
    for thread in threads:
        if thread.ident is not None:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
