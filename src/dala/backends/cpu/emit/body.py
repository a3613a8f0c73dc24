"""One body of a pass: its vectors read, buffered and stored, in the arithmetic that was chosen for it.

The inner loop moves over a row one vector at a time. Inputs are read where they lie, and the last vector of
a row may read past its end (into the next row, or into the slack that every array has); what it computes
there is dropped, because the last, partial vector is written through a small buffer. Buffered rows carry
their borders with them, so nothing is clamped in the loop. (body_context.py has the addresses.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dala.backends.cpu.arithmetic.base import CpuArithmetic
from dala.backends.cpu.arithmetic.roll import roll_sums
from dala.backends.cpu.arithmetic.wide import write_averages
from dala.backends.cpu.emit.body_context import Alike, BodyContext
from dala.backends.cpu.emit.channels import alike_planes, roll_channels
from dala.backends.cpu.emit.gathers import Gatherer
from dala.backends.cpu.emit.lanes import LANE, ROW, LaneWriter, count_from
from dala.backends.cpu.emit.packing import can_pack, pack_pixels
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.emit.pixels import (
    Format,
    load_between,
    load_every_second,
    load_repeated,
    pack_level,
    repeat_from,
)
from dala.backends.cpu.emit.prefetch import fetch_ahead
from dala.backends.cpu.emit.row_select import select_rows
from dala.backends.cpu.llvm.text import Code, Type, signed
from dala.backends.cpu.schedule.sweep import Ring, RowBody
from dala.ir.dtypes import F32, S32, U8, U16, DType
from dala.ir.graph import Access, Gather, Node, accesses, in_order, map_nodes


class BodyEmitter(BodyContext):
    """Writes one body into sections: per row, per vector, and for the end of a partial row."""

    def __init__(
        self, owner: PassContext, number: int, body: RowBody, arithmetic: CpuArithmetic
    ) -> None:
        super().__init__(owner, number, body)
        if body.turns > 1:
            self.planes, self.plane = self._turns(), Code(owner.names, f"b{number}.plane")
            self.body = body = body.one_turn
        self.channels = len(body.buffered or body.stores[0].values)
        self.vectors = 1
        self.lanes = arithmetic.lanes(self)
        self.begins_even = owner.image
        self.loaded: dict[tuple[int, int, int, int, bool], list[str]] = {}
        self.gatherer = Gatherer(owner, self.lanes, body.roots, f"%b{number}.x")
        arithmetic.write(self)
        fetch_ahead(self)

    def write_values(self) -> LaneWriter:
        """Every channel as a vector of values."""
        body = self.body
        if planes := alike_planes(self):
            self.planes, self.plane = planes, Code(self.owner.names, f"b{self.number}.plane")
            first = tuple(planes.roots[0])
            self.body = body = replace(body, buffered=first, nodes=in_order(first))
        writer = LaneWriter(self, self.lanes, self.uniform, self.row, self.lane)
        body = select_rows(self, body if planes else self._with_loops(writer))
        # everything is computed before anything is written: an output may be an input, too
        buffered = (
            self._compute(body.buffered, writer, packed=self._buffers_pixels) if body.ring else []
        )
        results = []
        for store in body.stores:
            packed = self.owner.image and self.work.writes[store.write].type.dtype == U8
            results.append(self._compute(store.values, writer, packed=packed))
        if body.ring is not None:
            self._buffer(body.ring, buffered)
        for store, values in zip(body.stores, results, strict=True):
            form = self._format(self.work.writes[store.write].type.dtype, len(store.values))
            form.store(self.lane, self.store_address(store.write, form.pixel_bytes), values)
        return writer

    def _turns(self) -> Alike:
        """The planes that the body computes one after the other, and the planes that it reads for each."""
        inputs, body = len(self.work.reads), self.body
        sources = {a.source for a in accesses(body.roots)} | {inputs + self.number}
        steps = {}
        for source in sources:
            planes = self._ring(source - inputs).planes // body.turns
            steps.update({(source, plane): planes for plane in range(planes)})
        return Alike([[node] for node in body.buffered], steps, frozenset())

    def _with_loops(self, writer: LaneWriter) -> RowBody:
        """The body without the sums that loops compute; those loops are written first."""
        body = self.body
        for write_loops in (write_averages, roll_sums, roll_channels):
            if leaves := write_loops(self, writer):
                break
        else:
            return body
        return body.map(lambda roots: map_nodes(roots, lambda node: node, leaves))

    @property
    def _buffers_pixels(self) -> bool:
        ring = self.body.ring
        return ring is not None and ring.form == "u8" and not ring.planar

    def _compute(self, nodes: Sequence[Node], writer: LaneWriter, *, packed: bool) -> list[str]:
        """The vectors of some channels; for packed RGBA bytes, each already in its byte."""
        if not packed or len(nodes) != 4:
            writer.write(nodes)
            return [writer.vector(n) for n in nodes]
        parts, i32 = [], Type(S32, self.lanes)
        moved: dict[str, int] = {}  # bytes that only pass through stay bytes: words and masks
        computed: dict[int, Node] = {}
        for channel, node in enumerate(nodes):
            words = self._passed_through(node, channel, writer)
            if words is None:
                computed[channel] = node
            else:
                moved[words] = moved.get(words, 0) | 0xFF << (8 * channel)
        if computed and can_pack(self.lane, self.lanes):
            parts.append(pack_pixels(writer, computed))
        else:
            writer.write([*computed.values()])
            for channel, node in computed.items():
                parts.append(pack_level(self.lane, writer.vector(node), channel, self.lanes))
        for words, bits in moved.items():
            mask = self.lane.constant(i32, signed(bits))
            whole = bits == 0xFFFFFFFF
            parts.append(words if whole else self.lane.op(f"and {i32} {words}, {mask}"))
        return parts

    def _passed_through(self, node: Node, channel: int, writer: LaneWriter) -> str | None:
        """The pixels that a byte is taken from, if it is the same channel of them, unchanged."""
        if node.op != "level" or not isinstance(node.args[0].attr, Access | Gather):
            return None
        read, attr = node.args[0], node.args[0].attr
        assert isinstance(attr, Access | Gather)
        if attr.channel != channel or self.form_of(attr.source) != "u8":
            return None
        if self.is_planar(attr.source):
            return None
        if self._source_format(attr.source).channels != 4:
            return None
        if isinstance(attr, Gather):
            writer.write(read.args)
            return self.gatherer.pixels(writer, read)[0]
        address, i32 = self.address_of(attr), Type(S32, self.lanes)
        match self.step_to(attr.source):
            case 0:
                return self.lane.op(f"load {i32}, ptr {address}, align 1")
            case 1:
                return load_every_second(self.lane, address, i32, attr.dx & 1)
            case smaller:
                return load_repeated(self.lane, address, i32, 1 << -smaller)

    # -- reading ---------------------------------------------------------------------------------

    def load(self, code: Code, access: Access) -> str:
        inside = access.source - len(self.work.reads)
        if inside >= 0 and self.form_of(access.source) == "f32":
            return self._load_buffered(code, access, inside)
        return self._load_pixels(code, access, levels=self.form_of(access.source) == "level16")

    def _load_pixels(self, code: Code, access: Access, levels: bool = False) -> str:
        """What lies in memory, or in rows of bytes, as 0..1; or levels of 16 bits."""
        plane = access.channel if self.is_planar(access.source) else 0
        key = (access.source, plane, access.dx, access.dy, levels)
        if key not in self.loaded:
            form, address = (
                self._source_format(access.source, levels),
                self.address_of(access, plane),
            )
            match self.step_to(access.source):
                case 0:
                    self.loaded[key] = form.load(code, address)
                case 1:
                    self.loaded[key] = form.load_every_second(code, address, access.dx & 1)
                case smaller:
                    self.loaded[key] = form.load_repeated(code, address, 1 << -smaller)
        return self.loaded[key][access.channel - plane]

    def load_level(self, code: Code, access: Access, op: str) -> str | None:
        if op == "level16":
            deep = self.is_deep(access.source)
            return self._load_pixels(code, access, levels=True) if deep else None
        if self.form_of(access.source) != "u8" or self.step_to(access.source):
            return None
        plane = access.channel if self.is_planar(access.source) else 0
        form, address = self._source_format(access.source), self.address_of(access, plane)
        return form.load_levels(code, address)[access.channel - plane]

    def _load_buffered(self, code: Code, access: Access, number: int) -> str:
        vector = Type(F32, self.lanes)
        if self._ring(number).blocked:
            address = self._block_address(number, access.channel, access.dy)
            return code.op(f"load {vector}, ptr {address}, align {self._alignment}")
        return self._load_f32(code, self.address_of(access, access.channel), access)

    def load_selected(self, condition: str, first: Access, second: Access) -> str:
        rows = [
            self._plane(a.source - len(self.work.reads), a.channel, a.dy) for a in (first, second)
        ]
        row = self.plane.op(f"select i1 {condition}, ptr {rows[0]}, ptr {rows[1]}")
        return self._load_f32(self.lane, self._address_in(row, first), first)

    def _load_f32(self, code: Code, address: str, access: Access) -> str:
        vector = Type(F32, self.lanes)
        match self.step_to(access.source):
            case 0:
                if self.in_two_lines(access.dx):
                    return load_between(code, address, vector, access.dx)
                align = 4 if access.dx else self._alignment
                return code.op(f"load {vector}, ptr {address}, align {align}")
            case 1:
                return load_every_second(code, address, vector, access.dx & 1)
            case smaller:
                whole = code.op(f"load {vector}, ptr {address}, align 4")
                first = access.dx - self._first_dx(access)
                return repeat_from(code, whole, vector, 1 << -smaller, first)

    def _source_format(self, source: int, levels: bool = False) -> Format:
        inside = source - len(self.work.reads)
        if inside < 0:
            type_ = self.work.reads[source].type
            channels = type_.channels if self.owner.image else 1
            return self._format(type_.dtype, channels, levels=levels)
        if self._ring(inside).form == "level16":
            channels = 1 if self.is_planar(source) else self._ring(inside).channels
            return self._format(U16, channels, levels=levels)
        assert self._ring(inside).form == "u8"
        return self._format(U8, 1 if self.is_planar(source) else self._ring(inside).channels)

    def _format(self, dtype: DType, channels: int, *, levels: bool = False) -> Format:
        return Format(dtype, channels, self.owner.image, self.lanes, levels=levels)

    # -- writing ---------------------------------------------------------------------------------

    def _buffer(self, ring: Ring, values: Sequence[str]) -> None:
        if ring.planar:
            form = self._format(U8 if ring.form == "u8" else U16, 1)
            for plane, value in enumerate(values):
                form.store(self.lane, self.own_address(plane), [value])
            return
        if ring.form == "u8":
            self._format(U8, ring.channels).store(self.lane, self.own_address(0), values)
            return
        vector = Type(F32, self.lanes)
        for channel, value in enumerate(values):
            if ring.blocked:
                address = self._block_address(self.number, channel, 0)
            else:
                address = self.own_address(channel)
            self.lane.line(f"store {vector} {value}, ptr {address}, align {self._alignment}")

    # -- what expressions ask for (Sources) --------------------------------------------------------

    def coord(self, axis: int, code_row: Code, code_lane: Code) -> tuple[str, int]:
        owner = self.owner
        last = 1 if owner.image else len(self.work.shape) - 1
        if axis == last:
            return count_from(code_lane, f"%b{self.number}.x", Type(S32, self.lanes)), LANE
        assert axis < last, "an axis the output does not have"
        row = f"%b{self.number}.r"
        for inner in range(axis + 1, last):
            row = code_row.op(f"udiv i64 {row}, {owner.word(owner.layout.shape + inner, 'i64')}")
        if axis > 0:
            row = code_row.op(f"urem i64 {row}, {owner.word(owner.layout.shape + axis, 'i64')}")
        return code_row.op(f"trunc i64 {row} to i32"), ROW

    def gather(self, writer: LaneWriter, node: Node) -> str:
        return self.gatherer.value(writer, node)
