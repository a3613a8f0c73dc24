"""Arrays on the GPU and the pool they come from: a freed array's memory serves the next one of its size.

The queue runs everything in order, so memory can be handed on while the GPU still works with it.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from typing import Any

import numpy.typing as npt

from dala import forking
from dala.backends.base import Storage
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.queue import Queue
from dala.errors import OutOfMemoryError
from dala.ir.arrays import ArrayType
from dala.leaving import native

Array = npt.NDArray[Any]
GRAIN = 32  # bytes: four of the largest elements, so that whole groups can be read and written
SPARE_BYTES = 512 << 20
_serials = itertools.count(1)


class Memory:
    """A GPU buffer with a number of its own, by which what is bound to it is remembered."""

    __slots__ = ("__weakref__", "buffer", "bytes", "serial")

    def __init__(self, buffer: Any, size: int) -> None:
        self.buffer = buffer
        self.bytes = size
        self.serial = next(_serials)


class GpuArray(Storage):
    """An array on the GPU; its memory goes back to the pool with the last reference."""

    __slots__ = ("memory", "type")

    def __init__(self, type_: ArrayType, memory: Memory) -> None:
        self.type = type_
        self.memory = memory


def padded_size(type_: ArrayType) -> int:
    """Bytes of the memory of an array."""
    return max(GRAIN, -(-type_.nbytes // GRAIN) * GRAIN)


class MemoryPool:
    """Memory to use again, up to a budget."""

    def __init__(self, device: Any, limits: dict[str, int], name: str, queue: Queue) -> None:
        self.device = device
        self._queue = queue
        self._doomed: list[Any] = []  # buffers that runs use which are not submitted yet
        self.name = name
        self.most_bytes = min(limits["max-buffer-size"], limits["max-storage-buffer-binding-size"])
        self._spare: OrderedDict[int, list[Memory]] = OrderedDict()
        self._spare_bytes = 0
        self._lock = forking.rlock()  # an array may be collected while the pool is at work

    def array(self, type_: ArrayType, zero: bool) -> GpuArray:
        """A new array: zeros, or whatever was in memory."""
        memory, used = self.take(type_)
        if zero and used:
            with self._queue.lock:
                encoder = self.device.create_command_encoder()
                encoder.clear_buffer(memory.buffer)
                self._queue.submit(encoder)
        array = GpuArray(type_, memory)
        # not __del__: in a cycle of garbage the GPU buffer itself would be finalised as well
        weakref.finalize(array, self.give, memory).atexit = False
        return array

    def take(self, type_: ArrayType) -> tuple[Memory, bool]:
        """Memory for an array, and whether it was used before (else it is zeros)."""
        if type_.nbytes > self.most_bytes:
            raise OutOfMemoryError(
                f"an array of {type_.shape} {type_.dtype} needs {type_.nbytes / 2**20:,.0f} MiB; "
                f"{self.name} binds {self.most_bytes / 2**20:,.0f} MiB at most"
            )
        size = padded_size(type_)
        used = self.take_used(size)
        if used is not None:
            return used, True
        what = f"an array of {type_.shape} {type_.dtype} ({size / 2**20:,.1f} MiB)"
        with mapped(what), native:
            buffer = self.device.create_buffer(size=size, usage="STORAGE|COPY_SRC|COPY_DST")
        return Memory(buffer, size), False

    def take_used(self, size: int) -> Memory | None:
        """Memory of so many padded bytes, if some was given back."""
        with self._lock:
            spare = self._spare.get(size)
            if not spare:
                return None
            self._spare_bytes -= size
            return spare.pop()

    def give(self, memory: Memory) -> None:
        """Keep memory for the next array of its size; beyond the budget the oldest sizes go."""
        with self._lock:
            self._spare.setdefault(memory.bytes, []).append(memory)
            self._spare.move_to_end(memory.bytes)
            self._spare_bytes += memory.bytes
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._spare_bytes > SPARE_BYTES:
            size, spare = next(iter(self._spare.items()))
            if spare:
                self._doomed.append(spare.pop().buffer)
                self._spare_bytes -= size
            if not spare:
                del self._spare[size]
        while self._doomed and not self._queue.holds_back:
            self._doomed.pop().destroy()
