"""Arguments, bands and threads: how a compiled pass is called.

The calling thread always works; helpers from a shared pool join it. An atomic counter inside the
native code hands out bands of rows, so nobody waits for a helper that comes late, and Python is
involved once per thread, not once per band.
"""

from __future__ import annotations

import os
import struct
import threading
from array import array
from collections.abc import Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeAlias

import numpy as np

from dala.backends.borrowed import BorrowedFrame, Rows
from dala.backends.cpu.emit import ROOM_BLOCK, TAIL_BYTES, NativePass, extents_of
from dala.backends.cpu.jit import Compiled
from dala.backends.cpu.ways import DOT
from dala.backends.host import HostArray, HostMemory
from dala.errors import VerificationError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8, DType
from dala.ir.graph import PLAIN, accesses, gathered_sources
from dala.ir.planes import shrink
from dala.once import once_per_process
from dala.plan.melt import FusedPass
from dala.threads import Runners

Block: TypeAlias = "array[int]"  # the arguments of a native call, in 8-byte words
PIECE = 16_384  # elements per row when a tensor is cut into even pieces
SINGLE_THREAD_WORK = (
    1_000_000  # vector operations (some 130 µs) below which a helper comes too late
)
BANDS_PER_THREAD = 3
_FORMAT = {"f32": "f4x", "f64": "d", "s32": "i4x", "s64": "q", "u32": "I4x", "u8": "B7x"}


@once_per_process  # a child may be put onto other cores
def thread_count() -> int:
    """How many threads a pass may use: DALA_THREADS, or the cores this process may run on."""
    wanted = os.environ.get("DALA_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@once_per_process
def _helpers() -> Runners:
    return Runners("dala-cpu", max(1, thread_count() - 1))


class _Own(threading.local):
    """Memory of one thread for what a native call keeps in between; it grows with what is asked for.

    One block is enough: a native call never calls back, so a thread is inside one at a time.
    """

    scratch: HostArray | None = None

    def at_least(self, size: int) -> HostArray:
        scratch = self.scratch
        if scratch is None or scratch.type.shape[0] < size:
            self.scratch = scratch = HostArray(ArrayType((size,), U8))
        return scratch


_own = _Own()


class PassLauncher:
    """One pass on arrays of given shapes: everything that can be computed before the run is.

    ``positions`` says which arrays of a launch the pass reads, and then which it writes.
    """

    def __init__(
        self,
        work: FusedPass,
        native: NativePass,
        code: Compiled,
        params: Sequence[DType | None],
        positions: Sequence[int],
    ) -> None:
        self.code = code
        image = work.domain == "image"
        shape = work.shape[:2] if image else work.shape
        sweep = native.sweep
        _check_sizes(work)
        rows, columns, last = _geometry(sweep.shape[:2] if image else shape, native.by_rows)
        coarsest = max(b.grid for b in sweep.bodies)
        band_rows = _band_rows(rows, columns * native.weight, native.halo, 1 << coarsest)
        bands = -(-rows // band_rows)
        self.threads = min(thread_count(), bands)
        self.work = rows * columns * native.weight  # in vector operations
        rings, room = _lay_rings(native, columns)
        self.scratch_bytes = room + sum(
            size * (extent + 2 * ROOM_BLOCK)
            for size, extent in zip(native.room_bytes, (rows, columns), strict=True)
        )
        layout = native.layout
        block = [0, bands, band_rows, rows, columns, last, room, *shape]
        for a in work.reads:
            block += (0, _stride(a.type, columns, image), *extents_of(a, image))
        for a in work.writes:
            block += (0, _stride(a.type, columns, image))
        block += rings
        assert len(block) == layout.params
        self.block: Block = array("q", block + [0] * len(params))  # but for addresses, parameters
        offsets = [a.offset for a in (*work.reads, *work.writes)]
        words = (*layout.reads, *layout.writes)
        self.addresses = list(zip(words, positions, offsets, strict=True))
        self.borrowable = {layout.reads[k] for k in _borrowable(work, native)}  # words, too
        # a parameter that this pass does not read may be of any kind
        fields = [_FORMAT[d.name] if d is not None else "d" for d in params]
        self._pack = struct.Struct("<" + "".join(fields))
        self.params = tuple(params)
        self.params_at = layout.params  # in words

    def __call__(self, arrays: Sequence[HostMemory], params: Sequence[float | int]) -> None:
        block = self.block[:]
        for word, position, offset in self.addresses:
            memory = arrays[position]
            if isinstance(memory, HostArray):
                block[word] = memory.address + offset
            else:
                block[word], block[word + 1] = self._borrow(memory, word, offset)
        self._pack.pack_into(block, 8 * self.params_at, *params[: len(self.params)])
        if self.threads > 1:
            self._work_together(block, arrays)
        else:
            self._work(block)

    def _borrow(self, frame: BorrowedFrame, word: int, offset: int) -> Rows:
        """Where a plane is, if this pass only reads it and looks no further past its end than allowed."""
        if word not in self.borrowable:
            raise VerificationError("a pass writes a borrowed frame, or reads too far past its end")
        return frame.rows_at(offset)

    def _work_together(self, block: Block, arrays: Sequence[HostMemory]) -> None:
        """Work with helpers; at the end, wait for those that have begun.

        A helper begins by taking a ticket. Tickets that are left when the work is done are taken back, so
        a helper that is busy elsewhere is not waited for, and holds nothing until it finds that out. One
        that has begun holds what it works on: an interrupt (Ctrl-C) may end this call at any point.
        """
        tickets: SimpleQueue[None] = SimpleQueue()
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        held = [arrays]
        issued = 0
        try:
            for _ in range(self.threads - 1):
                tickets.put(None)
                _helpers().put(partial(self._help, tickets, done, block, held))
                issued += 1
            self._work(block)
        finally:
            begun = issued - _take_all(tickets)
            errors = [done.get() for _ in range(begun)]
            held.clear()
        for error in errors:
            if error is not None:
                raise error

    def _help(
        self,
        tickets: SimpleQueue[None],
        done: SimpleQueue[BaseException | None],
        block: Block,
        held: list[Sequence[HostMemory]],
    ) -> None:
        try:
            tickets.get_nowait()
        except Empty:
            return
        mine = held[:]  # not given back before this is done
        error: BaseException | None = None
        try:
            self._work(block)
        except BaseException as raised:
            error = raised
        del mine
        done.put(error)

    def _work(self, block: Block) -> None:
        scratch = _own.at_least(self.scratch_bytes)  # held here until the call is over
        self.code.call(block.buffer_info()[0], scratch.address)


def _check_sizes(work: FusedPass) -> None:
    """What is read at the position written must have the size written: the last line of defence."""
    read = {a.source for b in work.bodies for a in accesses(b.roots)}
    arrays = [a for k, a in enumerate(work.reads) if k in read] + list(work.writes)
    for part in arrays:
        shape = part.type.shape
        if work.domain == "tensor":
            fits = part.type.count == int(np.prod(work.shape, dtype=np.int64))
        elif part.grid < 0:
            fits = tuple(shrink(n, -part.grid) for n in shape[:2]) == work.shape[:2]
        else:
            fits = shape[:2] == tuple(shrink(n, part.grid) for n in work.shape[:2])
        if not fits:
            raise VerificationError(f"a pass over {work.shape} touches an array of {shape}")


def _borrowable(work: FusedPass, native: NativePass) -> set[int]:
    """The planes that are read in place, a vector of bytes at a time: those may be foreign memory."""
    planes = {k for k, a in enumerate(work.reads) if a.whole is not None}
    for body in native.sweep.bodies if planes else ():
        planes -= gathered_sources(body.roots)
        if body.way not in (PLAIN, *DOT):  # others may read several vectors at once
            planes -= {a.source for a in accesses(body.roots)}
    return planes


def _take_all(tickets: SimpleQueue[None]) -> int:
    taken = 0
    while True:
        try:
            tickets.get_nowait()
        except Empty:
            return taken
        taken += 1


def _geometry(shape: tuple[int, ...], by_rows: bool) -> tuple[int, int, int]:
    """Rows, columns, and the columns of the last row."""
    if by_rows:
        return int(np.prod(shape[:-1], dtype=np.int64)), shape[-1], shape[-1]
    count = int(np.prod(shape, dtype=np.int64))
    rows = -(-count // PIECE)
    return rows, min(PIECE, count), count - (rows - 1) * PIECE


def _stride(type_: ArrayType, columns: int, image: bool) -> int:
    if image:  # its own width: an input read at computed positions may have another size
        return type_.shape[1] * type_.channels * type_.dtype.bytes
    return columns * type_.dtype.bytes


def _band_rows(rows: int, work_per_row: float, halo: int, block: int) -> int:
    """Rows per band, in whole blocks: enough bands for every thread, few enough that the halo does not
    matter."""
    if rows * work_per_row < SINGLE_THREAD_WORK or thread_count() == 1:
        return rows
    even = -(-rows // (thread_count() * BANDS_PER_THREAD))
    per_thread = -(-rows // thread_count())
    return -(-max(1, min(per_thread, max(even, 16 * halo))) // block) * block


def _whole_lines(size: int) -> int:
    """``size`` rounded up to whole cache lines."""
    return -(-size // 64) * 64


def _lay_rings(native: NativePass, columns: int) -> tuple[list[int], int]:
    """For each body: offset of its held rows in scratch, row stride, channel stride; and where they end."""
    words: list[int] = []
    offset = native.tails * TAIL_BYTES
    lanes = native.lanes
    whole = -(-columns // lanes) * lanes
    for body in native.sweep.bodies:
        ring = body.ring
        if ring is None:
            words += (0, 0, 0)
            continue
        if ring.blocked:
            row = 4 * whole * ring.channels + 64
            words += (offset, row, 0)
            offset += row * ring.depth
            continue
        margin = (
            64 * body.margin
        )  # it is computed with a vector before the first and one after the last
        left = _whole_lines(ring.pad_left * ring.pixel_bytes) + margin
        right = _whole_lines(ring.pad_right * ring.pixel_bytes) + margin
        # room for a whole round of vectors past the end; and an odd number of cache lines more, so that
        # planes do not all fall onto the same cache sets
        plane = left + _whole_lines(whole * ring.pixel_bytes) + right + 320
        words += (offset + left, plane * ring.planes, plane)
        offset += plane * ring.planes * ring.depth
    return words, _whole_lines(offset + 256)
