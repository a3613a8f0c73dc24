"""How loud each sample is: automation, fades, pan. All are functions of a sample's number alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dala.scene.sound.sounds import RATE

Level: TypeAlias = (
    "float | Callable[[Fraction], float]"  # a number, or a function of the scene's time
)
Levels: TypeAlias = npt.NDArray[np.float64]
GRID = 48  # samples between two that are asked for: a millisecond, straight lines between


def levels(level: Level, begin: int, end: int) -> float | Levels:
    """A level for every sample; a number where it does not change."""
    if not callable(level):
        return float(level)
    first, last = begin // GRID, -(-end // GRID)
    knots = [float(level(Fraction(n * GRID, RATE))) for n in range(first, last + 1)]
    if all(knot == knots[0] for knot in knots):
        return knots[0]
    return np.interp(
        np.arange(begin, end), np.arange(first, last + 1) * GRID, np.asarray(knots, np.float64)
    )


def fade(begin: int, end: int, start: Fraction, length: Fraction, *, out: bool) -> Levels | None:
    """From 0 at ``start`` to 1 after ``length``, or back; None where it is over for all these samples."""
    if length <= 0:
        return None
    first, last = start * RATE, (start + length) * RATE
    if (begin >= last and not out) or (end <= first and out):
        return None
    share = (np.arange(begin, end) - float(first)) / float(length * RATE)
    return np.clip(1 - share if out else share, 0.0, 1.0)


def pan_gains(pan: float | Levels) -> tuple[float | Levels, float | Levels]:
    """Left and right by equal power: in the middle both are exactly 1, at a side that one is √2."""
    if not isinstance(pan, np.ndarray):
        if pan == 0:
            return 1.0, 1.0
        angle = (min(max(pan, -1.0), 1.0) + 1) * math.pi / 4
        return math.sqrt(2) * math.cos(angle), math.sqrt(2) * math.sin(angle)
    angles = (np.clip(pan, -1.0, 1.0) + 1) * (math.pi / 4)
    left, right = math.sqrt(2) * np.cos(angles), math.sqrt(2) * np.sin(angles)
    return np.where(pan == 0, 1.0, left), np.where(pan == 0, 1.0, right)
