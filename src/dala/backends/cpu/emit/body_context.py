"""A body for those who write its text: where it finds its rows, and where it puts them.

A source is an array in memory or the buffered rows of another body. Its row for this row may be a few
further up or down (``dy``), the nearest one there is; a vector in it may begin a few columns aside
(``dx``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from dala.backends.cpu.emit.gathers import Gatherer
from dala.backends.cpu.emit.lanes import LaneWriter, Sources
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.text import Code, Type
from dala.backends.cpu.schedule.sweep import Form, Ring, RowBody
from dala.ir.dtypes import F32, S32, S64, U8, U16
from dala.ir.graph import Access, Extent, Node

CACHE_LINE = 64
WORDS = {1: U8, 2: U16, 4: S32, 8: S64}  # integers by their bytes


@dataclass(frozen=True, slots=True)
class Alike:
    """The same functions of each of several channels."""

    roots: Sequence[Sequence[Node]]  # for each channel, the functions
    steps: dict[tuple[int, int], int]  # source and plane → planes from there to the next channel's
    operations: frozenset[int]  # on pixels, of all channels

    @property
    def size(self) -> int:
        return len(self.operations) // len(self.roots)


class BodyContext(Sources):
    """One body for those who write it: its addresses and its sections (per row, per plane, per vector, and
    after a partial row)."""

    lanes: int  # pixels per vector
    vectors: int  # that are computed at once
    channels: int  # of a pixel that it computes
    gatherer: Gatherer
    two_vectors = False  # whether it computes two of them at once
    unchanged = "false"  # whether the ring buffer has this row already

    @abstractmethod
    def write_values(self) -> LaneWriter:
        """Compute every channel as a vector of f32, buffer and store it; whoever wrote it knows its
        names."""

    def __init__(self, owner: PassContext, number: int, body: RowBody) -> None:
        self.owner, self.number, self.body = owner, number, body
        self.work = owner.work
        self.uniform = owner.uniform
        self.row = Code(owner.names, f"b{number}.row")
        self.lane = Code(owner.names, f"b{number}.loop")
        self.plane = self.row  # once per plane, if the body is a loop over planes
        self.planes: Alike | None = None
        self.tail_out = Code(owner.names)
        self.carried: list[tuple[str, str, str, str]] = []  # name, type, first value and next one
        self.mine = ""  # whether this row is ours to store
        self._inputs: dict[tuple[int, int], str] = {}

    def form_of(self, source: int) -> Form:
        """What rows of a source are made of."""
        if source < len(self.work.reads):
            return "u8" if self.work.reads[source].type.dtype == U8 else "f32"
        return self._ring(source - len(self.work.reads)).form

    def is_deep(self, source: int) -> bool:
        """Whether a source is an image of u16 in memory."""
        reads = self.work.reads
        return source < len(reads) and self.owner.image and reads[source].type.dtype == U16

    def in_planes(self, source: int) -> bool:
        """Whether a source is rows of f32 that lie plane by plane."""
        inside = source - len(self.work.reads)
        return inside >= 0 and self._ring(inside).form == "f32" and not self._ring(inside).blocked

    def has_planes(self, source: int) -> bool:
        """Whether a source is rows of f32, or of levels of 16 bits, in which each channel lies apart."""
        inside = source - len(self.work.reads)
        if inside < 0 or self._ring(inside).form not in ("f32", "level16"):
            return False
        return self._ring(inside).planes == self._ring(inside).channels

    def is_planar(self, source: int) -> bool:
        """Whether a source is rows of bytes that lie plane by plane."""
        inside = source - len(self.work.reads)
        return inside >= 0 and self._ring(inside).planar

    def channels_of(self, source: int) -> int:
        """How many channels the pixels of a source have."""
        inside = source - len(self.work.reads)
        return self.work.reads[source].type.channels if inside < 0 else self._ring(inside).channels

    def step_to(self, source: int) -> int:
        """1 if the source has twice the size, -1 if half, -2 if a quarter, of what this body computes."""
        step = self.body.mip - self.owner.sweep.mips[source]
        assert -2 <= step <= 1, "other sizes are not read"
        return step

    def _ring(self, number: int) -> Ring:
        ring = self.owner.bodies[number].ring
        assert ring is not None
        return ring

    # -- rows --------------------------------------------------------------------------------------

    def row_of(self, source: int, dy: int) -> str:
        """Where the buffered row begins that belongs to this row, or is ``dy`` further."""
        return self._ring_row(source - len(self.work.reads), dy)

    def rows_of(self, source: int) -> tuple[str, str, int, int]:
        """Where a source's rows begin and their stride; how many are buffered (0: all); bytes per pixel."""
        inside = source - len(self.work.reads)
        if inside < 0:
            word, type_ = self.owner.layout.reads[source], self.work.reads[source].type
            start, stride = self.owner.word(word, "ptr"), self.owner.word(word + 1, "i64")
            return start, stride, 0, type_.dtype.bytes * type_.channels
        ring, word = self._ring(inside), self.owner.layout.rings[inside]
        stride = self.owner.word(word + 1, "i64")
        return self.owner.ring_start(inside), stride, ring.depth, ring.pixel_bytes

    def size_of(self, source: int, axis: int) -> str:
        """How many rows or columns a source without a margin has."""
        if source < len(self.work.reads):
            return self.owner.extent(Extent(source, axis))
        return self.owner.size_of(self.owner.sweep.mips[source], axis)

    def row_range(self, source: int) -> tuple[int, str]:
        """The numbers of the first and of the last row that a source has."""
        mip, inside = self.owner.sweep.mips[source], source - len(self.work.reads)
        margin = self.owner.bodies[inside].margin if inside >= 0 else 0
        if mip >= 0 and any(b.mip == mip for b in self.owner.bodies):
            last = self.owner.rows_of(mip, last=True)
        else:
            last = self.uniform.op(f"sub i64 {self.owner.extent(Extent(source, 0))}, 1")
        return -margin, self.row.add(last, margin)

    def _ring_row(self, number: int, dy: int) -> str:
        row = self._clamped_row(len(self.work.reads) + number, dy)
        row = self.row.add(row, self.owner.bodies[number].margin)  # with one, its first row is -1
        slot = self.row.op(f"urem i64 {row}, {self._ring(number).depth}")
        stride = self.owner.word(self.owner.layout.rings[number] + 1, "i64")
        offset = self.row.op(f"mul i64 {slot}, {stride}")
        return self.row.op(f"getelementptr i8, ptr {self.owner.ring_start(number)}, i64 {offset}")

    def _row_in_turn(self, number: int, channel: int, dy: int) -> str:
        """The begin of a buffered row; in a loop over planes, moved with each turn."""
        row, source = self._ring_row(number, dy), len(self.work.reads) + number
        step = self.planes.steps[source, channel] if self.planes else 0
        if not step:
            return row
        distance = self.uniform.op(f"mul i64 {self.plane_stride(source)}, {step}")
        moved = self.plane.op(f"mul i64 %b{self.number}.turn, {distance}")
        return self.plane.op(f"getelementptr i8, ptr {row}, i64 {moved}")

    def _plane(self, number: int, plane: int, dy: int) -> str:
        """Where a plane of a buffered row begins."""
        row = self._row_in_turn(number, plane, dy)
        if plane == 0:
            return row
        stride = self.plane_stride(len(self.work.reads) + number)
        offset = self.row.op(f"mul i64 {stride}, {plane}")
        return self.plane.op(f"getelementptr i8, ptr {row}, i64 {offset}")

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

    # -- vectors of a row --------------------------------------------------------------------------

    def address_of(self, access: Access, plane: int = 0) -> str:
        """The address, in the loop, of a vector of an input or of a plane of buffered rows.

        Of an image of twice the size: where the pairs of pixels begin that the access is among.
        """
        inside = access.source - len(self.work.reads)
        if inside < 0:
            assert self._first_dx(access) == 0, "inputs read at column offsets go through a loader"
            return self._input_address(access.source, access.dy)
        return self._address_in(self._plane(inside, plane, access.dy), access)

    def own_address(self, plane: int) -> str:
        """The address, in the loop, where this body buffers a vector."""
        return self.address_of(Access(len(self.work.reads) + self.number), plane)

    def _address_in(self, start: str, access: Access) -> str:
        """The address, in the loop, of what is read of a buffered row that begins at ``start``."""
        size = self._ring(access.source - len(self.work.reads)).pixel_bytes
        column = self.lane.op(f"mul i64 {self._column(access.source)}, {size}")
        address = self.lane.op(f"getelementptr i8, ptr {start}, i64 {column}")
        return self.lane.moved(address, self._first_dx(access) * size)

    def _first_dx(self, access: Access) -> int:
        """The column offset where a load begins: that of a pair, of an image of twice the size; the one
        that neighbours share, of buffered rows of a smaller one."""
        step, dx = self.step_to(access.source), access.dx
        if step == 1:
            return dx - (dx & 1)
        if step < 0 and dx in (0, 1) and self.in_planes(access.source):
            return -min(self._ring(access.source - len(self.work.reads)).pad_left, 1)
        return dx

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

    def _input_address(self, source: int, dy: int) -> str:
        key = (source, dy)
        if key not in self._inputs:
            array = self.work.reads[source]
            channels = array.type.channels if self.owner.image else 1
            element = array.type.dtype.bytes * channels
            word = self.owner.layout.reads[source]
            base, stride = self.owner.word(word, "ptr"), self.owner.word(word + 1, "i64")
            offset = self.row.op(f"mul i64 {self._clamped_row(source, dy)}, {stride}")
            pointer = self.row.op(f"getelementptr i8, ptr {base}, i64 {offset}")
            column = self.lane.op(f"mul i64 {self._column(source)}, {element}")
            self._inputs[key] = self.lane.op(f"getelementptr i8, ptr {pointer}, i64 {column}")
        return self._inputs[key]

    def _block_address(self, number: int, channel: int, dy: int) -> str:
        step = self.lane.op(f"mul i64 %b{self.number}.x, {self._ring(number).channels * 4}")
        row = self._row_in_turn(number, channel, dy)
        block = self.lane.op(f"getelementptr i8, ptr {row}, i64 {step}")
        return self.lane.moved(block, channel * self.lanes * 4)

    def in_two_lines(self, elements: int) -> bool:
        """Whether a vector of f32 so many elements to the right is best cut out of two that lie in lines.

        Loads across lines take two turns. It pays where a vector is as long as a line, and there is time:
        with two vectors at once, of images of 16 bits.
        """
        fits = 0 < elements < self.owner.lanes and self.owner.vector_bytes == CACHE_LINE
        return fits and self.owner.sweep.deep and self.two_vectors

    def offset_in_row(self, source: int, plane: int) -> str:
        """From the begin of a row to the vector of this round, in one plane or channel."""
        inside = source - len(self.work.reads)
        ring = self._ring(inside) if inside >= 0 else None
        if ring is not None and ring.blocked:
            step = self.lane.op(f"mul i64 %b{self.number}.x, {ring.channels * 4}")
            return self.lane.op(f"add i64 {step}, {plane * self.lanes * 4}")
        step = self.lane.op(f"mul i64 %b{self.number}.x, {self.rows_of(source)[3]}")
        if self.planes and (source, plane) in self.planes.steps:
            distance = self.uniform.op(
                f"mul i64 {self.plane_stride(source)}, {self.planes.steps[source, plane]}"
            )
            turned = self.plane.op(f"mul i64 %b{self.number}.turn, {distance}")
            step = self.lane.op(f"add i64 {step}, {turned}")
        if plane == 0:
            return step
        moved = self.uniform.op(f"mul i64 {self.plane_stride(source)}, {plane}")
        return self.lane.op(f"add i64 {step}, {moved}")

    def plane_stride(self, source: int) -> str:
        """From one channel of buffered f32 rows to the next, in bytes."""
        inside = source - len(self.work.reads)
        if self._ring(inside).blocked:
            return str(self.lanes * 4)
        return self.owner.word(self.owner.layout.rings[inside] + 2, "i64")

    @property
    def _alignment(self) -> int:
        return min(64, self.lanes * 4)

    # -- outputs -----------------------------------------------------------------------------------

    def store_address(self, write: int, element: int) -> str:
        """The address, in the loop, where a vector of an output goes."""
        p = f"b{self.number}"
        word = self.owner.layout.writes[write]
        base, stride = self.owner.word(word, "ptr"), self.owner.word(word + 1, "i64")
        if not self.mine:  # rows computed for a neighbour's sake are not
            begun = self.row.op(f"icmp sge i64 %{p}.now, %y0")
            self.mine = self.row.op(f"and i1 {begun}, {self.row.op(f'icmp slt i64 %{p}.now, %y1')}")
        offset = self.row.op(f"mul i64 %{p}.r, {stride}")
        pointer = self.row.op(f"getelementptr i8, ptr {base}, i64 {offset}")
        buffer = self.owner.scratch()
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

    # -- borders of buffered rows ----------------------------------------------------------------------

    def pad_row(self, rows: Code) -> None:
        """Repeat the first and the last pixel beyond the ends of a buffered row."""
        ring, row = self._ring(self.number), self._ring_row(self.number, 0)
        if ring.planes == 1:
            self._pad(rows, ring, row)
            return
        stride = self.plane_stride(len(self.work.reads) + self.number)
        if self.body.pairs and ring.form == "u16":
            self._pad_pairs(rows, ring, row, stride)
            return

        def pad_plane(code: Code, index: str, done: list[str]) -> list[str]:
            offset = code.op(f"mul i64 {stride}, {index}")
            self._pad(code, ring, code.op(f"getelementptr i8, ptr {row}, i64 {offset}"))
            return done

        rows.repeat(ring.planes, 1, [], pad_plane)

    def _pad(self, rows: Code, ring: Ring, start: str) -> None:
        lanes = self.owner.vector_bytes // ring.pixel_bytes
        vector = Type(F32 if ring.form == "f32" else WORDS[ring.pixel_bytes], lanes)
        pixel = vector.element
        if whole := ring.form == "f32" and ring.pixel_bytes > 4:  # pixels of several channels
            single, vector = Type(F32, ring.channels), Type(F32, lanes * ring.channels)
            pixel = str(single)
        columns = f"%b{self.number}.W"
        end = rows.op(f"getelementptr {pixel}, ptr {start}, i64 {columns}")
        start = rows.moved(start, -self.body.margin, pixel)  # the edge that repeats
        end = rows.moved(end, self.body.margin, pixel)
        for pad, anchor, edge in ((ring.pad_left, start, 0), (ring.pad_right, end, -1)):
            if not pad:
                continue
            color = rows.op(f"load {pixel}, ptr {rows.moved(anchor, edge, pixel)}, align 1")
            if whole:
                order = [k % ring.channels for k in range(vector.lanes)]
                all_lanes = rows.shuffle(single, color, order)
            else:
                all_lanes = rows.splat(vector, color)
            for k in range(-(-pad // lanes)):
                step = k * lanes if edge else -(k + 1) * lanes
                address = rows.moved(anchor, step, pixel)
                rows.line(f"store {vector} {all_lanes}, ptr {address}, align 1")

    def _pad_pairs(self, rows: Code, ring: Ring, row: str, stride: str) -> None:
        """The same where even and odd columns lie apart: the edge repeats in both."""
        lanes = self.owner.vector_bytes // 2
        vector, columns = Type(U16, lanes), f"%b{self.number}.W"

        def pad_channel(code: Code, index: str, done: list[str]) -> list[str]:
            offset = code.op(f"mul i64 {code.op(f'shl i64 {index}, 1')}, {stride}")
            even = code.op(f"getelementptr i8, ptr {row}, i64 {offset}")
            odd = code.op(f"getelementptr i8, ptr {even}, i64 {stride}")
            odds = code.op(f"lshr i64 {columns}, 1")
            evens = code.op(f"sub i64 {columns}, {odds}")
            ends = [
                code.op(f"getelementptr i16, ptr {start}, i64 {count}")
                for start, count in ((even, evens), (odd, odds))
            ]
            uneven = code.op(f"icmp ne i64 {evens}, {odds}")
            end = code.op(f"select i1 {uneven}, ptr {ends[0]}, ptr {ends[1]}")
            edges = (
                (ring.pad_left, (even, odd), even),
                (ring.pad_right, ends, code.moved(end, -2)),
            )
            for pad, anchors, edge in edges:
                color = code.op(f"load i16, ptr {edge}, align 2")
                spread = code.splat(vector, color)
                for anchor in anchors:
                    for k in range(-(-pad // (2 * lanes))):
                        step = k if edge != even else -(k + 1)
                        address = code.moved(anchor, step * lanes, "i16")
                        code.line(f"store {vector} {spread}, ptr {address}, align 2")
            return done

        rows.repeat(ring.planes // 2, 1, [], pad_channel)
