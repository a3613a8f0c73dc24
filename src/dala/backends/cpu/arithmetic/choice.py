"""One of two constants by comparing weighted levels with a number: thresholds of u8 images.

A comparison must not be off by a rounding: where two lumas are apart by less, white would be black. If the
weights are fractions of a small common denominator D, as 0.299, 0.587 and 0.114 are of 1000, then
255 · D times the sum is a whole number, and integers compare it exactly: it is at least ``bound`` if that
whole number is at least 255 · D · bound, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from dala.backends.cpu.arithmetic.base import PIXEL, CpuArithmetic, Subject, Values, write_bytes
from dala.backends.cpu.arithmetic.dot import under_level
from dala.backends.cpu.arithmetic.sums32 import Sums32
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LaneWriter
from dala.backends.cpu.llvm.text import Type, signed
from dala.backends.cpu.schedule.cost import Match, cost_of_channels
from dala.ir.bounds import find_bounds
from dala.ir.dtypes import F32, S32
from dala.ir.graph import UNIFORM_LEAVES, Access, Node, RuntimeParam, Stage, accesses, walk
from dala.ir.linear import (
    LinearForm,
    constant_of,
    is_constant,
    level_of,
    linear_forms,
)

# what the sum must be to the bound for the first constant, once that is rounded so
ROUNDED = {
    "ge": ("sge", "ceil"),
    "gt": ("sgt", "floor"),
    "lt": ("slt", "ceil"),
    "le": ("sle", "floor"),
}


class Comparison(NamedTuple):
    """``form`` against ``bound``, by one of the ops of ROUNDED."""

    form: LinearForm
    bound: Node
    op: str
    denominator: int  # of all weights


@dataclass(frozen=True, slots=True)
class ChoiceMatch(Match):
    """A channel that is ``yes`` where the comparison holds, else ``no``. Its node's arguments are the bound
    and the loads that have these weights."""

    op: str
    denominator: int
    weights: tuple[float, ...]
    yes: float
    no: float


@dataclass(frozen=True)
class ChoiceArithmetic(CpuArithmetic):
    """A stage whose channels are chosen by one comparison, are constants, or pass through."""

    def match_stage(self, subject: Subject, stage: Stage) -> Values | None:
        values = stage.body
        if not subject.program.has_one_size or not subject.reads_bytes(values):
            return None
        found = list(accesses(values))
        if len(values) != PIXEL or any(subject.inputs[a.source].channels != PIXEL for a in found):
            return None
        if len({(a.source, a.dx, a.dy) for a in found}) != 1 or found[0][2:] != (0, 0):
            return None
        return _write_down(values, subject.program.params)

    def write(self, body: BodyContext) -> None:
        write_bytes(body, partial(_pixels, body))


CHOICE = ChoiceArithmetic("choice", own_body=True, relative_cost=0.5, light=True)


def _write_down(values: Sequence[Node], params: Sequence[RuntimeParam]) -> Values | None:
    """The channels of a pixel, if one comparison chooses all that do not pass through."""
    conditions: dict[Node, None] = {}
    for channel, node in enumerate(values):
        match node.op, node.attr, [a.attr for a in node.args[1:]]:
            case "load", Access(_, own), _ if own == channel:
                pass
            case "const", float(), _:
                pass
            case "select", _, [float(), float()]:
                conditions[node.args[0]] = None
            case _:
                return None
    comparison = _find_comparison(next(iter(conditions))) if len(conditions) == 1 else None
    if comparison is None or not _fits(comparison, params):
        return None
    chosen: dict[int, Node] = {}  # by what they were: most are the same
    for node, operations in zip(values, cost_of_channels(values), strict=True):
        if id(node) not in chosen:
            found = _chosen(comparison, node, operations) if node.op == "select" else node
            chosen[id(node)] = found
    return tuple(chosen[id(node)] for node in values)


def _chosen(comparison: Comparison, node: Node, operations: float) -> Node:
    """A channel that is chosen."""
    form, bound, op, denominator = comparison
    loads = (Node("load", F32, (), access) for access in form.weights)
    weights = tuple(constant_of(w) for w in form.weights.values())
    yes, no = (a.attr for a in node.args[1:])
    assert isinstance(yes, float)
    assert isinstance(no, float)
    match = ChoiceMatch(operations, op, denominator, weights, yes, no)
    return Node("choice", F32, (bound, *loads), match)


def _find_comparison(condition: Node) -> Comparison | None:
    if condition.op not in ROUNDED:
        return None
    value, bound = condition.args
    forms = linear_forms([value])
    if forms is None or not forms[0].weights or any(forms[0].bias.values()):
        return None
    if any(not n.args and n.op not in UNIFORM_LEAVES for n in walk([bound])):
        return None
    if not all(map(is_constant, forms[0].weights.values())):
        return None
    denominator = math.lcm(
        *(_as_written(constant_of(w)).denominator for w in forms[0].weights.values())
    )
    return Comparison(forms[0], bound, condition.op, denominator)


def _as_written(number: float) -> Fraction:
    """The shortest decimal number that is this one in f32."""
    return Fraction(str(np.float32(number)))


def _fits(comparison: Comparison, params: Sequence[RuntimeParam]) -> bool:
    """Whether weights fit into 16 bits, and the bound is bounded."""
    form, bound, _, denominator = comparison
    if denominator > 32767:
        return False
    sizes = [abs(constant_of(w)) * denominator for w in form.weights.values()]
    limit = find_bounds(bound, params).largest * 255 * denominator
    return max(sizes) <= 32767 and sum(sizes) * 255 < 2**30 and limit < 2**30


def _pixels(body: BodyContext, roots: Sequence[Node]) -> str:
    """Pixels as words, with their type."""
    code, i32 = body.lane, Type(S32, body.lanes)
    yes: dict[int, float] = {}
    no: dict[int, float] = {}
    kept: list[Access] = []
    chosen: list[tuple[ChoiceMatch, Node]] = []
    for channel, node in enumerate(map(under_level, roots)):
        match node.attr:
            case Access() as access:
                kept.append(access)
            case float(level):
                yes[channel] = no[channel] = level
            case ChoiceMatch() as found:
                yes[channel], no[channel] = found.yes, found.no
                chosen.append((found, node))
    match, (bound, *loads) = chosen[0][0], chosen[0][1].args
    taps = [load.attr for load in loads if isinstance(load.attr, Access)]
    form = LinearForm({a: {None: w} for a, w in zip(taps, match.weights, strict=True)}, {})
    order, rounded = ROUNDED[match.op]
    total, *terms = Sums32(body, [form], match.denominator).terms(form)
    for term in terms:
        total = code.op(f"add {i32} {total}, {term}")
    limit = body.uniform.splat(i32, _limit(body, bound, 255 * match.denominator, rounded))
    holds = code.op(f"icmp {order} {i32} {total}, {limit}")
    words = [code.constant(i32, signed(_word(levels))) for levels in (yes, no)]
    pixels = code.select(i32, holds, *words)
    for access in kept:
        source = code.op(f"load {i32}, ptr {body.address_of(access)}, align 1")
        mask = code.constant(i32, signed(0xFF << 8 * access.channel))
        pixels = code.op(f"or {i32} {pixels}, {code.op(f'and {i32} {source}, {mask}')}")
    return f"{i32} {pixels}"


def _limit(body: BodyContext, bound: Node, scale: int, rounded: str) -> str:
    """The whole number that a sum is compared with."""
    code, f32 = body.uniform, Type(F32)
    writer = LaneWriter(body, 0, code, body.row, body.lane)
    writer.write([bound])
    scaled = code.op(f"fmul float {writer.names[id(bound)]}, {code.constant(f32, float(scale))}")
    return code.op(f"fptosi float {code.intrinsic(rounded, f32, [scaled])} to i32")


def _word(levels: dict[int, float]) -> int:
    """A pixel of constants."""
    return sum(level_of(v) << 8 * c for c, v in levels.items())
