"""One body of a pass, as WGSL: expressions at any pixel of a block."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from dala.backends.webgpu.blocks import Block, Source
from dala.backends.webgpu.half import HalfWriter
from dala.backends.webgpu.ranges import Range, find_ranges
from dala.backends.webgpu.spelling import (
    constant,
    is_power_of_two,
    spell,
    spell_by_power_of_two,
    spell_is_nan,
    spell_with_nan,
)
from dala.backends.webgpu.uniforms import uniform_nodes
from dala.ir.graph import Access, Gather, Node, walk

# 2²³: adding it rounds a level to nearest even and leaves it in the low bits
LEVEL_MAGIC = "8388608.0f"
MAGIC_BITS = 0x4B000000


class BodyWriter:
    """Writes expressions for any pixel of a block."""

    def __init__(self, block: Block, sources: Mapping[int, Source], roots: Sequence[Node]) -> None:
        self.block = block
        self.code = block.code
        self.sources = sources
        self.uniform = uniform_nodes(roots)
        self.half = HalfWriter(block, sources, self.uniform)
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
        """Whether a value is surely within 0..1: read from bytes, or buffered as levels."""
        if node.op == "max" and node.args[1].op == "const" and node.args[1].attr == 0.0:
            node = node.args[0]
        if isinstance(node.attr, Access):
            return self.sources[node.attr.source].bytes
        return node.op == "mul" and node.args[0].op == "level" and node.args[1].op == "const"

    # -- packed bytes --------------------------------------------------------------------------

    def packed(self, nodes: Sequence[Node], dx: int, dy: int) -> str:
        """Up to four levels as the bytes of one word."""
        masks: dict[str, int] = {}  # bytes that are in some word already, where they belong
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

    def _byte(self, node: Node, byte: int, dx: int, dy: int) -> tuple[str, bool]:
        """A level moved to its byte in a word, and whether the bits of 2²³ are still in it."""
        halved = node.op == "level" and node.args[0].op == "half"  # rounded there
        if node.op == "level" and not halved and id(node.args[0]) not in self.uniform:
            (value,) = self.values([node.args[0]], dx, dy)
            # Bounded between the product and the sum, and before: no compiler rounds two of them at
            # once (NVIDIA's would contract, Mesa's would fold constants).
            level = f"min(saturate({value}) * 255.0f, 255.0f)"
            bits = self.code.let(f"bitcast<u32>({level} + {LEVEL_MAGIC})")
            return _moved(bits, byte), byte == 0
        (value,) = self.values([node], dx, dy)
        return _moved(f"u32({value})", byte), False

    def _word_with(self, node: Node, channel: int, dx: int, dy: int) -> str:
        """A word that has a channel's byte where it belongs: it passes through, or was computed there."""
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


def _moved(bits: str, byte: int) -> str:
    return f"({bits} << {8 * byte}u)" if byte else bits
