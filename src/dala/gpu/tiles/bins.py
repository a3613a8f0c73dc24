"""Primitives → bins: lists of those that touch each square of 128 pixels, in the order they are painted in.

Functions of the rasteriser's language (raster/language.py). From its bin's list each tile takes what
touches it (tiles.wgsl): that is quicker on the GPU than here, and fewer bytes are sent. Each stretch has
counted what it adds to each bin: so several threads can write lists, and put primitives and data behind one
another.
"""

from __future__ import annotations

from dala.gpu.raster.words import copy_bytes, load64, load_u32, store32, store64, take_next
from dala.gpu.tiles.layout import (
    BIN,
    BINS,
    FIRST,
    MEMORY,
    OWN_LAST,
    PRIM_BYTES,
    PRIM_FROM,
    PRIM_KIND,
    PRIM_OWN,
    PRIM_TO,
    REFERS,
    REFERS_LAST,
    S_COUNT,
    S_COUNTS,
    S_FIRST,
    S_FIRST_WORD,
    S_NEXT,
    S_PRIMS,
    S_WORD_COUNT,
    S_WORDS,
    TOTAL_PRIMS,
    TOTAL_WORDS,
)

# what threads share: the next stretch, how many, where they are listed; where all goes; bins in a row
NEXT, COUNT, ORDER, TO_PRIMS, TO_WORDS, LISTS, IN_ROW = range(0, 56, 8)
BLOCK_WORDS = 7


def order_stretches(g: int, order: int, table: int) -> int:
    """List the stretches, number their primitives and words, and write into ``table`` where each bin's list
    begins, and where the last one ends; how many there are."""
    memory, count, prims, words = load64(g + MEMORY), 0, 0, 0
    bins, stretch = load64(memory + BINS), load64(g + FIRST)
    for i in range(bins + 1):
        store32(table + i * 4, 0)
    while stretch:
        store64(order + count * 8, stretch)
        store64(stretch + S_FIRST, prims)
        store64(stretch + S_FIRST_WORD, words)
        prims += load64(stretch + S_COUNT)
        words += load64(stretch + S_WORD_COUNT)
        counts = load64(stretch + S_COUNTS)
        for i in range(bins):
            store32(table + i * 4, load_u32(table + i * 4) + load_u32(counts + i * 4))
        count += 1
        stretch = load64(stretch + S_NEXT)
    store64(memory + TOTAL_PRIMS, prims)
    store64(memory + TOTAL_WORDS, words)
    begin = 0
    for i in range(bins + 1):  # how many there are → where they begin
        many = load_u32(table + i * 4)
        store32(table + i * 4, begin)
        begin += many
    for number in range(count):
        share_lists(load64(order + number * 8), table, bins)
    for i in range(bins):  # each now says where it ends, which is where the next begins
        store32(table + (bins - i) * 4, load_u32(table + (bins - i - 1) * 4))
    store32(table, 0)
    return count


def share_lists(stretch: int, table: int, bins: int) -> None:
    """Where a stretch writes in each list, instead of how many it adds; the next one does so behind it."""
    counts = load64(stretch + S_COUNTS)
    for i in range(bins):
        begin, many = load_u32(table + i * 4), load_u32(counts + i * 4)
        store32(counts + i * 4, begin)
        store32(table + i * 4, begin + many)


def place_stretches(block: int, room: int) -> None:
    """Stretch after stretch, until there is none left; what all threads call at once (pool.py)."""
    number = take_next(block + NEXT)
    while number < load64(block + COUNT):
        stretch = load64(load64(block + ORDER) + number * 8)
        first, word = load64(stretch + S_FIRST), load64(stretch + S_FIRST_WORD)
        words = load64(stretch + S_WORD_COUNT) * 4
        copy_bytes(load64(block + TO_WORDS) + word * 4, load64(stretch + S_WORDS), words)
        begin, to = load64(stretch + S_PRIMS), load64(block + TO_PRIMS) + first * PRIM_BYTES
        end = begin + load64(stretch + S_COUNT) * PRIM_BYTES
        move_primitives(begin, end, to, word)
        list_primitives(
            begin, end, first, load64(stretch + S_COUNTS), load64(block + LISTS), load64(block + IN_ROW) * 4
        )  # fmt: skip
        number = take_next(block + NEXT)


def move_primitives(at: int, end: int, to: int, word: int) -> None:
    """Primitives, whose places in the data are counted from all data's first word from now on."""
    while at < end:
        copy_bytes(to, at, PRIM_BYTES)
        kind = load_u32(at + PRIM_KIND)
        if kind & REFERS:
            store32(to + PRIM_OWN, load_u32(at + PRIM_OWN) + word)
        if kind & REFERS_LAST:
            store32(to + PRIM_OWN + OWN_LAST, load_u32(at + PRIM_OWN + OWN_LAST) + word)
        at += PRIM_BYTES
        to += PRIM_BYTES


def list_primitives(at: int, end: int, number: int, places: int, lists: int, across: int) -> None:
    """Their numbers, into the list of each bin they touch."""
    while at < end:
        low, high = load_u32(at + PRIM_FROM), load_u32(at + PRIM_TO)
        left, right = (low & 0xFFFF) >> 7, ((high & 0xFFFF) - 1) >> 7
        row, last = places + (low >> 23) * across, places + (((high >> 16) - 1) >> 7) * across
        while row <= last:
            for x in range(left, right + 1):
                where = load_u32(row + x * 4)
                store32(lists + where * 4, number)
                store32(row + x * 4, where + 1)
            row += across
        number += 1
        at += PRIM_BYTES


assert BIN == 1 << 7
