"""Arrays on the GPU, the pool they come from, and the way in and out.

    upload     host → staging buffer (mapped, used again) → array, piece by piece
    download   array → staging buffer → host; or the mapped staging buffer itself, as an array
    pool       a freed array's memory serves the next one of its size, up to a budget

The queue runs everything in order, so memory can be handed on while the GPU still works with it.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections import OrderedDict, deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.backends.base import Storage
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.waiting import Waiter
from dala.errors import OutOfMemoryError
from dala.ir.arrays import ArrayType
from dala.threads import COPIERS, share

Array = npt.NDArray[Any]
GRAIN = 32  # bytes: four of the largest elements, so that whole groups can be read and written
SPARE_BYTES = 512 << 20
SMALL = 64 << 10  # bytes that go through queue.write_buffer rather than a staging buffer
LEAST, MOST = 1 << 20, 32 << 20  # bytes of a staging buffer for uploads, in powers of two
IN_FLIGHT = 3  # of each size
PART = 2 << 20  # bytes of a copy that are worth a thread
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


class MemoryPool:
    """Memory to use again, up to a budget."""

    def __init__(self, device: Any, limits: dict[str, int], name: str) -> None:
        self.device = device
        self.name = name
        self.most_bytes = min(limits["max-buffer-size"], limits["max-storage-buffer-binding-size"])
        self._spare: OrderedDict[int, list[Memory]] = OrderedDict()
        self._spare_bytes = 0
        self._lock = threading.RLock()  # an array may be collected while the pool is at work

    def array(self, type_: ArrayType, zero: bool) -> GpuArray:
        """A new array: zeros, or whatever was in memory."""
        memory, used = self.take(type_)
        if zero and used:
            encoder = self.device.create_command_encoder()
            encoder.clear_buffer(memory.buffer)
            self.device.queue.submit([encoder.finish()])
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
        size = max(GRAIN, -(-type_.nbytes // GRAIN) * GRAIN)
        with self._lock:
            spare = self._spare.get(size)
            if spare:
                self._spare_bytes -= size
                return spare.pop(), True
        what = f"an array of {type_.shape} {type_.dtype} ({size / 2**20:,.1f} MiB)"
        with mapped(what):
            buffer = self.device.create_buffer(size=size, usage="STORAGE|COPY_SRC|COPY_DST")
        return Memory(buffer, size), False

    def give(self, memory: Memory) -> None:
        """Keep memory for the next array of its size; beyond the budget the oldest sizes go."""
        with self._lock:
            self._spare.setdefault(memory.bytes, []).append(memory)
            self._spare.move_to_end(memory.bytes)
            self._spare_bytes += memory.bytes
            while self._spare_bytes > SPARE_BYTES:
                size, spare = next(iter(self._spare.items()))
                if spare:
                    spare.pop().buffer.destroy()
                    self._spare_bytes -= size
                if not spare:
                    del self._spare[size]


class Reading(NamedTuple):
    """A copy on its way out: the buffer it goes to, and the promise that it can be read."""

    staging: Any
    promise: Any


class StagingRing:
    """Mapped buffers for the way in and out, made when needed and used again."""

    def __init__(self, device: Any, lock: threading.RLock, waiter: Waiter) -> None:
        self.device = device
        self.lock = lock  # of the device's queue
        self._waiter = waiter
        # by size: (buffer, promise of being mapped again)
        self._uploads: dict[int, deque[tuple[Any, Any]]] = {}
        self._readbacks: dict[int, list[Any]] = {}
        self._readback_bytes = 0

    # -- in ------------------------------------------------------------------------------------

    def upload(self, memory: Memory, data: Array) -> None:
        """Queue a copy of host data; the host array may change as soon as this returns."""
        source = data.reshape(-1).view(np.uint8)
        queue = self.device.queue
        if source.nbytes <= SMALL:
            with self.lock:
                queue.write_buffer(memory.buffer, 0, _padded(source))
            return
        for start in range(0, source.nbytes, MOST):
            piece = source[start : start + MOST]
            whole = -(-piece.nbytes // 4) * 4
            staging = self._mapped_for_writing(max(LEAST, 1 << (whole - 1).bit_length()))
            view = np.frombuffer(staging._experimental_get_mapped_range(0, whole), np.uint8)
            copy_bytes(view[: piece.nbytes], piece, staging)
            with self.lock:
                staging.unmap()
                encoder = self.device.create_command_encoder()
                encoder.copy_buffer_to_buffer(staging, 0, memory.buffer, start, whole)
                queue.submit([encoder.finish()])
                promise = staging.map_async("WRITE", 0, staging.size)
                self._uploads[staging.size].append((staging, promise))

    def _mapped_for_writing(self, size: int) -> Any:
        with self.lock:
            used = self._uploads.setdefault(size, deque())
            if len(used) < IN_FLIGHT:
                return self.device.create_buffer(
                    size=size, usage="MAP_WRITE|COPY_SRC", mapped_at_creation=True
                )
            staging, promise = used.popleft()
        self._waiter.until_kept(promise)
        return staging

    # -- out -----------------------------------------------------------------------------------

    def download(self, memory: Memory, out: Array) -> None:
        """Wait for the content and copy it into a host array."""
        self.finish_read(self.begin_read(memory), out)

    def begin_read(self, memory: Memory) -> Reading:
        """Queue a copy of the content as it will be by then, to where it can be read."""
        with self.lock:
            staging = self._readback(memory.bytes)
            encoder = self.device.create_command_encoder()
            encoder.copy_buffer_to_buffer(memory.buffer, 0, staging, 0, memory.bytes)
            self.device.queue.submit([encoder.finish()])
            return Reading(staging, staging.map_async("READ_NOSYNC", 0, memory.bytes))

    def finish_read(self, reading: Reading, out: Array) -> None:
        """Wait for the content and copy it into a host array."""
        flat = out.reshape(-1).view(np.uint8)
        copy_bytes(flat, self._bytes_of(reading, flat.nbytes), reading.staging)
        self._release(reading.staging)

    def view(self, reading: Reading, type_: ArrayType) -> Array:
        """The content as an array on the mapped staging buffer itself; it lives as long as the array."""
        view = self._bytes_of(reading, type_.nbytes)
        weakref.finalize(view.base, self._release, reading.staging).atexit = False
        return view.view(type_.dtype.numpy).reshape(type_.shape)

    def _bytes_of(self, reading: Reading, size: int) -> Array:
        self._waiter.until_kept(reading.promise)
        raw = reading.staging._experimental_get_mapped_range(0, reading.staging.size)
        return np.frombuffer(raw, np.uint8)[:size]

    def _readback(self, size: int) -> Any:
        spare = self._readbacks.get(size)
        if spare:
            self._readback_bytes -= size
            return spare.pop()
        return self.device.create_buffer(size=size, usage="MAP_READ|COPY_DST")

    def _release(self, staging: Any) -> None:
        with self.lock:
            staging.unmap()
            if self._readback_bytes + staging.size > SPARE_BYTES // 2:
                self._readbacks, self._readback_bytes = {}, 0
            self._readbacks.setdefault(staging.size, []).append(staging)
            self._readback_bytes += staging.size


def copy_bytes(target: Array, source: Array, keep: object) -> None:
    """Copy, large arrays on several threads; each holds ``keep``, the mapped buffer, until it is done."""
    parts = min(COPIERS, source.nbytes // PART)
    if parts < 2:
        np.copyto(target, source)
        return

    def copy(part: slice, keep: object = keep) -> None:
        np.copyto(target[part], source[part])

    step = -(-source.nbytes // parts)
    starts = range(0, source.nbytes, step)
    share([functools.partial(copy, slice(start, start + step)) for start in starts])


def _padded(data: Array) -> Array:
    """Bytes in whole words."""
    rest = -data.nbytes % 4
    return data if not rest else np.concatenate([data, np.zeros(rest, np.uint8)])
