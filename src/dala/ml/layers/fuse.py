"""Layers made fewer: one ordered list of rewrites, each leaves the meaning (rounding aside).

drop_unread     what nobody reads
find_silu       x · sigmoid(x) as one step
fuse_steps      element-wise steps become the epilogue of the layer before them
fold_weights    factors and offsets per channel become weights and biases
drop_padding    zeros behind the channels of what is added
join_…          what feeds a convolution is computed where that reads it (join.py)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from dala.ml.layers.join import (
    cancel_moves,
    join_before,
    join_excite,
    join_separable,
    most_inputs,
    split_means,
)
from dala.ml.layers.program import Array, Layer, Program, Step, drop_unread
from dala.ml.layers.table import LAYERS

IN_EPILOGUE = "element by element, so in the epilogue"
IN_WEIGHTS = "by a constant for each channel, so in the weights"
COMMUTATIVE = ("add", "mul", "max", "min")
CONVOLUTIONS = ("pointwise", "depthwise", "conv", "transposed")


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
            if before.kind == "softmax" and len(layer.inputs) > 1:
                continue  # element by element, with nothing beside it
            if len(before.inputs) + len(layer.inputs) - 1 > most_inputs(before.kind):
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
            _drop_operands(layer)


def _drop_operands(layer: Layer) -> None:
    """Inputs that no step reads any more."""
    steps = (*layer.before, *layer.epilogue)
    used = sorted({k for step in steps for k in step.operands})
    number = {old: new for new, old in enumerate(used, 1)}
    layer.inputs = (layer.inputs[0], *(layer.inputs[k] for k in used))
    layer.before, layer.epilogue = (
        tuple(s._replace(operands=tuple(number[k] for k in s.operands)) for s in steps)
        for steps in (layer.before, layer.epilogue)
    )


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


def drop_padding(program: Program) -> None:
    """Zeros behind the channels of what is added are not made: a sum takes what is there."""
    readers = Counter(i for layer in program.layers for i in layer.inputs)
    readers.update(program.outputs)
    maker = {layer.output: layer for layer in program.layers}
    for layer in program.layers:
        for step in layer.epilogue:
            if step.op != "add" or len(step.operands) != 1:
                continue
            number = step.operands[0]
            before = maker.get(layer.inputs[number])
            source = None if before is None else _without_padding(program, before)
            if source is None or readers[layer.inputs[number]] != 1:
                continue
            layer.inputs = (*layer.inputs[:number], source, *layer.inputs[number + 1 :])
            layer.notes = (*layer.notes, ("pad", "zeros behind the channels need not be added"))
    drop_unread(program)


def _without_padding(program: Program, layer: Layer) -> int | None:
    """What a layer only puts zeros behind, along the channels."""
    source, made = (program.values[v].shape for v in (layer.inputs[0], layer.output))
    if len(source) != len(made) or source[:-1] != made[:-1] or not 1 < source[-1] < made[-1]:
        return None
    last, few = len(made) - 1, source[-1]
    if layer.kind == "concat" and layer.options["axis"] == last:
        rest = [program.constants.get(v) for v in layer.inputs[1:]]
        return layer.inputs[0] if all(a is not None and not a.any() for a in rest) else None
    if layer.kind != "take" or layer.options["fill"] != 0 or set(layer.options["tables"]) != {last}:
        return None
    table = layer.options["tables"][last]
    kept = layer.options["axes"] == tuple(range(last + 1)) and np.array_equal(
        table[:few], np.arange(few)
    )
    return layer.inputs[0] if kept and (table[few:] == -1).all() else None


PASSES = (
    drop_unread,
    find_silu,
    fuse_steps,
    fold_weights,
    drop_padding,
    cancel_moves,
    split_means,
    join_before,
    join_excite,
    join_separable,
)
