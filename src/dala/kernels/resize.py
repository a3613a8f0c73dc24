"""Resize: five ways to mix pixels. Pixel centres keep their place.

nearest   the pixel under the centre
bilinear  2 x 2 pixels
bicubic   4 x 4, Keys' cubic with a = -0.75
lanczos   8 x 8, a windowed sinc
area      all pixels under the new one, by the area they share with it; enlarging it is bilinear

All as OpenCV has them: nearest as INTER_NEAREST_EXACT, lanczos as INTER_LANCZOS4 (Pillow's LANCZOS is
a = 3 and widens when it shrinks). Only area looks at every pixel when it shrinks an image; the others
skip some, and fine patterns alias.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from dala.errors import KernelError, ParameterError
from dala.ir.arrays import ArrayType
from dala.kernels import halves
from dala.kernels.declare import builtin_with_variants
from dala.kernels.geometry import given_size
from dala.kernels.halves import cubic_weights, lanczos_weights
from dala.language import vocabulary
from dala.language.kernel import Geometry, Kernel, make_kernel
from dala.language.parameter import ParamValue, static
from dala.language.values import Image, Operand, Scalar, Value, Vec
from dala.language.vocabulary import (
    clamp,
    f32,
    floor,
    max,
    min,
    s32,
    sum,
    where,
    x,
    y,
)

Taps = list[tuple[Value, Operand]]  # along one axis: a pixel's number and its weight

MOST_TAPS = 12  # per axis (144 pixels); images shrunk further are sampled at so many places instead
SAMPLED = 0  # the number of taps that says so
# Where a box should begin exactly on a pixel, rounding must not let it begin on the one before.
_ROUNDING = 1 / 1024
_GUESS = 1 / 64


def mix_pixels(
    src: Image,
    width: int | None = static(None, min=1, max=65_536, help="Columns of the output."),
    height: int | None = static(None, min=1, max=65_536, help="Rows of the output."),
    interpolation: str = static(
        "bilinear",
        choices=("nearest", "bilinear", "bicubic", "area", "lanczos"),
        help="How to mix pixels; area is best for shrinking.",
    ),
    fit: str = static(
        "stretch",
        choices=("stretch", "contain", "cover"),
        help="Other proportions: stretch them, fit inside (contain), or fill and cut (cover).",
    ),
    scale: float | None = static(
        None, min=0.0001, max=100, help="The size by a factor: 0.5 is half of each side."
    ),
    long_edge: int | None = static(
        None, min=1, max=65_536, help="Pixels of the longer side; the other follows."
    ),
) -> Vec:
    """The image in another size; pixel centres keep their place.

    >>> media.resize(np.zeros((480, 640, 3), np.uint8), 320, interpolation="area").shape
    (240, 320, 3)
    """
    if fit == "cover":
        return _cover(src, interpolation)
    if interpolation == "nearest":
        column = _pixel_under(x, src.width, vocabulary.width)
        return src.at(column, _pixel_under(y, src.height, vocabulary.height))
    u = (x + 0.5) * (src.width / vocabulary.width) - 0.5
    v = (y + 0.5) * (src.height / vocabulary.height) - 0.5
    if interpolation == "bilinear":
        return src.sample(u, v)
    if interpolation == "area":
        raise KernelError("how far area reaches depends on the sizes: it works in run_kernel only")
    weigh = cubic_weights if interpolation == "bicubic" else lanczos_weights
    return mix_taps(src, _taps_around(u, weigh), _taps_around(v, weigh))


def mix_by_area(
    src: Image,
    width: int | None = static(None),
    height: int | None = static(None),
    columns: int = static(min=SAMPLED, max=MOST_TAPS),
    rows: int = static(min=SAMPLED, max=MOST_TAPS),
    fit: str = static("stretch"),
) -> Vec:
    """Resize by area, once it is known how many columns and rows a new pixel touches."""
    if fit == "cover":
        scale, left, top = _covering(src)
        return mix_taps(src, _taps_below(x, left, scale, columns), _taps_below(y, top, scale, rows))
    across = _taps_under(x, src.width, vocabulary.width, columns)
    down = _taps_under(y, src.height, vocabulary.height, rows)
    return mix_taps(src, across, down)


def _covering(src: Image) -> tuple[Value, Value, Value]:
    """Of a size that is filled: source pixels to a new one, and where the first new pixel begins."""
    scale = min(src.width / vocabulary.width, src.height / vocabulary.height)
    left = (src.width - vocabulary.width * scale) * 0.5
    top = (src.height - vocabulary.height * scale) * 0.5
    return scale, left, top


def _cover(src: Image, interpolation: str) -> Vec:
    """The middle of an image of other proportions, as much as fills the output."""
    scale, left, top = _covering(src)
    u, v = (x + 0.5) * scale + (left - 0.5), (y + 0.5) * scale + (top - 0.5)
    if interpolation == "nearest":
        return src.at(s32(floor(u + 0.5)), s32(floor(v + 0.5)))
    if interpolation == "bilinear":
        return src.sample(u, v)
    if interpolation == "area":
        raise KernelError("how far area reaches depends on the sizes: it works in run_kernel only")
    weigh = cubic_weights if interpolation == "bicubic" else lanczos_weights
    return mix_taps(src, _taps_around(u, weigh), _taps_around(v, weigh))


def _resized(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...] | None:
    relative = values["scale"] is not None or values["long_edge"] is not None
    if relative or values["fit"] == "contain":
        wide, high = _new_size(values, inputs[0].shape[1], inputs[0].shape[0])
        return (high, wide) if relative or values["width"] is not None else None
    return given_size("resize", values)


def _new_size(values: Mapping[str, ParamValue], width: int, height: int) -> tuple[int, int]:
    """Of one side alone, the other follows; a factor or a longer side say both."""
    wide, high, edge = (
        cast("int | None", values[name]) for name in ("width", "height", "long_edge")
    )
    factor = cast("float | None", values["scale"])
    if [factor is None, edge is None, wide is None and high is None].count(False) > 1:
        raise ParameterError(
            "resize: give a scale, a long_edge, or a width and height; one of them"
        )
    if edge is not None:
        factor = edge / builtins.max(width, height)
    elif wide is not None and high is not None and values["fit"] == "contain":
        factor = builtins.min(wide / width, high / height)
    if factor is not None:
        return _times(width, factor), _times(height, factor)
    if wide is None:
        wide = width if high is None else _times(width, high / height)
    return wide, _times(height, wide / width) if high is None else high


def _times(side: int, factor: float) -> int:
    return builtins.max(1, round(side * factor))


def _with_size(values: Mapping[str, ParamValue], width: int, height: int) -> dict[str, ParamValue]:
    wide, high = _new_size(values, width, height)
    fit = "stretch" if values["fit"] == "contain" else values["fit"]
    known: dict[str, ParamValue] = {"width": wide, "height": high, "fit": fit}
    return {**values, **known, "scale": None, "long_edge": None}


def _variant(
    function: Callable[..., object],
    input_mip: int = 0,
    output_mip: int = 0,
    general: Kernel | None = None,
) -> Kernel:
    geometry = Geometry(input_mip=input_mip, output_mip=output_mip)
    kernel = make_kernel(
        function, name="resize", domain="image", shape_rule=_resized, geometry=geometry
    )
    kernel.general = general
    return kernel


_by_area = _variant(mix_by_area)
_same = _variant(halves.same_pixels)
_to_half = _variant(halves.shrink_to_half, output_mip=1)
_to_double = _variant(halves.enlarge_to_double, input_mip=1)
# of 4 x 4 pixels and more; mixed by columns and rows, any size may be as fast (see backends/cpu)
_any_size = _variant(mix_pixels)
_to_half_of_many = _variant(halves.shrink_to_half, output_mip=1, general=_any_size)
_to_double_of_many = _variant(halves.enlarge_to_double, input_mip=1, general=_any_size)


def _choose(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[Kernel, Mapping[str, ParamValue]] | None:
    """Sizes that have a way of their own. Arrays that are not images are refused by any of them."""
    shapes = [a.shape[:2] for a in (*inputs, output)]
    images = len(shapes) == 2 and all(len(s) == 2 for s in shapes)
    old, new = (shapes[0], shapes[1]) if images else ((1, 1), (1, 1))
    many = values["interpolation"] in ("bicubic", "lanczos")
    cut = images and values["fit"] == "cover" and old[0] * new[1] != old[1] * new[0]
    if images and not cut:
        if old == new:
            return _same, {}
        if old == tuple(2 * n for n in new):
            return _to_half_of_many if many else _to_half, {}
        if new == tuple(2 * n for n in old):
            return _to_double_of_many if many else _to_double, {}
    if values["interpolation"] != "area":
        return None
    if images and all(n >= o for o, n in zip(old, new, strict=True)):  # which is bilinear
        return _any_size, {"interpolation": "bilinear"}
    if cut:
        scale = builtins.min(old[0] / new[0], old[1] / new[1])
        taps = 2 if scale <= 1 else math.ceil(scale) + 1
        taps = SAMPLED if taps > MOST_TAPS else taps
        return _by_area, {"rows": taps, "columns": taps}
    return _by_area, {
        "fit": "stretch",
        "rows": count_taps(old[0], new[0]),
        "columns": count_taps(old[1], new[1]),
    }


resize = builtin_with_variants(
    "resize", mix_pixels, _choose, shape_rule=_resized, output_size=_new_size, at_size=_with_size
)


@functools.lru_cache(1024)
def count_taps(source: int, target: int) -> int:
    """The most pixels that one of ``target`` equal parts of ``source`` pixels touches."""
    if source <= target:
        return 1 if source == target else 2
    counts = (-(-(k + 1) * source // target) - k * source // target for k in range(target))
    most = builtins.max(counts)
    return most if most <= MOST_TAPS else SAMPLED


def mix_taps(src: Image, columns: Taps, rows: Taps) -> Vec:
    """The sum of pixels, each times the weight of its column and of its row."""
    lines = []
    for row, down in rows:
        line = sum([src.at(column, row) * across for column, across in columns])
        lines.append(line * down)
    total = sum(lines)
    assert isinstance(total, Vec)
    return total


def _pixel_under(position: Scalar, source: Scalar, target: Scalar) -> Value:
    """The pixel under a new one's centre; between two pixels the second of them."""
    return _whole_part(2 * position + 1, source, 2 * target)


def _whole_part(number: Scalar, source: Scalar, parts: Scalar) -> Value:
    """floor(number · source / parts), exactly and on every device.

    A quotient in f32 would not do: a GPU's is off by up to 2.5 ulp, and what lies between two pixels
    then falls to the wrong one. So f32 only guesses, and whole numbers decide. The result is below 2¹⁶
    and the number below 2²⁴: three roundings are 2⁻⁶ at most in all, so the guess, less that, is the
    result or one less. What is left over is below 2 · parts, and right although both products may have
    wrapped.
    """
    guess = s32(f32(number) * (source / parts) - _GUESS)
    left_over = number * source - guess * parts
    return guess + where(left_over >= parts, 1, 0)


def _taps_around(position: Value, weigh: Callable[[Operand], Sequence[Operand]]) -> Taps:
    """Pixels on both sides of a position, with weights by the fraction between the middle ones."""
    left = floor(position)
    weights = weigh(position - left)
    first = s32(left) - (len(weights) // 2 - 1)
    return [(first + k, weight) for k, weight in enumerate(weights)]


def _taps_under(position: Scalar, source: Scalar, target: Scalar, count: int) -> Taps:
    """The pixels under a new one, with the share of it that each fills.

    A new pixel is a box ``scale`` wide. Enlarging it is one pixel wide and lies over two: bilinear.
    """
    if count == SAMPLED:  # in the middles of equal parts
        parts = 2 * MOST_TAPS
        middles = [parts * position + (2 * k + 1) for k in range(MOST_TAPS)]
        return [(_whole_part(m, source, parts * target), 1 / MOST_TAPS) for m in middles]
    return _taps_below(position, 0.0, source / target, count)


def _taps_below(position: Scalar, origin: Operand, scale: Value, count: int) -> Taps:
    """The same where new pixels are ``scale`` wide and the first one begins at ``origin``."""
    extent = max(scale, 1.0)
    if count == SAMPLED:
        steps = [(k + 0.5) / MOST_TAPS for k in range(MOST_TAPS)]
        places = [(position + step) * scale + origin for step in steps]
        return [(s32(floor(place)), 1 / MOST_TAPS) for place in places]
    begin = (position + 0.5) * scale - extent * 0.5
    if not isinstance(origin, float):
        begin = begin + origin
    first = floor(begin + _ROUNDING)
    end, number = begin + extent, s32(first)
    taps: Taps = []
    for k in range(count):
        weight: Value = 1.0 / extent
        if not 0 < k < count - 2:  # those in between are covered whole
            shared = min(first + (k + 1.0), end) - max(first + float(k), begin)
            weight = clamp(shared, 0.0, 1.0) * weight
        taps.append((number + k, weight))
    return taps
