"""Sprites, drawn as they are, and images, scaled to a rectangle.

Functions of the rasteriser's language (language.py). A picture is a record (layout.py); tables of
them are sorted by id.

Scaling is bilinear about pixel centres, in steps of 1/256 pixel. Column i of w samples the source at
    f = ((2i + 1) · source_width · 128) div w − 128, held within 0 … 256 · (source_width − 1)
that is at pixel f div 256 with weight f mod 256 for the next one (sampling.py has the rest).
"""

from __future__ import annotations

from dala.gpu.raster.layout import (
    BACK,
    BORDER,
    BOTTOM,
    ID,
    LEFT,
    PICTURE_BYTES,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    PIXELS,
    REPLACE,
    RIGHT,
    ROOM,
    SCRATCH,
    STRIDE,
    TOP,
    WIDTH,
)
from dala.gpu.raster.rows import blend_pixels
from dala.gpu.raster.sampling import sample_row
from dala.gpu.raster.words import below, copy_bytes, load64, store32, udiv


def find_picture(table: int, count: int, identity: int) -> int:
    """The record of a picture, or 0; binary search among unsigned ids."""
    first, end = 0, count
    while first < end:
        middle = (first + end) >> 1
        if below(load64(table + middle * PICTURE_BYTES + ID), identity):
            first = middle + 1
        else:
            end = middle
    record = table + first * PICTURE_BYTES
    if first < count:  # noqa: SIM102  ("and" computes both: it would load behind the table)
        if load64(record + ID) == identity:
            return record
    return 0


def put(s: int, to: int, count: int, rows: int, source: int, source_step: int) -> None:
    """Rows of pixels onto the surface, blended or not."""
    step = load64(s + WIDTH) * 4
    if load64(s + REPLACE):
        for row in range(rows):
            copy_bytes(to + row * step, source + row * source_step, count * 4)
    else:
        blend_pixels(to, step, count, rows, load64(s + BORDER), source, source_step)


def blit(s: int, picture: int, x: int, y: int) -> None:
    """A picture, pixel for pixel, with its left top corner at (x, y)."""
    first, top = max(x, load64(s + LEFT)), max(y, load64(s + TOP))
    end = min(x + load64(picture + PICTURE_WIDTH), load64(s + RIGHT))
    bottom = min(y + load64(picture + PICTURE_HEIGHT), load64(s + BOTTOM))
    if first < end and top < bottom:
        to = load64(s + BACK) + (top * load64(s + WIDTH) + first) * 4
        stride = load64(picture + STRIDE)
        source = load64(picture + PIXELS) + (top - y) * stride + (first - x) * 4
        put(s, to, end - first, bottom - top, source, stride)


def draw_image(s: int, picture: int, x: int, y: int, w: int, h: int) -> None:
    """A picture, scaled to w × h pixels at (x, y)."""
    wide, high = load64(picture + PICTURE_WIDTH), load64(picture + PICTURE_HEIGHT)
    if w == wide and h == high:
        blit(s, picture, x, y)
        return
    first, end = max(x, load64(s + LEFT)), min(x + w, load64(s + RIGHT))
    top, bottom = max(y, load64(s + TOP)), min(y + h, load64(s + BOTTOM))
    if first >= end or top >= bottom:
        return
    sampled = load64(s + SCRATCH)  # a row of pixels; behind it the columns to sample
    columns = sampled + load64(s + WIDTH) * 4 + ROOM * 4
    for i in range(first, end):
        store32(columns + (i - first) * 4, sample_position(i - x, w, wide))
    for i in range(ROOM):
        store32(columns + (end - first + i) * 4, 0)
    for row in range(top, bottom):
        f = sample_position(row - y, h, high)
        upper = load64(picture + PIXELS) + (f >> 8) * load64(picture + STRIDE)
        lower = upper + (load64(picture + STRIDE) if (f >> 8) < high - 1 else 0)
        sample_row(sampled, end - first, columns, upper, lower, wide - 1, f & 255)
        to = load64(s + BACK) + (row * load64(s + WIDTH) + first) * 4
        put(s, to, end - first, 1, sampled, 0)


def sample_position(i: int, size: int, source_size: int) -> int:
    """Where pixel i of ``size`` lies in the source, in 1/256 pixel."""
    f = udiv((2 * i + 1) * source_size * 128, size) - 128
    return min(max(f, 0), 256 * (source_size - 1))
