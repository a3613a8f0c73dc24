"""A GPU's queue: one thread at a time uses it, and short runs share a submit.

Completing and submitting a command buffer takes longer than recording a short run. So runs that are handed
over one after the other (``share``) are recorded at once and submitted together: the first one alone, as
the GPU may be idle, then twice as many each time. Whatever else goes to the GPU goes through here, behind
them; who waits has them submitted before; and for those who do neither a thread submits what has waited for
long.
"""

from __future__ import annotations

import _thread
import time
import weakref
from collections import deque
from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any

from dala import forking, leaving
from dala.backends.webgpu.faults import lost_error
from dala.backends.webgpu.record import Recorder, Run, Work
from dala.backends.webgpu.waiting import Waiter

MOST_SHARED = 16  # runs in one submit
LATE_S = 1e-3  # that a run waits for others; twice that at most


class Queue:
    """What goes to a GPU, in order. Hold ``lock`` around things that belong together."""

    def __init__(
        self, gpu: Any, recorder: Recorder, waiter: Waiter, *, in_parts: bool = False
    ) -> None:
        self.lock = forking.rlock()
        self.recorder = recorder
        self.in_parts = in_parts  # whether the GPU begins with a run while the rest comes
        self._gpu_queue = gpu.queue
        self._waiter = waiter
        self._together = 1  # so many recorded runs are submitted at once
        self._since = 0.0  # when the first of them was recorded
        self._watched = False  # whether the thread will look at them
        self._bell: SimpleQueue[bool] | None = None
        self._failure: Exception | None = None  # of the thread

    @property
    def holds_back(self) -> bool:
        """Whether there are runs that the GPU does not know of yet."""
        return self.recorder.shared > 0

    def record(self, run: Iterable[Work]) -> None:
        """Record a run behind those so far, and leave the submit to what the caller does next."""
        with self.lock:
            self._raise_failure()
            others = self.holds_back
            if not others:
                self._since = time.monotonic()
            try:
                self.recorder.share(run)
            except Exception as error:
                if others:  # they went with it: raised to whoever comes next, too
                    self._failure = error
                raise

    def submit_run(self, run: Run) -> None:
        """Submit a run behind those so far: the caller waits for it."""
        with self.lock:
            deque(map(self._submit_part, run.parts if self.in_parts else (run,)), maxlen=0)

    def _submit_part(self, run: Run) -> None:
        self.record(run)
        self.submit_recorded()

    def share(self, run: Iterable[Work]) -> None:
        """Record a run, which is submitted with those before and after it."""
        with self.lock:
            self.record(run)
            if self.recorder.shared >= self._together:
                larger = min(2 * self._together, MOST_SHARED)
                self.submit_recorded()
                self._together = larger
            elif self.holds_back and not self._watched:
                self._have_it_watched()

    def submit_recorded(self) -> None:
        """Submit the runs that are recorded; the next one will not wait for others."""
        with self.lock:
            self._together = 1
            self._raise_failure()
            if self.holds_back:
                self.recorder.submit_shared()

    def _raise_failure(self) -> None:
        """Whoever comes is told what became of runs before: one of theirs may be among those."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        if self._waiter.lost:
            self.recorder.forget_shared()
            raise lost_error("submitting")

    def submit(self, encoder: Any) -> None:
        """Complete a command buffer of wgpu-py's and submit it, after the runs so far."""
        with self.lock:
            self.submit_recorded()
            self._gpu_queue.submit([encoder.finish()])

    def write_buffer(self, buffer: Any, data: Any, at: int = 0) -> None:
        """Write data to a buffer, after the runs so far."""
        with self.lock:
            self.submit_recorded()
            self._gpu_queue.write_buffer(buffer, at, data)

    # -- what nobody comes for -----------------------------------------------------------------

    def _have_it_watched(self) -> None:
        if self._bell is None:
            bell: SimpleQueue[bool] = SimpleQueue()
            try:
                _thread.start_new_thread(_watch, (weakref.ref(self), bell))
            except RuntimeError:  # the system gives no more threads: nobody would come for it
                self.submit_recorded()
                return
            weakref.finalize(self, bell.put, False).atexit = False
            self._bell = bell
        self._watched = True
        self._bell.put(True)

    def submit_late(self) -> bool:
        """Submit what has waited for long; whether there may be more."""
        if self.holds_back and not self._is_late():
            return True  # somebody is at it: not in their way
        with self.lock:
            if self.holds_back and self._is_late():
                try:
                    with leaving.native:
                        self.submit_recorded()
                except Exception as error:  # raised to whoever comes next
                    self._failure = error
            self._watched = self.holds_back
            return self._watched

    def _is_late(self) -> bool:
        return time.monotonic() - self._since > LATE_S


def _watch(reference: weakref.ref[Queue], bell: SimpleQueue[bool]) -> None:
    """Look after a queue, as long as it exists."""
    while bell.get():
        more = True
        while more:
            time.sleep(LATE_S)
            queue = reference()
            more = queue is not None and queue.submit_late()
            del queue
