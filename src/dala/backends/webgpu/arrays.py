"""Arrays in memory, as shaders see them: how elements lie in words, and how blocks read and write them.

u8, four channels   one u32 per pixel; wide: vec4<u32>, four pixels at once
u8, one channel     four pixels per u32; where rows do not begin on a word, written by atomics
u16, four channels  vec2<u32> per pixel: red and green, blue and alpha
u16, one channel    two pixels per u32, written by atomics; wide: vec2<u32>, four pixels at once
f32, four channels  vec4<f32> per pixel
f32, one channel    f32; wide: vec4<f32>, four pixels at once
tensors             vec4 of 32-bit elements, u32 of four u8, vec2<u32> of four u16, single 64-bit elements
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.webgpu.blocks import Block, Source
from dala.backends.webgpu.body import BodyWriter
from dala.backends.webgpu.spelling import type_name
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8, U16
from dala.ir.graph import Node
from dala.ir.rewrite import INVERSE_255, LEVELS

INVERSE = f"{INVERSE_255!r}f"
SMALL = {
    U8: (4, 8, "255u"),
    U16: (2, 16, "65535u"),
}  # elements in a word, bits of one, and their mask


class ArrayVar(Source):
    """One bound array."""

    def __init__(self, name: str, type_: ArrayType, image: bool, wide: bool, source: int) -> None:
        self.name = name
        self.type = type_
        self.image = image
        self.channels = type_.channels if image else 1
        self.source = source  # its number among the pass's reads; below 0 for a written one
        self.wide = wide and not (image and type_.dtype != U8 and self.channels == 4)
        self.written = False
        self.atomic = False
        self.bytes = image and type_.dtype == U8
        self.levels = image and type_.dtype in LEVELS
        self.packed = self.bytes and self.channels == 4
        self.halves = type_.dtype == U16 and (not image or self.channels == 4 or self.wide)

    # -- declaration ---------------------------------------------------------------------------

    @property
    def element(self) -> str:
        """What one element of the bound array is."""
        bytes_ = self.type.dtype == U8
        if self.image and self.channels == 4:
            kind = "vec2<u32>" if self.halves else "vec4<f32>"
            return ("vec4<u32>" if self.wide else "u32") if bytes_ else kind
        if self.halves:
            return "vec2<u32>"
        if self.type.dtype in SMALL:
            return "atomic<u32>" if self.atomic else "u32"
        name = type_name(self.type.dtype)
        return f"vec4<{name}>" if self.wide and self.type.dtype.bytes == 4 else name

    def declare(self, binding: int) -> str:
        access = "read_write" if self.written else "read"
        return (
            f"@group(0) @binding({binding}) "
            f"var<storage, {access}> {self.name}: array<{self.element}>;\n"
        )

    def at(self, index: str) -> str:
        return f"atomicLoad(&{self.name}[{index}])" if self.atomic else f"{self.name}[{index}]"

    # -- reading at an offset ------------------------------------------------------------------

    def fetch(self, block: Block, channel: int, dx: int, dy: int) -> str:
        code = block.code
        if not self.image:
            return self._element(block, dx)
        if self.packed:
            return unpack(block, self.word(block, dx, dy), channel)
        if self.levels and self.channels == 1:
            return self._unit(block, self._grey_level(block, dx, dy))
        if self.channels == 4:
            pixel = code.let(self.at(self._pixel_index(block, dx, dy)))
            if self.halves:
                return self._unit(block, _half_of(pixel, channel))
            return f"{pixel}.{'xyzw'[channel]}"
        if self.wide:
            return self._of_group(block, dx, dy)
        return code.let(self.at(self._pixel_index(block, dx, dy)))

    def word(self, block: Block, dx: int, dy: int) -> str:
        if self.wide:
            return self._of_group(block, dx, dy)
        return block.code.let(self.at(self._pixel_index(block, dx, dy)))

    def half_pixel(self, block: Block, dx: int, dy: int) -> str:
        if self.packed:
            return super().half_pixel(block, dx, dy)
        pixel = block.code.let(self.at(self._pixel_index(block, dx, dy)))
        return block.code.let(f"half_pixel_of({pixel})")

    def _unit(self, block: Block, level: str) -> str:
        """A level of this image, in 0..1."""
        return block.code.let(f"f32({level}) * {LEVELS[self.type.dtype][1]!r}f")

    def _element(self, block: Block, dx: int) -> str:
        code = block.code
        if self.halves:
            return code.let(_half_of(code.let(self.at(_shifted(block, dx))), dx % 4))
        if self.type.dtype == U8:
            word = code.let(self.at(_shifted(block, dx)))
            return code.let(_byte_of(word, dx % 4))
        if self.element.startswith("vec4"):
            return f"{code.let(self.at(_shifted(block, dx)))}.{'xyzw'[dx % 4]}"
        return code.let(self.at(block.x(dx)))

    def _pixel_index(self, block: Block, dx: int, dy: int) -> str:
        if block.linear:
            return block.x(dx)
        row = block.code.let(f"{block.clamped_y(dy)} * {block.width}")
        return block.code.let(f"{row} + {block.clamped_x(dx)}")

    def _of_group(self, block: Block, dx: int, dy: int) -> str:
        """One of four pixels that are read together; beyond a border the pixel at it."""
        group, component = divmod(dx, 4)
        vector = block.code.let(self.at(self._group_index(block, group, dy)))
        inside = 0 <= group < block.columns // 4
        if block.linear or (inside and group == 0):
            return f"{vector}.{'xyzw'[component]}"
        return edge_select(block, vector, group, component)

    def _group_index(self, block: Block, group: int, dy: int) -> str:
        code = block.code
        if block.linear:
            return _shifted(block, 4 * group)
        quarter = code.let(f"{block.width} >> 2u")
        row = code.let(f"{block.clamped_y(dy)} * {quarter}")
        here = code.let(f"({block.x0} >> 2u) + {group}")
        if group:
            here = code.let(f"clamp({here}, 0i, {quarter} - 1i)")
        return code.let(f"{row} + {here}")

    def _grey_level(self, block: Block, dx: int, dy: int) -> str:
        code = block.code
        if self.wide:
            part_of = _half_of if self.halves else _byte_of
            group, component = divmod(dx, 4)
            word = code.let(self.at(self._group_index(block, group, dy)))
            if block.linear or (group == 0 and block.columns >= 4):
                return code.let(part_of(word, component))
            spread = code.let(f"vec4<u32>({', '.join(part_of(word, k) for k in range(4))})")
            return edge_select(block, spread, group, component)
        return self._small(block, self._pixel_index(block, dx, dy))

    def _small(self, block: Block, index: str) -> str:
        """One of the u8 or u16 elements of a word."""
        count, bits, mask = SMALL[self.type.dtype]
        word = block.code.let(self.at(f"{index} >> {count // 2}u"))
        return block.code.let(f"(({word} >> (u32({index} & {count - 1}i) * {bits}u)) & {mask})")

    # -- reading at a computed position --------------------------------------------------------

    def gather(self, block: Block, channel: int, position: Sequence[str]) -> str:
        code, index = block.code, ""
        for axis, wanted in enumerate(position):
            size = self.extent(block, axis)
            here = code.let(f"clamp({wanted}, 0i, {size} - 1i)")
            index = code.let(f"{index} * {size} + {here}") if index else here
        assert not self.element.startswith("vec4<u"), "a gathered array is bound pixel by pixel"
        if self.halves and not self.image:
            four = code.let(self.at(f"{index} >> 2u"))
            word = code.let(f"{four}[({index} >> 1u) & 1i]")
            return code.let(f"(({word} >> (u32({index} & 1i) * 16u)) & 65535u)")
        if self.type.dtype in SMALL and not self.packed and not self.halves:
            level = self._small(block, index)
            return self._unit(block, level) if self.image else level
        value = code.let(self.at(index))
        if self.halves:
            return self._unit(block, _half_of(value, channel))
        if not self.image or self.channels == 1:
            return value
        return unpack(block, value, channel) if self.packed else f"{value}.{'xyzw'[channel]}"

    def extent(self, block: Block, axis: int) -> str:
        """The length of an axis, as a uniform."""
        return block.uniforms.number(f"{self.source}.{axis}", lambda: self.type.shape[axis])

    # -- writing -------------------------------------------------------------------------------

    def compute(self, writer: BodyWriter, nodes: Sequence[Node], dx: int, dy: int) -> None:
        """What ``store`` will write there, computed but not written yet."""
        if self.image and self.wide:
            self._four(writer, nodes, dx, dy)
        elif self.packed:
            writer.packed(nodes, dx, dy)
        else:
            for k in range(1 if self.image else 4):
                writer.values(nodes, dx + k, dy)

    def store(
        self, writer: BodyWriter, nodes: Sequence[Node], dx: int, dy: int, guard: str = ""
    ) -> None:
        """Write one pixel (four where the array is wide, or a tensor) if ``guard`` allows it.

        Only the writing is guarded: what it takes is shared with the block's other pixels.
        """
        block, code = writer.block, writer.code
        if not self.image:
            self._store_elements(writer, nodes[0], dx)
            return
        if self.levels and self.channels == 1 and not self.wide:
            self._store_level(writer, nodes, dx, dy, guard)
            return
        if self.wide:
            index, value = (
                self._own_group(block, dx // 4, dy),
                self._four(writer, nodes, dx, dy),
            )
        else:
            index = self._own(block, dx, dy)
            if self.packed:
                value = writer.packed(nodes, dx, dy)
            else:
                names = writer.values(nodes, dx, dy)
                value = f"vec4<f32>({', '.join(names)})" if self.channels == 4 else names[0]
                if self.halves:
                    value = _two_words([f"u32({n})" for n in names])
        code.line(guarded(guard, f"{self.name}[{index}] = {value};"))

    def _own_group(self, block: Block, group: int, dy: int) -> str:
        if block.linear:
            return _shifted(block, 4 * group)
        quarter = block.code.let(f"{block.width} >> 2u")
        here = block.code.let(f"({block.x0} >> 2u) + {group}")
        return block.code.let(f"{block.y(dy)} * {quarter} + {here}")

    def _own(self, block: Block, dx: int, dy: int) -> str:
        if block.linear:
            return block.x(dx)
        return block.code.let(f"{block.y(dy)} * {block.width} + {block.x(dx)}")

    def _four(self, writer: BodyWriter, nodes: Sequence[Node], dx: int, dy: int) -> str:
        if self.packed:
            words = [writer.packed(nodes, dx + k, dy) for k in range(4)]
            return f"vec4<u32>({', '.join(words)})"
        if self.type.dtype == U8:
            return writer.packed_run(nodes[0], dx, dy)
        names = [writer.values(nodes, dx + k, dy)[0] for k in range(4)]
        if self.halves:
            return _two_words([f"u32({n})" for n in names])
        return f"vec4<f32>({', '.join(names)})"

    def _store_level(
        self, writer: BodyWriter, nodes: Sequence[Node], dx: int, dy: int, guard: str
    ) -> None:
        """A level in a word whose other ones belong to other invocations."""
        code = writer.code
        count, bits, mask = SMALL[self.type.dtype]
        index = self._own(writer.block, dx, dy)
        if self.bytes:
            level = writer.packed(nodes, dx, dy)
        else:
            level = f"u32({writer.values(nodes, dx, dy)[0]})"
        shift = code.let(f"u32({index} & {count - 1}i) * {bits}u")
        word = f"&{self.name}[{index} >> {count // 2}u]"
        clear = f"atomicAnd({word}, ~({mask} << {shift}));"
        code.line(guarded(guard, f"{clear} atomicOr({word}, ({level} & {mask}) << {shift});"))

    def _store_elements(self, writer: BodyWriter, node: Node, dx: int) -> None:
        block, code = writer.block, writer.code
        names = [writer.values([node], dx + k, 0)[0] for k in range(4)]
        if self.halves:
            code.line(f"{self.name}[{_shifted(block, dx)}] = {_two_words(names)};")
        elif self.type.dtype == U8:
            word = " | ".join(f"({n} << {8 * k}u)" if k else n for k, n in enumerate(names))
            code.line(f"{self.name}[{_shifted(block, dx)}] = {word};")
        elif self.element.startswith("vec4"):
            code.line(f"{self.name}[{_shifted(block, dx)}] = {self.element}({', '.join(names)});")
        else:
            for k, name in enumerate(names):
                code.line(f"{self.name}[{block.x(dx + k)}] = {name};")


def guarded(guard: str, statement: str) -> str:
    """A statement, under a condition if there is one."""
    return f"if ({guard}) {{ {statement} }}" if guard else statement


def unpack(block: Block, word: str, channel: int) -> str:
    """One channel of a packed pixel, 0..1."""
    return block.code.let(f"f32({_byte_of(word, channel)}) * {INVERSE}")


def edge_select(block: Block, vector: str, group: int, component: int) -> str:
    """A pixel of a group that may lie beyond a border: then the pixel at the border."""
    code = block.code
    first = block.x(4 * group)
    if group < 0:
        return code.let(f"select({vector}.{'xyzw'[component]}, {vector}.x, {first} < 0i)")
    beyond = code.let(f"{first} >= {block.width}")
    return code.let(f"select({vector}.{'xyzw'[component]}, {vector}.w, {beyond})")


def _byte_of(word: str, number: int) -> str:
    if number == 0:
        return f"({word} & 255u)"
    return f"({word} >> 24u)" if number == 3 else f"(({word} >> {8 * number}u) & 255u)"


def _half_of(words: str, number: int) -> str:
    """One of the four u16 in two words."""
    word = f"{words}.{'xy'[number // 2]}"
    return f"({word} >> 16u)" if number % 2 else f"({word} & 65535u)"


def _two_words(levels: Sequence[str]) -> str:
    """Four u16 as two words."""
    pairs = zip(levels[::2], levels[1::2], strict=True)
    return f"vec2<u32>({', '.join(f'({low} | ({high} << 16u))' for low, high in pairs)})"


def _shifted(block: Block, dx: int) -> str:
    """The number of the group of four that an element of a linear block is in."""
    first = block.code.let(f"{block.x0} >> 2u")
    return block.code.let(f"{first} + {dx // 4}") if dx // 4 else first
