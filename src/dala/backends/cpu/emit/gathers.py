"""Reads at computed positions: ``src.at(column, row)``.

A row that is the same for all pixels of a row gives one pointer. Along it, positions that follow each
other (a crop, a mirror) are a plain load wherever the whole vector lies inside the image; elsewhere each
lane is clamped to the edge and read by itself. Pixels of bytes are read as they lie in memory and
converted after that, or not at all if they are only moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dala.backends.cpu.emit.lanes import LANE, ROW, LaneWriter
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.emit.pixels import Format, reverse
from dala.backends.cpu.llvm.spelling import spell
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import S32, S64
from dala.ir.graph import Extent, Gather, Node, in_order

INTO_L1 = 3
FEW = 3  # positions of a body that may take long text each
Read = Callable[[Code], list[str]]
Position = tuple[int, ...]  # a source and the ids of the indices
Names = tuple[int | str, ...]  # a source and the names of the indices


class Row(NamedTuple):
    """Where columns are counted from: a pointer, and how many pixels further each lane begins."""

    pointer: str
    skipped: str = ""

    def element(self, code: Code, t: Type, column: str) -> str:
        return code.op(f"add {t} {self.skipped}, {column}") if self.skipped else column


class Gatherer:
    """The gathers of one body (or table): each position is read once, all channels together."""

    def __init__(
        self, owner: PassContext, lanes: int, roots: Sequence[Node], column: str = ""
    ) -> None:
        self.owner, self.lanes = owner, lanes
        self.column = column  # the i64 name of the first lane's, where lanes are pixels of a row
        self.pairs: dict[Position, tuple[Node, Node]] = {}
        self.positions: set[Position] = set()
        self.expect(roots)
        self._raw: dict[Names, list[str]] = {}
        self._values: dict[Names, list[str]] = {}

    def expect(self, roots: Sequence[Node]) -> None:
        """More gathers will come: look which of them belong together."""
        if self.owner.image:
            self.pairs |= _find_pairs(roots)
            self.positions |= {_position(n) for n in in_order(tuple(roots)) if n.op == "gather"}

    def value(self, writer: LaneWriter, node: Node) -> str:
        """The vector of a gather: f32 in 0..1 (image) or elements (tensor)."""
        assert isinstance(node.attr, Gather)
        key = _names(writer, node)
        if key not in self._values:
            form = self._format(node.attr.source)
            self._values[key] = form.convert(writer.lane, self.pixels(writer, node))
        return self._values[key][node.attr.channel]

    def pixels(self, writer: LaneWriter, node: Node) -> list[str]:
        """What is in memory: packed words of bytes, a vector per channel of f32, or elements."""
        assert isinstance(node.attr, Gather)
        key, source = _names(writer, node), node.attr.source
        if key not in self._raw:
            if not self.owner.image:
                self._raw[key] = self._elements(writer, source, node.args)
            elif is_piece_of_row(node, writer.rates):
                self._raw[key] = self._neighbours(writer, source, *node.args)
            elif _position(node) in self.pairs and self._format(source).is_word:
                left, right = self.pairs[_position(node)]
                found = self._pair(writer, source, left.args[0], left.args[1], right.args[1])
                self._raw[_names(writer, left)] = [found[0]]
                self._raw[_names(writer, right)] = [found[1]]
            else:
                row = self._row(writer, source, node.args[0])
                column = writer.vector(node.args[1])
                self._raw[key] = self._each(writer.lane, source, row, column)
        return self._raw[key]

    def _elements(self, writer: LaneWriter, source: int, args: Sequence[Node]) -> list[str]:
        """Of a tensor: any number of axes, indices in 64 bits."""
        code, t, element = writer.lane, Type(S64, self.lanes), ""
        for axis, arg in enumerate(args):
            here = code.op(f"sext {Type(S32, self.lanes)} {writer.vector(arg)} to {t}")
            here = _clamp(code, t, here, self._limit(t, source, axis))
            if axis:
                scaled = code.op(f"mul {t} {element}, {self._size(t, source, axis)}")
                here = code.op(f"add {t} {scaled}, {here}")
            element = here
        return self._format(source).gather(code, self._base(source), element, t)

    def _each(self, code: Code, source: int, row: Row, column: str) -> list[str]:
        """Every lane by itself."""
        t = Type(S32, self.lanes)
        inside = _clamp(code, t, column, self._limit(t, source, 1))
        briefly = len(self.positions) > FEW
        element = row.element(code, t, inside)
        return self._format(source).gather(code, row.pointer, element, t, briefly=briefly)

    def _pair(
        self, writer: LaneWriter, source: int, row_node: Node, *columns: Node
    ) -> tuple[str, str]:
        """Two pixels side by side are one read; at the border both are the same one of them."""
        writer.write(columns)
        code, t, form = writer.lane, Type(S32, self.lanes), self._format(source)
        row = self._row(writer, source, row_node)
        limit, uniform = self._limit(t, source, 1), self.owner.uniform
        before_last = uniform.op(f"sub {t} {limit}, {Code.constant(t, 1)}")
        wanted = [_clamp(code, t, writer.vector(c), limit) for c in columns]
        last_pair = _at_least_zero(uniform, t, before_last)
        first = code.select(
            t, code.op(f"icmp slt {t} {wanted[0]}, {last_pair}"), wanted[0], last_pair
        )
        element, far = row.element(code, t, first), bool(row.skipped)
        low, high = form.gather_pairs(code, row.pointer, element, t, far=far)
        left, right = (
            code.select(form.word, code.op(f"icmp eq {t} {w}, {first}"), low, high) for w in wanted
        )
        return left, right

    def _neighbours(self, writer: LaneWriter, source: int, row: Node, column: Node) -> list[str]:
        """A piece of a row, where all of it lies inside; elsewhere every lane by itself."""
        code, form = writer.lane, self._format(source)
        forwards = _steps(column, writer.rates, LANE) == 1
        start, columns = self._row(writer, source, row), writer.vector(column)
        origin = writer.sections[ROW].op(f"sext i32 {_at_first_pixel(writer, column)} to i64")
        if not forwards:  # what comes first in memory is the last lane's
            origin = writer.sections[ROW].op(f"sub i64 {origin}, {self.lanes - 1}")
        first = code.op(f"{'add' if forwards else 'sub'} i64 {origin}, {self.column}")
        room = self.owner.uniform.op(f"sub i64 {self._extent(source, 1)}, {self.lanes - 1}")
        room = _at_least_zero(self.owner.uniform, Type(S64), room)
        inside = code.op(f"icmp ult i64 {first}, {room}")

        def together(code: Code) -> list[str]:
            offset = code.op(f"mul i64 {first}, {form.pixel_bytes}")
            start_here = code.op(f"getelementptr i8, ptr {start.pointer}, i64 {offset}")
            self._fetch_next(code, start_here, source, _steps(row, writer.rates, ROW))
            found = form.load_pixels(code, start_here)
            return found if forwards else [reverse(code, v, form.word) for v in found]

        return _branch(
            code, inside, form.word, together, lambda c: self._each(c, source, start, columns)
        )

    def _fetch_next(self, code: Code, start: str, source: int, rows: int | None) -> None:
        """Ask for the next row now: hardware expects neither rows nor columns to run backwards."""
        if not rows:
            return
        stride = self.owner.word(self.owner.layout.reads[source] + 1, "i64")
        ahead = self.owner.uniform.op(f"mul i64 {stride}, {rows}")
        code.prefetch(code.op(f"getelementptr i8, ptr {start}, i64 {ahead}"), INTO_L1)

    def _row(self, writer: LaneWriter, source: int, row: Node) -> Row:
        """One pointer if the row is the same for all lanes."""
        rate, base = writer.rates[id(row)], self._base(source)
        code = writer.sections[rate]
        if rate == LANE:
            t = Type(S32, self.lanes)
            inside = _clamp(code, t, writer.vector(row), self._limit(t, source, 0))
            return Row(base, code.op(f"mul {t} {inside}, {self._size(t, source, 1)}"))
        wanted = code.op(f"sext i32 {writer.names[id(row)]} to i64")
        last = self.owner.uniform.op(f"sub i64 {self._extent(source, 0)}, 1")
        stride = self.owner.word(self.owner.layout.reads[source] + 1, "i64")
        offset = code.op(f"mul i64 {_clamp(code, Type(S64), wanted, last)}, {stride}")
        return Row(code.op(f"getelementptr i8, ptr {base}, i64 {offset}"))

    def _base(self, source: int) -> str:
        return self.owner.word(self.owner.layout.reads[source], "ptr")

    def _extent(self, source: int, axis: int) -> str:
        return self.owner.extent(Extent(source, axis))

    def _size(self, t: Type, source: int, axis: int) -> str:
        word, uniform = self._extent(source, axis), self.owner.uniform
        narrow = word if t.dtype == S64 else uniform.op(f"trunc i64 {word} to i32")
        return uniform.splat(t, narrow)

    def _limit(self, t: Type, source: int, axis: int) -> str:
        """The last index along an axis."""
        size = self._size(t, source, axis)
        return self.owner.uniform.op(f"sub {t} {size}, {Code.constant(t, 1)}")

    def _format(self, source: int) -> Format:
        type_ = self.owner.work.reads[source].type
        channels = type_.channels if self.owner.image else 1
        return Format(type_.dtype, channels, self.owner.image, self.lanes)


def _position(node: Node) -> Position:
    assert isinstance(node.attr, Gather)
    return (node.attr.source, *map(id, node.args))


def _names(writer: LaneWriter, node: Node) -> Names:
    assert isinstance(node.attr, Gather)
    return (node.attr.source, *(writer.names[id(a)] for a in node.args))


def _find_pairs(roots: Sequence[Node]) -> dict[Position, tuple[Node, Node]]:
    """Gathers of one row whose columns are one apart."""
    rows: dict[tuple[int, int, int], dict[int, Node]] = {}
    for node in in_order(tuple(roots)):
        if node.op == "gather":
            source, row, _ = _position(node)
            base, offset = base_and_offset(node.args[1])
            rows.setdefault((source, row, id(base)), {})[offset] = node
    pairs: dict[Position, tuple[Node, Node]] = {}
    for columns in rows.values():
        for offset in sorted(columns):
            left, right = columns[offset], columns.get(offset + 1)
            if right is not None and _position(left) not in pairs:
                pairs[_position(left)] = pairs[_position(right)] = (left, right)
    return pairs


def base_and_offset(index: Node) -> tuple[Node, int]:
    """``index`` as something plus a constant."""
    offset = 0
    while index.op in ("add", "sub") and index.args[1].op == "const":
        step = index.args[1].attr
        if not isinstance(step, int):
            break
        offset += step if index.op == "add" else -step
        index = index.args[0]
    return index, offset


def is_piece_of_row(gather: Node, rates: Mapping[int, int]) -> bool:
    """Whether a vector of gathered pixels is a piece of a row, forwards or backwards."""
    row, column = gather.args
    return rates[id(row)] < LANE and _steps(column, rates, LANE) in (1, -1)


def _steps(index: Node, rates: Mapping[int, int], rate: int) -> int | None:
    """By how much an index grows from one pixel of a row to the next (at rate LANE), or from one row to
    the next (ROW), if that is always the same."""
    found: dict[int, int | None] = {}
    for node in _moving(index, rates, rate):
        match node.op, [found.get(id(a), 0) for a in node.args]:
            case "coord", []:
                found[id(node)] = 1
            case "add", [int(a), int(b)]:
                found[id(node)] = a + b
            case "sub", [int(a), int(b)]:
                found[id(node)] = a - b
            case "neg", [int(a)]:
                found[id(node)] = -a
            case _:
                return None
    return found.get(id(index), 0)


def _moving(index: Node, rates: Mapping[int, int], rate: int) -> Iterator[Node]:
    """Every part of an index that changes at a rate, or more often, arguments first."""
    done: set[int] = set()
    stack = [index]
    while stack:
        node = stack[-1]
        below = [a for a in node.args if rates[id(a)] >= rate and id(a) not in done]
        if id(node) in done or rates[id(node)] < rate:
            stack.pop()
        elif below:
            stack += below
        else:
            done.add(id(node))
            yield stack.pop()


def _at_first_pixel(writer: LaneWriter, index: Node) -> str:
    """An index that moves with the pixels of a row, at the first of them: the same for the whole row."""
    names: dict[int, str] = {}
    for node in _moving(index, writer.rates, LANE):
        if node.op == "coord":
            names[id(node)] = "0"
            continue
        args = [names.get(id(a)) or writer.names[id(a)] for a in node.args]
        names[id(node)] = spell(writer.sections[ROW], node.op, Type(S32), Type(S32), args)
    return names[id(index)]


def _branch(code: Code, condition: str, t: Type, yes: Read, no: Read) -> list[str]:
    """What one of two pieces of code reads: the only branch in an inner loop."""
    label = code.names.fresh()[1:]
    code.line(f"br i1 {condition}, label %{label}.yes, label %{label}.no")
    results = []
    for name, write in (("yes", yes), ("no", no)):
        part = Code(code.names)
        results.append(write(part))
        code.label(f"{label}.{name}")
        code.lines += part.lines
        code.line(f"br label %{label}.end")
    code.label(f"{label}.end")
    return [
        code.op(f"phi {t} [ {a}, %{label}.yes ], [ {b}, %{label}.no ]")
        for a, b in zip(*results, strict=True)
    ]


def _clamp(code: Code, t: Type, index: str, limit: str) -> str:
    low = _at_least_zero(code, t, index)
    return code.select(t, code.op(f"icmp slt {t} {low}, {limit}"), low, limit)


def _at_least_zero(code: Code, t: Type, index: str) -> str:
    zero = code.constant(t, 0)
    return code.select(t, code.op(f"icmp sgt {t} {index}, {zero}"), index, zero)
