"""One picture of a surface: in main memory, on the GPU, or in both.

Whoever needs it in one place asks for it there; it is copied over only if the other place is newer. So
drawing, compute shaders and kernels follow each other without a copy where they share a place.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy.typing as npt

from dala import forking
from dala.backends.base import Device, Storage
from dala.backends.host import HostArray, spare
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8


class Frame:
    """Pixels (height, width, 4). ``device`` is the surface's, if that has memory of its own."""

    __slots__ = ("_gpu", "_host", "_lock", "_newest", "device", "type")

    def __init__(
        self,
        type_: ArrayType,
        device: Device | None,
        *,
        host: HostArray | None = None,
        gpu: Storage | None = None,
    ) -> None:
        self.type = type_
        self.device = device
        self._host = host
        self._gpu = gpu
        self._newest: Literal["host", "gpu", "both"] = "host" if gpu is None else "gpu"
        self._lock = forking.lock()  # others may look at a frame while it is shown

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        height, width, _ = self.type.shape
        return width, height

    @property
    def only_on_gpu(self) -> bool:
        """Whether main memory has an older content, or none."""
        return self._newest == "gpu"

    @property
    def on_gpu(self) -> bool:
        """Whether the GPU has the newest content."""
        return self._newest != "host"

    def rows(self, first: int, end: int) -> npt.NDArray[Any]:
        """Rows of the content, to read; from a GPU no others are fetched."""
        height = self.type.shape[0]
        first, end = min(first, height), min(end, height)
        with self._lock:
            few = self._newest == "gpu" and 0 < end - first < height
            if few:
                assert self.device is not None and self._gpu is not None
                return self.device.fetch_rows(self._gpu, first, end)
        return self.host().array[first:end]

    def host(self) -> HostArray:
        """The content in main memory."""
        with self._lock:
            host = self._own_host()
            if self._newest == "gpu":
                assert self.device is not None and self._gpu is not None
                self.device.download(self._gpu, host.array)
                self._newest = "both"
            return host

    def host_to_paint(self) -> HostArray:
        """Main memory whose content does not matter, as all of it is about to be painted."""
        with self._lock:
            self._newest = "host"
            return self._own_host()

    def painted(self) -> None:
        """Main memory has changed."""
        self._newest = "host"

    def gpu(self) -> Storage:
        """The content on the GPU."""
        assert self.device is not None
        with self._lock:
            if self._gpu is None:
                self._gpu = self.device.allocate(self.type)
            if self._newest == "host":
                self.device.upload(self._gpu, self._own_host().array)
                self._newest = "both"
            return self._gpu

    def gpu_to_write(self) -> Storage:
        """GPU memory whose content does not matter."""
        assert self.device is not None
        with self._lock:
            if self._gpu is None:
                self._gpu = self.device.allocate(self.type)
            self._newest = "gpu"
            return self._gpu

    def computed(self) -> None:
        """GPU memory has changed."""
        self._newest = "gpu"

    def _own_host(self) -> HostArray:
        if self._host is None:
            self._host = spare.take(self.type)
        return self._host

    def recycle(self) -> None:
        """Give main memory to the next frame that needs some; for a frame that nobody holds."""
        if self._host is not None:
            spare.give(self._host)
            self._host = None


def new_frame(width: int, height: int, device: Device | None = None) -> Frame:
    """A frame; its content is whatever was in memory."""
    return Frame(ArrayType((height, width, 4), U8), device)


def references(frame: Frame) -> tuple[int, int, int]:
    """How many hold a frame, its array, and views of its memory."""
    host = frame._host
    if host is None:
        return sys.getrefcount(frame), *_UNSHARED[1:]
    base: Any = host.array.base
    return sys.getrefcount(frame), sys.getrefcount(host), sys.getrefcount(base)


def is_unshared(frame: Frame) -> bool:
    """Whether nobody but one variable of the caller, and its argument, holds a frame or its memory."""
    return references(frame) == _UNSHARED


_UNSHARED: tuple[int, int, int] = (0, 0, 0)


def _count_unshared() -> tuple[int, int, int]:
    """The numbers for a frame that only one variable holds, counted the same way."""
    before = new_frame(1, 1)
    before.host()
    return _through_is_unshared(before)


def _through_is_unshared(frame: Frame) -> tuple[int, int, int]:
    return references(frame)


_UNSHARED = _count_unshared()
