"""Where the brightness changes: to see it, and to make more of it."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.parameter import param
from dala.language.values import Image, Value, Vec, intermediate
from dala.language.vocabulary import luma, min, rgb, sqrt


@builtin("image")
def edge_detect(src: Image) -> Vec:
    """The Sobel magnitude of the luma, at most 1, in r, g and b; alpha kept.

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
    src: Image, amount: float = param(0.5, min=0, max=10, help="0 changes nothing.")
) -> Vec:
    """c + amount · (4c - left - right - up - down), alpha kept.

    >>> photo = np.full((3, 3), 100, np.uint8)
    >>> photo[1, 1] = 110
    >>> int(media.sharpen(photo)[1, 1])
    130
    """
    p = src[0, 0]
    around = src[-1, 0].rgb + src[1, 0].rgb + src[0, -1].rgb + src[0, 1].rgb
    result = p.rgb + (p.rgb * 4.0 - around) * amount
    assert isinstance(result, Vec)
    return result.with_alpha(p.a)
