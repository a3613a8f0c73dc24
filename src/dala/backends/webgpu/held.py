"""Held values: a tile with its margins in workgroup memory.

    packed   levels of a u8 image of four channels: one word per pixel
    planar   f32, one plane per channel

Both in groups of four pixels (one vec4), so that a block of four reads and writes whole groups and
neighbouring invocations touch neighbouring banks.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.webgpu.arrays import edge_select, unpack
from dala.backends.webgpu.blocks import Block, BodyWriter, Source
from dala.backends.webgpu.tiles import Tile, TiledBody
from dala.ir.graph import Node


class HeldTile(Source):
    """What one body keeps for the bodies after it."""

    def __init__(self, number: int, tile: Tile, body: TiledBody, whole_groups: bool) -> None:
        self.name = f"held{number}"
        self.body = body
        self.packed = self.bytes = body.packed
        self.whole_groups = whole_groups  # rows of the image are groups of four
        self.channels = 1 if body.packed else len(body.body.held)
        margins = body.margins
        self.groups = (tile.width + margins.left + margins.right) // 4  # in a row
        self.rows = tile.height + margins.top + margins.bottom
        self.size = self.channels * self.groups * self.rows

    def declare(self) -> str:
        element = "u32" if self.packed else "f32"
        return f"var<workgroup> {self.name}: array<vec4<{element}>, {self.size}>;\n"

    # -- reading -------------------------------------------------------------------------------

    def fetch(self, block: Block, channel: int, dx: int, dy: int) -> str:
        if self.packed:
            return unpack(block, self.word(block, dx, dy), channel)
        return self._component(block, channel, dx, dy)

    def word(self, block: Block, dx: int, dy: int) -> str:
        return self._component(block, 0, dx, dy)

    def _component(self, block: Block, plane: int, dx: int, dy: int) -> str:
        group, place = divmod(dx, 4)
        own = 0 <= group < block.columns // 4
        if self.body.padded or (own and self.whole_groups):
            here = block.code.let(f"({block.tile_x} >> 2u) + {group}")
            return f"{self._group(block, plane, here, dy)}.{'xyzw'[place]}"
        if not self.whole_groups:
            column = block.code.let(f"{block.clamped_x(dx)} - tile_x0")
            index = self._index(block, plane, f"({column} >> 2u)", dy)
            return block.code.let(f"{self.name}[{index}][{column} & 3i]")
        last = block.code.let(f"({block.width} >> 2u) - 1i")
        here = block.code.let(f"clamp(({block.x0} >> 2u) + {group}, 0i, {last}) - (tile_x0 >> 2u)")
        return edge_select(block, self._group(block, plane, here, dy), group, place)

    def _group(self, block: Block, plane: int, here: str, dy: int) -> str:
        return block.code.let(f"{self.name}[{self._index(block, plane, here, dy)}]")

    def _index(self, block: Block, plane: int, here: str, dy: int) -> str:
        offset = plane * self.groups * self.rows + self.body.margins.left // 4
        base = block.code.let(f"{self._row(block, dy)} * {self.groups} + {here}")
        return block.code.let(f"{base} + {offset}") if offset else base

    def _row(self, block: Block, dy: int) -> str:
        """The row of the tile that holds an image's row; none beyond the border is ever asked for."""
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
        for dy in range(block.rows):
            if block.columns == 1:
                self._keep_pixel(writer, nodes, dy)
                continue
            for group in range(block.columns // 4):
                self._keep_group(writer, nodes, group, dy)

    def _own_index(self, block: Block, plane: int, group: int, dy: int) -> str:
        code, margins = block.code, self.body.margins
        row = code.let(f"{block.tile_y} + {dy + margins.top}")
        here = code.let(f"({block.tile_x} >> 2u) + {group + margins.left // 4}")
        base = code.let(f"{row} * {self.groups} + {here}")
        offset = plane * self.groups * self.rows
        return code.let(f"{base} + {offset}") if offset else base

    def _keep_pixel(self, writer: BodyWriter, nodes: Sequence[Node], dy: int) -> None:
        block, code = writer.block, writer.code
        place = code.let(f"{block.tile_x} & 3i")
        names = [writer.packed(nodes, 0, dy)] if self.packed else writer.values(nodes, 0, dy)
        for plane, name in enumerate(names):
            code.line(f"{self.name}[{self._own_index(block, plane, 0, dy)}][{place}] = {name};")

    def _keep_group(self, writer: BodyWriter, nodes: Sequence[Node], group: int, dy: int) -> None:
        block, code = writer.block, writer.code
        pixels = range(4 * group, 4 * group + 4)
        if self.packed:
            planes = [[writer.packed(nodes, dx, dy) for dx in pixels]]
        else:
            columns = [writer.values(nodes, dx, dy) for dx in pixels]
            planes = [list(plane) for plane in zip(*columns, strict=True)]
        element = "u32" if self.packed else "f32"
        for plane, names in enumerate(planes):
            index = self._own_index(block, plane, group, dy)
            code.line(f"{self.name}[{index}] = vec4<{element}>({', '.join(names)});")
