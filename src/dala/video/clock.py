"""Exact times of frames."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dala.video.source import Source


class Clock:
    """Exact times: FFmpeg's, filled in where it has none; they go on after a new connection."""

    def __init__(self, source: Source) -> None:
        self.time_base: Fraction = source.time_base
        self._step = usual_duration(source)
        self._next: int | None = None  # where the frame after the last one is expected
        self._shift: int | None = 0  # None: to be found with the next frame

    def move_to(self, source: Source) -> None:
        """Another connection: its own clock may begin anywhere."""
        self.time_base = source.time_base
        self._shift = None

    def peek(self, picture: Any) -> Fraction:
        """The time of a picture in seconds, without counting it."""
        pts = picture.pts if picture.pts is not None else self._next or 0
        return Fraction(pts * self.time_base)

    def stamp(self, picture: Any) -> tuple[int, int]:
        """pts and duration of the next picture."""
        own = picture.pts
        if own is None:
            own = (self._next or 0) - (self._shift or 0)
        if self._shift is None:
            self._shift = 0 if self._next is None else self._next - own
        pts = own + self._shift
        duration = picture.duration or 0
        self._next = pts + (duration or self._step)
        return pts, duration


def usual_duration(source: Source) -> int:
    """How long a frame is shown where nothing says so, in ticks."""
    rate = source.rate or Fraction(25)
    return max(1, round(1 / rate / source.time_base))
