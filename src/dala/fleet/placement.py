"""How many workers share a machine, and how many threads each of them may use: together, its cores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dala.backends.cpu.run.cores import machine_threads
from dala.errors import ParameterError

Workers = int | Literal["auto"]
WORKER_BYTES = 400 << 20  # of a worker that filters 1080p: interpreter, FFmpeg, frames in flight


@dataclass(frozen=True)
class Placement:
    """``workers`` processes of ``threads`` threads each."""

    workers: int
    threads: int


def place(workers: Workers, tasks: int, threads: int | None = None) -> Placement:
    """As many workers as there are cores, tasks and memory for, or as many as were asked for."""
    if workers != "auto" and (
        isinstance(workers, bool) or not isinstance(workers, int) or workers < 1
    ):
        raise ParameterError(f"workers is 'auto' or a whole number from 1 on, got {workers!r}")
    if threads is not None and (isinstance(threads, bool) or threads < 1):
        raise ParameterError(f"threads is a whole number from 1 on, got {threads!r}")
    cores = machine_threads()
    count = min(cores, _held_by_memory()) if workers == "auto" else workers
    count = max(1, min(count, tasks))
    return Placement(count, threads or max(1, cores // count))


def task_environment(threads: int) -> dict[str, str]:
    """Variables of a process that does tasks.

    x264 reads memory that nobody has written. What glibc hands out begins with the same bytes each time, so
    a part does not depend on what its worker did before.
    """
    return {"DALA_THREADS": str(threads), "MALLOC_PERTURB_": "165"}


def _held_by_memory() -> int:
    free = available_memory()
    return 1 << 16 if free is None else max(1, free // WORKER_BYTES)


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Bytes that can be used without swapping; None where the system does not say."""
    try:
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    names = getattr(os, "sysconf_names", {})
    if "SC_AVPHYS_PAGES" in names:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return None
