"""What a row of a layer shows: reduced rows, then between two rows, then between two columns.

Functions of the rasteriser's language. A run's block and a thread's memory are as layout.py says.
"""

from __future__ import annotations

from dala.gpu.raster.words import load8, load64, store8, store64
from dala.scene.paint.cpu.lanes import load16, store16
from dala.scene.paint.cpu.layout import (
    COLUMNS,
    FRACTION,
    HEIGHT,
    KNOWN,
    LERPED_AT,
    LEVEL_X,
    LEVEL_Y,
    PIXELS,
    REDUCED_AT,
    REDUCED_STRIDE,
    ROWS,
    STRIDE,
    SUMS_AT,
    TAPS_AT,
    TAPS_STRIDE,
    WIDTH,
)
from dala.scene.paint.cpu.rows import (
    add_pairs,
    lerp_columns,
    lerp_halves,
    lerp_pixels,
    lerp_rows,
    lerp_taps,
    make_taps,
    round_sums,
    sum_rows,
)

ONE, HALF = 1 << 32, 1 << 31


def clamp(value: int, most: int) -> int:
    return min(max(value, 0), most)


def reduced_width(plane: int) -> int:
    level = load64(plane + LEVEL_X)
    return load64(plane + WIDTH) + (1 << level) - 1 >> level


def reduced_height(plane: int) -> int:
    level = load64(plane + LEVEL_Y)
    return load64(plane + HEIGHT) + (1 << level) - 1 >> level


def source_row(block: int, plane: int, number: int, row: int, room: int) -> int:
    """The address of a reduced row of the plane of that number."""
    if load64(plane + LEVEL_X) + load64(plane + LEVEL_Y) == 0:
        return load64(plane + PIXELS) + row * load64(plane + STRIDE)
    slot = number * 2 + (row & 1)
    at = room + load64(block + REDUCED_AT) + slot * load64(block + REDUCED_STRIDE)
    if load64(room + KNOWN + slot * 8) != row + 1:
        reduce_row(plane, row, at, room + load64(block + SUMS_AT))
        store64(room + KNOWN + slot * 8, row + 1)
    return at


def reduce_row(plane: int, row: int, to: int, sums: int) -> None:
    """Blocks of a plane of single values as their means."""
    level_x, level_y = load64(plane + LEVEL_X), load64(plane + LEVEL_Y)
    if level_x + level_y > 8:
        reduce_slowly(plane, row, to)
        return
    width, stride = load64(plane + WIDTH), load64(plane + STRIDE)
    first = row << level_y
    last = load64(plane + HEIGHT) - 1 - first
    sum_rows(sums, load64(plane + PIXELS) + first * stride, stride, 1 << level_y, last, width)
    count = reduced_width(plane)
    for i in range(width, count << level_x):
        store16(sums + i * 2, load16(sums + width * 2 - 2))
    for level in range(level_x):
        add_pairs(sums, count << (level_x - 1 - level))
    round_sums(to, sums, count, level_x + level_y)


def reduce_slowly(plane: int, row: int, to: int) -> None:
    """Where sums do not fit 16 bits."""
    level_x, level_y = load64(plane + LEVEL_X), load64(plane + LEVEL_Y)
    right, bottom = load64(plane + WIDTH) - 1, load64(plane + HEIGHT) - 1
    bits = level_x + level_y
    for i in range(reduced_width(plane)):
        total = 0
        for y in range(row << level_y, (row + 1) << level_y):
            at = load64(plane + PIXELS) + min(y, bottom) * load64(plane + STRIDE)
            for x in range(i << level_x, (i + 1) << level_x):
                total += load8(at + min(x, right))
        store8(to + i, total + (1 << (bits - 1)) >> bits)


def first_column(plane: int, left: int, right: int) -> int:
    """Of those that pixels left … right − 1 read."""
    step, at = load64(plane + COLUMNS), load64(plane + COLUMNS + 16)
    low = min(step * left + at, step * (right - 1) + at)
    return clamp(low >> 32, reduced_width(plane) - 1)


def last_column(plane: int, left: int, right: int) -> int:
    step, at = load64(plane + COLUMNS), load64(plane + COLUMNS + 16)
    high = max(step * left + at, step * (right - 1) + at)
    return clamp((high >> 32) + 1, reduced_width(plane) - 1)


def prepare_taps(block: int, plane: int, number: int, left: int, right: int, room: int) -> None:
    """Where the columns of a layer's rows are read, unless they are one or half a value apart."""
    step = load64(plane + COLUMNS)
    taps = room + load64(block + TAPS_AT) + number * 2 * load64(block + TAPS_STRIDE)
    low, high = first_column(plane, left, right), last_column(plane, left, right)
    begin = step * left + load64(plane + COLUMNS + 16)
    count = (right - left + 15) >> 4 << 4  # so that none of a vector leads anywhere
    make_taps(taps, taps + load64(block + TAPS_STRIDE), count, begin, step, low, high)


def lerp_down(
    block: int, plane: int, number: int, y: int, left: int, right: int, size: int, room: int
) -> int:
    """The columns that are read, between two rows, as 1/128 levels; with one more at either end."""
    at = load64(plane + ROWS + 8) * y + load64(plane + ROWS + 16)
    bottom = reduced_height(plane) - 1
    upper, lower = clamp(at >> 32, bottom), clamp((at >> 32) + 1, bottom)
    a = source_row(block, plane, number, upper, room)
    b = source_row(block, plane, number, lower, room)
    low, high = first_column(plane, left, right), last_column(plane, left, right)
    to = room + load64(block + LERPED_AT)
    count = (high - low + 1) * size
    lerp_rows(to, a + low * size, b + low * size, count, at >> 24 & 255)
    for i in range(size):
        store16(to - (size - i) * 2, load16(to + i * 2))
        store16(to + (count + i) * 2, load16(to + (count - size + i) * 2))
    return to


def sample_row(
    block: int, plane: int, number: int, y: int, left: int, right: int, to: int, room: int
) -> int:
    """The address of pixels left … right − 1 of a row of an upright plane: at ``to``, or where they are."""
    t = lerp_down(block, plane, number, y, left, right, 1, room)
    step = load64(plane + COLUMNS)
    begin = step * left + load64(plane + COLUMNS + 16)
    end = begin + step * (right - 1 - left)
    low, high = first_column(plane, left, right), last_column(plane, left, right)
    near = begin >> 32 >= low - 1 and end >> 32 <= high
    at = t + ((begin >> 32) - low) * 2
    f = begin >> 24 & 255
    if step == ONE and near:
        lerp_columns(to, at, right - left, 2, f)
        return to
    if step == HALF and near:
        odd = begin + step
        lerp_halves(to, at, t + ((odd >> 32) - low) * 2, right - left, f, odd >> 24 & 255)
        return to
    taps = room + load64(block + TAPS_AT) + min(number, 1) * 2 * load64(block + TAPS_STRIDE)
    lerp_taps(to, t, taps, taps + load64(block + TAPS_STRIDE), right - left)
    return to


def sample_pixel_row(
    block: int, plane: int, y: int, left: int, right: int, to: int, room: int
) -> int:
    """The same for pixels of four values; what remains to the next column is left in FRACTION."""
    t = lerp_down(block, plane, 0, y, left, right, 4, room)
    step = load64(plane + COLUMNS)
    begin = step * left + load64(plane + COLUMNS + 16)
    end = begin + step * (right - 1 - left)
    low, high = first_column(plane, left, right), last_column(plane, left, right)
    store64(room + FRACTION, 0)
    if step == ONE and begin >> 32 >= low - 1 and end >> 32 <= high:
        store64(room + FRACTION, begin >> 24 & 255)
        return t + ((begin >> 32) - low) * 8
    taps = room + load64(block + TAPS_AT)
    lerp_pixels(to, t, taps, taps + load64(block + TAPS_STRIDE), right - left)
    return to
