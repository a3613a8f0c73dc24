"""What a layer shows at each pixel of its box: the colour that its content has there, and its coverage.

Colours are whole numbers of 1/128 levels (0 … 32640), multiplied by their alpha.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dala.kernels.yuv import WEIGHTS
from dala.scene.layers import Bytes, Planes, Rgba, Solid
from dala.scene.paint.placing import FULL, Affine, Placed, Taps, place_taps
from dala.scene.paint.reducing import premultiply, reduce_plane

Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fragments:
    """A layer within its box: colours and alpha in 1/128 levels, coverage with opacity of 256."""

    color: Ints  # (h, w, 3), multiplied by alpha
    alpha: Ints  # (h, w)
    coverage: Ints  # (h, w)
    straight: Ints | None  # levels, not multiplied, where they are known


def sample(content: Rgba | Planes | Solid, placed: Placed) -> Fragments:
    """The content, as it is placed."""
    coverage = cover(placed)
    if isinstance(content, Planes):
        color = _sample_planes(content, placed)
        return Fragments(color << 7, np.full(coverage.shape, 32640), coverage, None)
    if isinstance(content, Solid):
        levels = np.broadcast_to(np.array(content.color, np.int64), (*coverage.shape, 4))
        return _straight(levels, coverage)
    taps = place_taps(placed, content.width, content.height, 1)
    if content.opaque:
        color = bilinear(content.pixels, taps, placed)[..., :3]
        return Fragments(color, np.full(coverage.shape, 32640), coverage, None)
    if taps.whole and not placed.ramp:
        return _straight(bilinear(content.pixels, taps, placed) >> 7, coverage)
    values = bilinear(premultiply(content.pixels), taps, placed)
    return Fragments(values[..., :3], values[..., 3], coverage, None)


def _straight(levels: Ints, coverage: Ints) -> Fragments:
    alpha = levels[..., 3] << 7
    color = multiply(levels[..., :3] << 7, share(alpha)[..., None])
    return Fragments(color, alpha, coverage, levels[..., :3])


def multiply(a: Ints, b: Ints | int) -> Ints:
    """a·b / 2¹⁵, rounded."""
    return (a * b + (1 << 14)) >> 15


def share(value: Ints) -> Ints:
    """A part of 32640 as a part of 2¹⁵ (all of it is 2¹⁵ − 1)."""
    return value + (value >> 8)


def at(affine: Affine, placed: Placed) -> Ints:
    """The affine number at each pixel of the box."""
    x = np.arange(placed.left, placed.right, dtype=np.int64)
    y = np.arange(placed.top, placed.bottom, dtype=np.int64)[:, None]
    return x * np.int64(affine[0]) + y * np.int64(affine[1]) + np.int64(affine[2])


def bilinear(plane: Bytes, taps: Taps, placed: Placed) -> Ints:
    """Between four pixels: first downwards, cut to 1/128 levels, then along the row, rounded."""
    part = plane[taps.top : taps.top + taps.height, taps.left : taps.left + taps.width]
    reduced = reduce_plane(part, taps.level_x, taps.level_y).astype(np.int64)
    rows, columns = reduced.shape[:2]
    u, v = at(taps.columns, placed), at(taps.rows, placed)
    x, y, f, g = u >> 32, v >> 32, u >> 24 & 255, v >> 24 & 255
    if plane.ndim == 3:
        f, g = f[..., None], g[..., None]
    x0, x1 = x.clip(0, columns - 1), (x + 1).clip(0, columns - 1)
    y0, y1 = y.clip(0, rows - 1), (y + 1).clip(0, rows - 1)
    left = (reduced[y0, x0] * (256 - g) + reduced[y1, x0] * g) >> 1
    right = (reduced[y0, x1] * (256 - g) + reduced[y1, x1] * g) >> 1
    between: Ints = left + (((right - left) * f + 128) >> 8)
    return between


# -- YUV ---------------------------------------------------------------------------------------


@functools.cache
def yuv_factors(matrix: str, full_range: bool) -> tuple[int, int, int, int, int, int]:
    """Black, then the factors of Y, of V in red, of U and V in green, of U in blue, in units of 2⁻¹³."""
    kr, kb = WEIGHTS[matrix]
    kg = 1 - kr - kb
    luma, chroma = (1.0, 1.0) if full_range else (255 / 219, 255 / 224)
    factors = (
        luma, (2 - 2 * kr) * chroma, -kb * (2 - 2 * kb) / kg * chroma,
        -kr * (2 - 2 * kr) / kg * chroma, (2 - 2 * kb) * chroma,
    )  # fmt: skip
    y, rv, gu, gv, bu = (round(k * 8192) for k in factors)
    return 0 if full_range else 16 << 7, y, rv, gu, gv, bu


def _sample_planes(content: Planes, placed: Placed) -> Ints:
    planes: list[Ints] = [
        bilinear(plane, place_taps(placed, plane.shape[1], plane.shape[0], size), placed)
        for plane, size in ((content.y, 1), (content.u, 2), (content.v, 2))
    ]
    y, u, v = planes
    black, ky, rv, gu, gv, bu = yuv_factors(content.matrix, content.full_range)
    luma = multiply(y - black, ky)
    u, v = u - (128 << 7), v - (128 << 7)
    red = luma + multiply(v, rv)
    green = luma + multiply(u, gu) + multiply(v, gv)
    blue = luma + multiply(u, bu)
    return ((np.stack([red, green, blue], -1) + 16) >> 5).clip(0, 255)


# -- coverage ----------------------------------------------------------------------------------


def cover(placed: Placed) -> Ints:
    """How much of each pixel the layer covers, with its opacity and clip: 0 … 256."""
    left, right, top, bottom = (
        at(affine, placed) >> 24
        for affine in (placed.from_left, placed.from_right, placed.from_top, placed.from_bottom)
    )
    across, down = (
        (_ramp(a, placed.ramp) + _ramp(b, placed.ramp) - FULL).clip(0)
        for a, b in ((left, right), (top, bottom))
    )
    coverage = (across * down + 128) >> 8
    if placed.radius:
        dx, dy = placed.radius - np.minimum(left, right), placed.radius - np.minimum(top, bottom)
        corner = (dx > 0) & (dy > 0)
        dx, dy = np.where(corner, dx, 0).clip(0, 1 << 24), np.where(corner, dy, 0).clip(0, 1 << 24)
        distance = np.sqrt((dx * dx + dy * dy).astype(np.float64)).astype(np.int64)
        coverage = np.where(corner, _ramp(placed.radius - distance, placed.ramp), coverage)
    if placed.ramp:
        coverage = (coverage * coverage * (3 * FULL - 2 * coverage) + (1 << 15)) >> 16
    if placed.clip:
        x0, y0, x1, y1 = placed.clip
        columns = _within(x0, x1, placed.left, placed.right)
        rows = _within(y0, y1, placed.top, placed.bottom)[:, None]
        coverage = (coverage * ((columns * rows + 128) >> 8) + 128) >> 8
    seen: Ints = (coverage * placed.opacity + 128) >> 8
    return seen


def _ramp(distance: Ints, ramp: int) -> Ints:
    if ramp:
        distance = (distance * ramp) >> 16
    return (distance + 128).clip(0, FULL)


def _within(begin: int, end: int, first: int, last: int) -> Ints:
    """How much of pixels first … last − 1 lies between two edges, in 1/256."""
    at = np.arange(first, last, dtype=np.int64) * 256
    return (np.minimum(at + 256, end) - np.maximum(at, begin)).clip(0)
