"""Layers → pixels.

    placing.py     where a layer goes, as whole numbers: positions, distances to its edges, sizes
    reducing.py    pictures made smaller by means of blocks, so that small layers do not alias
    content.py     contents that are pictures after all: groups, transitions, effects
    reference.py   what painting means, in NumPy; sampled.py what a layer shows, meeting.py how it blends
    planar.py      pixels as planes of YUV, for encoders
    changes.py     what of a canvas has to be painted again
    cpu/           the same bytes from compiled code, in bands on the thread pool
    webgpu/        the same within a level from compute shaders, on a GPU

design/scenes.md states every rule. All of it is whole-number arithmetic (f32 where it divides), so that
compiled code gives the same bytes.
"""

from __future__ import annotations

import numpy as np

from dala.backends.auto import is_spec
from dala.errors import ArgumentError, DeviceError, ShapeError
from dala.once import OnceByKey
from dala.scene.layers import Bytes, Composition, Planes
from dala.scene.paint.cpu import CpuPainter
from dala.scene.paint.planar import Matrix, on_black, planes_of_reference
from dala.scene.paint.reference import paint_reference

__all__ = ["paint", "paint_planes"]


def paint(
    composition: Composition,
    *,
    device: str | None = None,
    out: Bytes | None = None,
    previous: Composition | None = None,
) -> Bytes:
    """The composition's pixels: (H, W, 4) u8, straight alpha; into ``out`` if that is given.

    If ``out`` holds the pixels of a ``previous`` composition, only what has changed is painted.

    >>> from dala.scene.layers import Composition
    >>> from dala.scene.paint import paint
    >>> paint(Composition(2, 1, (255, 0, 0, 255))).tolist()
    [[[255, 0, 0, 255], [255, 0, 0, 255]]]
    """
    check_device(device, "paint")
    shape = composition.height, composition.width, 4
    if out is not None and (out.shape != shape or out.dtype != np.uint8):
        raise ShapeError(f"paint: expected an output of {shape} u8, got {out.shape} {out.dtype}")
    if previous is not None:
        size = previous.height, previous.width, 4
        if out is None:
            raise ArgumentError("paint: previous is what the output holds; give that as out, too")
        if size != shape:
            raise ShapeError(f"paint: expected a previous composition of {shape}, got {size}")
    if device is not None and is_gpu(device):
        from dala.scene.paint.webgpu import (
            reading,
        )  # a GPU's machinery is loaded when it is asked for

        return reading.paint_into(reading.shared_painter(device), composition, out, previous)
    if device != "reference":
        return _painter(device).paint(composition, out, previous)
    pixels = paint_reference(composition)
    if out is None:
        return pixels
    out[:] = pixels
    return out


def paint_planes(
    composition: Composition,
    *,
    matrix: Matrix = "bt709",
    full_range: bool = False,
    device: str | None = None,
    out: tuple[Bytes, Bytes, Bytes] | None = None,
) -> Planes:
    """The composition on black as a frame for an encoder: 4:2:0, 8 bits, in one pass from its sources.

    Where nothing but one video of the same matrix and range is seen, at an even position, its own planes
    are copied. ``out`` are arrays for Y, U and V.

    >>> from dala.scene.layers import Composition
    >>> from dala.scene.paint import paint_planes
    >>> frame = paint_planes(Composition(4, 2, (255, 255, 255, 255)))
    >>> frame.y.tolist(), frame.u.tolist()
    ([[235, 235, 235, 235], [235, 235, 235, 235]], [[128, 128]])
    """
    check_device(device, "paint_planes")
    black = on_black(composition)
    width, height = black.width, black.height
    shapes = (height, width), (height // 2, width // 2), (height // 2, width // 2)
    if out is not None and [p.shape for p in out] != list(shapes):
        raise ShapeError(f"paint_planes: expected {shapes}, got {[p.shape for p in out]}")
    made = out or _empty_planes(width, height)
    _paint_planes_on(device, black, made, matrix, full_range)
    return Planes(*made, matrix, full_range)


def _paint_planes_on(
    device: str | None,
    black: Composition,
    made: tuple[Bytes, Bytes, Bytes],
    matrix: Matrix,
    full_range: bool,
) -> None:
    if device == "reference":
        pixels = paint_reference(black)
        planes = planes_of_reference(black, pixels, matrix, full_range)
        for to, plane in zip(made, planes, strict=True):
            to[:] = plane
    elif device is not None and is_gpu(device):
        from dala.scene.paint.webgpu import reading

        painter = reading.shared_painter(device)
        reading.planes_into(painter, black, made, matrix, full_range)
    elif all(plane.strides[1] == 1 for plane in made) and made[1].strides == made[2].strides:
        _painter(device).paint_planes(black, made, matrix, full_range)
    else:
        apart = _empty_planes(black.width, black.height)
        _painter(device).paint_planes(black, apart, matrix, full_range)
        for to, plane in zip(made, apart, strict=True):
            to[:] = plane


def _empty_planes(width: int, height: int) -> tuple[Bytes, Bytes, Bytes]:
    y = np.empty((height, width), np.uint8)
    u, v = (np.empty((height // 2, width // 2), np.uint8) for _ in range(2))
    return y, u, v


def check_device(device: str | None, who: str) -> None:
    """Refuse a device that paints no scenes."""
    if device not in (None, "auto", "cpu", "reference") and not is_gpu(device):
        raise DeviceError(
            f"{who}: scenes are painted by the device 'cpu', 'reference' or 'webgpu', got {device!r}; "
            "leave it out"
        )


def is_gpu(device: object) -> bool:
    """Whether that is the name of a GPU."""
    return isinstance(device, str) and device.startswith("webgpu") and is_spec(device)


def painted_by(device: str | None) -> str:
    """The name of the device that paints where that one is asked for: without one, the CPU."""
    return device if device == "reference" or (device is not None and is_gpu(device)) else "cpu"


_painters: OnceByKey[str | None, CpuPainter] = OnceByKey(2)


def _painter(device: str | None) -> CpuPainter:
    """Who asks for the CPU has effects there, too, whatever the process's default device is."""
    effects_on = "cpu" if device == "cpu" else None
    return _painters.get(effects_on, lambda: CpuPainter(effects_on))
