"""The same commands, painted by several threads: each paints bands of rows, and leaves the rest alone.

Functions of the rasteriser's language (language.py). Commands are not sorted into bands: every band walks
all of them, with the clip within its rows, and what lies outside is passed over in a few nanoseconds. So a
pixel is painted by the same commands in the same order, however many bands there are. Nothing that changes
is shared but the number of the next band: the state is copied for each, scratch memory is each thread's
own, and no vector reaches behind a band's border (rows.py).
"""

from __future__ import annotations

from dala.gpu.raster.forecast import foresee
from dala.gpu.raster.ink.scratch import begin_ink
from dala.gpu.raster.layout import (
    ARENA_AT,
    BAND_ROWS,
    BANDS,
    BEGIN,
    COPIED,
    DATA,
    DRAW_INK,
    END_ROW,
    FIRST_ROW,
    HEIGHT,
    NEXT,
    SCRATCH,
    STATE,
    STATE_BYTES,
    STOP,
    WORK,
)
from dala.gpu.raster.protocol import run, take_rows
from dala.gpu.raster.words import copy_bytes, load64, store64, take_next


def begin(s: int, data: int, at: int, end: int, after: int, room: int, least: int) -> int:
    """The offset where Python is needed, or ``end``; the state there, in ``after``.

    Less than the least work is done at once: then ``s`` is that state, too.
    """
    copy_bytes(after, s, load64(s + COPIED))
    if load64(s + DRAW_INK):
        store64(after + ARENA_AT, 0)
    stop = foresee(after, data, at, end)
    if load64(after + WORK) < least:
        paint_band(s, data, at, stop, 0, load64(s + HEIGHT), room)
        copy_bytes(s, after, load64(s + COPIED))
    return stop


def paint_band(s: int, data: int, at: int, stop: int, top: int, bottom: int, room: int) -> None:
    """Commands on rows top … bottom − 1, with a copy of the state: ``room`` is for that, and scratch."""
    copy_bytes(room, s, load64(s + COPIED))
    store64(room + SCRATCH, room + STATE_BYTES)
    if load64(s + DRAW_INK):
        begin_ink(room, room)
    take_rows(room, top, bottom)
    run(room, data, at, stop)


def paint_bands(block: int, room: int) -> None:
    """Band after band, until there is none left; what all threads call at once (pool.py)."""
    band = take_next(block + NEXT)
    while band < load64(block + BANDS):
        top = load64(block + FIRST_ROW) + band * load64(block + BAND_ROWS)
        bottom = min(top + load64(block + BAND_ROWS), load64(block + END_ROW))
        paint_band(
            load64(block + STATE), load64(block + DATA), load64(block + BEGIN),
            load64(block + STOP), top, bottom, room,
        )  # fmt: skip
        band = take_next(block + NEXT)
