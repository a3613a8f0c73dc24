"""Which part of a video is taken, how fast it runs, and how many frames a second it gets.

What is shown at time t of the output is what the input shows at ``start + t · speed``; for sound likewise.
Times count from the input's first frame.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from dala.errors import ParameterError

TOLERANCE = Fraction(
    1, 1000
)  # Matroska counts in milliseconds: so far may a frame be beside its time
SLOWEST, FASTEST = Fraction(1, 100), Fraction(100)
_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?|\.\d+)s?")


@dataclass(frozen=True)
class Span:
    """A part of a video: ``start`` and ``end`` in seconds, ``speed`` 2 for twice as fast."""

    start: Fraction = Fraction(0)
    end: Fraction | None = None
    speed: Fraction = Fraction(1)
    fps: Fraction | None = None
    before: int = 0  # frames of a larger whole that come before it, which filters may count
    since: Fraction = Fraction(0)  # and how long those are shown
    warm: Fraction | None = None  # from when on filters see frames that are not written

    @property
    def is_whole(self) -> bool:
        """Whether times stay as they are; only then sound can be copied."""
        return self.start == 0 and self.end is None and self.speed == 1

    def out(self, time: Fraction) -> Fraction:
        """The output's time for one of the input's, counted from its first frame."""
        return (time - self.start) / self.speed


WHOLE = Span()


def span_of(
    start: object = None, end: object = None, speed: object = 1, fps: object = None
) -> Span:
    """The part that a user asks for; what makes no sense is refused."""
    first = Fraction(0) if start is None else seconds_of(start, "start")
    last = None if end is None else seconds_of(end, "end")
    if last is not None and last <= first:
        raise ParameterError(
            f"start is not before end: {float(first):g} and {float(last):g} seconds"
        )
    rate = 1 if isinstance(speed, bool) or not isinstance(speed, int | float | Fraction) else speed
    if rate is not speed or not SLOWEST <= speed <= FASTEST:
        raise ParameterError(f"speed is a number in 0.01..100, 2 for twice as fast; got {speed!r}")
    return Span(first, last, _exact(rate), None if fps is None else rate_of(fps))


def seconds_of(value: object, name: str) -> Fraction:
    """Seconds: ``2.5``, ``"2.5"``, ``"1:02.5"``, ``"1:00:00"``."""
    if isinstance(value, str) and (found := _CLOCK.fullmatch(value.strip())):
        hours, minutes, seconds = found.groups(default="0")
        return Fraction(int(hours) * 3600 + int(minutes) * 60) + Fraction(seconds)
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    if not number or not 0 <= value < float("inf"):  # type: ignore[operator]
        raise ParameterError(
            f"{name} is a time in seconds from 0 up, or written like 1:02.5; got {value!r}"
        )
    assert isinstance(value, int | float | Fraction)
    return _exact(value)


def rate_of(fps: object) -> Fraction:
    """25, 29.97, Fraction(30000, 1001): a rate that is nearly one of NTSC's is taken for it."""
    if isinstance(fps, bool) or not isinstance(fps, int | float | Fraction):
        raise ParameterError(f"fps is a number, got {fps!r}")
    if not 0 < fps <= 100_000:
        raise ParameterError(f"fps must be above 0, got {fps!r}")
    if isinstance(fps, float):
        ntsc = Fraction(round(fps * 1.001) * 1000, 1001)
        if ntsc and abs(float(ntsc) - fps) < 0.005 and not fps.is_integer():
            return ntsc
        return Fraction(fps).limit_denominator(1001)
    return Fraction(fps)


def _exact(number: int | float | Fraction) -> Fraction:
    """What was written: 1.2 is six fifths, though the nearest float is less."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
