"""Values that bodies buffer for each other: a tile with its margins, in workgroup memory.

    packed   levels of a u8 image of four channels: one word per pixel
    half     pixels in half precision (half.py): two planes of words
    f32      one plane per channel

All in groups of four pixels (one vec4), so that a block of four reads and writes whole groups and
neighbouring invocations touch neighbouring banks. Planes are arrays of their own: WebGPU checks each index
that is not a literal, so that one check serves all of them. (Rows as arrays were slower on an H200.)
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.webgpu.arrays import edge_select, unpack
from dala.backends.webgpu.blocks import Block, Source
from dala.backends.webgpu.body import BodyWriter
from dala.backends.webgpu.ranges import UNIT, Range
from dala.backends.webgpu.tiles import Tile, TiledBody
from dala.ir.graph import Node


class WorkgroupTile(Source):
    """What one body keeps for the bodies after it."""

    def __init__(self, number: int, tile: Tile, body: TiledBody, whole_groups: bool) -> None:
        self.name = f"held{number}"
        self.body = body
        self.packed = self.bytes = body.form == "packed"
        self.half = body.form == "half"
        self.whole_groups = whole_groups  # rows of the image are groups of four
        self.planes = {"packed": 1, "half": 2, "f32": len(body.body.buffered)}[body.form]
        self.element = "f32" if body.form == "f32" else "u32"
        margins = body.margins
        self.groups = (tile.width + margins.left + margins.right) // 4  # in a row
        self.rows = tile.height + margins.top + margins.bottom
        self._kept_by: BodyWriter  # who knows what the values can be

    def declare(self) -> str:
        plane = f"array<vec4<{self.element}>, {self.groups * self.rows}>"
        return f"var<workgroup> {self.name}: array<{plane}, {self.planes}>;\n"

    # -- reading -------------------------------------------------------------------------------

    def range(self, channel: int) -> Range:
        return UNIT if self.bytes else self._kept_by.ranges[id(self.body.body.buffered[channel])]

    def fetch(self, block: Block, channel: int, dx: int, dy: int) -> str:
        if self.packed:
            return unpack(block, self.word(block, dx, dy), channel)
        assert not self.half, "what is buffered in halves is read in halves"
        return self._component(block, channel, dx, dy)

    def word(self, block: Block, dx: int, dy: int) -> str:
        return self._component(block, 0, dx, dy)

    def half_pixel(self, block: Block, dx: int, dy: int) -> str:
        if self.packed:
            return super().half_pixel(block, dx, dy)
        parts = [self._component(block, plane, dx, dy) for plane in range(self.planes)]
        if self.half:
            return block.code.let(f"vec4<f16>({', '.join(f'halves({p})' for p in parts)})")
        return block.code.let(f"half_pixel_of(vec4<f32>({', '.join(parts)}))")

    def _component(self, block: Block, plane: int, dx: int, dy: int) -> str:
        group, component = divmod(dx, 4)
        own = 0 <= group < block.columns // 4
        if self.body.padded or (own and self.whole_groups):
            here = block.code.let(f"({block.tile_x} >> 2u) + {group}")
            return f"{self._group(block, plane, here, dy)}.{'xyzw'[component]}"
        if not self.whole_groups:
            column = block.code.let(f"{block.clamped_x(dx)} - tile_x0")
            here = block.code.let(f"{column} >> 2u")
            return block.code.let(f"{self._element(block, plane, here, dy)}[{column} & 3i]")
        last = block.code.let(f"({block.width} >> 2u) - 1i")
        here = block.code.let(f"clamp(({block.x0} >> 2u) + {group}, 0i, {last}) - (tile_x0 >> 2u)")
        return edge_select(block, self._group(block, plane, here, dy), group, component)

    def _group(self, block: Block, plane: int, here: str, dy: int) -> str:
        return block.code.let(self._element(block, plane, here, dy))

    def _element(self, block: Block, plane: int, here: str, dy: int) -> str:
        index = block.code.let(f"{self._row(block, dy)} * {self.groups} + {here}")
        if offset := self.body.margins.left // 4:
            index = block.code.let(f"{index} + {offset}")
        return f"{self.name}[{plane}][{index}]"

    def _row(self, block: Block, dy: int) -> str:
        """The row of the tile that is an image's row; none beyond the border is ever asked for."""
        code, margins = block.code, self.body.margins
        if margins.top or margins.bottom:
            row = code.let(f"{block.clamped_y(dy)} - tile_y0")
        else:
            row = code.let(f"{block.tile_y} + {dy}") if dy else block.tile_y
        return code.let(f"{row} + {margins.top}") if margins.top else row

    # -- writing -------------------------------------------------------------------------------

    def keep(self, writer: BodyWriter, nodes: Sequence[Node]) -> None:
        """Write the values of every pixel of a block."""
        block = writer.block
        self._kept_by = writer
        for dy in range(block.rows):
            if block.columns == 1:
                self._keep_pixel(writer, nodes, dy)
                continue
            for group in range(block.columns // 4):
                self._keep_group(writer, nodes, group, dy)

    def _own_element(self, block: Block, plane: int, group: int, dy: int) -> str:
        code, margins = block.code, self.body.margins
        row = code.let(f"{block.tile_y} + {dy + margins.top}")
        here = code.let(f"({block.tile_x} >> 2u) + {group + margins.left // 4}")
        index = code.let(f"{row} * {self.groups} + {here}")
        return f"{self.name}[{plane}][{index}]"

    def _keep_pixel(self, writer: BodyWriter, nodes: Sequence[Node], dy: int) -> None:
        block, code = writer.block, writer.code
        component = code.let(f"{block.tile_x} & 3i")
        for plane, name in enumerate(self._words(writer, nodes, 0, dy)):
            code.line(f"{self._own_element(block, plane, 0, dy)}[{component}] = {name};")

    def _keep_group(self, writer: BodyWriter, nodes: Sequence[Node], group: int, dy: int) -> None:
        block, code = writer.block, writer.code
        pixels = [self._words(writer, nodes, 4 * group + k, dy) for k in range(4)]
        for plane, names in enumerate(zip(*pixels, strict=True)):
            own = self._own_element(block, plane, group, dy)
            code.line(f"{own} = vec4<{self.element}>({', '.join(names)});")

    def _words(self, writer: BodyWriter, nodes: Sequence[Node], dx: int, dy: int) -> list[str]:
        """What each plane has of a pixel."""
        if self.packed:
            return [writer.packed(nodes, dx, dy)]
        if self.half:
            return writer.half.planes(nodes, dx, dy)
        return writer.values(nodes, dx, dy)
