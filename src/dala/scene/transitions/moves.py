"""Transitions in which pictures move, are squeezed or grow. As in xfade."""

from __future__ import annotations

from dala.language.values import Image, Value
from dala.language.vocabulary import (
    ceil,
    clamp,
    f32,
    floor,
    height,
    max,
    mix,
    smoothstep,
    trunc,
    where,
    width,
    x,
    y,
)  # fmt: skip
from dala.scene.transitions.fades import PROGRESS


def _slide(a: Image, b: Image, at: Value, size: Value, along_x: bool) -> Value:
    """Both pictures in a row, moved on by whole pixels."""
    inside = (at >= 0) & (at < size)
    turned = at - floor(at / size) * size
    first, second = ((image.at(turned, y) if along_x else image.at(x, turned)) for image in (a, b))
    return where(inside, second, first)


def slideleft(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """The second picture pushes the first one out to the left."""
    return _slide(a, b, x + trunc(-(1 - progress) * f32(width)), f32(width), True)


def slideright(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """The second picture pushes the first one out to the right."""
    return _slide(a, b, x + trunc((1 - progress) * f32(width)), f32(width), True)


def slideup(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """The second picture pushes the first one out at the top."""
    return _slide(a, b, y + trunc(-(1 - progress) * f32(height)), f32(height), False)


def slidedown(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """The second picture pushes the first one out at the bottom."""
    return _slide(a, b, y + trunc((1 - progress) * f32(height)), f32(height), False)


def squeezeh(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """The first picture is squeezed to a level line."""
    z = 0.5 + (f32(y) / height - 0.5) / max(f32(1 - progress), 1e-6)
    row = floor(clamp(z, 0, 1) * (height - 1) + 0.5)
    return where((z < 0) | (z > 1), b[0, 0], a.at(x, row))


def squeezev(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """The first picture is squeezed to an upright line."""
    z = 0.5 + (f32(x) / width - 0.5) / max(f32(1 - progress), 1e-6)
    column = floor(clamp(z, 0, 1) * (width - 1) + 0.5)
    return where((z < 0) | (z > 1), b[0, 0], a.at(column, y))


def zoomin(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """Into the first picture, then the second one."""
    left = f32(1 - progress)
    near = smoothstep(0.5, 1.0, left)
    u = ceil((0.5 + (f32(x) / width - 0.5) * near) * (width - 1))
    v = ceil((0.5 + (f32(y) / height - 0.5) * near) * (height - 1))
    return mix(b[0, 0], a.at(u, v), smoothstep(0.0, 0.5, left))
