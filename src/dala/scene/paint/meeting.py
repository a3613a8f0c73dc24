"""How a layer and the canvas below it become one: source-over and the other blend modes.

A canvas is u8 with straight alpha: each layer rounds once. Where the canvas is opaque nothing is divided;
where it is empty the layer's own colour is taken; between them the quotient is computed in f32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.scene.layers import Bytes
from dala.scene.paint.placing import FULL
from dala.scene.paint.sampled import Fragments, Ints, multiply, share

Floats: TypeAlias = npt.NDArray[Any]  # f32, all of them
ALL = 255 << 7


def meet(canvas: Bytes, fragments: Fragments, blend: str) -> None:
    """Paint fragments onto the part of the canvas that is their box."""
    below = canvas.astype(np.int64)
    d, b = below[..., :3], below[..., 3]
    color = fragments.color if blend == "over" else _blended(fragments, d, b, blend)
    covered = fragments.coverage
    c, a = _part(color, covered[..., None]), _part(fragments.alpha, covered)
    keep = share(ALL - a)
    opaque = (c + multiply(d << 7, keep[..., None]) + 64) >> 7
    own = multiply(multiply(d << 7, share(b << 7)[..., None]), keep[..., None])
    alpha = a + multiply(b << 7, keep)
    mixed = _divided(c + own, alpha)
    empty = fragments.straight
    if empty is None:
        empty = _divided(fragments.color, fragments.alpha)
    rgb = np.where((b == 255)[..., None], opaque, np.where((b == 0)[..., None], empty, mixed))
    level = np.where(b == 255, 255, (alpha + 64) >> 7)
    result = np.concatenate([rgb, level[..., None]], -1).clip(0, 255)
    canvas[:] = np.where((a == 0)[..., None], below, result)


def mix(below: Bytes, above: Bytes, coverage: Ints) -> Bytes:
    """From one picture to another by coverage, all four channels."""
    k = coverage[..., None]
    between: Ints = (below * (FULL - k) + above * k + 128) >> 8
    return between.astype(np.uint8)


def _part(value: Ints, covered: Ints) -> Ints:
    return np.where(covered == FULL, value, multiply(value, np.minimum(covered, FULL - 1) << 7))


def _divided(color: Ints, alpha: Ints) -> Ints:
    """A colour of 1/128 levels, without the alpha in it, as levels."""
    divisor: Floats = np.maximum(alpha, 1).astype(np.float32)[..., None]
    quotient: Floats = (color * 255).astype(np.float32) / divisor
    levels: Ints = np.floor(quotient + np.float32(0.5)).astype(np.int64)
    return levels


# -- blend modes -------------------------------------------------------------------------------


def _screen(a: Floats, b: Floats) -> Floats:
    result: Floats = a + b - a * b
    return result


def _hard_light(a: Floats, b: Floats) -> Floats:
    return np.where(b <= 0.5, a * (2 * b), _screen(a, 2 * b - 1))


def _soft_light(a: Floats, b: Floats) -> Floats:
    curve = np.where(a <= 0.25, ((16 * a - 12) * a + 4) * a, np.sqrt(a))
    result: Floats = a + (2 * b - 1) * np.where(b <= 0.5, a - a * a, curve - a)
    return result


# the colour where both are opaque, as in the kernel ``blend``: a is the canvas, b the layer
_MODES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "screen": _screen,
    "overlay": lambda a, b: _hard_light(b, a),
    "darken": np.minimum,
    "lighten": np.maximum,
    "difference": lambda a, b: abs(a - b),
    "soft_light": _soft_light,
    "hard_light": _hard_light,
}


def _blended(fragments: Fragments, d: Ints, b: Ints, blend: str) -> Ints:
    """The layer's colour as the canvas changes it, multiplied by alpha again."""
    alpha = fragments.alpha.astype(np.float32)[..., None]
    top: Floats = fragments.color.astype(np.float32) / np.maximum(alpha, np.float32(1))
    base: Floats = d.astype(np.float32) * np.float32(1 / 255)
    opacity = b.astype(np.float32)[..., None] * np.float32(1 / 255)
    mode = np.maximum(_MODES[blend](base, top), np.float32(0))
    color = top + (mode - top) * opacity
    levels: Ints = np.floor(color * alpha + np.float32(0.5)).astype(np.int64)
    return levels
