"""Filters that look at a pixel's neighbours. Beyond the border the edge pixel repeats."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.parameter import param, static
from dala.language.values import Image, Value, Vec, intermediate
from dala.language.vocabulary import average, exp


@builtin("image")
def blur(
    src: Image,
    radius: int = static(3, min=0, max=100, help="Reach of the window in pixels."),
    sigma: float | None = param(
        None, min=0.01, max=1000, help="Width of the bell; radius / 2 if not given."
    ),
) -> Value:
    """Gaussian blur over a window of ±radius, all channels, weights normalised."""
    if radius == 0:
        return src[0, 0]
    bell = gaussian(radius, radius / 2 if sigma is None else sigma)
    reach = range(-radius, radius + 1)
    weights = [bell[abs(d)] for d in reach]
    down = intermediate(average([src[0, d] for d in reach], weights))
    return average([down[d, 0] for d in reach], weights)


def gaussian(radius: int, sigma: float) -> list[Value]:
    """The bell curve at distances 0 … radius; symbols if sigma is a run-time value."""
    falloff = -0.5 / (sigma * sigma)
    return [exp(falloff * (d * d)) for d in range(radius + 1)]


@builtin("image")
def sharpen(
    src: Image, amount: float = param(0.5, min=0, max=10, help="0 changes nothing.")
) -> Vec:
    """c + amount · (4c - left - right - up - down), alpha kept."""
    p = src[0, 0]
    around = src[-1, 0].rgb + src[1, 0].rgb + src[0, -1].rgb + src[0, 1].rgb
    result = p.rgb + (p.rgb * 4.0 - around) * amount
    assert isinstance(result, Vec)
    return result.with_alpha(p.a)
