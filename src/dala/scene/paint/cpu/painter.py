"""A composition painted by compiled code, in bands of rows on as many threads as that is worth."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from dala.backends.cpu.run import cores
from dala.backends.cpu.run.pool import pool, useful_helpers
from dala.scene.effects import filtered
from dala.scene.layers import Adjustment, Bytes, Composition, Layer, Solid
from dala.scene.paint.content import resolve
from dala.scene.paint.cpu.code import code
from dala.scene.paint.cpu.layout import PAD, RUN_WORDS, THREAD_BYTES
from dala.scene.paint.cpu.records import Record, make_record
from dala.scene.paint.cpu.textures import Textures
from dala.scene.paint.meeting import mix
from dala.scene.paint.placing import place
from dala.scene.paint.sampled import cover

BAND_BYTES = 192 << 10  # of the canvas: they stay in a core's cache while all layers are painted
LEAST_ROWS = 8
FILL_NS = 0.1  # a pixel


class CpuPainter:
    """Paints compositions; keeps textures from one to the next. For any number of threads."""

    def __init__(self) -> None:
        self._textures = Textures()

    def paint(self, composition: Composition, out: Bytes | None = None) -> Bytes:
        """The same bytes as the reference."""
        width, height = composition.width, composition.height
        canvas = np.empty((height, width, 4), np.uint8) if out is None else out
        records: list[Record] = []
        filled = False
        for layer in composition.layers:
            if isinstance(layer, Adjustment):
                self._run(records, canvas, None if filled else composition.background)
                records, filled = [], True
                _adjust(canvas, layer)
                continue
            record = self._record(layer, width, height)
            if record is None:
                continue
            if record.covers:
                records.clear()
                filled = True
            records.append(record)
        if records or not filled:
            self._run(records, canvas, None if filled else composition.background)
        return canvas

    def _record(self, layer: Layer, width: int, height: int) -> Record | None:
        placed = place(layer, width, height)
        if placed is None:
            return None
        content = resolve(layer, self.paint)
        return make_record(layer, content, placed, (width, height), self._textures)

    def _run(
        self, records: Sequence[Record], canvas: Bytes, background: tuple[int, ...] | None
    ) -> None:
        if not records and background is None:
            return
        height, width = canvas.shape[:2]
        target = canvas if canvas.strides[1:] == (4, 1) else np.empty_like(canvas, order="C")
        if target is not canvas:
            target[:] = canvas
        table = array("q")
        for record in records:
            table.extend(record.words)
        work_ns = sum(r.work_ns for r in records) + (width * height * FILL_NS if background else 0)
        helpers = min(useful_helpers(work_ns), cores.thread_count() - 1)
        rows = max(BAND_BYTES // (width * 4), LEAST_ROWS)
        if helpers:
            rows = min(rows, max(-(-height // (helpers + 1) // 2), LEAST_ROWS))
        room, offsets = _plan_room(records, width)
        block = array("q", [
            0, -(-height // rows), rows, 0, height,
            int(target.ctypes.data), target.strides[0], background is not None,
            int.from_bytes(bytes(background or (0, 0, 0, 0)), "little"), 0, width,
            table.buffer_info()[0], len(records), *offsets, *[0] * 5,
        ])  # fmt: skip
        assert len(block) == RUN_WORDS
        scratch = np.empty(room, np.uint8)
        pool().run(
            code().paint_bands, block.buffer_info()[0], int(scratch.ctypes.data), room, helpers
        )
        if target is not canvas:
            canvas[:] = target


def _plan_room(records: Sequence[Record], width: int) -> tuple[int, list[int]]:
    """How much memory a thread needs, and the offsets of its parts."""
    sums = max((r.sums for r in records), default=0) * 2 + 2 * PAD
    columns = max((r.columns for r in records), default=0)
    reduced = _padded(columns + PAD)
    samples = _padded(width * 2 + 2 * PAD)
    taps = _padded(width * 4 + PAD)
    at = THREAD_BYTES
    sums_at, at = at, at + _padded(sums)
    reduced_at, at = at, at + 6 * reduced
    lerped_at, at = at + PAD, at + _padded(columns * 2 + 4 * PAD)
    samples_at, at = at, at + max(3 * samples, _padded(width * 8 + 2 * PAD))
    pixels_at, at = at, at + _padded(width * 4 + 2 * PAD)
    cover_at, at = at, at + _padded(width * 2 + PAD)
    taps_at, at = at, at + 4 * taps
    return at, [
        sums_at, reduced_at, reduced, lerped_at, samples_at, samples, pixels_at, cover_at, taps_at, taps,
    ]  # fmt: skip


def _padded(size: int) -> int:
    return -(-size // 64) * 64


def _adjust(canvas: Bytes, adjustment: Adjustment) -> None:
    height, width = canvas.shape[:2]
    everywhere = Layer(
        Solid((0, 0, 0, 0), width, height), opacity=adjustment.opacity, clip=adjustment.clip
    )
    placed = place(everywhere, width, height)
    if placed is None:
        return
    rows, columns = slice(placed.top, placed.bottom), slice(placed.left, placed.right)
    above = filtered(canvas, adjustment.effects)
    if adjustment.clip is None and placed.opacity == 256:
        canvas[:] = above
    else:
        canvas[rows, columns] = mix(canvas[rows, columns], above[rows, columns], cover(placed))
