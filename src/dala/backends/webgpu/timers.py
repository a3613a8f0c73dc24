"""How long the GPU took: timestamps at both ends of a run, read only if somebody asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.queue import Queue
from dala.backends.webgpu.staging import StagingRing
from dala.backends.webgpu.wgpu_private import nanoseconds_of_tick
from dala.leaving import native

RUNS = 1024  # remembered; older ones are overwritten
SPACING = 256  # bytes between two results: where the GPU may put them


class TimerRing:
    """Two timestamps for each of the last runs."""

    def __init__(self, gpu: Any, queue: Queue, staging: StagingRing, tick_ns: float) -> None:
        self.queue = queue
        self.staging = staging
        self.queries = gpu.create_query_set(type="timestamp", count=2 * RUNS)
        self.results = gpu.create_buffer(size=RUNS * SPACING, usage="QUERY_RESOLVE|COPY_SRC")
        self.tick_ns = tick_ns
        self.newest = 0

    def begin(self) -> int:
        """The number of a new run."""
        self.newest += 1
        return self.newest

    def marks(self, run: int, *, first: bool, last: bool) -> dict[str, Any]:
        """What a compute pass is told, so that it writes the run's timestamps."""
        at = 2 * (run % RUNS)
        marks: dict[str, Any] = {"query_set": self.queries}
        if first:
            marks["beginning_of_pass_write_index"] = at
        if last:
            marks["end_of_pass_write_index"] = at + 1
        return marks

    def resolve(self, encoder: Any, run: int) -> None:
        """Let the GPU put a run's timestamps where they can be read."""
        slot = run % RUNS
        encoder.resolve_query_set(self.queries, 2 * slot, 2, self.results, slot * SPACING)

    def read_ms(self, run: int) -> float | None:
        """Milliseconds of a run; None once so many others came that it is forgotten."""
        marks = np.empty(2, np.uint64)
        with mapped("reading timestamps"), native:
            with self.queue.lock:
                if self.newest - run >= RUNS:
                    return None
                reading = self.staging.begin_read_part(self.results, run % RUNS * SPACING, 16)
            self.staging.finish_read(reading, marks)
        begin, end = marks
        return (int(end) - int(begin)) * self.tick_ns / 1e6


def make_timers(gpu: Any, queue: Queue, staging: StagingRing) -> TimerRing | None:
    """Timers where the GPU has them and says how long its ticks are: no time is better than a wrong one."""
    if "timestamp-query" not in gpu.features:
        return None
    try:
        tick_ns = nanoseconds_of_tick(gpu)
    except (ImportError, AttributeError):
        return None
    return TimerRing(gpu, queue, staging, tick_ns) if tick_ns > 0 else None
