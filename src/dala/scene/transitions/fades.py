"""Transitions that mix the colours of both pictures, everywhere at once. Names and formulas are xfade's.

``a`` is what was, ``b`` what comes. ``left`` is what is left of the way: 1 at the beginning, 0 at the end.
"""

from __future__ import annotations

from dala.language.parameter import param
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import (
    abs,
    clamp,
    exp,
    f32,
    floor,
    height,
    log,
    max,
    min,
    mix,
    rgba,
    smoothstep,
    sqrt,
    where,
    width,
    x,
    y,
)  # fmt: skip

PROGRESS = param(0.0, min=0, max=1, help="How far the transition is: 0 is the first picture.")
BLACK, WHITE = (0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0, 1.0)


def fade(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """From one to the other."""
    return mix(a[0, 0], b[0, 0], progress)


def _through(a: Image, b: Image, progress: Value, color: tuple[float, ...]) -> Value:
    left, between = 1 - progress, rgba(*color)
    first = mix(between, a[0, 0], smoothstep(0.8, 1.0, left))
    second = mix(b[0, 0], between, smoothstep(0.2, 1.0, left))
    return mix(second, first, left)


def fadeblack(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """Through black."""
    return _through(a, b, progress, BLACK)  # type: ignore[arg-type]


def fadewhite(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """Through white."""
    return _through(a, b, progress, WHITE)  # type: ignore[arg-type]


def _by_difference(a: Image, b: Image, progress: Value, slow: bool) -> Value:
    gap = abs(a[0, 0] - b[0, 0])
    power = 1 + _each(log, 2 - gap if slow else 1 + gap)
    left = max(f32(1 - progress), 1e-6)
    return mix(b[0, 0], a[0, 0], exp(power * log(left)))


def _each(function: object, color: Vec) -> Vec:
    r, g, b, a = (function(c) for c in (color.r, color.g, color.b, color.a))  # type: ignore[operator]
    return rgba(r, g, b, a)


def fadefast(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """What differs most goes first."""
    return _by_difference(a, b, progress, slow=False)  # type: ignore[arg-type]


def fadeslow(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """What differs most goes last."""
    return _by_difference(a, b, progress, slow=True)  # type: ignore[arg-type]


def distance(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """Where both are alike, the first one stays longer."""
    left, gap = 1 - progress, a[0, 0] - b[0, 0]
    far = sqrt(gap.r * gap.r + gap.g * gap.g + gap.b * gap.b + gap.a * gap.a)
    return mix(b[0, 0], where(far <= left, a[0, 0], b[0, 0]), left)


def dissolve(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """Pixel by pixel, in no order."""
    column, row = f32(x), f32(y)
    first = _rest(column * 37 + row * 101)
    second = _rest(first * first + column * 57 + row * 23)
    third = _rest(second * second + column * 11 + row * 89)
    return where(third / 1021 * 2 + (1 - progress) * 2 - 1.5 >= 0.5, a[0, 0], b[0, 0])


def _rest(value: Value) -> Value:
    """Of a division by a prime: whole numbers below 2²⁴, so every device has the same."""
    return value - floor((value + 0.5) / 1021) * 1021


def pixelize(a: Image, b: Image, progress: float = PROGRESS) -> Value:
    """Through large squares."""
    left = f32(1 - progress)
    size = 2 * _steps(min(left, 1 - left)) * f32(min(width, height)) / 20
    some = max(size, 1e-6)
    column = where(size > 0, min((floor(x / some) + 0.5) * some, width - 1.0), f32(x))
    row = where(size > 0, min((floor(y / some) + 0.5) * some, height - 1.0), f32(y))
    u, v = floor(column), floor(row)
    return mix(b.at(u, v), a.at(u, v), left)


def _steps(value: Value) -> Value:
    return -floor(value * -50) / 50


def lumawipe(
    a: Image,
    b: Image,
    progress: float = PROGRESS,
    softness: float = param(0.1, min=0, max=1, help="How wide the edge is, of all levels."),
) -> Value:
    """The dark parts of the second picture come first, the bright ones last."""
    level = b[0, 0].r * 0.299 + b[0, 0].g * 0.587 + b[0, 0].b * 0.114
    soft = max(softness, 1.0 / 512)
    return mix(a[0, 0], b[0, 0], clamp((progress * (1 + soft) - level) / soft, 0, 1))
