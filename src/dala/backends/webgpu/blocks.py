"""A block of pixels (or elements) computed by one invocation: a body's expressions, once per pixel.

A block is ``columns`` × ``rows`` neighbouring pixels. What two pixels of a block both need is read and
computed once (code.py names equal expressions alike). Where pixels come from is a Source: an array in
memory (arrays.py) or a tile of held values in workgroup memory (held.py).
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dala.backends.webgpu.code import Code
from dala.backends.webgpu.half import HalfWriter
from dala.backends.webgpu.ranges import ANYTHING, UNIT, Range, find_ranges
from dala.backends.webgpu.spelling import (
    constant,
    is_power_of_two,
    spell,
    spell_by_power_of_two,
    spell_is_nan,
    spell_with_nan,
)
from dala.backends.webgpu.uniforms import UniformBlock, uniform_nodes
from dala.ir.graph import Access, Gather, Node, walk

LEVEL_MAGIC = (
    "8388608.0f"  # 2²³: adding it rounds a level to nearest even and leaves it in the low bits
)
MAGIC_BITS = 0x4B000000


class Source(ABC):
    """Something that a body reads."""

    packed = False  # whether a pixel is one word of four bytes
    bytes = False  # whether its values are levels of a u8 image

    @abstractmethod
    def fetch(self, block: Block, channel: int, dx: int, dy: int) -> str:
        """The value at an offset from the block's first pixel."""

    def word(self, block: Block, dx: int, dy: int) -> str:
        """The packed pixel at an offset from the block's first pixel."""
        raise AssertionError("only packed sources have words")

    def half_pixel(self, block: Block, dx: int, dy: int) -> str:
        """All channels of a pixel at an offset, in half precision (half.py)."""
        assert self.packed, "other sources have a way of their own"
        return block.code.let(f"half_pixel({self.word(block, dx, dy)}, {block.half_one()})")

    def range(self, channel: int) -> Range:
        """What a channel's values can be."""
        return UNIT if self.bytes else ANYTHING

    def gather(self, block: Block, channel: int, place: Sequence[str]) -> str:
        """The value at a computed position, slowest axis first."""
        raise AssertionError("only arrays in memory are read at computed positions")


class Known(NamedTuple):
    """What is sure of the position of every block's first pixel, along one axis."""

    from_zero: bool = False
    below_size: bool = False


class Block:
    """The geometry of one block, and the names of its positions."""

    def __init__(self, code: Code, uniforms: UniformBlock, columns: int, rows: int) -> None:
        self.code = code
        self.uniforms = uniforms
        self.columns, self.rows = columns, rows
        self.x0, self.y0 = "x0", "y0"  # of the first pixel; i32
        self.tile_x, self.tile_y = "tx", "ty"  # the same, from the tile's first pixel
        self.x_range = self.y_range = Known()
        self.linear = False  # a run of elements without rows and columns
        self.width, self.height = "width", "height"
        self.shape: tuple[int, ...] = ()  # of the output
        self.only_bytes = False  # u8 images in, u8 images out

    def x(self, dx: int) -> str:
        return self.code.let(f"{self.x0} + {dx}") if dx else self.x0

    def y(self, dy: int) -> str:
        return self.code.let(f"{self.y0} + {dy}") if dy else self.y0

    def clamped_x(self, dx: int) -> str:
        return self._clamped(self.x(dx), dx, self.width, self.x_range)

    def clamped_y(self, dy: int) -> str:
        return self._clamped(self.y(dy), dy, self.height, self.y_range)

    def _clamped(self, place: str, offset: int, size: str, known: Known) -> str:
        """A position within the image, without the comparisons whose outcome is known."""
        if offset >= 0 and known.from_zero:
            if offset == 0 and known.below_size:
                return place
            return self.code.let(f"min({place}, {size} - 1i)")
        if offset <= 0 and known.below_size:
            return self.code.let(f"max({place}, 0i)")
        return self.code.let(f"clamp({place}, 0i, {size} - 1i)")

    def half_one(self) -> str:
        """1 as an f16 that no compiler knows: see half.py."""
        return self.code.let(f"f16({self.uniforms.number('one', lambda: 1)})")

    def coord(self, axis: int, dx: int, dy: int) -> str:
        """The position along an axis of one pixel; tensors override it."""
        return self.x(dx) if axis == 1 else self.y(dy)


class BodyWriter:
    """Writes expressions for any pixel of a block."""

    def __init__(self, block: Block, sources: Mapping[int, Source], roots: Sequence[Node]) -> None:
        self.block = block
        self.code = block.code
        self.sources = sources
        self.uniform = uniform_nodes(roots)
        self.half = HalfWriter(self)
        self.roots = roots
        self._halved = _only_below_halves(roots)
        self._done: dict[tuple[int, int], dict[int, str]] = {}

    @functools.cached_property
    def ranges(self) -> dict[int, Range]:
        """What every value can be, by the node's id."""
        return find_ranges(self.roots, lambda source, channel: self.sources[source].range(channel))

    def values(self, nodes: Sequence[Node], dx: int, dy: int) -> list[str]:
        """The names of some nodes at one pixel."""
        names = self._done.setdefault((dx, dy), {})
        for node in walk(nodes, self._halved):
            if id(node) not in names and id(node) not in self.uniform:
                names[id(node)] = self._write(node, names, dx, dy)
        return [self._name(n, names) for n in nodes]

    def _name(self, node: Node, names: dict[int, str]) -> str:
        if id(node) not in self.uniform:
            return names[id(node)]
        if node.op == "const":
            assert isinstance(node.attr, int | float)
            return constant(node.dtype, node.attr)
        return self.block.uniforms.of(node)

    def _write(self, node: Node, names: dict[int, str], dx: int, dy: int) -> str:
        match node.op, node.attr:
            case "coord", int(axis):
                return self.block.coord(axis, dx, dy)
            case "load", Access(source, channel, move_x, move_y):
                return self.sources[source].fetch(self.block, channel, dx + move_x, dy + move_y)
            case "half", _:
                return self.half.value(node, dx, dy)
            case "level", _ if node.args[0].op == "half":  # rounded there, not once more in f32
                return self.half.level(node.args[0], dx, dy)
        args = [self._name(a, names) for a in node.args]
        if node.op == "gather":
            assert isinstance(node.attr, Gather)
            return self.sources[node.attr.source].gather(self.block, node.attr.channel, args)
        if node.op == "exp" and self.block.only_bytes:  # the driver's own will do
            return self.code.let(f"exp({args[0]})")
        if node.op == "pow" and self._is_level(node.args[0]):
            return self.code.let(f"unit_pow({', '.join(args)})")
        return self.code.let(self._spelled(node, args))

    def _spelled(self, node: Node, args: list[str]) -> str:
        """An op of the table, with what its corners take where they can be met."""
        text = spell(node.op, node.dtype, node.args[0].dtype, args)
        if not node.dtype.is_float:
            return text
        if node.op in ("min", "max") and self.ranges[id(node.args[1])].nan:
            return spell_with_nan(node.op, node.dtype, args)
        if node.op == "select" and _is_extreme(node):  # what NaN chooses is the last operand
            choices = zip(node.args[1:], args[1:], strict=True)
            tests = [spell_is_nan(n.dtype, a) for n, a in choices if self.ranges[id(n)].nan]
            return f"select({text}, {args[2]}, {' || '.join(tests)})" if tests else text
        if node.op in ("floordiv", "mod") and node.args[1].op == "const":
            divisor = node.args[1].attr
            if isinstance(divisor, float) and is_power_of_two(divisor):
                return spell_by_power_of_two(node.op, node.dtype, args, divisor)
        return text

    def _is_level(self, node: Node) -> bool:
        """Whether a value is surely within 0..1: read from bytes, or held as levels."""
        if node.op == "max" and node.args[1].op == "const" and node.args[1].attr == 0.0:
            node = node.args[0]
        if isinstance(node.attr, Access):
            return self.sources[node.attr.source].bytes
        return node.op == "mul" and node.args[0].op == "level" and node.args[1].op == "const"

    # -- packed bytes --------------------------------------------------------------------------

    def packed(self, nodes: Sequence[Node], dx: int, dy: int) -> str:
        """Up to four levels as the bytes of one word."""
        masks: dict[str, int] = {}  # bytes that lie in their places of some word already
        parts: list[tuple[str, bool]] = []
        for channel, node in enumerate(nodes):
            word = self._word_with(node, channel, dx, dy)
            if word:
                masks[word] = masks.get(word, 0) | 0xFF << (8 * channel)
            else:
                parts.append(self._byte(node, channel, dx, dy))
        for word, mask in masks.items():
            parts.append((f"({word} & {mask:#x}u)" if mask < 0xFFFFFFFF else word, False))
        return self._join(parts)

    def packed_run(self, node: Node, dx: int, dy: int) -> str:
        """One level of each of four neighbouring pixels as the bytes of one word."""
        return self._join([self._byte(node, k, dx + k, dy) for k in range(4)])

    def _byte(self, node: Node, place: int, dx: int, dy: int) -> tuple[str, bool]:
        """A level moved to its place in a word, and whether the bits of 2²³ are still in it."""
        halved = node.op == "level" and node.args[0].op == "half"  # rounded there
        if node.op == "level" and not halved and id(node.args[0]) not in self.uniform:
            (value,) = self.values([node.args[0]], dx, dy)
            # Bounded between the product and the sum, and before: no compiler rounds two of them at
            # once (NVIDIA's would contract, Mesa's would fold constants).
            level = f"min(saturate({value}) * 255.0f, 255.0f)"
            bits = self.code.let(f"bitcast<u32>({level} + {LEVEL_MAGIC})")
            return _moved(bits, place), place == 0
        (value,) = self.values([node], dx, dy)
        return _moved(f"u32({value})", place), False

    def _word_with(self, node: Node, channel: int, dx: int, dy: int) -> str:
        """A word that has a channel's byte in its place: it passes through, or was computed there."""
        if node.op != "level":
            return ""
        value = node.args[0]
        if value.op == "half":
            return self.half.word(value, channel, dx, dy)
        if not isinstance(value.attr, Access) or not self.sources[value.attr.source].packed:
            return ""
        if value.attr.channel != channel:
            return ""
        at = value.attr
        return self.sources[at.source].word(self.block, dx + at.dx, dy + at.dy)

    def _join(self, parts: Sequence[tuple[str, bool]]) -> str:
        surplus = sum(MAGIC_BITS for _, magic in parts if magic)
        text = " + ".join(part for part, _ in parts)
        return self.code.let(f"({text} - {surplus:#x}u)" if surplus else f"({text})")


def _only_below_halves(roots: Sequence[Node]) -> set[int]:
    """The expressions that are needed in half precision alone, or rounded there."""
    below: set[int] = set()
    elsewhere = {id(n) for n in roots}
    for node in walk(roots):
        half = node.op == "half" or (node.op == "level" and node.args[0].op == "half")
        (below if half else elsewhere).update(map(id, node.args))
    return below - elsewhere


def _is_extreme(node: Node) -> bool:
    """Whether a choice is between the two values compared: compilers take it for their own min or max."""
    condition, *choices = node.args
    compared = condition.op in ("lt", "le", "gt", "ge")
    return compared and {id(a) for a in condition.args} == {id(c) for c in choices}


def _moved(bits: str, place: int) -> str:
    return f"({bits} << {8 * place}u)" if place else bits
