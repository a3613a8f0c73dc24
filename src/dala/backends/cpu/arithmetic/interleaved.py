"""Colours of 16 bits in f32, as they lie in memory: what is done to all channels alike.

The operations are those of f32, in the same order, so the result is the same to the last bit; only where a
channel stands in a vector is another matter. A vector is as many levels as fit into one of memory, two of
f32. Channels that pass through (alpha) are taken from what they pass from, before the last operations that
both have in common. schedule/interleave.py says which bodies these are.
"""

from __future__ import annotations

from dataclasses import dataclass

from dala.backends.cpu.arithmetic.base import PIXEL, CpuArithmetic, Values
from dala.backends.cpu.arithmetic.wide import write_averages
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, LaneWriter, Sources
from dala.backends.cpu.emit.packing import pack_words
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.emit.pixels import load_between
from dala.backends.cpu.llvm.text import Code, Type
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.channels import interleave
from dala.ir.dtypes import F32, S32, U16
from dala.ir.graph import Access, Node, const, make, map_nodes
from dala.ir.rewrite import LEVELS, WHITE, is_whole


@dataclass(frozen=True)
class InterleavedArithmetic(CpuArithmetic):
    """A body whose rows, and those that it reads, are whole pixels."""

    def suits(self, context: PassContext, body: RowBody) -> bool:
        return body.interleaved

    def lanes(self, body: BodyContext) -> int:
        body.two_vectors = True
        return body.owner.vector_bytes // (PIXEL * U16.bytes)

    def write(self, body: BodyContext) -> None:
        elements = _Elements(body)
        body.body = body.body.map(interleave)
        writer = LaneWriter(elements, elements.lanes, body.uniform, body.row, body.lane)
        leaves = write_averages(body, writer)
        row = body.body.map(lambda roots: map_nodes(roots, lambda node: node, leaves))
        buffered = ""
        if row.ring is not None and row.ring.form == "f32":
            buffered = f"{elements.f32} {_write(writer, _join(writer, row.buffered))}"
        elif row.ring is not None:
            buffered = _words(elements, writer, row.buffered)
        stored = [_words(elements, writer, store.values) for store in row.stores]
        if buffered:
            body.lane.line(f"store {buffered}, ptr {body.own_address(0)}, align 4")
        for store, words in zip(row.stores, stored, strict=True):
            address = body.store_address(store.write, PIXEL * U16.bytes)
            body.lane.line(f"store {words}, ptr {address}, align 1")


INTERLEAVED = InterleavedArithmetic("interleaved", borrows=True)


class _Elements(Sources):
    """What a body reads, every channel of its pixels one after the other."""

    def __init__(self, body: BodyContext) -> None:
        self.body, self.owner = body, body.owner
        self.lanes = PIXEL * body.lanes
        self.f32, self.words = Type(F32, self.lanes), Type(U16, self.lanes)

    def load(self, code: Code, access: Access) -> str:
        if self.body.is_deep(access.source):
            inverse = code.constant(self.f32, LEVELS[U16][1])
            return code.op(f"fmul {self.f32} {self._load_levels(code, access)}, {inverse}")
        if self.body.form_of(access.source) == "level16":
            return self._load_levels(code, access)
        address = self.body.address_of(access)
        if self.body.in_two_lines(PIXEL * access.dx):
            return load_between(code, address, self.f32, PIXEL * access.dx)
        return code.op(f"load {self.f32}, ptr {address}, align 4")

    def load_level(self, code: Code, access: Access, op: str) -> str | None:
        deep = op == "level16" and self.body.is_deep(access.source)
        return self._load_levels(code, access) if deep else None

    def load_words(self, code: Code, access: Access) -> str:
        """Levels as they lie in memory."""
        return code.op(f"load {self.words}, ptr {self.body.address_of(access)}, align 1")

    def _load_levels(self, code: Code, access: Access) -> str:
        wide = Type(S32, self.lanes)
        levels = code.op(f"zext {self.words} {self.load_words(code, access)} to {wide}")
        return code.op(f"sitofp {wide} {levels} to {self.f32}")


def _words(elements: _Elements, writer: LaneWriter, levels: Values) -> str:
    """What is stored of levels, with its type; those that only pass through stay as they are."""
    read = levels[0].args[0].attr if levels[0].op == "level16" else None
    if isinstance(read, Access) and len({*levels}) == 1 and elements.body.is_deep(read.source):
        return f"{elements.words} {elements.load_words(writer.lane, read)}"
    counted = tuple(map(_counted, levels))
    return f"{elements.words} {pack_words(writer, _join(writer, counted))}"


def _counted(level: Node) -> Node:
    """A level that is stored, before it is rounded and clamped."""
    if is_whole(level, U16):
        return level.args[0].args[0].args[0]
    if level.op == "level16" and level.args[0].op != "load":
        return make("mul", level.args[0], const(WHITE[U16], F32))
    return level


def _join(writer: LaneWriter, functions: Values) -> Node:
    """The functions of channels as one; where they differ, a vector of both."""
    first = functions[0]
    if all(f is first for f in functions):
        return first
    if len({(f.op, f.attr, len(f.args)) for f in functions}) == 1:
        columns = [*zip(*(f.args for f in functions), strict=True)]
        differing = [k for k, column in enumerate(columns) if len(set(column)) > 1]
        if len(differing) == 1:
            args = [*first.args]
            args[differing[0]] = _join(writer, columns[differing[0]])
            return Node(first.op, first.dtype, tuple(args), first.attr)
    return _blend(writer, functions)


def _blend(writer: LaneWriter, functions: Values) -> Node:
    """Each channel of its own function."""
    code, t = writer.lane, Type(F32, writer.lanes)
    result = ""
    for function in dict.fromkeys(functions):
        chosen = [functions[k % PIXEL] is function for k in range(writer.lanes)]
        value = _write(writer, function)
        result = code.blend(t, chosen, value, result) if result else value
    leaf = Node("blend", F32)
    writer.names[id(leaf)], writer.rates[id(leaf)] = result, LANE
    return leaf


def _write(writer: LaneWriter, node: Node) -> str:
    writer.write([node])
    return writer.vector(node)
