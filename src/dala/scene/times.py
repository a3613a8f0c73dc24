"""Times as fractions of seconds: what a caller writes, made exact once.

A whole number is microseconds (as in the original), a float is seconds, ``timedelta`` and ``Fraction`` are
what they are. A float means the shortest decimal that reads as it: 0.1 is a tenth.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from fractions import Fraction
from typing import TypeAlias

from dala.errors import ArgumentError, ParameterError

Time: TypeAlias = "int | float | Fraction | timedelta"
LONGEST = Fraction(10_000_000)  # seconds: sixteen weeks
SHORT_US = 1000  # nothing in a scene is planned for its first millisecond
FINEST = 10**15  # the largest denominator that a stranger's fraction may have
_FRACTION = re.compile(r"(-?\d{1,15})/(\d{1,15})")


def exact(time: Time, who: str = "time") -> Fraction:
    """A time in seconds, exactly.

    >>> from dala.scene.times import exact
    >>> exact(1_500_000), exact(0.1), exact(Fraction(1, 3))
    (Fraction(3, 2), Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(time, Fraction):
        seconds = time
    elif isinstance(time, bool):
        raise ArgumentError(f"{who}: expected a time, got {time!r}")
    elif isinstance(time, timedelta):
        seconds = Fraction(time // timedelta(microseconds=1), 1_000_000)
    elif isinstance(time, float):
        if not math.isfinite(time):
            raise ParameterError(f"{who}: expected a finite time, got {time!r}")
        seconds = Fraction(repr(float(time)))
    elif hasattr(time, "__index__"):
        seconds = Fraction(time.__index__(), 1_000_000)
    else:
        raise ArgumentError(
            f"{who}: expected whole microseconds, seconds as a float, a Fraction or a timedelta, "
            f"got {time!r}"
        )
    return _bounded(seconds, who)


def planned(time: Time, who: str) -> Fraction:
    """A time at which somebody wants something to happen. So few microseconds were meant as seconds.

    >>> from dala.scene.times import planned
    >>> planned(5.0, "export: end"), planned(5_000_000, "export: end")
    (Fraction(5, 1), Fraction(5, 1))
    """
    count = 0 if isinstance(time, bool) else _whole(time)
    if 0 < abs(count) < SHORT_US:
        raise ParameterError(
            f"{who}: a whole number is microseconds, got {count}; {count} seconds are {float(count)}"
        )
    return exact(time, who)


def seconds_of(value: object, who: str) -> Fraction:
    """A time as it stands in a file: seconds as a number, or a fraction as text (``"1001/30000"``)."""
    if isinstance(value, str):
        found = _FRACTION.fullmatch(value)
        if not found or int(found[2]) == 0:
            raise ParameterError(
                f'{who}: expected seconds or a fraction like "1001/30000", got {value!r}'
            )
        return _bounded(Fraction(int(found[1]), int(found[2])), who)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"{who}: expected seconds, got {value!r}")
    return exact(float(value), who) if isinstance(value, float) else _bounded(Fraction(value), who)


def written(seconds: Fraction) -> int | float | str:
    """A time as it stands in a file; it reads as the same fraction."""
    if seconds.denominator == 1:
        return seconds.numerator
    decimal = float(seconds)
    return decimal if Fraction(repr(decimal)) == seconds else str(seconds)


def _whole(time: object) -> int:
    """Of what is a whole number; 0 of anything else."""
    return time.__index__() if hasattr(time, "__index__") else 0


def milliseconds(value: object, who: str, least: float = 0.0) -> Fraction:
    """A length given in milliseconds, as seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ArgumentError(f"{who}: expected milliseconds, got {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{who}: expected finite milliseconds, got {value!r}")
    exactly = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    if exactly < least:
        raise ParameterError(f"{who}: expected {least:g} milliseconds or more, got {value!r}")
    return _bounded(exactly / 1000, who)


def _bounded(seconds: Fraction, who: str) -> Fraction:
    if abs(seconds) > LONGEST:
        raise ParameterError(
            f"{who}: expected at most {int(LONGEST)} seconds, got {float(seconds):g}"
        )
    if seconds.denominator > FINEST:
        seconds = seconds.limit_denominator(FINEST)
    return seconds
