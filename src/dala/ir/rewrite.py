"""Exact rewrites of a program: none of them may change a single bit of any result.

``PASSES`` is the whole optimiser, in order. Whatever could change rounding (contraction of a
multiply and an add, say) belongs to a backend's own preparation of a stage, before fusion, so that
fused and unfused code round alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dala.ir.dtypes import F32, U8, U16, DType
from dala.ir.graph import (
    Access,
    Extent,
    Gather,
    Node,
    Program,
    accesses,
    const,
    gathered_sources,
    in_order,
    make,
    map_nodes,
)
from dala.ir.ops import LEAVES, OPS, cast_array, split_average
from dala.ir.verify import verify

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "eq", "ne"})
INVERSE_255 = float(np.float32(1 / 255))
INVERSE_65535 = float(np.float32(1 / 65535))
LEVELS = {
    U8: ("level", INVERSE_255),
    U16: ("level16", INVERSE_65535),
}  # of images: op, and its inverse
WHITE = {U8: 255.0, U16: 65535.0}


def optimize(program: Program) -> Program:
    """Run every pass, verifying the program after each one."""
    verify(program)
    for rewrite in PASSES:
        program = program.map_bodies(rewrite)
        verify(program)
    for drop in (drop_unread_stages, drop_unread_channels):
        program = drop(program)
        verify(program)
    return program


def drop_unread_stages(program: Program) -> Program:
    """Intermediate images of which nobody reads a pixel are not computed.

    One that is only asked for its size stays, without what it was made of: as a black image.
    """
    if not program.first_result:
        return program
    stages = list(program.stages)
    measured: set[int] = set()  # sources of which somebody asks for the size
    read: set[int] = set()
    for number in reversed(range(len(stages))):  # the readers first
        source = program.inputs + number
        if number < program.first_result and source not in read:
            stages[number] = replace(stages[number], body=(const(0.0, F32),), margin=0)
        body = stages[number].body
        read |= {a.source for a in accesses(body)} | gathered_sources(body)
        measured |= {n.attr.source for n in in_order(body) if isinstance(n.attr, Extent)}
    kept = [
        k
        for k in range(len(stages))
        if k >= program.first_result or program.inputs + k in read | measured
    ]
    moved = {program.inputs + k: program.inputs + new for new, k in enumerate(kept)}
    return replace(program, stages=tuple(stages[k] for k in kept)).map_bodies(
        lambda body: move_sources(body, moved)
    )


def move_sources(body: tuple[Node, ...], moved: Mapping[int, int]) -> tuple[Node, ...]:
    """The body with other numbers for some of its sources."""

    def move(node: Node) -> Node:
        attr = node.attr
        if not isinstance(attr, Access | Gather | Extent):
            return node
        number = moved.get(attr.source, attr.source)
        if number == attr.source:
            return node
        return Node(node.op, node.dtype, node.args, attr._replace(source=number))

    return map_nodes(body, move)


def drop_unread_channels(program: Program) -> Program:
    """An intermediate image of which only the first channel is read keeps only that one."""
    stages = list(program.stages)
    for number in reversed(range(program.first_result)):  # the readers first
        source = program.inputs + number
        read = {
            a.channel for s in stages[number + 1 :] for a in accesses(s.body) if a.source == source
        }
        gathered = any(source in gathered_sources(s.body) for s in stages[number + 1 :])
        if read == {0} and not gathered:
            stages[number] = replace(stages[number], body=stages[number].body[:1])
    return replace(program, stages=tuple(stages))


def fold_constants(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Compute what is known now, through the op table's own NumPy meaning."""

    def fold(node: Node) -> Node:
        if node.op in LEAVES or any(a.op != "const" for a in node.args):
            return node
        if node.op == "cast":
            value = cast_array(np.asarray(node.args[0].attr, node.args[0].dtype.numpy), node.dtype)
        elif node.op not in OPS:  # what a device put in
            return node
        else:
            meaning = OPS[node.op].numpy
            assert meaning is not None
            value = meaning(*(a.dtype.numpy.type(a.attr) for a in node.args))
        return const(np.asarray(value).item(), node.dtype)

    return map_nodes(body, fold)


def simplify(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Drop operations that change nothing, for every value including NaN, inf and -0.0."""
    return map_nodes(body, _simplify_node)


def share_common(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Common sub-expressions become one node."""
    known: dict[tuple[Hashable, ...], Node] = {}

    def share(node: Node) -> Node:
        if node.op in COMMUTATIVE:
            swapped = (node.args[1], node.args[0])
            found = known.get(Node(node.op, node.dtype, swapped, node.attr).key())
            if found is not None:
                return found
        return known.setdefault(node.key(), node)

    return map_nodes(body, share)


def shares_of(weights: Sequence[Node]) -> list[Node]:
    """Each weight of an average, of all of them together."""
    zero = const(0.0, weights[0].dtype)
    counted = [make("max", w, zero) for w in weights]
    total = counted[0]
    for weight in counted[1:]:
        total = make("add", total, weight)
    return [make("div", w, total) for w in counted]


def expand_averages(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """``average`` spelled out in multiplications and additions, in the order of its meaning."""

    def expand(node: Node) -> Node:
        if node.op != "average":
            return node
        values, weights = split_average(node.args)
        shares = shares_of(weights)
        terms = [make("mul", v, share) for v, share in zip(values, shares, strict=True)]
        result = terms[0]
        for term in terms[1:]:
            result = make("add", result, term)
        return result

    return map_nodes(body, expand)


PASSES: tuple[Callable[[tuple[Node, ...]], tuple[Node, ...]], ...] = (
    fold_constants,
    simplify,
    share_common,
)


def _is(node: Node, value: float) -> bool:
    return node.op == "const" and node.attr == value and repr(node.attr) != "-0.0"


def _simplify_node(node: Node) -> Node:
    if not node.args:
        return node
    a = node.args[0]
    b = node.args[1] if len(node.args) > 1 else node
    integer = node.dtype.is_int
    match node.op:
        case "mul" if _is(b, 1) or (integer and _is(b, 0)):
            return a if _is(b, 1) else b
        case "mul" if _is(a, 1) or (integer and _is(a, 0)):
            return b if _is(a, 1) else a
        case "div" if _is(b, 1):
            return a
        case "floordiv" if integer and _is(b, 1):
            return a
        case "sub" if _is(b, 0):
            return a
        case "add" if integer and (_is(a, 0) or _is(b, 0)):  # not for floats: -0.0 + 0.0 is 0.0
            return a if _is(b, 0) else b
        case "neg" | "not" if a.op == node.op:
            return a.args[0]
        case "abs" if a.op == "abs":
            return a
        case "min" | "max" | "and" | "or" if a is b:
            return a
        case "floor" | "ceil" | "round" | "trunc" if a.op in ("floor", "ceil", "round", "trunc"):
            return a
        case "select" if node.args[1] is node.args[2]:
            return node.args[1]
        case "select" if a.op == "const":
            return node.args[1] if a.attr else node.args[2]
        case "cast" if a.dtype == node.dtype:
            return a
        case "level" if is_whole_level(a):
            return a.args[0]
        case "level16" if is_whole_level16(a):
            return a.args[0]
    return node


def is_whole_level(node: Node) -> bool:
    """``level(v) * (1/255)``: storing such a value again gives the same level, for all 256 of them."""
    return _is_normalized(node, U8)


def is_whole_level16(node: Node) -> bool:
    """The same for the 65536 levels of a u16 image: f32 has room for them and eight more bits."""
    return _is_normalized(node, U16)


def _is_normalized(node: Node, dtype: DType) -> bool:
    op, inverse = LEVELS[dtype]
    if node.op != "mul" or not _is(node.args[1], inverse):
        return False
    return node.args[0].op == op or is_whole(node.args[0], dtype)


def is_whole(node: Node, dtype: DType = U8) -> bool:
    """Whether it is a value counted in levels, clamped and rounded: see ``normalized_whole``."""
    if node.op != "round" or node.args[0].op != "min" or node.args[0].args[0].op != "max":
        return False
    least = node.args[0]
    return _is(least.args[1], WHITE[dtype]) and _is(least.args[0].args[1], 0.0)


def normalized_whole(levels: Node, dtype: DType = U8) -> Node:
    """What a reader sees of a value counted in levels once an image of them (u8, u16) has stored it."""
    above = make("max", levels, const(0.0, levels.dtype))
    whole = make("round", make("min", above, const(WHITE[dtype], levels.dtype)))
    return make("mul", whole, const(LEVELS[dtype][1], levels.dtype))


def normalized_level(value: Node, dtype: DType = U8) -> Node:
    """What a reader sees of ``value`` once an image of levels (u8, u16) has stored it."""
    op, inverse = LEVELS[dtype]
    return make("mul", make(op, value), const(inverse, value.dtype))
