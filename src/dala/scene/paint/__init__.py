"""Layers → pixels.

    placing.py     where a layer goes, as whole numbers: positions, distances to its edges, sizes
    reducing.py    pictures made smaller by means of blocks, so that small layers do not alias
    content.py     contents that are pictures after all: groups, transitions, effects
    reference.py   what painting means, in NumPy; sampled.py what a layer shows, meeting.py how it blends
    cpu/           the same bytes from compiled code, in bands on the thread pool

design/scenes.md states every rule. All of it is whole-number arithmetic (f32 where it divides), so that
compiled code gives the same bytes.
"""

from __future__ import annotations

from dala.errors import DeviceError, ShapeError
from dala.once import once
from dala.scene.layers import Bytes, Composition
from dala.scene.paint.cpu import CpuPainter
from dala.scene.paint.reference import paint_reference

__all__ = ["paint"]


def paint(
    composition: Composition, *, device: str | None = None, out: Bytes | None = None
) -> Bytes:
    """The composition's pixels: (H, W, 4) u8, straight alpha; into ``out`` if that is given.

    >>> from dala.scene.layers import Composition
    >>> from dala.scene.paint import paint
    >>> paint(Composition(2, 1, (255, 0, 0, 255))).tolist()
    [[[255, 0, 0, 255], [255, 0, 0, 255]]]
    """
    if device not in (None, "auto", "cpu", "reference"):
        raise DeviceError(f"paint: expected the device 'cpu' or 'reference', got {device!r}")
    shape = composition.height, composition.width, 4
    if out is not None and (out.shape != shape or out.dtype != "uint8"):
        raise ShapeError(f"paint: expected an output of {shape} u8, got {out.shape} {out.dtype}")
    if device != "reference":
        return _painter().paint(composition, out)
    pixels = paint_reference(composition)
    if out is None:
        return pixels
    out[:] = pixels
    return out


@once
def _painter() -> CpuPainter:
    return CpuPainter()
