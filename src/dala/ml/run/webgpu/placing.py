"""Where values lie on the GPU, and for how long.

Values that are views of each other share memory. What a layer makes for an output goes straight into that;
everything else into registers: memory that is used again once the last reader of a value is done.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dala.ml.layers.program import Layer, Program
from dala.ml.run.webgpu.access import form_of, stored_type

# Kinds that write rows one by one, wherever they are
WRITES_ROWS = ("pointwise", "separable", "depthwise", "conv", "pool", "resize")
# Kinds that write rows in whole quads, and so can write f16
WRITES_QUADS = (
    "pointwise",
    "depthwise",
    "separable",
    "conv",
    "transposed",
    "pool",
    "resize",
    "map",
    "matmul",
    "reduce",
    "excite",
)


class Part(NamedTuple):
    """A value that is made where a concat would put it."""

    start: int  # element
    stride: int  # elements from row to row


@dataclass(slots=True)
class Placing:
    """For every value: whose memory it has, in which form; registers by their size in bytes."""

    roots: dict[int, int]
    forms: dict[int, str]  # of roots
    registers: dict[int, int] = field(default_factory=dict)  # root → register
    sizes: list[int] = field(default_factory=list)  # of registers, in bytes
    targets: dict[int, int] = field(default_factory=dict)  # root → the output it is
    copied: list[tuple[int, int]] = field(
        default_factory=list
    )  # value → output that must be copied
    parts: dict[int, Part] = field(default_factory=dict)  # value → where in its root it is


def real_layers(program: Program) -> list[Layer]:
    """Those that do something."""
    return [layer for layer in program.layers if layer.kind != "view"]


def place_values(program: Program, *, half: bool = False) -> Placing:
    """Roots, forms, outputs and registers."""
    roots = {v: v for v in range(len(program.values))}
    for layer in program.layers:
        if layer.kind == "view":
            roots[layer.output] = roots[layer.inputs[0]]
    layers = real_layers(program)
    parts = _parts_of_concats(program, layers, roots)
    makers = {layer.output: layer for layer in layers if layer.output not in parts}
    placing = Placing(roots, {}, parts=parts)
    for number, value in enumerate(program.outputs):
        root = roots[value]
        if root in makers and root not in placing.targets:
            placing.targets[root] = number
        else:
            placing.copied.append((value, number))
    halves = _half_values(program, roots, layers) if half else set()
    for root in {roots[v] for v in roots}:
        outside = root in program.inputs or root in placing.targets
        form = form_of(program.values[root].dtype, outside=outside)
        placing.forms[root] = "f16" if root in halves and root not in placing.targets else form
    _assign_registers(program, placing, layers)
    return placing


def _parts_of_concats(
    program: Program, layers: Sequence[Layer], roots: dict[int, int]
) -> dict[int, Part]:
    """Values that only a concat reads are made in its place; their roots become its output."""
    readers = Counter(roots[v] for layer in layers for v in layer.inputs)
    readers.update(roots[v] for v in program.outputs)
    makers, parts = {layer.output: layer for layer in layers}, {}
    members: dict[int, list[int]] = {}
    for value, root in roots.items():
        members.setdefault(root, []).append(value)
    for layer in layers:
        made = program.values[layer.output]
        if layer.kind != "concat" or made.dtype != np.float32:
            continue
        axis, start, seen = layer.options["axis"], 0, Counter(roots[v] for v in layer.inputs)
        inner = math.prod(made.shape[axis + 1 :])
        for value in layer.inputs:
            root, shape = roots[value], program.values[value].shape
            maker = makers.get(root)
            own = program.values[root].shape
            alone = readers[root] == 1 and seen[root] == 1 and root not in program.inputs
            if maker is not None and maker.kind in WRITES_ROWS and alone and own:
                if math.prod(made.shape[:axis]) == 1:
                    parts[root] = Part(start * inner, own[-1])
                elif axis == len(made.shape) - 1 and own[-1] == shape[-1]:
                    parts[root] = Part(start, made.shape[-1])
            start += shape[axis]
            if root in parts:
                roots.update(dict.fromkeys(members[root], layer.output))
    return parts


def _half_values(program: Program, roots: dict[int, int], layers: Sequence[Layer]) -> set[int]:
    """Roots that are f16 throughout: made by what writes quads, and in every shape of whole quads."""
    found = {
        layer.output
        for layer in layers
        if layer.kind in WRITES_QUADS and program.values[layer.output].dtype.kind == "f"
    }
    for value, root in roots.items():
        shape = program.values[value].shape
        if not shape or shape[-1] % 4:
            found.discard(root)
    for layer in layers:  # those who read element by element along the last axis
        last = len(program.values[layer.inputs[0]].shape) - 1
        if layer.kind == "reduce" and last in layer.options["axes"]:
            found.discard(roots[layer.inputs[0]])
    return found


def _assign_registers(program: Program, placing: Placing, layers: Sequence[Layer]) -> None:
    last: dict[int, int] = {}
    for number, layer in enumerate(layers):
        for value in layer.inputs:
            last[placing.roots[value]] = number
    for value, _ in placing.copied:
        last[placing.roots[value]] = len(layers)
    free: list[int] = []
    for number, layer in enumerate(layers):
        root = placing.roots[layer.output]
        if root not in placing.targets and root not in placing.registers:
            size = stored_type(placing.forms[root], program.values[root].shape).nbytes
            placing.registers[root] = _best(free, placing.sizes, size)
        for value in set(layer.inputs) | {layer.output}:
            done = placing.roots[value]
            register = placing.registers.get(done)
            over = last.get(done, number) == number
            if register is not None and over and register not in free:
                free.append(register)


def _best(free: list[int], sizes: list[int], size: int) -> int:
    """The free register that fits best, or the largest, made larger, or a new one."""
    if not free:
        sizes.append(size)
        return len(sizes) - 1
    fitting = [r for r in free if sizes[r] >= size]
    chosen = min(fitting, key=lambda r: sizes[r]) if fitting else max(free, key=lambda r: sizes[r])
    sizes[chosen] = max(sizes[chosen], size)
    free.remove(chosen)
    return chosen
