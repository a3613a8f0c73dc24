"""Half precision for u8 images: a GPU computes two f16 values in the time of one f32.

What is computed so is below a ``half`` node of a body (prepare.py puts it there), in one of two ways:

    pixel   a vec4<f16> is the channels of one pixel, in levels around 128
    pair    a vec2<f16> is one channel of two neighbouring pixels, 0..1

``pixel`` is for functions of one channel that commute with a change of units (a·v + b, a > 0): averages,
minima and maxima. Around 128 an f16 has four fraction bits behind a level, or more; an average of 51 taps
stays within ¼ level of a flat image's level. ``pair`` is what a kernel asks for by ``half_precision(…)``,
where it mixes channels.

A byte becomes an f16 by its bits: 0x6400 | byte is 1024 + byte. And back: adding 1024 rounds to whole
levels and leaves them in the low bits. WGSL reinterprets bits as f16 only on the way through f32;
compilers drop that detour. Two things they must not see, because they would compute otherwise, in f16
visibly. Weights are uniforms: of equal ones NVIDIA's compiler shares the products. And the 1024 of a
``pixel`` is taken off by fma(v, one, -1152) with a 1 from a uniform: else it adds pixels first and takes
off 2304, with a bit less.

In f16 it shows whether a compiler contracts a product and a sum, and NVIDIA's decides by what is around
them. ``pixel`` functions leave it no choice. A stage with pairs does; it is a pass of its own, so that
every pipeline runs the same shader and gets the same picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dala.backends.webgpu.blocks import Block, Source
from dala.ir.graph import Access, Arithmetic, Node, walk
from dala.ir.rewrite import INVERSE_255

PAIRS = Arithmetic("pairs", own_body=True)  # of a stage with pairs: a pass of its own, see below
PIXEL = "pixel"  # the attribute of a ``half`` node computed for all channels at once
LARGEST = 65504.0  # of f16
CHANNEL = "xzyw"  # where a channel is in a vec4<f16>: red and blue lie in one word, green and alpha in one
SPELLED: dict[str, str] = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "div": "({} / {})",
    "neg": "(-{})",
    "min": "min({}, {})",
    "max": "max({}, {})",
    "fma": "fma({}, {}, {})",
}


def own_channel(node: Node) -> int:
    """The channel that a ``pixel`` function is of."""
    return next(n.attr.channel for n in walk([node]) if isinstance(n.attr, Access))


class HalfWriter:
    """Writes what is below ``half`` nodes."""

    def __init__(self, block: Block, sources: Mapping[int, Source], uniform: set[int]) -> None:
        self.block, self.code = block, block.code
        self.sources = sources
        self.uniform = uniform  # nodes that are the same everywhere, by id
        self._done: dict[tuple[str, int, int], dict[int, str]] = {}

    def value(self, node: Node, dx: int, dy: int) -> str:
        """A ``half`` node at one pixel as f32, 0..1."""
        if node.attr == PIXEL:
            component = CHANNEL[own_channel(node)]
            level = f"f32({self.pixel(node, dx, dy)}.{component}) + 128.0f"
            return self.code.let(f"({level}) * {INVERSE_255!r}f")
        vector, component = self._pair(node, dx, dy)
        return self.code.let(f"f32({vector}.{component})")

    def level(self, node: Node, dx: int, dy: int) -> str:
        """A ``half`` node rounded to a level 0..255, as f32."""
        if node.attr == PIXEL:
            component = CHANNEL[own_channel(node)]
            rounded = self.code.let(f"half_rounded({self.pixel(node, dx, dy)})")
            return self.code.let(f"f32({rounded}.{component}) - 1024.0f")
        vector, component = self._pair(node, dx, dy)
        word = self.code.let(f"pair_levels({vector})")
        return self.code.let(
            f"f32({word} & 0xffffu)" if component == "x" else f"f32({word} >> 16u)"
        )

    def word(self, node: Node, channel: int, dx: int, dy: int) -> str:
        """A word that holds the level of a ``half`` node in the byte of ``channel``."""
        if node.attr == PIXEL:
            levels = self._levels(node, dx, dy)
            whole = self.code.let(f"({levels}.x | ({levels}.y << 8u))")
            return self._shifted(whole, channel - own_channel(node))
        vector, component = self._pair(node, dx, dy)
        levels = self.code.let(f"pair_levels({vector})")
        return self._shifted(levels, channel - (2 if component == "y" else 0))

    def _shifted(self, word: str, up: int) -> str:
        """A word moved up by so many bytes: channels may change order behind a stage (BGR)."""
        if up == 0:
            return word
        return self.code.let(f"({word} {'<<' if up > 0 else '>>'} {8 * abs(up)}u)")

    def planes(self, nodes: Sequence[Node], dx: int, dy: int) -> list[str]:
        """A pixel as the two words of a tile."""
        assert [own_channel(n) for n in nodes] == [0, 1, 2, 3], "a tile has channels in order"
        vector = self.pixel(nodes[0], dx, dy)
        return [self.code.let(f"half_bits({vector}.{part})") for part in ("xy", "zw")]

    def _levels(self, node: Node, dx: int, dy: int) -> str:
        """All channels as levels: red and blue in one word, green and alpha in another."""
        return self.code.let(f"half_levels({self.pixel(node, dx, dy)})")

    def pixel(self, node: Node, dx: int, dy: int) -> str:
        """All channels of a ``pixel`` node, of which ``node`` is one."""

        def load(at: Access) -> str:
            source = self.sources[at.source]
            return source.half_pixel(self.block, dx + at.dx, dy + at.dy)

        return self._write(node.args[0], "vec4<f16>", dx, dy, load)

    def _pair(self, node: Node, dx: int, dy: int) -> tuple[str, str]:
        """The vector of two neighbouring pixels, and which of them is asked for."""
        across = self.block.columns > 1
        own = (dx if across else dy) & 1
        first = (dx - own, dy) if across else (dx, dy - own)
        step = (1, 0) if across else (0, 1)

        def load(at: Access) -> str:
            source, block = self.sources[at.source], self.block
            x, y = first[0] + at.dx, first[1] + at.dy
            words = (source.word(block, x, y), source.word(block, x + step[0], y + step[1]))
            parts = [self.code.let(f"half_unit({w})") + f".{CHANNEL[at.channel]}" for w in words]
            return self.code.let(f"vec2<f16>({', '.join(parts)})")

        return self._write(node.args[0], "vec2<f16>", *first, load), "xy"[own]

    def _write(
        self, root: Node, vector: str, dx: int, dy: int, load: Callable[[Access], str]
    ) -> str:
        names = self._done.setdefault((vector, dx, dy), {})
        for node in walk([root], names):
            if id(node) in self.uniform:
                names[id(node)] = self._uniform(node, vector)
            elif isinstance(node.attr, Access):
                names[id(node)] = load(node.attr)
            else:
                args = [names[id(a)] for a in node.args]
                names[id(node)] = self.code.let(SPELLED[node.op].format(*args))
        return names[id(root)]

    def _uniform(self, node: Node, vector: str) -> str:
        if node.op == "const":
            assert isinstance(node.attr, int | float)
            return f"{vector}({float(node.attr)!r}h)"
        return self.code.let(f"{vector}(to_half({self.block.uniforms.of(node)}))")


def are_half(nodes: Sequence[Node]) -> bool:
    """Whether values are the channels of pixels computed in half precision."""
    return len(nodes) == 4 and all(n.op == "half" and n.attr == PIXEL for n in nodes)
