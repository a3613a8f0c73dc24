"""Where the brightness changes."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.values import Image, Value, Vec, intermediate
from dala.language.vocabulary import luma, min, rgb, sqrt


@builtin("image")
def edge_detect(src: Image) -> Vec:
    """The Sobel magnitude of the luma, at most 1, in r, g and b; alpha kept."""
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
