"""The taps of an average in memory: weights once per pass, addresses once per row.

A wide window is then a loop over taps instead of pages of text, which LLVM would take longer to compile
than most pictures take to blur.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LaneWriter, Sources
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32, S64
from dala.ir.graph import Access, Node, const, make
from dala.ir.merge import Layers, merge_layers
from dala.ir.printer import print_body


def weight_table(body: BodyContext, weights: Sequence[Node]) -> str:
    """Where the weights are, as f32 shares of their sum, which is taken in this order."""
    owner, count = body.owner, len(weights)
    columns: list[list[float]] = []
    merged = merge_layers(tuple(weights), partial(_meet, columns), {})
    if merged is None:  # weights that have nothing in common: one by one
        writer = LaneWriter(body, 0, body.uniform, body.row, body.lane)
        writer.write(weights)
        names = tuple(writer.names[id(w)] for w in weights)
        key, fill = ("shares", *names), partial(_store_each, names)
    else:
        key = ("shares", str(columns), *print_body((merged,)))
        fill = partial(_store_merged, _Columns(owner, columns), merged, count)
    start = owner.table(key, 4 * count + owner.vector_bytes, fill)
    owner.table((*key, "divided"), 0, partial(_divide_by_sum, start, count))
    return start


def _meet(columns: list[list[float]], nodes: Layers) -> Node | Layers | None:
    """What nodes that differ in constants alone become; the constants, a column."""
    first = nodes[0]
    if all(n is first for n in nodes):
        return first
    if all(n.op == "const" and n.dtype == F32 for n in nodes):
        columns.append([float(n.attr) for n in nodes if isinstance(n.attr, float | int)])
        return Node("load", F32, (), Access(len(columns) - 1))
    if any(n.dtype != first.dtype for n in nodes):
        return None
    if any(_is_scaled(n) for n in nodes):  # what was multiplied by 1 has been simplified
        nodes = tuple(n if _is_scaled(n) else make("mul", n, const(1.0, F32)) for n in nodes)
        first = nodes[0]
    if any((n.op, n.attr, len(n.args)) != (first.op, first.attr, len(first.args)) for n in nodes):
        return None
    return nodes


def _is_scaled(node: Node) -> bool:
    return node.op == "mul" and node.args[1].op == "const" and node.dtype == F32


class _Columns(Sources):
    """The input of a table of weights: constants that differ from tap to tap, a vector at a time."""

    def __init__(self, owner: PassContext, columns: list[list[float]]) -> None:
        self.owner, self.index = owner, ""
        padding = [0.0] * owner.lanes
        self.names = [owner.constants(Type(F32), [*c, *padding]) for c in columns]

    def load(self, code: Code, access: Access) -> str:
        start = self.names[access.source]
        address = code.op(f"getelementptr float, ptr {start}, i64 {self.index}")
        return code.op(f"load {Type(F32, self.owner.lanes)}, ptr {address}, align 4")


def _store_merged(columns: _Columns, node: Node, count: int, code: Code, start: str) -> None:
    owner = columns.owner
    vector = Type(F32, owner.lanes)

    def evaluate(inner: Code, index: str, _: list[str]) -> list[str]:
        columns.index = index
        writer = LaneWriter(columns, owner.lanes, owner.uniform, inner, inner)
        writer.write([node])
        address = inner.op(f"getelementptr float, ptr {start}, i64 {index}")
        inner.line(f"store {vector} {writer.vector(node)}, ptr {address}, align 4")
        return []

    code.repeat(count, owner.lanes, [], evaluate)


def _store_each(weights: Sequence[str], code: Code, start: str) -> None:
    for number, weight in enumerate(weights):
        address = code.op(f"getelementptr float, ptr {start}, i64 {number}")
        code.line(f"store float {weight}, ptr {address}, align 4")


def _divide_by_sum(start: str, count: int, code: Code, _: str) -> None:
    def weight_at(inner: Code, index: str) -> tuple[str, str]:
        address = inner.op(f"getelementptr float, ptr {start}, i64 {index}")
        weight = inner.op(f"load float, ptr {address}, align 4")
        above = inner.op(f"fcmp ogt float {weight}, 0.0")
        return address, inner.op(f"select i1 {above}, float {weight}, float 0.0")

    def add(inner: Code, index: str, total: list[str]) -> list[str]:
        return [inner.op(f"fadd float {total[0]}, {weight_at(inner, index)[1]}")]

    def divide(inner: Code, index: str, _: list[str]) -> list[str]:
        address, weight = weight_at(inner, index)
        share = inner.op(f"fdiv float {weight}, {total}")
        inner.line(f"store float {share}, ptr {address}, align 4")
        return []

    (total,) = code.repeat(count, 1, [("float", "0.0")], add)
    code.repeat(count, 1, [], divide)


def tap_addresses(body: BodyContext, taps: Sequence[Access]) -> str:
    """Where the addresses of the taps (all of one source) in its rows are, at the first column."""
    source = taps[0].source
    start, stride, depth, pixel_bytes = body.rows_of(source)
    assert body.step_to(source) == 0, "loops over taps read images of their own size"
    first_row, last_row = body.row_range(source)
    moves = [move for t in taps for move in (t.dy, t.dx * pixel_bytes)]
    table = body.owner.constants(Type(S64), moves)
    addresses = body.owner.scratch(8 * len(taps))

    def find(code: Code, index: str, _: list[str]) -> list[str]:
        pair = code.op(f"getelementptr [2 x i64], ptr {table}, i64 {index}")
        down = code.op(f"load i64, ptr {pair}, align 8")
        across = code.op(
            f"load i64, ptr {code.op(f'getelementptr i64, ptr {pair}, i64 1')}, align 8"
        )
        row = code.op(f"add i64 %b{body.number}.r, {down}")
        row = code.add(code.least(code.largest(row, first_row), last_row), -first_row)
        if depth:
            row = code.op(f"urem i64 {row}, {depth}")
        first = code.op(f"getelementptr i8, ptr {start}, i64 {code.op(f'mul i64 {row}, {stride}')}")
        address = code.op(f"getelementptr i8, ptr {first}, i64 {across}")
        slot = code.op(f"getelementptr ptr, ptr {addresses}, i64 {index}")
        code.line(f"store ptr {address}, ptr {slot}, align 8")
        return []

    body.row.repeat(len(taps), 1, [], find)
    return addresses
