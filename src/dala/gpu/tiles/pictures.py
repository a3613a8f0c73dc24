"""Sprites and images in the GPU's memory: one buffer, in which each has a range of pixels of its own.

A picture that is replaced or removed gives its range back, for others to use after what was gathered before
has been handed to the GPU: so a picture can be loaded at any time without painting first.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import Memory
from dala.errors import OutOfMemoryError
from dala.gpu.atlas import Pictures, StoredImage
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32
from dala.leaving import native

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

Array = npt.NDArray[np.uint8]
LEAST = 1 << 16  # pixels
MOST_BYTES = 1 << 32  # shaders count bytes in 32 bits


class Range:
    """Pixels of the buffer that are somebody's."""

    __slots__ = ("__weakref__", "begin", "size")

    def __init__(self, begin: int, size: int) -> None:
        self.begin = begin
        self.size = size


class PictureMemory:
    """The buffer, and which parts of it are free. ``flush`` hands over what was gathered."""

    def __init__(self, device: WebGpuDevice, flush: Callable[[], None]) -> None:
        self.device = device
        self._flush = flush
        self._array: Any = None
        self._size = 0
        self._free: list[tuple[int, int]] = []  # begin and size, in order
        self._given: deque[tuple[int, int]] = deque()  # back by somebody, on any thread

    @property
    def memory(self) -> Memory:
        """The buffer; a small one as long as there is no picture."""
        if self._array is None:
            self._grow(0)
        return self._array.memory  # type: ignore[no-any-return]

    def store(self, pixels: Array) -> Range:
        """Copy pixels to the GPU."""
        taken = self.reserve(pixels.size // 4)
        with mapped("loading a picture", device=self.device), native:
            place = taken.begin * 4
            self.device.staging.upload(self.memory, np.ascontiguousarray(pixels), place)
        return taken

    def reserve(self, size: int) -> Range:
        """A range of so many pixels; what is in it is up to the caller."""
        found = self._take(size)
        if found is None and self._given:
            self._flush()
            found = self._take(size)
        if found is None:
            self._grow(size)
            found = self._take(size)
        assert found is not None
        taken = Range(found, size)
        weakref.finalize(taken, self._given.append, (found, size)).atexit = False
        return taken

    def settle(self) -> None:
        """What was given back can be used again: the GPU was told what reads it."""
        given = []
        while self._given:
            given.append(self._given.popleft())
        if given:
            self._give(given)

    def _give(self, given: list[tuple[int, int]]) -> None:
        joined: list[tuple[int, int]] = []
        for first, more in sorted([*self._free, *given]):
            if joined and sum(joined[-1]) == first:
                joined[-1] = (joined[-1][0], joined[-1][1] + more)
            else:
                joined.append((first, more))
        self._free = joined

    def _take(self, size: int) -> int | None:
        fitting = [(more, begin) for begin, more in self._free if more >= size]
        if not fitting:
            return None
        more, begin = min(fitting)
        place = self._free.index((begin, more))
        self._free[place : place + 1] = [(begin + size, more - size)] if more > size else []
        return begin

    def _grow(self, size: int) -> None:
        """A buffer with room for so many pixels more, and all that is in this one."""
        wanted = 1 << (max(self._size + size, LEAST) - 1).bit_length()
        most = min(self.device.pool.most_bytes, MOST_BYTES) // 4
        if wanted > most:
            wanted = self._size + size
        if wanted > most:
            raise OutOfMemoryError(
                f"pictures of {wanted * 4 / 2**20:,.0f} MiB; {self.device.name} binds "
                f"{most * 4 / 2**20:,.0f} MiB at most: remove some, or draw on the CPU"
            )
        fresh = self.device.allocate(ArrayType((wanted,), U32))
        if self._array is not None:
            with mapped("loading a picture", device=self.device), native, self.device.queue.lock:
                encoder = self.device.gpu.create_command_encoder()
                old = self._array.memory.buffer
                encoder.copy_buffer_to_buffer(old, 0, fresh.memory.buffer, 0, self._size * 4)
                self.device.queue.submit(encoder)
        self._give([(self._size, wanted - self._size)])
        self._array, self._size = fresh, wanted


class GpuPictures(Pictures):
    """Pictures by number, in the GPU's memory: their records have pixels for bytes."""

    def __init__(self, kind: str, memory: PictureMemory) -> None:
        super().__init__()
        self.kind = kind
        self._memory = memory

    def store(self, pixels: Array) -> StoredImage:
        height, width, _ = pixels.shape
        taken = self._memory.store(pixels)
        return StoredImage(taken, taken.begin, width, width, height)
