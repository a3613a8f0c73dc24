"""What neural networks are made of: layer_norm, conv2d, and the way from a picture to a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dala.errors import DTypeError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.kernels.declare import builtin, library_kernel
from dala.language import vocabulary
from dala.language.parameter import Param, ParamValue, param, static
from dala.language.values import Scalar, Tensor, Value
from dala.language.vocabulary import f32, floor, index, mix, where

library_kernel(
    "layer_norm",
    3,
    (Param("eps", "float", 1e-5, min=0, help="Added to the variance.", static=True),),
    "(x - mean) / √(variance + eps) over the last axis; then · weight + bias, where they are given.",
    optional_inputs=2,
)
library_kernel(
    "conv2d",
    3,
    (
        Param("stride", "int", 1, min=1, help="From one window to the next.", static=True),
        Param("padding", "int", 0, min=0, help="Zeros around the input.", static=True),
        Param("groups", "int", 1, min=1, help="Groups of channels on their own.", static=True),
    ),
    "Cross-correlation, as networks use it: x (N, C, H, W), weight (O, C / groups, H, W), bias (O,).",
    optional_inputs=1,
)

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def _network_input(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...]:
    (image,) = inputs
    if image.dtype not in (U8, F32):
        raise DTypeError(f"preprocess: expected a u8 or f32 image, got {image.dtype}")
    if len(image.shape) != 3 or image.channels not in (3, 4):
        raise ShapeError(
            f"preprocess: expected an image of (H, W, 4) or (H, W, 3), got {image.shape}"
        )
    if output.dtype != F32:
        raise DTypeError(f"preprocess: expected an output of f32, got {output.dtype}")
    size = values["size"]
    assert isinstance(size, tuple)
    rows, columns = map(int, size)
    return (1, 3, rows, columns) if values["layout"] == "nchw" else (1, rows, columns, 3)


@builtin("tensor", shape_rule=_network_input)
def preprocess(
    image: Tensor,
    size: tuple[int, int] = static((224, 224), min=1, max=65_536, help="Height and width."),
    normalize: bool = static(True, help="Whether to subtract mean and divide by std."),
    mean: tuple[float, float, float] = param(IMAGENET_MEAN, help="Of red, green and blue."),
    std: tuple[float, float, float] = param(IMAGENET_STD, min=1e-6, help="Of red, green and blue."),
    layout: str = static("nchw", choices=("nchw", "nhwc"), help="Order of the output's axes."),
) -> Value:
    """A picture as the input of a network: scaled (bilinear), 0..1, normalised; alpha is dropped."""
    row_axis, column_axis, channel_axis = (2, 3, 1) if layout == "nchw" else (1, 2, 3)
    channel = index(channel_axis)
    v = (index(row_axis) + 0.5) * (image.size(0) / vocabulary.size(row_axis)) - 0.5
    u = (index(column_axis) + 0.5) * (image.size(1) / vocabulary.size(column_axis)) - 0.5
    value = sample(image, v, u, channel)
    if image.is_integer:
        value = value * (1 / 255)
    if normalize:
        value = (value - _pick(mean, channel)) / _pick(std, channel)
    return value


def sample(image: Tensor, row: Value, column: Value, channel: Scalar) -> Value:
    """The bilinear mix of one channel at a computed place."""
    top, left = floor(row), floor(column)
    upper, lower = (
        mix(
            f32(image.at(top + down, left, channel)),
            f32(image.at(top + down, left + 1, channel)),
            column - left,
        )
        for down in (0, 1)
    )
    return mix(upper, lower, row - top)


def _pick(colour: tuple[float, float, float], channel: Scalar) -> Value:
    red, green, blue = colour
    return where(channel == 0, red, where(channel == 1, green, blue))
