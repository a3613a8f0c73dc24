"""Gaussian blur: the window itself up to a radius of 25, and a smaller image beyond that.

What is left after a wide blur is smooth, so a smaller image can hold it: the image is shrunk by means of
2 x 2 pixels, once or twice, blurred there, and enlarged between pixels again. Shrinking and enlarging
blur a little too; the bell is made narrower by as much. So the cost does not grow beyond radius 25.

The error against the window itself, before rounding, in levels of 255: up to 0.4 on photos and 1.1 on
noise for the usual sigma (radius / 2). It is largest just above a change of size, and where sigma is far
from the usual: 2 on noise for a bell three sigmas wide, 3.2 on the worst pattern for a nearly flat window.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dala.ir.arrays import ArrayType
from dala.kernels.declare import builtin_with_variants
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import ParamValue, param, static
from dala.language.values import Image, Operand, Value, intermediate
from dala.language.vocabulary import average, exp, f32, max, sqrt, where, x, y


def gaussian_blur(
    src: Image,
    radius: int = static(3, min=0, max=100, pixels=True, help="Reach of the window in pixels."),
    sigma: float | None = param(
        None, min=0.01, max=1000, pixels=True, help="Width of the bell; radius / 2 if not given."
    ),
) -> Value:
    """Soft, out of focus: a Gaussian over a window of ±radius, all channels, weights normalised.

    >>> photo = np.zeros((5, 5), np.uint8)
    >>> photo[2, 2] = 255
    >>> media.blur(photo, 1, sigma=1.0)[2].tolist()
    [0, 32, 52, 32, 0]
    """
    if radius == 0:
        return src[0, 0]
    bell = gaussian(range(radius + 1), radius / 2 if sigma is None else sigma)
    reach = range(-radius, radius + 1)
    return blur_axes(src, reach, [bell[abs(d)] for d in reach])


def blur_axes(
    src: Image, reach: range, weights: Sequence[Value], step: int = 1, margin: int = 0
) -> Value:
    """One dimension after the other, with the same weights."""
    down = intermediate(average([src[0, d] for d in reach], weights), step, margin)
    return average([down[d, 0] for d in reach], weights)


def gaussian(distances: Iterable[float], sigma: Operand) -> list[Value]:
    """The bell curve at some distances; symbols if sigma is a run-time value."""
    falloff = -0.5 / (sigma * sigma)
    return [exp(falloff * (d * d)) for d in distances]


WIDEST = 25  # the largest radius that is computed as it is
HALVED = 40  # the largest that is computed at half the size, unless sigma is small
REACH = 3.2  # a bell is cut off after so many sigmas: 0.14 % of it lie beyond
SMALLEST = 64  # a smaller image is not worth shrinking
HALF_FROM, QUARTER_FROM = 6, 12  # radius from which a soft blur is computed at a half, at a quarter
SHRUNK = {2: 1.0, 4: 4.0}  # the variance that shrinking and enlarging adds, in pixels²


def wide_blur(
    src: Image,
    radius: int = static(min=1),
    sigma: float | None = param(None),
    step: int = static(min=2),
) -> Value:
    """A blur computed on an image of 1/step of the size."""
    wide = radius / 2 if sigma is None else sigma
    narrower = sqrt(wide * wide - SHRUNK[step])
    small = src
    for shrunk in (2, 4)[: step // 2]:
        small = intermediate(shrink(small), shrunk, margin=1)
    # A pixel of the small image stands for ``step`` pixels of the window; at the window's ends, for the
    # share of them that lies inside.
    count = math.ceil((radius + 0.5) / step + 0.5) - 1
    shares = [min((radius + 0.5) / step - m + 0.5, 1.0) for m in range(count + 1)]
    bell = gaussian([step * m for m in range(count + 1)], narrower)
    weights = [b * share for b, share in zip(bell, shares, strict=True)]
    reach = range(-count, count + 1)
    around = blur_axes(small, reach, [weights[abs(d)] for d in reach], step, margin=1)
    return enlarge(intermediate(around, step, margin=1), step)


def shrink(src: Image) -> Value:
    """The mean of a block of 2 x 2 pixels; outside of the picture, that is the edge pixel."""
    return (src[0, 0] + src[1, 0] + src[0, 1] + src[1, 1]) * 0.25


def enlarge(small: Image, step: int) -> Value:
    """A pixel between those of an image of 1/step of the size: bilinear."""
    left, right, across = _shares(x & (step - 1), step)
    above, below, down = _shares(y & (step - 1), step)
    # of the rows above and below only one counts; which one is known for a whole row
    beside = [where((y & (step - 1)) < step // 2, small[dx, -1], small[dx, 1]) for dx in (-1, 0, 1)]
    here = small[-1, 0] * left + small[0, 0] * across + small[1, 0] * right
    there = beside[0] * left + beside[1] * across + beside[2] * right
    return here * down + there * (above + below)


def _shares(place: Value, step: int) -> tuple[Value, Value, Value]:
    """How much of the pixel before, of the next and of its own belongs to a place inside a small pixel."""
    off = (f32(place) + 0.5) / step - 0.5
    before, after = max(-off, 0.0), max(off, 0.0)
    return before, after, 1.0 - before - after


def soft_blur(src: Image, radius: int, sigma: float | None = None) -> Value:
    """A blur inside of other kernels, of what is soft anyway: on a smaller image where that will do."""
    if radius < HALF_FROM:
        bell = gaussian(range(radius + 1), sigma or radius / 2)
        reach = range(-radius, radius + 1)
        return blur_axes(src, reach, [bell[abs(d)] for d in reach])
    return wide_blur(src, radius, sigma, 2 if radius < QUARTER_FROM else 4)


_wide = make_kernel(wide_blur, name="blur", domain="image")


def _choose_blur(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[Kernel, Mapping[str, ParamValue]] | None:
    """Beyond WIDEST, a smaller image; and no taps where the bell has ended."""
    radius, sigma = values["radius"], values["sigma"]
    assert isinstance(radius, int)
    sizes = output.shape[:2]
    if radius <= WIDEST or min(sizes, default=0) < SMALLEST:
        return None
    ends = REACH * sigma if isinstance(sigma, float | int) else math.inf
    if ends <= WIDEST:
        return _plain, {"radius": WIDEST}
    if radius <= HALVED or ends <= 2 * WIDEST:
        return _wide, {"radius": min(radius, 2 * WIDEST), "step": 2}
    return _wide, {"step": 4}


_plain = make_kernel(gaussian_blur, name="blur", domain="image")
blur = builtin_with_variants("blur", gaussian_blur, _choose_blur)
