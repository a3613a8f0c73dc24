"""Where the brightness changes: to see it, and to make more of it."""

from __future__ import annotations

import math

from dala.kernels.blur import soft_blur
from dala.kernels.declare import builtin
from dala.language.parameter import param, static
from dala.language.values import Image, Operand, Value, Vec, intermediate
from dala.language.vocabulary import luma, min, rgb, sqrt


@builtin("image")
def edge_detect(src: Image) -> Vec:
    """White outlines on black: the Sobel magnitude of the luma, at most 1.

    >>> photo = np.array([[0, 0, 60, 60]] * 3, np.uint8)
    >>> media.edge_detect(photo)[1].tolist()
    [0, 240, 240, 0]
    """
    p = src[0, 0]
    edge = min(1.0, sobel(intermediate(luma(p))))  # in this order a NaN stays NaN
    return rgb(edge, edge, edge).with_alpha(p.a)


def sobel(brightness: Image) -> Value:
    """The length of the gradient, by differences weighted 1, 2, 1."""

    # One pass over eight neighbours; two separable ones (sums, then differences) were slower.
    def at(dx: int, dy: int) -> Value:
        return brightness[dx, dy].r

    falling, rising = at(1, 1) - at(-1, -1), at(1, -1) - at(-1, 1)
    across = falling + rising + 2.0 * (at(1, 0) - at(-1, 0))
    down = falling - rising + 2.0 * (at(0, 1) - at(0, -1))
    return sqrt(across * across + down * down)


@builtin("image")
def sharpen(
    src: Image,
    amount: float = param(0.5, min=0, max=10, help="0 changes nothing."),
    radius: int = static(1, min=1, max=64, pixels=True, help="Size of the details, in pixels."),
) -> Vec:
    """Crisper details: c + amount · (4c - left - right - up - down).

    >>> photo = np.full((3, 3), 100, np.uint8)
    >>> photo[1, 1] = 110
    >>> int(media.sharpen(photo)[1, 1])
    130
    """
    p = src[0, 0]
    if radius > 1:
        return _unsharp(src, amount, radius)
    around = src[-1, 0].rgb + src[1, 0].rgb + src[0, -1].rgb + src[0, 1].rgb
    result = p.rgb + (p.rgb * 4.0 - around) * amount
    assert isinstance(result, Vec)
    return result.with_alpha(p.a)


def _unsharp(src: Image, amount: Operand, radius: int) -> Vec:
    """The same for larger details, by a blurred image: what 4c - left - … is to pixels, 4 (c - blurred)
    is to blocks of ``radius`` pixels if the bell's sigma is √½ of that (their spectra are alike)."""
    p = src[0, 0]
    blurred = soft_blur(src, math.ceil(radius * 2**0.5), radius * 0.5**0.5)
    assert isinstance(blurred, Vec)
    result = p.rgb + (p.rgb - blurred.rgb) * (4.0 * amount)
    assert isinstance(result, Vec)
    return result.with_alpha(p.a)
