"""What was gathered of a frame's commands: its memory, who gathers it, and where it is put to be sent."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.run import cores
from dala.backends.cpu.run.pool import pool, useful_helpers
from dala.gpu.tiles import bins, layout, pieces
from dala.gpu.tiles.code import code

Words = npt.NDArray[np.uint32]
PRIM_BLOCKS = 64  # of primitives that are gathered before they are painted
WORD_BLOCKS = 128  # of data; memory that is not written to is not taken
# nanoseconds that one thread takes, about: for a byte of commands, and to copy a primitive with its data
GATHER_NS, PLACE_NS = 0.8, 12


class Counts(NamedTuple):
    """How much was gathered."""

    stretches: int
    prims: int
    words: int


class Gathered:
    """Primitives and data of one canvas. Used by one thread, which others help."""

    def __init__(self) -> None:
        self._cursor = np.zeros(layout.CURSOR_BYTES // 8, np.int64)
        self._memory = np.zeros(layout.MEMORY_BYTES // 8, np.int64)
        self._pieces = np.zeros(layout.MOST_PIECES * layout.PIECE_BYTES // 8, np.int64)
        self._stretches = np.zeros(layout.MOST_STRETCHES * layout.STRETCH_BYTES // 8, np.int64)
        self._order = np.zeros(layout.MOST_STRETCHES, np.int64)
        self._room = np.empty(pieces.ROOM_BYTES, np.uint8)
        self._prims = self._words = self._counters = np.empty(0, np.uint32)
        self._at = int(self._cursor.ctypes.data)  # asking NumPy for an address is slow
        self._room_at = int(self._room.ctypes.data)
        self._set(layout.MEMORY, int(self._memory.ctypes.data))
        self._set(layout.ALONE, 1)

    def __getitem__(self, word: int) -> int:
        """A word of the cursor."""
        return int(self._cursor[word // 8])

    def _set(self, word: int, value: int) -> None:
        self._cursor[word // 8] = value

    # -- memory --------------------------------------------------------------------------------------

    def make_room(self, width: int, height: int) -> None:
        """Memory for primitives on a surface of that size: one command may be a primitive for each row."""
        across, down = (-(-side // layout.BIN) for side in (width, height))
        more = height // (layout.BLOCK_PRIMS // 2) + 2 + cores.thread_count()
        size = layout.BLOCK_PRIMS * layout.PRIM_BYTES // 4
        if self._prims.size < (PRIM_BLOCKS + more) * size:
            self._prims = np.empty((PRIM_BLOCKS + more) * size, np.uint32)
        if not self._words.size:
            self._words = np.empty(WORD_BLOCKS * layout.BLOCK_WORDS, np.uint32)
        if self._counters.size < layout.MOST_STRETCHES * across * down:
            self._counters = np.empty(layout.MOST_STRETCHES * across * down, np.uint32)
        self._set(layout.ACROSS, across)
        self._tell(across * down)

    def _tell(self, count: int) -> None:
        """Machine code where things are."""
        block_bytes = layout.BLOCK_PRIMS * layout.PRIM_BYTES
        for word, value in (
            (layout.STRETCHES, int(self._stretches.ctypes.data)),
            (layout.PRIMS, int(self._prims.ctypes.data)),
            (layout.PRIM_BLOCKS, self._prims.nbytes // block_bytes),
            (layout.WORDS, int(self._words.ctypes.data)),
            (layout.WORD_BLOCKS, self._words.size // layout.BLOCK_WORDS),
            (layout.COUNTERS, int(self._counters.ctypes.data)),
            (layout.BINS, count),
            (layout.PIECE_TABLE, int(self._pieces.ctypes.data)),
        ):
            self._memory[word // 8] = value
        self.forget()

    def enlarge(self) -> None:
        """Have room for a command that did not fit, though nothing is to be painted: blocks were taken for
        what lies beyond the clip, or there are too few for its data."""
        blocks = -(-self[layout.WANTED] // layout.BLOCK_WORDS)
        if blocks > self._words.size // layout.BLOCK_WORDS:
            self._words = np.empty((1 << blocks.bit_length()) * layout.BLOCK_WORDS, np.uint32)
            self._tell(int(self._memory[layout.BINS // 8]))
        else:
            self.forget()

    def end(self) -> None:
        """All was painted: what one large command needed is not kept. With so many blocks there would be
        too few stretches for several threads."""
        if self._words.size > WORD_BLOCKS * layout.BLOCK_WORDS:
            self._words = np.empty(WORD_BLOCKS * layout.BLOCK_WORDS, np.uint32)
            self._tell(int(self._memory[layout.BINS // 8]))
        else:
            self.forget()

    def forget(self) -> None:
        """Nothing is gathered."""
        code().forget(self._at)
        for word in (layout.START, layout.INKED, layout.LAYERED):
            self._set(word, 0)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to paint."""
        return self[layout.BINNED] == 0 and self[layout.START] == layout.KEEP

    # -- gathering -----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Gather other commands than before."""
        self._set(layout.LOOKED, 0)
        self._set(layout.SAFE, 0)
        self._set(layout.THREADS, cores.thread_count())

    def gather(
        self, state: npt.NDArray[np.int64], data: int, at: int, end: int
    ) -> tuple[int, bool]:
        """Checked commands as primitives: the offset where that stopped, and whether for want of room."""
        s, found = int(state.ctypes.data), 1
        while found:
            at = code().gather(self._at, s, data, at, end)
            found = self[layout.PIECES]
            if found:
                self._gather_pieces(s, data, found)
                at = code().join_pieces(self._at)
        return at, self[layout.FULL] != 0

    def _gather_pieces(self, state: int, data: int, count: int) -> None:
        begin = int(self._pieces[layout.P_BEGIN // 8])
        last = (count - 1) * layout.PIECE_BYTES
        end = int(self._pieces[(last + layout.P_STOP) // 8])
        block = array("q", [0, self._at, state, data])
        helpers = min(useful_helpers((end - begin) * GATHER_NS), cores.thread_count() - 1)
        work, address = code().gather_pieces, block.buffer_info()[0]
        pool().run(work, address, self._room_at, self._room.size, helpers)

    # -- to be sent ----------------------------------------------------------------------------------

    def order(self, table: Words) -> Counts:
        """Write where the bins' lists begin into ``table``; how much of everything there is."""
        order, to = int(self._order.ctypes.data), int(table.ctypes.data)
        count = code().order_stretches(self._at, order, to)
        prims, words = (int(self._memory[w // 8]) for w in (layout.TOTAL_PRIMS, layout.TOTAL_WORDS))
        return Counts(count, prims, words)

    def place(self, counts: Counts, targets: Sequence[npt.NDArray[Any]]) -> None:
        """Put primitives and words where they are sent from, and write the bins' lists."""
        addresses = [int(target.ctypes.data) for target in targets]
        order, across = int(self._order.ctypes.data), self[layout.ACROSS]
        block = array("q", [0, counts.stretches, order, *addresses, across])
        helpers = min(useful_helpers(counts.prims * PLACE_NS), cores.thread_count() - 1)
        pool().run(code().place_stretches, block.buffer_info()[0], self._room_at, 64, helpers)


assert pieces.BLOCK_WORDS == 4 and bins.BLOCK_WORDS == 7  # what two blocks above are made of
