"""Shapes of few edges: four corners at most, which fit into the primitive itself.

Functions of the rasteriser's language (raster/language.py). Lines, triangles and turned pictures are such.
Edges without height were left out when they were made, as they have no area: so an edge may begin beside
where the one before ended, and both are corners. Of four corners on the surface no edges are made at all.
"""

from __future__ import annotations

from dala.gpu.raster.ink.edges import EDGE_BYTES, UNIT, to_x, to_y
from dala.gpu.raster.ink.pictures import (
    across_x,
    across_y,
    corner_x,
    corner_y,
    crop_height,
    crop_width,
    down_x,
    down_y,
    per_pixel,
)
from dala.gpu.raster.ink.strokes import ROUND, SQUARE
from dala.gpu.raster.layout import EDGES, HEIGHT, WIDTH
from dala.gpu.raster.words import (
    load8,
    load64,
    load_f32,
    load_s32,
    load_u32,
    square_root,
    store32,
    store_f64,
    truncate,
)

CORNERS = 4
LOOP_BYTES = CORNERS * 8
NOTES = 256  # bytes before the edges of one shape: what is computed for it
POINTS_AT = 9  # of a polygon: its size, its rule, its colour


def put_loop(own: int, edges: int, count: int) -> int:
    """The corners as a primitive's first words; 0 if they are too many, or do not close."""
    corners, at, end = 0, edges, edges + count * EDGE_BYTES
    while at < end:
        if corners > 0 and load_u32(own + corners * 8 - 4) != load_u32(at + 4):
            return 0
        corners = put_corner(own, put_corner(own, corners, at), at + 8)
        if corners > CORNERS + 1:
            return 0
        at += EDGE_BYTES
    last = own + corners * 8 - 8
    if load_u32(last + 4) != load_u32(own + 4):
        return 0
    if load_u32(last) == load_u32(own):
        corners -= 1
    if corners > CORNERS:
        return 0
    while corners < CORNERS:  # no edge: it ends where it begins
        copy_corner(own + corners * 8, own)
        corners += 1
    return 1


def put_corner(own: int, corners: int, at: int) -> int:
    """Another one, unless it is the last once more; how many there are."""
    to = own + corners * 8
    if corners > 0 and load_u32(to - 8) == load_u32(at) and load_u32(to - 4) == load_u32(at + 4):
        return corners
    copy_corner(to, at)
    return corners + 1


def fill_corners(own: int) -> None:
    """All of them in one place: no area."""
    for i in range(CORNERS):
        store32(own + i * 8, 0)
        store32(own + i * 8 + 4, 0)


def copy_corner(to: int, at: int) -> None:
    store32(to, load_u32(at))
    store32(to + 4, load_u32(at + 4))


# -- four corners on the surface: no edges are made ----------------------------------------------------


def place_line(s: int, p: int, to: int) -> int:
    """A line's corners (raster/ink/strokes.py, cap_line); 0 if it has others, or has to be clipped."""
    x0, y0, x1, y1 = load_f32(p), load_f32(p + 4), load_f32(p + 8), load_f32(p + 12)
    half, cap = load_f32(p + 16) * 0.5, load8(p + 20)
    dx, dy = x1 - x0, y1 - y0
    long = square_root(dx * dx + dy * dy)
    if cap == ROUND or long <= 0.0:
        return 0
    ex, ey = dx * (half / long), dy * (half / long)
    if cap == SQUARE:
        x0, y0, x1, y1 = x0 - ex, y0 - ey, x1 + ex, y1 + ey
    if not place_corner(s, to, x0 - ey, y0 + ex) or not place_corner(s, to + 8, x1 - ey, y1 + ex):
        return 0
    return place_corner(s, to + 16, x1 + ey, y1 - ex) and place_corner(s, to + 24, x0 + ey, y0 - ex)


def place_picture_corners(s: int, picture: int, p: int, to: int) -> int:
    """The same for a sprite or an image (raster/ink/pictures.py, picture_edges)."""
    w, h = crop_width(picture, p), crop_height(picture, p)
    if w <= 0 or h <= 0:
        return 0
    wide, high = w * per_pixel(p, w), h * per_pixel(p, h)
    x0, y0 = corner_x(s, p, wide, high), corner_y(s, p, wide, high)
    store_f64(first_corner(s), x0)
    store_f64(first_corner(s) + 8, y0)
    x1, y1 = x0 + across_x(s, p) * wide, y0 + across_y(s, p) * wide
    vx, vy = down_x(s, p) * high, down_y(s, p) * high
    if not put_point(s, to, x0, y0) or not put_point(s, to + 8, x1, y1):
        return 0
    return put_point(s, to + 16, x1 + vx, y1 + vy) and put_point(s, to + 24, x0 + vx, y0 + vy)


def first_corner(s: int) -> int:
    """Where a picture's first corner is noted, for whoever samples it."""
    return load64(s + EDGES) - NOTES


def place_polygon_corners(s: int, p: int, to: int) -> int:
    """The same for a polygon of three or four corners; ``p`` is where its size is."""
    size = load_u32(p)
    at, end = p + POINTS_AT, p + 4 + size
    if size > POINTS_AT - 4 + CORNERS * 8 or size < POINTS_AT - 4 + 24:
        return 0
    copied = to
    while at < end:
        if not place_corner(s, copied, load_f32(at), load_f32(at + 4)):
            return 0
        copied += 8
        at += 8
    if copied < to + LOOP_BYTES:
        copy_corner(copied, to)
    return 1


def place_corner(s: int, to: int, x: float, y: float) -> int:
    """One corner from the user's coordinates, as edges have it; 0 if it is not on the surface."""
    return put_point(s, to, to_x(s, x, y), to_y(s, x, y))


def put_point(s: int, to: int, across: float, down: float) -> int:
    """The same from the surface's."""
    if across >= 0.0 and down >= 0.0:  # noqa: SIM102  (one test after the other)
        if across <= load64(s + WIDTH) * 1.0 and down <= load64(s + HEIGHT) * 1.0:
            store32(to, truncate(across * UNIT + 0.5))
            store32(to + 4, truncate(down * UNIT + 0.5))
            return 1
    return 0


def least(loop: int) -> int:
    """Of one coordinate of all corners; ``loop`` is where the first one has it."""
    first = min(load_s32(loop), load_s32(loop + 8))
    return min(first, min(load_s32(loop + 16), load_s32(loop + 24)))


def most(loop: int) -> int:
    first = max(load_s32(loop), load_s32(loop + 8))
    return max(first, max(load_s32(loop + 16), load_s32(loop + 24)))
