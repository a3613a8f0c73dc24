"""Layers over whole axes, in NumPy: sums, softmax, argmax, products of matrices."""

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
REDUCTIONS = {"mean": np.mean, "sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}


def shape_reduce(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    shape = [1 if k in options["axes"] else n for k, n in enumerate(inputs[0].shape)]
    return ValueType(tuple(shape), inputs[0].dtype)


def reduce(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    function: Any = REDUCTIONS[options["mode"]]
    found = function(arrays[0], axis=tuple(options["axes"]), keepdims=True)
    return np.asarray(found, arrays[0].dtype)


def shape_excite(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    return ValueType((inputs[0].shape[0], 1, 1, weights[-2].shape[3]), inputs[0].dtype)


def excite(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """The mean of each channel, and one product or two with steps between them."""
    value = arrays[0].mean(axis=(1, 2), keepdims=True)
    for number in range(0, len(weights), 2):
        for step in options["between"] if number else ():
            value = apply_alone(value, step)
        value = np.asarray(value @ weights[number][0, 0] + weights[number + 1], value.dtype)
    return np.asarray(value)


def shape_argmax(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    shape = [1 if k == options["axis"] else n for k, n in enumerate(inputs[0].shape)]
    return ValueType(tuple(shape), np.dtype(np.int64))


def argmax(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """Where the largest is; the first of several."""
    function = np.argmin if options.get("smallest") else np.argmax
    return np.asarray(function(arrays[0], axis=options["axis"], keepdims=True), np.int64)


def shape_same(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    return inputs[0]


def softmax(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    axis = options["axis"]
    raised = np.exp(arrays[0] - arrays[0].max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def shape_matmul(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    a, b = inputs
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-2]:
        raise ModelError(f"{a} and {b} cannot be multiplied")
    try:
        outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ModelError(f"{a} and {b} cannot be multiplied") from None
    return ValueType((*outer, a.shape[-2], b.shape[-1]), a.dtype)


def matmul(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    return np.asarray(np.matmul(arrays[0], arrays[1]))


def shape_map(inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]) -> ValueType:
    return ValueType(tuple(options["shape"]), inputs[0].dtype)


def map_(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """The first input, repeated along axes of length 1: all else is in the epilogue."""
    return np.broadcast_to(arrays[0], options["shape"])
