"""Bands of rows, and in each every layer, row by row. Functions of the rasteriser's language.

A band's pixels stay in the cache while its layers are painted one upon another; a layer's tables and
reduced rows are its own while its rows are painted.
"""

from __future__ import annotations

from dala.gpu.raster.words import copy_bytes, load64, store64, take_next
from dala.scene.paint.cpu.blending import (
    blend_opaque,
    blend_sampled,
    blend_straight,
    cover_opaque,
    cover_sampled,
    cover_straight,
    fill_pixels,
    store_sampled,
)
from dala.scene.paint.cpu.colors import yuv_row
from dala.scene.paint.cpu.covering import cover_pixel, cover_span, find_spans
from dala.scene.paint.cpu.layout import (
    ALIGNED,
    BACKGROUND,
    BAND_AT,
    BAND_ROWS,
    BANDS,
    BASE,
    BLACK,
    BOTTOM,
    BOX_LEFT,
    BOX_RIGHT,
    CANVAS,
    CANVAS_STRIDE,
    COLOR,
    COLUMNS,
    COPIED,
    COVER_AT,
    END_ROW,
    FILL,
    FIRST_PLANE,
    FIRST_ROW,
    FRACTION,
    INNER_LEFT,
    INNER_RIGHT,
    KIND,
    KNOWN,
    LAYER_BYTES,
    LAYERS,
    LEFT,
    MODE,
    NEXT,
    OPAQUE,
    OUT_Y,
    OUTER_LEFT,
    OUTER_RIGHT,
    PIXELS,
    PIXELS_AT,
    PLANAR,
    PLANE_BYTES,
    RANGE_LEFT,
    RANGE_RIGHT,
    RIGHT,
    ROWS,
    SAMPLED,
    SAMPLES_AT,
    SAMPLES_STRIDE,
    SOLID,
    STRAIGHT,
    STRIDE,
    TABLE,
    TOP,
)
from dala.scene.paint.cpu.planes import emit_band, narrow_range
from dala.scene.paint.cpu.sampling import prepare_taps, sample_pixel_row, sample_row
from dala.scene.paint.cpu.turned import sample_pixels, sample_values


def paint_bands(block: int, room: int) -> None:
    """Band after band, until there is none left; what all threads call at once (pool.py)."""
    band = take_next(block + NEXT)
    while band < load64(block + BANDS):
        top = load64(block + FIRST_ROW) + band * load64(block + BAND_ROWS)
        paint_band(block, top, min(top + load64(block + BAND_ROWS), load64(block + END_ROW)), room)
        band = take_next(block + NEXT)


def paint_band(block: int, top: int, bottom: int, room: int) -> None:
    store64(room + BASE, load64(block + CANVAS))
    if load64(block + BAND_AT):  # then the band is only here, and goes on as planes
        first = room + load64(block + BAND_AT)
        store64(room + BASE, first - top * load64(block + CANVAS_STRIDE))
    if load64(block + FILL):
        begin = load64(block + BOX_LEFT)
        for y in range(top, bottom):
            to = canvas_at(block, room, begin, y)
            fill_pixels(to, load64(block + BOX_RIGHT) - begin, load64(block + BACKGROUND))
    for i in range(load64(block + LAYERS)):
        layer = load64(block + TABLE) + i * LAYER_BYTES
        store64(room + RANGE_LEFT, load64(layer + LEFT))
        store64(room + RANGE_RIGHT, load64(layer + RIGHT))
        if i == 0 and load64(block + COPIED):
            narrow_range(block, top, bottom, room)
        if load64(room + RANGE_LEFT) < load64(room + RANGE_RIGHT):
            paint_layer(block, layer, top, bottom, room)
    if load64(block + OUT_Y):
        emit_band(block, top, bottom, room)


def paint_layer(block: int, layer: int, top: int, bottom: int, room: int) -> None:
    first, last = max(top, load64(layer + TOP)), min(bottom, load64(layer + BOTTOM))
    if first >= last:
        return
    prepare(block, layer, room)
    for y in range(first, last):
        find_spans(layer, y, room)
        if load64(room + OUTER_LEFT) < load64(room + OUTER_RIGHT):
            paint_row(block, layer, y, room)


def prepare(block: int, layer: int, room: int) -> None:
    """What all rows of a layer need."""
    left, right = load64(room + RANGE_LEFT), load64(room + RANGE_RIGHT)
    kind = load64(layer + KIND)
    for i in range(6):
        store64(room + KNOWN + i * 8, 0)
    if kind == SOLID:
        fill_pixels(room + load64(block + PIXELS_AT), right - left, load64(layer + COLOR))
    if load64(layer + ALIGNED) and kind >= SAMPLED:
        prepare_taps(block, layer + FIRST_PLANE, 0, left, right, room)
        if kind == PLANAR:
            prepare_taps(block, layer + FIRST_PLANE + PLANE_BYTES, 1, left, right, room)


def paint_row(block: int, layer: int, y: int, room: int) -> None:
    kind = load64(layer + KIND)
    if kind == PLANAR:
        paint_planar(block, layer, y, room)
    elif kind == SAMPLED:
        paint_sampled(block, layer, y, room)
    else:
        paint_straight(block, layer, y, room)


def canvas_at(block: int, room: int, x: int, y: int) -> int:
    return load64(room + BASE) + y * load64(block + CANVAS_STRIDE) + x * 4


def edge(block: int, layer: int, begin: int, end: int, y: int, room: int) -> int:
    """The coverage of an edge's pixels."""
    to = room + load64(block + COVER_AT)
    cover_span(layer, begin, end, y, to)
    return to


# -- kinds of content --------------------------------------------------------------------------


def paint_straight(block: int, layer: int, y: int, room: int) -> None:
    """A colour, or a picture at a whole position."""
    pixels = room + load64(block + PIXELS_AT) - load64(room + RANGE_LEFT) * 4
    if load64(layer + KIND) == STRAIGHT:
        plane = layer + FIRST_PLANE
        row = y + (load64(plane + ROWS + 16) >> 32)
        at = load64(plane + PIXELS) + row * load64(plane + STRIDE)
        pixels = at + (load64(plane + COLUMNS + 16) >> 32) * 4
    begin, end = load64(room + OUTER_LEFT), load64(room + OUTER_RIGHT)
    inner, last = load64(room + INNER_LEFT), load64(room + INNER_RIGHT)
    if begin < inner:
        cover_row(block, layer, begin, inner, y, pixels + begin * 4, room)
    if inner < last:
        k = cover_pixel(layer, inner, y)
        blend_row(layer, canvas_at(block, room, inner, y), last - inner, pixels + inner * 4, k)
    if last < end:
        cover_row(block, layer, last, end, y, pixels + last * 4, room)


def is_opaque_picture(layer: int) -> int:
    return load64(layer + KIND) == STRAIGHT and load64(layer + OPAQUE)


def cover_row(block: int, layer: int, begin: int, end: int, y: int, pixels: int, room: int) -> None:
    to, mode = canvas_at(block, room, begin, y), load64(layer + MODE)
    cover = edge(block, layer, begin, end, y, room)
    if is_opaque_picture(layer):
        cover_opaque(to, end - begin, pixels, 0, cover, mode)
    else:
        cover_straight(to, end - begin, pixels, 0, cover, mode)


def blend_row(layer: int, to: int, count: int, pixels: int, k: int) -> None:
    mode = load64(layer + MODE)
    if k == 256 and mode == 0 and load64(layer + OPAQUE):
        copy_bytes(to, pixels, count * 4)
    elif is_opaque_picture(layer):
        blend_opaque(to, count, pixels, 0, k, mode)
    else:
        blend_straight(to, count, pixels, 0, k, mode)


def paint_sampled(block: int, layer: int, y: int, room: int) -> None:
    """A picture anywhere else, multiplied by its alpha."""
    plane, mode = layer + FIRST_PLANE, load64(layer + MODE)
    begin, end = load64(room + OUTER_LEFT), load64(room + OUTER_RIGHT)
    inner, last = load64(room + INNER_LEFT), load64(room + INNER_RIGHT)
    to = room + load64(block + SAMPLES_AT)
    if load64(layer + ALIGNED):
        left = load64(room + RANGE_LEFT)
        pixels = (
            sample_pixel_row(block, plane, y, left, load64(room + RANGE_RIGHT), to, room) - left * 8
        )
    else:
        sample_pixels(
            to,
            end - begin,
            plane,
            position(plane + COLUMNS, begin, y),
            position(plane + ROWS, begin, y),
        )
        store64(room + FRACTION, 0)
        pixels = to - begin * 8
    f = load64(room + FRACTION)
    if begin < inner:
        cover = edge(block, layer, begin, inner, y, room)
        cover_sampled(
            canvas_at(block, room, begin, y), inner - begin, pixels + begin * 8, f, cover, mode
        )
    if inner < last:
        k = cover_pixel(layer, inner, y)
        if k == 256 and mode == 0 and load64(layer + OPAQUE):
            store_sampled(canvas_at(block, room, inner, y), last - inner, pixels + inner * 8, f)
        else:
            blend_sampled(
                canvas_at(block, room, inner, y), last - inner, pixels + inner * 8, f, k, mode
            )
    if last < end:
        cover = edge(block, layer, last, end, y, room)
        cover_sampled(
            canvas_at(block, room, last, y), end - last, pixels + last * 8, f, cover, mode
        )


def position(affine: int, x: int, y: int) -> int:
    return load64(affine) * x + load64(affine + 8) * y + load64(affine + 16)


def paint_planar(block: int, layer: int, y: int, room: int) -> None:
    """A video's frame: Y, U and V each sampled for itself, then converted."""
    mode = load64(layer + MODE)
    begin, end = load64(room + OUTER_LEFT), load64(room + OUTER_RIGHT)
    inner, last = load64(room + INNER_LEFT), load64(room + INNER_RIGHT)
    if load64(layer + ALIGNED):
        begin_at = load64(room + RANGE_LEFT)
    else:
        begin_at = begin
    luma = sample_plane(block, layer, 0, y, room)
    blue = sample_plane(block, layer, 1, y, room)
    red = sample_plane(block, layer, 2, y, room)
    k = 0
    if inner < last:
        k = cover_pixel(layer, inner, y)
        at = (inner - begin_at) * 2
        if k == 256 and mode == 0:
            to = canvas_at(block, room, inner, y)
            yuv_row(to, luma + at, blue + at, red + at, last - inner, layer + BLACK)
    pixels = room + load64(block + PIXELS_AT)
    if begin < inner:
        at = (begin - begin_at) * 2
        yuv_row(pixels, luma + at, blue + at, red + at, inner - begin, layer + BLACK)
        cover = edge(block, layer, begin, inner, y, room)
        cover_opaque(canvas_at(block, room, begin, y), inner - begin, pixels, 0, cover, mode)
    if last < end:
        at = (last - begin_at) * 2
        yuv_row(pixels, luma + at, blue + at, red + at, end - last, layer + BLACK)
        cover = edge(block, layer, last, end, y, room)
        cover_opaque(canvas_at(block, room, last, y), end - last, pixels, 0, cover, mode)
    if inner < last and (k < 256 or mode > 0):
        at = (inner - begin_at) * 2
        yuv_row(pixels, luma + at, blue + at, red + at, last - inner, layer + BLACK)
        blend_opaque(canvas_at(block, room, inner, y), last - inner, pixels, 0, k, mode)


def sample_plane(block: int, layer: int, number: int, y: int, room: int) -> int:
    plane = layer + FIRST_PLANE + number * PLANE_BYTES
    to = room + load64(block + SAMPLES_AT) + number * load64(block + SAMPLES_STRIDE)
    if load64(layer + ALIGNED):
        left, right = load64(room + RANGE_LEFT), load64(room + RANGE_RIGHT)
        return sample_row(block, plane, number, y, left, right, to, room)
    begin, end = load64(room + OUTER_LEFT), load64(room + OUTER_RIGHT)
    u, v = position(plane + COLUMNS, begin, y), position(plane + ROWS, begin, y)
    sample_values(to, end - begin, plane, u, v)
    return to
