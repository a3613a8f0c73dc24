"""How many threads this process may use: what it asks for, its cores, its share of them."""

from __future__ import annotations

import math
import os

from dala.backends.groups import find_cores
from dala.errors import ParameterError
from dala.once import once_per_process

_wanted: int | None = None  # by dala.use(…, threads=n)


def thread_count() -> int:
    """How many threads native work may use now."""
    return _wanted or machine_threads()


@once_per_process  # a child may be put onto other cores
def machine_threads() -> int:
    """DALA_THREADS; or the cores that this process may run on, but no more than its share of them."""
    wanted = os.environ.get("DALA_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, find_cores())))


def wanted_threads() -> int | None:
    """What was asked for by ``want_threads``."""
    return _wanted


def want_threads(count: int | None) -> int | None:
    """Use so many from now on, or all (None); returns what was wanted before."""
    global _wanted
    if count is not None and (type(count) is not int or count < 1):
        raise ParameterError(f"threads must be a whole number from 1 on, not {count!r}")
    before, _wanted = _wanted, count
    return before
