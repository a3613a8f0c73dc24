"""Kernels that move pixels. Pixel centres have whole coordinates; (0, 0) is the first one.

Turned and warped images end where they end: beyond the border everything is transparent black. The
pixels on the border fade in alpha alone, so that an image composed onto another has smooth edges
without a dark seam. Grey images have no alpha; there the grey itself fades.
"""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Mapping, Sequence
from typing import cast

from dala.errors import ParameterError, ShapeError
from dala.ir.arrays import ArrayType
from dala.kernels.declare import builtin, builtin_with_variants
from dala.language import vocabulary
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import ParamValue, param, static
from dala.language.values import Image, Scalar, Value, Vec
from dala.language.vocabulary import clamp, cos, min, pi, sin, where, x, y


def given_size(kernel: str, values: Mapping[str, ParamValue]) -> tuple[int, ...] | None:
    """The output's size by the parameters ``width`` and ``height``, where they are given."""
    rows, columns = values["height"], values["width"]
    if (rows is None) != (columns is None):
        raise ParameterError(f"{kernel}: give width and height together, or neither")
    if rows is None or columns is None:
        return None
    assert isinstance(rows, int) and isinstance(columns, int)
    return rows, columns


def _cropped(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...]:
    size, room = given_size("crop", values) or output.shape[:2], inputs[0].shape[:2]
    if size[0] > room[0] or size[1] > room[1]:
        raise ShapeError(f"crop: {size} does not fit into an image of {room}")
    return size


ANCHORS = {
    "top-left": (0, 0), "top": (1, 0), "top-right": (2, 0),
    "left": (0, 1), "center": (1, 1), "right": (2, 1),
    "bottom-left": (0, 2), "bottom": (1, 2), "bottom-right": (2, 2),
}  # fmt: skip  # in halves of the room that is left


def _left_over(values: Mapping[str, ParamValue], width: int, height: int) -> tuple[int, int]:
    """A side that is not given is all that is left, or follows from the proportions."""
    left, top = (cast("int", values[name]) for name in ("x", "y"))
    wide, high = (cast("int | None", values[name]) for name in ("width", "height"))
    ratio = cast("float | None", values["ratio"])
    if ratio is not None:
        if wide is not None or high is not None:
            raise ParameterError("crop: give a ratio or a size, not both")
        wide = builtins.max(1, builtins.min(width - left, round((height - top) * ratio)))
        high = builtins.max(1, builtins.min(height - top, round((width - left) / ratio)))
    wide = width - left if wide is None else wide
    high = height - top if high is None else high
    across, down = _anchor(cast("str | None", values["at"]), ratio)
    x, y = left + ((width - wide) * across >> 1), top + ((height - high) * down >> 1)
    if builtins.min(wide, high) < 1 or x + wide > width or y + high > height:
        raise ShapeError(
            f"crop: {wide} × {high} from ({left}, {top}) does not fit into {width} × {height}"
        )
    return wide, high


def _anchor(at: str | None, ratio: float | None) -> tuple[int, int]:
    return ANCHORS[at or ("top-left" if ratio is None else "center")]


def _with_size(values: Mapping[str, ParamValue], width: int, height: int) -> dict[str, ParamValue]:
    wide, high = _left_over(values, width, height)
    return {**values, "width": wide, "height": high}


def _open_size(values: Mapping[str, ParamValue]) -> Hashable:
    """A size that is left open depends on where it begins."""
    return None if None not in (values["width"], values["height"]) else (values["x"], values["y"])


def _same_size(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...]:
    return inputs[0].shape[:2]


def any_size(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> None:
    """The output may have any size."""


@builtin(
    "image", shape_rule=_cropped, output_size=_left_over, at_size=_with_size, size_key=_open_size
)
def crop(
    src: Image,
    x: int = param(0, min=0, max=65_535, help="The first column."),
    y: int = param(0, min=0, max=65_535, help="The first row."),
    width: int | None = static(None, min=1, max=65_536, help="Columns; the output's if not given."),
    height: int | None = static(None, min=1, max=65_536, help="Rows; the output's if not given."),
    ratio: float | None = static(
        None,
        min=0.001,
        max=1000,
        help="Width by height (1.778 is 16:9): as much as there is of it.",
    ),
    at: str | None = static(
        None, choices=tuple(ANCHORS), help="From where x and y count; of a ratio, the center."
    ),
) -> Vec:
    """A part of the picture: the rectangle at (x, y), or as much as a ratio allows.

    In ``run_kernel`` a part that lies beyond the border repeats the edge.

    >>> media.crop(np.array([[1, 2, 3, 4]], np.uint8), 1, width=2)
    array([[2, 3]], dtype=uint8)
    """
    across, down = _anchor(at, ratio)
    if (across, down) == (0, 0):
        return src.at(vocabulary.x + x, vocabulary.y + y)
    left = ((src.width - vocabulary.width) * across) >> 1
    top = ((src.height - vocabulary.height) * down) >> 1
    return src.at(vocabulary.x + (x + left), vocabulary.y + (y + top))


@builtin("image", shape_rule=_same_size)
def flip(
    src: Image,
    horizontal: bool = static(True, help="Left becomes right."),
    vertical: bool = static(False, help="Top becomes bottom."),
) -> Vec:
    """The image mirrored.

    >>> media.flip(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """
    column = src.width - 1 - x if horizontal else x
    row = src.height - 1 - y if vertical else y
    return src.at(column, row)


def turn_about_centre(
    src: Image, degrees: float = param(0.0, min=-36_000, max=36_000, help="Counter-clockwise.")
) -> Vec:
    """The image turned about its centre; by 90°, 180° or 270° without any loss, and in full.

    A photo that is turned by a right angle swaps its sides. By any other angle it keeps its size, and
    the corners are cut; bilinear.

    >>> photo = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    >>> media.rotate(photo, 90).tolist()
    [[3, 6], [2, 5], [1, 4]]
    """
    angle = degrees * (pi / 180)
    across, down = x - (vocabulary.width - 1) * 0.5, y - (vocabulary.height - 1) * 0.5
    u = across * cos(angle) + ((src.width - 1) * 0.5 - down * sin(angle))
    v = across * sin(angle) + ((src.height - 1) * 0.5 + down * cos(angle))
    return sample_inside(src, u, v)


def turn_by_quarters(
    src: Image, degrees: float = param(0.0), quarters: int = static(min=0, max=3)
) -> Vec:
    """Every pixel at its new place, as it is."""
    last_x, last_y = src.width - 1, src.height - 1
    column, row = ((x, y), (last_x - y, x), (last_x - x, last_y - y), (y, last_y - x))[quarters]
    return src.at(column, row)


def quarter_turns(values: Mapping[str, ParamValue]) -> int | None:
    """How often a right angle is turned, 0 to 3; None for any other angle."""
    degrees = cast("float", values["degrees"])
    return None if degrees % 90 else int(degrees // 90) % 4


def _turned(values: Mapping[str, ParamValue], width: int, height: int) -> tuple[int, int]:
    return (height, width) if quarter_turns(values) in (1, 3) else (width, height)


def _choose_turn(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[Kernel, Mapping[str, ParamValue]] | None:
    """Right angles move whole pixels, where the output has the size for it."""
    quarters = quarter_turns(values)
    if not quarters or len(inputs) != 1 or len(inputs[0].shape) < 2:
        return None  # turned by 0 every pixel lies on one, too
    rows, columns = inputs[0].shape[:2]
    wide, high = _turned(values, columns, rows)
    return (_by_quarters, {"quarters": quarters}) if output.shape[:2] == (high, wide) else None


_by_quarters = make_kernel(turn_by_quarters, name="rotate", domain="image", shape_rule=any_size)
rotate = builtin_with_variants(
    "rotate", turn_about_centre, _choose_turn, shape_rule=any_size, output_size=_turned,
    size_key=quarter_turns, alpha="written",
)  # fmt: skip


@builtin("image", shape_rule=any_size, alpha="written")
def warp_affine(
    src: Image,
    matrix: tuple[float, ...] = param(length=6, help="2 rows of 3: from input to output pixels."),
) -> Vec:
    """The image moved by an affine map, as OpenCV's warpAffine does it; bilinear.

    >>> media.warp_affine(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0]])
    array([[0, 1, 2]], dtype=uint8)
    """
    a, b, right, c, d, down = matrix
    inverse = 1.0 / (a * d - b * c)  # a map onto a line has none: all transparent
    from_x, from_y = (d * inverse, -c * inverse), (-b * inverse, a * inverse)
    u = x * from_x[0] + (y * from_y[0] - (right * from_x[0] + down * from_y[0]))
    v = x * from_x[1] + (y * from_y[1] - (right * from_x[1] + down * from_y[1]))
    return sample_inside(src, u, v)


@builtin("image", shape_rule=any_size, alpha="written")
def warp_perspective(
    src: Image,
    matrix: tuple[float, ...] = param(length=9, help="3 rows of 3: from input to output pixels."),
) -> Vec:
    """The image moved by a perspective map, as OpenCV's warpPerspective does it; bilinear.

    >>> media.warp_perspective(np.array([[1, 2, 3]], np.uint8), np.eye(3))
    array([[1, 2, 3]], dtype=uint8)
    """
    a, b, c, d, e, f, g, h, i = matrix
    # The adjugate matrix: the inverse but for a factor, which the division takes out.
    u = x * (e * i - f * h) + (y * (c * h - b * i) + (b * f - c * e))
    v = x * (f * g - d * i) + (y * (a * i - c * g) + (c * d - a * f))
    w = x * (d * h - e * g) + (y * (b * g - a * h) + (a * e - b * d))
    return sample_inside(src, u / w, v / w)


def sample_inside(src: Image, u: Value, v: Value) -> Vec:
    """The bilinear mix at ``u, v``; beyond the border transparent black."""
    covered = coverage(u, src.width) * coverage(v, src.height)
    p = src.sample(u, v)
    faded = p.rgb * covered if src.channels == 1 else p.rgb
    assert isinstance(faded, Vec)
    inside = where(covered > 0.0, faded.with_alpha(p.a * covered), 0.0)
    assert isinstance(inside, Vec)
    return inside


def coverage(position: Value, size: Scalar) -> Value:
    """How much of a pixel at ``position`` lies within ``size`` pixels; 0 for NaN."""
    return clamp(min(position + 1.0, size - position), 0.0, 1.0)
