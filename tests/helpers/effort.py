"""How much a call does, counted rather than timed: the same on a busy machine and on an idle one."""

from __future__ import annotations

import contextlib
import cProfile
import tracemalloc
from collections.abc import Iterator


class Effort:
    """What was done: functions called, in Python and in C, and the most memory held at once."""

    calls = 0
    peak_bytes = 0


@contextlib.contextmanager
def effort() -> Iterator[Effort]:
    """Count what this thread does. A long call into C is one call; what grows in it is its memory."""
    made = Effort()
    profile = cProfile.Profile()
    tracemalloc.start()
    profile.enable()
    try:
        yield made
    finally:
        profile.disable()
        made.peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        made.calls = sum(entry.callcount for entry in profile.getstats())
