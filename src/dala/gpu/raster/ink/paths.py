"""Paths: lines and curves as lists of points, and those as edges, once for all threads.

Functions of the rasteriser's language (language.py). A path's fields are the number of its verbs and of its
points, the points, the verbs. Flattened, a subpath is a count, whether it is closed, and points, two floats
each; a curve is cut into as many equal parts as keep it within 1/200 pixel (Wang's formula).

What is made lies in the arena, a record for each command that needs one, in the order of the commands: its
size, how many edges, their rectangle of pixels, then the edges, then the colours of a gradient (shades.py).
"""

from __future__ import annotations

from dala.gpu.raster.ink.cells import fill_edges
from dala.gpu.raster.ink.edges import (
    EDGE_BYTES,
    SPLIT_BYTES,
    emit_user,
    measure,
)
from dala.gpu.raster.ink.strokes import arc_step, dash_points, length_of, stroke_points
from dala.gpu.raster.layout import (
    ARENA,
    ARENA_AT,
    ARENA_BYTES,
    EMIT_LIMIT,
    HALF_WIDTH,
    MATRIX,
    NEED,
    NEED_BYTES,
)
from dala.gpu.raster.words import (
    floor,
    load8,
    load64,
    load_f32,
    load_f64,
    load_u32,
    square_root,
    store64,
    store_f64,
    udiv,
)

MOVE, LINE, QUAD, CUBIC, CLOSE = range(5)
PER_PIXEL = 200.0
MOST_PIECES = 1024  # of one curve
ALL_PIECES = 1 << 16  # of a path's curves, unless that is less than four each
MAX_DASHES = 1 << 18
# a record in the arena
SIZE, COUNT, REC_LEFT, REC_TOP, REC_RIGHT, REC_BOTTOM, REC_SHADES = range(0, 56, 8)
HEAD_BYTES = 64
# why Python is called
NEED_CODE, NEED_ROOM, NEED_FEWER_DASHES, NEED_PICTURE, NEED_LAYER, NEED_PUSH, NEED_PAINTS = range(
    1, 8
)
NEED_VERSION, NEED_TRANSFORM = 8, 9

# a stroke's fields
WIDTH_AT, LIMIT_AT, OFFSET_AT, JOIN_AT, CAP_AT, DASHES_AT, DASH_AT = 0, 4, 8, 12, 13, 14, 16


def flatten(s: int, path: int, out: int, limit: int) -> int:
    """A path's subpaths, one after the other; where they end, or 0 if there is not enough room."""
    verbs, points = load_u32(path), path + 8
    verb = points + load_u32(path + 4) * 8
    most = min(MOST_PIECES, max(4, udiv(ALL_PIECES, verbs + 1)))
    head, x, y, first_x, first_y = 0, 0.0, 0.0, 0.0, 0.0
    for i in range(verbs):
        op = load8(verb + i)
        if out > limit - 16 * MOST_PIECES - 64:
            return 0
        if op == MOVE or (head == 0 and op != CLOSE):
            if op == MOVE:
                first_x, first_y = load_f32(points), load_f32(points + 4)
                points += 8
            head, x, y = out, first_x, first_y
            store64(out, 0)
            store64(out + 8, 0)
            out = add_to(head, out + 16, x, y)
        if op == LINE:
            x, y = load_f32(points), load_f32(points + 4)
            points += 8
            out = add_to(head, out, x, y)
        elif op == CLOSE:
            if head != 0:
                store64(head + 8, 1)
            head, x, y = 0, first_x, first_y
        elif op != MOVE:
            out = curve(s, head, out, x, y, points, op, most)
            points += 8 * op
            x, y = load_f32(points - 8), load_f32(points - 4)
    return out


def add_to(head: int, out: int, x: float, y: float) -> int:
    store_f64(out, x)
    store_f64(out + 8, y)
    store64(head, load64(head) + 1)
    return out + 16


def bend(s: int, x: float, y: float) -> float:
    """How long a difference of points is on the surface."""
    a = load_f64(s + MATRIX) * x + load_f64(s + MATRIX + 16) * y
    b = load_f64(s + MATRIX + 8) * x + load_f64(s + MATRIX + 24) * y
    return square_root(a * a + b * b)


def curve(s: int, head: int, out: int, x0: float, y0: float, p: int, degree: int, most: int) -> int:
    """A curve of two or three more points, without its first one."""
    x1, y1, x2, y2 = load_f32(p), load_f32(p + 4), load_f32(p + 8), load_f32(p + 12)
    x3, y3 = x2, y2
    bent = bend(s, x0 - 2.0 * x1 + x2, y0 - 2.0 * y1 + y2) * 0.25
    if degree == CUBIC:
        x3, y3 = load_f32(p + 16), load_f32(p + 20)
        bent = max(bent, bend(s, x1 - 2.0 * x2 + x3, y1 - 2.0 * y2 + y3) * 0.25) * 3.0
    pieces = max(min(int(square_root(bent * PER_PIXEL)) + 1, most), 1)
    step = 1.0 / pieces
    for i in range(1, pieces):
        t = i * step
        u = 1.0 - t
        if degree == CUBIC:
            a, b, c, d = u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t
            x, y = a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3
        else:
            a, b, c = u * u, 2.0 * u * t, t * t
            x, y = a * x0 + b * x1 + c * x2, a * y0 + b * y1 + c * y2
        out = add_to(head, out, x, y)
    return add_to(head, out, x3, y3)


# -- into the arena ----------------------------------------------------------------------------------


def arena_end(s: int) -> int:
    return load64(s + ARENA) + load64(s + ARENA_BYTES)


def lacks(s: int, bytes_more: int) -> int:
    """Ask for more room in the arena; 0, so that the command is not done."""
    store64(s + NEED, NEED_ROOM)
    store64(s + NEED_BYTES, bytes_more)
    return 0


def place_fill(s: int, path: int) -> int:
    """The edges of a path that is filled; 0 if Python is needed."""
    record = load64(s + ARENA) + load64(s + ARENA_AT)
    room = points_room(path)
    points, last = arena_end(s) - room, arena_end(s)
    if points < record + HEAD_BYTES + SPLIT_BYTES:
        return lacks(s, room * 2)
    end = flatten(s, path, points, last)
    if end == 0:
        return lacks(s, room * 4)
    store64(s + EMIT_LIMIT, points - SPLIT_BYTES)
    out, at = record + HEAD_BYTES, points
    while at < end:
        count = load64(at)
        out = outline(s, out, at + 16, count)
        at += 16 + count * 16
    return keep_record(s, record, out, room)


def points_room(path: int) -> int:
    """Bytes that are enough for a path's points, flattened."""
    verbs, curves = load_u32(path), 0
    first = path + 8 + load_u32(path + 4) * 8
    for i in range(verbs):
        op = load8(first + i)
        curves += (op == QUAD) + (op == CUBIC)
    most = min(MOST_PIECES, max(4, udiv(ALL_PIECES, verbs + 1)))
    return verbs * 48 + curves * most * 16 + 16 * MOST_PIECES + 128


def outline(s: int, out: int, points: int, count: int) -> int:
    """A subpath's edges, and the one that closes it."""
    last = points + (count - 1) * 16
    x, y = load_f64(last), load_f64(last + 8)
    while points <= last:
        next_x, next_y = load_f64(points), load_f64(points + 8)
        out = emit_user(s, out, x, y, next_x, next_y)
        x, y = next_x, next_y
        points += 16
    return out


def keep_record(s: int, record: int, out: int, room: int) -> int:
    """Note what was made; 0 if it did not fit."""
    if out > load64(s + EMIT_LIMIT):
        return lacks(s, room * 2 + (out - record) * 2)
    edges = record + HEAD_BYTES
    store64(record + SIZE, (out - record + 7) & -8)
    store64(record + COUNT, udiv(out - edges, EDGE_BYTES))
    measure(edges, out, record + REC_LEFT)
    store64(record + REC_SHADES, 0)
    store64(s + ARENA_AT, record + load64(record + SIZE) - load64(s + ARENA))
    return 1


def place_stroke(s: int, style: int, path: int) -> int:
    """The edges of a stroke; 0 if Python is needed."""
    record, last = load64(s + ARENA) + load64(s + ARENA_AT), arena_end(s)
    room = points_room(path)
    dash_count = load8(style + DASHES_AT)
    dashes = last - dash_count * 8
    dash_room = dashes - room - 64
    points = dash_room - room
    if points < record + HEAD_BYTES + SPLIT_BYTES:
        return lacks(s, room * 3 + dash_count * 8)
    end = flatten(s, path, points, dash_room)
    if end == 0:
        return lacks(s, room * 6)
    store64(s + EMIT_LIMIT, points - SPLIT_BYTES)
    store_f64(s + HALF_WIDTH, load_f32(style + WIDTH_AT) * 0.5)
    arc_step(s)
    out = record + HEAD_BYTES
    if dash_count == 0:
        out = stroke_all(s, style, points, end, out)
    else:
        period = copy_dashes(style, dashes, dash_count)
        if count_dashes(points, end, period, dash_count) > MAX_DASHES * 1.0:
            store64(s + NEED, NEED_FEWER_DASHES)
            return 0
        out = dash_all(s, style, points, end, out, dashes, period, dash_room)
    return keep_record(s, record, out, room)


def stroke_all(s: int, style: int, at: int, end: int, out: int) -> int:
    join, cap, limit = load8(style + JOIN_AT), load8(style + CAP_AT), load_f32(style + LIMIT_AT)
    while at < end:
        count = load64(at)
        out = stroke_points(s, out, at + 16, count, load64(at + 8), join, cap, limit)
        at += 16 + count * 16
    return out


def dash_all(
    s: int, style: int, at: int, end: int, out: int, dashes: int, period: float, room: int
) -> int:
    join, cap, limit = load8(style + JOIN_AT), load8(style + CAP_AT), load_f32(style + LIMIT_AT)
    offset = load_f32(style + OFFSET_AT)
    offset = offset - floor(offset / period) * period
    if offset >= period:  # rounded up
        offset = 0.0
    while at < end:
        count, closed = load64(at), load64(at + 8)
        out = dash_points(
            s, out, at + 16, count, closed, join, cap, limit,
            dashes, load8(style + DASHES_AT), offset, room,
        )  # fmt: skip
        at += 16 + count * 16
    return out


def copy_dashes(style: int, to: int, count: int) -> float:
    """Dashes as floats of 64 bits; their sum."""
    total = 0.0
    for i in range(count):
        store_f64(to + i * 8, load_f32(style + DASH_AT + i * 4))
        total += load_f64(to + i * 8)
    return total


def count_dashes(at: int, end: int, period: float, dash_count: int) -> float:
    """About how many there will be: said before any is made."""
    total = 0.0
    while at < end:
        total += length_of(at + 16, load64(at), load64(at + 8)) / period + 1.0
        at += 16 + load64(at) * 16
    return total * dash_count


# -- out of it ---------------------------------------------------------------------------------------


def fill_record(s: int, rule: int, kind: int, paint: int, pixel: int) -> None:
    """Paint the next record's edges."""
    record = load64(s + ARENA) + load64(s + ARENA_AT)
    store64(s + ARENA_AT, load64(s + ARENA_AT) + load64(record + SIZE))
    edges, count = record + HEAD_BYTES, load64(record + COUNT)
    if count > 0:
        fill_edges(
            s, edges, edges + count * EDGE_BYTES, load64(record + REC_LEFT), load64(record + REC_TOP),
            load64(record + REC_RIGHT), load64(record + REC_BOTTOM), rule, kind, paint, record, pixel,
        )  # fmt: skip
