"""What commands will do, before any of it is done: how far they go without Python, how much work it is, and
which rows it paints.

Functions of the rasteriser's language (language.py). ``foresee`` walks the commands once, on a copy of the
state, which is then the state behind them; those who paint (bands.py) need not stop, nor agree on anything.
"""

from __future__ import annotations

from dala.gpu.opcodes import INK, Op
from dala.gpu.raster.layout import (
    BOTTOM,
    COMMANDS,
    FORESEE_INK,
    HEIGHT,
    LAYERS,
    LEFT,
    LOWER,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    RIGHT,
    SEEN_LAYERS,
    SEEN_TRANSFORMS,
    STALE,
    SURVEY_INK,
    TOP,
    TRANSFORMS,
    UPPER,
    WIDTH,
    WORK,
)
from dala.gpu.raster.protocol import (
    DRAWS,
    PLAIN,
    behind,
    change_clip,
    picture_of,
    take_rows,
)
from dala.gpu.raster.shapes import is_solid
from dala.gpu.raster.words import call_at, load8, load64, load_s32, load_u32, store64

MOST = 1 << 60  # picoseconds: more is not counted

# What painting takes, in picoseconds, roughly: whether to call other threads is all that hangs on it.
COMMAND = 10_000
FILLED, REFRESHED, BLENDED, SAMPLED = 80, 200, 250, 4_000  # a pixel
FILLED_ROW, BLENDED_ROW = 4_000, 8_000
ROUND, SLANTED, OUTLINED = 6_000, 12_000, 25_000  # more for a row of a disc, a triangle, an outline
LINE, BLENDED_LINE = 1_500, 6_000  # a row, and a column, of a line


def foresee(s: int, data: int, at: int, end: int) -> int:
    """The offset of the first command that Python is needed for (to present, load, resize, read, compute,
    or as its picture is unknown), or ``end``."""
    forget(s)
    safe = at
    while at < end:
        op = load8(data + at)
        if op >= INK:
            if not count_ink(s, op, data + at + 1):
                return at
        elif DRAWS >> op & 1:
            if not count_primitive(s, op, data + at + 1):
                return at
        elif op == Op.CLEAR:
            store64(s + STALE, 0)
            count_surface(s, FILLED)
        elif PLAIN >> op & 1:
            change_clip(s, op, data + at + 1)
        elif op != Op.BATCH:
            return at
        elif at >= safe:
            safe = survey(s, data, at)
            if safe < 0:
                return at
        at = behind(s, op, data, at)
    return at


def count_ink(s: int, op: int, p: int) -> int:
    """A command of ink; 0 if it is not compiled yet, or needs Python for something else."""
    if load64(s + FORESEE_INK) == 0:
        return 0
    return call_at(load64(s + FORESEE_INK), s, op, p)


def survey(s: int, data: int, at: int) -> int:
    """Where a batch ends, if all of it can be done without Python; otherwise −1."""
    left = load_u32(data + at + 1)
    at += 5
    inked = load64(s + SURVEY_INK)
    if inked:
        store64(s + SEEN_LAYERS, load64(s + LAYERS))
        store64(s + SEEN_TRANSFORMS, load64(s + TRANSFORMS))
    while left > 0:
        op = load8(data + at)
        left -= 1
        if op >= INK:
            if inked == 0:
                return -1
            if call_at(inked, s, op, data + at + 1) == 0:
                return -1
        elif op == Op.BATCH:
            left += load_u32(data + at + 1)
        elif op == Op.BLIT or op == Op.IMAGE_BLIT:
            if picture_of(s, op, data + at + 1) == 0:
                return -1
        elif not PLAIN >> op & 1:
            return -1
        at = behind(s, op, data, at)
    return at


# -- work --------------------------------------------------------------------------------------------


def forget(s: int) -> None:
    """No work so far, and no rows."""
    take_rows(s, 0, load64(s + HEIGHT))
    store64(s + WORK, 0)
    store64(s + COMMANDS, 0)
    store64(s + UPPER, load64(s + HEIGHT))
    store64(s + LOWER, 0)


def count(
    s: int, x: int, y: int, w: int, h: int, per_row: int, per_column: int, per_pixel: int
) -> None:
    """What a primitive takes whose pixels are in a rectangle, as far as it is inside the clip."""
    top, bottom = max(y, load64(s + TOP)), min(y + h, load64(s + BOTTOM))
    rows, columns = bottom - top, min(x + w, load64(s + RIGHT)) - max(x, load64(s + LEFT))
    if rows > 0 and columns > 0:
        takes = COMMAND + rows * per_row + columns * per_column + rows * columns * per_pixel
        store64(s + WORK, min(load64(s + WORK) + takes, MOST))
        store64(s + UPPER, min(load64(s + UPPER), top))
        store64(s + LOWER, max(load64(s + LOWER), bottom))
    store64(s + COMMANDS, load64(s + COMMANDS) + 1)


def count_surface(s: int, per_pixel: int) -> None:
    """What is done to every pixel, whatever the clip."""
    takes = load64(s + WIDTH) * load64(s + HEIGHT) * per_pixel
    store64(s + WORK, min(load64(s + WORK) + takes, MOST))
    store64(s + UPPER, 0)
    store64(s + LOWER, load64(s + HEIGHT))


def count_primitive(s: int, op: int, p: int) -> int:
    """One primitive, whose fields begin at p; 0 if its picture is unknown."""
    if op == Op.BLIT or op == Op.IMAGE_BLIT:
        picture = picture_of(s, op, p)
        if picture == 0:
            return 0
        count_picture(s, op, picture, p)
    else:
        count_shape(s, op, p)
    if load64(s + STALE):  # what was presented last is copied first
        store64(s + STALE, 0)
        count_surface(s, REFRESHED)
    return 1


def count_picture(s: int, op: int, picture: int, p: int) -> None:
    x, y = load_s32(p + 8), load_s32(p + 12)
    if op == Op.BLIT:
        w, h = load64(picture + PICTURE_WIDTH), load64(picture + PICTURE_HEIGHT)
        count(s, x, y, w, h, BLENDED_ROW, 0, BLENDED)
    else:
        w, h = load_u32(p + 16), load_u32(p + 20)
        count(s, x, y, w, h, BLENDED_ROW, SAMPLED, SAMPLED)


def count_shape(s: int, op: int, p: int) -> None:
    if op == Op.FILL_RECT or op == Op.FILL_ROUND_RECT or op == Op.DRAW_ROUND_RECT:
        count_rect(s, op, p)
    elif op == Op.FILL_CIRCLE or op == Op.DRAW_CIRCLE:
        r = load_u32(p + 8)
        x, y, side = load_s32(p) - r, load_s32(p + 4) - r, 2 * r + 1
        if op == Op.FILL_CIRCLE:
            count_filled(s, x, y, side, side, ROUND, load_u32(p + 12))
        else:
            count_line(s, x, y, side, side, OUTLINED, load_u32(p + 12))
    else:
        count_corners(s, op, p)


def count_rect(s: int, op: int, p: int) -> None:
    x, y, w, h = load_u32(p), load_u32(p + 4), load_u32(p + 8), load_u32(p + 12)
    if op == Op.FILL_RECT:
        count_filled(s, x, y, w, h, 0, load_u32(p + 16))
    elif op == Op.FILL_ROUND_RECT:
        count_filled(s, x, y, w, h, 0, load_u32(p + 20))
    else:
        count_line(s, x, y, w, h, OUTLINED, load_u32(p + 20))


def count_corners(s: int, op: int, p: int) -> None:
    """Lines and triangles, whose rectangle is that of their corners."""
    x1, y1, x2, y2 = load_s32(p), load_s32(p + 4), load_s32(p + 8), load_s32(p + 12)
    left, top, right, bottom = min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
    color = p + 16
    if op != Op.DRAW_LINE:
        x3, y3 = load_s32(p + 16), load_s32(p + 20)
        left, top, right, bottom = min(left, x3), min(top, y3), max(right, x3), max(bottom, y3)
        color = p + 24
    w, h, pixel = right - left + 1, bottom - top + 1, load_u32(color)
    if op == Op.FILL_TRIANGLE:
        count_filled(s, left, top, w, h, SLANTED, pixel)
    else:
        count_line(s, left, top, w, h, 0, pixel)


def count_filled(s: int, x: int, y: int, w: int, h: int, per_row: int, pixel: int) -> None:
    if is_solid(s, pixel):
        count(s, x, y, w, h, per_row + FILLED_ROW, 0, FILLED)
    else:
        count(s, x, y, w, h, per_row + BLENDED_ROW, 0, BLENDED)


def count_line(s: int, x: int, y: int, w: int, h: int, per_row: int, pixel: int) -> None:
    takes = LINE if is_solid(s, pixel) else BLENDED_LINE
    count(s, x, y, w, h, per_row + takes, takes, 0)
