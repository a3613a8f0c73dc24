"""Between which numbers a uniform value lies, from the bounds that its parameters declare.

A parameter is checked against its range at every call, so the range is a fact a compiler may use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dala.ir.graph import Node, RuntimeParam, walk


class Bounds(NamedTuple):
    """Between which numbers a value lies."""

    low: float
    high: float

    @property
    def largest(self) -> float:
        """How far from zero it may be."""
        return max(abs(self.low), abs(self.high))

    def plus(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    def times(self, other: Bounds) -> Bounds:
        return _around([a * b for a in self for b in other])


UNBOUNDED = Bounds(-math.inf, math.inf)


def find_bounds(root: Node, params: Sequence[RuntimeParam]) -> Bounds:
    """Of a uniform value; infinite where nothing is known."""
    known: dict[int, Bounds] = {}
    for node in walk([root]):
        args = [known[id(a)] for a in node.args]
        known[id(node)] = _bounds_of(node, args, params)
    return known[id(root)]


def _bounds_of(node: Node, args: list[Bounds], params: Sequence[RuntimeParam]) -> Bounds:
    match node.op, node.attr:
        case "const", float(number):
            return Bounds(number, number)
        case "param", int(number):
            return Bounds(params[number].low, params[number].high)
        case "add", _:
            return args[0].plus(args[1])
        case "sub", _:
            return args[0].plus(Bounds(-args[1].high, -args[1].low))
        case "neg", _:
            return Bounds(-args[0].high, -args[0].low)
        case "mul", _:
            return args[0].times(args[1])
        case "sin" | "cos", _:
            return Bounds(-1.0, 1.0)
    return UNBOUNDED


def _around(ends: list[float]) -> Bounds:
    if any(math.isnan(end) for end in ends):  # nothing times something without bounds
        return UNBOUNDED
    return Bounds(min(ends), max(ends))
