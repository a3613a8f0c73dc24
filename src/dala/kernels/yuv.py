"""Video frames: planar YUV with a quarter of the chroma, to RGBA and back.

A frame of H × W pixels is one grey image of u8 of (H · 3/2, W), as OpenCV has it:

    yuv420p (I420)   H rows of Y, then the H/2 × W/2 values of U, then those of V, one after another
    nv12             H rows of Y, then H/2 rows of U and V in turn

With ``bits`` of 9 to 16 a frame is u16, and its values are the low bits of the words, as FFmpeg has them in
yuv420p10le: black at 64 and white at 940 for ten bits of limited range.

H and W are even. On the way down the chroma of a 2 × 2 block is that of its mean colour; on the way up
the four pixels of a block share it (as OpenCV does; a smooth chroma would need the siting of the frame).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dala.errors import DTypeError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8, U16
from dala.ir.planes import FORMATS, picture_size
from dala.kernels.declare import builtin
from dala.language.kernel import Geometry
from dala.language.parameter import ParamValue, static
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import min, rgba

WEIGHTS = {
    "bt601": (0.299, 0.114),
    "bt709": (0.2126, 0.0722),
    "bt2020": (0.2627, 0.0593),
}  # red, blue
_MATRIX = static("bt709", choices=tuple(WEIGHTS), help="Which red, green and blue make up Y.")
_RANGE = static("limited", choices=("limited", "full"), help="Y in 16..235, or in 0..255.")
_BITS = static(8, min=8, max=16, help="Of a value: 8 in u8 frames, 9 to 16 in the low bits of u16.")


@dataclass(frozen=True, slots=True)
class _Levels:
    """Where black and no colour lie, and how far Y and the chroma reach, as parts of a frame's white."""

    black: float
    luma: float
    neutral: float
    chroma: float
    most: float  # what the bits can hold


def _levels(range: str, bits: int) -> _Levels:
    unit, most = 1 << bits - 8, (1 << bits) - 1
    black, luma, chroma = (16, 219, 224) if range == "limited" else (0, most / unit, most / unit)
    white = 255 if bits == 8 else 65535
    step = unit / white
    return _Levels(black * step, luma * step, 128 * step, chroma * step, most / white)


def _frame_shape(kernel: str, role: str, array: ArrayType, bits: ParamValue) -> tuple[int, int]:
    """Height and width of the picture in a frame."""
    wanted = U8 if bits == 8 else U16
    if array.dtype != wanted:
        more = "; bits says how many of its 16 are used" if array.dtype == U16 else ""
        raise DTypeError(
            f"{kernel}: expected an {role} of {wanted} for {bits} bits, got {array.dtype}{more}"
        )
    rows, columns = array.shape[:2]
    if array.channels != 1 or rows % 3 or columns % 2:
        raise ShapeError(
            f"{kernel}: expected an {role} of (H * 3 // 2, W) with even H and W, got {array.shape}"
        )
    return picture_size(array)


def _from_frame(kernel: str) -> Callable[..., tuple[int, ...]]:
    def rule(
        inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
    ) -> tuple[int, ...]:
        return *_frame_shape(kernel, "input", inputs[0], values["bits"]), 4

    return rule


def _to_frame(kernel: str) -> Callable[..., None]:
    def rule(
        inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
    ) -> None:
        rows, columns, *_ = inputs[0].shape
        if rows % 2 or columns % 2:
            raise ShapeError(f"{kernel}: expected an even height and width, got {inputs[0].shape}")
        if _frame_shape(kernel, "output", output, values["bits"]) != (rows, columns):
            raise ShapeError(
                f"{kernel}: expected an output of {(rows * 3 // 2, columns)}, got {output.shape}"
            )

    return rule


def _luma(color: Vec, matrix: str) -> Value:
    kr, kb = WEIGHTS[matrix]
    return kr * color.r + (1 - kr - kb) * color.g + kb * color.b


def _to_rgba(luma: Value, blue: Value, red: Value, matrix: str, levels: _Levels) -> Vec:
    """The colour of levels as a frame holds them."""
    kr, kb = WEIGHTS[matrix]
    luma = luma * (1 / levels.luma) - levels.black / levels.luma
    blue, red = (c * (1 / levels.chroma) - levels.neutral / levels.chroma for c in (blue, red))
    kg = 1 - kr - kb
    g = luma - blue * (kb * (2 - 2 * kb) / kg) - red * (kr * (2 - 2 * kr) / kg)
    return rgba(luma + red * (2 - 2 * kr), g, luma + blue * (2 - 2 * kb))


def _stored(value: Value, levels: _Levels) -> Value:
    """A level, as far as the bits go: an image itself cuts at white."""
    return value if levels.most == 1 else min(value, levels.most)


def _to_luma(src: Image, matrix: str, levels: _Levels) -> Value:
    """The level of Y."""
    return _stored(_luma(src[0, 0], matrix) * levels.luma + levels.black, levels)


def _to_chroma(src: Image, matrix: str, levels: _Levels) -> tuple[Value, Value]:
    """The levels of U and V, in an image of half the size."""
    color = (src[0, 0] + src[1, 0] + src[0, 1] + src[1, 1]) * 0.25
    assert isinstance(color, Vec)
    kr, kb = WEIGHTS[matrix]
    luma = _luma(color, matrix)
    blue, red = (color.b - luma) * (0.5 / (1 - kb)), (color.r - luma) * (0.5 / (1 - kr))
    blue, red = (_stored(c * levels.chroma + levels.neutral, levels) for c in (blue, red))
    return blue, red


# -- the kernels -------------------------------------------------------------------------------


@builtin(
    "image",
    shape_rule=_from_frame("yuv420p_to_rgba"),
    geometry=Geometry(input_planes=FORMATS["yuv420p"]),
)
def yuv420p_to_rgba(
    luma: Image,
    blue: Image,
    red: Image,
    matrix: str = _MATRIX,
    range: str = _RANGE,
    bits: int = _BITS,
) -> Vec:
    """A yuv420p frame as an opaque picture; ``channels`` says which.

    >>> frame = np.array([[235, 235], [235, 235], [128, 128]], np.uint8)
    >>> media.yuv420p_to_rgba(frame, channels="rgb")[0, 0].tolist()
    [255, 255, 255]
    """
    levels = _levels(range, bits)
    return _to_rgba(luma[0, 0].r, blue[0, 0].r, red[0, 0].r, matrix, levels)


@builtin(
    "image",
    shape_rule=_from_frame("nv12_to_rgba"),
    geometry=Geometry(input_planes=FORMATS["nv12"]),
)
def nv12_to_rgba(
    luma: Image, chroma: Image, matrix: str = _MATRIX, range: str = _RANGE, bits: int = _BITS
) -> Vec:
    """An nv12 frame as an opaque picture; ``channels`` says which.

    >>> frame = bytes([16, 16, 16, 16, 128, 128])
    >>> list(media.nv12_to_rgba(frame, 2, 2)[:4])
    [0, 0, 0, 255]
    """
    levels = _levels(range, bits)
    return _to_rgba(luma[0, 0].r, chroma[0, 0].r, chroma[0, 0].g, matrix, levels)


@builtin(
    "image",
    shape_rule=_to_frame("rgba_to_yuv420p"),
    geometry=Geometry(output_planes=FORMATS["yuv420p"]),
)
def rgba_to_yuv420p(
    src: Image, matrix: str = _MATRIX, range: str = _RANGE, bits: int = _BITS
) -> tuple[Value, Value, Value]:
    """A picture of even size as a yuv420p frame: Y, then a quarter of U, then of V; alpha is dropped.

    >>> media.rgba_to_yuv420p(np.full((2, 2, 3), 255, np.uint8)).tolist()
    [[235, 235], [235, 235], [128, 128]]
    """
    levels = _levels(range, bits)
    return _to_luma(src, matrix, levels), *_to_chroma(src, matrix, levels)


@builtin(
    "image", shape_rule=_to_frame("rgba_to_nv12"), geometry=Geometry(output_planes=FORMATS["nv12"])
)
def rgba_to_nv12(
    src: Image, matrix: str = _MATRIX, range: str = _RANGE, bits: int = _BITS
) -> tuple[Value, tuple[Value, Value]]:
    """A picture of even size as an nv12 frame: Y, then U and V in turn; alpha is dropped.

    >>> media.rgba_to_nv12(np.full((4, 2, 3), 0, np.uint8), range="full").shape
    (6, 2)
    """
    levels = _levels(range, bits)
    return _to_luma(src, matrix, levels), _to_chroma(src, matrix, levels)
