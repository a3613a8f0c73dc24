"""Transitions with an edge that moves: wipes, slices, shapes that open and close. As in xfade."""

from __future__ import annotations

from collections.abc import Callable

from dala.language.values import Image, Scalar, Value
from dala.language.vocabulary import (
    abs,
    atan2,
    f32,
    floor,
    fract,
    height,
    mix,
    pi,
    rgba,
    smoothstep,
    sqrt,
    where,
    width,
    x,
    y,
)  # fmt: skip
from dala.scene.transitions.fades import PROGRESS

Kernel = Callable[..., object]


def _wipe(name: str, keeps: Callable[[Value], Value], doc: str) -> Kernel:
    """A kernel that keeps the first picture where ``keeps(left)`` is true."""

    def wipe(a: Image, b: Image, progress: float = PROGRESS) -> Value:
        return where(keeps(f32(1 - progress)), a[0, 0], b[0, 0])

    return _named(wipe, name, doc)


def _smooth(name: str, keeps: Callable[[Value], Value], doc: str) -> Kernel:
    """A kernel that shows the first picture from where ``keeps(left)`` is 1 to where it is 0."""

    def smooth(a: Image, b: Image, progress: float = PROGRESS) -> Value:
        return mix(a[0, 0], b[0, 0], smoothstep(0.0, 1.0, keeps(f32(1 - progress))))

    return _named(smooth, name, doc)


def _named(function: Kernel, name: str, doc: str) -> Kernel:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _across() -> Value:
    return f32(x) / width


def _down() -> Value:
    return f32(y) / height


def _from_right() -> Value:
    return f32(width - 1 - x) / width


def _from_bottom() -> Value:
    return f32(height - 1 - y) / height


def _half(size: Scalar) -> Value:
    return floor(f32(size) * 0.5)


def _radius() -> Value:
    dx, dy = x - _half(width), y - _half(height)
    return sqrt(dx * dx + dy * dy)


def _corner() -> Value:
    return sqrt(_half(width) * _half(width) + _half(height) * _half(height))


def _columns(left: Value) -> Value:
    return floor(left * width)


def _rows(left: Value) -> Value:
    return floor(left * height)


def _slice(at: Value, left: Value) -> Value:
    return smoothstep(-0.5, 0.0, at - left * 1.5) <= fract(10 * at)


_WIPES: dict[str, tuple[Callable[[Value], Value], str]] = {
    "wipeleft": (lambda p: x <= _columns(p), "An edge runs to the left."),
    "wiperight": (lambda p: x > _columns(1 - p), "An edge runs to the right."),
    "wipeup": (lambda p: y <= _rows(p), "An edge runs upwards."),
    "wipedown": (lambda p: y > _rows(1 - p), "An edge runs downwards."),
    "wipetl": (lambda p: (x <= _columns(p)) & (y <= _rows(p)), "Towards the upper left corner."),
    "wipetr": (
        lambda p: (x > _columns(1 - p)) & (y <= _rows(p)),
        "Towards the upper right corner.",
    ),
    "wipebl": (lambda p: (x <= _columns(p)) & (y > _rows(1 - p)), "Towards the lower left corner."),
    "wipebr": (
        lambda p: (x > _columns(1 - p)) & (y > _rows(1 - p)),
        "Towards the lower right corner.",
    ),
    "hlslice": (lambda p: _slice(_across(), p), "Upright slices, from the right."),
    "hrslice": (lambda p: _slice(_from_right(), p), "Upright slices, from the left."),
    "vuslice": (lambda p: _slice(_down(), p), "Level slices, from below."),
    "vdslice": (lambda p: _slice(_from_bottom(), p), "Level slices, from above."),
}
_SMOOTH: dict[str, tuple[Callable[[Value], Value], str]] = {
    "smoothleft": (lambda p: 1 + _across() - p * 2, "A soft edge runs to the left."),
    "smoothright": (lambda p: 1 + _from_right() - p * 2, "A soft edge runs to the right."),
    "smoothup": (lambda p: 1 + _down() - p * 2, "A soft edge runs upwards."),
    "smoothdown": (lambda p: 1 + _from_bottom() - p * 2, "A soft edge runs downwards."),
    "diagtl": (lambda p: 1 + _across() * _down() - p * 2, "Towards the upper left, curved."),
    "diagtr": (lambda p: 1 + _from_right() * _down() - p * 2, "Towards the upper right, curved."),
    "diagbl": (lambda p: 1 + _across() * _from_bottom() - p * 2, "Towards the lower left, curved."),
    "diagbr": (lambda p: 1 + _from_right() * _from_bottom() - p * 2, "To the lower right, curved."),
    "vertopen": (lambda p: 2 - abs(x / _half(width) - 1) - p * 2, "Opens to both sides."),
    "vertclose": (lambda p: 1 + abs(x / _half(width) - 1) - p * 2, "Closes from both sides."),
    "horzopen": (lambda p: 2 - abs(y / _half(height) - 1) - p * 2, "Opens upwards and downwards."),
    "horzclose": (lambda p: 1 + abs(y / _half(height) - 1) - p * 2, "Closes from above and below."),
    "circleopen": (lambda p: 1 - (_radius() / _corner() + (p - 0.5) * 3), "A circle opens."),
    "circleclose": (lambda p: _radius() / _corner() + (0.5 - p) * 3, "A circle closes."),
    "radial": (
        lambda p: atan2(x - _half(width), y - _half(height)) - (p - 0.5) * (pi * 2.5),
        "A hand goes round.",
    ),
}


def _crop(name: str, keeps: Callable[[Value], Value], doc: str) -> Kernel:
    """Through black: the first picture shrinks, the second one grows."""

    def crop(a: Image, b: Image, progress: float = PROGRESS) -> Value:
        left = f32(1 - progress)
        seen = where(left < 0.5, b[0, 0], a[0, 0])
        return where(keeps(left), seen, rgba(0.0, 0.0, 0.0, 1.0))

    return _named(crop, name, doc)


def _in_circle(left: Value) -> Value:
    part = 2 * abs(left - 0.5)
    return part * part * part * _corner() >= _radius()


def _in_rectangle(left: Value) -> Value:
    part = abs(left - 0.5)
    wide, high = floor(part * width), floor(part * height)
    return (abs(x - _half(width)) < wide) & (abs(y - _half(height)) < high)


def edges() -> dict[str, Kernel]:
    """All of them by name."""
    found = {name: _wipe(name, keeps, doc) for name, (keeps, doc) in _WIPES.items()}
    found |= {name: _smooth(name, keeps, doc) for name, (keeps, doc) in _SMOOTH.items()}
    found["circlecrop"] = _crop(
        "circlecrop", _in_circle, "A circle closes to black and opens again."
    )
    found["rectcrop"] = _crop("rectcrop", _in_rectangle, "A rectangle closes and opens again.")
    return found
