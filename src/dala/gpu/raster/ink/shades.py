"""Gradients: a table of 1024 colours for each, and where on it every pixel of a row lies.

Functions of the rasteriser's language (language.py). A paint's fields: kind, spread, how many stops, a
colour (a tint, for pictures), six floats, a picture's id; then the stops, an offset and a colour each.
Colours between two stops are mixed with their alpha multiplied in, as in CSS.

    linear   x0 y0 x1 y1         how far along from the first point to the second
    radial   cx cy r0 r1         how far from the circle r0 to the circle r1
    conic    cx cy turn          how far round, clockwise from ``turn`` (in turns)
"""

from __future__ import annotations

from dala.gpu.raster.layout import MATRIX
from dala.gpu.raster.words import (
    floor,
    load8,
    load_f32,
    load_f64,
    load_u32,
    magnitude,
    square_root,
    store32,
    store_f64,
)

LINEAR, RADIAL, CONIC, PATTERN = range(1, 5)
PICTURE, MASK = 5, 6  # not on the wire: a sprite or an image; the mask of a layer
KIND_AT, SPREAD_AT, STOPS_AT, COLOR_AT, NUMBERS_AT, ID_AT, PAINT_BYTES = 0, 1, 2, 4, 8, 32, 40
SHADES = 1024
SHADES_BYTES = SHADES * 4
TURN = 6.283185307179586


def stop_count(paint: int) -> int:
    return load8(paint + STOPS_AT) | load8(paint + STOPS_AT + 1) << 8


def make_shades(paint: int, to: int) -> None:
    """The table: colour i is that at i / 1023. Stops are sorted, and there is at least one."""
    stop = paint + PAINT_BYTES
    last = stop + (stop_count(paint) - 1) * 8
    for i in range(SHADES):
        t = i * (1.0 / (SHADES - 1))
        while stop < last and t > next_offset(stop, last):
            stop += 8
        if stop == last or t <= load_f32(stop):
            store32(to + i * 4, load_u32(stop + 4))
        else:
            share = (t - load_f32(stop)) / (load_f32(stop + 8) - load_f32(stop))
            store32(to + i * 4, mix_stops(stop + 4, stop + 12, share))


def next_offset(stop: int, last: int) -> float:
    return load_f32(min(stop + 8, last))


def mix_stops(a: int, b: int, share: float) -> int:
    """Between two colours."""
    left, right = load8(a + 3) * (1.0 - share), load8(b + 3) * share
    alpha = left + right
    if alpha <= 0.0:
        return 0
    pixel = int(alpha + 0.5) << 24
    for c in range(3):
        level = (load8(a + c) * left + load8(b + c) * right) / alpha
        pixel = pixel | int(level + 0.5) << (c * 8)
    return pixel


# -- where a pixel lies ------------------------------------------------------------------------------


def invert(s: int, to: int) -> int:
    """The matrix from the surface back to the user's coordinates, six floats; 0 if there is none."""
    a, b = load_f64(s + MATRIX), load_f64(s + MATRIX + 8)
    c, d = load_f64(s + MATRIX + 16), load_f64(s + MATRIX + 24)
    e, f = load_f64(s + MATRIX + 32), load_f64(s + MATRIX + 40)
    return invert_to(to, a, b, c, d, e, f)


def invert_to(to: int, a: float, b: float, c: float, d: float, e: float, f: float) -> int:
    area = a * d - b * c
    if magnitude(area) < 1e-30:
        return 0
    share = 1.0 / area
    store_f64(to, d * share)
    store_f64(to + 8, -b * share)
    store_f64(to + 16, -c * share)
    store_f64(to + 24, a * share)
    store_f64(to + 32, (c * f - d * e) * share)
    store_f64(to + 40, (b * e - a * f) * share)
    return 1


def shade_row(paint: int, table: int, back: int, x: int, y: int, count: int, to: int) -> None:
    """Pixels of a gradient; ``back`` is the matrix to the user's coordinates."""
    kind, spread = load8(paint), load8(paint + SPREAD_AT)
    p0, p1 = load_f32(paint + NUMBERS_AT), load_f32(paint + NUMBERS_AT + 4)
    p2, p3 = load_f32(paint + NUMBERS_AT + 8), load_f32(paint + NUMBERS_AT + 12)
    dx, dy = load_f64(back), load_f64(back + 8)
    ux = dx * (x + 0.5) + load_f64(back + 16) * (y + 0.5) + load_f64(back + 32) - p0
    uy = dy * (x + 0.5) + load_f64(back + 24) * (y + 0.5) + load_f64(back + 40) - p1
    if kind == LINEAR:
        lx, ly = p2 - p0, p3 - p1
        square = lx * lx + ly * ly
        share = 1.0 / square if square > 0.0 else 0.0
        t, step = (ux * lx + uy * ly) * share, (dx * lx + dy * ly) * share
        for i in range(count):
            store32(to + i * 4, shade(table, t + step * i, spread))
    elif kind == RADIAL:
        share = 1.0 / (p3 - p2) if p3 != p2 else 0.0
        for i in range(count):
            vx, vy = ux + dx * i, uy + dy * i
            t = (square_root(vx * vx + vy * vy) - p2) * share
            store32(to + i * 4, shade(table, t, spread))
    else:
        for i in range(count):
            t = turn_of(ux + dx * i, uy + dy * i) - p2
            store32(to + i * 4, shade(table, t - floor(t), 0))


def shade(table: int, t: float, spread: int) -> int:
    if spread == 1:
        t = t - floor(t)
    elif spread == 2:
        half = t * 0.5
        t = magnitude(t - 2.0 * floor(half + 0.5))
    held = min(max(t, 0.0), 1.0)
    return load_u32(table + int(held * (SHADES - 1) + 0.5) * 4)


def turn_of(x: float, y: float) -> float:
    """The angle of a vector, in turns: −½ … ½. A polynomial, off by less than 2·10⁻⁶."""
    ax, ay = magnitude(x), magnitude(y)
    most = max(ax, ay)
    if most <= 0.0:
        return 0.0
    q = min(ax, ay) / most
    z = q * q
    a = 0.99997726 + z * (
        -0.33262347 + z * (0.19354346 + z * (-0.11643287 + z * (0.05265332 - z * 0.01172120)))
    )
    angle = q * a / TURN
    if ay > ax:
        angle = 0.25 - angle
    if x < 0.0:
        angle = 0.5 - angle
    return -angle if y < 0.0 else angle
