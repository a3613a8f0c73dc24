"""Neighbours made one: what feeds a layer is computed where that reads it.

cancel_moves     transposes that bring elements back to where they were
split_means      the mean of a large picture: of its columns, then of those
join_before      element-wise steps, before a convolution or a mean
join_excite      a mean and the small products behind it (squeeze and excite)
join_separable   a depthwise convolution and the pointwise one behind it

On a GPU each of them is a dispatch less, and a picture that is neither written nor read.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from dala.ml.layers.moves import take
from dala.ml.layers.program import Layer, Program, Step, ValueType, drop_unread

READ_ONCE = "read by nothing else, so made where it is read"
MOST_TAPS = 25  # of a depthwise window
MANY_PIXELS, FEW_CHANNELS = (
    2048,
    64,
)  # above both, what is made again for every tile of columns costs more
MOST_SQUEEZED = 256  # channels on the way: one workgroup makes them
MOST_MEANT = 1 << 15  # elements of which one workgroup makes the means
MOST_MOVED = 1 << 22  # elements of a transpose that is looked at
MOST_CANCELLED = 32  # pairs of transposes; more of them are made as they are
# finite for whatever is finite: behind the last channel there are zeros, whose products must be zeros too
TAME = ("mul", "add", "sub", "relu", "clip", "max", "min", "abs", "neg", "round", "floor", "ceil",
        "sigmoid", "silu", "hardswish", "hardsigmoid", "leakyrelu", "tanh")  # fmt: skip


def most_inputs(kind: str) -> int:
    """Of a layer: with weights, biases and output no GPU has too few bindings for it."""
    return {"separable": 3, "excite": 3, "pointwise": 5}.get(kind, 4)


def cancel_moves(program: Program) -> None:
    """A transpose of what was transposed, element-wise steps between them: the elements are in order."""
    for _ in range(MOST_CANCELLED):
        if not _cancel_one(program):
            return


def _cancel_one(program: Program) -> bool:
    readers, maker, looked_at = _readers(program), _makers(program), 0
    for number, layer in enumerate(program.layers):
        if not _is_transpose(layer) or program.values[layer.output].count > MOST_MOVED:
            continue
        chain, here = [layer], maker.get(layer.inputs[0])
        while here is not None and readers[here.output] == 1 and _keeps_places(program, here):
            chain, here = [here, *chain], maker.get(here.inputs[0])
        if here is None or not _is_transpose(here) or readers[here.output] != 1:
            continue
        looked_at += 1
        if looked_at > MOST_CANCELLED:
            return False
        if _in_place(program, [here, *chain]):
            _straighten(program, here, chain, number)
            return True
    return False


def _in_place(program: Program, chain: list[Layer]) -> bool:
    """Whether every element ends where it began."""
    count = program.values[chain[0].inputs[0]].count
    places = np.arange(count, dtype=np.int32)
    for link in chain:
        places = places.reshape(program.values[link.inputs[0]].shape)
        places = take([places], link.options, ()) if link.kind == "take" else places
    return np.array_equal(places.reshape(-1), np.arange(count))


def _is_transpose(layer: Layer) -> bool:
    return layer.kind == "take" and not layer.options["tables"]


def _keeps_places(program: Program, layer: Layer) -> bool:
    alone = layer.kind == "map" and not any(s.operands for s in layer.epilogue)
    source, made = (program.values[v] for v in (layer.inputs[0], layer.output))
    return layer.kind == "view" or (alone and source.shape == made.shape)


def _straighten(program: Program, first: Layer, chain: list[Layer], number: int) -> None:
    """All steps at the end of the chain, on the elements in their order."""
    last = chain[-1]
    shape = program.values[last.output].shape
    steps: tuple[Step, ...] = ()
    for link in chain:
        steps += link.epilogue if link.kind == "map" else ()
    source, seen = first.inputs[0], len(program.values)
    program.values.append(ValueType(shape, program.values[source].dtype))
    view = Layer("view", (source,), seen, {"shape": shape}, label=first.label)
    notes = (*last.notes, ("transposes", "they bring every element back to its place"))
    joined = Layer(
        "map", (seen,), last.output, {"shape": shape}, (), steps, label=last.label, notes=notes
    )
    program.layers[number : number + 1] = [view, joined]
    drop_unread(program)


def split_means(program: Program) -> None:
    """Few channels of many rows: their means by columns first, as one sum would leave a GPU idle."""
    found: list[Layer] = []
    for layer in program.layers:
        found.append(layer)
        if layer.kind != "reduce" or layer.options != {"axes": (1, 2), "mode": "mean"}:
            continue
        type_ = program.values[layer.inputs[0]]
        if len(type_.shape) != 4 or math.prod(type_.shape[1:3]) <= 1024 or 1 in type_.shape[1:3]:
            continue
        between = len(program.values)
        shape = (type_.shape[0], 1, *type_.shape[2:])
        program.values.append(ValueType(shape, type_.dtype))
        first = replace(layer, output=between, options={"axes": (1,), "mode": "mean"}, epilogue=())
        first.inputs, last = layer.inputs[:1], replace(layer, before=())
        last.inputs = (between, *layer.inputs[1:])
        found[-1:] = [first, last]
    program.layers = found


def join_before(program: Program) -> None:
    """``layer(steps(x))`` as one layer; what lies beside a picture stays zero."""
    readers, maker = _readers(program), _makers(program)
    views: dict[Layer, Layer] = {}
    for layer in [x for x in program.layers if x.kind in ("conv", "pointwise", "reduce")]:
        before = _map_before(layer, readers, maker)
        while before is not None and _may_join(program, layer, before):
            view = _join_before(program, layer, before)
            if view is not None:
                views[layer] = maker[view.output] = view
            before = _map_before(layer, readers, maker)
    program.layers = [
        x
        for layer in program.layers
        for x in ((views[layer], layer) if layer in views else (layer,))
    ]
    drop_unread(program)


def _map_before(layer: Layer, readers: Counter[int], maker: dict[int, Layer]) -> Layer | None:
    """The map whose result nobody but this layer reads, perhaps in another shape."""
    before, views = maker.get(layer.inputs[0]), False
    while before is not None and before.kind == "view" and readers[before.output] in (0, 1):
        before, views = maker.get(before.inputs[0]), True
    if before is None or before.kind != "map" or readers[before.output] != 1:
        return None
    operands = any(s.operands for s in before.epilogue)
    return None if operands and (views or layer.kind == "conv") else before


def _may_join(program: Program, layer: Layer, before: Layer) -> bool:
    source, made = (program.values[v] for v in (before.inputs[0], before.output))
    if source.shape != made.shape or (made.dtype.kind != "f" and not layer.before):
        return False
    if len(layer.inputs) + len(before.inputs) - 1 > most_inputs(layer.kind):
        return False
    if layer.kind == "reduce":
        last = len(source.shape) - 1
        return last not in layer.options["axes"] and source.dtype == made.dtype
    if layer.kind == "pointwise" and source.dtype != made.dtype:
        return False
    return all(
        s.op in TAME or s.op.startswith("cast:") or (s.op == "div" and s.numbers and not s.swapped)
        for s in before.epilogue
    )


def _join_before(program: Program, layer: Layer, before: Layer) -> Layer | None:
    """The view of what the layer reads then, if that has another shape."""
    source, shape, view = before.inputs[0], program.values[layer.inputs[0]].shape, None
    if program.values[source].shape != shape:
        seen = len(program.values)
        program.values.append(ValueType(shape, program.values[source].dtype))
        view = Layer("view", (source,), seen, {"shape": shape}, label=before.label)
        source = seen
    first = len(layer.inputs) - 1
    steps = tuple(
        s._replace(operands=tuple(first + k for k in s.operands)) for s in before.epilogue
    )
    layer.before = (*steps, *layer.before)
    layer.inputs = (source, *layer.inputs[1:], *before.inputs[1:])
    layer.notes = (*layer.notes, *((step.op, READ_ONCE) for step in steps))
    return view


def join_excite(program: Program) -> None:
    """``pointwise(mean(x))``, and what another small product makes of that."""
    for again in (False, True):
        readers, maker = _readers(program), _makers(program)
        for layer in program.layers:
            before = maker.get(layer.inputs[0]) if layer.kind == "pointwise" else None
            while before is not None and before.kind == "view" and readers[before.output] == 1:
                before = maker.get(before.inputs[0])
            if before is None or readers[before.output] != 1 or layer.before:
                continue
            if len(layer.inputs) > 1 or any(s.operands for s in before.epilogue):
                continue
            if layer.weights[0].shape[3] > MOST_SQUEEZED or layer.weights[0].dtype.kind != "f":
                continue
            if before.kind not in ("reduce", "excite") or not _keeps_pixels(program, layer, before):
                continue
            if again and before.kind == "excite" and len(before.weights) == 2:
                layer.options = {"between": before.epilogue}
                layer.weights = (*before.weights, *layer.weights)
            elif not again and _is_small_mean(program, before):
                layer.options = {"between": ()}
            else:
                continue
            layer.kind, layer.before = "excite", before.before
            layer.inputs = before.inputs
            layer.notes = (*before.notes, *layer.notes, (before.kind, READ_ONCE))
        drop_unread(program)


def _keeps_pixels(program: Program, layer: Layer, before: Layer) -> bool:
    """Whether views between the two leave each picture its pixel, of the same channels."""
    source, read = (program.values[v].shape for v in (before.inputs[0], layer.inputs[0]))
    channels = before.weights[0].shape[3:] if before.kind == "excite" else source[-1:]
    return read == (*source[:1], 1, 1, *channels)


def _is_small_mean(program: Program, layer: Layer) -> bool:
    if layer.kind != "reduce" or layer.epilogue or layer.options["mode"] != "mean":
        return False
    shape = program.values[layer.inputs[0]].shape
    whole = len(shape) == 4 and all(k in layer.options["axes"] or shape[k] == 1 for k in (1, 2))
    if not whole or {0, 3} & set(layer.options["axes"]) or len(layer.inputs) > 2:
        return False
    return shape[3] <= MOST_SQUEEZED and math.prod(shape[1:]) <= MOST_MEANT


def join_separable(program: Program) -> None:
    """``pointwise(depthwise(x))`` as one layer."""
    readers, maker = _readers(program), _makers(program)
    for layer in program.layers:
        before = maker.get(layer.inputs[0]) if layer.kind == "pointwise" else None
        if before is None or before.kind != "depthwise" or readers[before.output] != 1:
            continue
        weight = before.weights[0]
        if len(layer.inputs) > most_inputs("separable") or layer.before:
            continue
        if any(s.operands for s in before.epilogue):
            continue
        made = program.values[layer.output]
        if made.count // made.shape[-1] > MANY_PIXELS and made.shape[-1] > FEW_CHANNELS:
            continue
        if weight.shape[0] * weight.shape[1] > MOST_TAPS or weight.shape[2] != 1:
            continue
        if weight.shape[3] != before.options["groups"]:
            continue
        layer.kind = "separable"
        layer.options = {**before.options, "between": before.epilogue}
        layer.weights = (*before.weights, *layer.weights)
        layer.inputs = (before.inputs[0], *layer.inputs[1:])
        layer.notes = (*before.notes, *layer.notes, ("depthwise", READ_ONCE))
    drop_unread(program)


def _readers(program: Program) -> Counter[int]:
    readers = Counter(i for layer in program.layers for i in layer.inputs)
    readers.update(program.outputs)
    return readers


def _makers(program: Program) -> dict[int, Layer]:
    return {layer.output: layer for layer in program.layers}
