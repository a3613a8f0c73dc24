"""Arrays in main memory, shared by the two host devices."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dala import forking
from dala.backends.base import Device, Executable, Storage
from dala.backends.borrowed import BorrowedFrame
from dala.backends.groups import find_memory
from dala.errors import OutOfMemoryError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import parse_dtype
from dala.once import once
from dala.plan.fuse import FusedPass, PassArray
from dala.plan.planner import Plan
from dala.plan.whole import WholePass

Array = npt.NDArray[Any]
Numbers = Sequence[float | int]
HostMemory: TypeAlias = "HostArray | BorrowedFrame"
# of what is read, of what is written, of parameters
PassFunction: TypeAlias = "Callable[[Sequence[HostArray], Sequence[HostArray], Numbers], None]"
RunPass: TypeAlias = "Callable[[Sequence[HostArray], Numbers], None]"
ALIGNMENT = 64
SLACK = 512  # bytes past the end that may be read (never written): two vectors of the widest pixels
SPARE_BYTES = (
    256 * 2**20
)  # temporaries and scratch kept for the next launches, of all plans together


class HostArray(Storage):
    """A 64-byte aligned NumPy array and its address (asking NumPy for it each time is slow)."""

    __slots__ = ("address", "array", "type")

    def __init__(self, type_: ArrayType, zero: bool = False) -> None:
        # Refused before asking: Linux hands out memory it does not have and kills whoever uses it.
        if type_.nbytes > physical_memory():
            raise _too_large(type_)
        try:
            make = np.zeros if zero else np.empty
            raw = make(type_.nbytes + ALIGNMENT + SLACK, np.uint8)
        except (MemoryError, ValueError) as error:
            raise _too_large(type_) from error
        skip = -raw.ctypes.data % ALIGNMENT
        flat = raw[skip : skip + type_.nbytes]
        self.type = type_
        self.array: Array = flat.view(type_.dtype.numpy).reshape(type_.shape)
        self.address = int(self.array.ctypes.data)

    @classmethod
    def lent(cls, array: Array) -> HostArray | None:
        """An array of somebody else's memory, to be read where it lies and never written; None where it
        must be copied: passes read rows in whole vectors, past the end too, which is harmless only within
        the last page (see borrowed.py).
        """
        address = int(array.ctypes.data)
        room = -(address + array.nbytes) % mmap.PAGESIZE
        plain = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
        if not plain or room < SLACK or not array.size:
            return None
        found = cls.__new__(cls)
        found.type = ArrayType(array.shape, parse_dtype(array.dtype))
        found.array = array.view()
        found.array.setflags(write=False)
        found.address = address
        return found

    def plane(self, part: PassArray) -> Array:
        """The array, or the plane of it that a pass works on."""
        if part.type == self.type:
            return self.array
        flat = self.array.reshape(-1).view(np.uint8)[part.offset : part.offset + part.type.nbytes]
        return flat.view(part.type.dtype.numpy).reshape(part.type.shape)


def _too_large(type_: ArrayType) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"an array of {type_.shape} {type_.dtype} needs {type_.nbytes / 2**20:,.0f} MiB, more than "
        f"this machine's {physical_memory() / 2**20:,.0f} MiB"
    )


@once
def physical_memory() -> int:
    """Bytes of main memory, or the container's part of it; without a way to tell, no limit of ours."""
    if sys.platform == "win32":
        return 1 << 62
    try:
        return int(min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), find_memory()))
    except (ValueError, OSError):
        return 1 << 62


def memory_limits() -> dict[str, int]:
    """What host devices say of their limits, under the names that GPUs have for them."""
    return {"max-buffer-size": physical_memory()}


class SparePool:
    """Arrays to use again, up to a budget."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.bytes = 0
        self._arrays: dict[ArrayType, list[HostArray]] = {}
        self._lock = forking.lock()

    def take(self, type_: ArrayType) -> HostArray:
        """A spare array of that type, or a new one."""
        with self._lock:
            spare = self._arrays.get(type_)
            if spare:
                self.bytes -= _cost(type_)
                return spare.pop()
        return HostArray(type_)

    def give(self, array: HostArray) -> None:
        """Keep an array for the next who needs one; beyond the budget, start over."""
        cost = _cost(array.type)
        if cost > self.budget:
            return
        with self._lock:
            if self.bytes + cost > self.budget:
                self._arrays, self.bytes = {}, 0
            self._arrays.setdefault(array.type, []).append(array)
            self.bytes += cost


def _cost(type_: ArrayType) -> int:
    return max(type_.nbytes, 4096)


spare = SparePool(SPARE_BYTES)


class HostDevice(Device):
    """Memory handling of a device whose arrays are host memory."""

    def allocate(self, type_: ArrayType, zero: bool = False) -> HostArray:
        return HostArray(type_, zero)

    def upload(self, storage: Storage, data: Array) -> None:
        assert isinstance(storage, HostArray)
        np.copyto(storage.array, data)

    def fill(self, storage: Storage, write: Callable[[Array], None]) -> None:
        assert isinstance(storage, HostArray)
        write(storage.array)

    def download(self, storage: Storage, out: Array) -> None:
        assert isinstance(storage, HostArray)
        np.copyto(out, storage.array)


class HostExecutable(Executable):
    """A list of passes to run one after the other on host arrays."""

    def __init__(self, plan: Plan, passes: Sequence[RunPass]) -> None:
        self.plan = plan
        self.temps = plan.temps
        self.passes = tuple(passes)

    def launch(
        self,
        slots: Sequence[Storage | None],
        params: Sequence[float | int],
        *,
        timed: bool = False,
    ) -> None:
        temps = [spare.take(t) for t in self.temps] if self.temps else ()
        self.run((*temps, *slots), params)
        for array in temps:
            spare.give(array)

    def run(self, arrays: Sequence[Any], params: Numbers) -> None:
        """All passes, on the temporaries and what is in the slots."""
        for run_pass in self.passes:
            run_pass(arrays, params)


def positions(plan: Plan, arrays: Sequence[PassArray]) -> list[int]:
    """Where a pass finds its arrays among those of a launch: temporaries first, then the slots."""
    locations = [a.location for a in arrays]
    return [p.number if p.kind == "temp" else len(plan.temps) + p.number for p in locations]


def on_positions(plan: Plan, work: FusedPass | WholePass, run: PassFunction) -> RunPass:
    """A function of what a pass reads and writes as a function of all arrays of a launch."""
    reads, writes = positions(plan, work.reads), positions(plan, work.writes)

    def run_pass(arrays: Sequence[HostArray], params: Sequence[float | int]) -> None:
        run([arrays[i] for i in reads], [arrays[i] for i in writes], params)

    return run_pass
