"""Rectangles that begin left of the surface or above it: the wire is unsigned, so they are clipped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dala.gpu.opcodes import MAX_SIDE
from dala.gpu.raster.shapes import compute_half_width


def clip_rect(x: int, y: int, w: int, h: int) -> tuple[int, int, int, int]:
    """The part of a rectangle that can be on a surface; a negative size stays one, to be refused."""
    if x < 0:
        x, w = 0, min(w, max(w + x, 0))
    if y < 0:
        y, h = 0, min(h, max(h + y, 0))
    return x, y, w, h


def clip_round_rect(
    x: int, y: int, w: int, h: int, radius: int, *, filled: bool
) -> npt.NDArray[np.int64]:
    """A rounded rectangle as rectangles (x, y, w, h), one or two for each row that can be on a
    surface; the rows between the corners in one."""
    if w == 0 or h == 0:
        return np.zeros((0, 4), np.int64)
    r = min(radius, (min(w, h) - 1) // 2)
    rects: list[tuple[int, int, int, int]] = []
    for row in _rows_in_reach(y, y + r):
        rects += _corner_row(x, y, w, r, y + r - row, row, filled)
    middle = (x, y + r, w, h - 2 * r) if filled else (x, y + r + 1, 1, h - 2 * r - 2)
    rects.append(middle)
    if not filled:
        rects += _corner_row(x, y, w, r, 0, y + r, filled)
        if h > 2 * r + 1:
            rects += _corner_row(x, y, w, r, 0, y + h - 1 - r, filled)
        if w > 1:
            rects.append((x + w - 1, y + r + 1, 1, h - 2 * r - 2))
    for row in _rows_in_reach(y + h - r, y + h):
        rects += _corner_row(x, y, w, r, row - (y + h - 1 - r), row, filled)
    clipped = [clip_rect(*rect) for rect in rects if rect[3] > 0]
    seen = [c for c in clipped if c[2] and c[3] and max(c[:2]) < MAX_SIDE]
    return np.array(seen, np.int64).reshape(-1, 4)


def _rows_in_reach(first: int, end: int) -> range:
    """No surface is higher than MAX_SIDE, however large the rectangle."""
    return range(max(first, 0), min(end, MAX_SIDE))


def _corner_row(
    x: int, y: int, w: int, r: int, dy: int, row: int, filled: bool
) -> list[tuple[int, int, int, int]]:
    """The spans of the row at distance dy from the corners' centres."""
    left, right = x + r, x + w - 1 - r
    half = _half_width(r, dy)
    inner = min(half, _half_width(r, dy + 1) + 1)
    if filled or inner == 0:
        return [(left - half, row, right - left + 2 * half + 1, 1)]
    return [(left - half, row, half - inner + 1, 1), (right + inner, row, half - inner + 1, 1)]


def _half_width(radius: int, dy: int) -> int:
    return compute_half_width(radius, dy) if dy <= radius else -1
