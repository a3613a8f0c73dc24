"""Layers as records for machine code, and the pictures that they need.

Record   the words of one layer (layout.py), the box it paints, and the arrays it points into
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace

import numpy as np

from dala.scene.layers import BLENDS, Bytes, Layer, Rgba, Solid
from dala.scene.paint.content import Plain
from dala.scene.paint.cpu.layout import LAYER_BYTES, PLANAR, SAMPLED, SOLID, STRAIGHT
from dala.scene.paint.cpu.textures import Textures
from dala.scene.paint.placing import Placed, Taps, place_taps
from dala.scene.paint.planar import covers
from dala.scene.paint.sampled import yuv_factors

_NO_PLANE = [0] * 12
_NO_CLIP = (0, 0, 0, 0)
# nanoseconds a pixel, roughly, on one thread: how many threads are worth waking follows from them
_COSTS = {SOLID: 0.3, STRAIGHT: 0.4, SAMPLED: 0.8, PLANAR: 0.6}


@dataclass(slots=True)
class Record:
    """A layer that is ready to be painted."""

    words: array[int]
    left: int
    top: int
    right: int
    bottom: int
    work_ns: float
    covers: bool  # every pixel of the canvas, opaquely
    columns: int = 0  # values that are read of a row, at most
    sums: int = 0  # values of a row that is reduced
    held: list[Bytes] = field(default_factory=list)

    def within(self, box: tuple[int, int, int, int]) -> Record | None:
        """The same, painting no further than a box; nothing if it does not reach that."""
        left, top = max(self.left, box[0]), max(self.top, box[1])
        right, bottom = min(self.right, box[2]), min(self.bottom, box[3])
        if left >= right or top >= bottom:
            return None
        words = self.words[:]
        words[1:5] = array("q", [left, top, right, bottom])
        share = (right - left) * (bottom - top)
        whole = (self.right - self.left) * (self.bottom - self.top)
        work_ns = self.work_ns * share / whole
        return replace(
            self, words=words, left=left, top=top, right=right, bottom=bottom, work_ns=work_ns
        )


def make_record(
    layer: Layer, content: Plain, placed: Placed, size: tuple[int, int], textures: Textures
) -> Record:
    """The layer on a canvas of that size."""
    opaque = content.color[3] == 255 if isinstance(content, Solid) else True
    if isinstance(content, Rgba):
        opaque = content.opaque
    hides = opaque and layer.blend == "over" and covers(placed, *size)
    record = Record(array("q"), placed.left, placed.top, placed.right, placed.bottom, 0.0, hides)
    kind, color, factors, planes = _describe(content, placed, textures, record)
    clip = placed.clip
    record.words.extend(
        [kind, placed.left, placed.top, placed.right, placed.bottom, placed.opacity, placed.radius,
         placed.ramp, placed.aligned, BLENDS.index(layer.blend), opaque, clip is not None,
         *(clip or _NO_CLIP), *placed.from_left, *placed.from_right, *placed.from_top,
         *placed.from_bottom, color, *factors, *planes]
    )  # fmt: skip
    assert len(record.words) * 8 == LAYER_BYTES
    record.work_ns = _COSTS[kind] * (record.right - record.left) * (record.bottom - record.top)
    return record


def _describe(
    content: Plain, placed: Placed, textures: Textures, record: Record
) -> tuple[int, int, tuple[int, ...], list[int]]:
    none = (0,) * 6
    if isinstance(content, Solid):
        color = int.from_bytes(bytes(content.color), "little")
        return SOLID, color, none, _NO_PLANE * 3
    if isinstance(content, Rgba):
        taps = place_taps(placed, content.width, content.height, 1)
        if taps.whole and not placed.ramp:  # soft edges reach beyond the picture
            plane = _plane(content.pixels, taps, record)
            return STRAIGHT, 0, none, plane + _NO_PLANE * 2
        texture, taps = textures.picture(content, taps)
        return SAMPLED, 0, none, _plane(texture, taps, record) + _NO_PLANE * 2
    planes: list[int] = []
    for name, values, share in (("y", content.y, 1), ("u", content.u, 2), ("v", content.v, 2)):
        taps = place_taps(placed, values.shape[1], values.shape[0], share)
        if not placed.aligned:
            values, taps = textures.plane(content, name, values, taps)
        planes += _plane(values, taps, record)
    return PLANAR, 0, yuv_factors(content.matrix, content.full_range), planes


def _plane(values: Bytes, taps: Taps, record: Record) -> list[int]:
    """Of an array whose rows lie in order, each without gaps."""
    inner = (4, 1) if values.ndim == 3 else (1,)
    if values.strides[1:] != inner or values.strides[0] < 0 or values.nbytes < 4:
        values = np.ascontiguousarray(np.pad(values, ((0, 4), *((0, 0),) * (values.ndim - 1))))
    record.held.append(values)
    size = len(inner) ** 2
    stride = values.strides[0]
    record.columns = max(record.columns, taps.reduced_width * size)
    record.sums = max(record.sums, taps.reduced_width << taps.level_x)
    at = int(values.ctypes.data) + taps.top * stride + taps.left * size
    return [
        at,
        stride,
        taps.width,
        taps.height,
        taps.level_x,
        taps.level_y,
        *taps.columns,
        *taps.rows,
    ]
