"""The 24 opcodes' primitives: what a pixel of each is tested with.

Functions of the rasteriser's language (raster/language.py). What a primitive paints is said by
raster/shapes.py and raster/pictures.py; here it gets the numbers that a shader tests a pixel with, in 32
bits where those are enough and exact. ``s`` is the canvas's state, ``g`` a cursor (primitives.py).
"""

from __future__ import annotations

from dala.gpu.opcodes import Op
from dala.gpu.raster.layout import (
    BOTTOM,
    HEIGHT,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    PIXELS,
    REPLACE,
    STRIDE,
    TOP,
    WIDTH,
)
from dala.gpu.raster.pictures import sample_position
from dala.gpu.raster.protocol import picture_of
from dala.gpu.raster.shapes import corner_radius, crossing, is_nothing, is_solid
from dala.gpu.raster.words import load64, load_s32, load_u32, store32
from dala.gpu.tiles.layout import (
    ACROSS,
    ALONE,
    BINNED,
    BLOCK_PRIMS,
    DATA_AT,
    DISC,
    DONE,
    FAR_X,
    FAR_Y,
    IMAGE,
    LEFTWARD,
    LINE,
    MEMORY,
    MOST_BINNED,
    MOST_STRETCHES,
    NEXT_PRIMS,
    NEXT_STRETCH,
    NO_ROOM,
    OPEN,
    OUTLINE,
    OWN_LAST,
    PRIM_BLOCKS,
    PYTHON,
    RECT,
    REFERS_LAST,
    SOLID,
    SPRITE,
    STEEP,
    TABLES,
    TRIANGLE,
    UPWARD,
    WIDE,
)
from dala.gpu.tiles.primitives import (
    FEW,
    data_at,
    has_block,
    has_words,
    put_clipped,
    take_words,
)

NARROW = 32767  # numbers up to here can be multiplied, and two products added, in 32 bits
HALF = 65535  # and up to here multiplied, without a sign
MOST = (1 << 31) - 1


def with_color(s: int, kind: int, pixel: int) -> int:
    return kind | SOLID if is_solid(s, pixel) else kind


def add(g: int, s: int, op: int, p: int) -> int:
    """One of the plain primitives, whose fields begin at p; what becomes of it."""
    if op == Op.BLIT or op == Op.IMAGE_BLIT:
        return add_picture(g, s, op, p)
    if op == Op.FILL_RECT:
        x, y = load_u32(p), load_u32(p + 4)
        add_rect(g, s, x, y, x + load_u32(p + 8), y + load_u32(p + 12), load_u32(p + 16))
    elif op == Op.FILL_CIRCLE:
        add_circle(g, s, DISC, p)
    elif op == Op.DRAW_CIRCLE:
        add_circle(g, s, DISC | OUTLINE, p)
    elif op == Op.FILL_ROUND_RECT:
        add_round_rect(g, s, DISC, p)
    elif op == Op.DRAW_ROUND_RECT:
        add_round_rect(g, s, DISC | OUTLINE, p)
    else:
        return add_corners(g, s, op, p)
    return DONE


def add_rect(g: int, s: int, left: int, top: int, right: int, bottom: int, pixel: int) -> None:
    if not is_nothing(s, pixel):
        put_clipped(g, s, with_color(s, RECT, pixel), left, top, right, bottom, pixel)


# -- discs: all pixels near enough to a rectangle, which is a point for circles ------------------------


def add_circle(g: int, s: int, kind: int, p: int) -> None:
    x, y, r = load_s32(p), load_s32(p + 4), load_u32(p + 8)
    add_disc(g, s, kind, x, y, x, y, r, load_u32(p + 12))


def add_round_rect(g: int, s: int, kind: int, p: int) -> None:
    x, y, w, h = load_u32(p), load_u32(p + 4), load_u32(p + 8), load_u32(p + 12)
    if w > 0 and h > 0:
        r = corner_radius(w, h, load_u32(p + 16))
        right, bottom = x + w - 1 - r, y + h - 1 - r
        add_disc(g, s, kind, x + r, y + r, right, bottom, r, load_u32(p + 20))


def add_disc(
    g: int, s: int, kind: int, left: int, top: int, right: int, bottom: int, r: int, pixel: int
) -> None:
    if is_nothing(s, pixel):
        return
    if r > NARROW:
        kind = kind | WIDE
    if left > MOST:
        kind = kind | FAR_X
    if top > MOST:
        kind = kind | FAR_Y
    kind = with_color(s, kind, pixel)
    at = put_clipped(g, s, kind, left - r, top - r, right + r + 1, bottom + r + 1, pixel)
    if at:
        store32(at, left)
        store32(at + 4, top)
        store32(at + 8, min(right, MOST))  # beyond every pixel: it makes no difference where
        store32(at + 12, min(bottom, MOST))
        store32(at + 16, r)


# -- lines and triangles -------------------------------------------------------------------------------


def add_corners(g: int, s: int, op: int, p: int) -> int:
    x1, y1, x2, y2 = load_s32(p), load_s32(p + 4), load_s32(p + 8), load_s32(p + 12)
    if op == Op.DRAW_LINE:
        add_line(g, s, x1, y1, x2, y2, load_u32(p + 16), 0)
        return DONE
    x3, y3, pixel = load_s32(p + 16), load_s32(p + 20), load_u32(p + 24)
    if op == Op.FILL_TRIANGLE:
        return add_triangle(g, s, x1, y1, x2, y2, x3, y3, pixel)
    if x1 == x2 and x2 == x3 and y1 == y2 and y2 == y3:
        add_line(g, s, x1, y1, x1, y1, pixel, 0)
    else:
        add_line(g, s, x1, y1, x2, y2, pixel, OPEN)
        add_line(g, s, x2, y2, x3, y3, pixel, OPEN)
        add_line(g, s, x3, y3, x1, y1, pixel, OPEN)
    return DONE


def add_line(g: int, s: int, x1: int, y1: int, x2: int, y2: int, pixel: int, open: int) -> None:
    if is_nothing(s, pixel):
        return
    kind, wide, high = with_color(s, LINE, pixel) | open, x2 - x1, y2 - y1
    if wide < 0:
        kind, wide = kind | LEFTWARD, -wide
    if high < 0:
        kind, high = kind | UPWARD, -high
    if high > wide:
        kind, wide, high = kind | STEEP, high, wide
    if wide > HALF:
        kind = kind | WIDE
    left, top, right, bottom = min(x1, x2), min(y1, y2), max(x1, x2) + 1, max(y1, y2) + 1
    at = put_clipped(g, s, kind, left, top, right, bottom, pixel)
    if at:
        store32(at, x1)
        store32(at + 4, y1)
        store32(at + 8, wide)
        store32(at + 12, high)


def add_triangle(
    g: int, s: int, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, pixel: int
) -> int:
    if is_nothing(s, pixel):
        return DONE
    left, right = min(x1, min(x2, x3)), max(x1, max(x2, x3))
    top, bottom = min(y1, min(y2, y3)), max(y1, max(y2, y3))
    reach_x = max(right, load64(s + WIDTH)) - min(left, 0)
    reach_y = max(bottom, load64(s + HEIGHT)) - min(top, 0)
    if reach_x > NARROW or reach_y > NARROW:
        return add_large_triangle(g, s, x1, y1, x2, y2, x3, y3, pixel)
    at = put_clipped(g, s, with_color(s, TRIANGLE, pixel), left, top, right + 1, bottom, pixel)
    if at:
        store32(at, x1)
        store32(at + 4, y1)
        store32(at + 8, x2)
        store32(at + 12, y2)
        store32(at + 16, x3)
        store32(at + 20, y3)
    return DONE


def add_large_triangle(
    g: int, s: int, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, pixel: int
) -> int:
    """A rectangle for each row."""
    if not has_rows(g, load64(s + HEIGHT)):
        return NO_ROOM
    if y2 < y1:
        x1, y1, x2, y2 = x2, y2, x1, y1
    if y3 < y1:
        x1, y1, x3, y3 = x3, y3, x1, y1
    if y3 < y2:
        x2, y2, x3, y3 = x3, y3, x2, y2
    top, bottom = load64(s + TOP), load64(s + BOTTOM)
    for y in range(max(y1, top), min(y2, bottom)):
        a, b = crossing(x1, y1, x3, y3, y), crossing(x1, y1, x2, y2, y)
        add_row(g, s, min(a, b), y, max(a, b), pixel)
    for y in range(max(y2, top), min(y3, bottom)):
        a, b = crossing(x1, y1, x3, y3, y), crossing(x2, y2, x3, y3, y)
        add_row(g, s, min(a, b), y, max(a, b), pixel)
    return DONE


def has_rows(g: int, rows: int) -> int:
    """Whether a primitive for each row fits, each block in a stretch of its own: nobody knows while others
    take blocks, too."""
    memory, binned = load64(g + MEMORY), load64(g + BINNED)
    if binned > 0 and binned + rows * load64(g + ACROSS) > MOST_BINNED:
        return 0
    left = min(
        load64(memory + PRIM_BLOCKS) - load64(memory + NEXT_PRIMS),
        MOST_STRETCHES - load64(memory + NEXT_STRETCH),
    )
    return load64(g + ALONE) and left * (BLOCK_PRIMS - FEW) >= rows


def add_row(g: int, s: int, left: int, y: int, right: int, pixel: int) -> None:
    if has_block(g):  # so it was found (has_rows)
        add_rect(g, s, left, y, right, y + 1, pixel)


# -- pictures: their records have places in the GPU's memory, in pixels ----------------------------------


def add_picture(g: int, s: int, op: int, p: int) -> int:
    picture, x, y = picture_of(s, op, p), load_s32(p + 8), load_s32(p + 12)
    if picture == 0:
        return PYTHON
    if op == Op.BLIT:
        add_sprite(g, s, picture, x, y)
        return DONE
    return add_image(g, s, picture, x, y, load_u32(p + 16), load_u32(p + 20))


def add_sprite(g: int, s: int, picture: int, x: int, y: int) -> None:
    right, bottom = (
        x + load64(picture + PICTURE_WIDTH),
        y + load64(picture + PICTURE_HEIGHT),
    )
    kind = SPRITE | SOLID if load64(s + REPLACE) else SPRITE
    at = put_clipped(g, s, kind, x, y, right, bottom, 0)
    if at:
        store32(at, load64(picture + PIXELS))
        store32(at + 4, load64(picture + STRIDE))
        store32(at + 8, x)
        store32(at + 12, y)


def add_image(g: int, s: int, picture: int, x: int, y: int, w: int, h: int) -> int:
    wide, high = load64(picture + PICTURE_WIDTH), load64(picture + PICTURE_HEIGHT)
    if w == wide and h == high:
        add_sprite(g, s, picture, x, y)
        return DONE
    kind = IMAGE | SOLID if load64(s + REPLACE) else IMAGE
    tables = w > HALF or h > HALF
    if tables:
        kind = kind | TABLES | REFERS_LAST
        if not has_words(g, load64(s + WIDTH) + load64(s + HEIGHT)):
            return NO_ROOM
    at = put_clipped(g, s, kind, x, y, x + w, y + h, 0)
    if at:
        store32(at, load64(picture + PIXELS))
        store32(at + 4, load64(picture + STRIDE))
        store32(at + 8, x)
        store32(at + 12, y)
        store32(at + 16, w)
        store32(at + 20, h)
        store32(at + 24, wide)
        store32(at + 28, high)
        if tables:
            store32(at + OWN_LAST, load64(g + DATA_AT))
            add_table(g, load_u32(at - 12) & 0xFFFF, load_u32(at - 8) & 0xFFFF, x, w, wide)
            add_table(g, load_u32(at - 12) >> 16, load_u32(at - 8) >> 16, y, h, high)
    return DONE


def add_table(g: int, first: int, end: int, x: int, size: int, source_size: int) -> None:
    """Where each column (or row) lies in the image."""
    at = data_at(g)
    for i in range(first, end):
        store32(at + (i - first) * 4, sample_position(i - x, size, source_size))
    take_words(g, end - first)
