"""Where a layer goes, as whole numbers that every painter shares.

Positions are affine in the pixel's place: ``(step along x, step along y, at pixel (0, 0))`` in units of
2⁻³², taken at pixels' centres. So they neither drift along a row nor depend on where painting begins.

    Form     all that stays while a layer only moves, worked out once
    Placed   the box on the canvas, the distances to the layer's edges, its opacity
    Taps     where a plane of its content is read: position, its part in use, how far it is reduced
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from dala.scene.layers import Layer, Rectangle

Affine: TypeAlias = tuple[int, int, int]
Steps: TypeAlias = tuple[int, int]  # of an affine number, along x and along y
Linear: TypeAlias = tuple[float, float, float, float]
FORMS = 1024  # that are kept: a layer that moves has one, one that grows has one a frame
ONE = 1 << 32
FULL = 256  # coverage and opacity of a pixel that is all there
_MOST = 1 << 63  # of a number of 64 bits
_LEAST = 1 / 512  # pixels: what is narrower is not seen
_NEAREST = 2.0**-9  # positions and distances are rounded to 1/256
_SHARPEST = math.sqrt(
    2.0
)  # content pixels between two samples, at most; further reductions halve that


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """A layer wherever it lies: what follows from all that it is but its position."""

    inverse: Linear  # u = a·x + c·y + …, v = b·x + d·y + …
    crop: Rectangle
    outline: Rectangle  # around it, if its content's corner lies at (0, 0)
    margin: float  # of the canvas beside the outline that it may touch
    across: float  # pixels of the canvas for one of the content, along u and along v
    down: float
    from_left: Steps
    from_right: Steps
    from_top: Steps
    from_bottom: Steps
    radius: int
    ramp: int
    opacity: int
    aligned: bool


class Placed(NamedTuple):
    """A layer on a canvas."""

    left: int
    top: int
    right: int
    bottom: int
    form: Form
    u: float  # the content's place at the centre of pixel (0, 0)
    v: float
    from_left: Affine  # distance from the left edge, in pixels of the canvas
    from_right: Affine
    from_top: Affine
    from_bottom: Affine
    radius: int  # of the corners, in 1/256 pixels
    ramp: int  # 65536 / softness, or 0
    opacity: int  # of FULL
    clip: tuple[int, int, int, int] | None  # in 1/256 pixels
    aligned: bool  # neither rotated nor sheared


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
    content, matrix = layer.content, layer.matrix
    form = _form(
        matrix[:4], (content.width, content.height), layer.crop, layer.opacity,
        layer.corner_radius, layer.softness,
    )  # fmt: skip
    box = None if form is None else _box(form, layer, width, height)
    if form is None or box is None:
        return None
    (a, b, c, d), (e, f) = form.inverse, matrix[4:]
    u, v = -(a * e + c * f) + (a + c) / 2, -(b * e + d * f) + (b + d) / 2
    x0, y0, x1, y1 = form.crop
    return Placed(
        *box, form, u, v,
        (*form.from_left, _fixed((u - x0) * form.across + _NEAREST)),
        (*form.from_right, _fixed((x1 - u) * form.across + _NEAREST)),
        (*form.from_top, _fixed((v - y0) * form.down + _NEAREST)),
        (*form.from_bottom, _fixed((y1 - v) * form.down + _NEAREST)),
        form.radius, form.ramp, form.opacity,
        None if layer.clip is None else _in_256ths(layer.clip), form.aligned,
    )  # fmt: skip


@functools.lru_cache(FORMS)
def _form(
    linear: Linear, size: tuple[int, int], part: Rectangle | None, opacity: float, radius: float,
    softness: float,
) -> Form | None:  # fmt: skip
    """Of a layer that can be seen somewhere. Equal arguments may differ in type: all become floats."""
    opacity = round(min(max(float(opacity), 0.0), 1.0) * FULL)
    a, b, c, d = map(float, linear)
    crop, inverse = _crop(size, part), _invert(a, b, c, d)
    if not opacity or crop is None or inverse is None:
        return None
    x0, y0, x1, y1 = crop
    ia, ib, ic, id_ = inverse
    across, down = 1 / math.hypot(ia, ic), 1 / math.hypot(ib, id_)
    if (x1 - x0) * across < _LEAST or (y1 - y0) * down < _LEAST:
        return None
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)]
    xs, ys = [a * u + c * v for u, v in corners], [b * u + d * v for u, v in corners]
    aligned = ib == 0 and ic == 0
    radius = min(float(radius), (x1 - x0) * across / 2, (y1 - y0) * down / 2)
    return Form(
        inverse, crop,
        outline=(min(xs), min(ys), max(xs), max(ys)),
        margin=(0.0 if aligned else 0.5) + max(float(softness), 0.0) / 2,
        across=across,
        down=down,
        from_left=_steps(ia * across, ic * across),
        from_right=_steps(-ia * across, -ic * across),
        from_top=_steps(ib * down, id_ * down),
        from_bottom=_steps(-ib * down, -id_ * down),
        radius=round(max(radius, 0.0) * 256),
        ramp=round(65536 / float(softness)) if softness > 1 else 0,
        opacity=opacity,
        aligned=aligned,
    )  # fmt: skip


class _Reading(NamedTuple):
    """Taps of a form wherever it lies: what ``Taps`` begins with, then factors of its position."""

    part: tuple[int, int, int, int, int, int]
    columns: Steps
    rows: Steps
    u: float  # values of the plane for a pixel of the content
    v: float
    left: float  # where its part begins
    top: float


def place_taps(placed: Placed, width: int, height: int, share: int) -> Taps:
    """Where a plane is read that has one value for ``share`` × ``share`` pixels of the content."""
    part, columns, rows, u, v, left, top = _reading(placed.form, width, height, share)
    return Taps(
        *part,
        (*columns, _fixed(placed.u * u - left - 0.5 + _NEAREST)),
        (*rows, _fixed(placed.v * v - top - 0.5 + _NEAREST)),
    )


@functools.lru_cache(2 * FORMS)
def _reading(form: Form, width: int, height: int, share: int) -> _Reading:
    a, b, c, d = form.inverse
    x0, y0, x1, y1 = form.crop
    left, top = math.floor(x0 / share), math.floor(y0 / share)
    right, bottom = min(math.ceil(x1 / share), width), min(math.ceil(y1 / share), height)
    level_x, level_y = _level(math.hypot(a, c) / share), _level(math.hypot(b, d) / share)
    u, v = 1 / (share << level_x), 1 / (share << level_y)
    part = left, top, max(right - left, 1), max(bottom - top, 1), level_x, level_y
    columns, rows = _steps(a * u, c * u), _steps(b * v, d * v)
    return _Reading(part, columns, rows, u, v, left / (1 << level_x), top / (1 << level_y))


def _level(step: float) -> int:
    level = 0
    while step > _SHARPEST and level < 15:
        step /= 2
        level += 1
    return level


def _crop(size: tuple[int, int], part: Rectangle | None) -> Rectangle | None:
    width, height = map(float, size)
    if part is None:
        return 0.0, 0.0, width, height
    x0, y0, x1, y1 = map(float, part)
    x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
    return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None


def _invert(a: float, b: float, c: float, d: float) -> Linear | None:
    determinant = a * d - b * c
    if abs(determinant) < 1e-14:
        return None
    return d / determinant, -b / determinant, -c / determinant, a / determinant


def _box(form: Form, layer: Layer, width: int, height: int) -> tuple[int, int, int, int] | None:
    e, f = layer.matrix[4:]
    x0, y0, x1, y1 = form.outline
    margin = form.margin
    x0, y0, x1, y1 = x0 + e - margin, y0 + f - margin, x1 + e + margin, y1 + f + margin
    if layer.clip is not None:
        left_edge, top_edge, right_edge, bottom_edge = layer.clip
        x0, y0 = max(x0, left_edge), max(y0, top_edge)
        x1, y1 = min(x1, right_edge), min(y1, bottom_edge)
    left, top = math.floor(max(x0, 0)), math.floor(max(y0, 0))
    right, bottom = math.ceil(min(x1, width)), math.ceil(min(y1, height))
    return (left, top, right, bottom) if left < right and top < bottom else None


def _steps(x: float, y: float) -> Steps:
    return _fixed(x), _fixed(y)


def _fixed(value: float) -> int:
    """In units of 2⁻³², as 64 bits hold it: only positions within a layer's box are used, and they fit."""
    number = round(value * ONE)
    return number if -_MOST <= number < _MOST else (number + _MOST) % (2 * _MOST) - _MOST


def _in_256ths(clip: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
    a, b, c, d = (round(min(max(edge, -1e6), 1e6) * 256) for edge in clip)
    return a, b, c, d
