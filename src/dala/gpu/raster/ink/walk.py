"""Commands of ink: foreseen, and drawn.

Functions of the rasteriser's language (language.py); the first part of ink, which is compiled when one of
its commands is first drawn. The walks over all commands (forecast.py, protocol.py) call ``foresee_ink`` and
``draw_ink`` by their addresses.
"""

from __future__ import annotations

from dala.gpu.opcodes import Op
from dala.gpu.raster.forecast import BLENDED, BLENDED_ROW, REFRESHED, SAMPLED, count, count_surface
from dala.gpu.raster.ink.cells import COLOR
from dala.gpu.raster.ink.edges import SPLIT_BYTES, emit_user, to_x, to_y
from dala.gpu.raster.ink.layers import (
    LAYER_CLIP,
    LAYER_PATH,
    close_layer,
    open_layer,
    pop_transform,
    push_transform,
)
from dala.gpu.raster.ink.paths import (
    DASH_AT,
    DASHES_AT,
    HEAD_BYTES,
    NEED_LAYER,
    NEED_PAINTS,
    NEED_PICTURE,
    NEED_PUSH,
    NEED_TRANSFORM,
    REC_BOTTOM,
    REC_LEFT,
    REC_RIGHT,
    REC_SHADES,
    REC_TOP,
    SIZE,
    arena_end,
    fill_record,
    keep_record,
    lacks,
    place_fill,
    place_stroke,
)
from dala.gpu.raster.ink.pictures import (
    crop_height,
    crop_width,
    draw_ink_picture,
    ink_picture,
    per_pixel,
)
from dala.gpu.raster.ink.shades import (
    COLOR_AT,
    ID_AT,
    PAINT_BYTES,
    PATTERN,
    SHADES_BYTES,
    make_shades,
    stop_count,
)
from dala.gpu.raster.ink.simple import fill_ellipse, stroke_circle, stroke_line
from dala.gpu.raster.layout import (
    ARENA,
    ARENA_AT,
    EMIT_LIMIT,
    IMAGE_COUNT,
    IMAGES,
    LAYER_INK,
    LAYER_ROOM,
    LAYERS,
    LOST_LAYERS,
    LOST_TRANSFORMS,
    MATRIX,
    MAX_TRANSFORMS,
    NEED,
    PAINT_INK,
    REPLACE,
    SEEN_LAYERS,
    SEEN_TRANSFORMS,
    STALE,
    TRANSFORMS,
    UNCOUNTED,
)
from dala.gpu.raster.pictures import find_picture
from dala.gpu.raster.words import (
    call_at,
    floor,
    load8,
    load64,
    load_f32,
    load_f64,
    load_u32,
    magnitude,
    store64,
)

# picoseconds, roughly (forecast.py): a row of an outline, a pixel of one that is filled
EDGE_ROW, COVERED = 30_000, 700
FAR = 1e9
SMALL_BODY = 1 << 16  # bytes of a command that cannot fail for want of memory


# -- foreseen ----------------------------------------------------------------------------------------


def foresee_ink(s: int, op: int, p: int) -> int:
    """What a command will need, made or asked for; 0 if Python is needed first."""
    if not foresee_command(s, op, p):
        return 0
    if load64(s + STALE):  # what was presented last is copied first
        store64(s + STALE, 0)
        count_surface(s, REFRESHED)
    return 1


def foresee_command(s: int, op: int, p: int) -> int:
    if load64(s + PAINT_INK) == 0 and needs_paints(s, op, p):
        return ask(s, NEED_PAINTS)
    if op == Op.FILL_ELLIPSE or op == Op.STROKE_LINE or op == Op.STROKE_CIRCLE:
        if load64(s + UNCOUNTED) == 0:
            count_simple(s, op, p)
    elif op == Op.FILL_POLYGON:
        return place_polygon(s, p + 4, load_u32(p))
    elif op == Op.FILL_PATH:
        return foresee_path(s, p + 5, path_of(p + 5), 0, 0)
    elif op == Op.STROKE_PATH:
        paint = paint_of_stroke(p + 4)
        return foresee_path(s, paint, path_of(paint), p + 4, 1)
    elif op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE:
        return foresee_picture(s, op, p)
    else:
        return foresee_stack(s, op, p)
    return 1


def ask(s: int, need: int) -> int:
    store64(s + NEED, need)
    return 0


def needs_paints(s: int, op: int, p: int) -> int:
    """Whether a command needs the second part of ink."""
    if op == Op.FILL_PATH:
        return load8(p + 5) != COLOR or load64(s + REPLACE)
    if op == Op.STROKE_PATH:
        return load8(paint_of_stroke(p + 4)) != COLOR or load64(s + REPLACE)
    if op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE or op == Op.PUSH_LAYER:
        return 1
    return load64(s + REPLACE)


def paint_of_stroke(style: int) -> int:
    return style + DASH_AT + load8(style + DASHES_AT) * 4


def path_of(paint: int) -> int:
    return paint + PAINT_BYTES + stop_count(paint) * 8


def foresee_path(s: int, paint: int, path: int, style: int, stroked: int) -> int:
    kind = load8(paint)
    if kind == PATTERN:  # noqa: SIM102  ("and" computes both)
        if find_picture(load64(s + IMAGES), load64(s + IMAGE_COUNT), load64(paint + ID_AT)) == 0:
            return ask(s, NEED_PICTURE)
    start = load64(s + ARENA_AT)
    record = load64(s + ARENA) + start
    if stroked:
        if not place_stroke(s, style, path):
            return 0
    elif not place_fill(s, path):
        return 0
    if kind != COLOR and kind != PATTERN:
        shades = record + load64(record + SIZE)
        if shades + SHADES_BYTES > arena_end(s):
            store64(s + ARENA_AT, start)
            return lacks(s, load64(record + SIZE) + SHADES_BYTES * 4)
        make_shades(paint, shades)
        store64(record + REC_SHADES, load64(record + SIZE))
        store64(record + SIZE, load64(record + SIZE) + SHADES_BYTES)
        store64(s + ARENA_AT, load64(s + ARENA_AT) + SHADES_BYTES)
    count_record(s, record, kind)
    return 1


def count_record(s: int, record: int, kind: int) -> None:
    if load64(s + UNCOUNTED):
        return
    left, top = load64(record + REC_LEFT), load64(record + REC_TOP)
    w, h = load64(record + REC_RIGHT) - left, load64(record + REC_BOTTOM) - top
    count(s, left, top, w, h, EDGE_ROW, 0, COVERED if kind == COLOR else SAMPLED)


def place_polygon(s: int, p: int, size: int) -> int:
    """A polygon's edges into the arena."""
    record = load64(s + ARENA) + load64(s + ARENA_AT)
    at, end = p + 5, p + size
    if record + HEAD_BYTES + SPLIT_BYTES * 2 > arena_end(s):
        return lacks(s, size * 8 + 1024)
    store64(s + EMIT_LIMIT, arena_end(s) - SPLIT_BYTES)
    out = record + HEAD_BYTES
    if at < end:
        x, y = load_f32(end - 8), load_f32(end - 4)
        while at < end:
            next_x, next_y = load_f32(at), load_f32(at + 4)
            out = emit_user(s, out, x, y, next_x, next_y)
            x, y = next_x, next_y
            at += 8
    if not keep_record(s, record, out, size * 8):
        return 0
    count_record(s, record, COLOR)
    return 1


def count_simple(s: int, op: int, p: int) -> None:
    """Ellipses, rings, lines: about where, and how much."""
    x0, y0 = load_f32(p), load_f32(p + 4)
    x1, y1, reach = x0, y0, load_f32(p + 8) + load_f32(p + 12) * 0.5
    if op == Op.STROKE_LINE:
        x1, y1, reach = load_f32(p + 8), load_f32(p + 12), load_f32(p + 16)
    elif op == Op.FILL_ELLIPSE:
        wide = magnitude(load_f32(p + 8)) + magnitude(load_f32(p + 16))
        reach = max(wide, magnitude(load_f32(p + 12)) + magnitude(load_f32(p + 20)))
    reach = magnitude(reach) + 1.0
    a, b, c, d = to_x(s, x0, y0), to_y(s, x0, y0), to_x(s, x1, y1), to_y(s, x1, y1)
    wide = reach * (magnitude(load_f64(s + MATRIX)) + magnitude(load_f64(s + MATRIX + 16)))
    high = reach * (magnitude(load_f64(s + MATRIX + 8)) + magnitude(load_f64(s + MATRIX + 24)))
    left, right = pixel(min(a, c) - wide), pixel(max(a, c) + wide) + 1
    top, bottom = pixel(min(b, d) - high), pixel(max(b, d) + high) + 1
    per_pixel = BLENDED if op == Op.FILL_ELLIPSE else 0
    count(s, left, top, right - left, bottom - top, EDGE_ROW, 0, per_pixel)


def pixel(v: float) -> int:
    return int(floor(min(max(v, -FAR), FAR)))


def foresee_picture(s: int, op: int, p: int) -> int:
    picture = ink_picture(s, op, p)
    if picture == 0:
        return ask(s, NEED_PICTURE)
    w, h = crop_width(picture, p), crop_height(picture, p)
    if w <= 0 or h <= 0 or load64(s + UNCOUNTED):
        return 1
    w, h = int(w * per_pixel(p, w) + 0.5), int(h * per_pixel(p, h) + 0.5)
    wide = (magnitude(load_f32(p + 8)) + magnitude(load_f32(p + 12))) * w
    reach = wide + (magnitude(load_f32(p + 16)) + magnitude(load_f32(p + 20))) * h
    reach = reach * (1.0 + magnitude(load_f32(p + 24)) + magnitude(load_f32(p + 28)))
    x, y = to_x(s, load_f32(p), load_f32(p + 4)), to_y(s, load_f32(p), load_f32(p + 4))
    wide = reach * (magnitude(load_f64(s + MATRIX)) + magnitude(load_f64(s + MATRIX + 16)))
    high = reach * (magnitude(load_f64(s + MATRIX + 8)) + magnitude(load_f64(s + MATRIX + 24)))
    left, top = pixel(x - wide), pixel(y - high)
    count(
        s,
        left,
        top,
        pixel(x + wide) + 1 - left,
        pixel(y + high) + 1 - top,
        EDGE_ROW,
        0,
        SAMPLED >> 3,
    )
    return 1


def foresee_stack(s: int, op: int, p: int) -> int:
    """Pushes and pops, with nothing painted."""
    if op == Op.PUSH_TRANSFORM:
        if load64(s + TRANSFORMS) == MAX_TRANSFORMS:
            return ask(s, NEED_PUSH)
        if not push_transform(s, p):
            return ask(s, NEED_TRANSFORM)
    elif op == Op.POP_TRANSFORM:
        if load64(s + TRANSFORMS) + load64(s + LOST_TRANSFORMS) == 0:
            return ask(s, NEED_PUSH)
        leave_transform(s)
    elif op == Op.PUSH_LAYER:
        if load64(s + LAYERS) == load64(s + LAYER_ROOM):
            return ask(s, NEED_LAYER)
        return foresee_layer(s, p + 4)
    elif op == Op.POP_LAYER:
        if load64(s + LAYERS) + load64(s + LOST_LAYERS) == 0:
            return ask(s, NEED_PUSH)
        if load64(s + LOST_LAYERS) > 0:
            store64(s + LOST_LAYERS, load64(s + LOST_LAYERS) - 1)
        else:
            close_layer(s)
            count_surface(s, BLENDED_ROW >> 4)
    return 1


def foresee_layer(s: int, p: int) -> int:
    if load8(p + LAYER_CLIP):  # noqa: SIM102  ("and" computes both)
        if not place_fill(s, p + LAYER_PATH):
            return 0
    open_layer(s, p)
    count_surface(s, BLENDED)
    return 1


def leave_transform(s: int) -> None:
    if load64(s + LOST_TRANSFORMS) > 0:
        store64(s + LOST_TRANSFORMS, load64(s + LOST_TRANSFORMS) - 1)
    else:
        pop_transform(s)


# -- a batch, before any of it is done ---------------------------------------------------------------


def survey_ink(s: int, op: int, p: int) -> int:
    """Whether a command within a batch can be done without Python, and cannot fail."""
    if load64(s + PAINT_INK) == 0 and needs_paints(s, op, p):
        return 0
    if op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE:
        return ink_picture(s, op, p) != 0
    if op == Op.FILL_POLYGON:
        return load_u32(p) <= SMALL_BODY
    if op == Op.FILL_PATH:
        return load_u32(p) <= SMALL_BODY and survey_paint(s, p + 5)
    if op == Op.STROKE_PATH:
        plain = load8(p + 4 + DASHES_AT) == 0 and load_u32(p) <= SMALL_BODY >> 4
        return plain and survey_paint(s, paint_of_stroke(p + 4))
    return survey_stack(s, op, p)


def survey_paint(s: int, paint: int) -> int:
    if load8(paint) != PATTERN:
        return 1
    return find_picture(load64(s + IMAGES), load64(s + IMAGE_COUNT), load64(paint + ID_AT)) != 0


def survey_stack(s: int, op: int, p: int) -> int:
    transforms, layers = load64(s + SEEN_TRANSFORMS), load64(s + SEEN_LAYERS)
    if op == Op.PUSH_TRANSFORM:
        # how large the numbers grow is known only when they are multiplied: small ones cannot fail
        store64(s + SEEN_TRANSFORMS, transforms + 1)
        return transforms < MAX_TRANSFORMS and tame(s, p)
    if op == Op.POP_TRANSFORM:
        store64(s + SEEN_TRANSFORMS, transforms - 1)
        return transforms > 0
    if op == Op.PUSH_LAYER:
        store64(s + SEEN_LAYERS, layers + 1)
        return layers < load64(s + LAYER_ROOM) and load_u32(p) <= SMALL_BODY
    if op == Op.POP_LAYER:
        store64(s + SEEN_LAYERS, layers - 1)
        return layers > 0
    return 1


def tame(s: int, p: int) -> int:
    """Whether a transform, and the one it is multiplied with, are of an everyday size: rotations, moves by
    less than a million, scales by less than two; 64 of those stay below the limit."""
    most = max(magnitude(load_f32(p)), magnitude(load_f32(p + 4)))
    most = max(most, max(magnitude(load_f32(p + 8)), magnitude(load_f32(p + 12))))
    moves = max(magnitude(load_f32(p + 16)), magnitude(load_f32(p + 20)))
    now = max(magnitude(load_f64(s + MATRIX)), magnitude(load_f64(s + MATRIX + 8)))
    now = max(now, max(magnitude(load_f64(s + MATRIX + 16)), magnitude(load_f64(s + MATRIX + 24))))
    flat = load64(s + TRANSFORMS) + load64(s + SEEN_TRANSFORMS) < 4
    return most <= 64.0 and moves <= 65536.0 and now <= 64.0 and flat


# -- drawn -------------------------------------------------------------------------------------------


def draw_ink(s: int, op: int, p: int) -> int:
    """One command, within the band; all it needs is there."""
    if op == Op.FILL_ELLIPSE:
        fill_ellipse(s, p)
    elif op == Op.STROKE_LINE:
        stroke_line(s, p)
    elif op == Op.STROKE_CIRCLE:
        stroke_circle(s, p)
    elif op == Op.FILL_POLYGON:
        fill_record(s, load8(p + 4), COLOR, 0, load_u32(p + 5))
    elif op == Op.FILL_PATH:
        fill_record(s, load8(p + 4), load8(p + 5), p + 5, load_u32(p + 5 + COLOR_AT))
    elif op == Op.STROKE_PATH:
        paint = paint_of_stroke(p + 4)
        fill_record(s, 0, load8(paint), paint, load_u32(paint + COLOR_AT))
    elif op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE:
        draw_ink_picture(s, ink_picture(s, op, p), p)
    else:
        draw_stack(s, op, p)
    return 0


def draw_stack(s: int, op: int, p: int) -> None:
    if op == Op.PUSH_TRANSFORM:
        push_transform(s, p)
    elif op == Op.POP_TRANSFORM:
        leave_transform(s)
    elif op == Op.PUSH_LAYER:
        open_layer(s, p + 4)
        call_at(load64(s + LAYER_INK), s, op, p + 4)
    elif op == Op.POP_LAYER:
        if load64(s + LOST_LAYERS) > 0:
            store64(s + LOST_LAYERS, load64(s + LOST_LAYERS) - 1)
        else:
            close_layer(s)
            call_at(load64(s + LAYER_INK), s, op, p)
