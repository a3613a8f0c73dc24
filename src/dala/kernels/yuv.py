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
from dala.ir.planes import FORMATS, picture_size
from dala.kernels.declare import builtin
from dala.language.kernel import Geometry
from dala.language.parameter import ParamValue, static
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import rgba

WEIGHTS = {
    "bt601": (0.299, 0.114),
    "bt709": (0.2126, 0.0722),
    "bt2020": (0.2627, 0.0593),
}  # red, blue
_MATRIX = static("bt709", choices=tuple(WEIGHTS), help="Which red, green and blue make up Y.")
_RANGE = static("limited", choices=("limited", "full"), help="Y in 16..235, or in 0..255.")


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
    return picture_size(array)


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


def _luma(color: Vec, matrix: str) -> Value:
    kr, kb = WEIGHTS[matrix]
    return kr * color.r + (1 - kr - kb) * color.g + kb * color.b


def _to_rgba(luma: Value, blue: Value, red: Value, matrix: str, range: str) -> Vec:
    """The colour of levels as a frame holds them."""
    black, luma_reach, chroma_reach = _levels(range)
    kr, kb = WEIGHTS[matrix]
    luma = luma * (255 / luma_reach) - black / luma_reach
    blue, red = (c * (255 / chroma_reach) - 128 / chroma_reach for c in (blue, red))
    kg = 1 - kr - kb
    g = luma - blue * (kb * (2 - 2 * kb) / kg) - red * (kr * (2 - 2 * kr) / kg)
    return rgba(luma + red * (2 - 2 * kr), g, luma + blue * (2 - 2 * kb))


def _to_luma(src: Image, matrix: str, range: str) -> Value:
    """The level of Y."""
    black, reach, _ = _levels(range)
    return _luma(src[0, 0], matrix) * (reach / 255) + black / 255


def _to_chroma(src: Image, matrix: str, range: str) -> tuple[Value, Value]:
    """The levels of U and V, in an image of half the size."""
    color = (src[0, 0] + src[1, 0] + src[0, 1] + src[1, 1]) * 0.25
    assert isinstance(color, Vec)
    reach = _levels(range)[2]
    kr, kb = WEIGHTS[matrix]
    luma = _luma(color, matrix)
    blue, red = (color.b - luma) * (0.5 / (1 - kb)), (color.r - luma) * (0.5 / (1 - kr))
    return blue * (reach / 255) + 128 / 255, red * (reach / 255) + 128 / 255


# -- the kernels -------------------------------------------------------------------------------


@builtin(
    "image",
    shape_rule=_from_frame("yuv420p_to_rgba"),
    geometry=Geometry(input_planes=FORMATS["yuv420p"]),
)
def yuv420p_to_rgba(
    luma: Image, blue: Image, red: Image, matrix: str = _MATRIX, range: str = _RANGE
) -> Vec:
    """A yuv420p frame as an opaque picture; ``channels`` says which.

    >>> frame = np.array([[235, 235], [235, 235], [128, 128]], np.uint8)
    >>> media.yuv420p_to_rgba(frame, channels="rgb")[0, 0].tolist()
    [255, 255, 255]
    """
    return _to_rgba(luma[0, 0].r, blue[0, 0].r, red[0, 0].r, matrix, range)


@builtin(
    "image",
    shape_rule=_from_frame("nv12_to_rgba"),
    geometry=Geometry(input_planes=FORMATS["nv12"]),
)
def nv12_to_rgba(luma: Image, chroma: Image, matrix: str = _MATRIX, range: str = _RANGE) -> Vec:
    """An nv12 frame as an opaque picture; ``channels`` says which.

    >>> frame = bytes([16, 16, 16, 16, 128, 128])
    >>> list(media.nv12_to_rgba(frame, 2, 2)[:4])
    [0, 0, 0, 255]
    """
    return _to_rgba(luma[0, 0].r, chroma[0, 0].r, chroma[0, 0].g, matrix, range)


@builtin(
    "image",
    shape_rule=_to_frame("rgba_to_yuv420p"),
    geometry=Geometry(output_planes=FORMATS["yuv420p"]),
)
def rgba_to_yuv420p(
    src: Image, matrix: str = _MATRIX, range: str = _RANGE
) -> tuple[Value, Value, Value]:
    """A picture of even size as a yuv420p frame: Y, then a quarter of U, then of V; alpha is dropped.

    >>> media.rgba_to_yuv420p(np.full((2, 2, 3), 255, np.uint8)).tolist()
    [[235, 235], [235, 235], [128, 128]]
    """
    return _to_luma(src, matrix, range), *_to_chroma(src, matrix, range)


@builtin(
    "image", shape_rule=_to_frame("rgba_to_nv12"), geometry=Geometry(output_planes=FORMATS["nv12"])
)
def rgba_to_nv12(
    src: Image, matrix: str = _MATRIX, range: str = _RANGE
) -> tuple[Value, tuple[Value, Value]]:
    """A picture of even size as an nv12 frame: Y, then U and V in turn; alpha is dropped.

    >>> media.rgba_to_nv12(np.full((4, 2, 3), 0, np.uint8), range="full").shape
    (6, 2)
    """
    return _to_luma(src, matrix, range), _to_chroma(src, matrix, range)
