"""What a container allows: Linux's control groups, of both versions.

A group has at most what those above it have. In a container its own group may be the root of what is seen,
whatever its path is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
Read = Callable[[Path], float]  # what the group of that folder allows


def find_cores(root: Path = CGROUPS, membership: Path = MEMBERSHIP) -> float:
    """How many cores' worth of time there are; infinite without a limit."""
    return _least("cpu", _cores_v1, _cores_v2, root, membership)


def find_memory(root: Path = CGROUPS, membership: Path = MEMBERSHIP) -> float:
    """How many bytes of memory there are; infinite without a limit."""
    return _least("memory", _memory_v1, _memory_v2, root, membership)


def _least(controller: str, v1: Read, v2: Read, root: Path, membership: Path) -> float:
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return math.inf
    allowed = [math.inf]
    for line in lines:
        _number, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            allowed += [v2(folder) for folder in _chain(root, path)]
        elif controller in controllers.split(","):
            for name in (controllers, controller):
                allowed += [v1(folder) for folder in _chain(root / name, path)]
    return min(allowed)


def _chain(root: Path, path: str) -> list[Path]:
    """The folder of a group, and of those above it."""
    own = Path(path.lstrip("/"))
    return [root / part for part in (own, *own.parents)]


def _cores_v2(folder: Path) -> float:
    words = _read(folder / "cpu.max").split()
    if len(words) != 2 or not words[0].isdigit():  # "max": no limit
        return math.inf
    return int(words[0]) / int(words[1])


def _cores_v1(folder: Path) -> float:
    quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    if not quota.isdigit() or not period.isdigit():  # "-1": no limit
        return math.inf
    return int(quota) / int(period)


def _memory_v2(folder: Path) -> float:
    most = _read(folder / "memory.max")
    return int(most) if most.isdigit() else math.inf  # "max": no limit


def _memory_v1(folder: Path) -> float:
    most = _read(folder / "memory.limit_in_bytes")
    return int(most) if most.isdigit() else math.inf  # no limit: a number beyond every machine


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
