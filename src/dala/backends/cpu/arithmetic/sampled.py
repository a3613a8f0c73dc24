"""Bilinear samples of bytes in 16 bits: ``src.sample(u, v)`` of an RGBA image into one.

Turned, warped and resized images spent their time on pixels that were gathered, converted to f32, mixed and
converted back. Here they stay bytes. Two pixels beside each other are one load, and the two below them
another, at the same column one row further. Channels become 16-bit numbers with FRACTION_BITS, and
each mix, a + (b - a) · t, is one multiplication that rounds (t has 15 bits).

Positions are moved onto the image instead of pixels to its edge: u, within 0 and the last column, lies
between a pixel and the one after it. That gives what repeating the edge gives, and nothing else is clamped.
Where u or v is not finite, neither is the mix of the reference, and its level is 0.

The error, in levels: a share is off by less than 1.5 · 2⁻¹⁵, so 255 levels by 0.012; each product is
rounded to FRACTION_BITS, 0.008; both twice, for columns and rows, and once more where a factor fades
them: less than 0.06.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dala.backends.cpu.analysis.bilinear import Sampled, ends_with, find_sample
from dala.backends.cpu.arithmetic.base import (
    PIXEL,
    CpuArithmetic,
    Subject,
    Values,
    write_bytes,
    written_down,
)
from dala.backends.cpu.arithmetic.sums16 import ZippedSums16, choose_sums16
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, ROW, LaneWriter, Sources, count_from
from dala.backends.cpu.emit.pixels import join
from dala.backends.cpu.llvm.text import Code, Type, splat
from dala.backends.cpu.schedule.cost import Match, cost_of_channels
from dala.ir.dtypes import BOOL, F32, F64, S32, U8
from dala.ir.graph import Extent, Gather, Node, Stage, const

FRACTION_BITS = 6
ONE = (1 << 15) - 1  # the share of a whole pixel
WHOLE = 1 << 15 - FRACTION_BITS  # times this, what is left are levels
PART = 4  # numbers that are written at once
ZERO = -1  # instead of a byte


@dataclass(frozen=True)
class SampledArithmetic(CpuArithmetic):
    """A bilinear sample of an RGBA image of bytes.

    The node of a channel has five arguments: one of the pixels, u, v, what is multiplied by, and the
    condition for it not to be 0; the last two are 1 and true where nothing was asked.
    """

    def match_stage(self, subject: Subject, stage: Stage) -> Values | None:
        whole = subject.program.has_one_size and len(stage.body) == PIXEL
        found = find_sample(stage.body) if whole else None
        if found is None or not subject.is_picture(found.source):
            return None
        return _write_down(found, cost_of_channels(stage.body))

    def write(self, body: BodyContext) -> None:
        assert not body.body.margin
        positions = _Positions(body, _read(written_down(body)))
        positions.carry()
        pixels = _Mixer(body, positions).pixels()
        write_bytes(body, lambda _: pixels)


SAMPLED = SampledArithmetic("sampled", own_body=True, relative_cost=0.33, contracts=True)


def _write_down(found: Sampled, operations: list[float]) -> Values:
    condition = found.condition or const(True, BOOL)
    first = const(0, S32)
    channels = []
    for channel in range(PIXEL):
        factor = found.color if channel < PIXEL - 1 else found.alpha
        pixel = Node("gather", F32, (first, first), Gather(found.source, channel))
        args = (pixel, found.u, found.v, factor or const(1.0, F32), condition)
        channels.append(Node("sample", F32, args, Match(operations[channel])))
    return tuple(channels)


def _read(values: Values) -> Sampled:
    (pixel, u, v, color, condition), alpha = values[0].args, values[-1].args[3]
    assert isinstance(pixel.attr, Gather)
    asked = (None if n.op == "const" else n for n in (color, alpha, condition))
    return Sampled(pixel.attr.source, u, v, *asked)


class _Axis(NamedTuple):
    """Pixels along one axis: the first of two, and the share of the second in 15 bits."""

    first: str
    share: str


class _Ahead(Sources):
    """What positions are made of, for the pixels from a column on."""

    def __init__(self, body: BodyContext, column: str) -> None:
        self.body, self.owner, self.column = body, body.owner, column

    def coord(self, axis: int, code_row: Code, code_lane: Code) -> tuple[str, int]:
        if axis == 0:
            return self.body.coord(axis, code_row, code_lane)
        return count_from(code_lane, self.column, Type(S32, self.body.lanes)), LANE


class _Positions:
    """Where the pixels of a vector are, their shares and factors: computed one vector ahead.

    A processor looks some 300 instructions ahead, hardly more than one vector takes. Loads that wait for
    positions would keep it waiting with them; so those are there already, from the round before.
    """

    def __init__(self, body: BodyContext, found: Sampled) -> None:
        self.body, self.found = body, found
        self.f32, self.i32 = Type(F32, body.lanes), Type(S32, body.lanes)
        self.notes = body.owner.scratch()  # the numbers of two vectors, in turns
        self.numbers = ""
        self.across, self.down, self.factors = (body.owner.names.fresh() for _ in range(3))
        self.fades = found.color is not None or found.alpha is not None
        self.width = body.uniform.splat(self.i32, self._size(1))

    def carry(self) -> None:
        """From round to round: those of the first vector of a row, and in each those of the next."""
        body, code = self.body, self.body.lane
        number, *first = self._compute(body.row, "0")
        self._note(body.row, number, self.notes)
        column = code.op(f"add i64 %b{body.number}.x, {body.lanes}")
        number, *following = self._compute(code, column)
        turn = code.op(f"and i64 {column}, {body.lanes}")
        self._note(code, number, code.op(f"getelementptr i32, ptr {self.notes}, i64 {turn}"))
        # LLVM would compute positions where the round ends, and the next one would wait for them
        code.line('call void asm sideeffect "", "~{memory}"()')
        turned = code.op(f"xor i64 {turn}, {body.lanes}")
        self.numbers = code.op(f"getelementptr i32, ptr {self.notes}, i64 {turned}")
        names = (self.across, self.down, self.factors)
        for name, start, then in zip(names, first, following, strict=True):
            body.carried.append((name, str(self.i32), start, then))

    def _note(self, code: Code, numbers: str, address: str) -> None:
        """In memory, which is cheaper than taking a vector apart; in parts that a processor hands on."""
        for first in range(0, self.body.lanes, PART):
            part = code.shuffle(self.i32, numbers, range(first, first + PART))
            at = code.op(f"getelementptr i32, ptr {address}, i64 {first}")
            code.line(f"store <{PART} x i32> {part}, ptr {at}, align 16")

    def _compute(self, code: Code, column: str) -> tuple[str, ...]:
        found, body = self.found, self.body
        writer = LaneWriter(_Ahead(body, column), body.lanes, body.uniform, body.row, code)
        given = (found.u, found.v, found.color, found.alpha, found.condition)
        writer.write([n for n in given if n is not None])
        rows, columns = self._axis(writer, found.v, 0), self._axis(writer, found.u, 1)
        above = code.op(f"mul {self.i32} {rows.first}, {self.width}")
        number = code.op(f"add {self.i32} {above}, {columns.first}")
        return number, columns.share, rows.share, self._factors(code, writer)

    def _axis(self, writer: LaneWriter, position: Node, axis: int) -> _Axis:
        code, uniform = writer.sections[max(ROW, writer.rates[id(position)])], self.body.uniform
        i32, f32 = self.i32, self.f32
        last = uniform.op(f"sub i32 {self._size(axis)}, 1")
        end = uniform.splat(f32, uniform.op(f"sitofp i32 {last} to float"))
        inside = _choose(code, f32, "ogt", writer.vector(position), code.constant(f32, 0.0))
        inside = _choose(code, f32, "olt", inside, end)
        first = code.op(f"fptosi {f32} {inside} to {i32}")
        if (
            axis == 0
        ):  # after the last column there is something to read; after the last row, nothing
            before = uniform.intrinsic("smax", Type(S32), [uniform.op(f"sub i32 {last}, 1"), "0"])
            first = code.intrinsic("smin", i32, [first, uniform.splat(i32, before)])
        rest = code.op(f"fsub {f32} {inside}, {code.op(f'sitofp {i32} {first} to {f32}')}")
        return _Axis(first, self._scaled(code, rest))

    def _scaled(self, code: Code, share: str) -> str:
        """A number within 0..1 in 15 bits, the lower half of 32.

        Added to 2²³, a float has no fraction left: what it is rounded to are its lower bits.
        """
        f32 = self.f32
        factor, shift = code.constant(f32, float(ONE)), code.constant(f32, float(1 << 23))
        if code.names.fma:
            near = code.intrinsic("fma", f32, [share, factor, shift])
        else:
            near = code.op(f"fadd {f32} {code.op(f'fmul {f32} {share}, {factor}')}, {shift}")
        return code.op(f"bitcast {f32} {near} to {self.i32}")

    def _size(self, axis: int) -> str:
        extent = self.body.extent(Extent(self.found.source, axis))
        return self.body.uniform.op(f"trunc i64 {extent} to i32")

    def _factors(self, code: Code, writer: LaneWriter) -> str:
        """That of the colours in the lower half, that of alpha in the upper; 0 where nothing is.

        Where none fades, they leave levels at once.
        """
        i32, parts = self.i32, []
        for factor in (self.found.color, self.found.alpha):
            whole = code.constant(i32, ONE if self.fades else WHOLE)
            parts.append(whole if factor is None else self._scaled(code, writer.vector(factor)))
        color = code.op(f"and {i32} {parts[0]}, {code.constant(i32, 0xFFFF)}")
        alpha = code.op(f"shl {i32} {parts[1]}, {code.constant(i32, 16)}")
        both = code.op(f"or {i32} {color}, {alpha}")
        return code.select(i32, self._usable(code, writer), both, "zeroinitializer")

    def _usable(self, code: Code, writer: LaneWriter) -> str:
        """Whether u and v are finite, and the condition holds."""
        found = self.found
        holds = None if found.condition is None else writer.vector(found.condition)
        if holds is not None and all(ends_with(found.condition, n) for n in (found.u, found.v)):
            return holds
        u, v = self._nothing(writer, found.u), self._nothing(writer, found.v)
        finite = code.op(f"fcmp ord {self.f32} {u}, {v}")
        if holds is None:
            return finite
        return code.op(f"and <{self.body.lanes} x i1> {finite}, {holds}")

    def _nothing(self, writer: LaneWriter, position: Node) -> str:
        """Zero times a position: NaN if it is not finite."""
        code = writer.sections[max(ROW, writer.rates[id(position)])]
        zero = code.constant(self.f32, 0.0)
        return code.op(f"fmul {self.f32} {writer.vector(position)}, {zero}")


def _choose(code: Code, t: Type, compare: str, a: str, b: str) -> str:
    """a if it compares so, else b: the smaller or the larger, and b for NaN."""
    return code.select(t, code.op(f"fcmp {compare} {t} {a}, {b}"), a, b)


class _Mixer:
    """The pixels of a vector, from what is written down of them."""

    def __init__(self, body: BodyContext, positions: _Positions) -> None:
        self.body, self.positions, self.lanes = body, positions, body.lanes
        self.code, self.i32 = body.lane, positions.i32
        self.sums16 = choose_sums16(body, [])
        self.packs = isinstance(self.sums16, ZippedSums16)

    def pixels(self) -> str:
        """The packed pixels, with their type."""
        parts = [self._mix(group) for group in self._groups()]
        return f"{self.sums16.bytes} {self._pack(parts)}"

    def _groups(self) -> list[list[int]]:
        """Which pixels are mixed together: packed, they come in order."""
        if not self.packs:
            return [list(range(self.lanes // 2)), list(range(self.lanes // 2, self.lanes))]
        return [[n for n in range(self.lanes) if n // 2 % 2 == half] for half in range(2)]

    def _pack(self, parts: list[str]) -> str:
        if self.packs:
            return self.sums16.join(parts)
        code, narrow = self.code, Type(U8, self.sums16.lanes)
        bytes_ = [code.op(f"trunc {self.sums16.vector} {p} to {narrow}") for p in parts]
        return join(code, bytes_, narrow)

    def _mix(self, group: list[int]) -> str:
        """The levels of some pixels as 16-bit numbers."""
        across = self._spread(self.positions.across, group)
        top, bottom = (self._line(group, below, across) for below in (False, True))
        sums16, down = self.sums16, self._spread(self.positions.down, group)
        mixed = sums16.op("add", top, sums16.multiply(sums16.op("sub", bottom, top), down))
        mixed = sums16.multiply(mixed, self._spread(self.positions.factors, group, upper=3))
        return sums16.multiply(mixed, splat(WHOLE)) if self.positions.fades else mixed

    def _line(self, group: list[int], below: bool, across: str) -> str:
        """The mix of pixels that lie beside each other."""
        code, two = self.code, Type(F64, 2)
        parts = []
        for lanes in zip(group[::2], group[1::2], strict=True):
            both = "poison"
            for number, lane in enumerate(lanes):  # as numbers they would be moved twice
                pair = code.op(f"load double, ptr {self._address(lane, below)}, align 1")
                both = code.op(f"insertelement {two} {both}, double {pair}, i64 {number}")
            parts.append(both)
        pairs = join(code, parts, two)
        block = code.op(f"bitcast <{len(group)} x double> {pairs} to {self.sums16.bytes}")
        left, step = self._differences(block)
        return self.sums16.op("add", left, self.sums16.multiply(step, across))

    def _differences(self, block: str) -> tuple[str, str]:
        """Of pairs of pixels, the first and what is from it to the second, with FRACTION_BITS."""
        one = 1 << FRACTION_BITS
        if isinstance(self.sums16, ZippedSums16):  # a pair of bytes is weighed in one instruction
            zipped = self._picked(block, [c + k for c in range(PIXEL) for k in (0, PIXEL)])
            return self.sums16.weigh(zipped, one, 0), self.sums16.weigh(zipped, -one, one)
        first, second = self._widened(block, 0), self._widened(block, PIXEL)
        return first, self.sums16.op("sub", second, first)

    def _widened(self, block: str, first: int) -> str:
        """Four bytes of every eight as 16-bit numbers."""
        order = [n for c in range(PIXEL) for n in (first + c, ZERO)]
        t, sums16 = self.sums16.bytes, self.sums16
        words = self.code.op(f"bitcast {t} {self._picked(block, order)} to {sums16.vector}")
        return sums16.op("shl", words, splat(FRACTION_BITS))

    def _address(self, lane: int, below: bool) -> str:
        code, body = self.code, self.body
        word = body.owner.layout.reads[self.positions.found.source]
        start = body.owner.word(word, "ptr")
        if below:  # an image of one row has none
            rows = body.extent(Extent(self.positions.found.source, 0))
            several = body.uniform.op(f"icmp sgt i64 {rows}, 1")
            stride = body.owner.word(word + 1, "i64")
            further = body.uniform.op(f"select i1 {several}, i64 {stride}, i64 0")
            start = body.uniform.op(f"getelementptr i8, ptr {start}, i64 {further}")
        where = code.op(f"getelementptr i32, ptr {self.positions.numbers}, i64 {lane}")
        number = code.op(f"load i32, ptr {where}, align 4")
        return code.op(f"getelementptr i32, ptr {start}, i32 {number}")

    def _picked(self, block: str, order: list[int]) -> str:
        """Bytes of every eight in another order."""
        size, t = 2 * self.sums16.lanes, self.sums16.bytes
        order_of_bytes = [
            size if n == ZERO else start + n for start in range(0, size, 8) for n in order
        ]
        return self.code.shuffle(t, block, order_of_bytes, "zeroinitializer")

    def _spread(self, values: str, group: list[int], upper: int = PIXEL) -> str:
        """One number per pixel → one per channel; from channel ``upper`` on, that in the upper half."""
        words = f"<{2 * self.lanes} x i16>"
        numbers = self.code.op(f"bitcast {self.i32} {values} to {words}")
        chosen = [2 * lane + (c >= upper) for lane in group for c in range(PIXEL)]
        return self.code.shuffle(words, numbers, chosen)
