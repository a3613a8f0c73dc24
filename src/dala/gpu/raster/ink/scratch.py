"""What a thread needs for ink beside its copy of the state: cells, and the edges of one shape.

Functions of the rasteriser's language (language.py).
"""

from __future__ import annotations

from dala.gpu.raster.ink.cut import PIECES_BYTES
from dala.gpu.raster.layout import (
    ARENA_AT,
    CELL_COUNT,
    CELLS,
    EDGES,
    EMIT_LIMIT,
    ROOM,
    SCRATCH,
    STATE_BYTES,
    WIDTH,
)
from dala.gpu.raster.words import load64, store64

FEWEST_CELLS = 1 << 15  # what a core's second cache holds
NOTES = 512  # bytes before the cells: what is painted at the moment
EDGES_BYTES = (2 * 4096 + 64) * 16  # two circles, as fine as they get
BEHIND = 256  # bytes that a vector may read behind


def cell_count(width: int) -> int:
    return max(FEWEST_CELLS, 4 * (width + 4 * ROOM))


def ink_bytes(width: int) -> int:
    """How much memory a thread needs."""
    return NOTES + cell_count(width) * 4 + EDGES_BYTES + PIECES_BYTES + BEHIND


def begin_ink(s: int, room: int) -> None:
    """Take a thread's scratch memory for a band: behind the state and the rows of pixels."""
    wide = load64(s + WIDTH)
    cells = room + STATE_BYTES + (wide + ROOM) * 8 + NOTES
    store64(s + SCRATCH, room + STATE_BYTES)
    store64(s + CELLS, cells)
    store64(s + CELL_COUNT, cell_count(wide))
    for i in range(cell_count(wide) >> 1):
        store64(cells + i * 8, 0)
    store64(s + EDGES, cells + cell_count(wide) * 4)
    store64(s + EMIT_LIMIT, load64(s + EDGES) + EDGES_BYTES - 64)
    store64(s + ARENA_AT, 0)
