"""Shapes of many edges: lists of them for rows of tiles, each of which looks at its own.

Functions of the rasteriser's language (raster/language.py).
"""

from __future__ import annotations

from dala.gpu.raster.ink.edges import EDGE_BYTES
from dala.gpu.raster.ink.paths import HEAD_BYTES, REC_BOTTOM, REC_TOP
from dala.gpu.raster.words import copy_bytes, load64, load_s32, load_u32, store32, udiv
from dala.gpu.tiles.layout import BUCKETS, DATA_AT, REFERS, TILE
from dala.gpu.tiles.primitives import data_at, take_words

FEW = 64  # edges that every tile looks at; more are sorted by rows of tiles


def first_tile(y0: int, y1: int) -> int:
    return min(y0, y1) >> 13


def last_tile(y0: int, y1: int) -> int:
    return (max(y0, y1) - 1) >> 13


def bucket_words(record: int, count: int) -> int:
    """How many words lists for rows of tiles take; 0 if one list for all is as good."""
    top, bottom = load64(record + REC_TOP), load64(record + REC_BOTTOM)
    rows = udiv(bottom - 1, TILE) - udiv(top, TILE) + 1
    if count <= FEW or rows < 3:
        return 0
    total, at = 0, record + HEAD_BYTES
    end = at + count * EDGE_BYTES
    while at < end:
        y0, y1 = load_s32(at + 4), load_s32(at + 12)
        total += last_tile(y0, y1) - first_tile(y0, y1) + 1
        at += EDGE_BYTES
    if total > count * 8 + 65536:  # long ones: lists would be larger than is worth it
        return 0
    return total * 4 + table_words(rows)


def table_words(rows: int) -> int:
    """Of where the lists begin and end, as whole vectors."""
    return (rows + 4) & -4


def add_buckets(g: int, prim: int, record: int, count: int) -> None:
    """A table of where each row's list begins, then the lists."""
    first = udiv(load64(record + REC_TOP), TILE)
    rows = udiv(load64(record + REC_BOTTOM) - 1, TILE) - first + 1
    table, edges = data_at(g), record + HEAD_BYTES
    end = edges + count * EDGE_BYTES
    for row in range(table_words(rows)):
        store32(table + row * 4, 0)
    at = edges
    while at < end:
        y0, y1 = load_s32(at + 4), load_s32(at + 12)
        for row in range(first_tile(y0, y1) - first, last_tile(y0, y1) - first + 1):
            store32(table + row * 4, load_u32(table + row * 4) + 4)
        at += EDGE_BYTES
    begin = table_words(rows)
    for row in range(rows + 1):  # how many there are → where they begin
        words = load_u32(table + row * 4)
        store32(table + row * 4, begin)
        begin += words
    at = edges
    while at < end:
        y0, y1 = load_s32(at + 4), load_s32(at + 12)
        for row in range(first_tile(y0, y1) - first, last_tile(y0, y1) - first + 1):
            place = load_u32(table + row * 4)
            copy_bytes(table + place * 4, at, EDGE_BYTES)
            store32(table + row * 4, place + 4)
        at += EDGE_BYTES
    for i in range(rows):  # each now says where the next begins
        row = rows - i
        store32(table + row * 4, load_u32(table + row * 4 - 4))
    store32(table, table_words(rows))
    store32(prim, load64(g + DATA_AT))
    store32(prim + 4, rows)
    store32(prim + 8, first)
    store32(prim - 16, load_u32(prim - 16) | BUCKETS | REFERS)
    take_words(g, begin)
