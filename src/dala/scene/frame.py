"""A frame: one picture of a scene and its time; and the memory of frames that nobody holds any more."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import compute, forking
from dala.compute.buffers import Buffer
from dala.compute.engine import owner_of
from dala.compute.stages import Stage
from dala.png import encode_png

Bytes = npt.NDArray[np.uint8]


class Frame:
    """A rendered picture. It stays as it is, whatever the scene does next.

    >>> from dala import scene
    >>> frame = scene.Scene(4, 2, background="navy").render(0.5)
    >>> frame.to_array()[0, 0].tolist(), frame.time, frame.number
    ([0, 0, 128, 255], Fraction(1, 2), 30)
    """

    __slots__ = ("_buffer", "_lock", "_pixels", "number", "time")

    def __init__(self, pixels: Bytes | Buffer, time: Fraction, number: int) -> None:
        self._buffer = pixels if isinstance(pixels, Buffer) else None
        self._pixels = None if isinstance(pixels, Buffer) else pixels
        self._lock = forking.lock()
        self.time = time
        self.number = number

    def to_array(self) -> Bytes:
        """Its pixels, (H, W, 4) u8 with straight alpha, not to be written to: copy them to draw on them."""
        shown = self._on_host().view()
        shown.flags.writeable = False
        return shown

    def to_buffer(self) -> Buffer:
        """A copy of its pixels where kernels can work on them, the caller's own to write to and to close.
        What a GPU has painted has not left it.

        >>> from dala import scene
        >>> scene.Scene(4, 2, background="navy").render(0).to_buffer().shape
        (2, 4, 4)
        """
        shared = self._buffer  # with other frames, and with the painter of the next one
        if shared is None:
            return compute.from_array(self.to_array())
        engine = owner_of(shared)
        copy = Buffer(engine, shared.type, engine.device.allocate(shared.type))
        engine.enqueue(engine.prepare([Stage("copy_buffer", None, (shared,), copy)]))
        return copy

    def _on_host(self) -> Bytes:
        with self._lock:
            if self._pixels is None:
                assert self._buffer is not None
                self._pixels = self._buffer.read()
            return self._pixels

    @property
    def _shape(self) -> tuple[int, ...]:
        if self._buffer is not None:
            return self._buffer.shape
        assert self._pixels is not None
        return self._pixels.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        shown = self.to_array()
        if dtype is not None and np.dtype(dtype) != shown.dtype:
            return shown.astype(dtype)
        return shown.copy() if copy else shown

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return int(self._shape[1])

    @property
    def height(self) -> int:
        """Rows."""
        return int(self._shape[0])

    def save(self, path: str | os.PathLike[str], *, quality: int = 92) -> None:
        """Write it into a picture's file: PNG, JPEG, WebP, …"""
        from dala import media

        media.save(self.to_array(), path, quality=quality)

    def _repr_png_(self) -> bytes:
        return encode_png(self.to_array())

    def __repr__(self) -> str:
        return f"<frame {self.number}: {self.width} × {self.height} at {float(self.time):g} s>"


class FrameMemory:
    """Arrays for frames. One that nobody holds any more is painted on again: fresh memory costs more time
    than a small scene. Not for two threads at once."""

    KEPT = 6

    def __init__(self, *shape: int, kept: int = KEPT) -> None:
        self._shape = shape
        self._kept = kept
        self._arrays: list[Bytes] = []

    def take(self) -> Bytes:
        """An array that nobody else looks at."""
        for array in self._arrays:
            if sys.getrefcount(array) == _FREE:
                return array
        fresh = np.empty(self._shape, np.uint8)
        self._arrays.append(fresh)
        if len(self._arrays) > self._kept:
            del self._arrays[0]  # whoever holds it keeps it
        return fresh


def _count_of_a_free_one() -> int:
    """What ``getrefcount`` says of an array that only a list and a loop hold."""
    for array in [np.empty(1, np.uint8)]:
        return sys.getrefcount(array)
    raise AssertionError


_FREE = _count_of_a_free_one()
if not getattr(sys, "_is_gil_enabled", lambda: True)():  # counts are not exact without it
    _FREE = -1
