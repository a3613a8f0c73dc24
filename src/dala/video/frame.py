"""A frame of a video: a picture and its time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.engine import Engine
from dala.compute.notebook import as_preview
from dala.png import encode_png
from dala.video.color import Color
from dala.video.device import Format, FramePass
from dala.video.pictures import Decoded, Kind, Turn, frame_shape, kind_of
from dala.video.pixels import pixels_of

Array = npt.NDArray[Any]  # u8, or u16 for more than 8 bits


class Converter:
    """Pictures as RGBA or YUV, on a device, for frames of one format after another."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._passes: dict[tuple[Format, Kind], FramePass] = {}

    def convert(self, source: Format, kind: Kind, picture: Decoded) -> Array:
        """The upright picture as a new array, as deep as it is read."""
        found = self._passes.get((source, kind))
        if found is None:
            bits = 16 if kind == "rgba" and source.bits > 8 else source.bits
            target = Format(kind, source.width, source.height, source.color, bits)
            found = FramePass(self.engine, [source], target)
            self._passes = {(source, kind): found}  # a format seldom changes, and never back
        return found.convert(picture)


class Frame:
    """One frame, upright, with its exact time. Nothing is converted until it is asked for.

    >>> from dala import video
    >>> with video.Reader("testsrc=size=64x48:rate=25") as reader:
    ...     first, second = next(reader), next(reader)
    >>> second.time, second.pts, second.time_base
    (Fraction(1, 25), 1, Fraction(1, 25))
    >>> second.rgba.shape, second.planar.shape
    ((48, 64, 4), (72, 64))
    """

    def __init__(
        self,
        picture: Any,
        *,
        number: int,
        pts: int,
        time_base: Fraction,
        duration: int,
        color: Color,
        turn: Turn,
        converter: Converter,
    ) -> None:
        self.picture = picture  # FFmpeg's own: an av.VideoFrame
        self.number = number  # since the reader began, or since its last seek
        self.pts = pts
        self.time_base = time_base
        self.duration = duration  # in time_base; 0 where the file does not say
        self.color = color
        self.turn = turn
        self._converter = converter
        self.width, self.height = turn.size(picture.width, picture.height)

    @property
    def time(self) -> Fraction:
        """Seconds on the video's own clock."""
        return self.pts * self.time_base

    @property
    def kind(self) -> Kind:
        """``"yuv420p"``, or ``"rgba"`` where the video holds RGB."""
        return kind_of(self.picture)

    @property
    def rgba(self) -> Array:
        """The picture as (H, W, 4) u8, converted with the video's own matrix and range."""
        return self._as("rgba")

    @property
    def rgb(self) -> Array:
        """The picture as (H, W, 3) u8."""
        return np.ascontiguousarray(self.rgba[..., :3])

    @property
    def bits(self) -> int:
        """Of each value, as the video has it: 8, 10, 12 …"""
        return pixels_of(self.picture.format.name).bits

    @property
    def rgba16(self) -> Array:
        """The picture as (H, W, 4) u16, levels 0..65535: all the bits that the video has, HDR as it is.

        >>> import numpy as np
        >>> from dala import video
        >>> with video.Writer("deep.mkv", codec="ffv1") as writer:
        ...     writer.write(np.full((48, 64, 3), 30_000, np.uint16))
        >>> with video.Reader("deep.mkv") as reader:
        ...     frame = next(reader)
        >>> frame.bits > 8, frame.rgba16.dtype, abs(int(frame.rgba16[0, 0, 0]) - 30_000) < 40
        (True, dtype('uint16'), True)
        """
        if self.bits == 8:
            return self.rgba.astype(np.uint16) * np.uint16(257)
        return self._as("rgba", 16 if self.kind == "rgba" else self.bits)

    @property
    def planar(self) -> Array:
        """The picture as yuv420p: u8 of (H · 3/2, W), Y, U and V; odd sizes repeat their edge."""
        return self._as("yuv420p")

    def deep_planar(self, bits: int) -> Array:
        """As ``planar``, with so many bits in the words of a u16 array."""
        return self._as("yuv420p", bits)

    def _as(self, kind: Kind, bits: int = 8) -> Array:
        decoded = Decoded(self.picture, self.color, self.turn, bits)
        if self.kind != kind:
            source = Format(self.kind, self.width, self.height, self.color, bits)
            return self._converter.convert(source, kind, decoded)
        dtype = np.uint8 if bits == 8 else np.uint16
        out = np.empty(frame_shape(kind, self.width, self.height), dtype)
        decoded.fill(out)
        return out

    def _repr_png_(self) -> bytes:
        """What a notebook shows: a small picture."""
        return encode_png(as_preview(self.rgba))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = self.rgba
        return array if dtype is None else array.astype(np.dtype(dtype))  # type: ignore[call-overload]

    def __repr__(self) -> str:
        at = f"{float(self.time):.3f} s"
        return f"<dala frame {self.number} at {at}, {self.width} × {self.height} {self.kind}>"
