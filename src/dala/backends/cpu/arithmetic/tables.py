"""Whole chains of point-wise stages as one look-up table.

If every channel a body writes is a function of the same channel of one pixel of bytes, there are only
256 inputs: the expressions, however long, are evaluated once for each, and the pass becomes a look-up of
a vector of bytes at a time. What they read at computed positions (a curve) does not change during a pass.
The table is filled by the same instructions that would have run per pixel, so the result is the same to
the last bit. Needs a machine that permutes bytes, across two whole vectors or at least within 16 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dala.backends.cpu.arithmetic.base import CpuArithmetic, Subject, Values
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.gathers import Gatherer
from dala.backends.cpu.emit.lanes import LaneWriter, Sources, count_from
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Code, Type
from dala.backends.cpu.schedule.cost import cost_of_curve
from dala.backends.cpu.schedule.sweep import Form, RowBody
from dala.ir.channels import reads_own_channels
from dala.ir.dtypes import F32, S32, U8, DType
from dala.ir.graph import Access, Node, accesses, map_nodes, walk
from dala.ir.printer import print_body
from dala.ir.rewrite import LEVELS, is_whole
from dala.plan.fuse import Body, FusedPass

IDENTITY = ""  # the key of a channel that is passed through


@dataclass(frozen=True)
class TableArithmetic(CpuArithmetic):
    """A stage that maps each byte of a pixel to a byte asks to be fused with its kin alone; then every body
    that does so is a look-up, if that is less work on this machine."""

    def match(self, subject: Subject) -> dict[int, Values]:
        if not subject.program.has_one_size or not subject.maps_bytes:
            return {}
        values = subject.program.stages[0].body
        return {0: values} if cost_of_curve(values) >= subject.least_table else {}

    def suits(self, context: PassContext, body: RowBody) -> bool:
        least = context.host.least_table
        if least == math.inf or body.arithmetic.own_body or not context.writes_bytes(body):
            return False
        return _maps_bytes(context, body) and cost_of_curve(body.roots) >= least

    def form(self, body: Body, bytes_wanted: bool) -> Form:
        return super().form(body, bytes_wanted=True)

    def lanes(self, body: BodyContext) -> int:
        return body.owner.vector_bytes // body.channels

    def cost(self, work: FusedPass, body: RowBody) -> float:
        return 0.0  # whatever is in it, memory is slower

    def write(self, body: BodyContext) -> None:
        code, row = body.lane, body.body
        vector = f"<{body.lanes * body.channels} x i8>"
        address = body.address_of(next(accesses(row.roots))._replace(channel=0))
        pixels = code.op(f"load {vector}, ptr {address}, align 1")
        if row.ring is not None:
            result = _map(body, pixels, row.buffered)
            code.line(f"store {vector} {result}, ptr {body.own_address(0)}, align 1")
        for store in row.stores:
            target = body.store_address(store.write, body.channels)
            result = _map(body, pixels, store.values)
            code.line(f"store {vector} {result}, ptr {target}, align 1")


TABLE = TableArithmetic(
    "table", tentative=True, contracts=True, light=True, alike=True, shares_columns=True
)


def _maps_bytes(context: PassContext, body: RowBody) -> bool:
    """Whether each byte that a body writes is a function of the same byte of one pixel."""
    if body.ring is not None and body.ring.form != "u8":
        return False
    channels = context.channels_of_bytes(body.mip)  # of images of the body's own size
    return maps_levels(body, U8, channels)


def maps_levels(body: RowBody, dtype: DType, channels_of: Mapping[int, int]) -> bool:
    """Whether each channel of what a body makes is a function of the same channel of one pixel, as a
    level of a type; ``channels_of`` has the sources that it may come from."""
    results = [s.values for s in body.stores] + ([body.buffered] if body.ring is not None else [])
    if any(n.op == "coord" for n in walk(body.roots)):
        return False
    if not all(_is_level(n, dtype) for values in results for n in values):
        return False
    found = {(a.source, a.dx, a.dy) for a in accesses(body.roots)}
    if len(found) != 1 or any(channels_of.get(source) != body.channels for source, _, _ in found):
        return False
    return all(len(r) == body.channels and reads_own_channels(r) for r in results)


def _is_level(node: Node, dtype: DType) -> bool:
    """Whether a value is a level; bytes that are looked up are not counted in them (counted.py)."""
    return node.op in (LEVELS[dtype][0], "const") or (dtype != U8 and is_whole(node, dtype))


def _map(body: BodyContext, pixels: str, values: Sequence[Node]) -> str:
    code, count = body.lane, body.lanes * body.channels
    vector = f"<{count} x i8>"
    keys = [function_key(node) for node in values]
    result = ""
    for key in dict.fromkeys(keys):
        node = values[keys.index(key)]
        looked_up = pixels if key == IDENTITY else _look_up(body, key, node, pixels)
        if not result:
            result = looked_up
            continue
        chosen = [keys[i % body.channels] == key for i in range(count)]
        result = code.blend(vector, chosen, looked_up, result)
    return result


def _look_up(body: BodyContext, key: str, node: Node, pixels: str) -> str:
    start = body.owner.table(key, 256, partial(fill_table, body.owner, node, U8))
    if body.owner.host.permutes_bytes:
        return _permute(body, start, pixels)
    return _shuffle(body, start, pixels)


def _permute(body: BodyContext, start: str, pixels: str) -> str:
    """256 entries are four vectors; two permutations look into two of them each."""
    code, vector = body.lane, "<64 x i8>"
    parts = []
    for quarter in range(4):
        address = body.uniform.op(f"getelementptr i8, ptr {start}, i64 {64 * quarter}")
        parts.append(body.row.op(f"load {vector}, ptr {address}, align 64"))
    halves = [isa.permute_bytes(code, a, pixels, b) for a, b in (parts[:2], parts[2:])]
    upper = code.op(f"icmp slt {vector} {pixels}, zeroinitializer")
    return code.op(f"select <64 x i1> {upper}, {vector} {halves[1]}, {vector} {halves[0]}")


def _shuffle(body: BodyContext, start: str, pixels: str) -> str:
    """256 entries are 16 rows of 16; each byte finds its entry in one of them, and 0 in the others.

    A shuffle gives 0 for bytes from 128 on. So a byte b looks into row r at b ⊕ 16·r, plus 112 without
    overflow: 112 to 127 if its upper half is r, else 128 and more.
    """
    code, count = body.lane, body.owner.vector_bytes
    vector = f"<{count} x i8>"
    found = ""
    for row in range(16):
        address = body.uniform.op(f"getelementptr i8, ptr {start}, i64 {16 * row}")
        entries = body.row.op(f"load <16 x i8>, ptr {address}, align 16")
        table = body.row.shuffle("<16 x i8>", entries, [i % 16 for i in range(count)])
        mine = code.op(f"xor {vector} {pixels}, splat (i8 {16 * row})") if row else pixels
        name = f"llvm.uadd.sat.v{count}i8"
        index = code.call(vector, name, vector, [mine, "splat (i8 112)"])
        part = isa.shuffle_bytes(code, count, table, index)
        found = code.op(f"or {vector} {found}, {part}") if found else part
    return found


def function_key(node: Node) -> str:
    """Equal keys: the same function of a level, whichever channel it is for."""
    if node.op in ("level", "level16") and node.args[0].op == "load":
        return IDENTITY

    def same_channel(n: Node) -> Node:
        return replace(n, attr=n.attr._replace(channel=0)) if isinstance(n.attr, Access) else n

    return "\n".join(print_body(map_nodes([node], same_channel)))


class _Level(Sources):
    """The input of a table: the levels of a type, from 0 on, a vector at a time."""

    def __init__(self, owner: PassContext, index: str, node: Node, dtype: DType) -> None:
        self.owner = owner
        self.index = index
        self.inverse = LEVELS[dtype][1]
        self.gatherer = Gatherer(owner, owner.lanes, [node])

    def load(self, code: Code, access: Access) -> str:
        f32, i32 = Type(F32, self.owner.lanes), Type(S32, self.owner.lanes)
        level = code.op(f"sitofp {i32} {count_from(code, self.index, i32)} to {f32}")
        return code.op(f"fmul {f32} {level}, {code.constant(f32, self.inverse)}")

    def gather(self, writer: LaneWriter, node: Node) -> str:
        return self.gatherer.value(writer, node)


def fill_table(owner: PassContext, node: Node, dtype: DType, code: Code, start: str) -> None:
    """The loop that computes the entries of one table: what ``node`` is for each level of a type."""
    f32, i32, small = (Type(d, owner.lanes) for d in (F32, S32, dtype))

    def entries(inner: Code, index: str, _: list[str]) -> list[str]:
        levels = _Level(owner, index, node, dtype)
        writer = LaneWriter(levels, owner.lanes, owner.uniform, inner, inner)
        writer.write([node])
        whole = inner.op(f"fptosi {f32} {writer.vector(node)} to {i32}")
        narrow = inner.op(f"trunc {i32} {whole} to {small}")
        address = inner.op(f"getelementptr {small.element}, ptr {start}, i64 {index}")
        inner.line(f"store {small} {narrow}, ptr {address}, align {dtype.bytes}")
        return []

    code.repeat(1 << 8 * dtype.bytes, owner.lanes, [], entries)
