"""Foreign commands of ink, checked before anything is queued.

Functions of the rasteriser's language (language.py). ``check_ink`` agrees with the decoder (ink_fields.py)
on every command; a test holds them to it on damaged bytes.
"""

from __future__ import annotations

from dala.gpu.opcodes import INK_VERSION, MAX_DASH, MAX_POINTS, MAX_STOPS, Op
from dala.gpu.raster.ink.layers import LAYER_CLIP, LAYER_MODE, LAYER_PATH, LAYER_RULE
from dala.gpu.raster.ink.modes import LAST_MODE
from dala.gpu.raster.ink.paths import (
    CAP_AT,
    CLOSE,
    DASH_AT,
    DASHES_AT,
    JOIN_AT,
    LIMIT_AT,
    MOVE,
    WIDTH_AT,
)
from dala.gpu.raster.ink.pictures import PICTURE_NEAREST
from dala.gpu.raster.ink.shades import NUMBERS_AT, PAINT_BYTES, PATTERN, SPREAD_AT, stop_count
from dala.gpu.raster.words import load8, load_f32, load_u32


def check_ink(op: int, p: int, left: int) -> int:
    """How many bytes the fields of a command take; −1 if they are malformed, or more than are left."""
    if op == Op.FILL_PATH or op == Op.STROKE_PATH or op == Op.FILL_POLYGON or op == Op.PUSH_LAYER:
        if left < 4:
            return -1
        size = load_u32(p)
        if size > left - 4:  # before anything is loaded: "or" computes both sides
            return -1
        return size + 4 if body_fits(op, p + 4, size) else -1
    size = fixed_size(op)
    if size < 0 or size > left:
        return -1
    return size if fixed_fits(op, p) else -1


def fixed_size(op: int) -> int:
    if op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE:
        return 61
    if op == Op.FILL_ELLIPSE:
        return 28
    if op == Op.STROKE_LINE:
        return 25
    if op == Op.STROKE_CIRCLE:
        return 20
    if op == Op.PUSH_TRANSFORM:
        return 24
    if op == Op.INK_VERSION:
        return 4
    return 0 if op == Op.POP_TRANSFORM or op == Op.POP_LAYER else -1


def fixed_fits(op: int, p: int) -> int:
    if op == Op.STROKE_LINE:
        return finite(p, 5) and load_f32(p + 16) >= 0.0 and load8(p + 20) < 3
    if op == Op.FILL_ELLIPSE or op == Op.PUSH_TRANSFORM:
        return finite(p, 6)
    if op == Op.STROKE_CIRCLE:
        return finite(p, 4) and load_f32(p + 12) >= 0.0
    if op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE:
        return finite(p, 8) and load8(p + PICTURE_NEAREST) < 4
    if op == Op.INK_VERSION:
        return load_u32(p) <= INK_VERSION
    return 1


def finite(p: int, count: int) -> int:
    """Whether floats are all numbers."""
    fine = 1
    for i in range(count):
        fine = fine & ((load_u32(p + i * 4) >> 23 & 255) != 255)
    return fine


def body_fits(op: int, p: int, size: int) -> int:
    """Whether fields of ``size`` bytes are whole, and nothing but that."""
    end = p + size
    if op == Op.FILL_POLYGON:
        points = size - 5
        if points < 0 or points & 7 != 0 or points > MAX_POINTS * 8:
            return 0
        return load8(p) < 2 and finite(p + 5, points >> 2)
    if op == Op.PUSH_LAYER:
        return layer_fits(p, end)
    if op == Op.FILL_PATH:
        if size < 1:
            return 0
        return load8(p) < 2 and path_fits(paint_end(p + 1, end), end)
    if size < DASH_AT:
        return 0
    dashes = load8(p + DASHES_AT) | load8(p + DASHES_AT + 1) << 8
    if dashes > MAX_DASH or dashes & 1 or end - p < DASH_AT + dashes * 4 or not style_fits(p):
        return 0
    paint = p + DASH_AT + dashes * 4
    return dashes_fit(p + DASH_AT, dashes) and path_fits(paint_end(paint, end), end)


def layer_fits(p: int, end: int) -> int:
    if end - p < LAYER_PATH:
        return 0
    opacity, clip = load_f32(p), load8(p + LAYER_CLIP)
    if not (opacity >= 0.0 and opacity <= 1.0):
        return 0
    if load8(p + LAYER_MODE) > LAST_MODE or clip > 1 or load8(p + LAYER_RULE) > 1:
        return 0
    if clip:
        return path_fits(p + LAYER_PATH, end)
    return p + LAYER_PATH == end


def style_fits(p: int) -> int:
    fine = finite(p, 3) and load_f32(p + WIDTH_AT) >= 0.0 and load_f32(p + LIMIT_AT) >= 1.0
    return fine and load8(p + JOIN_AT) < 3 and load8(p + CAP_AT) < 3


def dashes_fit(p: int, count: int) -> int:
    """Not negative, and not all zero."""
    if not finite(p, count):
        return 0
    fine, total = 1, 0.0
    for i in range(count):
        fine = fine & (load_f32(p + i * 4) >= 0.0)
        total += load_f32(p + i * 4)
    return fine and (count == 0 or total > 0.0)


def paint_end(p: int, end: int) -> int:
    """Where a paint's fields end; behind the end if they do not fit."""
    if end - p < PAINT_BYTES:
        return end + 1
    kind, stops, spread = load8(p), stop_count(p), load8(p + SPREAD_AT)
    after = p + PAINT_BYTES + stops * 8
    if kind > PATTERN or stops > MAX_STOPS or after > end or not finite(p + NUMBERS_AT, 6):
        return end + 1
    if kind == 0:
        return after if stops == 0 and spread == 0 else end + 1
    if kind == PATTERN:
        return after if stops == 0 and spread < 8 else end + 1
    return after if stops > 0 and spread < 3 and stops_rise(p + PAINT_BYTES, stops) else end + 1


def stops_rise(p: int, count: int) -> int:
    """Whether offsets go from 0 at the least to 1 at the most, none before the last one."""
    fine, last = 1, 0.0
    for i in range(count):
        offset = load_f32(p + i * 8)
        fine = fine & (offset >= last and offset <= 1.0)
        last = offset
    return fine


def path_fits(p: int, end: int) -> int:
    """Whether a path is whole: its verbs have as many points as there are, and the first one moves."""
    if end - p < 8:
        return 0
    verbs, points = load_u32(p), load_u32(p + 4)
    if verbs > MAX_POINTS or points > MAX_POINTS or end - p != 8 + points * 8 + verbs:
        return 0
    first, used = p + 8 + points * 8, 0
    if verbs == 0:
        return points == 0
    fine = load8(first) == MOVE
    for i in range(verbs):
        op = load8(first + i)
        fine = fine & (op <= CLOSE)
        used += 0 if op == CLOSE else max(op, 1)
    return fine and used == points and finite(p + 8, points * 2)
