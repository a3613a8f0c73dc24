"""Whole pictures reduced or multiplied by their alpha, in bands. Functions of the rasteriser's language.

For what is kept from frame to frame (pictures), and for layers that are rotated, which read rows in no
order.
"""

from __future__ import annotations

from dala.gpu.raster.words import load8, load64, store8, take_next
from dala.scene.paint.cpu.colors import multiply_alpha
from dala.scene.paint.cpu.lanes import load16, store16
from dala.scene.paint.cpu.layout import HEIGHT, LEVEL_X, LEVEL_Y, PIXELS, STRIDE, WIDTH
from dala.scene.paint.cpu.rows import add_pixel_pairs, round_sums, sum_rows
from dala.scene.paint.cpu.sampling import reduce_row, reduced_width

# a run: next row, how many, the plane's record, target and its stride, values of a pixel
NEXT, COUNT, PLANE, TARGET, TARGET_STRIDE, SIZE = range(0, 48, 8)


def reduce_bands(block: int, room: int) -> None:
    """Row after row of a reduced picture; ``room`` is for sums of a row."""
    plane = load64(block + PLANE)
    row = take_next(block + NEXT)
    while row < load64(block + COUNT):
        to = load64(block + TARGET) + row * load64(block + TARGET_STRIDE)
        if load64(block + SIZE) == 1:
            reduce_row(plane, row, to, room)
        else:
            reduce_pixels(plane, row, to, room)
        row = take_next(block + NEXT)


def reduce_pixels(plane: int, row: int, to: int, sums: int) -> None:
    """The same for pixels of four values."""
    level_x, level_y = load64(plane + LEVEL_X), load64(plane + LEVEL_Y)
    if level_x + level_y > 8:
        reduce_pixels_slowly(plane, row, to)
        return
    width, stride = load64(plane + WIDTH), load64(plane + STRIDE)
    first = row << level_y
    last = load64(plane + HEIGHT) - 1 - first
    sum_rows(sums, load64(plane + PIXELS) + first * stride, stride, 1 << level_y, last, width * 4)
    count = reduced_width(plane)
    for i in range(width * 4, (count << level_x) * 4):
        store16(sums + i * 2, load16(sums + (width * 4 - 4 + (i & 3)) * 2))
    for level in range(level_x):
        add_pixel_pairs(sums, (count << (level_x - 1 - level)) * 4)
    round_sums(to, sums, count * 4, level_x + level_y)


def reduce_pixels_slowly(plane: int, row: int, to: int) -> None:
    level_x, level_y = load64(plane + LEVEL_X), load64(plane + LEVEL_Y)
    right, bottom = load64(plane + WIDTH) - 1, load64(plane + HEIGHT) - 1
    bits = level_x + level_y
    for i in range(reduced_width(plane) * 4):
        total = 0
        for y in range(row << level_y, (row + 1) << level_y):
            at = load64(plane + PIXELS) + min(y, bottom) * load64(plane + STRIDE) + (i & 3)
            for x in range((i >> 2) << level_x, ((i >> 2) + 1) << level_x):
                total += load8(at + min(x, right) * 4)
        store8(to + i, total + (1 << (bits - 1)) >> bits)


def premultiply_bands(block: int, room: int) -> None:
    """Row after row of a picture multiplied by its alpha; the last few pixels of a row go one by one."""
    plane = load64(block + PLANE)
    width = load64(plane + WIDTH)
    row = take_next(block + NEXT)
    while row < load64(block + COUNT):
        at = load64(plane + PIXELS) + row * load64(plane + STRIDE)
        to = load64(block + TARGET) + row * load64(block + TARGET_STRIDE)
        vectors = width >> 3 << 3
        if vectors > 0:
            multiply_alpha(to, at, vectors)
        for i in range(vectors * 4, width * 4):
            level = load8(at + i)
            if (i & 3) != 3:
                product = level * load8(at + (i | 3)) + 128
                level = product + (product >> 8) >> 8
            store8(to + i, level)
        row = take_next(block + NEXT)
