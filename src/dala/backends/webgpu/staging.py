"""The way in and out: mapped buffers, made when needed and used again.

upload     host → staging buffer → array
fill       whatever writes the content → staging buffer → array, or several arrays
download   array → staging buffer → host
view       array → staging buffer, which is handed out as an array
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.backends.copying import copy_bytes
from dala.backends.webgpu.faults import lost_error
from dala.backends.webgpu.memory import SPARE_BYTES, Memory
from dala.backends.webgpu.queue import Queue
from dala.backends.webgpu.record import BoundCopy, Run
from dala.backends.webgpu.waiting import Submitted, Waiter
from dala.ir.arrays import ArrayType

Array = npt.NDArray[Any]
SMALL = 64 << 10  # bytes that go through queue.write_buffer rather than a staging buffer
LEAST, MOST = 1 << 20, 32 << 20  # bytes of a staging buffer for uploads, in powers of two
IN_FLIGHT = 3  # of each size
VIEWED = 1 << 20  # bytes from which on a read is a view of the staging buffer


class Reading(NamedTuple):
    """A copy on its way out: the buffer it goes to, and how to wait until it can be read."""

    landing: Memory
    mapping: Submitted


class StagingRing:
    """Mapped buffers for both directions."""

    def __init__(self, device: Any, queue: Queue, waiter: Waiter) -> None:
        self.device = device
        self.queue = queue
        self._waiter = waiter
        # by size: (buffer, which is being mapped again)
        self._uploads: dict[int, deque[tuple[Any, Submitted]]] = {}
        self._readbacks: dict[int, list[Memory]] = {}
        self._readback_bytes = 0
        self._read: list[Memory] = []  # small ones that are still mapped

    # -- in ------------------------------------------------------------------------------------

    def upload(self, memory: Memory, data: Array, at: int = 0) -> None:
        """Queue a copy of host data, to byte ``at``; the host array may change as soon as this returns."""
        source = data.reshape(-1).view(np.uint8)
        if source.nbytes <= SMALL:
            self.queue.write_buffer(memory.buffer, _padded(source), at)
            return
        for start in range(0, source.nbytes, MOST):
            piece = source[start : start + MOST]
            staging = self._mapped_for_writing(piece.nbytes)
            copy_bytes(self._bytes_in(staging, piece.nbytes), piece)
            self._send(staging, [(memory, at + start, piece.nbytes)])

    def fill(
        self, memory: Memory, type_: ArrayType, write: Callable[[Array], None], at: int = 0
    ) -> None:
        """Queue a copy of what ``write`` writes into the array that it is given, to byte ``at``."""

        def write_one(pieces: list[Array]) -> None:
            write(pieces[0].view(type_.dtype.numpy).reshape(type_.shape))

        self._fill([(memory, at, type_.nbytes)], write_one)

    def fill_parts(
        self, parts: Sequence[tuple[Memory, int]], write: Callable[[list[Array]], None]
    ) -> None:
        """The same for the first bytes of several arrays, whole words, which are written at once."""
        self._fill([(memory, 0, size) for memory, size in parts], write)

    def _fill(
        self, parts: Sequence[tuple[Memory, int, int]], write: Callable[[list[Array]], None]
    ) -> None:
        sizes = [size for _, _, size in parts]
        total = sum(sizes)
        staged = SMALL < total <= MOST
        staging = self._mapped_for_writing(total) if staged else None
        content = np.empty(total, np.uint8) if staging is None else self._bytes_in(staging, total)
        pieces = np.split(content, np.cumsum(sizes)[:-1])
        write(pieces)
        if staging is not None:
            self._send(staging, parts)
            return
        for (memory, at, _), piece in zip(parts, pieces, strict=True):
            if piece.size:
                self.upload(memory, piece, at)

    def _mapped_for_writing(self, size: int) -> Any:
        room = max(LEAST, 1 << (size - 1).bit_length())
        with self.queue.lock:
            used = self._uploads.setdefault(room, deque())
            if len(used) < IN_FLIGHT:
                return self.device.create_buffer(
                    size=room, usage="MAP_WRITE|COPY_SRC", mapped_at_creation=True
                )
            staging, mapping = used.popleft()
        mapping.finish(f"an upload of {size} bytes")
        return staging

    def _send(self, staging: Any, parts: Sequence[tuple[Memory, int, int]]) -> None:
        """Copy what lies in a staging buffer, one part behind the other, to bytes of arrays."""
        with self.queue.lock:
            staging.unmap()
            starts = itertools.accumulate((size for _, _, size in parts), initial=0)
            copies = Run(
                BoundCopy(staging, at, memory.buffer, start, -(-size // 4) * 4)
                for at, (memory, start, size) in zip(starts, parts, strict=False)
                if size
            )
            self.queue.submit_run(copies)
            used = self._uploads[staging.size]
            if len(used) < IN_FLIGHT:  # more of them were made while many threads were at it
                used.append((staging, self._waiter.map(staging, "WRITE")))

    # -- out -----------------------------------------------------------------------------------

    def download(self, memory: Memory, out: Array) -> None:
        """Wait for the content and copy it into a host array."""
        self.finish_read(self.begin_read(memory), out)

    def begin_read(self, memory: Memory) -> Reading:
        """Queue a copy of the content as it will be by then, to where it can be read."""
        return self.begin_read_part(memory.buffer, 0, memory.bytes)

    def begin_read_part(self, buffer: Any, start: int, size: int) -> Reading:
        """The same for a part of any buffer."""
        with self.queue.lock:
            landing = self.landing(size)
            copy = BoundCopy(buffer, start, landing.buffer, 0, size)
            return self.begin_read_run(Run([copy]), landing)

    def begin_read_run(self, run: Run, landing: Memory) -> Reading:
        """Submit a run that copies something to there, behind those so far."""
        with self.queue.lock:
            self.queue.submit_run(run)
            reading = Reading(landing, self._waiter.map(landing.buffer, "READ"))
            self._unmap_read()  # now that the GPU is at work
            return reading

    def finish_read(self, reading: Reading, out: Array) -> None:
        """Wait for the content and copy it into a host array."""
        flat = out.reshape(-1).view(np.uint8)
        copy_bytes(flat, self._bytes_of(reading, flat.nbytes))
        self._release(reading.landing)

    def content(self, reading: Reading, size: int) -> Array | bytearray:
        """Wait for the content; a large one is the mapped buffer itself, as long as the array lives."""
        if size >= VIEWED:
            found = self._bytes_of(reading, size)
            weakref.finalize(found.base, self._release, reading.landing).atexit = False
            return found
        reading.mapping.finish(f"a download of {size} bytes")
        with self.queue.lock:
            self._refuse_if_lost(size)
            copied = self._waiter.content(reading.landing.buffer, size)
            self._read.append(reading.landing)
        return copied

    def _bytes_of(self, reading: Reading, size: int) -> Array:
        reading.mapping.finish(f"a download of {size} bytes")
        return self._bytes_in(reading.landing.buffer, size)

    def _bytes_in(self, staging: Any, size: int) -> Array:
        """The first bytes of a mapped buffer. It stays until the last thread lets go of its part, even if a
        signal handler's exception ended the waiting for them."""
        with self.queue.lock:
            self._refuse_if_lost(size)
            return np.asarray(_Mapped(staging, self._waiter.address(staging), size))

    def _refuse_if_lost(self, size: int) -> None:
        """Asked for what a lost GPU has mapped, wgpu-native ends the process."""
        if self._waiter.lost:
            raise lost_error(f"{size} bytes on their way")

    def landing(self, size: int) -> Memory:
        """Where so many bytes can be copied to and read by the host, once."""
        with self.queue.lock:
            spare = self._readbacks.get(size)
            if spare:
                self._readback_bytes -= size
                return spare.pop()
            return Memory(self.device.create_buffer(size=size, usage="MAP_READ|COPY_DST"), size)

    def _unmap_read(self) -> None:
        while self._read:
            self._release(self._read.pop())

    def _release(self, landing: Memory) -> None:
        with self.queue.lock:
            if self._waiter.lost:  # its memory went with the GPU
                return
            landing.buffer.unmap()
            if self._readback_bytes + landing.bytes > SPARE_BYTES // 2:
                self._readbacks, self._readback_bytes = {}, 0
            self._readbacks.setdefault(landing.bytes, []).append(landing)
            self._readback_bytes += landing.bytes


class _Mapped:
    """Mapped memory as NumPy asks for it; what is made of it holds the buffer."""

    def __init__(self, staging: Any, address: int, size: int) -> None:
        self.staging = staging
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (size,), "data": (address, False),
        }  # fmt: skip


def _padded(data: Array) -> Array:
    """Bytes in whole words."""
    rest = -data.nbytes % 4
    return data if not rest else np.concatenate([data, np.zeros(rest, np.uint8)])
