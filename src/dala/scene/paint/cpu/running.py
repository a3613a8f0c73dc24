"""One native run: layers onto a part of a canvas, or into planes, in bands on the thread pool."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from dala.backends.cpu.run import cores
from dala.backends.cpu.run.pool import pool, useful_helpers
from dala.scene.layers import Bytes
from dala.scene.paint.changes import Box
from dala.scene.paint.cpu.code import code
from dala.scene.paint.cpu.layout import PAD, RUN_WORDS, THREAD_BYTES
from dala.scene.paint.cpu.records import Record

BAND_BYTES = 192 << 10  # of the canvas: they stay in a core's cache while all layers are painted
LEAST_ROWS = 8
FILL_NS = 0.1  # a pixel
Background: TypeAlias = "tuple[int, ...] | None"


class Out(NamedTuple):
    """Planes to fill, with black and factors (planar.py), and whether the lowest layer's are copied."""

    planes: tuple[Bytes, Bytes, Bytes]
    factors: tuple[int, ...]
    copied: bool


def paint_box(records: Sequence[Record], canvas: Bytes, background: Background, box: Box) -> None:
    """Layers onto a part of a canvas whose rows lie without gaps; what is there stays below them unless
    there is a background."""
    run(records, background, box, (int(canvas.ctypes.data), canvas.strides[0]), None)


def paint_planes(
    records: Sequence[Record], background: Background, size: tuple[int, int], out: Out
) -> None:
    """Layers as planes: pixels are only in the threads' memory, a band at a time."""
    run(records, background, (0, 0, *size), (0, size[0] * 4), out)


def convert(canvas: Bytes, out: Out) -> None:
    """A canvas that is painted already, as planes; it has room for a vector behind its end."""
    height, width = canvas.shape[:2]
    run((), None, (0, 0, width, height), (int(canvas.ctypes.data), width * 4), out)


def run(
    records: Sequence[Record],
    background: Background,
    box: Box,
    canvas: tuple[int, int],
    out: Out | None,
) -> None:
    left, top, right, bottom = box
    table = array("q")
    for record in records:
        table.extend(record.words)
    area = (right - left) * (bottom - top)
    work_ns = sum(r.work_ns for r in records) + area * FILL_NS
    helpers = min(useful_helpers(work_ns), cores.thread_count() - 1)
    rows = max(BAND_BYTES // ((right - left) * 4), LEAST_ROWS)
    if helpers:
        rows = min(rows, max(-(-(bottom - top) // (helpers + 1) // 2), LEAST_ROWS))
    rows += rows % 2  # planes have a row of chroma for two of luma
    own = 0 if canvas[0] else rows * canvas[1] + 4 * PAD  # bytes of a band in a thread's memory
    room, offsets, band_at = _plan_room(records, right, own)
    words = [
        0, -(-(bottom - top) // rows), rows, top, bottom,
        *canvas, background is not None,
        int.from_bytes(bytes(background or (0, 0, 0, 0)), "little"), left, right,
        table.buffer_info()[0], len(records), *offsets, band_at,
    ]  # fmt: skip
    if out is not None:
        y, u, v = out.planes
        addresses = (int(plane.ctypes.data) for plane in out.planes)
        words += [*addresses, y.strides[0], u.strides[0], *out.factors, out.copied]
        assert u.strides == v.strides
    block = array("q", words + [0] * (RUN_WORDS - len(words)))
    scratch = np.empty(room, np.uint8)
    pool().run(code().paint_bands, block.buffer_info()[0], int(scratch.ctypes.data), room, helpers)


def _plan_room(records: Sequence[Record], width: int, own: int) -> tuple[int, list[int], int]:
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
    offsets = [
        sums_at, reduced_at, reduced, lerped_at, samples_at, samples, pixels_at, cover_at, taps_at, taps,
    ]  # fmt: skip
    return at + own, offsets, at if own else 0


def _padded(size: int) -> int:
    return -(-size // 64) * 64
