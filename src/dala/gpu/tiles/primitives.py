"""Where primitives go: memory that all who gather share, block by block, and each primitive's first words.

Functions of the rasteriser's language (raster/language.py). ``g`` is the cursor of somebody who gathers
(layout.py). A cursor writes stretches of primitives and data: a stretch ends where one of its two blocks
does, or where somebody else goes on.
"""

from __future__ import annotations

from dala.gpu.raster.layout import BOTTOM, LEFT, RIGHT, TOP
from dala.gpu.raster.words import (
    load64,
    load_u32,
    store32,
    store64,
    take_next,
    take_some,
    udiv,
)
from dala.gpu.tiles.layout import (
    ACROSS,
    BIN,
    BINNED,
    BINS,
    BLOCK_PRIMS,
    BLOCK_WORDS,
    COUNTERS,
    COUNTS,
    DATA,
    DATA_AT,
    DATA_END,
    FIRST,
    MEMORY,
    MOST_BINNED,
    MOST_STRETCHES,
    NEXT_DATA,
    NEXT_PRIMS,
    NEXT_STRETCH,
    PRIM_BLOCKS,
    PRIM_BYTES,
    PRIM_COLOR,
    PRIM_FROM,
    PRIM_KIND,
    PRIM_OWN,
    PRIM_TO,
    PRIMS,
    PRIMS_AT,
    PRIMS_END,
    S_COUNT,
    S_COUNTS,
    S_NEXT,
    S_PRIMS,
    S_WORD_COUNT,
    S_WORDS,
    STRETCH,
    STRETCH_BYTES,
    STRETCHES,
    WANTED,
    WITHIN_BOTTOM,
    WITHIN_LEFT,
    WITHIN_RIGHT,
    WITHIN_TOP,
    WORD_BLOCKS,
    WORDS,
)

OWN_WORDS = 12
FEW = 4  # more primitives than most commands become

# -- memory ------------------------------------------------------------------------------------------


def has_room(g: int) -> int:
    """Whether a few primitives fit, if need be into another block, and may be painted with the others."""
    if load64(g + BINNED) >= MOST_BINNED:
        return 0
    return has_block(g)


def has_block(g: int) -> int:
    """Whether there is memory for a few primitives, if need be in another block."""
    if load64(g + PRIMS_END) - load64(g + PRIMS_AT) >= FEW * PRIM_BYTES:
        return 1
    number, memory = take_next(load64(g + MEMORY) + NEXT_PRIMS), load64(g + MEMORY)
    if number >= load64(memory + PRIM_BLOCKS):
        return 0
    stretch = take_next(memory + NEXT_STRETCH)
    if stretch >= MOST_STRETCHES:
        return 0
    end_stretch(g)
    begin = load64(memory + PRIMS) + number * BLOCK_PRIMS * PRIM_BYTES
    store64(g + PRIMS_AT, begin)
    store64(g + PRIMS_END, begin + BLOCK_PRIMS * PRIM_BYTES)
    return begin_stretch(g, stretch)


def has_words(g: int, words: int) -> int:
    """Whether so many words of data fit, if need be into other blocks."""
    words += 8  # two lists, each in whole vectors
    if load64(g + DATA_AT) + words <= load64(g + DATA_END):
        return 1
    memory, blocks = load64(g + MEMORY), udiv(words + BLOCK_WORDS - 1, BLOCK_WORDS)
    number = take_some(memory + NEXT_DATA, blocks)
    if number + blocks > load64(memory + WORD_BLOCKS):
        store64(g + WANTED, words)
        return 0
    stretch = take_next(memory + NEXT_STRETCH)
    if stretch >= MOST_STRETCHES:
        return 0
    end_stretch(g)
    store64(g + DATA, load64(memory + WORDS) + number * BLOCK_WORDS * 4)
    store64(g + DATA_AT, 0)
    store64(g + DATA_END, blocks * BLOCK_WORDS)
    return begin_stretch(g, stretch)


def forget(g: int) -> None:
    """Nothing is gathered; nobody else gathers now."""
    memory = load64(g + MEMORY)
    store64(memory + NEXT_STRETCH, 0)
    store64(memory + NEXT_PRIMS, 0)
    store64(memory + NEXT_DATA, 0)
    store64(g + BINNED, 0)
    empty(g)


def empty(g: int) -> None:
    """A cursor without stretches and without blocks."""
    store64(g + PRIMS_AT, 0)
    store64(g + PRIMS_END, 0)
    store64(g + DATA, 0)
    store64(g + DATA_AT, 0)
    store64(g + DATA_END, 0)
    store64(g + STRETCH, 0)
    store64(g + FIRST, 0)


# -- stretches ---------------------------------------------------------------------------------------


def open_stretch(g: int) -> int:
    """Go on in a stretch of its own; 0 if there is no room."""
    if load64(g + PRIMS_END) - load64(g + PRIMS_AT) >= FEW * PRIM_BYTES:
        return next_stretch(g)
    return has_room(g)


def next_stretch(g: int) -> int:
    """Go on in another stretch, with the same blocks; 0 if there is none."""
    number = take_next(load64(g + MEMORY) + NEXT_STRETCH)
    if number >= MOST_STRETCHES:
        return 0
    return begin_stretch(g, number)


def begin_stretch(g: int, number: int) -> int:
    """Go on in a stretch that was taken: before anything of the one at hand was changed."""
    memory, before = load64(g + MEMORY), load64(g + STRETCH)
    stretch, bins = load64(memory + STRETCHES) + number * STRETCH_BYTES, load64(memory + BINS)
    data = load64(g + DATA) + load64(g + DATA_AT) * 4
    counts = load64(memory + COUNTERS) + number * bins * 4
    for i in range(bins):
        store32(counts + i * 4, 0)
    store64(stretch + S_PRIMS, load64(g + PRIMS_AT))
    store64(stretch + S_COUNT, 0)
    store64(stretch + S_WORDS, data)
    store64(stretch + S_WORD_COUNT, 0)
    store64(stretch + S_COUNTS, counts)
    store64(stretch + S_NEXT, 0)
    store64(g + DATA_END, load64(g + DATA_END) - load64(g + DATA_AT))
    store64(g + DATA, data)
    store64(g + DATA_AT, 0)
    store64(g + COUNTS, counts)
    store64(g + STRETCH, stretch)
    if before:
        store64(before + S_NEXT, stretch)
    else:
        store64(g + FIRST, stretch)
    return 1


def end_stretch(g: int) -> None:
    """Note how much is in it, so far."""
    stretch = load64(g + STRETCH)
    if stretch:
        written = load64(g + PRIMS_AT) - load64(stretch + S_PRIMS)
        store64(stretch + S_COUNT, udiv(written, PRIM_BYTES))
        store64(stretch + S_WORD_COUNT, load64(g + DATA_AT))


# -- one primitive -----------------------------------------------------------------------------------


def put_primitive(
    g: int, kind: int, left: int, top: int, right: int, bottom: int, pixel: int
) -> int:
    """A primitive that touches so many pixels; where its own words go, or 0 if there is none."""
    at = put_head(g, kind, left, top, right, bottom, pixel)
    if at:
        for i in range(OWN_WORDS):  # what is sent does not depend on what was here
            store32(at + i * 4, 0)
    return at


def put_head(g: int, kind: int, left: int, top: int, right: int, bottom: int, pixel: int) -> int:
    """The same, with its own words as they are."""
    left, top = max(left, load64(g + WITHIN_LEFT)), max(top, load64(g + WITHIN_TOP))
    right, bottom = min(right, load64(g + WITHIN_RIGHT)), min(bottom, load64(g + WITHIN_BOTTOM))
    if left >= right or top >= bottom:
        return 0
    at = load64(g + PRIMS_AT)
    store64(g + PRIMS_AT, at + PRIM_BYTES)
    count_bins(g, left >> 7, top >> 7, (right - 1) >> 7, (bottom - 1) >> 7)
    store32(at + PRIM_KIND, kind)
    store32(at + PRIM_FROM, left | top << 16)
    store32(at + PRIM_TO, right | bottom << 16)
    store32(at + PRIM_COLOR, pixel)
    return at + PRIM_OWN


def count_bins(g: int, left: int, top: int, right: int, bottom: int) -> None:
    """Another primitive touches bins from one to another."""
    across, binned = load64(g + ACROSS) * 4, (right - left + 1) * (bottom - top + 1)
    row = load64(g + COUNTS) + top * across
    store64(g + BINNED, load64(g + BINNED) + binned)
    while top <= bottom:
        for x in range(left, right + 1):
            store32(row + x * 4, load_u32(row + x * 4) + 1)
        row += across
        top += 1


def put_clipped(
    g: int, s: int, kind: int, left: int, top: int, right: int, bottom: int, pixel: int
) -> int:
    """The same, within the clip."""
    left, top = max(left, load64(s + LEFT)), max(top, load64(s + TOP))
    right, bottom = min(right, load64(s + RIGHT)), min(bottom, load64(s + BOTTOM))
    return put_primitive(g, kind, left, top, right, bottom, pixel)


def take_words(g: int, words: int) -> None:
    """So many words of data are somebody's; whose begin where a vector of four can be read."""
    whole, at = (words + 3) & -4, data_at(g)
    for i in range(words, whole):
        store32(at + i * 4, 0)
    store64(g + DATA_AT, load64(g + DATA_AT) + whole)


def data_at(g: int) -> int:
    """The address where data goes next."""
    return load64(g + DATA) + load64(g + DATA_AT) * 4


assert BIN == 1 << 7
