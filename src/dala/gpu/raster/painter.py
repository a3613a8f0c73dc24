"""Commands on one canvas, painted by as many threads as that is worth."""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.run import cores
from dala.backends.cpu.run.pool import pool, useful_helpers
from dala.gpu.raster.code import code
from dala.gpu.raster.ink.scratch import ink_bytes
from dala.gpu.raster.layout import COMMANDS, LOWER, ROOM, STATE_BYTES, UPPER, WORK

LEAST_WORK = 100_000_000  # picoseconds: to ask for help takes a tenth of that
BANDS_PER_THREAD = 4
LEAST_ROWS = 4  # of a band
# Picoseconds to pass over a command in a band that it does not paint, and the share of a band's time that
# may go there: otherwise there are fewer bands, down to one for each thread.
PASSED_OVER = 6_000
SHARE = 16
ALL = 1 << 62  # picoseconds


class Painter:
    """Machine code on a canvas's state, which its owner keeps where it is. Used by one thread."""

    def __init__(self, state: npt.NDArray[np.int64]) -> None:
        self._state = state
        self._after = np.zeros_like(state)
        self._addresses = int(state.ctypes.data), int(self._after.ctypes.data)
        self._room, self._room_at = np.empty(0, np.uint8), 0
        self._inked = False

    def use_ink(self, width: int) -> None:
        """Have memory for ink, too, from now on."""
        self._inked = True
        self.make_room(width)

    def make_room(self, width: int) -> None:
        """Memory for a band that is so wide: a state, a row of pixels, and the columns to sample for it."""
        size = STATE_BYTES + (width + ROOM) * 8 + (ink_bytes(width) if self._inked else 0)
        if self._room.size < size:
            self._room = np.empty(size, np.uint8)
            self._room_at = int(self._room.ctypes.data)

    def paint(self, data: int, at: int, end: int) -> int:
        """Apply checked commands; the offset where Python is needed, or ``end``."""
        state, after = self._addresses
        least = LEAST_WORK if cores.thread_count() > 1 else ALL
        stop = code().begin(state, data, at, end, after, self._room_at, least)
        if self._foreseen(WORK) >= least:
            self._paint_bands(data, at, stop)
            self._state[:] = self._after
        return stop

    def _foreseen(self, word: int) -> int:
        return int(self._after[word // 8])

    def _paint_bands(self, data: int, at: int, stop: int) -> None:
        work, upper, lower = (self._foreseen(w) for w in (WORK, UPPER, LOWER))
        helpers = min(useful_helpers(work / 1000), cores.thread_count() - 1)
        rows = band_rows(lower - upper, work, self._foreseen(COMMANDS), helpers + 1)
        bands = -(-(lower - upper) // rows)
        state, _ = self._addresses
        block = array("q", [0, bands, rows, upper, lower, state, data, at, stop])
        pool().run(
            code().paint_bands, block.buffer_info()[0], self._room_at, self._room.size, helpers
        )


def band_rows(rows: int, work: int, commands: int, threads: int) -> int:
    """How high to make bands: several for each thread, so that none ends early, but not so many that they
    mostly pass over what others paint."""
    if threads == 1:
        return rows
    worth = work // (SHARE * PASSED_OVER * (commands + 1))
    bands = max(threads, min(threads * BANDS_PER_THREAD, worth))
    return max(-(-rows // bands), LEAST_ROWS)
