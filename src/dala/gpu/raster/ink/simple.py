"""Ellipses, rings and single lines: shapes whose edges each thread makes for itself.

Functions of the rasteriser's language (language.py). A curve is a polygon of 16 · 2ʲ corners, as many as
keep it within 0.03 pixels; the corners lie a little outside, so that the polygon's area is the curve's and
what is too much and too little beside each corner cancel.
"""

from __future__ import annotations

from dala.gpu.raster.ink.cells import COLOR, fill_own
from dala.gpu.raster.ink.edges import (
    emit,
    to_x,
    to_y,
)
from dala.gpu.raster.ink.ring import ring_edges
from dala.gpu.raster.ink.strokes import arc_step, cap_line
from dala.gpu.raster.layout import (
    BOTTOM,
    CIRCLE,
    EDGES,
    HALF_WIDTH,
    HEIGHT,
    LEFT,
    MATRIX,
    RIGHT,
    TOP,
    WIDTH,
)
from dala.gpu.raster.words import (
    load8,
    load64,
    load_f32,
    load_f64,
    load_u32,
    magnitude,
    square_root,
    store_f64,
)

TURN = 4096  # corners of the finest polygon, each a cosine and a sine in the table of circles
FINEST = 8
FACTORS = TURN * 16  # behind them, for each fineness, how far out corners lie
RINGS = FACTORS + (FINEST + 1) * 8  # and then all its cosines, and all its sines


def fill_ellipse(s: int, p: int) -> None:
    """Centre, two half axes as vectors, a colour."""
    edges = load64(s + EDGES)
    ax, ay, bx, by = load_f32(p + 8), load_f32(p + 12), load_f32(p + 16), load_f32(p + 20)
    end = add_ellipse(s, edges, load_f32(p), load_f32(p + 4), ax, ay, bx, by, 0)
    fill_own(s, edges, end, COLOR, 0, 0, load_u32(p + 24))


def stroke_circle(s: int, p: int) -> None:
    """Centre, radius, width, a colour: a circle less another one."""
    edges = load64(s + EDGES)
    x, y, r, half = load_f32(p), load_f32(p + 4), load_f32(p + 8), load_f32(p + 12) * 0.5
    outer, inner = magnitude(r) + half, magnitude(r) - half
    end = add_ellipse(s, edges, x, y, outer, 0.0, 0.0, outer, 0)
    if inner > 0.0 and end > edges:
        end = add_ellipse(s, end, x, y, inner, 0.0, 0.0, inner, 1)
    fill_own(s, edges, end, COLOR, 0, 0, load_u32(p + 16))


def stroke_line(s: int, p: int) -> None:
    """Two points, a width, a cap, a colour."""
    fill_own(s, load64(s + EDGES), line_edges(s, p), COLOR, 0, 0, load_u32(p + 21))


def line_edges(s: int, p: int) -> int:
    """A line's edges; where they end."""
    edges = load64(s + EDGES)
    x0, y0, x1, y1 = load_f32(p), load_f32(p + 4), load_f32(p + 8), load_f32(p + 12)
    half = load_f32(p + 16) * 0.5
    a, b = to_y(s, x0, y0), to_y(s, x1, y1)
    # a cap reaches half · √2 at most; the matrix makes that longer
    reach = (
        half * 1.5 * (magnitude(load_f64(s + MATRIX + 8)) + magnitude(load_f64(s + MATRIX + 24)))
    )
    if min(a, b) - reach >= load64(s + BOTTOM) * 1.0 or max(a, b) + reach <= load64(s + TOP) * 1.0:
        return edges
    store_f64(s + HALF_WIDTH, half)
    if load8(p + 20) == 1:
        arc_step(s)
    return cap_line(s, edges, x0, y0, x1, y1, load8(p + 20))


def corners(radius: float) -> int:
    """How fine a polygon has to be: 16 · 2ʲ corners."""
    j, reach = 0, 1.3
    while j < FINEST and radius > reach:
        j += 1
        reach = reach * 4.0
    return j


def ring_at(j: int) -> int:
    """Where a polygon's cosines begin, behind those of coarser ones."""
    return ((16 << j) - 16) * 16


def add_ellipse(
    s: int, out: int, cx: float, cy: float, ax: float, ay: float, bx: float, by: float, back: int
) -> int:
    """The edges of an ellipse, or the other way round; none if it is outside the clip."""
    x, y = to_x(s, cx, cy), to_y(s, cx, cy)
    a, b = load_f64(s + MATRIX), load_f64(s + MATRIX + 8)
    c, d = load_f64(s + MATRIX + 16), load_f64(s + MATRIX + 24)
    ux, uy, vx, vy = a * ax + c * ay, b * ax + d * ay, a * bx + c * by, b * bx + d * by
    wide, high = square_root(ux * ux + vx * vx), square_root(uy * uy + vy * vy)
    if y + high <= load64(s + TOP) * 1.0 or y - high >= load64(s + BOTTOM) * 1.0:
        return out
    if x + wide <= load64(s + LEFT) * 1.0 or x - wide >= load64(s + RIGHT) * 1.0:
        return out
    j = corners(max(square_root(ux * ux + uy * uy), square_root(vx * vx + vy * vy)))
    table = load64(s + CIRCLE)
    factor = load_f64(table + FACTORS + j * 8)
    ux, uy, vx, vy = ux * factor, uy * factor, vx * factor, vy * factor
    if back:
        vx, vy = -vx, -vy
    step = (TURN >> (j + 4)) * 16
    room = (wide + high) * (factor - 1.0) + 1.0
    inside = x - wide >= room and y - high >= room
    if (
        inside
        and x + wide + room < load64(s + WIDTH) * 1.0
        and y + high + room < load64(s + HEIGHT) * 1.0
    ):
        return ring_edges(out, table + RINGS + ring_at(j), 16 << j, x, y, ux, uy, vx, vy)
    last_x, last_y, at = x + ux, y + uy, table + step
    for _ in range(16 << j):
        cos, sin = load_f64(at), load_f64(at + 8)
        next_x, next_y = x + cos * ux + sin * vx, y + cos * uy + sin * vy
        out = emit(s, out, last_x, last_y, next_x, next_y)
        last_x, last_y = next_x, next_y
        at = at + step if at + step < table + TURN * 16 else table
    return out
