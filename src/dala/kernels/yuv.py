"""Video frames: planar YUV with a quarter of the chroma, to RGBA and back.

A frame of H × W pixels is one grey u8 image of (H · 3/2, W), as OpenCV has it:

    yuv420p (I420)   H rows of Y, then the H/2 × W/2 values of U, then those of V, one after another
    nv12             H rows of Y, then H/2 rows of U and V in turn

H and W are even. On the way down the chroma of a 2 × 2 block is that of its mean colour; on the way up
the four pixels of a block share it (as OpenCV does; a smooth chroma would need the siting of the frame).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dala.errors import DTypeError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.kernels.declare import builtin
from dala.language.parameter import ParamValue, static
from dala.language.values import Image, Scalar, Value, Vec
from dala.language.vocabulary import height, rgba, where, width, x, y

WEIGHTS = {
    "bt601": (0.299, 0.114),
    "bt709": (0.2126, 0.0722),
    "bt2020": (0.2627, 0.0593),
}  # red, blue
_MATRIX = static("bt709", choices=tuple(WEIGHTS), help="Which red, green and blue make up Y.")
_RANGE = static("limited", choices=("limited", "full"), help="Y in 16..235, or in 0..255.")
Place = tuple[Scalar, Scalar]  # column and row


def _levels(range: str) -> tuple[float, float, float]:
    """Where black lies, the reach of Y and the reach of U and V, in levels."""
    return (16.0, 219.0, 224.0) if range == "limited" else (0.0, 255.0, 255.0)


def _frame_shape(kernel: str, role: str, array: ArrayType) -> tuple[int, int]:
    """Height and width of the picture in a frame."""
    if array.dtype != U8:
        raise DTypeError(f"{kernel}: expected an {role} of u8, got {array.dtype}")
    rows, columns = array.shape[:2]
    if array.channels != 1 or rows % 3 or columns % 2:
        raise ShapeError(
            f"{kernel}: expected an {role} of (H * 3 // 2, W) with even H and W, got {array.shape}"
        )
    return rows // 3 * 2, columns


def _from_frame(kernel: str) -> Callable[..., tuple[int, ...]]:
    def rule(
        inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
    ) -> tuple[int, ...]:
        return *_frame_shape(kernel, "input", inputs[0]), 4

    return rule


def _to_frame(kernel: str) -> Callable[..., None]:
    def rule(
        inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
    ) -> None:
        rows, columns, *_ = inputs[0].shape
        if rows % 2 or columns % 2:
            raise ShapeError(f"{kernel}: expected an even height and width, got {inputs[0].shape}")
        if _frame_shape(kernel, "output", output) != (rows, columns):
            raise ShapeError(
                f"{kernel}: expected an output of {(rows * 3 // 2, columns)}, got {output.shape}"
            )

    return rule


# -- where the chroma lies ---------------------------------------------------------------------


def _in_planes(column: Value, row: Value) -> tuple[Place, Place]:
    """U and V of a block in yuv420p: two half rows to a row."""

    def place(half_row: Value) -> Place:
        return (half_row & 1) * (width >> 1) + column, height + (half_row >> 1)

    return place(row), place(row + (height >> 1))


def _in_pairs(column: Value, row: Value) -> tuple[Place, Place]:
    """U and V of a block in nv12: side by side."""
    return (column * 2, height + row), (column * 2 + 1, height + row)


def _to_rgba(
    frame: Image, where_chroma: Callable[..., tuple[Place, Place]], matrix: str, range: str
) -> Vec:
    blue_place, red_place = where_chroma(x >> 1, y >> 1)
    black, luma_reach, chroma_reach = _levels(range)
    kr, kb = WEIGHTS[matrix]
    luma = frame.at(x, y).r * (255 / luma_reach) - black / luma_reach
    blue, red = (
        frame.at(*place).r * (255 / chroma_reach) - 128 / chroma_reach
        for place in (blue_place, red_place)
    )
    b, r = luma + blue * (2 - 2 * kb), luma + red * (2 - 2 * kr)
    kg = 1 - kr - kb
    g = luma - blue * (kb * (2 - 2 * kb) / kg) - red * (kr * (2 - 2 * kr) / kg)
    return rgba(r, g, b)


def _to_level(
    src: Image, column: Value, row: Value, is_blue: Value, matrix: str, range: str
) -> Value:
    """The level that a frame holds at x, y: Y, or the chroma of the block at column, row."""
    # One mean of four pixels serves both: for Y all four are the same pixel.
    in_luma = y < src.height
    left, top = where(in_luma, x, column * 2), where(in_luma, y, row * 2)
    step = where(in_luma, 0, 1)
    right, bottom = left + step, top + step
    color = (
        src.at(left, top) + src.at(right, top) + src.at(left, bottom) + src.at(right, bottom)
    ) * 0.25
    assert isinstance(color, Vec)
    black, luma_reach, chroma_reach = _levels(range)
    kr, kb = WEIGHTS[matrix]
    luma = kr * color.r + (1 - kr - kb) * color.g + kb * color.b
    chroma = where(
        is_blue, (color.b - luma) * (0.5 / (1 - kb)), (color.r - luma) * (0.5 / (1 - kr))
    )
    return where(
        in_luma,
        luma * (luma_reach / 255) + black / 255,
        chroma * (chroma_reach / 255) + 128 / 255,
    )


# -- the kernels -------------------------------------------------------------------------------


@builtin("image", shape_rule=_from_frame("yuv420p_to_rgba"))
def yuv420p_to_rgba(frame: Image, matrix: str = _MATRIX, range: str = _RANGE) -> Vec:
    """A yuv420p frame as an opaque picture."""
    return _to_rgba(frame, _in_planes, matrix, range)


@builtin("image", shape_rule=_from_frame("nv12_to_rgba"))
def nv12_to_rgba(frame: Image, matrix: str = _MATRIX, range: str = _RANGE) -> Vec:
    """An nv12 frame as an opaque picture."""
    return _to_rgba(frame, _in_pairs, matrix, range)


@builtin("image", shape_rule=_to_frame("rgba_to_yuv420p"))
def rgba_to_yuv420p(src: Image, matrix: str = _MATRIX, range: str = _RANGE) -> Value:
    """A picture as a yuv420p frame; alpha is dropped."""
    half = src.width >> 1
    second = x >= half
    half_row = (y - src.height) * 2 + where(second, 1, 0)
    is_blue = half_row < (src.height >> 1)
    row = where(is_blue, half_row, half_row - (src.height >> 1))
    return _to_level(src, where(second, x - half, x), row, is_blue, matrix, range)


@builtin("image", shape_rule=_to_frame("rgba_to_nv12"))
def rgba_to_nv12(src: Image, matrix: str = _MATRIX, range: str = _RANGE) -> Value:
    """A picture as an nv12 frame; alpha is dropped."""
    is_blue = (x & 1) == 0
    return _to_level(src, x >> 1, y - src.height, is_blue, matrix, range)
