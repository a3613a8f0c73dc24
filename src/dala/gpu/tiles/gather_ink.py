"""Commands of ink → primitives, for a GPU.

Functions of the rasteriser's language (raster/language.py), compiled when ink is first drawn. Geometry is
the CPU's own: paths and strokes were made into edges when they were foreseen (raster/ink/paths.py), lines
and pictures are made here; a shader sums up their areas. Ellipses are too many edges to send: the shader
makes those itself.
"""

from __future__ import annotations

from dala.gpu.opcodes import Op
from dala.gpu.raster.ink.cells import COLOR
from dala.gpu.raster.ink.edges import (
    AREA_BOTTOM,
    AREA_LEFT,
    AREA_RIGHT,
    AREA_TOP,
    EDGE_BYTES,
    UNIT,
    measure,
    to_x,
    to_y,
)
from dala.gpu.raster.ink.layers import (
    LAYER_CLIP,
    LAYER_PATH,
    LAYER_RULE,
    close_layer,
    open_entry,
    open_layer,
)
from dala.gpu.raster.ink.paths import (
    COUNT,
    HEAD_BYTES,
    NEED_LAYER,
    NEED_PICTURE,
    REC_BOTTOM,
    REC_LEFT,
    REC_RIGHT,
    REC_SHADES,
    REC_TOP,
    place_fill,
)
from dala.gpu.raster.ink.pictures import ink_picture, picture_edges
from dala.gpu.raster.ink.scratch import EDGES_BYTES
from dala.gpu.raster.ink.shades import COLOR_AT, PICTURE
from dala.gpu.raster.ink.simple import FINEST, TURN, add_ellipse, corners, line_edges
from dala.gpu.raster.ink.walk import (
    foresee_path,
    foresee_stack,
    paint_of_stroke,
    path_of,
    place_polygon,
)
from dala.gpu.raster.layout import (
    ARENA,
    ARENA_AT,
    BOTTOM,
    CIRCLE,
    EDGES,
    EMIT_LIMIT,
    LAYER_ROOM,
    LAYERS,
    LEFT,
    LOST_LAYERS,
    MATRIX,
    MODE,
    NEED,
    OPACITY,
    REPLACE,
    RIGHT,
    TOP,
)
from dala.gpu.raster.words import (
    copy_bytes,
    floor,
    load8,
    load64,
    load_f32,
    load_f64,
    load_u32,
    magnitude,
    square_root,
    store32,
    store64,
    store_f32,
    udiv,
)
from dala.gpu.tiles import layout
from dala.gpu.tiles.buckets import add_buckets, bucket_words
from dala.gpu.tiles.gather import find_within
from dala.gpu.tiles.layout import (
    DATA_AT,
    DONE,
    ELLIPSE,
    EVENODD,
    INKED,
    LAYERED,
    LOOP,
    MASKED,
    NEAR_PIXELS,
    NO_ROOM,
    OWN_LAST,
    PAINT_SHIFT,
    PARALLEL,
    POP,
    PRIM_OWN,
    PRIMS_AT,
    PUSH,
    PYTHON,
    REFERS,
    REFERS_LAST,
    REPLACES,
    WITHIN_BOTTOM,
    WITHIN_LEFT,
    WITHIN_RIGHT,
    WITHIN_TOP,
)
from dala.gpu.tiles.loops import (
    LOOP_BYTES,
    fill_corners,
    least,
    most,
    place_line,
    place_picture_corners,
    place_polygon_corners,
    put_loop,
)
from dala.gpu.tiles.paints import PAINT_WORDS, SHADES_WORDS, place_paint
from dala.gpu.tiles.primitives import (
    OWN_WORDS,
    data_at,
    has_words,
    put_clipped,
    put_head,
    put_primitive,
    take_words,
)

EDGE_LISTS = layout.EDGES
NEAR = 500_000.0  # pixels: what lies within is counted in 32 bits, in 1/512 pixel


def gather_ink(g: int, s: int, command: int) -> int:
    """What becomes of one command (layout.py)."""
    op, p = load8(command), command + 1
    store64(s + ARENA_AT, 0)
    store64(s + EMIT_LIMIT, load64(s + EDGES) + EDGES_BYTES - 64)  # paths have another one
    if op == Op.FILL_ELLIPSE:
        return add_filled_ellipse(g, s, p)
    if op == Op.STROKE_CIRCLE:
        return add_ring(g, s, p)
    if op == Op.STROKE_LINE:
        if place_line(s, p, next_own(g)):
            return add_loop(g, s, LOOP | PARALLEL, 0, COLOR, 0, 0, load_u32(p + 21))
        return add_own(g, s, line_edges(s, p), COLOR, 0, 0, load_u32(p + 21))
    if op == Op.FILL_POLYGON:
        if place_polygon_corners(s, p, next_own(g)):
            return add_loop(g, s, LOOP, load8(p + 4), COLOR, 0, 0, load_u32(p + 5))
        if not place_polygon(s, p + 4, load_u32(p)):
            return PYTHON
        return add_record(g, s, load8(p + 4), COLOR, 0, load_u32(p + 5))
    if op == Op.FILL_PATH:
        if not foresee_path(s, p + 5, path_of(p + 5), 0, 0):
            return PYTHON
        return add_record(g, s, load8(p + 4), load8(p + 5), p + 5, load_u32(p + 5 + COLOR_AT))
    if op == Op.STROKE_PATH:
        paint = paint_of_stroke(p + 4)
        if not foresee_path(s, paint, path_of(paint), p + 4, 1):
            return PYTHON
        return add_record(g, s, 0, load8(paint), paint, load_u32(paint + COLOR_AT))
    if op == Op.DRAW_SPRITE or op == Op.DRAW_PICTURE:
        picture = ink_picture(s, op, p)
        if picture == 0:
            store64(s + NEED, NEED_PICTURE)
            return PYTHON
        if place_picture_corners(s, picture, p, next_own(g)):
            return add_loop(g, s, LOOP | PARALLEL, 0, PICTURE, p, picture, load_u32(p + 40))
        return add_own(g, s, picture_edges(s, picture, p), PICTURE, p, picture, load_u32(p + 40))
    return change_stack(g, s, op, p)


def ink_kind(s: int, shape: int, paint: int, rule: int) -> int:
    kind = shape | paint << PAINT_SHIFT
    if load64(s + REPLACE):
        kind = kind | REPLACES
    if rule:
        kind = kind | EVENODD
    return kind


# -- edges -------------------------------------------------------------------------------------------


def next_own(g: int) -> int:
    """Where the next primitive's own words go: there is room (gather.py)."""
    return load64(g + PRIMS_AT) + PRIM_OWN


def add_loop(
    g: int, s: int, shape: int, rule: int, kind: int, paint: int, picture: int, pixel: int
) -> int:
    """A shape of four corners, which were placed where they belong just now."""
    if kind != COLOR:  # noqa: SIM102  ("and" computes both)
        if not has_words(g, PAINT_WORDS):
            return NO_ROOM
    loop = next_own(g)
    left, top = max(least(loop) >> 9, load64(s + LEFT)), max(least(loop + 4) >> 9, load64(s + TOP))
    right = min((most(loop) + 511) >> 9, load64(s + RIGHT))
    bottom = min((most(loop + 4) + 511) >> 9, load64(s + BOTTOM))
    if put_head(g, ink_kind(s, shape, kind, rule), left, top, right, bottom, pixel):
        for i in range(LOOP_BYTES >> 2, OWN_WORDS):
            store32(loop + i * 4, 0)
        finish(g, s, loop, 0, 0, kind, paint, picture, 0)
    return DONE


def add_own(g: int, s: int, end: int, kind: int, paint: int, picture: int, pixel: int) -> int:
    """A shape whose edges were made just now."""
    edges = load64(s + EDGES)
    count = udiv(end - edges, EDGE_BYTES)
    if not has_words(g, count * 4 + PAINT_WORDS):
        return NO_ROOM
    if count > 0:
        area = load64(s + EDGES) - 64
        measure(edges, end, area)
        at = put_clipped(
            g, s, ink_kind(s, EDGE_LISTS, kind, 0), load64(area + AREA_LEFT),
            load64(area + AREA_TOP), load64(area + AREA_RIGHT), load64(area + AREA_BOTTOM), pixel,
        )  # fmt: skip
        if at:
            finish(g, s, at, edges, count, kind, paint, picture, 0)
    return DONE


def add_record(g: int, s: int, rule: int, kind: int, paint: int, pixel: int) -> int:
    """A shape whose edges lie in the arena."""
    record = load64(s + ARENA)
    count = load64(record + COUNT)
    sorted_words = bucket_words(record, count)
    if not has_words(g, max(count * 4, sorted_words) + PAINT_WORDS + SHADES_WORDS):
        return NO_ROOM
    if count > 0:
        at = put_clipped(
            g, s, ink_kind(s, EDGE_LISTS, kind, rule), load64(record + REC_LEFT),
            load64(record + REC_TOP), load64(record + REC_RIGHT), load64(record + REC_BOTTOM), pixel,
        )  # fmt: skip
        if at:
            shades = record + load64(record + REC_SHADES)
            if sorted_words > 0:
                add_buckets(g, at, record, count)
                count = 0
            finish(g, s, at, record + HEAD_BYTES, count, kind, paint, 0, shades)
    return DONE


def finish(
    g: int,
    s: int,
    at: int,
    edges: int,
    count: int,
    kind: int,
    paint: int,
    picture: int,
    shades: int,
) -> None:
    """A primitive's own words: edges (unless they are there already), and what it is painted with."""
    store64(g + INKED, 1)
    if count > 0:
        if put_loop(at, edges, count):
            store32(at - PRIM_OWN, load_u32(at - PRIM_OWN) + LOOP - EDGE_LISTS)
        else:
            copy_edges(g, at, edges, count)
    if kind != COLOR:
        corner, to = load_u32(at - 12), load_u32(at - 8)
        x, y = corner & 0xFFFF, corner >> 16
        near = max((to & 0xFFFF) - x, (to >> 16) - y) <= NEAR_PIXELS
        record = place_paint(s, kind, paint, picture, shades, x, y, near, data_at(g))
        if record == 0:  # a matrix that cannot be inverted: a shape without area
            store32(at - PRIM_OWN, LOOP)
            fill_corners(at)
            return
        store32(at - PRIM_OWN, load_u32(at - PRIM_OWN) | REFERS_LAST)
        store32(at + OWN_LAST, load64(g + DATA_AT))
        take_words(g, record)


def copy_edges(g: int, at: int, edges: int, count: int) -> None:
    copy_bytes(data_at(g), edges, count * EDGE_BYTES)
    store32(at - PRIM_OWN, load_u32(at - PRIM_OWN) | REFERS)
    store32(at, load64(g + DATA_AT))
    store32(at + 4, count)
    take_words(g, count * 4)


# -- ellipses ------------------------------------------------------------------------------------------


def add_filled_ellipse(g: int, s: int, p: int) -> int:
    ax, ay, bx, by = load_f32(p + 8), load_f32(p + 12), load_f32(p + 16), load_f32(p + 20)
    x, y, pixel = load_f32(p), load_f32(p + 4), load_u32(p + 24)
    if put_ellipse(g, s, x, y, ax, ay, bx, by, 0.0, pixel):
        return DONE
    return add_own(
        g, s, add_ellipse(s, load64(s + EDGES), x, y, ax, ay, bx, by, 0), COLOR, 0, 0, pixel
    )


def add_ring(g: int, s: int, p: int) -> int:
    x, y, r, half = load_f32(p), load_f32(p + 4), load_f32(p + 8), load_f32(p + 12) * 0.5
    outer, inner, pixel = magnitude(r) + half, magnitude(r) - half, load_u32(p + 16)
    if put_ellipse(g, s, x, y, outer, 0.0, 0.0, outer, inner, pixel):
        return DONE
    edges = load64(s + EDGES)
    end = add_ellipse(s, edges, x, y, outer, 0.0, 0.0, outer, 0)
    if inner > 0.0 and end > edges:
        end = add_ellipse(s, end, x, y, inner, 0.0, 0.0, inner, 1)
    return add_own(g, s, end, COLOR, 0, 0, pixel)


def put_ellipse(
    g: int, s: int, cx: float, cy: float, ax: float, ay: float, bx: float, by: float,
    inner: float, pixel: int,
) -> int:  # fmt: skip
    """An ellipse as centre and half axes (raster/ink/simple.py has the polygon); 0 if it lies too far off.
    Of a ring, ``inner`` is the inner radius and ``ax`` the outer one."""
    x, y = to_x(s, cx, cy), to_y(s, cx, cy)
    a, b = load_f64(s + MATRIX), load_f64(s + MATRIX + 8)
    c, d = load_f64(s + MATRIX + 16), load_f64(s + MATRIX + 24)
    ux, uy, vx, vy = a * ax + c * ay, b * ax + d * ay, a * bx + c * by, b * bx + d * by
    wide = square_root(ux * ux + vx * vx)
    high, long, narrow = wide, wide, wide
    if ux != vy or uy != -vx:  # not a circle
        high = square_root(uy * uy + vy * vy)
        long = max(square_root(ux * ux + uy * uy), square_root(vx * vx + vy * vy))
        narrow = narrowest(ux, uy, vx, vy)
    most = max(magnitude(x), magnitude(y)) + wide + high
    if not most < NEAR:
        return 0
    j = corners(long)
    factor = load_f64(load64(s + CIRCLE) + TURN * 16 + j * 8)
    scale = factor * UNIT
    reach_x, reach_y = wide * factor + 0.01, high * factor + 0.01
    at = put_clipped(
        g, s, ink_kind(s, ELLIPSE, COLOR, 0), int(floor(x - reach_x)), int(floor(y - reach_y)),
        int(floor(x + reach_x)) + 1, int(floor(y + reach_y)) + 1, pixel,
    )  # fmt: skip
    if at:
        store64(g + INKED, 1)
        left, top = floor(x * UNIT), floor(y * UNIT)
        store32(at, int(left))
        store32(at + 4, int(top))
        part = int((x * UNIT - left) * 65535.0 + 0.5)
        store32(at + 8, part | int((y * UNIT - top) * 65535.0 + 0.5) << 16)
        store_f32(at + 16, ux * scale)
        store_f32(at + 20, uy * scale)
        store_f32(at + 24, vx * scale)
        store_f32(at + 28, vy * scale)
        # from a pixel's middle to its corner is 0.71 pixels, and the polygon strays 0.03 from the curve
        store_f32(at + 36, 0.8 / max(narrow, 1e-9))
        if inner > 0.0:
            share = inner / ax
            k = corners(long * share)
            there = load_f64(load64(s + CIRCLE) + TURN * 16 + k * 8)
            store_f32(at + 32, share * there / factor)
            j = j | k << 4 | 256
        store32(at + 12, j)
    return 1


def narrowest(ux: float, uy: float, vx: float, vy: float) -> float:
    """Half of an ellipse's width where it is narrowest."""
    squares, area = ux * ux + uy * uy + vx * vx + vy * vy, magnitude(ux * vy - uy * vx)
    widest = square_root(
        (squares + square_root(max(squares * squares - 4.0 * area * area, 0.0))) * 0.5
    )
    return area / max(widest, 1e-9)


# -- transforms and layers -------------------------------------------------------------------------------


def change_stack(g: int, s: int, op: int, p: int) -> int:
    if op == Op.PUSH_LAYER:
        return push_layer(g, s, p + 4)
    if op == Op.POP_LAYER and load64(s + LAYERS) > 0 and load64(s + LOST_LAYERS) == 0:
        pop_layer(g, s)
        return DONE
    return DONE if foresee_stack(s, op, p) else PYTHON


def push_layer(g: int, s: int, p: int) -> int:
    masked, record, count, sorted_words = load8(p + LAYER_CLIP), load64(s + ARENA), 0, 0
    if load64(s + LAYERS) == load64(s + LAYER_ROOM):
        store64(s + NEED, NEED_LAYER)
        return PYTHON
    if masked:
        if not place_fill(s, p + LAYER_PATH):
            return PYTHON
        count = load64(record + COUNT)
        if count > 0:
            sorted_words = bucket_words(record, count)
        if not has_words(g, max(count * 4, sorted_words)):
            return NO_ROOM
    kind = ink_kind(s, PUSH, 0, load8(p + LAYER_RULE))
    if masked:
        kind = kind | MASKED
    left, top, right, bottom = (
        load64(s + LEFT),
        load64(s + TOP),
        load64(s + RIGHT),
        load64(s + BOTTOM),
    )
    at = put_primitive(g, kind, left, top, right, bottom, 0)
    if at:
        store64(g + LAYERED, 1)
        store32(at + 4, 0)
        if sorted_words > 0:
            add_buckets(g, at, record, count)
        elif count > 0:
            copy_edges(g, at, record + HEAD_BYTES, count)
    open_layer(s, p)
    find_within(g, s)
    return DONE


def pop_layer(g: int, s: int) -> None:
    entry = open_entry(s, load64(s + LAYERS) - 1)
    left, top = load64(g + WITHIN_LEFT), load64(g + WITHIN_TOP)
    right, bottom = load64(g + WITHIN_RIGHT), load64(g + WITHIN_BOTTOM)
    how = load64(entry + OPACITY) | load64(entry + MODE) << 8
    if put_primitive(g, ink_kind(s, POP, 0, 0), left, top, right, bottom, how):
        store64(g + LAYERED, 1)
    close_layer(s)
    find_within(g, s)


assert FINEST == 8 and TURN == 4096  # the shader counts on it
