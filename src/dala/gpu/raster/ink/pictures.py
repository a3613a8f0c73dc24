"""Sprites, images and patterns under any transform: their edges, and the way back from the surface.

Functions of the rasteriser's language (language.py). A sprite's or image's fields: where its anchor goes, a
matrix from its pixels to the user's coordinates, the anchor as a part of its size, its id, a tint, whether
the nearest pixel is taken (1) and whether the matrix is for the whole picture instead (2), and which part
of it is drawn (all, if that has no width).
"""

from __future__ import annotations

from dala.gpu.opcodes import Op
from dala.gpu.raster.ink.cells import fill_own
from dala.gpu.raster.ink.edges import emit, to_x, to_y
from dala.gpu.raster.ink.sampled import PAD
from dala.gpu.raster.ink.shades import ID_AT, NUMBERS_AT, PICTURE, SPREAD_AT, invert_to
from dala.gpu.raster.layout import (
    BOTTOM,
    EDGES,
    IMAGE_COUNT,
    IMAGES,
    MATRIX,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    PIXELS,
    SPRITE_COUNT,
    SPRITES,
    STRIDE,
    TOP,
)
from dala.gpu.raster.pictures import find_picture
from dala.gpu.raster.words import load8, load64, load_f32, load_f64, load_u32, store64

AT_X, AT_Y, AXIS_X, AXIS_Y, ANCHOR_X, ANCHOR_Y = 0, 4, 8, 16, 24, 28
PICTURE_ID, PICTURE_TINT, PICTURE_NEAREST, CROP_X, CROP_Y, CROP_W, CROP_H = (
    32,
    40,
    44,
    45,
    49,
    53,
    57,
)
# a picture as it is sampled, in scratch memory: where, its size, the way back from the surface, and how
SAMPLE_PIXELS, SAMPLE_STRIDE, SAMPLE_W, SAMPLE_H, SAMPLE_BACK = 0, 8, 16, 24, 32
SAMPLE_SPREAD, SAMPLE_NEAREST = 80, 88
SAMPLE_BYTES = 128


def ink_picture(s: int, op: int, p: int) -> int:
    """The record of a sprite or an image; 0 if it is unknown."""
    identity = load64(p + PICTURE_ID)
    if op == Op.DRAW_SPRITE:
        return find_picture(load64(s + SPRITES), load64(s + SPRITE_COUNT), identity)
    return find_picture(load64(s + IMAGES), load64(s + IMAGE_COUNT), identity)


def crop_left(picture: int, p: int) -> int:
    return min(load_u32(p + CROP_X), load64(picture + PICTURE_WIDTH))


def crop_top(picture: int, p: int) -> int:
    return min(load_u32(p + CROP_Y), load64(picture + PICTURE_HEIGHT))


def crop_width(picture: int, p: int) -> int:
    rest, wanted = load64(picture + PICTURE_WIDTH) - crop_left(picture, p), load_u32(p + CROP_W)
    return min(wanted, rest) if wanted > 0 else rest


def crop_height(picture: int, p: int) -> int:
    rest, wanted = load64(picture + PICTURE_HEIGHT) - crop_top(picture, p), load_u32(p + CROP_H)
    return min(wanted, rest) if wanted > 0 else rest


def per_pixel(p: int, size: int) -> float:
    """How much of the matrix's axis one of so many pixels is."""
    if load8(p + PICTURE_NEAREST) & 2:
        return 1.0 / size
    return 1.0


# A picture on the surface: where its first corner lies, and how far it is from there along its axes.


def corner_x(s: int, p: int, wide: float, high: float) -> float:
    return to_x(s, user(p, 0, wide, high), user(p, 4, wide, high))


def corner_y(s: int, p: int, wide: float, high: float) -> float:
    return to_y(s, user(p, 0, wide, high), user(p, 4, wide, high))


def user(p: int, axis: int, wide: float, high: float) -> float:
    """The same corner in the user's coordinates: its x (0) or its y (4)."""
    left, top = load_f32(p + ANCHOR_X) * wide, load_f32(p + ANCHOR_Y) * high
    moved = load_f32(p + AXIS_X + axis) * left + load_f32(p + AXIS_Y + axis) * top
    return load_f32(p + AT_X + axis) - moved


def across_x(s: int, p: int) -> float:
    a, c = load_f64(s + MATRIX), load_f64(s + MATRIX + 16)
    return a * load_f32(p + AXIS_X) + c * load_f32(p + AXIS_X + 4)


def across_y(s: int, p: int) -> float:
    b, d = load_f64(s + MATRIX + 8), load_f64(s + MATRIX + 24)
    return b * load_f32(p + AXIS_X) + d * load_f32(p + AXIS_X + 4)


def down_x(s: int, p: int) -> float:
    a, c = load_f64(s + MATRIX), load_f64(s + MATRIX + 16)
    return a * load_f32(p + AXIS_Y) + c * load_f32(p + AXIS_Y + 4)


def down_y(s: int, p: int) -> float:
    b, d = load_f64(s + MATRIX + 8), load_f64(s + MATRIX + 24)
    return b * load_f32(p + AXIS_Y) + d * load_f32(p + AXIS_Y + 4)


def draw_ink_picture(s: int, picture: int, p: int) -> None:
    """Its four sides, filled with it."""
    fill_own(s, load64(s + EDGES), picture_edges(s, picture, p), PICTURE, p, picture, 0)


def picture_edges(s: int, picture: int, p: int) -> int:
    """A picture's four sides; where they end."""
    edges = load64(s + EDGES)
    w, h = crop_width(picture, p), crop_height(picture, p)
    if w <= 0 or h <= 0:
        return edges
    wide, high = w * per_pixel(p, w), h * per_pixel(p, h)
    x0, y0 = corner_x(s, p, wide, high), corner_y(s, p, wide, high)
    ux, uy = across_x(s, p) * wide, across_y(s, p) * wide
    vx, vy = down_x(s, p) * high, down_y(s, p) * high
    x1, y1, x3, y3 = x0 + ux, y0 + uy, x0 + vx, y0 + vy
    x2, y2 = x1 + vx, y1 + vy
    if (
        min(min(y0, y1), min(y2, y3)) >= load64(s + BOTTOM) * 1.0
        or max(max(y0, y1), max(y2, y3)) <= load64(s + TOP) * 1.0
    ):
        return edges
    end = emit(s, edges, x0, y0, x1, y1)
    end = emit(s, end, x1, y1, x2, y2)
    end = emit(s, end, x2, y2, x3, y3)
    return emit(s, end, x3, y3, x0, y0)


def place_picture(s: int, p: int, place: int, picture: int) -> int:
    """How a sprite or an image is sampled; 0 if it has no area."""
    w, h = crop_width(picture, p), crop_height(picture, p)
    wide, high = w * per_pixel(p, w), h * per_pixel(p, h)
    x, y = corner_x(s, p, wide, high), corner_y(s, p, wide, high)
    return place_picture_at(s, p, place, picture, x, y)


def place_picture_at(s: int, p: int, place: int, picture: int, left: float, top: float) -> int:
    """The same where its first corner is known."""
    w, h = crop_width(picture, p), crop_height(picture, p)
    stride = load64(picture + STRIDE)
    store64(
        place + SAMPLE_PIXELS,
        load64(picture + PIXELS) + crop_top(picture, p) * stride + crop_left(picture, p) * 4,
    )
    store64(place + SAMPLE_STRIDE, stride)
    store64(place + SAMPLE_W, w)
    store64(place + SAMPLE_H, h)
    store64(place + SAMPLE_SPREAD, PAD)
    store64(place + SAMPLE_NEAREST, load8(p + PICTURE_NEAREST) & 1)
    x, y = per_pixel(p, w), per_pixel(p, h)
    return invert_to(
        place + SAMPLE_BACK, across_x(s, p) * x, across_y(s, p) * x, down_x(s, p) * y,
        down_y(s, p) * y, left, top,
    )  # fmt: skip


def place_pattern(s: int, paint: int, place: int) -> int:
    """The same for a paint: its six floats are a matrix from the image's pixels."""
    picture = find_picture(load64(s + IMAGES), load64(s + IMAGE_COUNT), load64(paint + ID_AT))
    store64(place + SAMPLE_PIXELS, load64(picture + PIXELS))
    store64(place + SAMPLE_STRIDE, load64(picture + STRIDE))
    store64(place + SAMPLE_W, load64(picture + PICTURE_WIDTH))
    store64(place + SAMPLE_H, load64(picture + PICTURE_HEIGHT))
    store64(place + SAMPLE_SPREAD, load8(paint + SPREAD_AT) & 3)
    store64(place + SAMPLE_NEAREST, load8(paint + SPREAD_AT) >> 2)
    m = paint + NUMBERS_AT
    return way_back(
        s, place, load_f32(m), load_f32(m + 4), load_f32(m + 8), load_f32(m + 12),
        load_f32(m + 16), load_f32(m + 20),
    )  # fmt: skip


def way_back(s: int, place: int, a: float, b: float, c: float, d: float, e: float, f: float) -> int:
    """The inverse of a matrix to the user's coordinates and on to the surface."""
    ma, mb = load_f64(s + MATRIX), load_f64(s + MATRIX + 8)
    mc, md = load_f64(s + MATRIX + 16), load_f64(s + MATRIX + 24)
    return invert_to(
        place + SAMPLE_BACK, ma * a + mc * b, mb * a + md * b, ma * c + mc * d, mb * c + md * d,
        ma * e + mc * f + load_f64(s + MATRIX + 32), mb * e + md * f + load_f64(s + MATRIX + 40),
    )  # fmt: skip
