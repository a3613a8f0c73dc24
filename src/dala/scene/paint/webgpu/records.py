"""Layers as records for the shader.

Record   the words of one layer (layout.py), its box, and whether it hides what is below it
"""

from __future__ import annotations

from typing import NamedTuple

from dala.scene.layers import BLENDS, Adjustment, Layer, Planes, Rgba, Solid
from dala.scene.paint.placing import FULL, Affine, Placed, place_taps
from dala.scene.paint.sampled import yuv_factors
from dala.scene.paint.webgpu import layout
from dala.scene.paint.webgpu.textures import Picture, Textures
from dala.scene.paint.webgpu.textures import Placed as Plane

Box = tuple[int, int, int, int]
_NO_CLIP = (0, 0, 0, 0)
_NO_YUV = (0,) * 8
_NO_PLANE = (0,) * 10
_EMPTY: Box = (0, 0, 0, 0)


class Record(NamedTuple):
    """A layer that is ready to be painted."""

    words: bytes
    box: Box


def is_opaque(content: object) -> bool:
    """Whether no pixel of it is translucent, as far as one can say without painting it."""
    if isinstance(content, Solid):
        return content.color[3] == 255
    return isinstance(content, Planes) or (isinstance(content, Rgba) and content.opaque)


def hides(layer: Layer, placed: Placed, inner: Box) -> bool:
    """Whether nothing of what is below is seen within its inner box."""
    if placed.opacity != FULL or layer.blend != "over" or inner == _EMPTY or layer.effects:
        return False
    return is_opaque(layer.content)


def make_record(
    layer: Layer, content: Picture | Planes | Solid, placed: Placed, inner: Box, textures: Textures
) -> Record:
    """The layer as it is placed."""
    opaque = content.opaque if isinstance(content, Picture) else is_opaque(content)
    bits = layout.OPAQUE if opaque else 0
    bits |= layout.CLIPPED if placed.clip is not None else 0
    bits |= layout.HIDES if hides(layer, placed, inner) else 0
    kind, color, yuv, planes = _describe(content, placed, textures)
    return _pack(kind, BLENDS.index(layer.blend), bits, placed, inner, color, yuv, planes)


def make_adjustment(placed: Placed, picture: Picture, inner: Box, textures: Textures) -> Record:
    """A filtered canvas, mixed into the canvas itself."""
    taps = place_taps(placed, picture.width, picture.height, 1)
    plane = _plane(textures.straight(picture, taps))
    bits = layout.CLIPPED if placed.clip is not None else 0
    planes = plane + 2 * _NO_PLANE
    return _pack(layout.STRAIGHT, layout.MIX, bits, placed, inner, 0, _NO_YUV, planes)


def make_box(placed: Placed) -> Record:
    """Where a layer is, and nothing else of it."""
    return _pack(layout.SOLID, layout.OVER, 0, placed, _EMPTY, 0, _NO_YUV, 3 * _NO_PLANE)


def _pack(
    kind: int, mode: int, bits: int, placed: Placed, inner: Box, color: int,
    yuv: tuple[int, ...], planes: tuple[int, ...],
) -> Record:  # fmt: skip
    box = placed.left, placed.top, placed.right, placed.bottom
    words = layout.LAYER.pack(
        kind, mode, placed.opacity, bits, *box, *inner, *(placed.clip or _NO_CLIP), color,
        placed.radius, placed.ramp, 0, *placed.from_left, *placed.from_right, *placed.from_top,
        *placed.from_bottom, *yuv, *planes,
    )  # fmt: skip
    return Record(words, box)


def _describe(
    content: Picture | Planes | Solid, placed: Placed, textures: Textures
) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    if isinstance(content, Solid):
        color = int.from_bytes(bytes(content.color), "little")
        return layout.SOLID, color, _NO_YUV, 3 * _NO_PLANE
    if isinstance(content, Picture):
        taps = place_taps(placed, content.width, content.height, 1)
        straight = taps.whole and not placed.ramp  # soft edges reach beyond the picture
        found = textures.straight(content, taps) if straight else textures.picture(content, taps)
        kind = layout.STRAIGHT if straight else layout.SAMPLED
        return kind, 0, _NO_YUV, _plane(found) + 2 * _NO_PLANE
    luma = place_taps(placed, content.width, content.height, 1)
    chroma = place_taps(placed, content.u.shape[1], content.u.shape[0], 2)
    planes: tuple[int, ...] = ()
    for plane in textures.planes(content, luma, chroma):
        planes += _plane(plane)
    return layout.PLANAR, 0, (*yuv_factors(content.matrix, content.full_range), 0, 0), planes


def _plane(plane: Plane) -> tuple[int, ...]:
    taps = plane.taps
    return plane.first, plane.stride, taps.width, taps.height, *taps.columns, *taps.rows


# -- where a layer covers everything ------------------------------------------------------------------


def inner_box(placed: Placed) -> Box:
    """Pixels that a layer covers with all of its opacity; empty if none are known."""
    full = FULL >> 1  # of its edges, in 1/256 pixels
    if placed.ramp:
        full = -(-(FULL << 15) // placed.ramp)
    beside = max(full, placed.radius)  # between round corners
    left, top, right, bottom = placed.left, placed.top, placed.right, placed.bottom
    if not placed.aligned:
        edges = placed.from_left, placed.from_right, placed.from_top, placed.from_bottom
        whole = all(_least(edge, placed) >= beside << 24 for edge in edges)
        box = (left, top, right, bottom) if whole else _EMPTY
    else:
        across, down = (placed.from_left, placed.from_right), (placed.from_top, placed.from_bottom)
        for step, _, at in across:
            left, right = _reach(step, at, beside, left, right)
        for _, step, at in down:
            top, bottom = _reach(step, at, full, top, bottom)
        box = (left, top, right, bottom) if left < right and top < bottom else _EMPTY
    if placed.clip is not None:
        x0, y0, x1, y1 = placed.clip
        box = _meet(box, (-(-x0 // 256), -(-y0 // 256), x1 // 256, y1 // 256))
    return box


def _reach(step: int, at: int, least: int, first: int, end: int) -> tuple[int, int]:
    """The part of a line, from first to end, in which a distance is at least so many 1/256 pixels."""
    missing = (least << 24) - at  # step·x must be that much
    if step == 0:
        return (first, end) if missing <= 0 else (0, 0)
    if step > 0:
        return max(first, -(-missing // step)), end
    return first, min(end, missing // step + 1)


def _least(affine: Affine, placed: Placed) -> int:
    x, y, at = affine
    columns, rows = (placed.left, placed.right - 1), (placed.top, placed.bottom - 1)
    return min(at + x * column + y * row for column in columns for row in rows)


def _meet(a: Box, b: Box) -> Box:
    left, top, right, bottom = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return (left, top, right, bottom) if left < right and top < bottom else _EMPTY


def everywhere(adjustment: Adjustment, width: int, height: int) -> Layer:
    """An adjustment's place, as a layer of the canvas' size."""
    colour = Solid((0, 0, 0, 0), width, height)
    return Layer(colour, opacity=adjustment.opacity, clip=adjustment.clip)
