"""The native function of a pass, as LLVM text.

    pass(args, scratch):
        uniform values
        while a band of rows is left (an atomic counter hands them out):
            for each row, and ``lead`` rows ahead for the bodies that others read:
                for each vector of pixels: load, compute, hold or store

Nothing in the inner loop clamps: held rows carry their borders with them, and the last, partial
vector of a row goes through a small buffer of its own, so memory past the row is never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dala.backends.cpu.code import Code, Names, Type
from dala.backends.cpu.lanes import LANE, ROW, Format, LaneWriter, Sources
from dala.backends.cpu.rows import Ring, RowBody, schedule_rows
from dala.ir.dtypes import F32, S32, S64, DType
from dala.ir.graph import OUTPUT, Access, Extent, Gather, walk
from dala.plan.melt import FusedPass, PassArray

TAIL_BYTES = 1024  # room for one vector of the widest pixel
NEXT_BAND, BANDS, BAND_ROWS, ROWS, COLUMNS, LAST_COLUMNS, HEADER = range(7)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each argument stands in the argument block, in 8-byte words."""

    shape: int  # the output's extents
    reads: tuple[int, ...]  # pointer, row stride, extents
    writes: tuple[int, ...]  # pointer, row stride
    rings: tuple[int, ...]  # offset in scratch, row stride, channel stride
    params: int


@dataclass(frozen=True, slots=True)
class NativePass:
    """A pass ready to compile: its text, how to call it, and what it needs."""

    text: str
    layout: Layout
    lanes: int
    bodies: tuple[RowBody, ...]
    by_rows: bool  # rows are the last axis; otherwise a tensor is cut into even pieces
    tails: int

    @property
    def halo(self) -> int:
        """Rows that two neighbouring bands both compute."""
        return max((b.lead - b.first for b in self.bodies), default=0)


def emit_pass(work: FusedPass, vector_bytes: int, fma: bool) -> NativePass:
    """LLVM text for a pass, for vectors of ``vector_bytes``."""
    return _PassEmitter(work, vector_bytes, fma).emit()


def extents_of(array: PassArray, image: bool) -> tuple[int, ...]:
    """The sizes a kernel can ask for: (height, width) of an image, every axis of a tensor."""
    shape = array.type.shape
    return shape[:2] if image else shape


class _PassEmitter(Sources):
    def __init__(self, work: FusedPass, vector_bytes: int, fma: bool) -> None:
        self.work = work
        self.image = work.domain == "image"
        self.bodies = schedule_rows(work)
        self.lanes = self._choose_lanes(vector_bytes)
        self.names = Names(fma)
        self.uniform = Code(self.names)
        self.layout = self._lay_out()
        self.words: dict[tuple[int, str], str] = {}
        nodes = [n for b in self.bodies for n in walk(b.roots)]
        self.by_rows = self.image or any(n.op == "coord" for n in nodes)
        self.tails = 0

    def emit(self) -> NativePass:
        rows = Code(self.names)
        for number, body in enumerate(self.bodies):
            self._emit_body(rows, number, body)
        text = self._frame(rows)
        return NativePass(text, self.layout, self.lanes, self.bodies, self.by_rows, self.tails)

    # -- the frame: bands and rows ---------------------------------------------------------------

    def _frame(self, rows: Code) -> str:
        head = Code(self.names)
        for name, index in (("bands", BANDS), ("band_rows", BAND_ROWS), ("H", ROWS)):
            self._load_word(head, f"%{name}", index)
        self._load_word(head, "%W", COLUMNS)
        self._load_word(head, "%Wlast", LAST_COLUMNS)
        head.line("%H1 = sub i64 %H, 1")
        band = Code(self.names)
        band.line("br label %band")
        band.label("band")
        band.line("%number = atomicrmw add ptr %args, i64 1 monotonic")
        band.line("%more = icmp slt i64 %number, %bands")
        band.line("br i1 %more, label %begin, label %exit")
        band.label("begin")
        band.line("%y0 = mul i64 %number, %band_rows")
        band.line("%yend = add i64 %y0, %band_rows")
        band.line("%ycut = icmp slt i64 %yend, %H")
        band.line("%y1 = select i1 %ycut, i64 %yend, i64 %H")
        warm_up = min(b.first - b.lead for b in self.bodies)
        band.line(f"%t0 = add i64 %y0, {warm_up}")
        for number, body in enumerate(self.bodies):
            band.line(f"%b{number}.want = add i64 %y0, {body.first}")
            band.line(f"%b{number}.below = icmp slt i64 %b{number}.want, 0")
            band.line(f"%b{number}.lo = select i1 %b{number}.below, i64 0, i64 %b{number}.want")
            band.line(f"%b{number}.end = add i64 %y1, {body.lead}")
            band.line(f"%b{number}.cut = icmp slt i64 %b{number}.end, %H")
            band.line(f"%b{number}.hi = select i1 %b{number}.cut, i64 %b{number}.end, i64 %H")
        band.line("br label %row")
        band.label("row")
        band.line("%t = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]")
        band.line("br label %b0.check")
        tail = [
            "row.next:",
            "  %t.next = add i64 %t, 1",
            "  %again = icmp slt i64 %t.next, %y1",
            "  br i1 %again, label %row, label %band",
            "exit:",
            "  ret void",
            "}",
        ]
        declarations = sorted(self.names.declarations.values())
        functions = list(self.names.functions.values())
        lines = [
            "define void @dala_pass(ptr noalias %args, ptr noalias %scratch) #0 {",
            "entry:",
            *head.lines,
            *self.uniform.lines,
            *band.lines,
            *rows.lines,
            *tail,
        ]
        width = f'"min-legal-vector-width"="{self.lanes * 64}" "prefer-vector-width"="512"'
        attributes = f"attributes #0 = {{ nounwind {width} }}"
        return "\n".join([*declarations, *functions, *lines, attributes]) + "\n"

    def _emit_body(self, rows: Code, number: int, body: RowBody) -> None:
        self.number = number
        self.row, self.lane = Code(self.names), Code(self.names)
        self.tail_in, self.tail_out = Code(self.names), Code(self.names)
        self.row_pointers: dict[tuple[int, int], str] = {}
        self.loaded: dict[tuple[int, int], list[str]] = {}
        self.gathered: dict[tuple[object, ...], list[str]] = {}
        self.tail_rows: dict[tuple[int, int], str] = {}
        self.rest: str | None = None
        p = f"b{number}"
        following = f"b{number + 1}.check" if number + 1 < len(self.bodies) else "row.next"

        writer = LaneWriter(self, self.lanes, self.uniform, self.row, self.lane)
        writer.write(body.roots)
        if body.ring is not None:
            self._hold(number, body.ring, [writer.vector(n) for n in body.held])
        for store in body.stores:
            self._store(store.write, [writer.vector(n) for n in store.values])

        rows.label(f"{p}.check")
        rows.line(f"%{p}.r = add i64 %t, {body.lead}")
        rows.line(f"%{p}.ge = icmp sge i64 %{p}.r, %{p}.lo")
        rows.line(f"%{p}.lt = icmp slt i64 %{p}.r, %{p}.hi")
        rows.line(f"%{p}.go = and i1 %{p}.ge, %{p}.lt")
        rows.line(f"br i1 %{p}.go, label %{p}.row, label %{following}")
        rows.label(f"{p}.row")
        rows.line(f"%{p}.isend = icmp eq i64 %{p}.r, %H1")
        rows.line(f"%{p}.W = select i1 %{p}.isend, i64 %Wlast, i64 %W")
        rows.line(f"%{p}.rest = urem i64 %{p}.W, {self.lanes}")
        rows.line(f"%{p}.partial = icmp ne i64 %{p}.rest, 0")
        rows.line(f"%{p}.fullend = sub i64 %{p}.W, %{p}.rest")
        rows.lines += self.row.lines
        self._guarded(rows, f"{p}.in", f"%{p}.partial", self.tail_in, f"{p}.pre")
        rows.line(f"br label %{p}.loop")
        rows.label(f"{p}.loop")
        rows.line(f"%{p}.x = phi i64 [ 0, %{p}.pre ], [ %{p}.x.next, %{p}.loop ]")
        rows.line(f"%{p}.full = icmp slt i64 %{p}.x, %{p}.fullend")
        rows.lines += self.lane.lines
        rows.line(f"%{p}.x.next = add nuw nsw i64 %{p}.x, {self.lanes}")
        rows.line(f"%{p}.on = icmp slt i64 %{p}.x.next, %{p}.W")
        rows.line(f"br i1 %{p}.on, label %{p}.loop, label %{p}.done")
        rows.label(f"{p}.done")
        if body.stores:
            rows.line(f"%{p}.spill = and i1 %{p}.partial, %{p}.mine")
            self._guarded(rows, f"{p}.out", f"%{p}.spill", self.tail_out, f"{p}.after")
        if body.ring is not None and body.ring.planar:
            self._pad_row(rows, number, body.ring)
        rows.line(f"br label %{following}")

    @staticmethod
    def _guarded(rows: Code, label: str, condition: str, inner: Code, after: str) -> None:
        """``if condition: inner`` then go on at ``after``."""
        rows.line(f"br i1 {condition}, label %{label}, label %{after}")
        rows.label(label)
        rows.lines += inner.lines
        rows.line(f"br label %{after}")
        rows.label(after)

    # -- memory ----------------------------------------------------------------------------------

    def _tail_buffer(self) -> str:
        name = self.uniform.op(f"getelementptr i8, ptr %scratch, i64 {self.tails * TAIL_BYTES}")
        self.tails += 1
        return name

    def _copy(self, code: Code, target: str, source: str, pixel_bytes: int) -> None:
        self.names.declarations["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        count = code.op(f"mul i64 %b{self.number}.rest, {pixel_bytes}")
        code.line(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {count}, i1 false)"
        )

    def _format(self, array: PassArray) -> Format:
        channels = array.type.channels if self.image else 1
        return Format(array.type.dtype, channels, self.image, self.lanes)

    def _clamped_row(self, dy: int, rows: str) -> str:
        row = f"%b{self.number}.r"
        if dy == 0:
            return row
        moved = self.row.op(f"add i64 {row}, {dy}")
        if dy < 0:
            outside = self.row.op(f"icmp slt i64 {moved}, 0")
            return self.row.op(f"select i1 {outside}, i64 0, i64 {moved}")
        inside = self.row.op(f"icmp slt i64 {moved}, {rows}")
        last = self.row.op(f"sub i64 {rows}, 1")
        return self.row.op(f"select i1 {inside}, i64 {moved}, i64 {last}")

    def load(self, code: Code, access: Access) -> str:
        if access.source >= len(self.work.reads):
            return self._load_held(code, access)
        key = (access.source, access.dy)
        assert access.dx == 0, "inputs read at column offsets go through a loader"
        if key not in self.loaded:
            array = self.work.reads[access.source]
            form = self._format(array)
            word = self.layout.reads[access.source]
            base, stride = self._word(word, "ptr"), self._word(word + 1, "i64")
            row = self._clamped_row(access.dy, "%H")
            offset = self.row.op(f"mul i64 {row}, {stride}")
            pointer = self.row.op(f"getelementptr i8, ptr {base}, i64 {offset}")
            buffer = self._tail_buffer()
            skipped = self.tail_in.op(f"mul i64 %b{self.number}.fullend, {form.pixel_bytes}")
            rest = self.tail_in.op(f"getelementptr i8, ptr {pointer}, i64 {skipped}")
            self._copy(self.tail_in, buffer, rest, form.pixel_bytes)
            column = code.op(f"mul i64 %b{self.number}.x, {form.pixel_bytes}")
            direct = self._opaque(code, f"getelementptr i8, ptr {pointer}, i64 {column}")
            place = code.op(f"select i1 %b{self.number}.full, ptr {direct}, ptr {buffer}")
            self.loaded[key] = form.load(code, place)
        return self.loaded[key][access.channel]

    def _load_held(self, code: Code, access: Access) -> str:
        number = access.source - len(self.work.reads)
        ring = self.bodies[number].ring
        assert ring is not None
        vector = Type(F32, self.lanes)
        row = self._ring_row(number, ring, access.dy)
        if not ring.planar:
            step = code.op(f"mul i64 %b{self.number}.x, {ring.channels * 4}")
            block = self._opaque(code, f"getelementptr i8, ptr {row}, i64 {step}")
            offset = access.channel * self.lanes * 4
            place = code.op(f"getelementptr i8, ptr {block}, i64 {offset}") if offset else block
            return code.op(f"load {vector}, ptr {place}, align {self._alignment}")
        plane = self._plane(number, row, access.channel, access.dy)
        place = self._opaque(code, f"getelementptr float, ptr {plane}, i64 %b{self.number}.x")
        if access.dx:
            place = code.op(f"getelementptr float, ptr {place}, i64 {access.dx}")
        align = self._alignment if access.dx == 0 else 4
        return code.op(f"load {vector}, ptr {place}, align {align}")

    @staticmethod
    def _opaque(code: Code, address: str) -> str:
        """An address that LLVM's loop strength reduction leaves alone.

        It would weigh every load of a stencil against every other (a third of the compile time), to
        find what we already wrote: one base per row, constant offsets from it.
        """
        return code.op(f"freeze ptr {code.op(address)}")

    @property
    def _alignment(self) -> int:
        return min(64, self.lanes * 4)

    def _ring_row(self, number: int, ring: Ring, dy: int) -> str:
        key = (number, dy)
        if key not in self.row_pointers:
            word = self.layout.rings[number]
            row = self._clamped_row(dy, "%H")
            slot = self.row.op(f"urem i64 {row}, {ring.depth}")
            offset = self.row.op(f"mul i64 {slot}, {self._word(word + 1, 'i64')}")
            start = self._ring_start(number)
            self.row_pointers[key] = self.row.op(f"getelementptr i8, ptr {start}, i64 {offset}")
        return self.row_pointers[key]

    def _ring_start(self, number: int) -> str:
        key = (self.layout.rings[number], "start")
        if key not in self.words:
            offset = self._word(self.layout.rings[number], "i64")
            self.words[key] = self.uniform.op(f"getelementptr i8, ptr %scratch, i64 {offset}")
        return self.words[key]

    def _plane(self, number: int, row: str, channel: int, dy: int) -> str:
        key = (number * 16 + channel + 1_000, dy)
        if key not in self.row_pointers:
            stride = self._word(self.layout.rings[number] + 2, "i64")
            offset = self.row.op(f"mul i64 {stride}, {channel}")
            self.row_pointers[key] = self.row.op(f"getelementptr i8, ptr {row}, i64 {offset}")
        return self.row_pointers[key]

    def _hold(self, number: int, ring: Ring, values: Sequence[str]) -> None:
        vector = Type(F32, self.lanes)
        row = self._ring_row(number, ring, 0)
        for channel, value in enumerate(values):
            if ring.planar:
                plane = self._plane(number, row, channel, 0)
                place = self._opaque(
                    self.lane, f"getelementptr float, ptr {plane}, i64 %b{number}.x"
                )
            else:
                step = self.lane.op(f"mul i64 %b{number}.x, {ring.channels * 4}")
                block = self._opaque(self.lane, f"getelementptr i8, ptr {row}, i64 {step}")
                offset = channel * self.lanes * 4
                place = self.lane.op(f"getelementptr i8, ptr {block}, i64 {offset}")
            self.lane.line(f"store {vector} {value}, ptr {place}, align {self._alignment}")

    def _pad_row(self, rows: Code, number: int, ring: Ring) -> None:
        """Repeat the first and the last pixel beyond the ends of a held row."""
        vector = Type(F32, self.lanes)
        for channel in range(ring.channels):
            plane = self.row_pointers[(number * 16 + channel + 1_000, 0)]
            end = rows.op(f"getelementptr float, ptr {plane}, i64 %b{number}.W")
            for pad, anchor, edge in ((ring.pad_left, plane, 0), (ring.pad_right, end, -1)):
                if not pad:
                    continue
                source = rows.op(f"getelementptr float, ptr {anchor}, i64 {edge}")
                color = rows.splat(vector, rows.op(f"load float, ptr {source}, align 4"))
                for k in range(-(-pad // self.lanes)):
                    step = k * self.lanes if edge else -(k + 1) * self.lanes
                    place = rows.op(f"getelementptr float, ptr {anchor}, i64 {step}")
                    rows.line(f"store {vector} {color}, ptr {place}, align 4")

    def _store(self, write: int, values: Sequence[str]) -> None:
        array = self.work.writes[write]
        form = self._format(array)
        p = f"b{self.number}"
        word = self.layout.writes[write]
        base, stride = self._word(word, "ptr"), self._word(word + 1, "i64")
        if self.rest is None:  # rows computed for a neighbour's sake are not ours to write
            self.row.line(f"%{p}.from = icmp sge i64 %{p}.r, %y0")
            self.row.line(f"%{p}.until = icmp slt i64 %{p}.r, %y1")
            self.row.line(f"%{p}.mine = and i1 %{p}.from, %{p}.until")
            self.rest = self.lane.op(f"and i1 %{p}.full, %{p}.mine")
        offset = self.row.op(f"mul i64 %{p}.r, {stride}")
        pointer = self.row.op(f"getelementptr i8, ptr {base}, i64 {offset}")
        buffer = self._tail_buffer()
        column = self.lane.op(f"mul i64 %{p}.x, {form.pixel_bytes}")
        direct = self._opaque(self.lane, f"getelementptr i8, ptr {pointer}, i64 {column}")
        place = self.lane.op(f"select i1 {self.rest}, ptr {direct}, ptr {buffer}")
        form.store(self.lane, place, values)
        skipped = self.tail_out.op(f"mul i64 %{p}.fullend, {form.pixel_bytes}")
        target = self.tail_out.op(f"getelementptr i8, ptr {pointer}, i64 {skipped}")
        self._copy(self.tail_out, target, buffer, form.pixel_bytes)

    # -- what bodies ask for (Sources) -----------------------------------------------------------

    def param(self, index: int, dtype: DType) -> str:
        return self._word(self.layout.params + index, Type(dtype).element)

    def extent(self, extent: Extent) -> str:
        first = (
            self.layout.shape if extent.source == OUTPUT else self.layout.reads[extent.source] + 2
        )
        return self._word(first + extent.axis, "i64")

    def coord(self, axis: int, code_row: Code, code_lane: Code) -> tuple[str, int]:
        last = 1 if self.image else len(self.work.shape) - 1
        if axis == last:
            vector = Type(S32, self.lanes)
            start = code_lane.op(f"trunc i64 %b{self.number}.x to i32")
            lanes = ", ".join(f"i32 {i}" for i in range(self.lanes))
            return code_lane.op(f"add {vector} {code_lane.splat(vector, start)}, <{lanes}>"), LANE
        assert axis < last, "an axis the output does not have"
        row = f"%b{self.number}.r"
        for inner in range(axis + 1, last):
            row = code_row.op(f"udiv i64 {row}, {self._word(self.layout.shape + inner, 'i64')}")
        if axis > 0:
            row = code_row.op(f"urem i64 {row}, {self._word(self.layout.shape + axis, 'i64')}")
        return code_row.op(f"trunc i64 {row} to i32"), ROW

    def gather(self, code: Code, gather: Gather, indices: Sequence[str]) -> str:
        key = (gather.source, *indices)
        if key not in self.gathered:
            array = self.work.reads[gather.source]
            wide = not self.image
            t = Type(S64 if wide else S32, self.lanes)
            place = ""
            for axis, index in enumerate(indices):
                limit = self._limit(t, gather.source, axis)
                if wide:
                    index = code.op(f"sext {Type(S32, self.lanes)} {index} to {t}")
                index = self._clamp(code, t, index, limit)
                if axis:
                    scaled = code.op(f"mul {t} {place}, {self._size(t, gather.source, axis)}")
                    index = code.op(f"add {t} {scaled}, {index}")
                place = index
            base = self._word(self.layout.reads[gather.source], "ptr")
            self.gathered[key] = self._format(array).gather(code, base, place, wide)
        return self.gathered[key][gather.channel]

    def _size(self, t: Type, source: int, axis: int) -> str:
        key = (self.layout.reads[source] + 2 + axis, f"size {t}")
        if key not in self.words:
            word = self.extent(Extent(source, axis))
            narrow = word if t.dtype == S64 else self.uniform.op(f"trunc i64 {word} to i32")
            self.words[key] = self.uniform.splat(t, narrow)
        return self.words[key]

    def _limit(self, t: Type, source: int, axis: int) -> str:
        key = (self.layout.reads[source] + 2 + axis, f"limit {t}")
        if key not in self.words:
            one = self.uniform.constant(t, 1)
            self.words[key] = self.uniform.op(f"sub {t} {self._size(t, source, axis)}, {one}")
        return self.words[key]

    @staticmethod
    def _clamp(code: Code, t: Type, index: str, limit: str) -> str:
        zero = code.constant(t, 0)
        low = code.select(t, code.op(f"icmp sgt {t} {index}, {zero}"), index, zero)
        return code.select(t, code.op(f"icmp slt {t} {low}, {limit}"), low, limit)

    # -- arguments -------------------------------------------------------------------------------

    def _lay_out(self) -> Layout:
        word = HEADER + len(self.work.shape[:2] if self.image else self.work.shape)
        reads = []
        for array in self.work.reads:
            reads.append(word)
            word += 2 + len(extents_of(array, self.image))
        writes = [word + 2 * i for i in range(len(self.work.writes))]
        word += 2 * len(self.work.writes)
        rings = [word + 3 * i for i in range(len(self.bodies))]
        word += 3 * len(self.bodies)
        return Layout(HEADER, tuple(reads), tuple(writes), tuple(rings), word)

    def _word(self, index: int, type_: str) -> str:
        key = (index, type_)
        if key not in self.words:
            address = self.uniform.op(f"getelementptr i64, ptr %args, i64 {index}")
            self.words[key] = self.uniform.op(f"load {type_}, ptr {address}, align 8")
        return self.words[key]

    @staticmethod
    def _load_word(code: Code, name: str, index: int) -> None:
        address = code.op(f"getelementptr i64, ptr %args, i64 {index}")
        code.line(f"{name} = load i64, ptr {address}, align 8")

    def _choose_lanes(self, vector_bytes: int) -> int:
        if self.image:
            return vector_bytes // 4
        sizes = {n.dtype.bytes for b in self.bodies for n in walk(b.roots) if n.dtype.kind != "b"}
        indexed = any(n.op == "gather" for b in self.bodies for n in walk(b.roots))
        return vector_bytes // max(*sizes, 8 if indexed else 1, 1)
