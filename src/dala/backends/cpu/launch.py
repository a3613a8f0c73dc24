"""Arguments, bands and threads: how a compiled pass is called.

The calling thread always works; helpers from a shared pool join it. An atomic counter inside the
native code hands out bands of rows, so nobody waits for a helper that comes late, and Python is
involved once per thread, not once per band.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from collections.abc import Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeAlias

import numpy as np

from dala.backends.cpu.emit import HEADER, TAIL_BYTES, NativePass, extents_of
from dala.backends.cpu.jit import Compiled
from dala.backends.host import HostArray, spare
from dala.errors import VerificationError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8, DType
from dala.ir.graph import accesses, walk
from dala.plan.melt import FusedPass
from dala.threads import Runners

Block: TypeAlias = "ctypes.Array[ctypes.c_char]"
PIECE = 16_384  # elements per row when a tensor is cut into even pieces
SINGLE_THREAD_WORK = (
    3_000_000  # operations (nodes × elements) below which threads cost more than they give
)
BANDS_PER_THREAD = 3
_FORMAT = {"f32": "f4x", "f64": "d", "s32": "i4x", "s64": "q", "u32": "I4x", "u8": "B7x"}


@functools.cache
def thread_count() -> int:
    """How many threads a pass may use: DALA_THREADS, or the cores this process may run on."""
    wanted = os.environ.get("DALA_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def _helpers() -> Runners:
    return Runners("dala-cpu", max(1, thread_count() - 1))


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_helpers.cache_clear)


class PassLauncher:
    """One pass on arrays of given shapes: everything that can be computed before the run is."""

    def __init__(
        self, work: FusedPass, native: NativePass, code: Compiled, params: Sequence[DType | None]
    ) -> None:
        self.code = code
        image = work.domain == "image"
        shape = work.shape[:2] if image else work.shape
        _check_sizes(work)
        rows, columns, last = _geometry(shape, native.by_rows)
        nodes = sum(1 for b in native.bodies for _ in walk(b.roots))
        band_rows = _band_rows(rows, columns * nodes, native.halo)
        bands = -(-rows // band_rows)
        self.threads = min(thread_count(), bands)
        self._head = (0, bands, band_rows, rows, columns, last, *shape)
        self._read_tails = [
            (_stride(a.type, columns, image), *extents_of(a, image)) for a in work.reads
        ]
        self._write_strides = [_stride(a.type, columns, image) for a in work.writes]
        self._rings, scratch_bytes = _lay_rings(native, columns)
        self._scratch = ArrayType((scratch_bytes,), U8)
        self._params = [i for i, d in enumerate(params) if d is not None]
        words = native.layout.params - HEADER - len(shape)
        fields = "".join(_FORMAT[d.name] if d is not None else "8x" for d in params)
        self._block = struct.Struct(f"<{HEADER + len(shape) + words}q{fields}")
        self._spare_blocks: list[Block] = []

    def __call__(
        self,
        reads: Sequence[HostArray],
        writes: Sequence[HostArray],
        params: Sequence[float | int],
    ) -> None:
        words = list(self._head)
        for array, tail in zip(reads, self._read_tails, strict=True):
            words.append(array.address)
            words += tail
        for array, stride in zip(writes, self._write_strides, strict=True):
            words += (array.address, stride)
        try:
            block = self._spare_blocks.pop()
        except IndexError:
            block = ctypes.create_string_buffer(self._block.size)
        used = [params[i] for i in self._params]
        self._block.pack_into(block, 0, *words, *self._rings, *used)
        if self.threads > 1:
            self._work_together(block, reads, writes)
        else:
            self._work(block)
        self._spare_blocks.append(block)

    def _work_together(
        self, block: Block, reads: Sequence[HostArray], writes: Sequence[HostArray]
    ) -> None:
        """Work with helpers; at the end, wait for those that have begun.

        A helper begins by taking a ticket. Tickets that are left when the work is done are taken back, so
        a helper that is busy elsewhere is not waited for. It holds what it works on: an interrupt
        (Ctrl-C) may end this call at any point.
        """
        tickets: SimpleQueue[None] = SimpleQueue()
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        issued = 0
        try:
            for _ in range(self.threads - 1):
                tickets.put(None)
                _helpers().put(partial(self._help, tickets, done, block, (reads, writes)))
                issued += 1
            self._work(block)
        finally:
            begun = issued - _take_all(tickets)
            errors = [done.get() for _ in range(begun)]
        for error in errors:
            if error is not None:
                raise error

    def _help(
        self,
        tickets: SimpleQueue[None],
        done: SimpleQueue[BaseException | None],
        block: Block,
        held: object,
    ) -> None:
        try:
            tickets.get_nowait()
        except Empty:
            return
        error: BaseException | None = None
        try:
            self._work(block)
        except BaseException as raised:
            error = raised
        done.put(error)

    def _work(self, block: Block) -> None:
        address = ctypes.addressof(block)
        scratch = spare.take(self._scratch)
        self.code.call(address, scratch.address)
        spare.give(scratch)


def _check_sizes(work: FusedPass) -> None:
    """What is read at the position written must have the size written: the last line of defence."""
    read = {a.source for b in work.bodies for a in accesses(b.roots)}
    image = work.domain == "image"
    arrays = [a for k, a in enumerate(work.reads) if k in read] + list(work.writes)
    for array in arrays:
        shape = array.type.shape
        fits = (
            shape[:2] == work.shape[:2]
            if image
            else array.type.count == int(np.prod(work.shape, dtype=np.int64))
        )
        if not fits:
            raise VerificationError(f"a pass over {work.shape} touches an array of {shape}")


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


def _band_rows(rows: int, work_per_row: int, halo: int) -> int:
    """Rows per band: enough bands for every thread, few enough that the halo does not matter."""
    if rows * work_per_row < SINGLE_THREAD_WORK or thread_count() == 1:
        return rows
    even = -(-rows // (thread_count() * BANDS_PER_THREAD))
    per_thread = -(-rows // thread_count())
    return max(1, min(per_thread, max(even, 16 * halo)))


def _whole_lines(size: int) -> int:
    """``size`` rounded up to whole cache lines."""
    return -(-size // 64) * 64


def _lay_rings(native: NativePass, columns: int) -> tuple[list[int], int]:
    """For each body: offset of its held rows in scratch, row stride, channel stride; and the total."""
    words: list[int] = []
    offset = native.tails * TAIL_BYTES
    lanes = native.lanes
    whole = -(-columns // lanes) * lanes
    for body in native.bodies:
        ring = body.ring
        if ring is None:
            words += (0, 0, 0)
            continue
        if ring.blocked:
            row = 4 * whole * ring.channels + 64
            words += (offset, row, 0)
            offset += row * ring.depth
            continue
        left = _whole_lines(ring.pad_left * ring.pixel_bytes)
        right = _whole_lines(ring.pad_right * ring.pixel_bytes)
        # room for a whole round of vectors past the end; and an odd number of cache lines more, so that
        # planes do not all fall onto the same cache sets
        plane = left + _whole_lines(whole * ring.pixel_bytes) + right + 320
        words += (offset + left, plane * ring.planes, plane)
        offset += plane * ring.planes * ring.depth
    return words, offset + 256
