"""A layout as tiles of ink: box, shadow, outlines, letters, in the order they are painted.

layout, paint, phase → tiles with places and colours → commands for the machine code of blendcode.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dala.once import OnceByKey
from dala.text.blendcode import COLORS, COMMAND, COVERAGE, blend_function
from dala.text.glyphs import PHASES, Bytes, Tile, glyph_tile, make_tile
from dala.text.layout import Layout
from dala.text.outline import blur
from dala.text.paint import Box, Gradient, Outline, Paint, Shadow

WHITE = b"\xff\xff\xff\xff"
LARGEST_BLOCK = 1 << 26  # pixels of a shadow or of a text in a gradient


class PlacedTile(NamedTuple):
    """A tile, the pixel of its upper left corner, and its colour (or, of colours, its opacity)."""

    tile: Tile
    x: int
    y: int
    color: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """What is painted, from bottom to top, and the same as commands; they hold the tiles."""

    tiles: tuple[PlacedTile, ...]
    commands: npt.NDArray[np.int64]

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom of all tiles."""
        return bounds_of(self.tiles)

    def paint(self, pixels: Bytes, dx: int, dy: int) -> None:
        """Lay it over (H, W, C) bytes whose pixels lie side by side, in place."""
        height, width, channels = pixels.shape
        blend_function(channels)(
            pixels.ctypes.data, pixels.strides[0], width, height,
            self.commands.ctypes.data, len(self.commands), dx, dy,
        )  # fmt: skip


def ink_of(layout: Layout, paint: Paint, phase: tuple[int, int], *, grey: bool = False) -> Ink:
    """The ink of a layout whose corner lies ``phase`` quarters of a pixel from a pixel's corner.

    For grey pictures colours are their lightness.
    """
    inks: OnceByKey[object, Ink] = layout.inks
    key = (paint, phase, grey)
    return inks.peek(key) or inks.get(key, lambda: _make(layout, paint, phase, grey=grey))


def _make(layout: Layout, paint: Paint, phase: tuple[int, int], *, grey: bool) -> Ink:
    size = max((run.size for run in layout.runs), default=16.0)
    tiles: list[PlacedTile] = []
    if paint.box is not None:
        tiles += _box(layout, paint.box, size)
    fills = list(_glyphs(layout, phase, paint.fill if isinstance(paint.fill, bytes) else WHITE))
    lines: list[PlacedTile] = []
    if paint.outline is not None and (width := _outline_width(paint.outline, size)):
        color = bytes(paint.outline.color)  # type: ignore[arg-type]
        lines = list(_glyphs(layout, phase, color, outline=width))
        if color[3] < 255:  # where the outlines of neighbours meet, they are one
            lines = _united(lines, color)
    if paint.shadow is not None:
        tiles += _shadow(lines + fills, paint.shadow, size)
    if isinstance(paint.fill, Gradient):
        fills = _in_gradient(layout, fills, paint.fill)
    tiles += lines + fills
    if grey:
        tiles = [_in_grey(placed) for placed in tiles]
    return Ink(tuple(tiles), _commands(tiles))


def _glyphs(
    layout: Layout, phase: tuple[int, int], color: bytes, outline: float = 0.0
) -> Iterator[PlacedTile]:
    """A tile for each glyph that has ink; a run's own colour goes before the given one."""
    for run in layout.runs:
        own = run.color if run.color is not None and not outline else color
        across = np.rint(run.x * PHASES).astype(np.int64) + phase[0]
        down = np.rint(run.y * PHASES).astype(np.int64) + phase[1]
        for glyph, x, y in zip(run.ids, across.tolist(), down.tolist(), strict=True):
            where = (x % PHASES, y % PHASES)
            tile = glyph_tile(run.font, run.size, glyph, where, outline=outline, color=own)
            if tile is not None:
                shade = bytes((255, 255, 255, own[3])) if tile.is_color else own
                yield PlacedTile(tile, x // PHASES + tile.left, y // PHASES + tile.top, shade)


def _commands(tiles: Iterable[PlacedTile]) -> npt.NDArray[np.int64]:
    rows = [
        (
            tile.address, tile.pixels.strides[0], x, y, tile.pixels.shape[1], tile.pixels.shape[0],
            int.from_bytes(color, "little"), COLORS if tile.is_color else COVERAGE,
        )
        for tile, x, y, color in tiles
    ]  # fmt: skip
    return np.array(rows, np.int64).reshape(-1, len(COMMAND))


def bounds_of(tiles: Iterable[PlacedTile]) -> tuple[int, int, int, int]:
    """Left, top, right, bottom."""
    edges = [(x, y, x + t.pixels.shape[1], y + t.pixels.shape[0]) for t, x, y, _ in tiles]
    if not edges:
        return 0, 0, 0, 0
    left, top, right, bottom = zip(*edges, strict=True)
    return min(left), min(top), max(right), max(bottom)


# -- layers that are more than letters ---------------------------------------------------------------


def _outline_width(outline: Outline, size: float) -> float:
    return max(1.0, size / 16) if outline.width is None else float(outline.width)


def _union(tiles: list[PlacedTile]) -> tuple[Bytes, int, int] | None:
    """The coverage of all tiles together, and its corner."""
    left, top, right, bottom = bounds_of(tiles)
    if not 0 < (right - left) * (bottom - top) <= LARGEST_BLOCK:
        return None
    block = np.zeros((bottom - top, right - left, 1), np.uint8)
    plain = []
    for tile, x, y, _ in tiles:
        if tile.is_color:
            tile = make_tile(tile.pixels[..., 3], tile.left, tile.top)
        plain.append(PlacedTile(tile, x, y, WHITE))
    Ink(tuple(plain), _commands(plain)).paint(block, -left, -top)
    return block[..., 0], left, top


def _united(tiles: list[PlacedTile], color: bytes) -> list[PlacedTile]:
    found = _union(tiles)
    if found is None:
        return tiles
    block, left, top = found
    return [PlacedTile(make_tile(block, 0, 0), left, top, color)]


def _shadow(tiles: list[PlacedTile], shadow: Shadow, size: float) -> list[PlacedTile]:
    found = _union(tiles)
    if found is None:
        return []
    block, left, top = found
    offset = shadow.offset or (size / 16, size / 16)
    sigma = max(1.0, size / 24) if shadow.blur is None else float(shadow.blur)
    soft, margin = blur(block, sigma)
    x, y = left - margin + round(offset[0]), top - margin + round(offset[1])
    return [PlacedTile(make_tile(soft, 0, 0), x, y, bytes(shadow.color))]  # type: ignore[arg-type]


def _in_gradient(layout: Layout, tiles: list[PlacedTile], gradient: Gradient) -> list[PlacedTile]:
    """Letters in colours that change over the layout; emoji keep theirs."""
    own = [placed for placed in tiles if placed.tile.is_color]
    found = _union([placed for placed in tiles if not placed.tile.is_color])
    if found is None:
        return tiles
    block, left, top = found
    height, width = block.shape
    angle = math.radians(gradient.angle)
    across, down = math.cos(angle), math.sin(angle)
    reach = abs(across) * layout.width / 2 + abs(down) * layout.height / 2
    x = np.arange(left, left + width) + 0.5 - layout.width / 2
    y = np.arange(top, top + height) + 0.5 - layout.height / 2
    share = np.clip(0.5 + (across * x + down * y[:, None]) / max(2 * reach, 1e-6), 0, 1)
    stops = np.array([list(color) for color in gradient.colors], np.float64)
    places = np.linspace(0, 1, len(stops))
    colors = np.stack([np.interp(share, places, stops[:, c]) for c in range(4)], axis=2)
    colors[..., 3] *= block / 255
    pixels = np.rint(colors).astype(np.uint8)
    return [PlacedTile(make_tile(pixels, 0, 0), left, top, WHITE), *own]


def _box(layout: Layout, box: Box, size: float) -> list[PlacedTile]:
    """A box around the lines, with round corners; half-covered pixels at its corners alone."""
    padding = size / 4 if box.padding is None else float(box.padding)
    left = math.floor(min((line.x for line in layout.lines), default=0.0) - padding)
    top = math.floor(-padding)
    width = math.ceil(layout.width + padding) - left
    height = math.ceil(layout.height + padding) - top
    if not 0 < width * height <= LARGEST_BLOCK:
        return []
    radius = size / 6 if box.radius is None else float(box.radius)
    radius = min(radius, width / 2, height / 2)
    x, y = np.arange(width) + 0.5, np.arange(height) + 0.5
    dx = np.maximum(np.maximum(radius - x, x - (width - radius)), 0)
    dy = np.maximum(np.maximum(radius - y, y - (height - radius)), 0)
    distance = np.hypot(dx, dy[:, None])
    coverage = np.clip(radius - distance + 0.5, 0, 1) if radius else np.ones((height, width))
    tile = make_tile(np.rint(coverage * 255).astype(np.uint8), 0, 0)
    return [PlacedTile(tile, left, top, bytes(box.color))]  # type: ignore[arg-type]


def _in_grey(placed: PlacedTile) -> PlacedTile:
    """Colours as their lightness, in the first channel."""
    tile, x, y, color = placed
    light = lightness(np.frombuffer(color, np.uint8)[None, None])[0, 0]
    if tile.is_color:
        pixels = np.array(tile.pixels)
        pixels[..., 0] = lightness(pixels)
        tile = make_tile(pixels, tile.left, tile.top)
    return PlacedTile(tile, x, y, bytes((int(light), 0, 0, color[3])))


def lightness(rgba: Bytes) -> Bytes:
    """Of colours, as pictures become grey (BT.601)."""
    weighted = rgba[..., :3].astype(np.uint32) @ np.array([19595, 38470, 7471], np.uint32)
    return ((weighted + 32768) >> 16).astype(np.uint8)
