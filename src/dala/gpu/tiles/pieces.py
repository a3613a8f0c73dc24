"""Pieces of a long row of drawing commands, gathered by several threads, and put into order again.

Functions of the rasteriser's language (raster/language.py). Nothing that changes is shared but the numbers
of the next piece and of the next blocks of memory.
"""

from __future__ import annotations

from dala.gpu.raster.ink.scratch import EDGES_BYTES
from dala.gpu.raster.layout import (
    ARENA,
    ARENA_AT,
    ARENA_BYTES,
    COPIED,
    EDGES,
    STATE_BYTES,
)
from dala.gpu.raster.protocol import behind
from dala.gpu.raster.words import copy_bytes, load8, load64, store64, take_next
from dala.gpu.tiles.gather import gather_command
from dala.gpu.tiles.layout import (
    ALONE,
    BINNED,
    CURSOR_BYTES,
    DONE,
    FIRST,
    INKED,
    LOOKED,
    MEMORY,
    MOST_BINNED,
    P_AT,
    P_BEGIN,
    P_BINNED,
    P_FIRST,
    P_INKED,
    P_LAST,
    P_STOP,
    PIECE_BYTES,
    PIECE_TABLE,
    PIECES,
    S_NEXT,
    STRETCH,
)
from dala.gpu.tiles.loops import NOTES
from dala.gpu.tiles.primitives import empty, end_stretch, next_stretch, open_stretch

# what threads share: the next piece, the cursor and the state behind which pieces go on, the commands
NEXT, CURSOR, STATE, COMMANDS = range(0, 32, 8)
BLOCK_WORDS = 4
# a thread's own memory: a cursor, a state, what is noted of a shape, its edges, geometry of paths
STATE_AT = (CURSOR_BYTES + 63) & -64
EDGES_AT = STATE_AT + ((STATE_BYTES + 63) & -64) + NOTES
ARENA_BEGIN = EDGES_AT + EDGES_BYTES
ROOM_ARENA = 1 << 18  # bytes; larger geometry is left to the canvas's own thread
ROOM_BYTES = ARENA_BEGIN + ROOM_ARENA


def gather_pieces(block: int, room: int) -> None:
    """Piece after piece, until there is none left; what all threads call at once (pool.py)."""
    cursor = load64(block + CURSOR)
    copy_bytes(room, cursor, CURSOR_BYTES)
    empty(room)
    store64(room + ALONE, 0)
    copy_bytes(room + STATE_AT, load64(block + STATE), load64(load64(block + STATE) + COPIED))
    use_room(room + STATE_AT, room)
    table, count = load64(load64(cursor + MEMORY) + PIECE_TABLE), load64(cursor + PIECES)
    number = take_next(block + NEXT)
    while number < count:
        gather_piece(room, room + STATE_AT, load64(block + COMMANDS), table + number * PIECE_BYTES)
        number = take_next(block + NEXT)


def use_room(s: int, room: int) -> None:
    """A state's scratch memory is the thread's own."""
    store64(s + EDGES, room + EDGES_AT)
    store64(s + ARENA, room + ARENA_BEGIN)
    store64(s + ARENA_BYTES, ROOM_ARENA)
    store64(s + ARENA_AT, 0)


def gather_piece(g: int, s: int, data: int, piece: int) -> None:
    at, stop = load64(piece + P_BEGIN), load64(piece + P_STOP)
    store64(g + BINNED, 0)
    store64(g + INKED, 0)
    store64(g + STRETCH, 0)
    store64(g + FIRST, 0)
    how = open_stretch(g)
    while at < stop and how == DONE:
        how = gather_command(g, s, data, at)
        if how == DONE:
            at = behind(s, load8(data + at), data, at)
    end_stretch(g)
    store64(piece + P_AT, at)
    store64(piece + P_FIRST, load64(g + FIRST))
    store64(piece + P_LAST, load64(g + STRETCH))
    store64(piece + P_BINNED, load64(g + BINNED))
    store64(piece + P_INKED, load64(g + INKED))


def join_pieces(g: int) -> int:
    """The stretches of all pieces, one after the other; the offset behind them. What comes behind a command
    that somebody else has to see to is left out, and so are pieces that would be too much for one dispatch:
    it is gathered again."""
    table, number, going, at = load64(load64(g + MEMORY) + PIECE_TABLE), 0, 1, 0
    while number < load64(g + PIECES):
        piece = table + number * PIECE_BYTES
        if going:
            at, going = load64(piece + P_BEGIN), is_little(g, piece)
        if going:
            at = load64(piece + P_AT)
            going = at == load64(piece + P_STOP)
            link(g, load64(piece + P_FIRST), load64(piece + P_LAST))
            store64(g + BINNED, load64(g + BINNED) + load64(piece + P_BINNED))
            store64(g + INKED, load64(g + INKED) | load64(piece + P_INKED))
        store64(g + LOOKED, load64(piece + P_STOP))
        number += 1
    next_stretch(g)  # there is one (have_room)
    return at


def is_little(g: int, piece: int) -> int:
    """Whether a piece can be painted together with what is there."""
    binned = load64(g + BINNED)
    return binned == 0 or binned + load64(piece + P_BINNED) <= MOST_BINNED


def link(g: int, first: int, last: int) -> None:
    """A piece's stretches behind those that are there."""
    if first:
        before = load64(g + STRETCH)
        if before:
            store64(before + S_NEXT, first)
        else:
            store64(g + FIRST, first)
        store64(g + STRETCH, last)


assert DONE == 1  # what opens a stretch says so, too
