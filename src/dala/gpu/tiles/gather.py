"""Commands → primitives, for a GPU.

Functions of the rasteriser's language (raster/language.py). ``s`` is the canvas's state (raster/layout.py),
``g`` where primitives go (layout.py). What a primitive paints is said by raster/shapes.py and
raster/pictures.py; here it gets the numbers that a shader tests a pixel with, in 32 bits where those are
enough and exact.
"""

from __future__ import annotations

from dala.gpu.opcodes import INK, Op
from dala.gpu.raster.forecast import foresee
from dala.gpu.raster.ink.layers import open_entry
from dala.gpu.raster.layout import (
    ARENA_AT,
    BOTTOM,
    COPIED,
    DRAW_INK,
    HEIGHT,
    LAYERS,
    LEFT,
    NEED,
    NEED_BYTES,
    OPEN_BOTTOM,
    OPEN_LEFT,
    OPEN_RIGHT,
    OPEN_TOP,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    PIXELS,
    REPLACE,
    RIGHT,
    STALE,
    STRIDE,
    TOP,
    WIDTH,
)
from dala.gpu.raster.pictures import sample_position
from dala.gpu.raster.protocol import DRAWS, behind, change_clip, picture_of, take_rows
from dala.gpu.raster.shapes import corner_radius, crossing, is_nothing, is_solid
from dala.gpu.raster.words import (
    call_at,
    copy_bytes,
    load8,
    load64,
    load_s32,
    load_u32,
    store32,
    store64,
    udiv,
)
from dala.gpu.tiles.layout import (
    BIN,
    BINNED,
    COPY,
    DATA,
    DATA_AT,
    DATA_END,
    DISC,
    FAR_X,
    FAR_Y,
    FILL,
    FULL,
    IMAGE,
    LEFTWARD,
    LINE,
    MOST_BINNED,
    OPEN,
    OUTLINE,
    PRIM_BYTES,
    PRIM_COLOR,
    PRIM_FROM,
    PRIM_KIND,
    PRIM_OWN,
    PRIM_TO,
    PRIMS,
    PRIMS_AT,
    PRIMS_END,
    RECT,
    SOLID,
    SPRITE,
    START,
    START_COLOR,
    STEEP,
    TABLES,
    TRIANGLE,
    UPWARD,
    WANTED,
    WIDE,
    WITHIN_BOTTOM,
    WITHIN_LEFT,
    WITHIN_RIGHT,
    WITHIN_TOP,
)

NARROW = 32767  # numbers up to here can be multiplied, and two products added, in 32 bits
HALF = 65535  # and up to here multiplied, without a sign
MOST = (1 << 31) - 1


def gather(g: int, s: int, data: int, at: int, end: int, after: int) -> int:
    """Commands up to the first that Python is needed for, or that there is no room for; its offset.

    ``after`` is memory for a state: of what is foreseen here only the geometry of ink is used.
    """
    copy_bytes(after, s, load64(s + COPIED))
    if load64(s + DRAW_INK):
        store64(after + ARENA_AT, 0)
        store64(s + ARENA_AT, 0)
    stop = foresee(after, data, at, end)
    take_rows(s, 0, load64(s + HEIGHT))
    find_within(g, s)
    store64(g + WANTED, 0)
    going = has_room(g, s)
    while at < stop and going:
        op = load8(data + at)
        if op >= INK:
            begin_frame(g, s)
            going = call_at(load64(s + DRAW_INK), g, s, data + at)
        elif DRAWS >> op & 1:
            begin_frame(g, s)
            add(g, s, op, data + at + 1)
        elif op == Op.CLEAR:
            clear_frame(g, s, load_u32(data + at + 1))
        else:
            change_clip(s, op, data + at + 1)
        if going:
            at = behind(s, op, data, at)
            going = has_room(g, s)
    store64(g + FULL, at < stop)
    if load64(s + DRAW_INK):  # what Python is needed for
        store64(s + NEED, load64(after + NEED))
        store64(s + NEED_BYTES, load64(after + NEED_BYTES))
    return at


def has_room(g: int, s: int) -> int:
    """Whether another command's primitives certainly fit: a large triangle is one for each row."""
    room = load64(g + PRIMS_END) - load64(g + PRIMS_AT)
    words = load64(g + DATA_END) - load64(g + DATA_AT)
    rows = load64(s + HEIGHT)
    fits = room >= (rows + 8) * PRIM_BYTES and words >= rows + load64(s + WIDTH) + 8
    return fits and load64(g + BINNED) < MOST_BINNED


def begin_frame(g: int, s: int) -> None:
    """What was presented last is where a frame begins."""
    if load64(s + STALE):
        store64(s + STALE, 0)
        store64(g + START, COPY)


def clear_frame(g: int, s: int, pixel: int) -> None:
    """A colour everywhere. What was gathered for the frame is not painted any more; on a layer it is a
    rectangle like others."""
    store64(s + STALE, 0)
    if load64(s + LAYERS):
        put_primitive(g, RECT | SOLID, 0, 0, load64(s + WIDTH), load64(s + HEIGHT), pixel)
        return
    store64(g + PRIMS_AT, load64(g + PRIMS))
    store64(g + DATA_AT, 0)
    store64(g + BINNED, 0)
    store64(g + START, FILL)
    store64(g + START_COLOR, pixel)


def find_within(g: int, s: int) -> None:
    """Where painting is of use: within all layers that are open."""
    left, top, right, bottom = 0, 0, load64(s + WIDTH), load64(s + HEIGHT)
    for number in range(load64(s + LAYERS)):
        entry = open_entry(s, number)
        left, top = max(left, load64(entry + OPEN_LEFT)), max(top, load64(entry + OPEN_TOP))
        right = min(right, load64(entry + OPEN_RIGHT))
        bottom = min(bottom, load64(entry + OPEN_BOTTOM))
    store64(g + WITHIN_LEFT, left)
    store64(g + WITHIN_TOP, top)
    store64(g + WITHIN_RIGHT, right)
    store64(g + WITHIN_BOTTOM, bottom)


# -- one primitive -----------------------------------------------------------------------------------


def put_primitive(
    g: int, kind: int, left: int, top: int, right: int, bottom: int, pixel: int
) -> int:
    """The head of a primitive that touches so many pixels; where its own words go, or 0 if it has none."""
    left, top = max(left, load64(g + WITHIN_LEFT)), max(top, load64(g + WITHIN_TOP))
    right, bottom = min(right, load64(g + WITHIN_RIGHT)), min(bottom, load64(g + WITHIN_BOTTOM))
    if left >= right or top >= bottom:
        return 0
    at = load64(g + PRIMS_AT)
    store64(g + PRIMS_AT, at + PRIM_BYTES)
    wide = udiv(right - 1, BIN) - udiv(left, BIN) + 1
    high = udiv(bottom - 1, BIN) - udiv(top, BIN) + 1
    store64(g + BINNED, load64(g + BINNED) + wide * high)
    store32(at + PRIM_KIND, kind)
    store32(at + PRIM_FROM, left | top << 16)
    store32(at + PRIM_TO, right | bottom << 16)
    store32(at + PRIM_COLOR, pixel)
    return at + PRIM_OWN


def put_clipped(
    g: int, s: int, kind: int, left: int, top: int, right: int, bottom: int, pixel: int
) -> int:
    """The same, within the clip."""
    left, top = max(left, load64(s + LEFT)), max(top, load64(s + TOP))
    right, bottom = min(right, load64(s + RIGHT)), min(bottom, load64(s + BOTTOM))
    return put_primitive(g, kind, left, top, right, bottom, pixel)


def with_color(s: int, kind: int, pixel: int) -> int:
    return kind | SOLID if is_solid(s, pixel) else kind


def add(g: int, s: int, op: int, p: int) -> None:
    """One of the plain primitives, whose fields begin at p."""
    if op == Op.BLIT or op == Op.IMAGE_BLIT:
        picture, x, y = picture_of(s, op, p), load_s32(p + 8), load_s32(p + 12)
        if op == Op.BLIT:
            add_sprite(g, s, picture, x, y)
        else:
            add_image(g, s, picture, x, y, load_u32(p + 16), load_u32(p + 20))
    elif op == Op.FILL_RECT:
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
        add_corners(g, s, op, p)


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


def add_corners(g: int, s: int, op: int, p: int) -> None:
    x1, y1, x2, y2 = load_s32(p), load_s32(p + 4), load_s32(p + 8), load_s32(p + 12)
    if op == Op.DRAW_LINE:
        add_line(g, s, x1, y1, x2, y2, load_u32(p + 16), 0)
        return
    x3, y3, pixel = load_s32(p + 16), load_s32(p + 20), load_u32(p + 24)
    if op == Op.FILL_TRIANGLE:
        add_triangle(g, s, x1, y1, x2, y2, x3, y3, pixel)
    elif x1 == x2 and x2 == x3 and y1 == y2 and y2 == y3:
        add_line(g, s, x1, y1, x1, y1, pixel, 0)
    else:
        add_line(g, s, x1, y1, x2, y2, pixel, OPEN)
        add_line(g, s, x2, y2, x3, y3, pixel, OPEN)
        add_line(g, s, x3, y3, x1, y1, pixel, OPEN)


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
) -> None:
    if is_nothing(s, pixel):
        return
    left, right = min(x1, min(x2, x3)), max(x1, max(x2, x3))
    top, bottom = min(y1, min(y2, y3)), max(y1, max(y2, y3))
    reach_x = max(right, load64(s + WIDTH)) - min(left, 0)
    reach_y = max(bottom, load64(s + HEIGHT)) - min(top, 0)
    if reach_x > NARROW or reach_y > NARROW:
        add_large_triangle(g, s, x1, y1, x2, y2, x3, y3, pixel)
        return
    at = put_clipped(g, s, with_color(s, TRIANGLE, pixel), left, top, right + 1, bottom, pixel)
    if at:
        store32(at, x1)
        store32(at + 4, y1)
        store32(at + 8, x2)
        store32(at + 12, y2)
        store32(at + 16, x3)
        store32(at + 20, y3)


def add_large_triangle(
    g: int, s: int, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, pixel: int
) -> None:
    """A rectangle for each row."""
    if y2 < y1:
        x1, y1, x2, y2 = x2, y2, x1, y1
    if y3 < y1:
        x1, y1, x3, y3 = x3, y3, x1, y1
    if y3 < y2:
        x2, y2, x3, y3 = x3, y3, x2, y2
    top, bottom = load64(s + TOP), load64(s + BOTTOM)
    for y in range(max(y1, top), min(y2, bottom)):
        a, b = crossing(x1, y1, x3, y3, y), crossing(x1, y1, x2, y2, y)
        add_rect(g, s, min(a, b), y, max(a, b), y + 1, pixel)
    for y in range(max(y2, top), min(y3, bottom)):
        a, b = crossing(x1, y1, x3, y3, y), crossing(x2, y2, x3, y3, y)
        add_rect(g, s, min(a, b), y, max(a, b), y + 1, pixel)


# -- pictures: their records have places in the GPU's memory, in pixels ----------------------------------


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


def add_image(g: int, s: int, picture: int, x: int, y: int, w: int, h: int) -> None:
    wide, high = load64(picture + PICTURE_WIDTH), load64(picture + PICTURE_HEIGHT)
    if w == wide and h == high:
        add_sprite(g, s, picture, x, y)
        return
    kind = IMAGE | SOLID if load64(s + REPLACE) else IMAGE
    tables = w > HALF or h > HALF
    if tables:
        kind = kind | TABLES
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
            store32(at + 32, load64(g + DATA_AT))
            add_table(g, load_u32(at - 12) & 0xFFFF, load_u32(at - 8) & 0xFFFF, x, w, wide)
            add_table(g, load_u32(at - 12) >> 16, load_u32(at - 8) >> 16, y, h, high)


def add_table(g: int, first: int, end: int, x: int, size: int, source_size: int) -> None:
    """Where each column (or row) lies in the image."""
    at = data_at(g)
    for i in range(first, end):
        store32(at + (i - first) * 4, sample_position(i - x, size, source_size))
    take_words(g, end - first)


def take_words(g: int, words: int) -> None:
    """So many words of data are somebody's; whose begin where a vector of four can be read."""
    store64(g + DATA_AT, load64(g + DATA_AT) + ((words + 3) & -4))


def data_at(g: int) -> int:
    """The address where data goes next."""
    return load64(g + DATA) + load64(g + DATA_AT) * 4
