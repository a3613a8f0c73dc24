"""Colour, one pixel at a time. Alpha is kept."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.parameter import param
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import luma, rgb


def _keep_alpha(color: Value, pixel: Vec) -> Vec:
    assert isinstance(color, Vec)
    return color.with_alpha(pixel.a)


@builtin("image")
def grayscale(src: Image) -> Vec:
    """The luma 0.299 r + 0.587 g + 0.114 b, in r, g and b."""
    p = src[0, 0]
    y = luma(p)
    return rgb(y, y, y).with_alpha(p.a)


@builtin("image")
def brightness(
    src: Image, value: float = param(0.0, min=-1, max=1, help="Added to every colour.")
) -> Vec:
    """c + value."""
    p = src[0, 0]
    return _keep_alpha(p.rgb + value, p)


@builtin("image")
def contrast(
    src: Image, value: float = param(0.0, min=-1, max=3, help="0 changes nothing, -1 gives grey.")
) -> Vec:
    """(c - ½)(1 + value) + ½."""
    p = src[0, 0]
    return _keep_alpha((p.rgb - 0.5) * (1.0 + value) + 0.5, p)


@builtin("image")
def invert(src: Image) -> Vec:
    """1 - c."""
    p = src[0, 0]
    return _keep_alpha(1.0 - p.rgb, p)
