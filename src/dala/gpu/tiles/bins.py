"""Primitives → bins: lists of those that touch each square of 128 pixels, in the order they are painted in.

A function of the rasteriser's language (raster/language.py). From its bin's list each tile takes what
touches it (tiles.wgsl): that is quicker on the GPU than here, and fewer bytes are sent.
"""

from __future__ import annotations

from dala.gpu.raster.words import load_u32, store32
from dala.gpu.tiles.layout import BIN, PRIM_BYTES, PRIM_FROM, PRIM_TO


def first_bin(corner: int) -> int:
    """Column and row of the bin that a primitive's first pixel lies in, as its corner holds them."""
    return (corner & 0xFFFF) >> 7 | (corner >> 23) << 16


def last_bin(corner: int) -> int:
    return ((corner & 0xFFFF) - 1) >> 7 | ((corner >> 16) - 1) >> 7 << 16


def sort_bins(prims: int, end: int, table: int, across: int, down: int) -> None:
    """Into ``table``: where each bin's list begins, and where the last one ends; then the lists."""
    count = across * down
    for i in range(count + 1):
        store32(table + i * 4, 0)
    at = prims
    while at < end:
        first, last = first_bin(load_u32(at + PRIM_FROM)), last_bin(load_u32(at + PRIM_TO))
        for y in range(first >> 16, (last >> 16) + 1):
            for x in range(first & 0xFFFF, (last & 0xFFFF) + 1):
                place = table + (y * across + x) * 4
                store32(place, load_u32(place) + 1)
        at += PRIM_BYTES
    begin = 0
    for i in range(count):  # how many there are → where they begin
        many = load_u32(table + i * 4)
        store32(table + i * 4, begin)
        begin += many
    fill_bins(prims, end, table, across, count)
    for i in range(count):  # each now says where it ends, which is where the next begins
        store32(table + (count - i) * 4, load_u32(table + (count - i - 1) * 4))
    store32(table, 0)


def fill_bins(prims: int, end: int, table: int, across: int, count: int) -> None:
    lists, number, at = table + (count + 1) * 4, 0, prims
    while at < end:
        first, last = first_bin(load_u32(at + PRIM_FROM)), last_bin(load_u32(at + PRIM_TO))
        for y in range(first >> 16, (last >> 16) + 1):
            for x in range(first & 0xFFFF, (last & 0xFFFF) + 1):
                place = table + (y * across + x) * 4
                where = load_u32(place)
                store32(lists + where * 4, number)
                store32(place, where + 1)
        number += 1
        at += PRIM_BYTES


assert BIN == 1 << 7
