"""One body of a pass: where its rows are read, held and stored.

The inner loop moves over a row one vector at a time. Inputs are read in place, and the last vector of a
row may read past its end (into the next row, or into the slack that every array has); what it computes
there is dropped, because the last, partial vector is written through a small buffer. Held rows carry
their borders with them, so nothing is clamped in the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dala.backends.cpu.channels import Alike, alike_planes, roll_channels
from dala.backends.cpu.code import Code, Type
from dala.backends.cpu.dot import write_dot
from dala.backends.cpu.either import choose_rows
from dala.backends.cpu.extrema import write_extrema
from dala.backends.cpu.fixed import vectors_at_once, write_fixed
from dala.backends.cpu.gain import write_gain
from dala.backends.cpu.gathers import Gatherer
from dala.backends.cpu.lanes import (
    LANE,
    ROW,
    Format,
    LaneWriter,
    Sources,
    load_every_second,
    load_repeated,
    pack_level,
    repeat_from,
)
from dala.backends.cpu.repeats import compare_rows
from dala.backends.cpu.roll import roll_sums
from dala.backends.cpu.rows import Form, Ring, RowBody
from dala.backends.cpu.tables import write_byte_map
from dala.backends.cpu.ways import DOT, FIXED, GAIN, REPEATED
from dala.backends.cpu.wide import write_averages
from dala.ir.dtypes import F32, S32, U8, DType
from dala.ir.graph import Access, Extent, Gather, Node, in_order, map_nodes

if TYPE_CHECKING:
    from dala.backends.cpu.emit import PassEmitter


class BodyEmitter(Sources):
    """Writes one body into sections: per row, per vector, and for the end of a partial row."""

    def __init__(self, owner: PassEmitter, number: int, body: RowBody) -> None:
        self.owner, self.number, self.body = owner, number, body
        self.work = owner.work
        self.uniform = owner.uniform
        self.row = Code(owner.names, f"b{number}.row")
        self.lane = Code(owner.names, f"b{number}.loop")
        self.plane = self.row  # once per plane, if the body is a loop over planes
        self.planes: Alike | None = None
        self.tail_out = Code(owner.names)
        self.channels = len(body.held or body.stores[0].values)
        self.extrema = owner.extrema(body)
        self.byte_map = None if self.extrema else owner.byte_map(body)
        self.lanes = owner.lanes  # pixels per vector
        if self.extrema:
            self.lanes = owner.vector_bytes // self.extrema
        elif self.byte_map is not None:
            self.lanes = owner.vector_bytes // self.byte_map.channels
        elif body.way == GAIN:
            self.lanes = owner.vector_bytes // self.channels
        self.vectors = vectors_at_once(body, self.channels) if body.way == FIXED else 1
        if body.way == FIXED:  # of grey pixels, twice as many fit into 16-bit lanes
            self.lanes = owner.lanes * self.vectors * (2 if self.channels == 1 else 1)
        self.places: dict[tuple[int, int], str] = {}
        self.loaded: dict[tuple[int, int, int], list[str]] = {}
        self.gatherer = Gatherer(owner, self.lanes, body.roots)
        self.mine = ""  # whether this row is ours to store
        self.unchanged = "false"  # whether the row that is held is this one already
        self.write()

    def write(self) -> None:
        body = self.body
        if body.way == FIXED:
            write_fixed(self)
            return
        if body.way == GAIN:
            write_gain(self)
            return
        if body.way == DOT:
            write_dot(self)
            return
        if self.extrema:
            write_extrema(self, self.extrema)
            return
        if self.byte_map is not None:
            write_byte_map(self, self.byte_map)
            return
        if planes := alike_planes(self):
            self.planes, self.plane = planes, Code(self.owner.names, f"b{self.number}.plane")
            first = tuple(planes.roots[0])
            self.body = body = replace(body, held=first, nodes=in_order(first))
        writer = LaneWriter(self, self.lanes, self.uniform, self.row, self.lane)
        body = choose_rows(self, body if planes else self._with_loops(writer))
        # everything is computed before anything is written: an output may be an input, too
        held = self._compute(body.held, writer, packed=self._holds_bytes) if body.ring else []
        results = []
        for store in body.stores:
            packed = self.owner.image and self.work.writes[store.write].type.dtype == U8
            results.append(self._compute(store.values, writer, packed=packed))
        if body.ring is not None:
            self._hold(body.ring, held)
        if body.way == REPEATED:
            self.unchanged = compare_rows(self, writer)
        for store, values in zip(body.stores, results, strict=True):
            form = self._format(self.work.writes[store.write].type.dtype, len(store.values))
            form.store(self.lane, self.store_place(store.write, form.pixel_bytes), values)

    def _with_loops(self, writer: LaneWriter) -> RowBody:
        """The body less what is computed by loops over many terms: those are written first."""
        body = self.body
        for write_loops in (write_averages, roll_sums, roll_channels):
            if leaves := write_loops(self, writer):
                break
        else:
            return body
        return body.map(lambda roots: map_nodes(roots, lambda node: node, leaves))

    @property
    def _holds_bytes(self) -> bool:
        return self.body.ring is not None and self.body.ring.form == "u8"

    def _compute(self, nodes: Sequence[Node], writer: LaneWriter, *, packed: bool) -> list[str]:
        """The vectors of some channels; for packed RGBA bytes, each already in its place."""
        if not packed or len(nodes) != 4:
            writer.write(nodes)
            return [writer.vector(n) for n in nodes]
        parts, i32 = [], Type(S32, self.lanes)
        moved: dict[str, int] = {}  # bytes that only pass through stay bytes: words and masks
        for channel, node in enumerate(nodes):
            words = self._passed_through(node, channel, writer)
            if words is None:
                writer.write([node])
                parts.append(pack_level(self.lane, writer.vector(node), channel, self.lanes))
            else:
                moved[words] = moved.get(words, 0) | 0xFF << (8 * channel)
        for words, bits in moved.items():
            mask = self.lane.constant(i32, _signed(bits))
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
        if self._source_format(attr.source).channels != 4:
            return None
        if isinstance(attr, Gather):
            writer.write(read.args)
            return self.gatherer.pixels(writer, read)[0]
        place, i32 = self.place_of(attr), Type(S32, self.lanes)
        match self.step_to(attr.source):
            case 0:
                return self.lane.op(f"load {i32}, ptr {place}, align 1")
            case 1:
                return load_every_second(self.lane, place, i32, attr.dx & 1)
            case smaller:
                return load_repeated(self.lane, place, i32, 1 << -smaller)

    # -- reading ---------------------------------------------------------------------------------

    def form_of(self, source: int) -> Form:
        """What rows of a source are made of."""
        if source < len(self.work.reads):
            return "u8" if self.work.reads[source].type.dtype == U8 else "f32"
        return self._ring(source - len(self.work.reads)).form

    def load(self, code: Code, access: Access) -> str:
        inside = access.source - len(self.work.reads)
        if inside >= 0 and self.form_of(access.source) == "f32":
            return self._load_held(code, access, inside)
        key = (access.source, access.dx, access.dy)
        if key not in self.loaded:
            form, place = self._source_format(access.source), self.place_of(access)
            match self.step_to(access.source):
                case 0:
                    self.loaded[key] = form.load(code, place)
                case 1:
                    self.loaded[key] = form.load_every_second(code, place, access.dx & 1)
                case smaller:
                    self.loaded[key] = form.load_repeated(code, place, 1 << -smaller)
        return self.loaded[key][access.channel]

    def channels_of(self, source: int) -> int:
        """How many channels the pixels of a source have."""
        inside = source - len(self.work.reads)
        return self.work.reads[source].type.channels if inside < 0 else self._ring(inside).channels

    def step_to(self, source: int) -> int:
        """1 if the source has twice the size, -1 if half, -2 if a quarter, of what this body computes."""
        step = self.body.grid - self.owner.sweep.grids[source]
        assert -2 <= step <= 1, "other sizes are not read"
        return step

    def _column(self, source: int) -> str:
        """The column in a source that this vector begins at."""
        x = f"%b{self.number}.x"
        match self.step_to(source):
            case 0:
                return x
            case 1:
                return self.lane.op(f"shl nsw i64 {x}, 1")
            case smaller:
                return self.lane.op(f"ashr i64 {x}, {-smaller}")

    def place_of(self, access: Access, plane: int = 0) -> str:
        """The address, in the loop, of a vector of an input or of a plane of held rows.

        Of an image of twice the size: where the pairs of pixels begin that the access is among.
        """
        inside = access.source - len(self.work.reads)
        if inside < 0:
            assert self._first_dx(access) == 0, "inputs read at column offsets go through a loader"
            return self._input_place(access.source, access.dy)
        return self._place_in(self._plane(inside, plane, access.dy), access)

    def _place_in(self, start: str, access: Access) -> str:
        """The address, in the loop, of what is read of a held row that begins at ``start``."""
        size = self._ring(access.source - len(self.work.reads)).pixel_bytes
        column = self.lane.op(f"mul i64 {self._column(access.source)}, {size}")
        place = self.lane.op(f"getelementptr i8, ptr {start}, i64 {column}")
        return self.lane.moved(place, self._first_dx(access) * size)

    def _first_dx(self, access: Access) -> int:
        """The column offset where a load begins: that of a pair, of an image of twice the size; the one
        that neighbours share, of held rows of a smaller one."""
        step, dx = self.step_to(access.source), access.dx
        if step == 1:
            return dx - (dx & 1)
        if step < 0 and dx in (0, 1) and self.in_planes(access.source):
            return -min(self._ring(access.source - len(self.work.reads)).pad_left, 1)
        return dx

    def rows_of(self, source: int) -> tuple[str, str, int, int]:
        """Where a source's rows begin and their stride; how many are held (0: all); bytes per pixel."""
        inside = source - len(self.work.reads)
        if inside < 0:
            word, type_ = self.owner.layout.reads[source], self.work.reads[source].type
            start, stride = self.owner.word(word, "ptr"), self.owner.word(word + 1, "i64")
            return start, stride, 0, type_.dtype.bytes * type_.channels
        ring, word = self._ring(inside), self.owner.layout.rings[inside]
        stride = self.owner.word(word + 1, "i64")
        return self.owner.ring_start(inside), stride, ring.depth, ring.pixel_bytes

    def offset_in_row(self, source: int, plane: int) -> str:
        """From the begin of a row to the vector of this round, in one plane or channel."""
        inside = source - len(self.work.reads)
        ring = self._ring(inside) if inside >= 0 else None
        if ring is not None and ring.blocked:
            step = self.lane.op(f"mul i64 %b{self.number}.x, {ring.channels * 4}")
            return self.lane.op(f"add i64 {step}, {plane * self.lanes * 4}")
        step = self.lane.op(f"mul i64 %b{self.number}.x, {self.rows_of(source)[3]}")
        if plane == 0:
            return step
        moved = self.uniform.op(f"mul i64 {self.plane_stride(source)}, {plane}")
        return self.lane.op(f"add i64 {step}, {moved}")

    def plane_stride(self, source: int) -> str:
        """From one channel of held f32 rows to the next, in bytes."""
        inside = source - len(self.work.reads)
        if self._ring(inside).blocked:
            return str(self.lanes * 4)
        return self.owner.word(self.owner.layout.rings[inside] + 2, "i64")

    def row_of(self, source: int, dy: int) -> str:
        """Where the held row begins that belongs to this row, or is ``dy`` further."""
        return self._ring_row(source - len(self.work.reads), dy)

    def _ring(self, number: int) -> Ring:
        ring = self.owner.bodies[number].ring
        assert ring is not None
        return ring

    def _input_place(self, source: int, dy: int) -> str:
        key = (source, dy)
        if key not in self.places:
            array = self.work.reads[source]
            channels = array.type.channels if self.owner.image else 1
            element = array.type.dtype.bytes * channels
            word = self.owner.layout.reads[source]
            base, stride = self.owner.word(word, "ptr"), self.owner.word(word + 1, "i64")
            offset = self.row.op(f"mul i64 {self._clamped_row(source, dy)}, {stride}")
            pointer = self.row.op(f"getelementptr i8, ptr {base}, i64 {offset}")
            column = self.lane.op(f"mul i64 {self._column(source)}, {element}")
            self.places[key] = self.lane.op(f"getelementptr i8, ptr {pointer}, i64 {column}")
        return self.places[key]

    def _load_held(self, code: Code, access: Access, number: int) -> str:
        vector = Type(F32, self.lanes)
        if self._ring(number).blocked:
            place = self._block_place(number, access.channel, access.dy)
            return code.op(f"load {vector}, ptr {place}, align {self._alignment}")
        return self._load_f32(code, self.place_of(access, access.channel), access)

    def load_either(self, condition: str, first: Access, second: Access) -> str:
        rows = [
            self._plane(a.source - len(self.work.reads), a.channel, a.dy) for a in (first, second)
        ]
        row = self.plane.op(f"select i1 {condition}, ptr {rows[0]}, ptr {rows[1]}")
        return self._load_f32(self.lane, self._place_in(row, first), first)

    def in_planes(self, source: int) -> bool:
        """Whether a source is rows of f32 that lie plane by plane."""
        inside = source - len(self.work.reads)
        return inside >= 0 and self._ring(inside).form == "f32" and not self._ring(inside).blocked

    def _load_f32(self, code: Code, place: str, access: Access) -> str:
        vector = Type(F32, self.lanes)
        match self.step_to(access.source):
            case 0:
                align = 4 if access.dx else self._alignment
                return code.op(f"load {vector}, ptr {place}, align {align}")
            case 1:
                return load_every_second(code, place, vector, access.dx & 1)
            case smaller:
                whole = code.op(f"load {vector}, ptr {place}, align 4")
                return repeat_from(
                    code, whole, vector, 1 << -smaller, access.dx - self._first_dx(access)
                )

    def own_place(self, plane: int) -> str:
        """The address, in the loop, where this body holds a vector."""
        return self.place_of(Access(len(self.work.reads) + self.number), plane)

    def _block_place(self, number: int, channel: int, dy: int) -> str:
        step = self.lane.op(f"mul i64 %b{self.number}.x, {self._ring(number).channels * 4}")
        row = self._row_in_turn(number, channel, dy)
        block = self.lane.op(f"getelementptr i8, ptr {row}, i64 {step}")
        return self.lane.moved(block, channel * self.lanes * 4)

    @property
    def _alignment(self) -> int:
        return min(64, self.lanes * 4)

    def _clamped_row(self, source: int, dy: int) -> str:
        """The row of a source that belongs to this row, ``dy`` further, or the last one there is."""
        row = f"%b{self.number}.r"
        step = self.step_to(source)
        if step:
            row = self.row.op(f"{'shl' if step > 0 else 'ashr'} i64 {row}, {abs(step)}")
        if source - len(self.work.reads) == self.number:  # its own row
            return row
        row = self.row.add(row, dy)
        first, last = self.row_range(source)
        if dy < 0 or self.body.margin:
            row = self.row.largest(row, first)
        if dy > 0 or self.body.margin:
            row = self.row.least(row, last)
        return row

    def row_range(self, source: int) -> tuple[int, str]:
        """The numbers of the first and of the last row that a source has."""
        grid, inside = self.owner.sweep.grids[source], source - len(self.work.reads)
        margin = self.owner.bodies[inside].margin if inside >= 0 else 0
        if grid >= 0 and any(b.grid == grid for b in self.owner.bodies):
            last = self.owner.rows_of(grid, last=True)
        else:
            last = self.uniform.op(f"sub i64 {self.extent(Extent(source, 0))}, 1")
        return -margin, self.row.add(last, margin)

    def _ring_row(self, number: int, dy: int) -> str:
        row = self._clamped_row(len(self.work.reads) + number, dy)
        row = self.row.add(row, self.owner.bodies[number].margin)  # with one, its first row is -1
        slot = self.row.op(f"urem i64 {row}, {self._ring(number).depth}")
        stride = self.owner.word(self.owner.layout.rings[number] + 1, "i64")
        offset = self.row.op(f"mul i64 {slot}, {stride}")
        return self.row.op(f"getelementptr i8, ptr {self.owner.ring_start(number)}, i64 {offset}")

    def _plane(self, number: int, plane: int, dy: int) -> str:
        row = self._row_in_turn(number, plane, dy)
        if plane == 0:
            return row
        stride = self.owner.word(self.owner.layout.rings[number] + 2, "i64")
        offset = self.row.op(f"mul i64 {stride}, {plane}")
        return self.plane.op(f"getelementptr i8, ptr {row}, i64 {offset}")

    def _row_in_turn(self, number: int, channel: int, dy: int) -> str:
        """The begin of a held row; in a loop over planes, moved with each turn."""
        row, source = self._ring_row(number, dy), len(self.work.reads) + number
        step = self.planes.steps[source, channel] if self.planes else 0
        if not step:
            return row
        distance = self.uniform.op(f"mul i64 {self.plane_stride(source)}, {step}")
        moved = self.plane.op(f"mul i64 %b{self.number}.turn, {distance}")
        return self.plane.op(f"getelementptr i8, ptr {row}, i64 {moved}")

    def _source_format(self, source: int) -> Format:
        inside = source - len(self.work.reads)
        if inside < 0:
            type_ = self.work.reads[source].type
            return self._format(type_.dtype, type_.channels if self.owner.image else 1)
        assert self._ring(inside).form == "u8"
        return self._format(U8, self._ring(inside).channels)

    def _format(self, dtype: DType, channels: int) -> Format:
        return Format(dtype, channels, self.owner.image, self.lanes)

    # -- writing ---------------------------------------------------------------------------------

    def _hold(self, ring: Ring, values: Sequence[str]) -> None:
        if ring.form == "u8":
            self._format(U8, ring.channels).store(self.lane, self.own_place(0), values)
            return
        vector = Type(F32, self.lanes)
        for channel, value in enumerate(values):
            if ring.blocked:
                place = self._block_place(self.number, channel, 0)
            else:
                place = self.own_place(channel)
            self.lane.line(f"store {vector} {value}, ptr {place}, align {self._alignment}")

    def pad_row(self, rows: Code) -> None:
        """Repeat the first and the last pixel beyond the ends of a held row."""
        ring, row = self._ring(self.number), self._ring_row(self.number, 0)
        if ring.planes == 1:
            self._pad(rows, ring, row)
            return
        stride = self.owner.word(self.owner.layout.rings[self.number] + 2, "i64")

        def pad_plane(code: Code, index: str, done: list[str]) -> list[str]:
            offset = code.op(f"mul i64 {stride}, {index}")
            self._pad(code, ring, code.op(f"getelementptr i8, ptr {row}, i64 {offset}"))
            return done

        rows.repeat(ring.planes, 1, [], pad_plane)

    def _pad(self, rows: Code, ring: Ring, start: str) -> None:
        lanes = self.owner.vector_bytes // ring.pixel_bytes
        pixel = "float" if ring.form == "f32" else f"i{8 * ring.pixel_bytes}"
        vector = f"<{lanes} x {pixel}>"
        columns = f"%b{self.number}.W"
        end = rows.op(f"getelementptr {pixel}, ptr {start}, i64 {columns}")
        start = rows.moved(start, -self.body.margin, pixel)  # the edge that repeats
        end = rows.moved(end, self.body.margin, pixel)
        for pad, anchor, edge in ((ring.pad_left, start, 0), (ring.pad_right, end, -1)):
            if not pad:
                continue
            color = rows.op(f"load {pixel}, ptr {rows.moved(anchor, edge, pixel)}, align 1")
            single = rows.op(f"insertelement {vector} poison, {pixel} {color}, i64 0")
            zeros = f"<{lanes} x i32> zeroinitializer"
            all_lanes = rows.op(f"shufflevector {vector} {single}, {vector} poison, {zeros}")
            for k in range(-(-pad // lanes)):
                step = k * lanes if edge else -(k + 1) * lanes
                place = rows.moved(anchor, step, pixel)
                rows.line(f"store {vector} {all_lanes}, ptr {place}, align 1")

    def store_place(self, write: int, element: int) -> str:
        """The address, in the loop, where a vector of an output goes."""
        p = f"b{self.number}"
        word = self.owner.layout.writes[write]
        base, stride = self.owner.word(word, "ptr"), self.owner.word(word + 1, "i64")
        if not self.mine:  # rows computed for a neighbour's sake are not
            begun = self.row.op(f"icmp sge i64 %{p}.now, %y0")
            self.mine = self.row.op(f"and i1 {begun}, {self.row.op(f'icmp slt i64 %{p}.now, %y1')}")
        offset = self.row.op(f"mul i64 %{p}.r, {stride}")
        pointer = self.row.op(f"getelementptr i8, ptr {base}, i64 {offset}")
        buffer = self.owner.room()
        column = self.lane.op(f"mul i64 %{p}.x, {element}")
        direct = self.lane.op(f"getelementptr i8, ptr {pointer}, i64 {column}")
        skipped = self.tail_out.op(f"mul i64 %{p}.fullend, {element}")
        target = self.tail_out.op(f"getelementptr i8, ptr {pointer}, i64 {skipped}")
        self._copy(self.tail_out, target, buffer, element)
        whole = self.lane.op(f"and i1 %{p}.full, {self.mine}")
        return self.lane.op(f"select i1 {whole}, ptr {direct}, ptr {buffer}")

    def _copy(self, code: Code, target: str, source: str, element: int) -> None:
        self.owner.names.declarations["memcpy"] = (
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        )
        count = code.op(f"mul i64 %b{self.number}.rest, {element}")
        code.line(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {count}, i1 false)"
        )

    # -- what expressions ask for (Sources) --------------------------------------------------------

    def param(self, index: int, dtype: DType) -> str:
        return self.owner.word(self.owner.layout.params + index, Type(dtype).element)

    def extent(self, extent: Extent) -> str:
        return self.owner.extent(extent)

    def coord(self, axis: int, code_row: Code, code_lane: Code) -> tuple[str, int]:
        owner = self.owner
        last = 1 if owner.image else len(self.work.shape) - 1
        if axis == last:
            vector = Type(S32, self.lanes)
            start = code_lane.op(f"trunc i64 %b{self.number}.x to i32")
            lanes = ", ".join(f"i32 {i}" for i in range(self.lanes))
            return code_lane.op(f"add {vector} {code_lane.splat(vector, start)}, <{lanes}>"), LANE
        assert axis < last, "an axis the output does not have"
        row = f"%b{self.number}.r"
        for inner in range(axis + 1, last):
            row = code_row.op(f"udiv i64 {row}, {owner.word(owner.layout.shape + inner, 'i64')}")
        if axis > 0:
            row = code_row.op(f"urem i64 {row}, {owner.word(owner.layout.shape + axis, 'i64')}")
        return code_row.op(f"trunc i64 {row} to i32"), ROW

    def gather(self, writer: LaneWriter, node: Node) -> str:
        return self.gatherer.value(writer, node)


def _signed(bits: int) -> int:
    """32 bits as LLVM writes an i32."""
    return bits - (1 << 32) if bits >= 1 << 31 else bits
