"""A block of pixels (or elements) computed by one invocation, and where its values come from.

A block is ``columns`` × ``rows`` neighbouring pixels. What two pixels of a block both need is read and
computed once (code.py names equal expressions alike). Where pixels come from is a Source: an array in
memory (arrays.py) or a tile of buffered values in workgroup memory (workgroup.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from dala.backends.webgpu.code import Code
from dala.backends.webgpu.ranges import ANYTHING, UNIT, Range
from dala.backends.webgpu.uniforms import UniformBlock


class Source(ABC):
    """Something that a body reads."""

    packed = False  # whether a pixel is one word of four bytes
    bytes = False  # whether its values are levels of a u8 image
    levels = False  # the same of a u8 or u16 image

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
        return UNIT if self.bytes or self.levels else ANYTHING

    def gather(self, block: Block, channel: int, position: Sequence[str]) -> str:
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

    def _clamped(self, position: str, offset: int, size: str, known: Known) -> str:
        """A position within the image, without the comparisons whose outcome is known."""
        if offset >= 0 and known.from_zero:
            if offset == 0 and known.below_size:
                return position
            return self.code.let(f"min({position}, {size} - 1i)")
        if offset <= 0 and known.below_size:
            return self.code.let(f"max({position}, 0i)")
        return self.code.let(f"clamp({position}, 0i, {size} - 1i)")

    def half_one(self) -> str:
        """1 as an f16 that no compiler knows: see half.py."""
        return self.code.let(f"f16({self.uniforms.number('one', lambda: 1)})")

    def coord(self, axis: int, dx: int, dy: int) -> str:
        """The position along an axis of one pixel; tensors override it."""
        return self.x(dx) if axis == 1 else self.y(dy)
