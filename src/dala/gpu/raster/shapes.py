"""Rectangles, lines, circles and triangles as spans.

Functions of the rasteriser's language (language.py): integers of 64 bits, compiled. ``s`` is the
address of the canvas's state. Coordinates come from 32 bits, so sums and differences cannot overflow,
and products that could are unsigned and say why they fit.
"""

from __future__ import annotations

from dala.gpu.raster.layout import (
    BACK,
    BORDER,
    BOTTOM,
    HALVES,
    LEFT,
    REPLACE,
    RIGHT,
    SMALL,
    TOP,
    WIDTH,
)
from dala.gpu.raster.rows import blend_color, fill_row
from dala.gpu.raster.words import below, load8, load64, load_u32, root, store32, udiv


def is_solid(s: int, pixel: int) -> int:
    """Whether a colour simply replaces what is there."""
    return load64(s + REPLACE) != 0 or pixel >= 0xFF000000


def is_nothing(s: int, pixel: int) -> int:
    """Whether a colour changes nothing."""
    return load64(s + REPLACE) == 0 and pixel < 0x01000000


def misses(s: int, first: int, last: int) -> int:
    """Whether rows first … last are all outside the clip: said before anything is computed for them, as
    each thread looks at the commands of all bands."""
    return first >= load64(s + BOTTOM) or last < load64(s + TOP)


def paint(s: int, solid: int, y: int, first: int, end: int, pixel: int) -> None:
    """Pixels first … end − 1 of row y, which is inside the clip."""
    first = max(first, load64(s + LEFT))
    end = min(end, load64(s + RIGHT))
    if first < end:
        address = load64(s + BACK) + (y * load64(s + WIDTH) + first) * 4
        if solid:
            fill_row(address, end - first, pixel, load64(s + BORDER))
        elif end - first == 1:
            blend_one(s, address, pixel)
        else:
            blend_color(address, 0, end - first, 1, load64(s + BORDER), pixel)


def blend_one(s: int, at: int, pixel: int) -> None:
    """One pixel by the rule of rows.py. A vector here would wait for the one before: a load that
    overlaps with a store of another place has to wait for memory."""
    old = load_u32(at)
    a = pixel >> 24
    if old >= 0xFF000000:
        rb = (pixel & 0xFF00FF) * a + (old & 0xFF00FF) * (255 - a) + 0x7F007F
        g = (pixel >> 8 & 255) * a + (old >> 8 & 255) * (255 - a) + 127
        rb = (rb + 0x10001 + (rb >> 8 & 0xFF00FF)) >> 8 & 0xFF00FF
        store32(at, rb | (g + 1 + (g >> 8)) & 0xFF00 | 0xFF000000)
    else:
        blend_color(at, 0, 1, 1, load64(s + BORDER), pixel)


def fill_rect(s: int, x: int, y: int, w: int, h: int, pixel: int) -> None:
    first, end = max(x, load64(s + LEFT)), min(x + w, load64(s + RIGHT))
    top, bottom = max(y, load64(s + TOP)), min(y + h, load64(s + BOTTOM))
    if first >= end or top >= bottom or is_nothing(s, pixel):
        return
    solid = is_solid(s, pixel)
    if solid or end - first == 1:
        for row in range(top, bottom):
            paint(s, solid, row, first, end, pixel)
    else:
        step = load64(s + WIDTH) * 4
        at = load64(s + BACK) + top * step + first * 4
        blend_color(at, step, end - first, bottom - top, load64(s + BORDER), pixel)


# -- lines ---------------------------------------------------------------------------------------
#
# Bresenham: after i steps along the longer direction, a line has moved
#     m(i) = (i · minor + major div 2) div major
# along the shorter one; a tie goes on towards the end. i, minor ≤ major < 2³², so i · minor +
# major div 2 < 2⁶⁴. A long way outside the clip is not walked but computed, by inverting m.


def first_step(minor: int, major: int, reached: int) -> int:
    """The first step i with m(i) ≥ reached, for 0 ≤ reached ≤ minor."""
    wanted = reached * major
    start = udiv(major, 2)
    if not below(start, wanted):
        return 0
    return udiv(wanted - start + minor - 1, minor)


def draw_line(s: int, x1: int, y1: int, x2: int, y2: int, pixel: int, last: int) -> None:
    """From (x1, y1) to (x2, y2); the last pixel only if ``last``."""
    if misses(s, min(y1, y2), max(y1, y2)) or is_nothing(s, pixel):
        return
    left, right = load64(s + LEFT), load64(s + RIGHT) - 1
    top, bottom = load64(s + TOP), load64(s + BOTTOM) - 1
    step_x = 1 if x2 >= x1 else -1
    step_y = 1 if y2 >= y1 else -1
    wide, high = max(x2 - x1, x1 - x2), max(y2 - y1, y1 - y2)
    row = load64(s + WIDTH) * 4
    # as if it went right and down: how far the clip is from the start, in steps
    if step_x < 0:
        left, right = x1 - right, x1 - left
    else:
        left, right = left - x1, right - x1
    if step_y < 0:
        top, bottom = y1 - bottom, y1 - top
    else:
        top, bottom = top - y1, bottom - y1
    start = load64(s + BACK) + y1 * row + x1 * 4
    if wide >= high:
        walk(s, start, step_x * 4, step_y * row, wide, high, left, right, top, bottom, pixel, last)
    else:
        walk(s, start, step_y * row, step_x * 4, high, wide, top, bottom, left, right, pixel, last)


def walk(
    s: int, at: int, step: int, aside: int, major: int, minor: int,
    low: int, high: int, least: int, most: int, pixel: int, last: int,
) -> None:  # fmt: skip
    """A line of ``major`` steps (in bytes), those with low ≤ i ≤ high and least ≤ m(i) ≤ most.

    ``at`` is the address its first pixel would have, were the memory endless.
    """
    begin, end = max(low, 0), min(high, major - 1 + last)
    if least > minor or most < 0:
        return
    if least > 0:
        begin = max(begin, first_step(minor, major, least))
    if most < minor:
        end = min(end, first_step(minor, major, most + 1) - 1)
    if begin > end:
        return
    moved, error = 0, udiv(major, 2)
    if begin > 0:
        moved = udiv(begin * minor + error, major)
        error = begin * minor + error - moved * major
    at += begin * step + moved * aside
    if is_solid(s, pixel):
        for _ in range(begin, end + 1):
            store32(at, pixel)
            error += minor
            over = -(error >= major)  # all ones or zero: no branch to be mispredicted
            at += step + (aside & over)
            error -= major & over
    else:
        for _ in range(begin, end + 1):
            blend_one(s, at, pixel)
            error += minor
            over = -(error >= major)  # all ones or zero: no branch to be mispredicted
            at += step + (aside & over)
            error -= major & over


def draw_triangle(s: int, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, pixel: int) -> None:
    """Three lines, each without its last pixel: corners are painted once. A point is a pixel."""
    if x1 == x2 and x2 == x3 and y1 == y2 and y2 == y3:
        draw_line(s, x1, y1, x1, y1, pixel, 1)
    else:
        draw_line(s, x1, y1, x2, y2, pixel, 0)
        draw_line(s, x2, y2, x3, y3, pixel, 0)
        draw_line(s, x3, y3, x1, y1, pixel, 0)


# -- circles -------------------------------------------------------------------------------------
#
# The midpoint circle: with a the smaller and b the larger of |dx| and |dy|, a pixel belongs to the disc
# if a² + (b − ½)² < r², which is a² + b² − b < r². A radius of 0 is one pixel. The outline is what the
# midpoint algorithm plots: in each row the pixels that stick out over the row further away.


def half_width(s: int, radius: int, dy: int) -> int:
    """The largest dx in row dy of the disc, for 0 ≤ dy ≤ radius; below zero for dy > radius."""
    if dy > radius:
        return -1
    if radius < SMALL:
        return load8(load64(s + HALVES) + radius * SMALL + dy)
    return compute_half_width(radius, dy)


def compute_half_width(radius: int, dy: int) -> int:
    if radius == 0:
        return 0
    room = radius * radius - dy * dy  # below 2⁶⁴, as radius < 2³²
    if below(dy * dy - dy, room):  # the diagonal is inside: dx ≥ dy
        r = root(room)
        return r + below(r * (r + 1), room)
    return root(room + dy - 1)


def fill_circle(s: int, cx: int, cy: int, radius: int, pixel: int) -> None:
    if not misses(s, cy - radius, cy + radius):
        fill_half_disc(s, cx, cx, cy, -1, 0, radius, pixel)
        fill_half_disc(s, cx, cx, cy, 1, 1, radius, pixel)


def draw_circle(s: int, cx: int, cy: int, radius: int, pixel: int) -> None:
    if not misses(s, cy - radius, cy + radius):
        draw_half_disc(s, cx, cx, cy, -1, 0, radius, pixel)
        draw_half_disc(s, cx, cx, cy, 1, 1, radius, pixel)


def first_row(s: int, y: int, way: int) -> int:
    """How many rows from y, going up (way −1) or down (1), the clip begins."""
    return load64(s + TOP) - y if way > 0 else y - load64(s + BOTTOM) + 1


def last_row(s: int, y: int, way: int) -> int:
    """How many rows from y the clip's last row is."""
    return load64(s + BOTTOM) - 1 - y if way > 0 else y - load64(s + TOP)


def fill_half_disc(
    s: int, left: int, right: int, y: int, way: int, begin: int, radius: int, pixel: int
) -> None:
    """The rows of a disc from its middle row y upwards (way −1) or downwards (1), the first ``begin``
    rows left out. It is cut in two and drawn apart, from column ``left`` to column ``right``."""
    if is_nothing(s, pixel):
        return
    if left - radius >= load64(s + RIGHT) or right + radius < load64(s + LEFT):
        return
    solid = is_solid(s, pixel)
    end = min(radius, last_row(s, y, way))
    for dy in range(max(begin, first_row(s, y, way)), end + 1):
        half = half_width(s, radius, dy)
        paint(s, solid, y + way * dy, left - half, right + half + 1, pixel)


def draw_half_disc(
    s: int, left: int, right: int, y: int, way: int, begin: int, radius: int, pixel: int
) -> None:
    """The outline of the same."""
    if is_nothing(s, pixel):
        return
    if left - radius >= load64(s + RIGHT) or right + radius < load64(s + LEFT):
        return
    solid = is_solid(s, pixel)
    first, end = max(begin, first_row(s, y, way)), min(radius, last_row(s, y, way))
    half = half_width(s, radius, first)
    for dy in range(first, end + 1):
        beyond = half_width(s, radius, dy + 1)
        inner = min(half, beyond + 1)
        row = y + way * dy
        if inner == 0:  # the outermost row is one piece
            paint(s, solid, row, left - half, right + half + 1, pixel)
        else:
            paint(s, solid, row, left - half, left - inner + 1, pixel)
            paint(s, solid, row, right + inner, right + half + 1, pixel)
        half = beyond


# -- rounded rectangles: two halves of a circle, drawn apart ---------------------------------------


def corner_radius(w: int, h: int, radius: int) -> int:
    """As large as the sides allow: corners are whole circles about a pixel."""
    return min(radius, udiv(min(w, h) - 1, 2))


def fill_round_rect(s: int, x: int, y: int, w: int, h: int, radius: int, pixel: int) -> None:
    if w > 0 and h > 0 and not misses(s, y, y + h - 1):
        r = corner_radius(w, h, radius)
        left, right = x + r, x + w - 1 - r
        fill_half_disc(s, left, right, y + r, -1, 1, r, pixel)
        fill_rect(s, x, y + r, w, h - 2 * r, pixel)
        fill_half_disc(s, left, right, y + h - 1 - r, 1, 1, r, pixel)


def draw_round_rect(s: int, x: int, y: int, w: int, h: int, radius: int, pixel: int) -> None:
    if w > 0 and h > 0 and not misses(s, y, y + h - 1):
        r = corner_radius(w, h, radius)
        left, right, lower = x + r, x + w - 1 - r, y + h - 1 - r
        draw_half_disc(s, left, right, y + r, -1, 0, r, pixel)
        draw_half_disc(s, left, right, lower, 1, lower == y + r, r, pixel)
        fill_rect(s, x, y + r + 1, 1, h - 2 * r - 2, pixel)
        if w > 1:
            fill_rect(s, x + w - 1, y + r + 1, 1, h - 2 * r - 2, pixel)


# -- triangles -----------------------------------------------------------------------------------
#
# A pixel belongs to a triangle if its centre does; centres on an edge belong to it if it is a left or a
# top edge. So in row y it is ceil(left) … ceil(right) − 1, rows from the top corner to the one before the
# bottom corner, and triangles that share an edge share no pixel.


def crossing(x1: int, y1: int, x2: int, y2: int, y: int) -> int:
    """The first whole x not left of the edge from (x1, y1) down to (x2, y2) in row y1 ≤ y ≤ y2.

    The slope is split into its whole part and a rest below the height: rows · rest < 2⁶⁴.
    """
    high, wide, rows = y2 - y1, x2 - x1, y - y1
    if wide >= 0:
        whole = udiv(wide, high)
        rest = wide - whole * high
        return x1 + rows * whole + udiv_up(rows * rest, high)
    whole = udiv(-wide, high)
    rest = -wide - whole * high
    return x1 - rows * whole - udiv(rows * rest, high)


def udiv_up(a: int, b: int) -> int:
    quotient = udiv(a, b)
    return quotient + below(quotient * b, a)


def fill_triangle(s: int, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, pixel: int) -> None:
    if misses(s, min(y1, min(y2, y3)), max(y1, max(y2, y3))) or is_nothing(s, pixel):
        return
    if y2 < y1:
        x1, y1, x2, y2 = x2, y2, x1, y1
    if y3 < y1:
        x1, y1, x3, y3 = x3, y3, x1, y1
    if y3 < y2:
        x2, y2, x3, y3 = x3, y3, x2, y2
    solid = is_solid(s, pixel)
    top, bottom = load64(s + TOP), load64(s + BOTTOM)
    for y in range(max(y1, top), min(y2, bottom)):
        a, b = crossing(x1, y1, x3, y3, y), crossing(x1, y1, x2, y2, y)
        paint(s, solid, y, min(a, b), max(a, b), pixel)
    for y in range(max(y2, top), min(y3, bottom)):
        a, b = crossing(x1, y1, x3, y3, y), crossing(x2, y2, x3, y3, y)
        paint(s, solid, y, min(a, b), max(a, b), pixel)
