"""Where a layer goes, as whole numbers that every painter shares.

Positions are affine in the pixel's place: ``(step along x, step along y, at pixel (0, 0))`` in units of
2⁻³², taken at pixels' centres. So they neither drift along a row nor depend on where painting begins.

    Placed   the box on the canvas, the distances to the layer's edges, its opacity
    Taps     where a plane of its content is read: position, its part in use, how far it is reduced
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

from dala.scene.layers import Layer, Matrix

Affine: TypeAlias = tuple[int, int, int]
ONE = 1 << 32
FULL = 256  # coverage and opacity of a pixel that is all there
_MOST = 1 << 63  # of a number of 64 bits
_LEAST = 1 / 512  # pixels: what is narrower is not seen
_NEAREST = 2.0**-9  # positions and distances are rounded to 1/256
_SHARPEST = math.sqrt(
    2.0
)  # content pixels between two samples, at most; further reductions halve that


class Placed(NamedTuple):
    """A layer on a canvas."""

    left: int
    top: int
    right: int
    bottom: int
    inverse: Matrix  # u = a·x + c·y + e, v = b·x + d·y + f, at pixels' centres
    crop: tuple[float, float, float, float]
    from_left: Affine  # distance from the left edge, in pixels of the canvas
    from_right: Affine
    from_top: Affine
    from_bottom: Affine
    radius: int  # of the corners, in 1/256 pixels
    ramp: int  # 65536 / softness, or 0
    opacity: int  # of FULL
    clip: tuple[int, int, int, int] | None  # in 1/256 pixels
    aligned: bool  # neither rotated nor sheared

    @property
    def steps(self) -> tuple[float, float]:
        """Content pixels along u and along v between neighbouring pixels of the canvas."""
        a, b, c, d, _, _ = self.inverse
        return math.hypot(a, c), math.hypot(b, d)


class Taps(NamedTuple):
    """Where a plane is read: bilinearly, between reduced pixels (column and row of the upper left one)."""

    left: int  # of the part of the plane that is in use
    top: int
    width: int
    height: int
    level_x: int  # blocks of 2^level pixels are one
    level_y: int
    columns: Affine
    rows: Affine

    @property
    def reduced_width(self) -> int:
        return -(-self.width >> self.level_x)

    @property
    def reduced_height(self) -> int:
        return -(-self.height >> self.level_y)

    @property
    def of_reduced(self) -> Taps:
        """The same on the part in use, once that was reduced."""
        columns, rows = self.reduced_width, self.reduced_height
        return Taps(0, 0, columns, rows, 0, 0, self.columns, self.rows)

    @property
    def whole(self) -> bool:
        """Whether every pixel of the canvas shows exactly one of the plane."""
        steps = self.columns[:2] == (ONE, 0) and self.rows[:2] == (0, ONE)
        return steps and not (self.columns[2] | self.rows[2]) >> 24 & 255 and not self._is_reduced

    @property
    def _is_reduced(self) -> bool:
        return self.level_x + self.level_y > 0


def place(layer: Layer, width: int, height: int) -> Placed | None:
    """The layer on a canvas of that size, or nothing where it is not seen. The layer keeps it: who compares
    two compositions asks, and then who paints them."""
    kept: tuple[int, int, Placed | None] | None = layer.__dict__.get("_placed")
    if kept is None or kept[:2] != (width, height):
        kept = layer.__dict__["_placed"] = width, height, _place(layer, width, height)
    return kept[2]


def _place(layer: Layer, width: int, height: int) -> Placed | None:
    opacity = round(min(max(layer.opacity, 0.0), 1.0) * FULL)
    crop = _crop(layer)
    inverse = _invert(layer.matrix)
    if not opacity or crop is None or inverse is None:
        return None
    a, b, c, d, e, f = inverse
    across, down = 1 / math.hypot(a, c), 1 / math.hypot(b, d)  # canvas pixels per content pixel
    if (crop[2] - crop[0]) * across < _LEAST or (crop[3] - crop[1]) * down < _LEAST:
        return None
    aligned = b == 0 and c == 0
    box = _box(layer, crop, width, height, 0.0 if aligned else 0.5)
    if box is None:
        return None
    radius = min(
        layer.corner_radius, (crop[2] - crop[0]) * across / 2, (crop[3] - crop[1]) * down / 2
    )
    return Placed(
        *box, inverse, crop,
        from_left=_affine(a * across, c * across, (e - crop[0]) * across + _NEAREST),
        from_right=_affine(-a * across, -c * across, (crop[2] - e) * across + _NEAREST),
        from_top=_affine(b * down, d * down, (f - crop[1]) * down + _NEAREST),
        from_bottom=_affine(-b * down, -d * down, (crop[3] - f) * down + _NEAREST),
        radius=round(max(radius, 0.0) * 256),
        ramp=round(65536 / layer.softness) if layer.softness > 1 else 0,
        opacity=opacity,
        clip=None if layer.clip is None else _in_256ths(layer.clip),
        aligned=aligned,
    )  # fmt: skip


def place_taps(placed: Placed, width: int, height: int, share: int) -> Taps:
    """Where a plane is read that has one value for ``share`` × ``share`` pixels of the content."""
    a, b, c, d, e, f = placed.inverse
    x0, y0, x1, y1 = placed.crop
    left, top = math.floor(x0 / share), math.floor(y0 / share)
    right, bottom = min(math.ceil(x1 / share), width), min(math.ceil(y1 / share), height)
    across, down = placed.steps
    level_x, level_y = _level(across / share), _level(down / share)
    u, v = 1 / (share << level_x), 1 / (share << level_y)
    return Taps(
        left, top, max(right - left, 1), max(bottom - top, 1), level_x, level_y,
        columns=_affine(a * u, c * u, e * u - left / (1 << level_x) - 0.5 + _NEAREST),
        rows=_affine(b * v, d * v, f * v - top / (1 << level_y) - 0.5 + _NEAREST),
    )  # fmt: skip


def _level(step: float) -> int:
    level = 0
    while step > _SHARPEST and level < 15:
        step /= 2
        level += 1
    return level


def _crop(layer: Layer) -> tuple[float, float, float, float] | None:
    width, height = float(layer.content.width), float(layer.content.height)
    if layer.crop is None:
        return 0.0, 0.0, width, height
    x0, y0, x1, y1 = map(float, layer.crop)
    x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
    return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None


def _invert(matrix: Matrix) -> Matrix | None:
    """The inverse, with pixels' centres as whole numbers."""
    a, b, c, d, e, f = matrix
    determinant = a * d - b * c
    if abs(determinant) < 1e-14:
        return None
    ia, ib, ic, id_ = d / determinant, -b / determinant, -c / determinant, a / determinant
    ie, if_ = -(ia * e + ic * f), -(ib * e + id_ * f)
    return ia, ib, ic, id_, ie + (ia + ic) / 2, if_ + (ib + id_) / 2


def _box(
    layer: Layer, crop: tuple[float, float, float, float], width: int, height: int, margin: float
) -> tuple[int, int, int, int] | None:
    a, b, c, d, e, f = layer.matrix
    x0, y0, x1, y1 = crop
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)]
    xs = [a * u + c * v + e for u, v in corners]
    ys = [b * u + d * v + f for u, v in corners]
    margin += max(layer.softness, 0.0) / 2
    box = [min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin]
    for i, edge in enumerate(layer.clip or ()):
        box[i] = max(box[i], edge) if i < 2 else min(box[i], edge)
    left, top = max(math.floor(max(box[0], 0)), 0), max(math.floor(max(box[1], 0)), 0)
    right, bottom = math.ceil(min(box[2], width)), math.ceil(min(box[3], height))
    return (left, top, right, bottom) if left < right and top < bottom else None


def _affine(x: float, y: float, at: float) -> Affine:
    return _fixed(x), _fixed(y), _fixed(at)


def _fixed(value: float) -> int:
    """In units of 2⁻³², as 64 bits hold it: only positions within a layer's box are used, and they fit."""
    number = round(value * ONE)
    return number if -_MOST <= number < _MOST else (number + _MOST) % (2 * _MOST) - _MOST


def _in_256ths(clip: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
    a, b, c, d = (round(min(max(edge, -1e6), 1e6) * 256) for edge in clip)
    return a, b, c, d
