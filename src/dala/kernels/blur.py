"""Gaussian blur: the window itself up to a radius of 25, and a smaller image beyond that.

What is left after a wide blur is smooth, so a smaller image can hold it: the image is shrunk by means of
2 x 2 pixels, once or twice, blurred there, and enlarged between pixels again. Shrinking and enlarging
blur a little too; the bell is made narrower by as much. So the cost does not grow beyond radius 25.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dala.ir.arrays import ArrayType
from dala.kernels.declare import builtin_with_variants
from dala.language import vocabulary
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import ParamValue, param, static
from dala.language.values import Image, Operand, Scalar, Value, intermediate
from dala.language.vocabulary import average, exp, height, sqrt, where, width, x, y


def gaussian_blur(
    src: Image,
    radius: int = static(3, min=0, max=100, help="Reach of the window in pixels."),
    sigma: float | None = param(
        None, min=0.01, max=1000, help="Width of the bell; radius / 2 if not given."
    ),
) -> Value:
    """Gaussian blur over a window of ±radius, all channels, weights normalised."""
    if radius == 0:
        return src[0, 0]
    bell = gaussian(range(radius + 1), radius / 2 if sigma is None else sigma)
    reach = range(-radius, radius + 1)
    return blur_axes(src, reach, [bell[abs(d)] for d in reach])


def blur_axes(src: Image, reach: range, weights: Sequence[Value], step: int = 1) -> Value:
    """One dimension after the other, with the same weights."""
    down = intermediate(average([src[0, d] for d in reach], weights), step)
    return average([down[d, 0] for d in reach], weights)


def gaussian(distances: Iterable[float], sigma: Operand) -> list[Value]:
    """The bell curve at some distances; symbols if sigma is a run-time value."""
    falloff = -0.5 / (sigma * sigma)
    return [exp(falloff * (d * d)) for d in distances]


WIDEST = 25  # the largest radius that is computed as it is
REACH = 3.2  # a bell is cut off after so many sigmas: 0.14 % of it lie beyond
SMALLEST = 64  # a smaller image is not worth shrinking
SHRUNK = {2: 1.0, 4: 5.0}  # the variance that shrinking and enlarging adds, in pixels²


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
        small = intermediate(shrink(small), shrunk)
    # A pixel of the small image stands for ``step`` pixels of the window; at the window's ends, for the
    # share of them that lies inside.
    count = math.ceil((radius + 0.5) / step + 0.5) - 1
    weights: list[Value] = []
    for m in range(count + 1):
        pixels = [step * m + k - (step - 1) / 2 for k in range(step)]
        shares = [min(max(radius + 1 - abs(d), 0.0), 1.0) for d in pixels]
        inside = [(d, share) for d, share in zip(pixels, shares, strict=True) if share]
        bell = gaussian([d for d, _ in inside], narrower)
        weights.append(vocabulary.sum([b * s for b, (_, s) in zip(bell, inside, strict=True)]))
    reach = range(-count, count + 1)
    blurred = intermediate(blur_axes(small, reach, [weights[abs(d)] for d in reach], step), step)
    if step == 4:
        blurred = intermediate(enlarge(blurred), 2)
    return enlarge(blurred)


def shrink(src: Image) -> Value:
    """The mean of a block of 2 x 2 pixels, but for the blocks at the border.

    Beyond the border the edge pixel repeats, so the last block must be that pixel, not its mean with
    the next; the difference is given to the next block, so that nothing is lost.
    """
    return weigh_block(src, _shrinking_weights(x, src.width), _shrinking_weights(y, src.height))


def enlarge(small: Image) -> Value:
    """A pixel between those of an image of half the size; at the border, on the line through them."""
    return weigh_block(small, _enlarging_weights(x, width), _enlarging_weights(y, height))


def weigh_block(src: Image, columns: Mapping[int, Value], rows: Mapping[int, Value]) -> Value:
    """Pixels at some offsets, each times the weight of its column and of its row."""
    lines = []
    for dy, down in rows.items():
        line = vocabulary.sum([src[dx, dy] * across for dx, across in columns.items()])
        lines.append(line * down)
    return vocabulary.sum(lines)


def _shrinking_weights(position: Scalar, size: Scalar) -> dict[int, Value]:
    """By offset from the block's first pixel. An odd last block is the edge pixel alone anyway."""
    last = (size >> 1) - 1
    even = (size & 1) == 0
    first_block, second_block = position == 0, position == 1
    last_block, before_last = even & (position == last), even & (position == last - 1)
    left, right = where(first_block, 0.5, 0.0), where(last_block, 0.5, 0.0)
    after, before = where(second_block, 0.5, 0.0), where(before_last, 0.5, 0.0)
    return {
        -2: -after,
        -1: after,
        0: 0.5 + left - right,
        1: 0.5 - left + right,
        2: before,
        3: -before,
    }


def _enlarging_weights(position: Scalar, size: Scalar) -> dict[int, Value]:
    """By offset from the small pixel that a pixel belongs to: 3/4 of it, 1/4 of the nearest other."""
    odd = position & 1
    outer = (position == 0) | ((odd == 1) & (position == size - 1))
    near = where(outer, -0.25, 0.25)  # of the pixel beside, or of the one across if there is none
    to_left = (odd == 0) ^ outer
    return {
        -1: where(to_left, near, 0.0),
        0: where(outer, 1.25, 0.75),
        1: where(to_left, 0.0, near),
    }


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
    if radius <= 2 * WIDEST or ends <= 2 * WIDEST:
        return _wide, {"radius": min(radius, 2 * WIDEST), "step": 2}
    return _wide, {"step": 4}


_plain = make_kernel(gaussian_blur, name="blur", domain="image")
blur = builtin_with_variants("blur", gaussian_blur, _choose_blur)
