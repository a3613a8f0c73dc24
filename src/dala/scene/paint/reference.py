"""What painting a composition means. Slow, and short enough to be believed."""

from __future__ import annotations

import numpy as np

from dala.scene.effects import filtered
from dala.scene.layers import Adjustment, Bytes, Composition, Layer, Solid
from dala.scene.paint.content import resolve
from dala.scene.paint.meeting import meet, mix
from dala.scene.paint.placing import place
from dala.scene.paint.sampled import cover, sample


def paint_reference(composition: Composition) -> Bytes:
    """One layer after another onto a canvas of u8."""
    shape = composition.height, composition.width, 4
    canvas = np.full(shape, composition.background, np.uint8)
    for layer in composition.layers:
        if isinstance(layer, Adjustment):
            _adjust(canvas, layer)
        else:
            _paint_layer(canvas, layer)
    return canvas


def _paint_layer(canvas: Bytes, layer: Layer) -> None:
    placed = place(layer, canvas.shape[1], canvas.shape[0])
    if placed is None:
        return
    content = resolve(layer, paint_reference)
    box = canvas[placed.top : placed.bottom, placed.left : placed.right]
    meet(box, sample(content, placed), layer.blend)


def _adjust(canvas: Bytes, adjustment: Adjustment) -> None:
    height, width = canvas.shape[:2]
    everywhere = Layer(
        Solid((0, 0, 0, 0), width, height), opacity=adjustment.opacity, clip=adjustment.clip
    )
    placed = place(everywhere, width, height)
    if placed is None:
        return
    rows, columns = slice(placed.top, placed.bottom), slice(placed.left, placed.right)
    above = filtered(canvas, adjustment.effects, adjustment.upcoming)
    canvas[rows, columns] = mix(canvas[rows, columns], above[rows, columns], cover(placed))
