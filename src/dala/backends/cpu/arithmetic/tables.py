"""Whole chains of point-wise stages as one look-up table.

If every channel a body writes is a function of the same channel of one pixel of bytes, there are only
256 inputs: the expressions, however long, are evaluated once for each, and the pass becomes a look-up of
a vector of bytes at a time. What they read at computed positions (a curve) does not change during a pass.
The table is filled by the same instructions that would have run per pixel, so the result is the same to
the last bit. Needs a machine that permutes bytes, across two whole vectors or at least within 16 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.gathers import Gatherer
from dala.backends.cpu.emit.lanes import LaneWriter, Sources
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.text import Code, Type
from dala.backends.cpu.schedule.sweep import RowBody
from dala.backends.cpu.schedule.weight import weigh_curve
from dala.ir.dtypes import F32, S32, U8, DType
from dala.ir.graph import Access, Node, accesses, map_nodes, walk
from dala.ir.printer import print_body
from dala.ir.rewrite import LEVELS

IDENTITY = ""  # the key of a channel that is passed through


@dataclass(frozen=True, slots=True)
class ByteMap:
    """A body that maps bytes to bytes: where they come from."""

    access: Access
    channels: int


def byte_map_of(context: PassContext, body: RowBody) -> ByteMap | None:
    """The byte map that a body is, if looking bytes up is less work on this machine."""
    least = context.host.least_table
    if not context.writes_bytes(body) or least == math.inf:
        return None
    found = find_byte_map(body, context.channels_of_bytes(body.grid))
    return found if found and weigh_curve(body.roots) >= least else None


def find_byte_map(body: RowBody, channels_of_bytes: dict[int, int]) -> ByteMap | None:
    """The byte map that a body is, if it is one; sources of bytes and their channels are given."""
    if body.way.alone or (body.ring is not None and body.ring.form != "u8"):
        return None
    results = [s.values for s in body.stores] + ([body.held] if body.ring is not None else [])
    access = only_access(body, results, "level", channels_of_bytes)
    return ByteMap(access, channels_of_bytes[access.source]) if access else None


def only_access(
    body: RowBody, results: Sequence[Sequence[Node]], level: str, channels_of: dict[int, int]
) -> Access | None:
    """The pixel that a body reads, if each channel of its results is a function of the same channel of that
    one alone, as a ``level`` of its type; ``channels_of`` has the sources that it may come from.
    """
    if any(n.op == "coord" for n in walk(body.roots)):
        return None
    if any(n.op not in (level, "const") for values in results for n in values):
        return None
    found = {(a.source, a.dx, a.dy) for a in accesses(body.roots)}
    if len(found) != 1:
        return None
    source, dx, dy = found.pop()
    channels = channels_of.get(source)  # of images of the body's own size
    for values in results:
        if len(values) != channels:
            return None
        for channel, node in enumerate(values):
            if any(a.channel != channel for a in accesses([node])):
                return None
    return Access(source, 0, dx, dy)


def write_byte_map(body: BodyContext, byte_map: ByteMap) -> None:
    """Look every byte up and store it."""
    code, count = body.lane, body.lanes * byte_map.channels
    vector = f"<{count} x i8>"
    place = body.place_of(byte_map.access)
    pixels = code.op(f"load {vector}, ptr {place}, align 1")
    if body.body.ring is not None:
        result = _map(body, byte_map, pixels, body.body.held)
        code.line(f"store {vector} {result}, ptr {body.own_place(0)}, align 1")
    for store in body.body.stores:
        target = body.store_place(store.write, byte_map.channels)
        result = _map(body, byte_map, pixels, store.values)
        code.line(f"store {vector} {result}, ptr {target}, align 1")


def _map(body: BodyContext, byte_map: ByteMap, pixels: str, values: Sequence[Node]) -> str:
    code, count = body.lane, body.lanes * byte_map.channels
    vector = f"<{count} x i8>"
    keys = [function_key(node) for node in values]
    result = ""
    for key in dict.fromkeys(keys):
        node = values[keys.index(key)]
        looked_up = pixels if key == IDENTITY else _look_up(body, key, node, pixels)
        if not result:
            result = looked_up
            continue
        chosen = ", ".join(
            f"i1 {str(keys[i % byte_map.channels] == key).lower()}" for i in range(count)
        )
        result = code.op(
            f"select <{count} x i1> <{chosen}>, {vector} {looked_up}, {vector} {result}"
        )
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
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    halves = [code.call(vector, name, vector, [a, pixels, b]) for a, b in (parts[:2], parts[2:])]
    upper = code.op(f"icmp slt {vector} {pixels}, zeroinitializer")
    return code.op(f"select <64 x i1> {upper}, {vector} {halves[1]}, {vector} {halves[0]}")


def _shuffle(body: BodyContext, start: str, pixels: str) -> str:
    """256 entries are 16 rows of 16; each byte finds its entry in one of them, and 0 in the others.

    A shuffle gives 0 for bytes from 128 on. So a byte b looks into row r at b ⊕ 16·r, plus 112 without
    overflow: 112 to 127 if its upper half is r, else 128 and more.
    """
    code, count = body.lane, body.owner.vector_bytes
    vector = f"<{count} x i8>"
    repeated = ", ".join(f"i32 {i % 16}" for i in range(count))
    found = ""
    for row in range(16):
        address = body.uniform.op(f"getelementptr i8, ptr {start}, i64 {16 * row}")
        entries = body.row.op(f"load <16 x i8>, ptr {address}, align 16")
        table = body.row.op(
            f"shufflevector <16 x i8> {entries}, <16 x i8> poison, <{count} x i32> <{repeated}>"
        )
        mine = code.op(f"xor {vector} {pixels}, splat (i8 {16 * row})") if row else pixels
        name = f"llvm.uadd.sat.v{count}i8"
        index = code.call(vector, name, vector, [mine, "splat (i8 112)"])
        part = code.call(vector, _SHUFFLES[count], vector, [table, index])
        found = code.op(f"or {vector} {found}, {part}") if found else part
    return found


_SHUFFLES = {
    16: "llvm.x86.ssse3.pshuf.b.128",
    32: "llvm.x86.avx2.pshuf.b",
    64: "llvm.x86.avx512.pshuf.b.512",
}


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
        start = code.splat(i32, code.op(f"trunc i64 {self.index} to i32"))
        steps = ", ".join(f"i32 {i}" for i in range(self.owner.lanes))
        level = code.op(f"sitofp {i32} {code.op(f'add {i32} {start}, <{steps}>')} to {f32}")
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
        place = inner.op(f"getelementptr {small.element}, ptr {start}, i64 {index}")
        inner.line(f"store {small} {narrow}, ptr {place}, align {dtype.bytes}")
        return []

    code.repeat(1 << 8 * dtype.bytes, owner.lanes, [], entries)
