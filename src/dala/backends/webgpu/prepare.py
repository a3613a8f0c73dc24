"""A kernel's program as a GPU wants to compute it: what changes rounding, before fusion.

* Stages on the way from one u8 image to another that only average, or only choose minima and maxima, are
  left to half precision (half.py), and so is what a kernel marks by ``half_precision(…)``.
* Averages are spelled out, and a multiply that feeds one add becomes a fused multiply-add, said aloud: a
  driver would contract some of them anyway, others not (a product that two neighbouring pixels share), and
  others again in another shader.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from dala.backends.webgpu.half import LARGEST, PAIRS, PIXEL, SPELLED
from dala.backends.webgpu.uniforms import uniform_nodes
from dala.ir.arrays import ArrayType
from dala.ir.contract import contract_body
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Access, Node, Program, Stage, accesses, make, map_nodes, walk
from dala.ir.linear import linear_forms
from dala.ir.ops import split_average
from dala.ir.patterns import drop_halves, is_plain_average, on_levels
from dala.ir.rewrite import PASSES, expand_averages, shares_of

MOST_TAPS = 51  # of an average in half precision
MOST_WEIGHT = (
    16  # of a sum of pixels: times 128, the largest whole number of which f16 has all below
)


def prepare_program(
    program: Program, inputs: Sequence[ArrayType], output: ArrayType, *, half: bool = False
) -> Program:
    """The program in ops that WGSL has."""
    pixels = all(a.dtype == U8 and a.channels == 4 for a in (*inputs, output))
    if half and pixels and program.domain == "image" and program.has_one_size:
        program = _in_halves(program, inputs)
    else:
        program = drop_halves(program)
    stages = []
    for stage in program.stages:
        body = expand_averages(stage.body)
        for rewrite in PASSES:
            body = rewrite(body)
        stages.append(replace(stage, body=contract_body(body)))
    return replace(program, stages=tuple(stages))


def _in_halves(program: Program, inputs: Sequence[ArrayType]) -> Program:
    """The program with ``half`` around what is computed in half precision, and nowhere else."""
    plain = drop_halves(program)
    stencils = {i for i, s in enumerate(plain.stages) if _is_stencil(s)}
    chosen = {i for i in stencils if _suits_pixels(plain.stages[i])}
    chosen = on_levels(plain, inputs, chosen, len(plain.stages))
    stages = []
    for number, stage in enumerate(program.stages):
        if number in chosen:
            body = tuple(map(_halved, plain.stages[number].body))
        elif number in stencils:
            body = map_nodes(stage.body, lambda node: _checked(node, program.inputs))
            if any(node.op == "half" for node in walk(body)):
                stage = replace(stage, arithmetic=PAIRS)
        else:
            body = plain.stages[number].body
        stages.append(replace(stage, body=body))
    return replace(program, stages=tuple(stages))


def _is_stencil(stage: Stage) -> bool:
    """Whether neighbours are read of everything that is read: then no other stage is inlined into it."""
    moved = {a.source for a in accesses(stage.body) if a.dx or a.dy}
    return bool(moved) and {a.source for a in accesses(stage.body)} == moved


def _suits_pixels(stage: Stage) -> bool:
    if len(stage.body) != 4:
        return False
    if is_plain_average(stage.body):
        return len(stage.body[0].args) // 2 <= MOST_TAPS
    channels = list(enumerate(stage.body))
    if any(a.channel != channel for channel, node in channels for a in accesses([node])):
        return False
    return all(_are_extrema(node) or _keeps_units(node) for node in stage.body)


def _are_extrema(root: Node) -> bool:
    return all(node.op in ("load", "min", "max") for node in walk([root]))


def _keeps_units(root: Node) -> bool:
    """Whether a sum of pixels has weights of 1 in all, and gains times differences: then it commutes with
    a change of units. Whole weights, not too many: whole levels add up exactly."""
    (form,) = linear_forms([root]) or (None,)
    if form is None or any(form.bias.values()):
        return False
    terms = form.by_uniform()
    for uniform, weights in terms.items():
        given = list(weights.values())
        if sum(given) != (1.0 if uniform is None else 0.0) or not all(
            w.is_integer() for w in given
        ):
            return False
        if sum(map(abs, given)) > MOST_WEIGHT:
            return False
    return None in terms


def _halved(root: Node) -> Node:
    if root.op == "load":  # passes through
        return root
    value = _in_groups(root) if root.op == "average" else root
    return Node("half", F32, (value,), PIXEL)


def _in_groups(average: Node) -> Node:
    """An average as a sum of few products: pixels of equal weight are added first.

    Whole levels add up exactly, and from the ends of a bell inwards the small terms come first.
    """
    values, weights = split_average(average.args)
    shares = dict(zip(weights, shares_of(weights), strict=True))
    groups: dict[Node, Node] = {}
    for value, weight in zip(values, weights, strict=True):
        groups[weight] = make("add", groups[weight], value) if weight in groups else value
    terms = [make("mul", group, shares[weight]) for weight, group in groups.items()]
    return functools.reduce(lambda total, term: make("add", total, term), terms)


def _checked(node: Node, inputs: int) -> Node:
    """A kernel's own ``half`` stays where half precision has all it takes: images of bytes, and its ops."""
    uniform = uniform_nodes(node.args)
    kept = node.op != "half" or all(_is_available(n, uniform, inputs) for n in walk(node.args))
    return node if kept else node.args[0]


def _is_available(node: Node, uniform: set[int], inputs: int) -> bool:
    if id(node) in uniform:
        return not isinstance(node.attr, float) or abs(node.attr) <= LARGEST
    if isinstance(node.attr, Access):
        return node.attr.source < inputs
    return node.op in SPELLED
