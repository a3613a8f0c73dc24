"""How much of a row a layer covers: where it begins and ends, and where it is all there.

Functions of the rasteriser's language: ``sampled.cover``, pixel by pixel, for the edges alone.
"""

from __future__ import annotations

from dala.gpu.raster.words import load64, root, store64
from dala.scene.paint.cpu.lanes import store16
from dala.scene.paint.cpu.layout import (
    ALIGNED,
    CLIP_BOTTOM,
    CLIP_LEFT,
    CLIP_RIGHT,
    CLIP_TOP,
    CLIPPED,
    FROM_BOTTOM,
    FROM_LEFT,
    FROM_RIGHT,
    FROM_TOP,
    INNER_LEFT,
    INNER_RIGHT,
    OPACITY,
    OUTER_LEFT,
    OUTER_RIGHT,
    RADIUS,
    RAMP,
    RANGE_LEFT,
    RANGE_RIGHT,
)


def distance(affine: int, x: int, y: int) -> int:
    """In 1/256 pixels."""
    return (load64(affine) * x + load64(affine + 8) * y + load64(affine + 16)) >> 24


def slope(d: int, ramp: int) -> int:
    if ramp > 0:
        d = d * ramp >> 16
    return min(max(d + 128, 0), 256)


def cover_pixel(layer: int, x: int, y: int) -> int:
    """Coverage, clip and opacity of one pixel, of 256."""
    ramp, radius = load64(layer + RAMP), load64(layer + RADIUS)
    left, right = distance(layer + FROM_LEFT, x, y), distance(layer + FROM_RIGHT, x, y)
    top, bottom = distance(layer + FROM_TOP, x, y), distance(layer + FROM_BOTTOM, x, y)
    across = max(slope(left, ramp) + slope(right, ramp) - 256, 0)
    down = max(slope(top, ramp) + slope(bottom, ramp) - 256, 0)
    k = across * down + 128 >> 8
    dx, dy = radius - min(left, right), radius - min(top, bottom)
    if radius > 0 and dx > 0 and dy > 0:
        dx, dy = min(dx, 1 << 24), min(dy, 1 << 24)
        k = slope(radius - root(dx * dx + dy * dy), ramp)
    if ramp > 0:
        k = k * k * (768 - 2 * k) + 32768 >> 16
    if load64(layer + CLIPPED):
        k = k * clip_pixel(layer, x, y) + 128 >> 8
    return k * load64(layer + OPACITY) + 128 >> 8


def clip_pixel(layer: int, x: int, y: int) -> int:
    begin, end = load64(layer + CLIP_LEFT), load64(layer + CLIP_RIGHT)
    columns = max(min(x * 256 + 256, end) - max(x * 256, begin), 0)
    begin, end = load64(layer + CLIP_TOP), load64(layer + CLIP_BOTTOM)
    rows = max(min(y * 256 + 256, end) - max(y * 256, begin), 0)
    return columns * rows + 128 >> 8


def find_spans(layer: int, y: int, room: int) -> None:
    """Where the layer may be seen in a row, and within that where every pixel is covered alike.

    Both are rough by two pixels, to the safe side: the edges' pixels are computed one by one anyway.
    """
    left, right = load64(room + RANGE_LEFT), load64(room + RANGE_RIGHT)
    store64(room + OUTER_LEFT, left)
    store64(room + OUTER_RIGHT, right)
    store64(room + INNER_LEFT, left)
    store64(room + INNER_RIGHT, right)
    ramp, radius = load64(layer + RAMP), load64(layer + RADIUS)
    full = 128
    if ramp > 0:
        full = int(8388608.0 / ramp) + 256
    least = 0 - full
    if load64(layer + ALIGNED):
        top = distance(layer + FROM_TOP, left, y)
        if radius > 0 and min(top, distance(layer + FROM_BOTTOM, left, y)) < radius:
            full = max(full, radius)
    else:
        full = max(full, radius)
        narrow(layer + FROM_TOP, y, full, least, room)
        narrow(layer + FROM_BOTTOM, y, full, least, room)
    narrow(layer + FROM_LEFT, y, full, least, room)
    narrow(layer + FROM_RIGHT, y, full, least, room)
    if load64(layer + CLIPPED):
        store64(
            room + INNER_LEFT, max(load64(room + INNER_LEFT), (load64(layer + CLIP_LEFT) >> 8) + 1)
        )
        store64(
            room + INNER_RIGHT, min(load64(room + INNER_RIGHT), load64(layer + CLIP_RIGHT) >> 8)
        )
    begin, end = load64(room + OUTER_LEFT), load64(room + OUTER_RIGHT)
    if begin >= end:
        store64(room + OUTER_RIGHT, begin)
    if load64(room + INNER_LEFT) >= load64(room + INNER_RIGHT):
        store64(room + INNER_LEFT, load64(room + OUTER_RIGHT))
        store64(room + INNER_RIGHT, load64(room + OUTER_RIGHT))


def narrow(affine: int, y: int, full: int, least: int, room: int) -> None:
    """To where a distance reaches ``full`` (inner) and ``least`` (outer), both in 1/256 pixels."""
    slant = load64(affine)
    at = load64(affine + 8) * y + load64(affine + 16)
    if slant == 0:
        if at >> 24 < full:
            store64(room + INNER_RIGHT, 0)
        if at >> 24 <= least:
            store64(room + OUTER_RIGHT, load64(room + OUTER_LEFT))
        return
    inner = ((full << 24) - at) * 1.0 / (slant * 1.0)
    outer = ((least << 24) - at) * 1.0 / (slant * 1.0)
    inside = int(min(max(inner, -1000000.0), 1000000.0))
    outside = int(min(max(outer, -1000000.0), 1000000.0))
    if slant > 0:
        store64(room + INNER_LEFT, max(load64(room + INNER_LEFT), inside + 2))
        store64(room + OUTER_LEFT, max(load64(room + OUTER_LEFT), outside - 2))
    else:
        store64(room + INNER_RIGHT, min(load64(room + INNER_RIGHT), inside - 1))
        store64(room + OUTER_RIGHT, min(load64(room + OUTER_RIGHT), outside + 3))


def cover_span(layer: int, begin: int, end: int, y: int, to: int) -> None:
    """Pixels begin … end − 1 of a row, from ``to`` on."""
    for x in range(begin, end):
        store16(to + (x - begin) * 2, cover_pixel(layer, x, y))
