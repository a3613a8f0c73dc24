"""What is painted with, other than a colour: gradients, pictures, layers; and blend modes.

Functions of the rasteriser's language (language.py), a part of their own that is compiled when a paint is
first used. ``paint_ink`` gets rows of coverage (cells.py), makes the pixels for each row in scratch memory,
and puts them onto the surface.
"""

from __future__ import annotations

from dala.gpu.opcodes import Op
from dala.gpu.raster.ink.cells import (
    COLOR,
    SPAN_COUNT,
    SPAN_COVER,
    SPAN_KIND,
    SPAN_PAINT,
    SPAN_PIXEL,
    SPAN_ROWS,
    SPAN_SKIP,
    SPAN_STRIDE,
    SPAN_X,
    SPAN_Y,
)
from dala.gpu.raster.ink.layers import (
    LAYER_RULE,
    layer_bottom,
    layer_memory,
    layer_top,
    open_entry,
)
from dala.gpu.raster.ink.modes import OVER, REPLACE_MODE, mode_row
from dala.gpu.raster.ink.paths import REC_SHADES, fill_record
from dala.gpu.raster.ink.pictures import (
    PICTURE_TINT,
    SAMPLE_BACK,
    SAMPLE_BYTES,
    SAMPLE_H,
    SAMPLE_NEAREST,
    SAMPLE_PIXELS,
    SAMPLE_SPREAD,
    SAMPLE_STRIDE,
    SAMPLE_W,
    place_pattern,
    place_picture,
)
from dala.gpu.raster.ink.sampled import blend_covered, sample_affine
from dala.gpu.raster.ink.shades import COLOR_AT, MASK, PATTERN, PICTURE, invert, shade_row
from dala.gpu.raster.layout import (
    BACK,
    BORDER,
    CELLS,
    LAYER_MASK,
    LAYER_PIXELS,
    LAYERS,
    MASKED,
    MODE,
    OPACITY,
    OPEN_LEFT,
    OPEN_RIGHT,
    REPLACE,
    SCRATCH,
    WIDTH,
)
from dala.gpu.raster.rows import fill_row
from dala.gpu.raster.words import (
    copy_bytes,
    load8,
    load64,
    load_f64,
    load_u32,
    store8,
    store32,
    store64,
)

WHITE = 0xFFFFFFFF


def paint_ink(s: int, span: int, record: int) -> int:
    """Rows of coverage, painted; the coverage is zero after."""
    place = span - SAMPLE_BYTES  # scratch
    kind, paint = load64(span + SPAN_KIND), load64(span + SPAN_PAINT)
    tint, there = WHITE, 1
    if kind == PATTERN:
        there = place_pattern(s, paint, place)
        tint = load_u32(paint + COLOR_AT)
    elif kind == PICTURE:
        there = place_picture(s, paint, place, record)
        tint = load_u32(paint + PICTURE_TINT)
    elif kind != COLOR and kind != MASK:
        there = invert(s, place)
    skip, count, cover = (
        load64(span + SPAN_SKIP),
        load64(span + SPAN_COUNT),
        load64(span + SPAN_COVER),
    )
    x, y = load64(span + SPAN_X) + skip, load64(span + SPAN_Y)
    for row in range(y, y + load64(span + SPAN_ROWS)):
        if kind == MASK:
            put_mask(paint + row * load64(s + WIDTH) + x, cover + skip * 4, count - skip)
        elif there:
            pixel_row(s, span, place, record, x, row, count - skip)
            put_row(s, x, row, count - skip, load64(s + SCRATCH), cover + skip * 4, tint, OVER)
        clear_cells(cover, load64(span + SPAN_STRIDE))
        cover += load64(span + SPAN_STRIDE)
    return 0


def clear_cells(at: int, size: int) -> None:
    for i in range(size >> 3):
        store64(at + i * 8, 0)


def put_mask(to: int, cover: int, count: int) -> None:
    for i in range(count):
        store8(to + i, load_u32(cover + i * 4))


def pixel_row(s: int, span: int, place: int, record: int, x: int, y: int, count: int) -> None:
    """The pixels of a row, in scratch memory."""
    kind, paint, to = load64(span + SPAN_KIND), load64(span + SPAN_PAINT), load64(s + SCRATCH)
    if kind == COLOR:
        fill_row(to, count, load64(span + SPAN_PIXEL), to + count * 4)
    elif kind == PATTERN or kind == PICTURE:  # noqa: SIM109
        back, cx, cy = place + SAMPLE_BACK, x + 0.5, y + 0.5
        du, dv = load_f64(back), load_f64(back + 8)
        u = du * cx + load_f64(back + 16) * cy + load_f64(back + 32) - 0.5
        v = dv * cx + load_f64(back + 24) * cy + load_f64(back + 40) - 0.5
        sample_affine(
            to, count, load64(place + SAMPLE_PIXELS), load64(place + SAMPLE_STRIDE),
            load64(place + SAMPLE_W), load64(place + SAMPLE_H), u, v, du, dv,
            load64(place + SAMPLE_SPREAD), load64(place + SAMPLE_NEAREST),
        )  # fmt: skip
    else:
        shade_row(paint, record + load64(record + REC_SHADES), place, x, y, count, to)


def put_row(
    s: int, x: int, y: int, count: int, pixels: int, cover: int, tint: int, mode: int
) -> None:
    to = load64(s + BACK) + (y * load64(s + WIDTH) + x) * 4
    if load64(s + REPLACE) and mode == OVER:
        mode_row(to, count, pixels, cover, tint, REPLACE_MODE)
    elif mode == OVER:
        blend_covered(to, count, load64(s + BORDER), pixels, cover, tint)
    else:
        mode_row(to, count, pixels, cover, tint, mode)


# -- layers ------------------------------------------------------------------------------------------


def paint_layer(s: int, op: int, p: int) -> int:
    """A layer that was just opened is made empty; one that was just closed is put onto what is below it."""
    if op == Op.PUSH_LAYER:
        begin_layer(s, p)
    else:
        end_layer(s)
    return 0


def begin_layer(s: int, p: int) -> None:
    entry = open_entry(s, load64(s + LAYERS) - 1)
    memory = layer_memory(s, load64(s + LAYERS) - 1)
    wide = load64(s + WIDTH)
    left, right = load64(entry + OPEN_LEFT), load64(entry + OPEN_RIGHT)
    for y in range(layer_top(s, entry), layer_bottom(s, entry)):
        at = y * wide + left
        fill_row(load64(memory + LAYER_PIXELS) + at * 4, right - left, 0, load64(s + BORDER))
        if load64(entry + MASKED):
            for x in range(right - left):
                store8(load64(memory + LAYER_MASK) + at + x, 0)
    if load64(entry + MASKED):
        fill_record(s, load8(p + LAYER_RULE), MASK, load64(memory + LAYER_MASK), 0)


def end_layer(s: int) -> None:
    entry = open_entry(s, load64(s + LAYERS))
    memory = layer_memory(s, load64(s + LAYERS))
    left, right, cover = load64(entry + OPEN_LEFT), load64(entry + OPEN_RIGHT), load64(s + CELLS)
    if left >= right:
        return
    for i in range(right - left):
        store32(cover + i * 4, 255)
    for y in range(layer_top(s, entry), layer_bottom(s, entry)):
        at = y * load64(s + WIDTH) + left
        if load64(entry + MASKED):
            for i in range(right - left):
                store32(cover + i * 4, load8(load64(memory + LAYER_MASK) + at + i))
        row = load64(s + SCRATCH)
        copy_bytes(row, load64(memory + LAYER_PIXELS) + at * 4, (right - left) * 4)
        tint = load64(entry + OPACITY) << 24 | 0xFFFFFF
        put_row(s, left, y, right - left, row, cover, tint, load64(entry + MODE))
    clear_cells(cover, ((right - left + 1) >> 1) << 3)
