"""Painted pixels as planes of YUV 4:2:0, for encoders: what that means, in NumPy.

Y of each pixel, U and V of the mean colour of two by two. Where nothing but one video is seen, at an even
position and with the output's own matrix and range, its planes are copied: what is not touched is not
converted twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.errors import ShapeError
from dala.kernels.yuv import WEIGHTS
from dala.scene.layers import Adjustment, Bytes, Composition, Layer, Planes
from dala.scene.paint.placing import FULL, ONE, Placed, place, place_taps
from dala.scene.paint.sampled import Ints, multiply

Matrix: TypeAlias = Literal["bt601", "bt709", "bt2020"]
Boxes: TypeAlias = Sequence[tuple[int, int, int, int]]


def on_black(composition: Composition) -> Composition:
    """The same with an opaque background: planes have no alpha."""
    if composition.width % 2 or composition.height % 2:
        raise ShapeError(
            f"planes of 4:2:0 have an even width and height, got {composition.width} × {composition.height}"
        )
    r, g, b, a = composition.background
    seen = ((r * a + 127) // 255, (g * a + 127) // 255, (b * a + 127) // 255, 255)
    return Composition(composition.width, composition.height, seen, composition.layers)


def rgb_factors(matrix: str, full_range: bool) -> tuple[int, ...]:
    """Black, then the factors of red, green and blue in Y, in U and in V, in units of 2⁻¹⁵."""
    kr, kb = WEIGHTS[matrix]
    kg = 1 - kr - kb
    luma, chroma = (1.0, 1.0) if full_range else (219 / 255, 224 / 255)
    u, v = 0.5 / (1 - kb) * chroma, 0.5 / (1 - kr) * chroma
    factors = (
        kr * luma, kg * luma, kb * luma,
        -kr * u, -kg * u, (1 - kb) * u,
        (1 - kr) * v, -kg * v, -kb * v,
    )  # fmt: skip
    return 0 if full_range else 16 << 7, *(round(k * 32768) for k in factors)


def copied_video(
    composition: Composition, matrix: str, full_range: bool
) -> tuple[Planes, tuple[int, int], Boxes] | None:
    """The video whose planes may be copied, where its pixel (0, 0) lies, and the boxes of what is above."""
    boxes: list[tuple[int, int, int, int]] = []
    for layer in reversed(composition.layers):
        if isinstance(layer, Adjustment):
            return None
        placed = place(layer, composition.width, composition.height)
        if placed is None:
            continue
        at = _even_position(layer, placed, composition)
        if at is not None and isinstance(layer.content, Planes):
            same = layer.content.matrix == matrix and layer.content.full_range == full_range
            return (layer.content, at, boxes) if same else None
        box = placed.left, placed.top, placed.right, placed.bottom
        if box == (0, 0, composition.width, composition.height):
            return (
                None  # no block below is free, and painters may have left out what this one hides
            )
        boxes.append(box)
    return None


def _even_position(layer: Layer, placed: Placed, on: Composition) -> tuple[int, int] | None:
    """Of a layer that covers the canvas with whole pixels, moved by an even number of them."""
    if layer.effects or layer.blend != "over" or not covers(placed, on.width, on.height):
        return None
    taps = place_taps(placed, layer.content.width, layer.content.height, 1)
    if not taps.whole:
        return None
    x, y = (taps.columns[2] >> 32) + taps.left, (taps.rows[2] >> 32) + taps.top
    return None if (x | y | taps.left | taps.top) & 1 else (x, y)


def covers(placed: Placed, width: int, height: int) -> bool:
    """Whether every pixel of the canvas is all covered."""
    if placed.opacity < FULL or placed.radius or placed.ramp or placed.clip:
        return False
    right, bottom = width - 1, height - 1
    return all(
        min(at, at + x * right, at + y * bottom, at + x * right + y * bottom) >= ONE >> 1
        for x, y, at in (placed.from_left, placed.from_right, placed.from_top, placed.from_bottom)
    )


def to_planes(pixels: Bytes, matrix: str, full_range: bool) -> tuple[Bytes, Bytes, Bytes]:
    """Opaque pixels as Y, U and V."""
    black, *factors = rgb_factors(matrix, full_range)
    wide = pixels[..., :3].astype(np.int64)
    height, width = pixels.shape[:2]
    means = wide.reshape(height // 2, 2, width // 2, 2, 3).sum(axis=(1, 3)) << 5
    y = _weigh(wide << 7, factors[:3]) + black
    u, v = (_weigh(means, factors[i : i + 3]) + (128 << 7) for i in (3, 6))
    a, b, c = (((plane + 64) >> 7).clip(0, 255).astype(np.uint8) for plane in (y, u, v))
    return a, b, c


def _weigh(colors: Ints, factors: Sequence[int]) -> Ints:
    r, g, b = (multiply(colors[..., i], factors[i]) for i in range(3))
    total: Ints = r + g + b
    return total


def untouched(boxes: Boxes, width: int, height: int) -> npt.NDArray[np.bool_]:
    """Which blocks of two by two pixels no box reaches."""
    free = np.ones((height // 2, width // 2), np.bool_)
    for left, top, right, bottom in boxes:
        free[top // 2 : math.ceil(bottom / 2), left // 2 : math.ceil(right / 2)] = False
    return free


def planes_of_reference(
    composition: Composition, pixels: Bytes, matrix: str, full_range: bool
) -> tuple[Bytes, Bytes, Bytes]:
    """The planes of a composition that the reference has painted."""
    planes = to_planes(pixels, matrix, full_range)
    found = copied_video(composition, matrix, full_range)
    if found is None:
        return planes
    video, (x, y), boxes = found
    free = untouched(boxes, composition.width, composition.height)
    for to, source, size in zip(planes, (video.y, video.u, video.v), (1, 2, 2), strict=True):
        rows, columns = to.shape
        part = source[y // size : y // size + rows, x // size : x // size + columns]
        seen = free.repeat(2, axis=0).repeat(2, axis=1) if size == 1 else free
        to[seen] = part[seen]
    return planes
