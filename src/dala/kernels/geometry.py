"""Kernels that move pixels. Pixel centres have whole coordinates; (0, 0) is the first one.

Turned and warped images end where they end: beyond the border everything is transparent black. The
pixels on the border fade in alpha alone, so that an image composed onto another has smooth edges
without a dark seam. Grey images have no alpha; there the grey itself fades.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import cast

from dala.errors import ParameterError, ShapeError
from dala.ir.arrays import ArrayType
from dala.kernels.declare import builtin
from dala.language import vocabulary
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


def _left_over(values: Mapping[str, ParamValue], width: int, height: int) -> tuple[int, int]:
    """A side that is not given is all that is left."""
    left, top = (cast("int", values[name]) for name in ("x", "y"))
    wide, high = (cast("int | None", values[name]) for name in ("width", "height"))
    wide = width - left if wide is None else wide
    high = height - top if high is None else high
    if builtins.min(wide, high) < 1 or left + wide > width or top + high > height:
        raise ShapeError(
            f"crop: {wide} × {high} from ({left}, {top}) does not fit into {width} × {height}"
        )
    return wide, high


def _same_size(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...]:
    return inputs[0].shape[:2]


def any_size(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> None:
    """The output may have any size."""


@builtin("image", shape_rule=_cropped, output_size=_left_over)
def crop(
    src: Image,
    x: int = param(0, min=0, max=65_535, help="The first column."),
    y: int = param(0, min=0, max=65_535, help="The first row."),
    width: int | None = static(None, min=1, max=65_536, help="Columns; the output's if not given."),
    height: int | None = static(None, min=1, max=65_536, help="Rows; the output's if not given."),
) -> Vec:
    """The rectangle that begins at (x, y); a part that lies beyond the border repeats the edge.

    >>> media.crop(np.array([[1, 2, 3, 4]], np.uint8), 1, width=2)
    array([[2, 3]], dtype=uint8)
    """
    return src.at(vocabulary.x + x, vocabulary.y + y)


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


@builtin("image", shape_rule=any_size, alpha="written")
def rotate(
    src: Image, degrees: float = param(0.0, min=-36_000, max=36_000, help="Counter-clockwise.")
) -> Vec:
    """The image turned about its centre, which comes to lie on the output's centre; bilinear.

    >>> photo = np.array([[0, 0, 0], [0, 0, 255], [0, 0, 0]], np.uint8)
    >>> media.rotate(photo, 90)[:2].tolist()
    [[0, 255, 0], [0, 0, 0]]
    """
    angle = degrees * (pi / 180)
    across, down = x - (vocabulary.width - 1) * 0.5, y - (vocabulary.height - 1) * 0.5
    u = across * cos(angle) + ((src.width - 1) * 0.5 - down * sin(angle))
    v = across * sin(angle) + ((src.height - 1) * 0.5 + down * cos(angle))
    return sample_inside(src, u, v)


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
