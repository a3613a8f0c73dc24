"""The protocol's bytes, checked once and then walked.

Functions of the rasteriser's language (language.py). ``check`` guarantees that every command is whole and
within bounds, ``foresee`` (forecast.py) that there is nothing Python is needed for; ``run`` relies on both.
"""

from __future__ import annotations

from dala.gpu.opcodes import INK, MAX_DEPTH, MAX_PIXELS, MAX_SIDE, Op
from dala.gpu.raster.layout import (
    BACK,
    BAND_BOTTOM,
    BAND_TOP,
    BORDER,
    BOTTOM,
    CLIP_H,
    CLIP_W,
    CLIP_X,
    CLIP_Y,
    CLIPPED,
    DRAW_INK,
    FRONT,
    IMAGE_COUNT,
    IMAGES,
    LEFT,
    RIGHT,
    SIZES,
    SPRITE_COUNT,
    SPRITES,
    STALE,
    TOP,
    WIDTH,
)
from dala.gpu.raster.pictures import blit, draw_image, find_picture
from dala.gpu.raster.rows import fill_row
from dala.gpu.raster.shapes import (
    draw_circle,
    draw_line,
    draw_round_rect,
    draw_triangle,
    fill_circle,
    fill_rect,
    fill_round_rect,
    fill_triangle,
)
from dala.gpu.raster.words import call_at, copy_bytes, load8, load64, load_s32, load_u32, store64

LAST_OPCODE = 24
_SHAPES = (
    Op.FILL_RECT,
    Op.DRAW_LINE,
    Op.DRAW_CIRCLE,
    Op.FILL_CIRCLE,
    Op.DRAW_TRIANGLE,
    Op.FILL_TRIANGLE,
)
_DRAWING = (*_SHAPES, Op.DRAW_ROUND_RECT, Op.FILL_ROUND_RECT, Op.BLIT, Op.IMAGE_BLIT)
DRAWS = sum(1 << op for op in _DRAWING)
PLAIN = DRAWS | 1 << Op.CLEAR | 1 << Op.SET_CLIP | 1 << Op.RESET_CLIP  # done without Python

# What check reports, as offsets of words: which of the 24 opcodes there are, and how many presents; and
# where it finds the function that checks ink, or 0
SEEN, PRESENTS, CHECK_INK = 0, 8, 16
REPORT_BYTES = 24
MALFORMED, INK_UNKNOWN = -1, -2


# -- checking --------------------------------------------------------------------------------------


def check(data: int, at: int, end: int, count: int, depth: int, sizes: int, report: int) -> int:
    """The offset behind ``count`` commands (or as many as there are, if negative); −1 if one is
    malformed, −2 if there is ink and nobody to check it."""
    while count != 0:
        if at >= end:
            return at if count < 0 else -1
        op = load8(data + at)
        if op >= INK:
            at = check_foreign_ink(op, data, at + 1, end, report)
        elif op > LAST_OPCODE or op == 0:
            return MALFORMED
        else:
            at = check_one(op, data, at, end, depth, sizes, report)
        if at < 0:
            return at
        count -= 1
    return at


def check_one(op: int, data: int, at: int, end: int, depth: int, sizes: int, report: int) -> int:
    """The offset behind one of the 24, or what is wrong."""
    size = load64(sizes + op * 8)
    if size > end - at:
        return MALFORMED
    store64(report + SEEN, load64(report + SEEN) | 1 << op)
    if op == Op.BATCH:
        if depth == MAX_DEPTH:
            return MALFORMED
        return check(data, at + 5, end, load_u32(data + at + 1), depth + 1, sizes, report)
    if size != 0:
        return at + size if fields_fit(op, data + at + 1, report) else MALFORMED
    return check_lengths(op, data, at + 1, end)


def check_foreign_ink(op: int, data: int, at: int, end: int, report: int) -> int:
    """The same for a command of ink, whose fields begin at ``at``."""
    if load64(report + CHECK_INK) == 0:
        return INK_UNKNOWN
    size = call_at(load64(report + CHECK_INK), op, data + at, end - at)
    return at + size if size >= 0 else MALFORMED


def fields_fit(op: int, p: int, report: int) -> int:
    """Whether the numbers of a command of fixed size are allowed."""
    if op == Op.RESIZE:
        return size_fits(load_u32(p), load_u32(p + 4))
    if op == Op.READ_PIXELS:
        return size_fits(load_u32(p + 8), load_u32(p + 12))
    if op == Op.SET_CLIP:
        return load8(p + 16) < 2
    if op == Op.PRESENT:
        store64(report + PRESENTS, load64(report + PRESENTS) + 1)
    return 1


def size_fits(w: int, h: int) -> int:
    return 0 < w <= MAX_SIDE and 0 < h <= MAX_SIDE and w * h <= MAX_PIXELS


def check_lengths(op: int, data: int, at: int, end: int) -> int:
    """The offset behind a command that tells its own length; −1 if it does not fit."""
    if op == Op.LOAD_SPRITE or op == Op.LOAD_IMAGE:
        if end - at < 16:
            return -1
        w, h = load_u32(data + at + 8), load_u32(data + at + 12)
        if not size_fits(w, h):
            return -1
        at += 16 + w * h * 4
        return at if at <= end else -1
    at = check_block(data, check_block(data, at, end), end)
    if op == Op.DISPATCH_COMPUTE and at >= 0:
        at += 12
        return at if at <= end else -1
    return at


def check_block(data: int, at: int, end: int) -> int:
    """The offset behind a length of 32 bits and that many bytes."""
    if at < 0 or end - at < 4:
        return -1
    at += 4 + load_u32(data + at)
    return at if at <= end else -1


# -- drawing ---------------------------------------------------------------------------------------


def run(s: int, data: int, at: int, stop: int) -> None:
    """Apply commands up to ``stop``, as far as they paint the band. The state changes with them."""
    while at < stop:
        op = load8(data + at)
        if op >= INK:
            if load64(s + STALE):
                refresh(s)
            call_at(load64(s + DRAW_INK), s, op, data + at + 1)
        elif DRAWS >> op & 1:
            if load64(s + STALE):
                refresh(s)
            draw(s, op, data + at + 1)
        elif op == Op.CLEAR:
            clear(s, load_u32(data + at + 1))
        else:
            change_clip(s, op, data + at + 1)
        at = behind(s, op, data, at)


def behind(s: int, op: int, data: int, at: int) -> int:
    """Where the next command begins: some of ink tell their own size."""
    size = load64(load64(s + SIZES) + op * 8)
    if size == 0:
        return at + 5 + load_u32(data + at + 1)
    return at + size


def take_rows(s: int, top: int, bottom: int) -> None:
    """Paint rows top … bottom − 1 from now on, and nothing else."""
    store64(s + BAND_TOP, top)
    store64(s + BAND_BOTTOM, bottom)
    store64(s + BORDER, load64(s + BACK) + bottom * load64(s + WIDTH) * 4)
    apply_clip(s)


def clear(s: int, pixel: int) -> None:
    step, top, bottom = load64(s + WIDTH), load64(s + BAND_TOP), load64(s + BAND_BOTTOM)
    to = load64(s + BACK) + top * step * 4
    fill_row(to, (bottom - top) * step, pixel, load64(s + BORDER))
    store64(s + STALE, 0)


def refresh(s: int) -> None:
    """Begin with what was presented last. Put off until it is needed: a clear makes it needless."""
    step, top, bottom = load64(s + WIDTH) * 4, load64(s + BAND_TOP), load64(s + BAND_BOTTOM)
    above = top * step
    copy_bytes(load64(s + BACK) + above, load64(s + FRONT) + above, (bottom - top) * step)
    store64(s + STALE, 0)


def change_clip(s: int, op: int, p: int) -> None:
    """Set or reset it; whatever else is here (the head of a batch) changes nothing."""
    if op == Op.SET_CLIP:
        store64(s + CLIPPED, load8(p + 16))
        store64(s + CLIP_X, load_u32(p))
        store64(s + CLIP_Y, load_u32(p + 4))
        store64(s + CLIP_W, load_u32(p + 8))
        store64(s + CLIP_H, load_u32(p + 12))
        apply_clip(s)
    elif op == Op.RESET_CLIP:
        store64(s + CLIPPED, 0)
        apply_clip(s)


def apply_clip(s: int) -> None:
    """The clip that was asked for, as far as it is on the surface and in the band."""
    w, top, bottom = load64(s + WIDTH), load64(s + BAND_TOP), load64(s + BAND_BOTTOM)
    x, y, on = load64(s + CLIP_X), load64(s + CLIP_Y), load64(s + CLIPPED)
    store64(s + LEFT, min(x, w) if on else 0)
    store64(s + TOP, max(y, top) if on else top)
    store64(s + RIGHT, min(x + load64(s + CLIP_W), w) if on else w)
    store64(s + BOTTOM, min(y + load64(s + CLIP_H), bottom) if on else bottom)


def picture_of(s: int, op: int, p: int) -> int:
    if op == Op.BLIT:
        return find_picture(load64(s + SPRITES), load64(s + SPRITE_COUNT), load64(p))
    return find_picture(load64(s + IMAGES), load64(s + IMAGE_COUNT), load64(p))


def draw(s: int, op: int, p: int) -> None:
    """One primitive, whose fields begin at p; its picture is known."""
    if op == Op.FILL_RECT:
        fill_rect(
            s, load_u32(p), load_u32(p + 4), load_u32(p + 8), load_u32(p + 12), load_u32(p + 16)
        )
    elif op == Op.FILL_CIRCLE:
        fill_circle(s, load_s32(p), load_s32(p + 4), load_u32(p + 8), load_u32(p + 12))
    elif op == Op.DRAW_CIRCLE:
        draw_circle(s, load_s32(p), load_s32(p + 4), load_u32(p + 8), load_u32(p + 12))
    elif op == Op.DRAW_LINE:
        x, y = load_s32(p), load_s32(p + 4)
        draw_line(s, x, y, load_s32(p + 8), load_s32(p + 12), load_u32(p + 16), 1)
    elif op == Op.BLIT or op == Op.IMAGE_BLIT:
        picture = picture_of(s, op, p)
        x, y = load_s32(p + 8), load_s32(p + 12)
        if op == Op.BLIT:
            blit(s, picture, x, y)
        else:
            draw_image(s, picture, x, y, load_u32(p + 16), load_u32(p + 20))
    else:
        draw_corners(s, op, p)


def draw_corners(s: int, op: int, p: int) -> None:
    """Triangles and rounded rectangles."""
    if op == Op.DRAW_ROUND_RECT or op == Op.FILL_ROUND_RECT:
        x, y, w, h = load_u32(p), load_u32(p + 4), load_u32(p + 8), load_u32(p + 12)
        if op == Op.FILL_ROUND_RECT:
            fill_round_rect(s, x, y, w, h, load_u32(p + 16), load_u32(p + 20))
        else:
            draw_round_rect(s, x, y, w, h, load_u32(p + 16), load_u32(p + 20))
    else:
        x1, y1, x2, y2 = load_s32(p), load_s32(p + 4), load_s32(p + 8), load_s32(p + 12)
        x3, y3, pixel = load_s32(p + 16), load_s32(p + 20), load_u32(p + 24)
        if op == Op.FILL_TRIANGLE:
            fill_triangle(s, x1, y1, x2, y2, x3, y3, pixel)
        else:
            draw_triangle(s, x1, y1, x2, y2, x3, y3, pixel)
