"""Kinds of layers: the third table of meaning, beside ops and library calls.

Each row says what a layer makes of arrays of given types (and refuses those that do not fit), what it
computes, in NumPy, and how far a device may be from that, relative to the largest result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.ml.layers import moves, sums, windows
from dala.ml.layers.elementwise import CAST, OPERATIONS, apply_step
from dala.ml.layers.program import Layer, Step, ValueType

Array = npt.NDArray[Any]
Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LayerKind:
    """One row. ``fuses``: element-wise steps behind it become its epilogue."""

    shape: Callable[[Sequence[ValueType], Options, Sequence[Array]], ValueType]
    numpy: Callable[[Sequence[Array], Options, Sequence[Array]], Array]
    tolerance: float = 1e-5
    fuses: bool = False


LAYERS: dict[str, LayerKind] = {
    "pointwise": LayerKind(windows.shape_conv, windows.conv, fuses=True),
    "depthwise": LayerKind(windows.shape_conv, windows.conv, fuses=True),
    "conv": LayerKind(windows.shape_conv, windows.conv, fuses=True),
    "separable": LayerKind(windows.shape_separable, windows.separable, fuses=True),
    "transposed": LayerKind(windows.shape_transposed, windows.transposed, fuses=True),
    "pool": LayerKind(windows.shape_pool, windows.pool, fuses=True),
    "resize": LayerKind(moves.shape_resize, moves.resize, fuses=True),
    "map": LayerKind(sums.shape_map, sums.map_, fuses=True),
    "matmul": LayerKind(sums.shape_matmul, sums.matmul, fuses=True),
    "reduce": LayerKind(sums.shape_reduce, sums.reduce, fuses=True),
    "excite": LayerKind(sums.shape_excite, sums.excite, fuses=True),
    "softmax": LayerKind(sums.shape_same, sums.softmax, fuses=True),
    "argmax": LayerKind(sums.shape_argmax, sums.argmax, 0.0),
    "take": LayerKind(moves.shape_take, moves.take, 0.0),
    "concat": LayerKind(moves.shape_concat, moves.concat, 0.0),
    "view": LayerKind(moves.shape_view, moves.view, 0.0),
}


def compute_layer(layer: Layer, arrays: Sequence[Array]) -> Array:
    """What a layer makes of its inputs: the steps before, its kind's result, and then the epilogue."""
    row = LAYERS[layer.kind]
    given = [*arrays]
    for step in layer.before:
        given[0] = apply_to(given[0], step, arrays)
    with np.errstate(all="ignore"):
        value = row.numpy(given, layer.options, layer.weights)
    for step in layer.epilogue:
        value = apply_to(value, step, arrays)
    return value


def apply_to(value: Array, step: Step, arrays: Sequence[Array]) -> Array:
    """One step of an epilogue."""
    kind: Any = np.asarray(arrays[step.operands[0]]).dtype if step.op == "where" else value.dtype
    given = [np.asarray(n, kind) for n in step.numbers]
    given += [_as_wide(arrays[k], value) for k in step.operands]
    return apply_step(step.op, value, given, step.swapped)


def _as_wide(operand: Array, value: Array) -> Array:
    """An operand with as many channels as the running value: zeros behind its own."""
    if not operand.ndim or operand.shape[-1] in (1, value.shape[-1]) or value.shape[-1] == 1:
        return operand
    wide = np.zeros((*operand.shape[:-1], value.shape[-1]), operand.dtype)
    wide[..., : operand.shape[-1]] = operand
    return wide


def type_after(dtype: np.dtype[Any], step: Step, operand: np.dtype[Any] | None) -> np.dtype[Any]:
    """The element type a step leaves."""
    if step.op.startswith(CAST):
        return np.dtype(step.op[len(CAST) :])
    if step.op == "where":
        assert operand is not None
        return operand
    return np.dtype(bool) if OPERATIONS[step.op].logical else dtype
