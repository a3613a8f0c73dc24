"""One of two constants by comparing weighted levels with a number: thresholds of u8 images.

A comparison must not be off by a rounding: where two lumas are apart by less, white would be black. If the
weights are fractions of a small common denominator D, as 0.299, 0.587 and 0.114 are of 1000, then
255 · D times the sum is a whole number, and integers compare it exactly: it is at least ``bound`` if that
whole number is at least 255 · D · bound, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dala.backends.cpu.analysis.bounds import find_bounds
from dala.backends.cpu.analysis.linear import (
    LinearForm,
    constant_of,
    is_constant,
    level_of,
    linear_forms,
)
from dala.backends.cpu.arithmetic.dot import under_level
from dala.backends.cpu.arithmetic.sums import Sums
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import UNIFORM_LEAVES, LaneWriter
from dala.backends.cpu.llvm.text import Type, signed
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Access, Node, RuntimeParam, walk

CHANNELS = 4
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


class Choice(NamedTuple):
    """The channels of a pixel: chosen where ``comparison`` holds or not, or kept from the pixel read."""

    comparison: Comparison
    yes: dict[int, float]
    no: dict[int, float]
    kept: list[Access]


def find_choice(values: Sequence[Node]) -> Choice | None:
    """What the channels of a pixel are, if one comparison chooses all that do not pass through."""
    yes: dict[int, float] = {}
    no: dict[int, float] = {}
    kept: list[Access] = []
    conditions: dict[Node, None] = {}
    for channel, node in enumerate(values):
        match node.op, node.attr, [a.attr for a in node.args[1:]]:
            case "load", Access() as access, _ if access.channel == channel:
                kept.append(access)
            case "const", float(level), _:
                yes[channel] = no[channel] = level
            case "select", _, [float(first), float(second)]:
                yes[channel], no[channel] = first, second
                conditions[node.args[0]] = None
            case _:
                return None
    if len(values) != CHANNELS or len(conditions) != 1:
        return None
    comparison = _find_comparison(next(iter(conditions)))
    return Choice(comparison, yes, no, kept) if comparison else None


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


def suits_choice(values: Sequence[Node], params: Sequence[RuntimeParam]) -> bool:
    """Whether a stage may be computed so: weights that fit into 16 bits, and a bound that has bounds."""
    found = find_choice(values)
    if found is None or found.comparison.denominator > 32767:
        return False
    form, bound, _, denominator = found.comparison
    sizes = [abs(constant_of(w)) * denominator for w in form.weights.values()]
    limit = find_bounds(bound, params).largest * 255 * denominator
    pixels = {(a.source, a.dx, a.dy) for a in (*form.weights, *found.kept)}
    fits = max(sizes) <= 32767 and sum(sizes) * 255 < 2**30 and limit < 2**30
    return fits and len(pixels) == 1 and next(iter(pixels))[1:] == (0, 0)


def write_choice(body: BodyContext) -> None:
    """Choose, then hold and store."""
    row, code = body.body, body.lane
    held = _pixels(body, row.held) if row.ring is not None else ""
    stored = [_pixels(body, store.values) for store in row.stores]
    if row.ring is not None:
        code.line(f"store {held}, ptr {body.own_place(0)}, align 1")
    for store, pixels in zip(row.stores, stored, strict=True):
        code.line(f"store {pixels}, ptr {body.store_place(store.write, CHANNELS)}, align 1")


def _pixels(body: BodyContext, roots: Sequence[Node]) -> str:
    """Pixels as words, with their type."""
    code, i32 = body.lane, Type(S32, body.lanes)
    found = find_choice([under_level(root) for root in roots])
    assert found is not None
    form, bound, op, denominator = found.comparison
    order, rounded = ROUNDED[op]
    total, *terms = Sums(body, [form], denominator).terms(form)
    for term in terms:
        total = code.op(f"add {i32} {total}, {term}")
    limit = body.uniform.splat(i32, _limit(body, bound, 255 * denominator, rounded))
    holds = code.op(f"icmp {order} {i32} {total}, {limit}")
    yes, no = (code.constant(i32, signed(_word(levels))) for levels in (found.yes, found.no))
    pixels = code.select(i32, holds, yes, no)
    for access in found.kept:
        words = code.op(f"load {i32}, ptr {body.place_of(access)}, align 1")
        byte = code.op(
            f"and {i32} {words}, {code.constant(i32, signed(0xFF << 8 * access.channel))}"
        )
        pixels = code.op(f"or {i32} {pixels}, {byte}")
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
