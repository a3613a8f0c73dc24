"""Colours counted in levels, 0..255 of bytes or 0..65535 of 16 bits, where a kernel speaks of 0..1.

Reading a u8 image multiplies every channel by 1/255, and storing multiplies it by 255 again. Most kernels
mean the same without: what is added, scaled, or a minimum or maximum, may as well be 255 times as large. So
every value gets a count: 1, if it stands for 255 times the kernel's value, else 0. Constants and parameters
are scaled to what they meet, once per pass; where two counted values are multiplied, one is scaled back.

It changes the last digit of f32, so it is done to a kernel's own program, and only if no jump (a
comparison, a whole part) could turn that into more.

In a kernel of u16 images what lies between its stages is counted, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import NamedTuple

from dala.backends.cpu.arithmetic.extrema import are_extrema
from dala.ir.dtypes import DType
from dala.ir.graph import Access, Node, const, make, walk
from dala.ir.rewrite import LEVELS, WHITE, normalized_whole

ALIKE = frozenset({"add", "sub", "min", "max"})  # operands and result have one count
KEPT = frozenset({"neg", "abs"})  # the result has the operand's
FUNCTIONS = frozenset({"sqrt", "exp", "log", "sin", "cos", "tanh", "pow"})  # of 0..1
SMOOTH = ALIKE | KEPT | FUNCTIONS | {"mul", "load"}


class Counted(NamedTuple):
    """Sources that are counted in levels of a type: images of it, and stages that are counted, too."""

    dtype: DType
    images: Container[int]
    stages: Container[int] = ()

    def of(self, source: int) -> bool:
        return source in self.images or source in self.stages


def count_in_levels(
    body: tuple[Node, ...], counted: Counted, *, stored: bool = True
) -> tuple[Node, ...]:
    """A stage with some sources counted in levels; what is ``stored`` is rounded."""
    if stored and are_extrema(body):  # needs no numbers at all
        return body
    colored = _find_colored(body)
    if not colored and stored:
        return body
    return body if colored is None else _Counting(body, colored, counted).results(body, stored)


def can_count(body: tuple[Node, ...]) -> bool:
    """Whether a stage may be counted, whoever reads it."""
    return not are_extrema(body) and _find_colored(body) is not None


def _find_colored(body: tuple[Node, ...]) -> set[int] | None:
    """What depends on a load; None if a jump does."""
    colored: set[int] = set()
    for node in walk(body):
        if node.op == "load" or not colored.isdisjoint(map(id, node.args)):
            colored.add(id(node))
            if not _is_smooth(node):
                return None
    return colored


def _is_smooth(node: Node) -> bool:
    """Whether a small change of the arguments makes a small change of the result."""
    if node.op != "div":
        return node.op in SMOOTH
    below = node.args[1]
    bound = below.args[1] if below.op == "max" else below  # far from zero, whatever the colour
    return isinstance(bound.attr, float) and bound.attr > 0


class _Counting:
    """Rewrites every node of a body, and notes its count."""

    def __init__(self, body: tuple[Node, ...], colored: Container[int], counted: Counted) -> None:
        self.colored, self.counted = colored, counted
        self.counts: dict[int, int] = {}  # of what is not uniform
        self.done: dict[int, Node] = {}
        self.scaled: dict[tuple[int, int], Node] = {}
        nodes = walk(body)
        self.factors = Counter(id(a) for n in nodes if n.op == "mul" for a in n.args)
        for node in nodes:
            self.done[id(node)] = self._rewrite(node)

    def results(self, body: tuple[Node, ...], stored: bool) -> tuple[Node, ...]:
        if not stored:
            return tuple(self._as(node, 1) for node in body)
        return tuple(
            node
            if self._is_image(node) or id(node) not in self.colored
            else normalized_whole(self._as(node, 1), self.counted.dtype)
            for node in body
        )

    def _is_image(self, node: Node) -> bool:
        """Whether it is read from memory, as 0..1."""
        return isinstance(node.attr, Access) and node.attr.source not in self.counted.stages

    def _rewrite(self, node: Node) -> Node:
        """The node on its rewritten arguments; its count is noted."""
        if id(node) not in self.colored:
            if node.op in ("coord", "gather") or self._counts(node):
                self.counts[id(node)] = 0
            return node
        if node.op == "load":
            assert isinstance(node.attr, Access)
            self.counts[id(node)] = int(self.counted.of(node.attr.source))
            in_image = node.attr.source in self.counted.images
            return make(LEVELS[self.counted.dtype][0], node) if in_image else node
        wanted, self.counts[id(node)] = self._choose(node)
        args = [self._as(a, count) for a, count in zip(node.args, wanted, strict=True)]
        if node.op == "sub" and args[0].op == "mul":  # a sum: what becomes one multiply-add
            return make("add", args[0], make("neg", args[1]))
        return Node(node.op, node.dtype, tuple(args), node.attr)

    def _counts(self, node: Node) -> list[int]:
        """The counts of the arguments that are not uniform."""
        return [self.counts[id(a)] for a in node.args if id(a) in self.counts]

    def _choose(self, node: Node) -> tuple[list[int], int]:
        """The counts that the arguments should have, and that of the result."""
        found = self._counts(node)
        if node.op in ALIKE or node.op in KEPT:
            return [max(found)] * len(node.args), max(found)
        if node.op == "mul":
            wanted = [self.counts.get(id(a), 0) for a in node.args]
            if sum(wanted) == 2:  # what is a factor elsewhere, too, is scaled back for all of them
                uses = [self.factors[id(a)] for a in node.args]
                wanted[uses.index(max(uses))] = 0
            return wanted, sum(wanted)
        if node.op == "div":
            above, below = (self.counts.get(id(a)) for a in node.args)
            if below == 1:
                return [1, 1] if above in (None, 1) else [0, 0], 0
            return [above or 0, 0], above or 0
        return [0] * len(node.args), 0

    def _as(self, node: Node, count: int) -> Node:
        """A value with the wanted count."""
        uniform, has = id(node) not in self.counts, self.counts.get(id(node), 0)
        if has == count:
            return self.done[id(node)]
        if not count and self._is_image(node):
            return node
        key = (id(node), count)
        if key not in self.scaled:
            factor = WHITE[self.counted.dtype] if count else LEVELS[self.counted.dtype][1]
            if uniform and isinstance(node.attr, float):
                self.scaled[key] = const(node.attr * factor, node.dtype)
            else:
                self.scaled[key] = make("mul", self.done[id(node)], const(factor, node.dtype))
        return self.scaled[key]
