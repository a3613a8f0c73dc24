"""Long sums of like terms that gather pixels, as loops.

``t0 + t1 + t2 + …``, where the terms are the same but for values that need no pixel (a row's number, a
weight): those values are computed first and put into a column in memory; the loop reads the column and
computes one term after another. The operations and their order stay, so the result is the same to the
last bit; the text is as long as one term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, ROW, LaneWriter
from dala.backends.cpu.llvm.spelling import spell
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32
from dala.ir.graph import Node
from dala.ir.merge import Layers, Merged, merge_layers

LONG_BODY = 250  # nodes; smaller bodies compile fast enough as they are
LONG_SUM = 4  # terms


@dataclass
class Sum:
    """A sum from its last addition down: the operands of each addition besides the sum so far."""

    last: Node
    op: str  # "add" or "fma"
    terms: list[tuple[Node, ...]]


@dataclass
class Merging:
    """What the terms of some sums have in common."""

    gathering: set[int]  # nodes that need a gather
    columns: list[tuple[Node, Layers]] = field(default_factory=list)
    shared: list[Node] = field(default_factory=list)  # the same in all terms
    known: Merged = field(default_factory=dict)

    def merge(self, nodes: Layers) -> Node | None:
        """One node for all, if they differ only in what needs no gather."""
        return merge_layers(nodes, self._meet, self.known)

    def _meet(self, nodes: Layers) -> Node | Layers | None:
        first = nodes[0]
        if all(n is first for n in nodes):
            self.shared.append(first)
            return first
        if any(n.dtype != first.dtype for n in nodes) or first.dtype.kind == "b":
            return None
        if not any(id(n) in self.gathering for n in nodes):
            leaf = Node("column", first.dtype)
            self.columns.append((leaf, nodes))
            return leaf
        if any(
            (n.op, n.attr, len(n.args)) != (first.op, first.attr, len(first.args)) for n in nodes
        ):
            return None
        return nodes


def roll_sums(body: BodyContext, writer: LaneWriter) -> dict[int, Node]:
    """Write the long sums of a body as loops: the leaves, already written, that stand for them."""
    nodes, leaves = body.body.nodes, dict[int, Node]()
    if len(nodes) < LONG_BODY or all(n.op != "gather" for n in nodes):
        return leaves
    gathering: set[int] = set()
    for node in nodes:
        if node.op == "gather" or any(id(a) in gathering for a in node.args):
            gathering.add(id(node))
    by_length: dict[tuple[str, int], list[Sum]] = {}
    for found in _find_sums(body.body.roots, gathering):
        by_length.setdefault((found.op, len(found.terms)), []).append(found)
    for sums in by_length.values():
        for found, total in zip(sums, _write_loop(body, writer, sums, gathering), strict=False):
            leaf = leaves[id(found.last)] = Node("sum", F32)
            writer.names[id(leaf)], writer.rates[id(leaf)] = total, LANE
    return leaves


def _find_sums(roots: Sequence[Node], gathering: set[int]) -> list[Sum]:
    """The outermost long sums."""
    found: list[Sum] = []
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) in seen or id(node) not in gathering:
            continue
        seen.add(id(node))
        total = _sum_at(node)
        if total is not None and len(total.terms) >= LONG_SUM:
            found.append(total)
        else:
            stack += node.args
    return found[::-1]


def _sum_at(node: Node) -> Sum | None:
    if node.op not in ("add", "fma") or node.dtype != F32:
        return None
    terms, here = [], node
    while here.op == node.op:
        *_, so_far = here.args if node.op == "fma" else here.args[::-1]
        terms.append(here.args[:2] if node.op == "fma" else here.args[1:])
        here = so_far
    if node.op == "add":
        terms.append((here,))
    elif here.op == "mul":  # the first product: added to -0.0 it stays itself
        terms.append(here.args)
    else:
        return None
    return Sum(node, node.op, terms[::-1])


def _write_loop(
    body: BodyContext, writer: LaneWriter, sums: Sequence[Sum], gathering: set[int]
) -> list[str]:
    """The totals of sums of one length, or nothing if their terms are not alike."""
    merging, count = Merging(gathering), len(sums[0].terms)
    merged: list[list[Node]] = []
    for found in sums:
        operands = [merging.merge(column) for column in zip(*found.terms, strict=True)]
        if any(o is None for o in operands):
            return []
        merged.append([o for o in operands if o is not None])
    writer.write(merging.shared)
    columns = [(leaf, _store_column(body, writer, n)) for leaf, n in merging.columns]
    body.gatherer.expect([o for operands in merged for o in operands])
    vector = Type(F32, body.lanes)

    def add_terms(code: Code, index: str, totals: list[str]) -> list[str]:
        inner = LaneWriter(body, body.lanes, body.uniform, code, code)
        inner.names, inner.rates = dict(writer.names), dict(writer.rates)
        for leaf, (start, rate) in columns:
            element = Type(leaf.dtype, body.lanes if rate == LANE else 0)
            inner.names[id(leaf)] = _load_column(code, element, start, index)
            inner.rates[id(leaf)] = max(rate, ROW)  # it changes in this loop, if not along a row
        results = []
        for found, operands, total in zip(sums, merged, totals, strict=True):
            inner.write(operands)
            args = [inner.vector(o) for o in operands]
            args = [*args, total] if found.op == "fma" else [total, *args]
            results.append(spell(code, found.op, vector, vector, args))
        return results

    zero = body.lane.constant(vector, -0.0)
    return body.lane.repeat(count, 1, [(str(vector), zero)] * len(sums), add_terms)


def _store_column(body: BodyContext, writer: LaneWriter, nodes: Sequence[Node]) -> tuple[str, int]:
    """Where the values of a column are, and their rate: numbers for a row, or vectors."""
    writer.write(nodes)
    rate = max(writer.rates[id(n)] for n in nodes)
    element = Type(nodes[0].dtype, body.lanes if rate == LANE else 0)
    code = body.lane if rate == LANE else body.row
    start = body.owner.scratch(len(nodes) * nodes[0].dtype.bytes * (element.lanes or 1))
    for number, node in enumerate(nodes):
        value = writer.vector(node) if rate == LANE else writer.names[id(node)]
        address = code.op(f"getelementptr {element}, ptr {start}, i64 {number}")
        code.line(f"store {element} {value}, ptr {address}, align {nodes[0].dtype.bytes}")
    return start, rate


def _load_column(code: Code, element: Type, start: str, index: str) -> str:
    address = code.op(f"getelementptr {element}, ptr {start}, i64 {index}")
    return code.op(f"load {element}, ptr {address}, align {element.dtype.bytes}")
