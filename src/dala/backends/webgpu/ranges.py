"""What a value can be: an interval, and whether it can be NaN.

A compiler for GPUs may take ``select(b, a, a < b)`` for its own minimum, which drops NaN where the op
table hands it on. A test of the bits keeps it, and costs; so it is written only where this says that a
value can be NaN. Bytes cannot be, nor what is bounded and computed of bounded values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dala.ir.graph import Access, Gather, Node, walk

LARGEST = 1.7e38  # half of the largest f32: what lies below does not become infinite by rounding


class Range(NamedTuple):
    """From ``low`` to ``high``, or NaN if ``nan``."""

    low: float
    high: float
    nan: bool = False

    @property
    def is_finite(self) -> bool:
        return -math.inf < self.low and self.high < math.inf

    def can_be(self, number: float) -> bool:
        return self.low <= number <= self.high


ANYTHING = Range(-math.inf, math.inf, nan=True)
UNIT = Range(0.0, 1.0)
WHOLE = Range(-(2.0**64), 2.0**64)  # integers of any type
HALF = Range(-65504.0, 65504.0)
RangeOf = Callable[[int, int], Range]  # by source and channel


def find_ranges(roots: Sequence[Node], of_source: RangeOf) -> dict[int, Range]:
    """The range of every node, by its id."""
    found: dict[int, Range] = {}
    for node in walk(roots):
        found[id(node)] = _range(node, [found[id(a)] for a in node.args], of_source)
    return found


def _range(node: Node, args: list[Range], of_source: RangeOf) -> Range:
    if not node.dtype.is_float:
        return WHOLE
    match node.op, node.attr:
        case "const", int() | float() as number:
            return ANYTHING if math.isnan(number) else Range(number, number)
        case "load" | "gather", Access() | Gather() as at:
            return of_source(at.source, at.channel)
        case "cast", _:
            return args[0] if node.args[0].dtype.is_float else WHOLE
        case "mul" | "fma", _ if node.args[0] is node.args[1]:
            square = _square(args[0])
            return square if node.op == "mul" else _bounded(_add(square, args[2]))
    rule = _RULES.get(node.op)
    return ANYTHING if rule is None else _bounded(rule(*args))


def _bounded(r: Range) -> Range:
    """Infinite as soon as rounding could make it so."""
    low = r.low if r.low > -LARGEST else -math.inf
    return Range(low, r.high if r.high < LARGEST else math.inf, r.nan)


def _add(a: Range, b: Range) -> Range:
    opposite = (a.high == math.inf and b.low == -math.inf) or (
        a.low == -math.inf and b.high == math.inf
    )
    nan = a.nan or b.nan or opposite
    return ANYTHING if nan else Range(a.low + b.low, a.high + b.high)


def _neg(a: Range) -> Range:
    return Range(-a.high, -a.low, a.nan)


def _mul(a: Range, b: Range) -> Range:
    endless = (not a.is_finite and b.can_be(0.0)) or (not b.is_finite and a.can_be(0.0))
    if a.nan or b.nan or endless:
        return ANYTHING
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(corners), max(corners))


def _square(a: Range) -> Range:
    size = _abs(a)
    return _bounded(Range(size.low**2, size.high**2, a.nan))


def _div(a: Range, b: Range) -> Range:
    if a.nan or b.nan or b.can_be(0.0) or not b.is_finite:
        return ANYTHING
    return _mul(a, Range(1 / b.high, 1 / b.low))


def _min(a: Range, b: Range) -> Range:
    """``a if a < b else b``: NaN only if b is; and never above b."""
    return Range(min(a.low, b.low), b.high if a.nan else min(a.high, b.high), b.nan)


def _abs(a: Range) -> Range:
    low = 0.0 if a.can_be(0.0) else min(abs(a.low), abs(a.high))
    return Range(low, max(abs(a.low), abs(a.high)), a.nan)


def _whole(a: Range) -> Range:
    return Range(a.low - 1.0, a.high + 1.0, a.nan)


def _either(_: Range, a: Range, b: Range) -> Range:
    return Range(min(a.low, b.low), max(a.high, b.high), a.nan or b.nan)


def _sqrt(a: Range) -> Range:
    return ANYTHING if a.nan or a.low < 0.0 else Range(0.0, a.high + 1.0)


def _wave(a: Range) -> Range:
    return Range(-1.0, 1.0, a.nan or not a.is_finite)


_RULES: dict[str, Callable[..., Range]] = {
    "add": _add,
    "sub": lambda a, b: _add(a, _neg(b)),
    "mul": _mul,
    "fma": lambda a, b, c: _add(_bounded(_mul(a, b)), c),
    "div": _div,
    "neg": _neg,
    "abs": _abs,
    "min": _min,
    "max": lambda a, b: _neg(_min(_neg(a), _neg(b))),
    "floor": _whole,
    "ceil": _whole,
    "trunc": _whole,
    "round": _whole,
    "level": lambda a: Range(0.0, 255.0),
    "level16": lambda a: Range(0.0, 65535.0),
    "half": lambda a: HALF,
    "select": _either,
    "sqrt": _sqrt,
    "exp": lambda a: Range(0.0, math.inf, a.nan),
    "sin": _wave,
    "cos": _wave,
    "tanh": lambda a: Range(-1.0, 1.0, a.nan),
    "atan2": lambda a, b: Range(-4.0, 4.0, a.nan or b.nan),
}
