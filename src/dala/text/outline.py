"""Coverage grown and blurred: outlines and shadows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


def dilate(coverage: Bytes, radius: float) -> tuple[Bytes, int]:
    """Coverage widened by ``radius`` pixels with round corners, and how many pixels that adds on each side.

    A pixel's new coverage is the largest ``c + radius − d`` over the pixels with ink, ``c`` their coverage
    and ``d`` their distance: exact along straight edges. In each row only the nearest pixels with ink and
    those next to them can be it, so the time grows with the radius and not with its square.
    """
    margin = math.ceil(radius) + 1
    ink: Floats = np.pad(coverage, margin).astype(np.float32) / np.float32(255)
    candidates = _candidates(ink)
    rows = ink.shape[0]
    grown = np.zeros_like(ink)
    for dy in range(-margin, margin + 1):
        here = slice(max(0, -dy), min(rows, rows - dy))
        there = slice(max(0, dy), min(rows, rows + dy))
        for distance_squared, level in candidates:
            reach = level[there] + np.float32(radius) - np.sqrt(distance_squared[there] + dy * dy)
            np.maximum(grown[here], reach, out=grown[here])
    return np.rint(np.clip(grown, 0, 1) * 255).astype(np.uint8), margin


def _candidates(ink: Floats) -> list[tuple[Floats, Floats]]:
    """For each pixel the nearest with ink in its row to either side, and the one behind that: squared
    distance, and coverage. Where there is none the distance is out of reach."""
    columns = np.arange(ink.shape[1])
    far = 4 * ink.shape[1] + 4 * ink.shape[0]
    nothing = -far
    left = np.maximum.accumulate(np.where(ink > 0, columns, nothing), axis=1)
    right = -np.maximum.accumulate(np.where(ink > 0, -columns, nothing)[:, ::-1], axis=1)[:, ::-1]
    found = []
    for nearest, step in ((left, -1), (right, 1)):
        for place in (nearest, nearest + step):
            inside = (place >= 0) & (place < ink.shape[1])
            level = np.take_along_axis(ink, np.where(inside, place, 0), axis=1)
            distance = np.where(inside & (level > 0), np.abs(columns - place), far)
            found.append(((distance * distance).astype(np.float32), level))
    return found


def blur(coverage: Bytes, sigma: float) -> tuple[Bytes, int]:
    """Coverage blurred by three boxes, nearly a Gaussian, and how many pixels that adds on each side."""
    if sigma <= 0:
        return coverage, 0
    half = max(1, round(sigma * 0.94))  # three boxes of 2·half + 1 have about this deviation
    margin = 3 * half
    soft = np.pad(coverage, margin).astype(np.float32)
    for axis in (0, 1):
        for _ in range(3):
            soft = _box(soft, half, axis)
    return np.rint(np.clip(soft, 0, 255)).astype(np.uint8), margin


def _box(values: Floats, half: int, axis: int) -> Floats:
    """The mean of 2·half + 1 neighbours; zero beyond the edges."""
    width = 2 * half + 1
    padding = [(0, 0), (0, 0)]
    padding[axis] = (half + 1, half)
    sums = np.cumsum(np.pad(values, padding), axis=axis, dtype=np.float64)
    count = values.shape[axis]
    upper = np.take(sums, range(width, width + count), axis=axis)
    lower = np.take(sums, range(count), axis=axis)
    return ((upper - lower) / width).astype(np.float32)
