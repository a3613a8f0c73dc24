"""Strokes: what a pen of some width covers, as edges.

Functions of the rasteriser's language (language.py). Every piece of a line is a rectangle, every corner a
wedge on its outer side, every end a cap; all are wound the same way, so together (nonzero) they are the
stroke, and where they meet, what one lacks of a pixel the other has. All is computed in the user's
coordinates: a transform that squeezes a circle squeezes the pen as well.
"""

from __future__ import annotations

from dala.gpu.raster.ink.edges import emit_user
from dala.gpu.raster.layout import ARC_COS, ARC_SIN, HALF_WIDTH, MATRIX
from dala.gpu.raster.words import load_f64, magnitude, square_root, store_f64

BUTT, ROUND, SQUARE = 0, 1, 2
MITER, ROUND_JOIN, BEVEL = 0, 1, 2
MOST_PIECES = 256  # of an arc
ARC_ERROR = 0.02  # pixels
STRAIGHT = 1e-9  # a corner of less than that is none


def arc_step(s: int) -> None:
    """How far an arc of the pen goes in one piece: as a cosine and a sine."""
    scale = square_root(
        load_f64(s + MATRIX) * load_f64(s + MATRIX)
        + load_f64(s + MATRIX + 8) * load_f64(s + MATRIX + 8)
        + load_f64(s + MATRIX + 16) * load_f64(s + MATRIX + 16)
        + load_f64(s + MATRIX + 24) * load_f64(s + MATRIX + 24)
    )
    radius = max(load_f64(s + HALF_WIDTH) * scale * 0.7071, 1e-6)
    # a piece of angle t is off by radius · t² / 8; half a turn is 250 pieces at most
    cos = min(max(1.0 - 4.0 * ARC_ERROR / radius, 0.5), 0.99992)
    store_f64(s + ARC_COS, cos)
    store_f64(s + ARC_SIN, square_root(1.0 - cos * cos))


def cap_line(s: int, out: int, x0: float, y0: float, x1: float, y1: float, cap: int) -> int:
    """A line with both its caps."""
    dx, dy = x1 - x0, y1 - y0
    long = square_root(dx * dx + dy * dy)
    if long <= 0.0:
        return dot(s, out, x0, y0, cap)
    half = load_f64(s + HALF_WIDTH)
    ex, ey = dx * (half / long), dy * (half / long)
    if cap == SQUARE:
        return piece(s, out, x0 - ex, y0 - ey, x1 + ex, y1 + ey, -ey, ex)
    out = piece(s, out, x0, y0, x1, y1, -ey, ex)
    if cap == ROUND:
        out = arc(s, out, x0, y0, ey, -ex, -ey, ex)
        out = arc(s, out, x1, y1, -ey, ex, ey, -ex)
    return out


def dot(s: int, out: int, x: float, y: float, cap: int) -> int:
    """What a line without length leaves: its caps."""
    half = load_f64(s + HALF_WIDTH)
    if cap == SQUARE:
        return piece(s, out, x - half, y, x + half, y, 0.0, half)
    if cap == ROUND:
        out = arc(s, out, x, y, 0.0, -half, 0.0, half)
        out = arc(s, out, x, y, 0.0, half, 0.0, -half)
    return out


def piece(
    s: int, out: int, x0: float, y0: float, x1: float, y1: float, nx: float, ny: float
) -> int:
    """A rectangle from one point to another, (nx, ny) to either side."""
    out = emit_user(s, out, x0 + nx, y0 + ny, x1 + nx, y1 + ny)
    out = emit_user(s, out, x1 + nx, y1 + ny, x1 - nx, y1 - ny)
    out = emit_user(s, out, x1 - nx, y1 - ny, x0 - nx, y0 - ny)
    return emit_user(s, out, x0 - nx, y0 - ny, x0 + nx, y0 + ny)


def arc(s: int, out: int, x: float, y: float, ux: float, uy: float, vx: float, vy: float) -> int:
    """A sector about (x, y) from u clockwise (as rectangles are) to v, at most half a turn."""
    cos, sin = load_f64(s + ARC_COS), load_f64(s + ARC_SIN)
    enough = cos * (ux * ux + uy * uy)
    from_x, from_y, count = ux, uy, 0
    while ux * vx + uy * vy < enough and count < MOST_PIECES:
        next_x, next_y = cos * ux + sin * uy, cos * uy - sin * ux
        out = emit_user(s, out, x + ux, y + uy, x + next_x, y + next_y)
        ux, uy = next_x, next_y
        count += 1
    out = emit_user(s, out, x + ux, y + uy, x + vx, y + vy)
    out = emit_user(s, out, x + vx, y + vy, x, y)
    return emit_user(s, out, x, y, x + from_x, y + from_y)


def corner(
    s: int, out: int, x: float, y: float, nx: float, ny: float, mx: float, my: float,
    join: int, limit: float,
) -> int:  # fmt: skip
    """The wedge between two pieces with normals n and m that meet in (x, y)."""
    cross, along = nx * my - ny * mx, nx * mx + ny * my
    square = load_f64(s + HALF_WIDTH) * load_f64(s + HALF_WIDTH)
    if magnitude(cross) <= STRAIGHT * square and along > 0.0:
        return out
    # on the outer side, from a to b, clockwise
    ax, ay, bx, by = nx, ny, mx, my
    if cross > 0.0:
        ax, ay, bx, by = -mx, -my, -nx, -ny
    if join == ROUND_JOIN:
        return arc(s, out, x, y, ax, ay, bx, by)
    out = emit_user(s, out, x + bx, y + by, x, y)
    out = emit_user(s, out, x, y, x + ax, y + ay)
    # the tip is √(2 / (1 + cos)) half widths away
    if join == MITER and 2.0 * square <= limit * limit * (square + along):
        stretch = square / (square + along)
        tip_x, tip_y = x + (ax + bx) * stretch, y + (ay + by) * stretch
        out = emit_user(s, out, x + ax, y + ay, tip_x, tip_y)
        return emit_user(s, out, tip_x, tip_y, x + bx, y + by)
    return emit_user(s, out, x + ax, y + ay, x + bx, y + by)


def stroke_points(
    s: int, out: int, points: int, count: int, closed: int, join: int, cap: int, limit: float
) -> int:
    """Points joined by pieces; each is two floats."""
    end = points + count * 16
    first_x, first_y = load_f64(points), load_f64(points + 8)
    x, y, half = first_x, first_y, load_f64(s + HALF_WIDTH)
    start_x, start_y, nx, ny, pieces = 0.0, 0.0, 0.0, 0.0, 0
    at = points + 16
    while at < end + closed * 16:
        to_x, to_y = first_x, first_y
        if at < end:
            to_x, to_y = load_f64(at), load_f64(at + 8)
        dx, dy = to_x - x, to_y - y
        long = square_root(dx * dx + dy * dy)
        if long > 0.0:
            mx, my = -dy * (half / long), dx * (half / long)
            if pieces > 0:
                out = corner(s, out, x, y, nx, ny, mx, my, join, limit)
            else:
                start_x, start_y = mx, my
            out = piece(s, out, x, y, to_x, to_y, mx, my)
            nx, ny, pieces, x, y = mx, my, pieces + 1, to_x, to_y
        at += 16
    if pieces == 0:
        return dot(s, out, first_x, first_y, cap)
    if closed:
        return corner(s, out, first_x, first_y, nx, ny, start_x, start_y, join, limit)
    return caps(s, out, first_x, first_y, start_x, start_y, x, y, nx, ny, cap)


def caps(
    s: int, out: int, x0: float, y0: float, nx: float, ny: float, x1: float, y1: float,
    mx: float, my: float, cap: int,
) -> int:  # fmt: skip
    """Both ends of a line: at the first point, with the normal n, and at the last, with m."""
    if cap == ROUND:
        out = arc(s, out, x0, y0, -nx, -ny, nx, ny)
        out = arc(s, out, x1, y1, mx, my, -mx, -my)
    elif cap == SQUARE:
        out = piece(s, out, x0 - ny, y0 + nx, x0, y0, nx, ny)
        out = piece(s, out, x1, y1, x1 + my, y1 - mx, mx, my)
    return out


# -- dashes ------------------------------------------------------------------------------------------


def dash_points(
    s: int, out: int, points: int, count: int, closed: int, join: int, cap: int, limit: float,
    dashes: int, dash_count: int, offset: float, room: int,
) -> int:  # fmt: skip
    """The same, dashed: ``dashes`` are floats, ``room`` is for the points of one dash and two more."""
    number, left = 0, load_f64(dashes)
    while offset >= left:  # the offset is within one period
        offset -= left
        number = number + 1 if number + 1 < dash_count else 0
        left = load_f64(dashes + number * 8)
    left -= offset
    end = points + count * 16
    x, y, first_x, first_y = (
        load_f64(points),
        load_f64(points + 8),
        load_f64(points),
        load_f64(points + 8),
    )
    at, drawn = points + 16, 0
    if number & 1 == 0:
        drawn = add_point(room, 0, x, y)
    while at < end + closed * 16:
        to_x, to_y = first_x, first_y
        if at < end:
            to_x, to_y = load_f64(at), load_f64(at + 8)
        dx, dy = to_x - x, to_y - y
        long = square_root(dx * dx + dy * dy)
        while long > left:
            x, y = x + dx * (left / long), y + dy * (left / long)
            dx, dy, long = to_x - x, to_y - y, long - left
            if number & 1 == 0:
                drawn = add_point(room, drawn, x, y)
                out = stroke_points(s, out, room, drawn, 0, join, cap, limit)
                drawn = 0
            else:
                drawn = add_point(room, 0, x, y)
            number = number + 1 if number + 1 < dash_count else 0
            left = load_f64(dashes + number * 8)
        left -= long
        x, y = to_x, to_y
        if number & 1 == 0:
            drawn = add_point(room, drawn, x, y)
        at += 16
    if drawn > 1:
        out = stroke_points(s, out, room, drawn, 0, join, cap, limit)
    return out


def add_point(room: int, count: int, x: float, y: float) -> int:
    store_f64(room + count * 16, x)
    store_f64(room + count * 16 + 8, y)
    return count + 1


def length_of(points: int, count: int, closed: int) -> float:
    """How long a line of points is."""
    total, at, last = 0.0, points + 16, points + count * 16
    x, y = load_f64(points), load_f64(points + 8)
    first_x, first_y = x, y
    while at < last:
        dx, dy = load_f64(at) - x, load_f64(at + 8) - y
        total += square_root(dx * dx + dy * dy)
        x, y = load_f64(at), load_f64(at + 8)
        at += 16
    if closed:
        total += square_root((first_x - x) * (first_x - x) + (first_y - y) * (first_y - y))
    return total
