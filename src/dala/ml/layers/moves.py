"""Layers that move elements, in NumPy: transposes, slices, padding, gathers, tiles, resizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ModelError
from dala.ml.layers.program import ValueType

Array = npt.NDArray[Any]
Options = Mapping[str, Any]


def shape_view(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    made = ValueType(tuple(options["shape"]), inputs[0].dtype)
    if made.count != inputs[0].count:
        raise ModelError(f"{inputs[0]} cannot be seen as {made}")
    return made


def view(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """The same elements in another shape."""
    return arrays[0].reshape(options["shape"])


def shape_take(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    source, axes = inputs[0], options["axes"]
    shape = [source.shape[a] for a in axes]
    for axis, table in options["tables"].items():
        shape[axis] = len(table)
        length = source.shape[axes[axis]]
        if len(table) and not (table.min() >= -1 and table.max() < length):
            raise ModelError(f"positions {table.min()}..{table.max()} of an axis of {length}")
    return ValueType(tuple(shape), source.dtype)


def take(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """Axes in another order; along an axis with a table, the positions it names (-1: the fill)."""
    found = arrays[0].transpose(options["axes"])
    for axis, table in options["tables"].items():
        found = np.take(found, np.maximum(table, 0), axis=axis)
        if (table < 0).any():
            found[(slice(None),) * axis + (table < 0,)] = options["fill"]
    return np.ascontiguousarray(found)


def shape_concat(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    axis, first = options["axis"], inputs[0]
    shape = list(first.shape)
    for other in inputs[1:]:
        rest = [n for k, n in enumerate(other.shape) if k != axis]
        if len(other.shape) != len(shape) or rest != [n for k, n in enumerate(shape) if k != axis]:
            raise ModelError(f"{other} and {first} cannot be joined along axis {axis}")
        shape[axis] += other.shape[axis]
    return ValueType(tuple(shape), first.dtype)


def concat(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    return np.concatenate(arrays, axis=options["axis"])


def shape_resize(
    inputs: Sequence[ValueType], options: Options, weights: Sequence[Array]
) -> ValueType:
    rows, columns = weights
    count, _, _, channels = inputs[0].shape
    return ValueType((count, len(rows), len(columns), channels), inputs[0].dtype)


def resize(arrays: Sequence[Array], options: Options, weights: Sequence[Array]) -> Array:
    """Between two rows and two columns: the tables hold (before, behind, part of the one behind)."""
    found = arrays[0]
    for axis, table in zip((1, 2), weights, strict=True):
        first, second = (np.take(found, table[:, k].astype(np.int64), axis=axis) for k in (0, 1))
        part = table[:, 2].reshape(-1, *([1] * (3 - axis)))
        found = first + (second - first) * part if part.any() else first
    return np.asarray(found, arrays[0].dtype)
