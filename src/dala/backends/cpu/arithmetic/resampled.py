"""Blocks of pixels mixed by weights of their columns and rows (see separable.py), in 16 bits.

Columns first: each row of the source that is needed is mixed once, at the columns of the output, and kept
as a line in a ring buffer. Most lines of the next output row are in it already, so enlarging an image costs
little more than the second step: lines mixed by the weights of the row, in plain vectors.

The pixels that a pixel of a line is mixed of lie side by side, four to a load (of two, the others are not
looked at); of each channel, two neighbours are weighed and added in one instruction. Where they begin, and
what they weigh, is in a table (coefficients.py).

The error, in levels, for n taps along an axis whose weights have sizes that add up to s: weights are off by
2⁻¹⁵, so a line is by n · 255 · 2⁻¹⁵, and by 2⁻⁷ more once it is rounded to FRACTION_BITS; mixing
lines multiplies that by s, adds n · s · 255 · 2⁻¹⁵ for the weights of rows, and n · 2⁻⁶ for products that
are rounded. Together less than 0.08 for bilinear (n = 2, s = 1), 0.17 for bicubic (4, 1.375), and 0.36 for
lanczos (8, 1.72).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from dala.backends.cpu.analysis.separable import Axis, Separable, find_separable, weights_fit
from dala.backends.cpu.arithmetic.base import (
    PIXEL,
    CpuArithmetic,
    Subject,
    Values,
    write_bytes,
    written_down,
)
from dala.backends.cpu.arithmetic.coefficients import WEIGHT_BITS, Coefficients
from dala.backends.cpu.arithmetic.sums16 import choose_sums16
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.pixels import gather_elements, join
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Code, Type, splat
from dala.backends.cpu.schedule.cost import Match
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.dtypes import F32, S32, U16
from dala.ir.graph import Access, Gather, Node, Stage
from dala.plan.fuse import FusedPass

FRACTION_BITS = 6  # of a line
CHANNEL_BYTES = 2  # of a channel in a line
TAP, TAP_OF_LINE = 5, 19  # operations for a tap of a row, and of each line that is mixed for it
QUAD = 4  # pixels that are loaded together
NONE = -1 << 40  # the row after the last line in the ring buffer, as long as there is none


@dataclass(frozen=True, slots=True)
class ResampledMatch(Match):
    """A channel that is a mix of a block of pixels: how many columns, and where columns and rows begin.

    Its node's arguments are a gather at the base of both, or the loads of the block; then the weights.
    """

    pixels: int  # arguments before the weights
    columns: int
    across: int
    down: int


@dataclass(frozen=True)
class ResampledArithmetic(CpuArithmetic):
    """A stage that mixes blocks of an image of bytes, RGBA or grey, by their columns and rows."""

    def match_stage(self, subject: Subject, stage: Stage) -> Values | None:
        program, found = subject.program, find_separable(stage.body)
        if found is None or stage.margin or not subject.is_picture(found.source, found.channels):
            return None
        # gathered from an image of any size, or read from one of twice the size
        whole = program.has_one_size and found.rows.base
        twice = not found.rows.base and program.mip_of(found.source) == stage.mip - 1
        return _write_down(found) if (whole or twice) and weights_fit(found) else None

    def cost(self, work: FusedPass, body: RowBody) -> float:
        """A row of the source is mixed once, if several rows need it."""
        found = _read(tuple(root.args[0] for root in body.buffered or body.stores[0].values))
        taps, lines = len(found.rows.weights), 2.0  # of an image of twice the size
        if found.rows.base:
            needed = work.reads[found.source].type.shape[0] / work.shape[0] * (1 << body.mip)
            lines = min(taps, needed)
        share = found.channels / PIXEL
        return share * taps * (TAP + TAP_OF_LINE * lines) / (1 << 2 * body.mip)

    def lanes(self, body: BodyContext) -> int:
        return body.owner.vector_bytes // body.channels

    def write(self, body: BodyContext) -> None:
        assert not body.body.margin
        found = _read(written_down(body))
        lines = _PixelLines(body, found) if found.channels == PIXEL else _GreyLines(body, found)
        pixels = _Mixer(body, lines).pixels()
        write_bytes(body, lambda _: pixels)


RESAMPLED = ResampledArithmetic("resampled", own_body=True, stays_inside=True)


def _write_down(found: Separable) -> Values:
    columns, rows = found.columns, found.rows
    channels = []
    for channel in range(found.channels):
        pixels: tuple[Node, ...]
        if rows.base is not None and columns.base is not None:
            at = Gather(found.source, channel)
            pixels = (Node("gather", F32, (rows.base, columns.base), at),)
        else:
            pixels = tuple(
                Node("load", F32, (), Access(found.source, channel, dx, dy))
                for dy in range(rows.offset, rows.offset + len(rows.weights))
                for dx in range(columns.offset, columns.offset + len(columns.weights))
            )
        match = ResampledMatch(0.0, len(pixels), len(columns.weights), columns.offset, rows.offset)
        args = (*pixels, *columns.weights, *rows.weights)
        channels.append(Node("resample", F32, args, match))
    return tuple(channels)


def _read(values: Values) -> Separable:
    match, args = values[0].attr, values[0].args
    assert isinstance(match, ResampledMatch)
    pixel, weights = args[0], args[match.pixels :]
    assert isinstance(pixel.attr, Gather | Access)
    row, column = pixel.args or (None, None)
    columns = Axis(column, match.across, weights[: match.columns])
    rows = Axis(row, match.down, weights[match.columns :])
    return Separable(pixel.attr.source, columns, rows, len(values))


class _Lines(ABC):
    """Rows of the source, mixed at the columns of the output: as many as a block has, those last needed."""

    def __init__(self, body: BodyContext, found: Separable) -> None:
        self.body, self.source = body, found.source
        self.rows = Coefficients(body, 0, found.rows)
        self.columns = Coefficients(
            body, 1, found.columns, body.size_of(found.source, 1), found.channels
        )
        self.depth, self.pixel_bytes = self.rows.count, CHANNEL_BYTES * found.channels
        self.start = body.owner.scratch_along(1, self.pixel_bytes * self.depth)
        self.stride = body.owner.bytes_along(1, self.pixel_bytes)
        self.lanes = body.owner.lanes
        self.i32, self.bytes = Type(S32, self.lanes), f"<{4 * self.lanes} x i8>"

    @abstractmethod
    def in_order(self, code: Code, packed: str) -> str:
        """The bytes of two vectors of a line, packed block by block, in their order."""

    @abstractmethod
    def _mix(self, code: Code, pixels: str, column: str) -> list[str]:
        """A vector of positions, mixed from a row that begins at ``pixels``, in 32 bits."""

    @abstractmethod
    def _pack(self, code: Code, sums: list[str]) -> Iterator[str]:
        """The same as it lies in a line, with its type."""

    def fill(self) -> list[str]:
        """Mix those rows of a block whose lines are not there yet; the addresses of all its lines."""
        code = self.body.row
        note = self.body.owner.scratch()  # the row after the last line
        self.body.uniform.line(f"store i64 {NONE}, ptr {note}, align 8")
        address = self.rows.first(code, f"%b{self.body.number}.r")
        first = code.op(f"sext i32 {code.op(f'load i32, ptr {address}, align 4')} to i64")
        end, known_end = code.add(first, self.depth), code.op(f"load i64, ptr {note}, align 8")
        code.line(f"store i64 {end}, ptr {note}, align 8")
        # those of the last depth rows are there; going upwards, or far down, is a new beginning
        behind = code.op(f"sub i64 {end}, {known_end}")
        some = code.op(f"icmp ule i64 {behind}, {self.depth}")
        missing = code.op(f"select i1 {some}, i64 {behind}, i64 {self.depth}")
        begin = code.op(f"sub i64 {end}, {missing}")
        label = f"lines{code.names.fresh()[1:]}"
        needed = code.op(f"icmp ne i64 {missing}, 0")
        code.line(f"br i1 {needed}, label %{label}.mix, label %{label}.held")
        code.label(f"{label}.mix")
        code.repeat(missing, 1, [], lambda inner, k, _: self._mix_row(inner, begin, k))
        code.line(f"br label %{label}.held")
        code.label(f"{label}.held")
        return [self._line(code, code.add(first, k)) for k in range(self.depth)]

    def _line(self, code: Code, row: str) -> str:
        """The address of the line of a row."""
        slot = code.op(f"and i64 {row}, {self.depth - 1}")
        offset = code.op(f"mul i64 {slot}, {self.stride}")
        return code.op(f"getelementptr i8, ptr {self.start}, i64 {offset}")

    def _mix_row(self, code: Code, begin: str, k: str) -> list[str]:
        row = code.op(f"add i64 {begin}, {k}")
        pixels, line = self._pixels(code, row), self._line(code, row)

        def mix(inner: Code, column: str, done: list[str]) -> list[str]:
            sums = self._mix(inner, pixels, column)
            offset = inner.op(f"mul i64 {column}, {self.pixel_bytes}")
            target = inner.op(f"getelementptr i8, ptr {line}, i64 {offset}")
            for number, vector in enumerate(self._pack(inner, sums)):
                address = inner.moved(target, 4 * self.lanes * number)
                inner.line(f"store {vector}, ptr {address}, align 4")
            return done

        code.repeat(self.columns.positions, self.lanes, [], mix)
        return []

    def _pixels(self, code: Code, row: str) -> str:
        """Where a row of the source begins, or the nearest one there is."""
        start, stride, depth, _ = self.body.rows_of(self.source)
        last = self.body.uniform.op(f"sub i64 {self.body.size_of(self.source, 0)}, 1")
        inside = code.largest(code.least(row, last), 0)
        if depth:
            inside = code.op(f"urem i64 {inside}, {depth}")
        offset = code.op(f"mul i64 {inside}, {stride}")
        return code.op(f"getelementptr i8, ptr {start}, i64 {offset}")

    def _sums(
        self, code: Code, count: int, add: Callable[[Code, str, list[str]], list[str]]
    ) -> list[str]:
        """What ``add`` makes of some sums for four taps after the other, with FRACTION_BITS."""
        half = splat(1 << (WEIGHT_BITS - FRACTION_BITS - 1), "i32")
        quads = -(-self.columns.count // QUAD)
        if quads == 1:
            totals = add(code, "0", [half] * count)
        else:  # spelled out, it would take long to compile
            totals = code.repeat(quads, 1, [(str(self.i32), half)] * count, add)
        shift = splat(WEIGHT_BITS - FRACTION_BITS, "i32")
        return [code.op(f"ashr {self.i32} {total}, {shift}") for total in totals]

    def _given(self, code: Code, column: str, quad: str, pair: int) -> str:
        """Where the weights of two taps of a vector are."""
        given = self.columns.weights(code, column, pair)
        twice = code.op(f"mul i64 {quad}, {QUAD // 2}")
        return code.op(f"getelementptr {self.i32}, ptr {given}, i64 {twice}")


class _PixelLines(_Lines):
    """Lines of RGBA. Their pixels are those of four groups, each fourth to one: packed once."""

    def in_order(self, code: Code, packed: str) -> str:
        return packed

    def _pack(self, code: Code, sums: list[str]) -> Iterator[str]:
        for pair in (sums[:2], sums[2:]):
            yield f"<{2 * self.lanes} x i16> {isa.narrow_to_words(code, 4 * self.lanes, pair)}"

    def _mix(self, code: Code, pixels: str, column: str) -> list[str]:
        """The pixels of a vector in four groups, each fourth to one: a channel to each 32 bits.

        Packed twice, groups in this order are pixels in order.
        """

        def add(inner: Code, quad: str, totals: list[str]) -> list[str]:
            return [self._add(inner, pixels, column, quad, n, t) for n, t in enumerate(totals)]

        return self._sums(code, QUAD, add)

    def _add(self, code: Code, pixels: str, column: str, quad: str, number: int, total: str) -> str:
        """What the taps of one quad add to a group."""
        skipped = code.op(f"mul i64 {quad}, {PIXEL * QUAD}")
        start = code.op(f"getelementptr i8, ptr {pixels}, i64 {skipped}")
        parts = []
        for lane in range(number, self.lanes, QUAD):
            noted = code.moved(self.columns.first(code, column), 4 * lane)
            offset = code.op(f"zext i32 {code.op(f'load i32, ptr {noted}, align 4')} to i64")
            address = code.op(f"getelementptr i8, ptr {start}, i64 {offset}")
            parts.append(code.op(f"load {Type(S32, QUAD)}, ptr {address}, align 1"))
        block = join(code, parts, Type(S32, QUAD))
        for pair in range(min(QUAD, self.columns.count) // 2):
            weights = self._weights(code, self._given(code, column, quad, pair), number)
            levels = self._neighbours(code, block, 2 * pair)
            product = isa.weigh_words(
                code, 4 * self.lanes, (self.bytes, levels), (str(self.i32), weights)
            )
            total = code.op(f"add {self.i32} {total}, {product}")
        return total

    def _neighbours(self, code: Code, block: str, tap: int) -> str:
        """Of every four pixels the channels of two neighbours, one beside the other, in 16 bits each."""
        size = 4 * self.lanes
        levels = code.op(f"bitcast {self.i32} {block} to {self.bytes}")
        order = []
        for start in range(0, size, PIXEL * QUAD):
            for left in range(start + PIXEL * tap, start + PIXEL * (tap + 1)):
                order += [left, size, left + PIXEL, size]  # the bytes of the other one are zero
        return code.shuffle(self.bytes, levels, order, "zeroinitializer")

    def _weights(self, code: Code, address: str, number: int) -> str:
        """Those of two taps of every fourth pixel, for all channels."""
        all_ = code.op(f"load {self.i32}, ptr {address}, align 4")
        chosen = [lane // QUAD * QUAD + number for lane in range(self.lanes)]
        return code.shuffle(self.i32, all_, chosen)


class _GreyLines(_Lines):
    """Lines of one channel: four pixels are a word, and words are gathered."""

    def in_order(self, code: Code, packed: str) -> str:
        size = self.body.owner.vector_bytes
        half, block = size // 2, isa.BLOCK // 2  # bytes of a block from each of both vectors
        order = [2 * k - k % block + first for first in (0, block) for k in range(half)]
        return code.shuffle(f"<{size} x i8>", packed, order)

    def _mix(self, code: Code, pixels: str, column: str) -> list[str]:
        return self._sums(code, 1, partial(self._add, pixels, column))

    def _pack(self, code: Code, sums: list[str]) -> Iterator[str]:
        words = f"<{self.lanes} x i16>"
        yield f"{words} {code.op(f'trunc {self.i32} {sums[0]} to {words}')}"

    def _add(self, pixels: str, column: str, code: Code, quad: str, totals: list[str]) -> list[str]:
        """What the taps of one quad add."""
        total = totals[0]
        start = code.op(f"getelementptr i32, ptr {pixels}, i64 {quad}")
        first = code.op(f"load {self.i32}, ptr {self.columns.first(code, column)}, align 4")
        found = gather_elements(code, start, "i8", self.i32, self.i32, first)
        levels = code.op(f"bitcast {self.i32} {found} to {self.bytes}")
        for pair in range(min(QUAD, self.columns.count) // 2):
            given = self._given(code, column, quad, pair)
            weights = code.op(f"load {self.i32}, ptr {given}, align 4")
            size = 4 * self.lanes
            taps = [4 * lane + 2 * pair for lane in range(self.lanes)]
            order = [byte for tap in taps for byte in (tap, size, tap + 1, size)]
            two = code.shuffle(self.bytes, levels, order, "zeroinitializer")
            product = isa.weigh_words(code, size, (self.bytes, two), (str(self.i32), weights))
            total = code.op(f"add {self.i32} {total}, {product}")
        return [total]


class _Mixer:
    """Lines mixed by the weights of the row."""

    def __init__(self, body: BodyContext, lines: _Lines) -> None:
        self.body, self.code = body, body.lane
        self.sums16 = choose_sums16(body, [])
        self.source, self.lines = lines, lines.fill()
        self.weights = [self._weight(lines.rows, k) for k in range(lines.depth)]

    def pixels(self) -> str:
        """The packed pixels, with their type."""
        sums16, parts = self.sums16, [self._mix(half) for half in range(2)]
        packed = isa.narrow_to_bytes(self.code, sums16.size, parts)
        return f"{sums16.bytes} {self.source.in_order(self.code, packed)}"

    def _mix(self, half: int) -> str:
        """Each second pair of pixels; products have one fraction bit less than lines have."""
        code, sums16 = self.code, self.sums16
        column = code.op(f"mul i64 %b{self.body.number}.x, {self.source.pixel_bytes}")
        total = splat(1 << (FRACTION_BITS - 2))
        for line, weight in zip(self.lines, self.weights, strict=True):
            address = code.op(f"getelementptr i8, ptr {line}, i64 {column}")
            address = code.moved(address, 2 * sums16.lanes * half)
            pixels = code.op(f"load {sums16.vector}, ptr {address}, align 4")
            total = sums16.op("add", total, sums16.multiply(pixels, weight))
        return sums16.op("ashr", total, splat(FRACTION_BITS - 1))

    def _weight(self, rows: Coefficients, k: int) -> str:
        code = self.body.row
        pair = rows.weights(code, f"%b{self.body.number}.r", k // 2)
        weight = code.op(f"load i16, ptr {code.moved(pair, 2 * (k % 2))}, align 2")
        return code.splat(Type(U16, self.sums16.lanes), weight)
