"""Layers with windows in NumPy: convolutions and pooling, on (count, height, width, channels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ModelError
from dala.ml.layers.elementwise import apply_alone
from dala.ml.layers.program import ValueType

Array = npt.NDArray[Any]
Options = Mapping[str, Any]
POINTWISE: Options = {"groups": 1, "pads": (0, 0, 0, 0), "strides": (1, 1), "dilations": (1, 1)}


def reach(length: int, window: int, stride: int, dilation: int, before: int, after: int) -> int:
    """How many places a window has along an axis."""
    return (length + before + after - (window - 1) * dilation - 1) // stride + 1


def shape_conv(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    (source,) = inputs[:1]
    rows, columns, taken, made = weights[0].shape
    if len(source.shape) != 4:
        raise ModelError(f"a convolution takes pictures (4 axes), got {source}")
    count, height, width, channels = source.shape
    if taken * options["groups"] != channels or made % options["groups"]:
        raise ModelError(
            f"{taken} channels in each of {options['groups']} groups do not fit {channels} to {made}"
        )
    (top, left, bottom, right), (down, along) = options["pads"], options["strides"]
    far = options["dilations"]
    size = (
        reach(height, rows, down, far[0], top, bottom),
        reach(width, columns, along, far[1], left, right),
    )
    return ValueType((count, *_positive(size), made), source.dtype)


def conv(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """A sum over taps: each is a product of a shifted picture with a matrix, or with a row of factors."""
    weight, bias = weights
    groups, far = options["groups"], options["dilations"]
    out_type = shape_conv([ValueType(arrays[0].shape, arrays[0].dtype)], options, weights)
    array = _padded(arrays[0], options["pads"], 0.0)
    total = np.zeros(out_type.shape, array.dtype)
    alone = weight.shape[2] == 1 and groups == weight.shape[3]
    for i, j in np.ndindex(*weight.shape[:2]):
        part = _tap(array, (i * far[0], j * far[1]), options["strides"], out_type.shape[1:3])
        total += part * weight[i, j, 0] if alone else _grouped(part, weight[i, j], groups)
    total += bias
    return total


def shape_separable(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    between = shape_conv(inputs, {**options, "groups": weights[0].shape[3]}, weights[:2])
    return shape_conv([between], POINTWISE, weights[2:])


def separable(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """A depthwise convolution, steps of its own, and a pointwise one."""
    groups = weights[0].shape[3]
    between = conv(arrays, {**options, "groups": groups}, weights[:2])
    for step in options["between"]:
        between = apply_alone(between, step)
    return conv([between], POINTWISE, weights[2:])


def _grouped(part: Array, matrix: Array, groups: int) -> Array:
    if groups == 1:
        return np.asarray(np.ascontiguousarray(part).reshape(-1, part.shape[-1]) @ matrix).reshape(
            *part.shape[:3], -1
        )
    parts = np.split(part, groups, axis=-1)
    return np.concatenate(
        [a @ b for a, b in zip(parts, np.split(matrix, groups, axis=-1), strict=True)], axis=-1
    )


def shape_transposed(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    source = inputs[0]
    rows, columns, taken, made = weights[0].shape
    if len(source.shape) != 4 or source.shape[3] != taken * options["groups"]:
        raise ModelError(
            f"a transposed convolution of {taken * options['groups']} channels, got {source}"
        )
    size = []
    for axis, window in enumerate((rows, columns)):
        whole = (source.shape[1 + axis] - 1) * options["strides"][axis]
        whole += (window - 1) * options["dilations"][axis] + 1 + options["extra"][axis]
        size.append(whole - options["pads"][axis] - options["pads"][2 + axis])
    return ValueType((source.shape[0], *_positive(size), made), source.dtype)


def transposed(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """Each pixel is added to a window of the output; what lies on the padding is cut off."""
    array, (weight, bias) = arrays[0], weights
    shape = shape_transposed([ValueType(array.shape, array.dtype)], options, weights).shape
    (down, along), far, groups = options["strides"], options["dilations"], options["groups"]
    top, left, bottom, right = options["pads"]
    whole = np.zeros(
        (shape[0], shape[1] + top + bottom, shape[2] + left + right, shape[3]), array.dtype
    )
    _, height, width, _ = array.shape
    for i, j in np.ndindex(*weight.shape[:2]):
        y, x = i * far[0], j * far[1]
        target = whole[
            :, y : y + (height - 1) * down + 1 : down, x : x + (width - 1) * along + 1 : along
        ]
        target += _grouped(array, weight[i, j], groups)
    return np.asarray(whole[:, top : top + shape[1], left : left + shape[2]] + bias)


def shape_pool(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    source = inputs[0]
    if len(source.shape) != 4:
        raise ModelError(f"pooling takes pictures (4 axes), got {source}")
    count, height, width, channels = source.shape
    (rows, columns), (down, along) = options["window"], options["strides"]
    top, left, bottom, right = options["pads"]
    far = options["dilations"]
    size = (
        reach(height, rows, down, far[0], top, bottom),
        reach(width, columns, along, far[1], left, right),
    )
    return ValueType((count, *_positive(size), channels), source.dtype)


def pool(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """The largest of a window, or its mean: of what lies in the picture, or of all of it."""
    source = arrays[0]
    shape = shape_pool([ValueType(source.shape, source.dtype)], options, weights).shape
    largest = options["mode"] == "max"
    far, strides = options["dilations"], options["strides"]
    array = _padded(source, options["pads"], -np.inf if largest else 0.0)
    taps = [(i * far[0], j * far[1]) for i, j in np.ndindex(*options["window"])]
    total = np.array(_tap(array, taps[0], strides, shape[1:3]))
    for tap in taps[1:]:
        part = _tap(array, tap, strides, shape[1:3])
        total = np.maximum(total, part) if largest else total + part
    if largest:
        return total
    if options["include_pad"]:
        return np.asarray(total / source.dtype.type(len(taps)))
    ones = _padded(np.ones((1, *source.shape[1:3], 1), source.dtype), options["pads"], 0.0)
    counts = np.zeros((1, *shape[1:3], 1), source.dtype)
    for tap in taps:
        counts += _tap(ones, tap, strides, shape[1:3])
    return np.asarray(total / np.maximum(counts, 1))


def _padded(array: Array, pads: Sequence[int], value: float) -> Array:
    top, left, bottom, right = pads
    if not any(pads):
        return array
    return np.pad(array, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=value)


def _tap(array: Array, start: Sequence[int], strides: Sequence[int], size: Sequence[int]) -> Array:
    """What one tap of a window sees, for all places of the window."""
    ends = [s + (n - 1) * stride + 1 for s, n, stride in zip(start, size, strides, strict=True)]
    return array[:, start[0] : ends[0] : strides[0], start[1] : ends[1] : strides[1]]


def _positive(size: Sequence[int]) -> Sequence[int]:
    if min(size) < 1:
        raise ModelError(f"a window is larger than the picture: {tuple(size)} places are left")
    return size
