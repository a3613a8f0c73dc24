"""Results of the GPU's painter in main memory."""

from __future__ import annotations

import numpy as np

from dala.backends.auto import open_device
from dala.backends.webgpu.device import WebGpuDevice
from dala.once import OnceByKey
from dala.scene.layers import Bytes, Composition
from dala.scene.paint.changes import changed_boxes
from dala.scene.paint.webgpu.painter import GpuPainter

KEPT = 4  # GPUs
_painters: OnceByKey[WebGpuDevice, GpuPainter] = OnceByKey(KEPT)


def open_gpu(name: str) -> WebGpuDevice:
    """The GPU of that name; one that was lost is opened again."""
    device = open_device(name)
    assert isinstance(device, WebGpuDevice)
    return device


def shared_painter(name: str) -> GpuPainter:
    """The painter for those who have none of their own."""
    device = open_gpu(name)
    return _painters.get(device, lambda: GpuPainter(device))


def paint_into(
    painter: GpuPainter, composition: Composition, out: Bytes | None, previous: Composition | None
) -> Bytes:
    """The composition's pixels as an array. Of one that holds a previous composition, only what has changed
    is painted, fetched and written."""
    device = painter.device
    if out is None:
        pixels: Bytes = device.fetch(painter.paint(composition))
        return pixels
    if previous is None:
        device.download(painter.paint(composition), out)
        return out
    boxes = changed_boxes(previous, composition)
    if boxes:
        canvas = painter.paint_boxes(composition, boxes)
        top, end = min(box[1] for box in boxes), max(box[3] for box in boxes)
        rows = device.fetch_rows(canvas, top, end)
        for left, first, right, last in boxes:
            out[first:last, left:right] = rows[first - top : last - top, left:right]
    return out


def planes_into(
    painter: GpuPainter,
    composition: Composition,
    out: tuple[Bytes, Bytes, Bytes],
    matrix: str,
    full_range: bool,
) -> None:
    """The composition's Y, U and V, into these arrays."""
    content = painter.device.fetch(painter.paint_planes(composition, matrix, full_range))
    at = 0
    for plane in out:
        np.copyto(plane, content[at : at + plane.size].reshape(plane.shape))
        at += plane.size
