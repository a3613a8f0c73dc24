"""Commands → primitives, for a GPU: the walk, by one thread or by several.

Functions of the rasteriser's language (raster/language.py). ``s`` is the canvas's state (raster/layout.py),
``g`` the cursor of who gathers (layout.py). Drawing changes nothing that later commands depend on, so a
long row of such commands is cut into pieces, which several threads gather, each with a state and a cursor
of its own. Their stretches are put into the order of the commands: the bytes that are sent are the same.
"""

from __future__ import annotations

from dala.gpu.opcodes import INK, Op
from dala.gpu.raster.forecast import survey
from dala.gpu.raster.ink.layers import open_entry
from dala.gpu.raster.layout import (
    DRAW_INK,
    HEIGHT,
    LAYERS,
    OPEN_BOTTOM,
    OPEN_LEFT,
    OPEN_RIGHT,
    OPEN_TOP,
    STALE,
    WIDTH,
)
from dala.gpu.raster.protocol import DRAWS, PLAIN, behind, change_clip, take_rows
from dala.gpu.raster.words import call_at, load8, load64, load_u32, store64
from dala.gpu.tiles.layout import (
    BINNED,
    BLOCK_PRIMS,
    COPY,
    DONE,
    FILL,
    FOUND,
    FULL,
    LOOKED,
    MEMORY,
    MOST_PIECES,
    MOST_STRETCHES,
    NEXT_DATA,
    NEXT_PRIMS,
    NEXT_STRETCH,
    NO_ROOM,
    P_BEGIN,
    P_STOP,
    PIECE_BYTES,
    PIECE_TABLE,
    PIECES,
    PRIM_BLOCKS,
    PYTHON,
    RECT,
    SAFE,
    SOLID,
    START,
    START_COLOR,
    THREADS,
    WANTED,
    WITHIN_BOTTOM,
    WITHIN_LEFT,
    WITHIN_RIGHT,
    WITHIN_TOP,
    WORD_BLOCKS,
)
from dala.gpu.tiles.plain import add
from dala.gpu.tiles.primitives import end_stretch, forget, has_room, put_primitive

PIECE_COMMANDS = BLOCK_PRIMS  # at most, and about so many bytes
PIECE_LONG = 1 << 17
LEAST_LONG = 1 << 16  # bytes of commands that are worth a second thread
_INK_DRAWS = (
    Op.FILL_PATH,
    Op.STROKE_PATH,
    Op.FILL_ELLIPSE,
    Op.FILL_POLYGON,
    Op.STROKE_LINE,
    Op.STROKE_CIRCLE,
    Op.DRAW_SPRITE,
    Op.DRAW_PICTURE,
)
INK_DRAWS = sum(1 << (op - INK) for op in _INK_DRAWS)


def gather(g: int, s: int, data: int, at: int, end: int) -> int:
    """Commands up to the first that Python is needed for, or that there is no room for, or to pieces for
    several threads; its offset."""
    take_rows(s, 0, load64(s + HEIGHT))
    find_within(g, s)
    store64(g + WANTED, 0)
    store64(g + PIECES, 0)
    how = DONE
    while at < end and how == DONE:
        if at >= load64(g + LOOKED):
            how = look_ahead(g, s, data, at, end)
        if how == DONE:
            how = gather_command(g, s, data, at)
        if how == DONE:
            at = behind(s, load8(data + at), data, at)
    store64(g + FULL, how == NO_ROOM)
    end_stretch(g)
    return at


def gather_command(g: int, s: int, data: int, at: int) -> int:
    """What becomes of one command (layout.py)."""
    if not has_room(g):
        return NO_ROOM
    op, how = load8(data + at), DONE
    if op >= INK:
        if load64(s + DRAW_INK) == 0:
            return PYTHON
        how = call_at(load64(s + DRAW_INK), g, s, data + at)
        if how == DONE:
            begin_frame(g, s)
    elif DRAWS >> op & 1:
        how = add(g, s, op, data + at + 1)
        if how == DONE:
            begin_frame(g, s)
    elif op == Op.CLEAR:
        clear_frame(g, s, load_u32(data + at + 1))
    elif PLAIN >> op & 1:
        change_clip(s, op, data + at + 1)
    elif op != Op.BATCH:
        return PYTHON
    elif at >= load64(g + SAFE):
        store64(g + SAFE, survey(s, data, at))
        if load64(g + SAFE) < 0:
            return PYTHON
    return how


def begin_frame(g: int, s: int) -> None:
    """What was presented last is where a frame begins."""
    if load64(s + STALE):
        store64(s + STALE, 0)
        store64(g + START, COPY)


def clear_frame(g: int, s: int, pixel: int) -> None:
    """A colour everywhere. What was gathered for the frame is not painted any more; on a layer it is a
    rectangle like others."""
    store64(s + STALE, 0)
    if load64(s + LAYERS):
        put_primitive(g, RECT | SOLID, 0, 0, load64(s + WIDTH), load64(s + HEIGHT), pixel)
        return
    forget(g)
    store64(g + START, FILL)
    store64(g + START_COLOR, pixel)


def find_within(g: int, s: int) -> None:
    """Where painting is of use: within all layers that are open."""
    left, top, right, bottom = 0, 0, load64(s + WIDTH), load64(s + HEIGHT)
    for number in range(load64(s + LAYERS)):
        entry = open_entry(s, number)
        left, top = max(left, load64(entry + OPEN_LEFT)), max(top, load64(entry + OPEN_TOP))
        right = min(right, load64(entry + OPEN_RIGHT))
        bottom = min(bottom, load64(entry + OPEN_BOTTOM))
    store64(g + WITHIN_LEFT, left)
    store64(g + WITHIN_TOP, top)
    store64(g + WITHIN_RIGHT, right)
    store64(g + WITHIN_BOTTOM, bottom)


# -- pieces for several threads ------------------------------------------------------------------------


def is_drawing(op: int, inked: int) -> int:
    """Whether a command draws and does nothing else."""
    if op >= INK:
        return inked and INK_DRAWS >> (op - INK & 63) & 1
    return DRAWS >> op & 1


def look_ahead(g: int, s: int, data: int, at: int, end: int) -> int:
    """Cut the commands that draw, up to the first other one, into pieces, if that is worth it."""
    store64(g + LOOKED, end)
    if load64(g + THREADS) < 2:
        return DONE
    inked, here, pieces = load64(s + DRAW_INK) != 0, at, 0
    table = load64(load64(g + MEMORY) + PIECE_TABLE)
    stop = cut_piece(s, data, here, end, inked)
    while stop > here and pieces < MOST_PIECES:
        store64(table + pieces * PIECE_BYTES + P_BEGIN, here)
        store64(table + pieces * PIECE_BYTES + P_STOP, stop)
        pieces += 1
        here = stop
        if pieces < MOST_PIECES:
            stop = cut_piece(s, data, here, end, inked)
    store64(g + LOOKED, here)
    if here - at < LEAST_LONG:
        return DONE
    if not have_room(g, pieces):
        if load64(g + BINNED) == 0:
            return DONE
        store64(g + LOOKED, at)
        return NO_ROOM
    begin_frame(g, s)
    store64(g + PIECES, pieces)
    return FOUND


def cut_piece(s: int, data: int, at: int, end: int, inked: int) -> int:
    """Where a piece ends that begins here."""
    last, commands = min(at + PIECE_LONG, end), 0
    op = load8(data + min(at, end - 1))
    while at < last and commands < PIECE_COMMANDS and is_drawing(op, inked):
        at = behind(s, op, data, at)
        commands += 3 if op == Op.DRAW_TRIANGLE else 1  # a line for each side
        op = load8(data + min(at, end - 1))
    return at


def have_room(g: int, pieces: int) -> int:
    """Whether all threads will find what they need, however the pieces are shared among them."""
    memory = load64(g + MEMORY)
    blocks = load64(memory + PRIM_BLOCKS) - load64(memory + NEXT_PRIMS)
    words = max(load64(memory + WORD_BLOCKS) - load64(memory + NEXT_DATA), 0)
    stretches = load64(memory + NEXT_STRETCH) + pieces + blocks + words
    return blocks - load64(g + THREADS) >= pieces and stretches < MOST_STRETCHES
