"""A frame of a video: a picture and its time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.engine import Engine
from dala.video.color import Color
from dala.video.device import Format, FramePass
from dala.video.pictures import Decoded, Kind, Turn, frame_shape, kind_of

Array = npt.NDArray[np.uint8]


class Converter:
    """Pictures as RGBA or YUV, on a device, for frames of one format after another."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._passes: dict[tuple[Format, Kind], FramePass] = {}

    def convert(self, source: Format, kind: Kind, picture: Decoded) -> Array:
        """The upright picture as a new array."""
        found = self._passes.get((source, kind))
        if found is None:
            target = Format(kind, source.width, source.height, source.color)
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
    def planar(self) -> Array:
        """The picture as yuv420p: u8 of (H · 3/2, W), Y, U and V; odd sizes repeat their edge."""
        return self._as("yuv420p")

    def _as(self, kind: Kind) -> Array:
        decoded = Decoded(self.picture, self.color, self.turn)
        if self.kind != kind:
            source = Format(self.kind, self.width, self.height, self.color)
            return self._converter.convert(source, kind, decoded)
        out = np.empty(frame_shape(kind, self.width, self.height), np.uint8)
        decoded.fill(out)
        return out

    def __array__(self, dtype: object = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = self.rgba
        return array if dtype is None else array.astype(np.dtype(dtype))  # type: ignore[call-overload]

    def __repr__(self) -> str:
        at = f"{float(self.time):.3f} s"
        return f"<dala frame {self.number} at {at}, {self.width} × {self.height} {self.kind}>"
