"""Pictures in the GPU's memory, as layers read them: sent once, and kept by version while there is room.

    whole pictures     as they are; a video's three planes one after the other
    derived pictures   multiplied by their alpha, reduced: jobs for one dispatch before the next one paints

All of them are ranges of one buffer (``PictureMemory``). A run holds the ranges that it reads until it is
handed over, so that what is forgotten meanwhile is not written over before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dala.backends.copying import copy_array
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.errors import OutOfMemoryError
from dala.gpu.tiles.pictures import PictureMemory, Range
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.leaving import native
from dala.scene.layers import Bytes, Planes, Rgba
from dala.scene.paint.cpu.textures import premultiplied, reduced
from dala.scene.paint.placing import Taps

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

BUDGET = 1 << 30  # bytes
LARGE_BLOCK = (
    12  # of 2^12 pixels and more: sums of those are few, and long work for a thread of a GPU
)


class NoRoomError(OutOfMemoryError):
    """What the buffer holds for the runs under way leaves no room for more."""


class Picture(NamedTuple):
    """Pixels (H, W, 4) with straight alpha: in main memory, or made on the GPU when they are needed. Its
    key stands for them; without one it is like no other, and not kept."""

    key: Hashable | None
    width: int
    height: int
    opaque: bool
    pixels: Bytes | Callable[[], GpuArray]

    @classmethod
    def of(cls, content: Rgba) -> Picture:
        """A picture of the scene."""
        return cls(content.key, content.width, content.height, content.opaque, content.pixels)


class Placed(NamedTuple):
    """Where a plane begins (pixels of the buffer, or bytes), from row to row, and how it is read."""

    first: int
    stride: int
    taps: Taps


class Textures:
    """The pictures that were used last, up to a number of bytes. Used under the painter's lock."""

    def __init__(self, device: WebGpuDevice, budget: int = BUDGET) -> None:
        self._device = device
        self._budget = min(budget, device.pool.most_bytes)
        self._buffer = PictureMemory(device, self._settle)
        self._kept: OrderedDict[Hashable, Range] = OrderedDict()
        self._used = 0  # words
        self._held: list[list[Range]] = []  # by the runs under way, one within another
        self.jobs: list[tuple[int, ...]] = []

    @property
    def memory(self) -> Memory:
        """The buffer that holds them."""
        return self._buffer.memory

    @property
    def used_bytes(self) -> int:
        """Of those that are kept."""
        return self._used * 4

    @contextmanager
    def run(self) -> Iterator[None]:
        """A run, which may have others within: what it reads stays as it is until it is handed over."""
        held: list[Range] = []
        self._held.append(held)
        jobs, before = self.jobs, len(self.jobs)
        try:
            yield
        except BaseException:  # what it has begun may be there by name only
            del self.jobs[before if self.jobs is jobs else 0 :]
            self._forget(held)
            raise
        finally:
            self._held.pop()
            self._settle()

    def _settle(self) -> None:
        self._buffer.settle()

    def let_go(self) -> None:
        """The run so far was handed over, though it goes on."""
        self._held[-1].clear()
        self._settle()

    def _forget(self, some: Sequence[Range]) -> None:
        gone = {id(taken) for taken in some}
        for key in [key for key, kept in self._kept.items() if id(kept) in gone]:
            self._used -= self._kept.pop(key).size

    def close(self) -> None:
        """Give back the memory of all."""
        self._kept.clear()
        self._used = 0
        self._buffer = PictureMemory(self._device, self._settle)

    # -- pictures ----------------------------------------------------------------------------------------

    def picture(self, picture: Picture, taps: Taps) -> Placed:
        """What a layer reads of a picture between its pixels."""
        if taps.level_x + taps.level_y:
            return self._reduced(picture, taps)
        if picture.opaque:
            return self.straight(picture, taps)
        key = None if picture.key is None else ("times alpha", picture.key)
        found = self._find(key)
        if found is None:
            whole = Taps(0, 0, picture.width, picture.height, 0, 0, taps.columns, taps.rows)
            found = self._derive(key, picture, whole)
        return _within(found, picture, taps)

    def straight(self, picture: Picture, taps: Taps) -> Placed:
        """A picture as it is."""
        return _within(self._whole(picture), picture, taps)

    def copy_of(self, picture: Picture) -> GpuArray:
        """A picture as an array of its own."""
        whole = self._whole(picture)
        array = self._device.allocate(ArrayType((picture.height, picture.width, 4), U8))
        self._copy(self.memory, whole.begin * 4, array.memory, 0, array.type.nbytes)
        return array

    def _reduced(self, picture: Picture, taps: Taps) -> Placed:
        key = None if picture.key is None else ("reduced", picture.key, _part(taps))
        found = self._find(key)
        if found is None and _is_large(taps):
            pixels = self._fetch(picture)
            made = reduced(pixels if picture.opaque else premultiplied(pixels), taps)
            words = taps.reduced_width * taps.reduced_height
            found = self._keep(key, words, lambda to: self._write(to, made))
        elif found is None:
            found = self._derive(key, picture, taps)
        return Placed(found.begin, taps.reduced_width, taps.of_reduced)

    def _fetch(self, picture: Picture) -> Bytes:
        pixels = picture.pixels
        return pixels if isinstance(pixels, np.ndarray) else self._device.fetch(pixels())

    def _derive(self, key: Hashable | None, picture: Picture, taps: Taps) -> Range:
        """A part of a picture multiplied by its alpha and reduced, by the next run's jobs."""
        source = self._whole(picture)
        columns, rows = taps.reduced_width, taps.reduced_height
        first = (source.begin + taps.top * picture.width + taps.left) * 4

        def derive(to: Range) -> None:
            self.jobs.append(
                (first, picture.width * 4, taps.width, taps.height, taps.level_x, taps.level_y,
                 to.begin, columns, columns, rows, 4, not picture.opaque)
            )  # fmt: skip

        return self._keep(key, columns * rows, derive)

    def _whole(self, picture: Picture) -> Range:
        found = self._find(picture.key)
        if found is not None:
            return found
        pixels = picture.pixels
        made = pixels if isinstance(pixels, np.ndarray) else pixels()

        def put(to: Range) -> None:
            if isinstance(made, GpuArray):
                self._copy(made.memory, 0, self.memory, to.begin * 4, made.type.nbytes)
            else:
                self._write(to, made)

        return self._keep(picture.key, picture.width * picture.height, put)

    # -- videos ------------------------------------------------------------------------------------------

    def planes(self, content: Planes, luma: Taps, chroma: Taps) -> list[Placed]:
        """What a layer reads of Y, U and V; the latter two are read at the same places."""
        planes = ("y", content.y, luma), ("u", content.u, chroma), ("v", content.v, chroma)
        offsets = _offsets((content.y, content.u, content.v))
        is_small = _is_large(luma) and _is_large(chroma)
        whole = None if is_small else self._video(content, offsets)
        found = []
        for (name, plane, taps), at in zip(planes, offsets, strict=False):
            if taps.level_x + taps.level_y:
                key = name, content.version
                found.append(self._reduced_plane(key, plane, taps, whole, at))
            else:
                assert whole is not None
                stride = plane.shape[1]
                first = (whole.begin + at) * 4 + taps.top * stride + taps.left
                found.append(Placed(first, stride, taps))
        return found

    def _video(self, content: Planes, offsets: list[int]) -> Range:
        key = "planes", content.version
        found = self._find(key)
        if found is None:
            type_ = ArrayType((offsets[3] * 4,), U8)
            found = self._keep(
                key, offsets[3],
                lambda to: self._fill(to, type_, lambda room: _pack_planes(content, offsets, room)),
            )  # fmt: skip
        return found

    def _reduced_plane(
        self, key: Hashable, plane: Bytes, taps: Taps, whole: Range | None, at: int
    ) -> Placed:
        read, key = taps.of_reduced, (key, _part(taps))
        columns, rows = read.width, read.height
        stride = -(-columns // 4)

        def put(to: Range) -> None:
            if _is_large(taps):
                room = np.zeros((rows, stride * 4), np.uint8)
                room[:, :columns] = reduced(plane, taps)
                self._write(to, room)
                return
            assert whole is not None
            first = (whole.begin + at) * 4 + taps.top * plane.shape[1] + taps.left
            self.jobs.append(
                (first, plane.shape[1], taps.width, taps.height, taps.level_x, taps.level_y,
                 to.begin, stride, columns, rows, 1, 0)
            )  # fmt: skip

        found = self._find(key)
        if found is None:
            found = self._keep(key, stride * rows, put)
        return Placed(found.begin * 4, stride * 4, read)

    # -- ranges ------------------------------------------------------------------------------------------

    def _find(self, key: Hashable | None) -> Range | None:
        found = None if key is None else self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            self._held[-1].append(found)
        return found

    def _keep(self, key: Hashable | None, words: int, put: Callable[[Range], None]) -> Range:
        """A new range and what ``put`` puts there, or has a job put there; only then it has its key."""
        taken = self._reserve(max(words, 1))
        self._held[-1].append(taken)
        put(taken)
        if key is not None:
            self._kept[key] = taken
            self._used += taken.size
        return taken

    def _reserve(self, words: int) -> Range:
        """A range; the oldest ones go as far as it needs room."""
        while self._kept and (self._used + words) * 4 > self._budget:
            self._forget_oldest()
        while True:
            try:
                return self._buffer.reserve(words)
            except OutOfMemoryError:
                if not self._kept:
                    raise self._too_large(words) from None
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, oldest = self._kept.popitem(last=False)
        self._used -= oldest.size

    def _too_large(self, words: int) -> NoRoomError:
        return NoRoomError(
            f"painting a scene: there is no room for a picture of {words * 4 / 2**20:,.0f} MiB; "
            f"{self._device.name} binds {self._device.pool.most_bytes / 2**20:,.0f} MiB for all that a "
            "layer reads: make it smaller, or paint on the CPU"
        )

    def _write(self, to: Range, pixels: Bytes) -> None:
        type_ = ArrayType((pixels.nbytes,), U8)
        self._fill(to, type_, lambda room: copy_array(room.reshape(pixels.shape), pixels))

    def _fill(self, to: Range, type_: ArrayType, write: Callable[[Bytes], None]) -> None:
        with mapped("a picture of a scene", device=self._device), native:
            self._device.staging.fill(self.memory, type_, write, to.begin * 4)

    def _copy(self, source: Memory, first: int, target: Memory, at: int, size: int) -> None:
        with mapped("a picture of a scene", device=self._device), native, self._device.queue.lock:
            encoder = self._device.gpu.create_command_encoder()
            encoder.copy_buffer_to_buffer(source.buffer, first, target.buffer, at, size)
            self._device.queue.submit(encoder)


def _within(found: Range, picture: Picture, taps: Taps) -> Placed:
    """The part of a whole picture that is in use."""
    return Placed(found.begin + taps.top * picture.width + taps.left, picture.width, taps)


def _part(taps: Taps) -> tuple[int, ...]:
    return taps[:6]


def _is_large(taps: Taps) -> bool:
    return taps.level_x + taps.level_y >= LARGE_BLOCK


def _offsets(planes: Sequence[Bytes]) -> list[int]:
    """Where planes begin, each at a whole word, and how many words they have together."""
    offsets = [0]
    for plane in planes:
        offsets.append(offsets[-1] + -(-plane.size // 4))
    return offsets


def _pack_planes(content: Planes, offsets: list[int], room: Bytes) -> None:
    for plane, begin in zip((content.y, content.u, content.v), offsets, strict=False):
        part = room[begin * 4 : begin * 4 + plane.size]
        copy_array(part.reshape(plane.shape), plane)
