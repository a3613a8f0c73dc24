"""A composition painted on a GPU: layers as records, written once, and one dispatch for all of them.

    composition ─ place → records, textures → (jobs) → tiles → a canvas on the GPU ─→ planes

What has to be a picture before it can be a layer (groups, transitions, effects: contents.py) is painted the
same way, on a canvas of its own, and stays on the GPU. An adjustment ends a run: what was painted is
filtered, and lies below everything in the next run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dala import forking
from dala.backends.webgpu.by_hand import BindGroups, send_words
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.backends.webgpu.record import BoundDispatch, encode
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.leaving import native
from dala.scene.layers import Adjustment, Composition, Entry, Layer
from dala.scene.paint.changes import changed_boxes
from dala.scene.paint.placing import Placed, place
from dala.scene.paint.planar import copied_video, on_black, rgb_factors
from dala.scene.paint.webgpu import layout
from dala.scene.paint.webgpu.contents import Contents
from dala.scene.paint.webgpu.records import (
    Box,
    Record,
    everywhere,
    hides,
    inner_box,
    make_adjustment,
    make_box,
    make_record,
)
from dala.scene.paint.webgpu.shader import shader
from dala.scene.paint.webgpu.textures import BUDGET, NoRoomError, Textures

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

_NO_FACTORS = (0,) * 12
_NO_BOXES = (0,) * (4 * layout.MOST_BOXES)


class GpuPainter:
    """Paints compositions on one GPU; keeps textures from one to the next. For any number of threads, one
    at a time."""

    def __init__(self, device: WebGpuDevice, budget: int = BUDGET) -> None:
        self.device = device
        self.timed = False  # whether the next dispatch of tiles is timed (bench/scenes_gpu.py)
        self.run = 0  # which of the device's timers the last one has
        self.textures = Textures(device, budget)
        self._contents = Contents(device, self.textures, self._paint_whole)
        self._groups = BindGroups(device)
        self._lock = forking.rlock()

    def paint(
        self,
        composition: Composition,
        previous: Composition | None = None,
        before: GpuArray | None = None,
    ) -> GpuArray:
        """The composition's pixels, (H, W, 4) u8, on the GPU. If ``before`` holds those of a ``previous``
        one, only what has changed is painted, on a copy of it."""
        boxes = [_whole(composition)]
        with self._lock:
            self.device.check_process()
            if previous is not None and before is not None:
                changed = changed_boxes(previous, composition)
                if not changed:
                    return before
                if sum(map(_area, changed)) <= _area(boxes[0]) // 2:  # a copy costs something, too
                    boxes = changed
            canvas = self._canvas(composition)
            if before is not None and boxes != [_whole(composition)]:
                self._copy(before, canvas)
            self._paint(composition, canvas, boxes)
            return canvas

    def paint_boxes(self, composition: Composition, boxes: list[Box]) -> GpuArray:
        """Only these parts of it, on a canvas that is anything elsewhere."""
        with self._lock:
            self.device.check_process()
            canvas = self._canvas(composition)
            self._paint(composition, canvas, boxes)
            return canvas

    def paint_planes(self, composition: Composition, matrix: str, full_range: bool) -> GpuArray:
        """Y, U and V of the composition on black, one after the other, as bytes on the GPU."""
        black = on_black(composition)
        with self._lock:
            self.device.check_process()
            canvas = self._canvas(black)
            records = self._paint(black, canvas, [_whole(black)])
            copied = copied_video(black, matrix, full_range) is not None
            with self.textures.run():
                if copied and not records:
                    records = self._boxes(black)
                factors = rgb_factors(matrix, full_range)
                return self._convert(black, canvas, records, factors, copied)

    def close(self) -> None:
        """Give the textures back."""
        with self._lock:
            self.textures.close()
            self._groups.clear()

    # -- runs ------------------------------------------------------------------------------------------

    def _paint_whole(self, composition: Composition) -> GpuArray:
        canvas = self._canvas(composition)
        self._paint(composition, canvas, [_whole(composition)])
        return canvas

    def _canvas(self, composition: Composition) -> GpuArray:
        return self.device.allocate(ArrayType((composition.height, composition.width, 4), U8))

    def _paint(self, composition: Composition, canvas: GpuArray, boxes: list[Box]) -> list[Record]:
        """Layers between two adjustments at a time; the records of the last ones, if there was room for all
        of them at once."""
        records: list[Record] = []
        start, fitted = layout.FILL, True
        with self.textures.run():
            for layer, placed, inner in _seen(composition, boxes):
                if isinstance(layer, Adjustment):
                    self._dispatch(composition, canvas, records, boxes, start)
                    start, above = layout.KEEP, self._contents.adjusted(canvas, layer)
                    records = [make_adjustment(placed, above, inner, self.textures)]
                    continue
                try:
                    records.append(self._record(layer, placed, inner))
                except NoRoomError:
                    if not records:
                        raise
                    self._dispatch(composition, canvas, records, boxes, start)
                    self.textures.let_go()  # so there is room for what does not fit beside the others
                    start, records = layout.KEEP, [self._record(layer, placed, inner)]
                    fitted = False
            self._dispatch(composition, canvas, records, boxes, start)
        return records if fitted else []

    def _record(self, layer: Layer, placed: Placed, inner: Box) -> Record:
        content = self._contents.resolve(layer)
        return make_record(layer, content, placed, inner, self.textures)

    def _dispatch(
        self, composition: Composition, canvas: GpuArray, records: list[Record], boxes: list[Box],
        start: int,
    ) -> None:  # fmt: skip
        head = self._head(composition, len(records), boxes, start)
        width = max(right - left for left, _, right, _ in boxes)
        height = max(bottom - top for _, top, _, bottom in boxes)
        groups = -(-width // layout.TILE), -(-height // layout.TILE), len(boxes)
        tiles = shader(self.device, "tiles")
        with mapped("painting a scene", device=self.device), native, self.device.queue.lock:
            sent: list[GpuArray] = []  # its memory is nobody else's before the run is handed over
            run = self._prepare(sent)
            sent.append(self._send(head, records))
            memories = canvas.memory, sent[-1].memory, self.textures.memory
            group = self._groups.get(tiles, memories)
            self._submit([*run, BoundDispatch(tiles.pipeline, group, groups)])
            self.textures.jobs = []  # not before: some may be an outer run's, which goes on

    def _head(
        self, on: Composition, count: int, boxes: list[Box], start: int,
        factors: Sequence[int] = (), copied: bool = False,
    ) -> bytes:  # fmt: skip
        color = int.from_bytes(bytes(on.background), "little")
        edges = [edge for box in boxes for edge in box]
        return layout.HEAD.pack(
            on.width, on.height, start, color, count, copied, 0, 0,
            *(*factors, *_NO_FACTORS)[:12], *(*edges, *_NO_BOXES)[: 4 * layout.MOST_BOXES],
        )  # fmt: skip

    def _send(self, head: bytes, records: list[Record]) -> GpuArray:
        layers = [record.words for record in records] or [bytes(layout.LAYER.size)]
        return send_words(self.device, np.frombuffer(b"".join([head, *layers]), np.uint32))

    def _prepare(self, sent: list[GpuArray]) -> list[BoundDispatch]:
        """Pictures that layers read in another form."""
        jobs = self.textures.jobs
        run: list[BoundDispatch] = []
        for at in range(0, len(jobs), layout.MOST_JOBS):
            some = jobs[at : at + layout.MOST_JOBS]
            packed = b"".join(layout.JOB.pack(*job) for job in some)
            sent.append(send_words(self.device, np.frombuffer(packed, np.uint32)))
            prepare = shader(self.device, "prepare")
            group = self._groups.get(prepare, (self.textures.memory, sent[-1].memory))
            across, down = (-(-max(job[k] for job in some) // layout.JOB_SIDE) for k in (8, 9))
            run.append(BoundDispatch(prepare.pipeline, group, (across, down, len(some))))
        return run

    def _submit(self, run: list[BoundDispatch]) -> None:
        timers = self.device.timers if self.timed else None
        if timers is None:
            self.device.queue.share(run)
            return
        encoder = self.device.gpu.create_command_encoder()
        self.run = timers.begin()
        encode(encoder, run, lambda _: timers.marks(self.run, first=True, last=True))
        timers.resolve(encoder, self.run)
        self.device.queue.submit(encoder)

    def _boxes(self, on: Composition) -> list[Record]:
        """The lowest layer, a video, and where the others are: all that copying its planes needs."""
        (video, placed, inner), *others = _seen(on, [_whole(on)])
        assert isinstance(video, Layer)
        return [self._record(video, placed, inner), *(make_box(other) for _, other, _ in others)]

    # -- what comes behind --------------------------------------------------------------------------------

    def _convert(
        self, on: Composition, canvas: GpuArray, records: list[Record], factors: Sequence[int],
        copied: bool,
    ) -> GpuArray:  # fmt: skip
        made = self.device.allocate(ArrayType((on.width * on.height // 2 * 3,), U8))
        head = self._head(on, len(records), [], layout.KEEP, factors, copied)
        threads = -(-made.type.nbytes // 4)
        across, down = _spread(-(-threads // 256))
        planes = shader(self.device, "planes")
        with mapped("painting a scene", device=self.device), native, self.device.queue.lock:
            words = self._send(head, records)
            memories: tuple[Memory, ...] = (
                canvas.memory, words.memory, self.textures.memory, made.memory,
            )  # fmt: skip
            group = self._groups.get(planes, memories)
            self._submit([BoundDispatch(planes.pipeline, group, (across, down, 1))])
        return made

    def _copy(self, source: GpuArray, target: GpuArray) -> None:
        with mapped("painting a scene", device=self.device), native, self.device.queue.lock:
            encoder = self.device.gpu.create_command_encoder()
            size = -(-source.type.nbytes // 4) * 4
            encoder.copy_buffer_to_buffer(source.memory.buffer, 0, target.memory.buffer, 0, size)
            self.device.queue.submit(encoder)


def _whole(composition: Composition) -> Box:
    return 0, 0, composition.width, composition.height


def _seen(composition: Composition, boxes: list[Box]) -> list[tuple[Entry, Placed, Box]]:
    """What may be seen in those boxes, where it goes, and the box in which it covers all."""
    found: list[tuple[Entry, Placed, Box]] = []
    whole = _whole(composition)
    everything = boxes == [whole]
    for entry in composition.layers:
        layer = everywhere(entry, *whole[2:]) if isinstance(entry, Adjustment) else entry
        placed = place(layer, *whole[2:])
        if placed is None or not (everything or _reaches(placed, boxes)):
            continue
        inner = inner_box(placed)
        if inner == whole and isinstance(entry, Layer) and hides(entry, placed, inner):
            found.clear()
        found.append((entry, placed, inner))
    return found


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _reaches(placed: Placed, boxes: list[Box]) -> bool:
    return any(
        placed.left < right and placed.top < bottom and placed.right > left and placed.bottom > top
        for left, top, right, bottom in boxes
    )


def _spread(groups: int) -> tuple[int, int]:
    """Workgroups in rows: a direction has 65,535 at most."""
    across = min(groups, 1 << 15)
    return across, -(-groups // across)
