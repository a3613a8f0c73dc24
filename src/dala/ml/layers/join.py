"""Neighbours made one: what feeds a convolution is computed where that reads it.

join_before      element-wise steps of constants, before a convolution
join_gates       a factor for each channel (squeeze and excite), before a pointwise one
join_separable   a depthwise convolution and the pointwise one behind it

On a GPU each of them is a dispatch less, and a picture that is neither written nor read.
"""

from __future__ import annotations

from collections import Counter

from dala.ml.layers.program import Layer, Program

READ_ONCE = "read by nothing else, so made where it is read"
MOST_TAPS = 25  # of a depthwise window


def most_inputs(kind: str) -> int:
    """Of a layer: with weights, biases and output no GPU has too few bindings for it."""
    return 3 if kind == "separable" else 4


def join_before(program: Program) -> None:
    """``conv(steps(x))`` as one layer: what lies beside the picture stays zero."""
    readers, maker = _readers(program), _makers(program)
    for layer in program.layers:
        before = maker.get(layer.inputs[0]) if layer.kind == "conv" else None
        shape = None if before is None else program.values[before.output].shape
        while before is not None and before.kind == "view" and readers[before.output] == 1:
            before = maker.get(before.inputs[0])
        if before is None or before.kind != "map" or readers[before.output] != 1:
            continue
        source = before.inputs[0]
        if program.values[source].shape != shape or any(s.operands for s in before.epilogue):
            continue
        layer.options = {
            **layer.options,
            "before": (*before.epilogue, *layer.options.get("before", ())),
        }
        layer.inputs = (source, *layer.inputs[1:])
        layer.notes = (*layer.notes, *((step.op, READ_ONCE) for step in before.epilogue))
    _drop(program)


def join_gates(program: Program) -> None:
    """``pointwise(x · gate)`` with one gate for each channel."""
    readers, maker = _readers(program), _makers(program)
    for layer in program.layers:
        before = maker.get(layer.inputs[0]) if layer.kind == "pointwise" else None
        if before is None or before.kind != "map" or readers[before.output] != 1:
            continue
        steps, shape = before.epilogue, program.values[before.output].shape
        if [s.op for s in steps] != ["mul"] or len(before.inputs) != 2:
            continue
        gated, gate = (program.values[v] for v in before.inputs)
        whole = gated.shape == shape and gate.shape == (*[1] * (len(shape) - 1), shape[-1])
        free = "gate" not in layer.options and len(layer.inputs) < most_inputs(layer.kind)
        if whole and free and shape[0] == 1 and gated.dtype == gate.dtype:
            layer.options = {**layer.options, "gate": len(layer.inputs)}
            layer.inputs = (before.inputs[0], *layer.inputs[1:], before.inputs[1])
            layer.notes = (*layer.notes, ("mul", READ_ONCE))
    _drop(program)


def join_separable(program: Program) -> None:
    """``pointwise(depthwise(x))`` as one layer."""
    readers, maker = _readers(program), _makers(program)
    for layer in program.layers:
        before = maker.get(layer.inputs[0]) if layer.kind == "pointwise" else None
        if before is None or before.kind != "depthwise" or readers[before.output] != 1:
            continue
        weight = before.weights[0]
        if len(layer.inputs) > most_inputs("separable"):
            continue
        if any(s.operands for s in before.epilogue):
            continue
        if weight.shape[0] * weight.shape[1] > MOST_TAPS or weight.shape[2] != 1:
            continue
        if "gate" in layer.options or weight.shape[3] != before.options["groups"]:
            continue
        layer.kind = "separable"
        layer.options = {**before.options, "between": before.epilogue}
        layer.weights = (*before.weights, *layer.weights)
        layer.inputs = (before.inputs[0], *layer.inputs[1:])
        layer.notes = (*before.notes, *layer.notes, ("depthwise", READ_ONCE))
    _drop(program)


def _readers(program: Program) -> Counter[int]:
    readers = Counter(i for layer in program.layers for i in layer.inputs)
    readers.update(program.outputs)
    return readers


def _makers(program: Program) -> dict[int, Layer]:
    return {layer.output: layer for layer in program.layers}


def _drop(program: Program) -> None:
    """Keep the layers that lead to an output."""
    needed = set(program.outputs)
    kept: list[Layer] = []
    for layer in reversed(program.layers):
        if layer.output in needed:
            kept.append(layer)
            needed.update(layer.inputs)
    program.layers = kept[::-1]
