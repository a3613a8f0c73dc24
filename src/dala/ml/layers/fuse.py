"""Layers made fewer: one ordered list of rewrites, each leaves the meaning (rounding aside).

drop_unread     what nobody reads
find_silu       x · sigmoid(x) as one step
fuse_steps      element-wise steps become the epilogue of the layer before them
fold_weights    factors and offsets per channel become weights and biases
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from dala.ml.layers.program import Array, Layer, Program, Step
from dala.ml.layers.table import LAYERS

IN_EPILOGUE = "element by element, so in the epilogue"
IN_WEIGHTS = "by a constant for each channel, so in the weights"
MOST_INPUTS = 4  # of a layer: with weights, bias and output no GPU has too few bindings for it
COMMUTATIVE = ("add", "mul", "max", "min")
CONVOLUTIONS = ("pointwise", "depthwise", "conv", "transposed")


def drop_unread(program: Program) -> None:
    """Keep the layers that lead to an output."""
    needed = set(program.outputs)
    kept: list[Layer] = []
    for layer in reversed(program.layers):
        if layer.output in needed:
            kept.append(layer)
            needed.update(layer.inputs)
    program.layers = kept[::-1]
    program.constants = {k: v for k, v in program.constants.items() if k in needed}


def find_silu(program: Program) -> None:
    """``x · sigmoid(x)``, whichever comes first."""
    maker = {layer.output: layer for layer in program.layers}
    for layer in program.layers:
        if (
            layer.kind != "map"
            or [s.op for s in layer.epilogue] != ["mul"]
            or len(layer.inputs) != 2
        ):
            continue
        for x, gate in (layer.inputs, layer.inputs[::-1]):
            made = maker.get(gate)
            if made is not None and made.kind == "map" and made.inputs == (x,):
                same = program.values[x].shape == program.values[layer.output].shape
                if same and [s.op for s in made.epilogue] == ["sigmoid"]:
                    layer.inputs, layer.epilogue = (x,), (Step("silu"),)
                    layer.notes = (*layer.notes, ("sigmoid, mul", "x · sigmoid(x) is one step"))
                    break
    drop_unread(program)


def fuse_steps(program: Program) -> None:
    """A map whose running value nobody else reads is done where that is made.

    The joined layer takes the map's place in the order, where all it reads is there.
    """
    readers = Counter(i for layer in program.layers for i in layer.inputs)
    readers.update(program.outputs)
    maker = {layer.output: layer for layer in program.layers}
    gone: set[Layer] = set()
    for number, layer in enumerate(program.layers):
        if layer.kind != "map":
            continue
        for main in _running_values(layer):
            before = maker.get(layer.inputs[main])
            if before is None or not LAYERS[before.kind].fuses or readers[before.output] != 1:
                continue
            if program.values[before.output].shape != program.values[layer.output].shape:
                continue
            if len(before.inputs) + len(layer.inputs) - 1 > MOST_INPUTS:
                continue
            joined = _join(before, layer, main)
            gone.add(before)
            program.layers[number] = joined
            maker[joined.output] = joined
            break
    program.layers = [layer for layer in program.layers if layer not in gone]


def _running_values(layer: Layer) -> list[int]:
    """Which inputs may be the running value: the first, and the other one of a commutative step."""
    first = layer.epilogue[0] if layer.epilogue else None
    alone = len(layer.epilogue) == 1 and len(layer.inputs) == 2
    if alone and first is not None and first.op in COMMUTATIVE and first.operands == (1,):
        return [1, 0]  # the later one is more likely read by nobody else
    return [0]


def _join(before: Layer, layer: Layer, main: int) -> Layer:
    others = [k for k in range(len(layer.inputs)) if k != main]
    moved = {old: len(before.inputs) + k for k, old in enumerate(others)}
    steps = []
    for step in layer.epilogue:
        operands = tuple(moved[0 if main == 1 else k] for k in step.operands)
        steps.append(step._replace(operands=operands))
    notes = tuple((step.op, IN_EPILOGUE) for step in layer.epilogue)
    return replace(
        before,
        inputs=(*before.inputs, *(layer.inputs[k] for k in others)),
        output=layer.output,
        epilogue=(*before.epilogue, *steps),
        notes=(*before.notes, *notes, *(n for n in layer.notes if n[1] != IN_EPILOGUE)),
    )


def fold_weights(program: Program) -> None:
    """The first factors and offsets of a convolution's epilogue, into its weights and its bias."""
    for layer in program.layers:
        if layer.kind in CONVOLUTIONS and layer.weights[0].dtype.kind == "f":
            while _fold_one(program, layer):
                pass


def _fold_one(program: Program, layer: Layer) -> bool:
    for number, step in enumerate(layer.epilogue):
        vector = _per_channel(program, layer, step)
        if vector is not None and step.op in ("add", "sub", "mul") and not step.swapped:
            weight, bias = layer.weights
            if step.op == "mul":
                if number:
                    return False  # what was added before would have to be multiplied as well
                weight, bias = weight * vector, bias * vector
            else:
                bias = bias + vector if step.op == "add" else bias - vector
            layer.weights = (weight.astype(weight.dtype), bias.astype(layer.weights[1].dtype))
            layer.epilogue = layer.epilogue[:number] + layer.epilogue[number + 1 :]
            layer.notes = (*layer.notes, (step.op, IN_WEIGHTS))
            return True
        if step.op != "add":  # offsets may change places with each other, nothing else may
            return False
    return False


def _per_channel(program: Program, layer: Layer, step: Step) -> Array | None:
    """A step's constant, one number for each channel."""
    channels = program.values[layer.output].shape[-1]
    if step.numbers and not step.operands:
        return np.full(channels, step.numbers[0], layer.weights[1].dtype)
    if len(step.operands) != 1:
        return None
    array = program.constants.get(layer.inputs[step.operands[0]])
    if array is None or array.size != array.shape[-1] or array.shape[-1] not in (1, channels):
        return None
    return np.broadcast_to(array.reshape(-1), (channels,))


PASSES = (drop_unread, find_silu, fuse_steps, fold_weights)
