"""Reads at computed positions: ``src.at(column, row)``.

A row that is the same for all pixels of a row gives one pointer. Along it, positions that follow each
other (a crop, a mirror) are a plain load wherever the whole vector lies inside the image; elsewhere each
lane is clamped to the edge and read by itself. Pixels of bytes are read as they lie in memory and
converted after that, or not at all if they are only moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dala.backends.cpu.code import Code, Type
from dala.backends.cpu.lanes import (
    LANE,
    ROW,
    Format,
    LaneWriter,
    reverse,
)
from dala.ir.dtypes import S32, S64
from dala.ir.graph import Extent, Gather, Node

if TYPE_CHECKING:
    from dala.backends.cpu.emit import PassEmitter

Read = Callable[[Code], list[str]]


class Gatherer:
    """The gathers of one body (or table): each position is read once, all channels together."""

    def __init__(self, owner: PassEmitter, lanes: int) -> None:
        self.owner, self.lanes = owner, lanes
        self._raw: dict[tuple[int, ...], list[str]] = {}
        self._values: dict[tuple[int, ...], list[str]] = {}

    def value(self, writer: LaneWriter, node: Node) -> str:
        """The vector of a gather: f32 in 0..1 (image) or elements (tensor)."""
        assert isinstance(node.attr, Gather)
        key = (node.attr.source, *map(id, node.args))
        if key not in self._values:
            form = self._format(node.attr.source)
            self._values[key] = form.convert(writer.lane, self.pixels(writer, node))
        return self._values[key][node.attr.channel]

    def pixels(self, writer: LaneWriter, node: Node) -> list[str]:
        """What is in memory: packed words of bytes, a vector per channel of f32, or elements."""
        assert isinstance(node.attr, Gather)
        key = (node.attr.source, *map(id, node.args))
        if key not in self._raw:
            write = self._along_row if self._keeps_to_a_row(writer, node) else self._anywhere
            self._raw[key] = write(writer, node.attr.source, node.args)
        return self._raw[key]

    def _keeps_to_a_row(self, writer: LaneWriter, node: Node) -> bool:
        return self.owner.image and writer.rates[id(node.args[0])] < LANE

    def _anywhere(self, writer: LaneWriter, source: int, args: Sequence[Node]) -> list[str]:
        code, wide = writer.lane, not self.owner.image
        t = Type(S64 if wide else S32, self.lanes)
        place = ""
        for axis, arg in enumerate(args):
            here = writer.vector(arg)
            if wide:
                here = code.op(f"sext {Type(S32, self.lanes)} {here} to {t}")
            size = self._size(t, source, axis)
            here = _clamp(code, t, here, self.owner.uniform.op(f"sub {t} {size}, {_one(t)}"))
            if axis:
                here = code.op(f"add {t} {code.op(f'mul {t} {place}, {size}')}, {here}")
            place = here
        return self._format(source).gather(code, self._base(source), place, t)

    def _along_row(self, writer: LaneWriter, source: int, args: Sequence[Node]) -> list[str]:
        t, form = Type(S32, self.lanes), self._format(source)
        pointer = self._row_pointer(writer, source, args[0])
        column = writer.vector(args[1])
        limit = self.owner.uniform.op(f"sub {t} {self._size(t, source, 1)}, {_one(t)}")

        def each(code: Code) -> list[str]:
            return form.gather(code, pointer, _clamp(code, t, column, limit), t)

        step = _steps(args[1], writer, LANE)
        if step not in (1, -1):
            return each(writer.lane)
        code, first = writer.lane, self._first(writer.lane, column, step)
        begins = code.op(f"icmp sge i32 {first}, 0")
        room = self.owner.uniform.op(f"trunc i64 {self._extent(source, 1)} to i32")
        room = self.owner.uniform.op(f"sub i32 {room}, {self.lanes}")
        inside = code.op(f"and i1 {begins}, {code.op(f'icmp sle i32 {first}, {room}')}")

        def together(code: Code) -> list[str]:
            place = code.op(f"sext i32 {first} to i64")
            offset = code.op(f"mul i64 {place}, {form.pixel_bytes}")
            start = code.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
            self._fetch_next(code, start, source, _steps(args[0], writer, ROW))
            found = form.load_pixels(code, start)
            return found if step > 0 else [reverse(code, v, form.word) for v in found]

        return _either(code, inside, form.word, together, each)

    def _fetch_next(self, code: Code, start: str, source: int, rows: int | None) -> None:
        """Ask for the next row now: hardware expects neither rows nor columns to run backwards."""
        if not rows:
            return
        name = "llvm.prefetch.p0"
        code.names.declarations[name] = f"declare void @{name}(ptr, i32, i32, i32)"
        stride = self.owner.word(self.owner.layout.reads[source] + 1, "i64")
        ahead = self.owner.uniform.op(f"mul i64 {stride}, {rows}")
        place = code.op(f"getelementptr i8, ptr {start}, i64 {ahead}")
        code.line(f"call void @{name}(ptr {place}, i32 0, i32 3, i32 1)")

    def _first(self, code: Code, column: str, step: int) -> str:
        """The leftmost column that a vector of neighbours touches."""
        t = Type(S32, self.lanes)
        return code.op(f"extractelement {t} {column}, i64 {0 if step > 0 else self.lanes - 1}")

    def _row_pointer(self, writer: LaneWriter, source: int, row: Node) -> str:
        code, i64 = writer.sections[writer.rates[id(row)]], Type(S64)
        wanted = code.op(f"sext i32 {writer.names[id(row)]} to i64")
        last = self.owner.uniform.op(f"sub i64 {self._extent(source, 0)}, 1")
        stride = self.owner.word(self.owner.layout.reads[source] + 1, "i64")
        offset = code.op(f"mul i64 {_clamp(code, i64, wanted, last)}, {stride}")
        return code.op(f"getelementptr i8, ptr {self._base(source)}, i64 {offset}")

    def _base(self, source: int) -> str:
        return self.owner.word(self.owner.layout.reads[source], "ptr")

    def _extent(self, source: int, axis: int) -> str:
        return self.owner.extent(Extent(source, axis))

    def _size(self, t: Type, source: int, axis: int) -> str:
        word, uniform = self._extent(source, axis), self.owner.uniform
        narrow = word if t.dtype == S64 else uniform.op(f"trunc i64 {word} to i32")
        return uniform.splat(t, narrow)

    def _format(self, source: int) -> Format:
        type_ = self.owner.work.reads[source].type
        channels = type_.channels if self.owner.image else 1
        return Format(type_.dtype, channels, self.owner.image, self.lanes)


def _steps(node: Node, writer: LaneWriter, rate: int) -> int | None:
    """By how much an index grows from one pixel of a row to the next (at rate LANE), or from one row to
    the next (ROW), if that is always the same."""
    if writer.rates[id(node)] < rate:
        return 0
    steps = [_steps(a, writer, rate) for a in node.args if a.dtype == S32]
    match node.op, steps:
        case "coord", []:
            return 1
        case "add", [int(a), int(b)]:
            return a + b
        case "sub", [int(a), int(b)]:
            return a - b
        case "neg", [int(a)]:
            return -a
    return None


def _either(code: Code, condition: str, t: Type, yes: Read, no: Read) -> list[str]:
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


def _one(t: Type) -> str:
    return Code.constant(t, 1)


def _clamp(code: Code, t: Type, index: str, limit: str) -> str:
    zero = code.constant(t, 0)
    low = code.select(t, code.op(f"icmp sgt {t} {index}, {zero}"), index, zero)
    return code.select(t, code.op(f"icmp slt {t} {low}, {limit}"), low, limit)
