"""Arguments, bands and threads: how a compiled pass is called.

A pass takes bands of rows from an atomic counter in its own arguments, so any number of threads can work at
it (pool.py).
"""

from __future__ import annotations

import struct
import threading
from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dala.backends.borrowed import BorrowedFrame, Rows
from dala.backends.cpu.arithmetic.base import arithmetic_of
from dala.backends.cpu.emit.function import NativePass
from dala.backends.cpu.emit.pass_context import SCRATCH_BLOCK, TAIL_BYTES, extents_of
from dala.backends.cpu.llvm.jit import Compiled
from dala.backends.cpu.run.pool import latest_arrivals, pool, useful_helpers
from dala.backends.host import HostArray, HostMemory
from dala.errors import VerificationError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8, DType
from dala.ir.graph import accesses, gathered_sources
from dala.ir.planes import shrink
from dala.plan.fuse import FusedPass

Block: TypeAlias = "array[int]"  # the arguments of a native call, in 8-byte words
BANDS, BAND_ROWS, ROWS = 1, 2, 3  # where those are among the arguments
PIECE = 16_384  # elements per row when a tensor is cut into even pieces
NS_PER_OPERATION = 0.13  # a vector operation, on one core
CACHED_BYTES = 2 << 20  # arrays that are larger, all together, come from memory
NS_PER_BYTE = 0.04  # of those, on one core
HALOS = 8  # rows of a band for each row that is computed for it alone
BAND_NS = 30_000  # on one core: bands are not shorter, but for having three for each thread
MOST_BANDS, FEWEST_BANDS = 8, 3  # for each thread: nobody waits long for whoever takes the last one
_FORMAT = {
    "f32": "f4x",
    "f64": "d",
    "s32": "i4x",
    "s64": "q",
    "u32": "I4x",
    "u16": "H6x",
    "u8": "B7x",
}


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
        coarsest = max(b.mip for b in sweep.bodies)
        moved = sum(a.type.nbytes for a in (*work.reads, *work.writes))
        traffic = moved * NS_PER_BYTE if moved > CACHED_BYTES else 0.0
        # how long it takes one core
        self.ns = max(traffic, rows * columns * native.cost * NS_PER_OPERATION)
        rings, end = _lay_rings(native, columns)
        self.scratch_bytes = end + sum(
            size * (extent + 2 * SCRATCH_BLOCK)
            for size, extent in zip(native.scratch_per_line, (rows, columns), strict=True)
        )
        layout = native.layout
        block = [0, 1, rows, rows, columns, last, end, *shape]
        for a in work.reads:
            block += (0, _stride(a.type, columns, image), *extents_of(a, image))
        for a in work.writes:
            block += (0, _stride(a.type, columns, image))
        block += rings
        assert len(block) == layout.params
        self.block: Block = array("q", block + [0] * len(params))  # but for addresses, parameters
        self.helpers = 0
        self._halo, self._coarsest = native.halo, 1 << coarsest
        self._divide()
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
        run_passes([self], arrays, params)

    def _divide(self) -> None:
        """Into bands, for as many threads as are useful by what was last measured."""
        self._measured = latest_arrivals(self.ns)
        helpers = useful_helpers(self.ns)
        rows = self.block[ROWS]
        band_rows = _band_rows(rows, self.ns, helpers + 1, self._halo, self._coarsest)
        bands = -(-rows // band_rows)
        block = self.block[:]  # others may be reading the one that is there
        block[BANDS], block[BAND_ROWS] = bands, band_rows
        self.block, self.helpers = block, min(helpers, bands - 1)

    def arguments(self, arrays: Sequence[HostMemory], params: Sequence[float | int]) -> Block:
        """What the native code is called with. The caller holds the arrays."""
        if latest_arrivals(self.ns) is not self._measured:
            self._divide()
        block = self.block[:]
        for word, position, offset in self.addresses:
            memory = arrays[position]
            if isinstance(memory, HostArray):
                block[word] = memory.address + offset
            else:
                block[word], block[word + 1] = self._borrow(memory, word, offset)
        self._pack.pack_into(block, 8 * self.params_at, *params[: len(self.params)])
        return block

    def _borrow(self, frame: BorrowedFrame, word: int, offset: int) -> Rows:
        """Where a plane is, if this pass only reads it and looks no further past its end than allowed."""
        if word not in self.borrowable:
            raise VerificationError("a pass writes a borrowed frame, or reads too far past its end")
        return frame.rows_at(offset)


def run_passes(
    passes: Sequence[PassLauncher], arrays: Sequence[HostMemory], params: Sequence[float | int]
) -> None:
    """Pass after pass, in one native call. Helpers that are under way end before it does."""
    blocks = [each.arguments(arrays, params) for each in passes]  # kept until the call is over
    scratch = _own.at_least(max(each.scratch_bytes for each in passes))  # likewise
    _call(passes, [block.buffer_info()[0] for block in blocks], scratch.address)


def _call(passes: Sequence[PassLauncher], blocks: Sequence[int], scratch: int) -> None:
    if len(passes) == 1 and not passes[0].helpers:
        passes[0].code.call(blocks[0], scratch)
        return
    pool().run_each(
        [
            (each.code.address, block, scratch, each.scratch_bytes, each.helpers)
            for each, block in zip(passes, blocks, strict=True)
        ]
    )


def _check_sizes(work: FusedPass) -> None:
    """What is read at the position written must have the size written: the last line of defence."""
    read = {a.source for b in work.bodies for a in accesses(b.roots)}
    arrays = [a for k, a in enumerate(work.reads) if k in read] + list(work.writes)
    for part in arrays:
        shape = part.type.shape
        if work.domain == "tensor":
            fits = part.type.count == int(np.prod(work.shape, dtype=np.int64))
        elif part.mip < 0:
            fits = tuple(shrink(n, -part.mip) for n in shape[:2]) == work.shape[:2]
        else:
            fits = shape[:2] == tuple(shrink(n, part.mip) for n in work.shape[:2])
        if not fits:
            raise VerificationError(f"a pass over {work.shape} touches an array of {shape}")


def _borrowable(work: FusedPass, native: NativePass) -> set[int]:
    """The planes that are read in place, a vector of bytes at a time: those may be foreign memory."""
    planes = {k for k, a in enumerate(work.reads) if a.whole is not None}
    for body in native.sweep.bodies if planes else ():
        planes -= gathered_sources(body.roots)
        if not arithmetic_of(body).borrows:
            planes -= {a.source for a in accesses(body.roots)}
    return planes


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


def _band_rows(rows: int, ns: float, threads: int, halo: int, block: int) -> int:
    """Rows per band, in whole blocks: as many bands for each thread, so that none ends early, and none so
    small that the rows which are computed for it alone matter."""
    if threads == 1:
        return rows
    small = rows // max(1, HALOS * halo) // threads
    each = max(1, min(small, MOST_BANDS, max(FEWEST_BANDS, int(ns / threads / BAND_NS))))
    even = -(-rows // (threads * each))
    return -(-even // block) * block


def _whole_lines(size: int) -> int:
    """``size`` rounded up to whole cache lines."""
    return -(-size // 64) * 64


def _lay_rings(native: NativePass, columns: int) -> tuple[list[int], int]:
    """For each body: offset of its buffered rows in scratch, row stride, channel stride; and where they
    end."""
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
