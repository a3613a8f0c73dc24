"""Resize to the same size, to half and to double: fixed positions between pixels, fixed weights.

Nothing is computed about positions, so these need no reads at computed places: an image of half the size
is read or written beside the other one. Where the general formulas are exact, so are these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dala.language.parameter import static
from dala.language.values import Image, Operand, Value, Vec, intermediate
from dala.language.vocabulary import average, clamp, cos, sin, sum, where, x, y


def same_pixels(
    src: Image,
    width: int | None = static(None),
    height: int | None = static(None),
    interpolation: str = static("bilinear"),
) -> Vec:
    """The same size: every pixel lies on one."""
    return src[0, 0]


def shrink_to_half(
    src: Image,
    width: int | None = static(None),
    height: int | None = static(None),
    interpolation: str = static("bilinear"),
) -> Vec:
    """Exactly half the size: each new centre is in the middle of four pixels."""
    if interpolation == "nearest":
        return src[1, 1]
    if interpolation in ("bilinear", "area"):  # both are the mean
        return _vec(average([src[0, 0], src[1, 0], src[0, 1], src[1, 1]], [1.0] * 4))
    if interpolation == "bicubic":
        taps = list(enumerate(cubic_weights(0.5), -1))
        lines = [sum([src[dx, dy] * across for dx, across in taps]) * down for dy, down in taps]
        return _vec(sum(lines))
    taps = list(enumerate(lanczos_weights(0.5), -3))
    # Every row is mixed, though each second one is not read: less than 64 pixels for each new one.
    rows = intermediate(sum([src[0, dy] * down for dy, down in taps]))
    return _vec(sum([rows[dx, 0] * across for dx, across in taps]))


def enlarge_to_double(
    src: Image,
    width: int | None = static(None),
    height: int | None = static(None),
    interpolation: str = static("bilinear"),
) -> Vec:
    """Exactly twice the size: each new centre is a quarter of a pixel off an old one."""
    if interpolation == "nearest":
        return src[0, 0]
    if interpolation in ("bilinear", "area"):
        return enlarge(src)
    weights = cubic_weights(0.25) if interpolation == "bicubic" else lanczos_weights(0.25)
    return _enlarge_by(src, weights)


def enlarge(small: Image) -> Vec:
    """A pixel between those of an image of half the size, bilinear."""
    odd_row, odd_column = (y & 1) == 1, (x & 1) == 1
    columns = [
        small[dx, 0] * 0.75 + where(odd_row, small[dx, 1], small[dx, -1]) * 0.25
        for dx in (-1, 0, 1)
    ]
    return _vec(columns[1] * 0.75 + where(odd_column, columns[2], columns[0]) * 0.25)


def _enlarge_by(small: Image, weights: Sequence[Operand]) -> Vec:
    """A pixel between those of an image of half the size; ``weights`` are those of odd columns and rows.

    Even ones have the same weights mirrored. Rows are mixed first, once for all columns that need them.
    """
    taps = list(enumerate(weights, 1 - len(weights) // 2))
    lower = intermediate(sum([small[0, d] * w for d, w in taps]), 2)
    upper = intermediate(sum([small[0, -d] * w for d, w in taps]), 2)
    odd_row, odd_column = (y & 1) == 1, (x & 1) == 1
    row = {
        d: where(odd_row, lower[d, 0], upper[d, 0])
        for d in range(-len(taps) // 2, len(taps) // 2 + 1)
    }
    by_offset = dict(taps)
    total = row[0] * by_offset[0]
    for d in range(1, len(taps) // 2):
        near, far = by_offset[d], by_offset[-d]
        total = total + row[d] * where(odd_column, near, far)
        total = total + row[-d] * where(odd_column, far, near)
    last = len(taps) // 2
    return _vec(total + where(odd_column, row[last], row[-last]) * by_offset[last])


def cubic_weights(t: Operand, a: float = -0.75) -> list[Operand]:
    """The four weights of Keys' cubic at fraction ``t``."""
    before, after = t + 1.0, 1.0 - t
    first = ((a * before - 5.0 * a) * before + 8.0 * a) * before - 4.0 * a
    second = ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0
    third = ((a + 2.0) * after - (a + 3.0)) * after * after + 1.0
    return [first, second, third, 1.0 - first - second - third]


def lanczos_weights(t: Operand) -> list[Operand]:
    """The eight weights of Lanczos' kernel with a = 4, sinc(d) · sinc(d / 4), at fraction ``t``.

    sin(πd) differs between taps in sign alone, and weights are divided by their sum: what is left is
    ±sin(πd/4) / d². Exactly on a pixel that is 0 / 0; so near to it the other weights are ~0 anyway.
    """
    t = clamp(t, 1e-4, 1.0 - 1e-4)
    sine, cosine = sin(t * (math.pi / 4)), cos(t * (math.pi / 4))
    weights = []
    for k in range(-3, 5):  # d = t - k, and sin(a - b) = sin a · cos b - cos a · sin b
        turn = math.pi / 4 * k
        height = sine * math.cos(turn) - cosine * math.sin(turn)
        weights.append(height * (-1.0) ** k / ((t - k) * (t - k)))
    share = 1.0 / sum(weights)
    return [weight * share for weight in weights]


def _vec(value: Value) -> Vec:
    assert isinstance(value, Vec)
    return value
