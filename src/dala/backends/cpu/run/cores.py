"""How many threads this process may use: what it asks for, its cores, its share of them."""

from __future__ import annotations

import math
import os
from pathlib import Path

from dala.errors import ParameterError
from dala.once import once_per_process

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")

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
    return max(1, math.ceil(min(cores, find_quota())))


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


def find_quota(root: Path = CGROUPS, membership: Path = MEMBERSHIP) -> float:
    """How many cores' worth of time the container allows (Linux's control groups); infinite without one.

    A group has at most what those above it have. In a container its own group may be the root of what is
    seen, whatever its path is called.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return math.inf
    quotas = [math.inf]
    for line in lines:
        _number, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            quotas += [_read_v2(folder) for folder in _chain(root, path)]
        elif "cpu" in controllers.split(","):
            for name in (controllers, "cpu"):
                quotas += [_read_v1(folder) for folder in _chain(root / name, path)]
    return min(quotas)


def _chain(root: Path, path: str) -> list[Path]:
    """The folder of a group, and of those above it."""
    own = Path(path.lstrip("/"))
    return [root / part for part in (own, *own.parents)]


def _read_v2(folder: Path) -> float:
    words = _read(folder / "cpu.max").split()
    if len(words) != 2 or not words[0].isdigit():  # "max": no limit
        return math.inf
    return int(words[0]) / int(words[1])


def _read_v1(folder: Path) -> float:
    quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    if not quota.isdigit() or not period.isdigit():  # "-1": no limit
        return math.inf
    return int(quota) / int(period)


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
