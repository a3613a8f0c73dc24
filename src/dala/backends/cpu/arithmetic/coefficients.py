"""The filter coefficients of a resampled axis: the first tap and the weights at each position, in a table.

They are the same for all columns, or rows, so the table is filled before the first band, a vector of
positions at a time. A tap beyond the border reads the edge. For columns the table says so: it moves the
first tap to where all taps lie inside the image, and the weight of an edge pixel is the sum of the weights
of the taps that clamp to it; whoever reads the table need not clamp. Rows are clamped when they are mixed,
because ring-buffered rows of a source are there only once the sweep has come to them.
"""

from __future__ import annotations

from dala.backends.cpu.analysis.separable import Axis
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, LaneWriter, Sources, count_from
from dala.backends.cpu.llvm.text import Code, Type, splat
from dala.ir.dtypes import F32, S32

WEIGHT_BITS = 14  # fraction bits of a weight, which has 16 with its sign


class Coefficients:
    """Those of one axis of a body (0: rows, 1: columns). For each vector of positions: the numbers of the
    first taps, times ``unit``; then the weights of each two taps, 16 bits each. With the ``extent`` of the
    source, taps are moved inside of it."""

    def __init__(
        self, body: BodyContext, axis: int, taps: Axis, extent: str = "", unit: int = 1
    ) -> None:
        self.body, self.axis, self.taps, self.unit = body, axis, taps, unit
        self.count = len(taps.weights)
        self.size = 4 * (1 + self.count // 2)  # bytes for each position
        self.lanes = body.owner.lanes
        self.f32, self.i32 = Type(F32, self.lanes), Type(S32, self.lanes)
        self.extent = body.uniform.op(f"trunc i64 {extent} to i32") if extent else ""
        self.start = body.owner.scratch_along(axis, self.size)
        self.positions = body.owner.size_of(body.body.mip, axis)
        body.owner.prelude.repeat(self.positions, self.lanes, [], self._fill)

    def first(self, code: Code, position: str) -> str:
        """The address of the first taps of a vector of positions, or of one position in it."""
        return self._address(code, position, 0)

    def weights(self, code: Code, position: str, pair: int) -> str:
        """The address of a pair of weights of a vector of positions, or of one position in it."""
        return self._address(code, position, 1 + pair)

    def _address(self, code: Code, position: str, part: int) -> str:
        lane = code.op(f"and i64 {position}, {self.lanes - 1}")
        block = code.op(f"mul i64 {code.op(f'sub i64 {position}, {lane}')}, {self.size}")
        start = code.op(f"getelementptr i8, ptr {self.start}, i64 {block}")
        here = code.op(f"getelementptr i32, ptr {start}, i64 {lane}")
        return code.moved(here, 4 * self.lanes * part)

    def _fill(self, code: Code, position: str, carried: list[str]) -> list[str]:
        body, i32, along = self.body, self.i32, _Along(self, position)
        writer = LaneWriter(along, self.lanes, body.uniform, code, code)
        writer.write(self.taps.weights)
        weights = [writer.vector(w) for w in self.taps.weights]
        if self.taps.base is not None:
            writer.write([self.taps.base])
            base = writer.vector(self.taps.base)
        else:
            one = splat(1, "i32")
            base = code.op(f"shl {i32} {along.coord(self.axis, code, code)[0]}, {one}")
        wanted = [  # positions may lie as far outside as numbers go
            code.intrinsic("sadd.sat", i32, [base, splat(self.taps.offset + k, "i32")])
            for k in range(self.count)
        ]
        first = self._inside(code, wanted[0], self.count) if self.extent else wanted[0]
        noted = code.op(f"mul {i32} {first}, {splat(self.unit, 'i32')}")
        start = self._address(code, position, 0)
        code.line(f"store {i32} {noted}, ptr {start}, align 4")
        if not self.extent:
            for k in range(0, self.count, 2):
                pair = [self._scaled(code, w) for w in weights[k : k + 2]]
                self._store_pair(code, pair, code.moved(start, 4 * self.lanes * (1 + k // 2)))
            return carried
        numbers = [code.op(f"sub {i32} {self._inside(code, w, 1)}, {first}") for w in wanted]

        def fill_pair(inner: Code, index: str, done: list[str]) -> list[str]:
            even = inner.op(f"shl i32 {inner.op(f'trunc i64 {index} to i32')}, 1")
            pair = [
                self._weight(inner, numbers, weights, number)
                for number in (even, inner.op(f"or i32 {even}, 1"))
            ]
            at = inner.op(f"getelementptr {i32}, ptr {start}, i64 {inner.add(index, 1)}")
            self._store_pair(inner, pair, at)
            return done

        code.repeat(self.count // 2, 1, [], fill_pair)
        return carried

    def _store_pair(self, code: Code, pair: list[str], address: str) -> None:
        low = code.op(f"and {self.i32} {pair[0]}, {splat(0xFFFF, 'i32')}")
        high = code.op(f"shl {self.i32} {pair[1]}, {splat(16, 'i32')}")
        both = code.op(f"or {self.i32} {low}, {high}")
        code.line(f"store {self.i32} {both}, ptr {address}, align 4")

    def _inside(self, code: Code, number: str, count: int) -> str:
        """The number of a pixel, clamped so that ``count`` pixels from there on are inside, if there are so
        many."""
        last = self.body.uniform.op(f"sub i32 {self.extent}, {count}")
        low = code.intrinsic("smin", self.i32, [number, self.body.uniform.splat(self.i32, last)])
        return code.intrinsic("smax", self.i32, [low, splat(0, "i32")])

    def _weight(self, code: Code, numbers: list[str], weights: list[str], number: str) -> str:
        """The sum of the weights of all taps that read the pixel of this number."""
        f32, zero = self.f32, code.constant(self.f32, 0.0)
        total, here = zero, code.splat(self.i32, number)
        for other, weight in zip(numbers, weights, strict=True):
            reads = code.op(f"icmp eq {self.i32} {other}, {here}")
            total = code.op(f"fadd {f32} {total}, {code.select(f32, reads, weight, zero)}")
        return self._scaled(code, total)

    def _scaled(self, code: Code, weight: str) -> str:
        """A weight in 16 bits. NaN becomes 0, because f32 stores a mix with a NaN as level 0."""
        f32, zero = self.f32, code.constant(self.f32, 0.0)
        finite = code.select(f32, code.op(f"fcmp ord {f32} {weight}, {zero}"), weight, zero)
        scaled = code.op(f"fmul {f32} {finite}, {code.constant(f32, float(1 << WEIGHT_BITS))}")
        return code.op(f"fptosi {f32} {code.intrinsic('rint', f32, [scaled])} to {self.i32}")


class _Along(Sources):
    """What positions are made of, for a vector of them along an axis."""

    def __init__(self, table: Coefficients, start: str) -> None:
        self.owner, self.axis, self.start = table.body.owner, table.axis, start
        self.vector = table.i32

    def coord(self, axis: int, code_row: Code, code_lane: Code) -> tuple[str, int]:
        assert axis == self.axis, "taps along one axis know nothing of the other"
        return count_from(code_lane, self.start, self.vector), LANE
