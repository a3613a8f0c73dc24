"""Filters that look at a pixel's neighbours. Beyond the border the edge pixel repeats."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.parameter import param, static
from dala.language.values import Image, Value, Vec, intermediate
from dala.language.vocabulary import exp, sum


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
    weights = gaussian_weights(radius, radius / 2 if sigma is None else sigma)
    reach = range(-radius, radius + 1)
    across = intermediate(sum([src[d, 0] * weights[abs(d)] for d in reach]))
    return sum([across[0, d] * weights[abs(d)] for d in reach])


def gaussian_weights(radius: int, sigma: float) -> list[Value | float]:
    """Normalised weights of distance 0 … radius; symbols if sigma is a run-time value."""
    falloff = -0.5 / (sigma * sigma)
    bell = [exp(falloff * (d * d)) for d in range(radius + 1)]
    total = bell[0]
    for value in bell[1:]:
        total = total + 2.0 * value
    scale = 1.0 / total
    return [value * scale for value in bell]


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
