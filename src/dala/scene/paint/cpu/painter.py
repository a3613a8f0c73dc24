"""A composition painted by compiled code: all of it, what has changed, or as planes."""

from __future__ import annotations

import numpy as np

from dala.scene.effects import filtered
from dala.scene.layers import Adjustment, Bytes, Composition, Layer, Solid
from dala.scene.paint.changes import Box, changed_boxes
from dala.scene.paint.content import resolve
from dala.scene.paint.cpu.layout import PAD
from dala.scene.paint.cpu.records import Record, make_record
from dala.scene.paint.cpu.running import Background, Out, convert, paint_box, paint_planes
from dala.scene.paint.cpu.textures import Textures
from dala.scene.paint.meeting import mix
from dala.scene.paint.placing import place
from dala.scene.paint.planar import copied_video, on_black, rgb_factors
from dala.scene.paint.sampled import cover


class CpuPainter:
    """Paints compositions; keeps textures from one to the next. For any number of threads. Effects run on
    the device of that name; without one, on the default device."""

    def __init__(self, effects_on: str | None = None) -> None:
        self._effects_on = effects_on
        self._textures = Textures()

    def paint(
        self,
        composition: Composition,
        out: Bytes | None = None,
        previous: Composition | None = None,
    ) -> Bytes:
        """The same bytes as the reference. Where ``out`` holds the previous composition, only what has
        changed is painted."""
        height, width = composition.height, composition.width
        canvas = np.empty((height, width, 4), np.uint8) if out is None else out
        boxes: list[Box] = [(0, 0, width, height)]
        if out is not None and previous is not None:
            boxes = changed_boxes(previous, composition)
        if not boxes:
            return canvas
        if canvas.strides[1:] == (4, 1):
            self._paint(composition, canvas, boxes)
        else:
            whole = np.ascontiguousarray(canvas)
            self._paint(composition, whole, boxes)
            canvas[:] = whole
        return canvas

    def paint_planes(
        self,
        composition: Composition,
        planes: tuple[Bytes, Bytes, Bytes],
        matrix: str,
        full_range: bool,
    ) -> None:
        """Y, U and V of the composition on black, into arrays without gaps in their rows."""
        composition = on_black(composition)
        width, height = composition.width, composition.height
        out = Out(planes, rgb_factors(matrix, full_range), False)
        if any(isinstance(layer, Adjustment) for layer in composition.layers):
            memory = np.empty(width * height * 4 + 4 * PAD, np.uint8)
            canvas = memory[: width * height * 4].reshape(height, width, 4)
            self._paint(composition, canvas, [(0, 0, width, height)])
            convert(canvas, out)
            return
        records, background = self._records(composition)
        copied = copied_video(composition, matrix, full_range) is not None
        paint_planes(records, background, (width, height), out._replace(copied=copied))

    def _records(self, composition: Composition) -> tuple[list[Record], Background]:
        """Of all layers that are seen; no background where it is hidden."""
        records: list[Record] = []
        background: Background = composition.background
        for layer in composition.layers:
            assert isinstance(layer, Layer)
            record = self._record(layer, composition)
            if record is not None and record.covers:
                records.clear()
                background = None
            if record is not None:
                records.append(record)
        return records, background

    def _paint(self, composition: Composition, canvas: Bytes, boxes: list[Box]) -> None:
        """Layers between two adjustments at a time."""
        background: Background = composition.background
        layers: list[Layer] = []
        for layer in (*composition.layers, None):
            if isinstance(layer, Layer):
                layers.append(layer)
                continue
            part = Composition(composition.width, composition.height, layers=tuple(layers))
            records, below = self._records(part)
            for box in boxes:
                seen = [clipped for r in records if (clipped := r.within(box)) is not None]
                paint_box(seen, canvas, below and background, box)
            if layer is not None:
                _adjust(canvas, layer, self._effects_on)
            background, layers = None, []

    def _record(self, layer: Layer, on: Composition) -> Record | None:
        placed = place(layer, on.width, on.height)
        if placed is None:
            return None
        content = resolve(layer, self.paint, self._effects_on)
        return make_record(layer, content, placed, (on.width, on.height), self._textures)


def _adjust(canvas: Bytes, adjustment: Adjustment, device: str | None) -> None:
    height, width = canvas.shape[:2]
    everywhere = Layer(
        Solid((0, 0, 0, 0), width, height), opacity=adjustment.opacity, clip=adjustment.clip
    )
    placed = place(everywhere, width, height)
    if placed is None:
        return
    rows, columns = slice(placed.top, placed.bottom), slice(placed.left, placed.right)
    above = filtered(canvas, adjustment.effects, adjustment.upcoming, device)
    if adjustment.clip is None and placed.opacity == 256:
        canvas[:] = above
    else:
        canvas[rows, columns] = mix(canvas[rows, columns], above[rows, columns], cover(placed))
