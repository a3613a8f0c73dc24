"""Gradients, patterns and pictures as records for the shader.

Functions of the rasteriser's language (raster/language.py). A record says: kind and spread, where its
colours or pixels begin, the pixel for which its numbers hold; what lies there in the paint's own
coordinates, and how that changes from column to column and from row to row; then what the kind needs. All
of it is computed in 64 bits for a pixel of the shape itself. For gradients 32 are enough from there on;
pictures are sampled by whole numbers.
"""

from __future__ import annotations

from dala.gpu.raster.ink.pictures import (
    SAMPLE_BACK,
    SAMPLE_BYTES,
    SAMPLE_H,
    SAMPLE_NEAREST,
    SAMPLE_PIXELS,
    SAMPLE_SPREAD,
    SAMPLE_STRIDE,
    SAMPLE_W,
    crop_left,
    crop_top,
    place_pattern,
    place_picture_at,
)
from dala.gpu.raster.ink.sampled import REFLECT, REPEAT
from dala.gpu.raster.ink.shades import (
    LINEAR,
    NUMBERS_AT,
    PATTERN,
    PICTURE,
    RADIAL,
    SHADES_BYTES,
    SPREAD_AT,
    invert,
)
from dala.gpu.raster.layout import EDGES, PIXELS, STRIDE
from dala.gpu.raster.words import (
    copy_bytes,
    floor,
    load8,
    load64,
    load_f32,
    load_f64,
    magnitude,
    store32,
    store64,
    store_f32,
    truncate,
)
from dala.gpu.tiles.layout import NEAR, NEAR_PIXELS
from dala.gpu.tiles.loops import first_corner

RECORD_WORDS = 11
SAMPLED_WORDS = 16  # a picture's
PAINT_WORDS = SAMPLED_WORDS  # the longest, without colours
FARTHEST = 1073741824.0  # pixels of a picture: 2³⁰
NEAR_MOST = 1048576.0  # the same, of a picture whose places fit into 32 bits
MOST_PIXELS = 65536.0  # of a surface, across and down
SHADES_WORDS = SHADES_BYTES // 4


def place_paint(
    s: int, kind: int, paint: int, picture: int, shades: int, x: int, y: int, near: int, to: int
) -> int:
    """A record at ``to``; how many words it takes, or 0 if it paints nothing. A gradient's colours follow
    it. ``near`` is whether all pixels are few steps from (x, y)."""
    place = load64(s + EDGES) - 64 - SAMPLE_BYTES
    store32(to + 8, x | y << 16)
    if kind == PATTERN:
        if not place_pattern(s, paint, place):
            return 0
        store32(to + 4, load64(place + SAMPLE_PIXELS))
        return place_samples(place, x, y, 0, to)
    if kind == PICTURE:
        x0, y0 = load_f64(first_corner(s)), load_f64(first_corner(s) + 8)
        if not place_picture_at(s, paint, place, picture, x0, y0):
            return 0
        left = crop_top(picture, paint) * load64(picture + STRIDE) + crop_left(picture, paint)
        store32(to + 4, load64(picture + PIXELS) + left)
        return place_samples(place, x, y, near, to)
    if not invert(s, place):
        return 0
    store32(to, kind | load8(paint + SPREAD_AT) << 8)
    store32(to + 4, RECORD_WORDS)
    store64(to + 36, 0)
    place_gradient(kind, paint, place, x, y, to)
    copy_bytes(to + RECORD_WORDS * 4, shades, SHADES_BYTES)
    return RECORD_WORDS + SHADES_WORDS


def place_gradient(kind: int, paint: int, back: int, x: int, y: int, to: int) -> None:
    """``back`` is the matrix to the user's coordinates."""
    p0, p1 = load_f32(paint + NUMBERS_AT), load_f32(paint + NUMBERS_AT + 4)
    p2, p3 = load_f32(paint + NUMBERS_AT + 8), load_f32(paint + NUMBERS_AT + 12)
    a, b, c, d = load_f64(back), load_f64(back + 8), load_f64(back + 16), load_f64(back + 24)
    u = a * (x + 0.5) + c * (y + 0.5) + load_f64(back + 32) - p0
    v = b * (x + 0.5) + d * (y + 0.5) + load_f64(back + 40) - p1
    if kind == LINEAR:
        lx, ly = p2 - p0, p3 - p1
        square = lx * lx + ly * ly
        share = 1.0 / square if square > 0.0 else 0.0
        put_way(
            to, (u * lx + v * ly) * share, 0.0, (a * lx + b * ly) * share, 0.0,
            (c * lx + d * ly) * share, 0.0,
        )  # fmt: skip
    else:
        put_way(to, u, v, a, b, c, d)
        store_f32(to + 36, p2)
        if kind == RADIAL:
            store_f32(to + 40, 1.0 / (p3 - p2) if p3 != p2 else 0.0)


def put_way(to: int, u: float, v: float, ux: float, vx: float, uy: float, vy: float) -> None:
    store_f32(to + 12, u)
    store_f32(to + 16, v)
    store_f32(to + 20, ux)
    store_f32(to + 24, vx)
    store_f32(to + 28, uy)
    store_f32(to + 32, vy)


def place_samples(place: int, x: int, y: int, near: int, to: int) -> int:
    """A picture that is sampled. Where in it a pixel lies is a number with 32 bits before the point and 32
    behind: rounded from f32, one pixel in a thousand had another weight than on the CPU."""
    back, w, h = place + SAMPLE_BACK, load64(place + SAMPLE_W), load64(place + SAMPLE_H)
    a, b, c, d = load_f64(back), load_f64(back + 8), load_f64(back + 16), load_f64(back + 24)
    u = a * (x + 0.5) + c * (y + 0.5) + load_f64(back + 32) - 0.5
    v = b * (x + 0.5) + d * (y + 0.5) + load_f64(back + 40) - 0.5
    spread, nearest = load64(place + SAMPLE_SPREAD), load64(place + SAMPLE_NEAREST)
    if near and not nearest and is_near(u, a, c) and is_near(v, b, d):
        put_steps(to + 16, u, a, c)
        put_steps(to + 40, v, b, d)
        spread = NEAR
    elif spread == REPEAT:
        put_positions(to + 16, folded(u, w * 1.0), folded(a, w * 1.0), folded(c, w * 1.0))
        put_positions(to + 40, folded(v, h * 1.0), folded(b, h * 1.0), folded(d, h * 1.0))
    elif spread == REFLECT:
        put_positions(to + 16, folded(u, w * 2.0), folded(a, w * 2.0), folded(c, w * 2.0))
        put_positions(to + 40, folded(v, h * 2.0), folded(b, h * 2.0), folded(d, h * 2.0))
    else:
        share = nearness(u, a, c)
        put_positions(to + 16, u * share, a * share, c * share)
        share = nearness(v, b, d)
        put_positions(to + 40, v * share, b * share, d * share)
    store32(to, spread | nearest << 8 | load64(place + SAMPLE_STRIDE) << 16)
    store32(to + 12, w | h << 16)
    return SAMPLED_WORDS


def folded(u: float, size: float) -> float:
    """The same place in a picture that repeats: so do the steps from pixel to pixel."""
    return max(min(u - floor(u / size) * size, size), 0.0)


def nearness(u: float, across: float, down: float) -> float:
    """By how much numbers are made smaller that do not fit. Such a picture is smaller than a pixel, or so
    far away that none of it is seen; what is beside its border still is."""
    most = max(magnitude(u), MOST_PIXELS * max(magnitude(across), magnitude(down)))
    if most > FARTHEST:
        return FARTHEST / most
    return 1.0


def is_near(u: float, across: float, down: float) -> int:
    """Whether 32 bits hold such a place in 1/256 pixel, wherever in the shape."""
    return max(magnitude(u), NEAR_PIXELS * max(magnitude(across), magnitude(down))) < NEAR_MOST


def put_steps(to: int, first: float, across: float, down: float) -> None:
    """Numbers in 1/256 pixel, with 24 bits behind that; the first one is rounded by adding a half."""
    put_step(to, first + 0.5 / 256.0)
    put_step(to + 8, across)
    put_step(to + 16, down)


def put_step(to: int, u: float) -> None:
    whole = truncate(floor(u * 4294967296.0 + 0.5))
    store32(to, whole & 0xFFFFFF)
    store32(to + 4, whole >> 24)


def put_positions(to: int, first: float, across: float, down: float) -> None:
    put_fixed(to, first)
    put_fixed(to + 8, across)
    put_fixed(to + 16, down)


def put_fixed(to: int, u: float) -> None:
    store64(to, truncate(floor(max(min(u, FARTHEST), -FARTHEST) * 4294967296.0 + 0.5)))


assert PICTURE > PATTERN  # the shader samples from there on
