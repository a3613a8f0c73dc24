"""The native function of a pass, as LLVM text.

    pass(args, scratch):
        uniform values
        while a band of rows is left (an atomic counter hands them out):
            for each row, and ``lead`` rows ahead for the bodies that others read:
                for each vector of pixels: load, compute, buffer or store

body.py writes what is inside the innermost loop; this file, what is around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from dala.backends.cpu.arithmetic.catalogue import choose_after_fusion
from dala.backends.cpu.emit.body import BodyEmitter
from dala.backends.cpu.emit.pass_context import (
    BAND_ROWS,
    BANDS,
    COLUMNS,
    LAST_COLUMNS,
    ROWS,
    Layout,
    PassContext,
)
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.llvm.text import Code, counted
from dala.backends.cpu.schedule.cost import cost_of_pass
from dala.backends.cpu.schedule.rows import schedule_rows
from dala.backends.cpu.schedule.sweep import RowBody, Sweep
from dala.plan.fuse import FusedPass


@dataclass(frozen=True, slots=True)
class NativePass:
    """A pass ready to compile: its text, how to call it, and what it needs."""

    text: str
    layout: Layout
    lanes: int
    sweep: Sweep
    by_rows: bool  # rows are the last axis; otherwise a tensor is cut into even pieces
    tails: int
    scratch_per_line: tuple[int, ...]  # of scratch, for each row and for each column
    cost: float  # vector operations per element

    @property
    def halo(self) -> int:
        """Rows that two neighbouring bands both compute."""
        return max((b.lead - b.first for b in self.sweep.bodies), default=0)


def emit_pass(work: FusedPass, host: Host) -> NativePass:
    """LLVM text for a pass on a machine such as ``host``."""
    return PassEmitter(work, host, schedule_rows(work)).emit()


class PassEmitter(PassContext):
    """The frame around the bodies: arguments, bands, rows."""

    def emit(self) -> NativePass:
        bounds, rows = Code(self.names), Code(self.names)
        self.arithmetics = [choose_after_fusion(self, b.one_turn) for b in self.bodies]
        for number, following in pairwise((*self.sweep.order, -1)):
            self._emit_body(rows, bounds, number, following)
        text = self._frame(bounds, rows)
        costs = [a.cost(self.work, b) for a, b in zip(self.arithmetics, self.bodies, strict=True)]
        cost = cost_of_pass(self.work, costs, self.lanes)
        return NativePass(
            text,
            self.layout,
            self.lanes,
            self.sweep,
            self.by_rows,
            self.tails,
            tuple(self.scratch_per_line),
            cost,
        )

    # -- the frame: bands and rows ---------------------------------------------------------------

    def _frame(self, bounds: Code, rows: Code) -> str:
        head = Code(self.names)
        for name, index in (("bands", BANDS), ("band_rows", BAND_ROWS), ("H", ROWS)):
            self._load_word(head, f"%{name}", index)
        self._load_word(head, "%W", COLUMNS)
        self._load_word(head, "%Wlast", LAST_COLUMNS)
        head.line("%H1 = sub i64 %H, 1")
        for mip in sorted({b.mip for b in self.bodies} - {0}):
            for size in ("H", "W"):
                head.line(f"%{size}.up{mip} = add i64 %{size}, {(1 << mip) - 1}")
                head.line(f"%{size}.grid{mip} = lshr i64 %{size}.up{mip}, {mip}")
            head.line(f"%H1.grid{mip} = sub i64 %H.grid{mip}, 1")
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
        warm_up = min(b.first - b.lead - (1 << b.mip) + 1 for b in self.bodies)
        band.line(f"%t0 = add i64 %y0, {warm_up}")
        band.lines += bounds.lines
        band.line("br label %row")
        band.label("row")
        band.line("%time = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]")
        band.line(f"%t = {counted('%time')}")
        band.line(f"br label %b{self.sweep.order[0]}.check")
        tail = [
            "row.next:",
            "  %t.next = add i64 %time, 1",
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
            *self.prelude.lines,
            *band.lines,
            *rows.lines,
            *tail,
        ]
        width = f'"min-legal-vector-width"="{self.vector_bytes * 8}" "prefer-vector-width"="512"'
        attributes = f"attributes #0 = {{ nounwind {width} }}"
        return "\n".join([*declarations, *functions, *lines, attributes]) + "\n"

    def _rows_in_band(self, code: Code, body: RowBody) -> tuple[str, str]:
        """The first row of a body that a band needs, and how many: one at least."""
        early = code.shift_down(code.add("%y0", body.first), body.mip)
        late = code.add("%y1", body.lead + (1 << body.mip) - 1)
        end = code.add(self.rows_of(body.mip), body.margin)
        first = code.largest(early, -body.margin)
        last = code.least(code.shift_down(late, body.mip), end)
        return first, code.op(f"sub i64 {last}, {first}")

    def _emit_body(self, rows: Code, bounds: Code, number: int, next_one: int) -> None:
        p, body = f"b{number}", self.bodies[number]
        following = f"b{next_one}.check" if next_one >= 0 else "row.next"
        inner = BodyEmitter(self, number, body, self.arithmetics[number])
        padding = Code(self.names, f"{p}.after" if body.stores else f"{p}.done")
        if body.ring is not None and body.ring.pad_left + body.ring.pad_right > 0:
            inner.pad_row(padding)
        rows.label(f"{p}.check")
        due = self._row_is_due(rows, p, body, *self._rows_in_band(bounds, body))
        rows.line(f"br i1 {due}, label %{p}.row, label %{following}")
        rows.label(f"{p}.row")
        self._measure_row(rows, p, inner)
        rows.lines += inner.row.lines
        if inner.planes:
            self._emit_planes(rows, p, inner, len(inner.planes.roots))
        else:
            self._emit_loop(rows, p, inner, inner.row.block, f"{p}.done")
        rows.label(f"{p}.done")
        if body.stores:
            spill = rows.op(f"and i1 %{p}.partial, {inner.mine}")
            self._guarded(rows, f"{p}.out", spill, inner.tail_out, f"{p}.after")
        rows.lines += padding.lines
        rows.line(f"br label %{following}")

    @staticmethod
    def _row_is_due(rows: Code, p: str, body: RowBody, first: str, count: str) -> str:
        """Whether the sweep has come to a row of the body, and the band needs it."""
        rows.line(f"%{p}.now = add i64 %t, {body.lead}")
        rows.line(f"%{p}.r = ashr i64 %{p}.now, {body.mip}")
        number = rows.op(f"sub i64 %{p}.r, {first}")
        due = rows.op(
            f"icmp ult i64 {number}, {count}"
        )  # unsigned: no row before the first, either
        if not body.mip:
            return due
        phase = rows.op(f"and i64 %{p}.now, {(1 << body.mip) - 1}")
        return rows.op(f"and i1 {due}, {rows.op(f'icmp eq i64 {phase}, 0')}")

    @staticmethod
    def _measure_row(rows: Code, p: str, inner: BodyEmitter) -> None:
        """How wide the row is; and of one that is stored, where its partial vector begins."""
        body = inner.body
        if body.mip:
            rows.line(f"%{p}.W = add i64 %W.grid{body.mip}, 0")
        else:
            rows.line(f"%{p}.isend = icmp eq i64 %{p}.r, %H1")
            rows.line(f"%{p}.W = select i1 %{p}.isend, i64 %Wlast, i64 %W")
        rows.line(f"%{p}.Wend = add i64 %{p}.W, {body.margin}")
        if body.stores:
            rows.line(f"%{p}.rest = urem i64 %{p}.W, {inner.lanes}")
            rows.line(f"%{p}.partial = icmp ne i64 %{p}.rest, 0")
            rows.line(f"%{p}.fullend = sub i64 %{p}.W, %{p}.rest")

    def _emit_planes(self, rows: Code, p: str, inner: BodyEmitter, count: int) -> None:
        """The loop over the row, for one plane after the other."""
        rows.line(f"br label %{p}.plane")
        rows.label(f"{p}.plane")
        rows.line(f"%{p}.n = phi i64 [ 0, %{inner.row.block} ], [ %{p}.n.next, %{p}.turned ]")
        rows.line(f"%{p}.turn = {counted(f'%{p}.n')}")
        rows.lines += inner.plane.lines
        self._emit_loop(rows, p, inner, inner.plane.block, f"{p}.turned")
        rows.label(f"{p}.turned")
        rows.line(f"%{p}.n.next = add nuw nsw i64 %{p}.n, 1")
        rows.line(f"%{p}.more = icmp slt i64 %{p}.n.next, {count}")
        rows.line(f"br i1 %{p}.more, label %{p}.plane, label %{p}.done")

    @staticmethod
    def _emit_loop(rows: Code, p: str, inner: BodyEmitter, start: str, done: str) -> None:
        """The loop over the row, from one block to another."""
        rows.line(f"br i1 {inner.unchanged}, label %{done}, label %{p}.loop")
        rows.label(f"{p}.loop")
        # a margin to the left is computed with the vector before the first one
        first, back = -inner.lanes if inner.body.margin else 0, inner.lane.block
        rows.line(f"%{p}.column = phi i64 [ {first}, %{start} ], [ %{p}.x.next, %{back} ]")
        for name, type_, initial, next_value in inner.carried:
            rows.line(f"{name} = phi {type_} [ {initial}, %{start} ], [ {next_value}, %{back} ]")
        rows.line(f"%{p}.x = {counted(f'%{p}.column')}")
        if inner.body.stores:
            rows.line(f"%{p}.full = icmp slt i64 %{p}.x, %{p}.fullend")
        rows.lines += inner.lane.lines
        rows.line(f"%{p}.x.next = add nsw i64 %{p}.column, {inner.lanes}")
        rows.line(f"%{p}.on = icmp slt i64 %{p}.x.next, %{p}.Wend")
        rows.line(f"br i1 %{p}.on, label %{p}.loop, label %{done}")

    @staticmethod
    def _guarded(rows: Code, label: str, condition: str, inner: Code, after: str) -> None:
        """``if condition: inner`` then go on at ``after``."""
        rows.line(f"br i1 {condition}, label %{label}, label %{after}")
        rows.label(label)
        rows.lines += inner.lines
        rows.line(f"br label %{after}")
        rows.label(after)

    @staticmethod
    def _load_word(code: Code, name: str, index: int) -> None:
        address = code.op(f"getelementptr i64, ptr %args, i64 {index}")
        code.line(f"{name} = load i64, ptr {address}, align 8")
