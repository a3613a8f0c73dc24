"""How many workers share a machine, and what each of them may use: together, its cores, memory and GPUs."""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dala.backends.auto import name_device
from dala.backends.cpu.run.cores import machine_threads, want_threads
from dala.compute.default import default_name
from dala.errors import ParameterError

Workers = int | Literal["auto"]
Pixels = int  # of one picture, the largest of a job
FULL_HD: Pixels = 1920 * 1080
# What a worker was seen to take (640×480 to 3840×2160, a blur and two curves, h264): interpreter and
# libraries; then per pixel of a picture, for frames in flight and for what each thread holds.
_EACH_BYTES = 150 << 20
_PER_PIXEL = 90
_PER_PIXEL_AND_THREAD = 24
# glibc keeps what a task gives back for the next one. Each part of a video of 1280×720 would get 80 MB anew
# from the system: 20,000 page faults, dear in virtual machines, a tenth of the time of two seconds of it.
_KEEP_MEMORY = {
    "MALLOC_ARENA_MAX": "1",  # others give whole heaps back, whatever they are told
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),  # the most that it takes
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "MALLOC_TOP_PAD_": str(4 << 20),
}
_MALLOPT = {  # the same by mallopt, as <malloc.h> numbers it
    "MALLOC_TRIM_THRESHOLD_": -1,
    "MALLOC_TOP_PAD_": -2,
    "MALLOC_MMAP_THRESHOLD_": -3,
    "MALLOC_ARENA_MAX": -8,
}
_WEBGPU = re.compile(r"webgpu(?::(\d+))?")
_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Placement:
    """``workers`` processes of ``threads`` threads each; with GPUs, each of them has one of ``devices``."""

    workers: int
    threads: int
    devices: tuple[str, ...] = ()
    pixels: Pixels = FULL_HD

    def device_of(self, worker: int) -> str | None:
        """The device of a worker by its number; None: what the job says."""
        return self.devices[worker % len(self.devices)] if self.devices else None

    @property
    def worker_bytes(self) -> int:
        """How much memory each of them takes."""
        return _EACH_BYTES + self.pixels * (_PER_PIXEL + _PER_PIXEL_AND_THREAD * self.threads)


def place(
    workers: Workers,
    tasks: int,
    threads: int | None = None,
    *,
    here: bool = True,
    device: str | None = "cpu",
    pixels: Pixels = FULL_HD,
) -> Placement:
    """As many workers as were asked for; or one for each GPU; or what cores, memory and tasks allow.

    A cluster (not ``here``) has other machines than this one: a task has one thread, unless asked for more.
    """
    if workers != "auto" and (
        isinstance(workers, bool) or not isinstance(workers, int) or workers < 1
    ):
        raise ParameterError(f"workers is 'auto' or a whole number from 1 on, got {workers!r}")
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ParameterError(f"threads is a whole number from 1 on, got {threads!r}")
    cores = machine_threads()
    devices = find_gpus(device) if here else ()
    wanted = len(devices) or cores
    count = min(wanted, workers_in_memory(pixels, cores)) if workers == "auto" else workers
    count = max(1, min(count, tasks))
    return Placement(count, threads or (max(1, cores // count) if here else 1), devices, pixels)


def find_gpus(device: str | None) -> tuple[str, ...]:
    """The GPUs of this machine that a job for that device uses, one for each worker; none: the CPU.

    ``webgpu`` is every GPU of the best one's make: frames of another may differ by a level. Without a
    device it is the default one.
    """
    from dala.backends.webgpu.adapters import find_adapters

    named = _WEBGPU.fullmatch(name_of_device(device))
    if named is None:
        return ()
    if named[1] is not None:
        return (named[0],)
    adapters = find_adapters()
    alike = [
        f"webgpu:{number}"
        for number, adapter in enumerate(adapters)
        if (adapter.name, adapter.backend) == (adapters[0].name, adapters[0].backend)
    ]
    return tuple(alike) or ("webgpu",)  # which says what is missing


def name_of_device(device: str | None) -> str:
    """The same device for whoever does a task: without one, the default one of who asks for the job."""
    return default_name() if device is None else name_device(device)


def task_environment(threads: int) -> dict[str, str]:
    """Variables of a process that does tasks; what the user has set of the usual ones counts more."""
    usual = {
        "OPENBLAS_NUM_THREADS": "1",
        **_KEEP_MEMORY,
    }  # nothing here multiplies matrices by NumPy
    given = {name: value for name, value in usual.items() if name not in os.environ}
    return {**given, "DALA_THREADS": str(threads)}


def adopt(threads: int) -> None:
    """The same in a process that is there already, as far as that goes: it keeps the heaps that it has."""
    os.environ["DALA_THREADS"] = str(threads)
    want_threads(threads)  # of a process that has done tasks of another job
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # only glibc has it
        for name, number in _MALLOPT.items():
            if name not in os.environ:
                mallopt(number, int(_KEEP_MEMORY[name]))


def workers_in_memory(pixels: Pixels, cores: int, free: int | None = None) -> int:
    """How many workers the free memory holds; together they have as many threads as there are cores."""
    free = available_memory() if free is None else free
    if free is None:
        return 1 << 16
    left = free - pixels * _PER_PIXEL_AND_THREAD * cores
    return max(1, left // (_EACH_BYTES + pixels * _PER_PIXEL))


def available_memory(meminfo: Path = _MEMINFO, group: Path = _GROUP) -> int | None:
    """Bytes that can be used without swapping, here and in this container; None where nobody says."""
    found = [_free_of_machine(meminfo), _free_of_group(group)]
    known = [free for free in found if free is not None]
    return min(known) if known else None


def _free_of_machine(meminfo: Path) -> int | None:
    try:
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    if sys.platform != "win32" and "SC_AVPHYS_PAGES" in os.sysconf_names:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return None


def _free_of_group(group: Path) -> int | None:
    """What a control group (version 2) leaves; what it holds of files can be let go."""
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        files = 0
        for line in (group / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                files = int(line.split()[1])
        most = math.inf if limit == "max" else int(limit)
    except (OSError, ValueError, IndexError):
        return None
    return None if math.isinf(most) else max(0, int(most) - used + files)
