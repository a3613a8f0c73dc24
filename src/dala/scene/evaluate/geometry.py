"""Matrices (a, b, c, d, e, f) as layers have them: x = a·u + c·v + e, y = b·u + d·v + f."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

from dala.scene.layers import IDENTITY, Matrix, Rectangle

__all__ = ["IDENTITY", "Matrix", "Rectangle"]


def times(m: Matrix, n: Matrix) -> Matrix:
    """First ``n``, then ``m``."""
    a, b, c, d, e, f = m
    g, h, i, j, k, l = n  # noqa: E741
    return (
        a * g + c * h,
        b * g + d * h,
        a * i + c * j,
        b * i + d * j,
        a * k + c * l + e,
        b * k + d * l + f,
    )


def moved(x: float, y: float) -> Matrix:
    """By so many pixels."""
    return (1.0, 0.0, 0.0, 1.0, x, y)


def scaled(x: float, y: float) -> Matrix:
    """By factors."""
    return (x, 0.0, 0.0, y, 0.0, 0.0)


def placed(values: Mapping[str, Any], size: tuple[float, float]) -> Matrix:
    """From a node's box (its left top corner is (0, 0)) to its parent."""
    (x, y), (sx, sy), (ax, ay) = values["position"], values["scale"], values["anchor"]
    w, h = size
    rotation = values["rotation"]
    if rotation == 0:
        return (sx, 0.0, 0.0, sy, x - ax * w * sx, y - ay * h * sy)
    cos, sin = _turn(rotation)
    m = (cos * sx, sin * sx, -sin * sy, cos * sy, x, y)
    return times(m, moved(-ax * w, -ay * h))


def _turn(degrees: float) -> tuple[float, float]:
    """Quarter turns are exact."""
    quarters, rest = divmod(degrees % 360.0, 90.0)
    if rest == 0:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(quarters) % 4]
    angle = math.radians(degrees % 360.0)
    return math.cos(angle), math.sin(angle)


def magnification(m: Matrix) -> float:
    """How many times larger a small square becomes, by its side."""
    return math.sqrt(abs(m[0] * m[3] - m[1] * m[2]))


def bounds(m: Matrix, box: Rectangle) -> Rectangle:
    """The upright rectangle around a box that a matrix has turned."""
    left, top, right, bottom = box
    xs = [m[0] * u + m[2] * v + m[4] for u in (left, right) for v in (top, bottom)]
    ys = [m[1] * u + m[3] * v + m[5] for u in (left, right) for v in (top, bottom)]
    return min(xs), min(ys), max(xs), max(ys)


@functools.lru_cache(1024)
def fitted(
    fit: str, content: tuple[float, float], crop: Rectangle | None, box: tuple[float, float]
) -> tuple[Matrix, Rectangle | None]:
    """From a content's pixels to a node's box, and the part of the content that is shown."""
    whole = (0.0, 0.0, content[0], content[1])
    left, top, right, bottom = whole
    if crop is not None:
        left, right = crop[0] * content[0], crop[2] * content[0]
        top, bottom = crop[1] * content[1], crop[3] * content[1]
    w, h = max(right - left, 1e-6), max(bottom - top, 1e-6)
    sx, sy = box[0] / w, box[1] / h
    if fit == "contain":
        sx = sy = min(sx, sy)
    elif fit == "cover":
        sx = sy = max(sx, sy)
    elif fit == "none":
        sx = sy = 1.0
    x, y = (box[0] - w * sx) / 2 - left * sx, (box[1] - h * sy) / 2 - top * sy
    if fit in ("cover", "none"):  # what reaches beyond the box is cut off
        left, right = max(left, -x / sx), min(right, (box[0] - x) / sx)
        top, bottom = max(top, -y / sy), min(bottom, (box[1] - y) / sy)
    part = (left, top, right, bottom)
    return (sx, 0.0, 0.0, sy, x, y), None if part == whole else part
