"""Over whole axes: reductions, softmax, argmax, products of matrices."""

from __future__ import annotations

import math

import numpy as np

from dala.errors import ModelError
from dala.ml.layers.builder import Builder, Ref, plain_order
from dala.ml.layers.operators.attributes import (
    Lower,
    Refs,
    axis_of,
    checked_axis,
    given,
    listed,
    needed,
    real,
    whole,
)
from dala.ml.layers.operators.shaping import as_plain
from dala.ml.onnx.graph import Node


def _reduce(mode: str) -> Lower:
    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        source = needed(refs, 0)
        rank = len(source.order)
        asked = listed(b, node, refs, 1, "axes")
        if not asked:
            if whole(node, "noop_with_empty_axes", 0):
                return source
            asked = tuple(range(rank))
        axes = {checked_axis(a, rank) for a in asked}
        value = source.value
        for run in _runs(sorted(source.order.index(a) for a in axes)):
            value = b.emit("reduce", [value], {"axes": run, "mode": mode})
        made = Ref(value, source.order)
        return made if whole(node, "keepdims", 1) else _without(b, made, axes)

    return lower


def _runs(axes: list[int]) -> list[tuple[int, ...]]:
    """Axes that lie side by side, together: a mean of means of equal lengths is the mean."""
    runs: list[tuple[int, ...]] = []
    for axis in axes:
        if runs and runs[-1][-1] == axis - 1:
            runs[-1] = (*runs[-1], axis)
        else:
            runs.append((axis,))
    return runs


def _without(b: Builder, ref: Ref, axes: set[int]) -> Ref:
    """Axes of length 1, dropped."""
    left = [a for a in ref.order if a not in axes]
    renumbered = {axis: k for k, axis in enumerate(sorted(left))}
    shape = b.shape(ref)
    return Ref(b.reshape(ref.value, [shape[a] for a in left]), tuple(renumbered[a] for a in left))


def _softmax(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    if b.opset >= 13:
        axis = axis_of(node, len(shape), -1)
        options = {"axis": source.order.index(axis)}
        return Ref(b.emit("softmax", [source.value], options), source.order)
    axis = axis_of(node, len(shape), 1)  # older ones take all axes from there on together
    flat = as_plain(b, source, (math.prod(shape[:axis]), math.prod(shape[axis:])))
    made = Ref(b.emit("softmax", [flat.value], {"axis": 1}), plain_order(2))
    return as_plain(b, made, shape)


def _argmax(smallest: bool) -> Lower:
    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        source = needed(refs, 0)
        if whole(node, "select_last_index", 0):
            raise ModelError("select_last_index is not supported")
        axis = axis_of(node, len(source.order), 0)
        options = {"axis": source.order.index(axis), "smallest": smallest}
        made = Ref(b.emit("argmax", [source.value], options), source.order)
        return made if whole(node, "keepdims", 1) else _without(b, made, {axis})

    return lower


def _matmul(b: Builder, node: Node, refs: Refs) -> Ref:
    values = [b.plain(needed(refs, k)) for k in (0, 1)]
    made = b.emit("matmul", values)
    return Ref(made, plain_order(len(b.values[made].shape)))


def _gemm(b: Builder, node: Node, refs: Refs) -> Ref:
    pair = []
    for index, name in ((0, "transA"), (1, "transB")):
        ref = needed(refs, index)
        if len(ref.order) != 2:
            raise ModelError("Gemm takes matrices")
        if whole(node, name, 0):
            ref = Ref(ref.value, tuple(1 - axis for axis in ref.order))
        pair.append(b.plain(ref))
    made = Ref(b.emit("matmul", pair), plain_order(2))
    alpha, beta = real(node, "alpha", 1.0), real(node, "beta", 1.0)
    if alpha != 1.0:
        made = b.combine([made, b.constant(np.array(alpha, b.dtype(made)))], "mul")
    bias = given(refs, 2)
    if bias is None:
        return made
    if beta != 1.0:
        bias = b.combine([bias, b.constant(np.array(beta, b.dtype(bias)))], "mul")
    return b.combine([made, bias], "add")


WHOLE: dict[str, Lower] = {
    **{f"Reduce{name}": _reduce(name.lower()) for name in ("Mean", "Sum", "Max", "Min", "Prod")},
    "Softmax": _softmax,
    "ArgMax": _argmax(smallest=False),
    "ArgMin": _argmax(smallest=True),
    "MatMul": _matmul,
    "Gemm": _gemm,
}
