"""Glyphs as pixels: drawn once for each quarter of a pixel, and kept.

A tile is coverage (one byte a pixel), which is painted in any colour, or colours (RGBA, straight alpha).
Tiles are never changed: whoever holds one keeps it alive, whatever the cache forgets.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import forking
from dala.once import once
from dala.text.font import Font
from dala.text.harfbuzz import harfbuzz
from dala.text.outline import dilate

Bytes = npt.NDArray[np.uint8]
PHASES = 4  # places within a pixel, in x and in y
CACHE_BYTES = 32 << 20
OVERHEAD = 512  # bytes that a tile takes beside its pixels
LARGEST_PNG = 1024  # pixels a side, of an emoji in a font


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """The pixels of a glyph, and where they begin from the pixel of its origin."""

    pixels: Bytes  # (H, W) coverage or (H, W, 4) colours
    left: int
    top: int
    address: int

    @property
    def is_color(self) -> bool:
        return self.pixels.ndim == 3


def make_tile(pixels: Bytes, left: int, top: int) -> Tile:
    """A tile of pixels that nobody changes any more."""
    fixed = np.ascontiguousarray(pixels)
    fixed.setflags(write=False)
    return Tile(fixed, left, top, fixed.ctypes.data)


class GlyphCache:
    """Tiles by font, size, glyph and place within a pixel; the least used ones are forgotten."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.bytes = 0
        self.made = 0  # how often a tile was made
        self._tiles: OrderedDict[tuple[object, ...], Tile | None] = OrderedDict()
        self._lock = forking.lock()

    def get(self, key: tuple[object, ...], make: Callable[[], Tile | None]) -> Tile | None:
        """The tile of a key; nothing for a glyph without ink."""
        with self._lock:
            if key in self._tiles:
                self._tiles.move_to_end(key)
                return self._tiles[key]
        tile = make()
        with self._lock:
            if key in self._tiles:
                return self._tiles[key]
            self.made += 1
            self._tiles[key] = tile
            self.bytes += _weight(tile)
            self._drop_oldest()
        return tile

    def _drop_oldest(self) -> None:
        while self.bytes > self.limit and self._tiles:
            self.bytes -= _weight(self._tiles.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget all tiles."""
        with self._lock:
            self._tiles.clear()
            self.bytes = 0

    def __len__(self) -> int:
        return len(self._tiles)


def _weight(tile: Tile | None) -> int:
    return OVERHEAD + (tile.pixels.nbytes if tile is not None else 0)


glyph_cache = GlyphCache()


def glyph_tile(
    font: Font,
    size: float,
    glyph: int,
    phase: tuple[int, int] = (0, 0),
    *,
    outline: float = 0.0,
    color: bytes = b"\0\0\0\xff",
) -> Tile | None:
    """The pixels of a glyph whose origin lies ``phase`` quarters of a pixel right of and below a pixel's
    corner. ``outline`` widens it by so many pixels on every side; ``color`` is for fonts in colour whose
    glyphs have parts in the colour of the text.
    """
    tint = color if font.has_paint and not outline else b""
    key = (font.key, size, glyph, phase, outline, tint)
    return glyph_cache.get(key, lambda: _make(font, size, glyph, phase, outline, color))


def _make(
    font: Font, size: float, glyph: int, phase: tuple[int, int], outline: float, color: bytes
) -> Tile | None:
    tile: Tile | None = None
    if font.has_paint:
        tile = _paint(font, size, glyph, phase, color)
    if tile is None and font.has_png:
        tile = _png(font, size, glyph)
    if tile is None:
        tile = _draw(font, size, glyph, phase)
    if tile is None or not outline:
        return tile
    coverage = tile.pixels[..., 3] if tile.is_color else tile.pixels
    pixels, margin = dilate(coverage, outline)
    return make_tile(pixels, tile.left - margin, tile.top - margin)


# -- by HarfBuzz's rasteriser ------------------------------------------------------------------------------

_rasterising = forking.lock()  # a rasteriser is for one thread at a time


@once
def _rasterisers() -> tuple[Any, Any]:
    hb = harfbuzz()
    return hb.RasterDraw(), hb.RasterPaint()


def _window(font: Font, size: float, glyph: int, phase: tuple[int, int]) -> Any:
    """The pixels that a glyph may cover; what a font says is not trusted beyond some times its size."""
    extents = font.harfbuzz.get_glyph_extents(glyph)
    if extents is None or not extents.width or not extents.height:
        return None
    scale = size / font.upem
    left, top = extents.x_bearing * scale, extents.y_bearing * scale
    right, bottom = left + extents.width * scale, top + extents.height * scale
    reach = size * (16 if size <= 512 else 4) + 16
    left, right = (min(max(v, -reach), reach) for v in (left, right))
    bottom, top = (min(max(v, -reach / 2), reach / 2) for v in (bottom, top))
    x0, y0 = int(np.floor(left)) - 1, int(np.floor(bottom)) - 2
    width, height = int(np.ceil(right)) + 2 - x0, int(np.ceil(top)) + 2 - y0
    return harfbuzz().RasterExtents(x0, y0, width, height, 0)


def _transform(font: Font, size: float, phase: tuple[int, int]) -> tuple[float, ...]:
    scale = size / font.upem
    return scale, 0.0, 0.0, scale, phase[0] / PHASES, -phase[1] / PHASES


def _draw(font: Font, size: float, glyph: int, phase: tuple[int, int]) -> Tile | None:
    window = _window(font, size, glyph, phase)
    if window is None:
        return None
    with _rasterising:
        raster, _ = _rasterisers()
        raster.reset()
        raster.transform = _transform(font, size, phase)
        raster.extents = window
        if not raster.draw_glyph_or_fail(font.harfbuzz, glyph):
            return None
        image = raster.render()
    return _cropped(image, 1)


def _paint(
    font: Font, size: float, glyph: int, phase: tuple[int, int], color: bytes
) -> Tile | None:
    window = _window(font, size, glyph, phase)
    if window is None:
        return None
    with _rasterising:
        _, raster = _rasterisers()
        raster.reset()
        raster.transform = _transform(font, size, phase)
        raster.extents = window
        raster.foreground = harfbuzz().Color(color[0], color[1], color[2], 255)
        if not raster.paint_glyph_or_fail(font.harfbuzz, glyph):
            return None
        image = raster.render()
    return _cropped(image, 4)


def _cropped(image: Any, channels: int) -> Tile | None:
    """HarfBuzz's image, whose rows go upwards, without its empty edges."""
    if image is None:
        return None
    extents = image.extents
    if not extents.width or not extents.height:
        return None
    rows = np.frombuffer(image.buffer, np.uint8).reshape(extents.height, extents.stride)[::-1]
    pixels = rows[:, : extents.width * channels].reshape(extents.height, extents.width, channels)
    ink = pixels[..., -1] != 0
    across, down = np.flatnonzero(ink.any(0)), np.flatnonzero(ink.any(1))
    if not len(across):
        return None
    x0, x1, y0, y1 = int(across[0]), int(across[-1]) + 1, int(down[0]), int(down[-1]) + 1
    part = pixels[y0:y1, x0:x1]
    top = -(extents.y_origin + extents.height) + y0
    left = extents.x_origin + x0
    return make_tile(part[..., 0] if channels == 1 else _straight(part), left, top)


def _straight(bgra: Bytes) -> Bytes:
    """Premultiplied BGRA as straight RGBA."""
    alpha = bgra[..., 3:].astype(np.uint16)
    colors = bgra[..., 2::-1].astype(np.uint16)
    whole = np.maximum(alpha, 1)
    straight = np.minimum((colors * 255 + whole // 2) // whole, 255)
    return np.concatenate([straight, alpha], 2).astype(np.uint8)


# -- pictures in a font ----------------------------------------------------------------------------------


def _png(font: Font, size: float, glyph: int) -> Tile | None:
    """A glyph that is a PNG, scaled; it stands on whole pixels."""
    data = font.harfbuzz.get_glyph_color_png(glyph).data
    extents = font.harfbuzz.get_glyph_extents(glyph)
    if not data or extents is None:
        return None
    image = _open_png(bytes(data))
    scale = size / font.upem
    width, height = round(extents.width * scale), round(-extents.height * scale)
    if image is None or not (0 < width <= 4 * size + 4 and 0 < height <= 4 * size + 4):
        return None
    scaled = image.resize((width, height))
    left, top = round(extents.x_bearing * scale), -round(extents.y_bearing * scale)
    if max(abs(left), abs(top)) > 4 * size + 4:
        return None
    return make_tile(np.asarray(scaled), left, top)


def _open_png(data: bytes) -> Any:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            if max(image.size) > LARGEST_PNG:
                return None
            return image.convert("RGBA")
    except (OSError, SyntaxError, ValueError):  # damaged: the font's outline is shown, or nothing
        return None
