"""FFmpeg's pictures as contents of layers: planes as they were decoded; RGBA of what has RGB or alpha."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.scene.layers import Planes, Rgba
from dala.video.color import Color
from dala.video.pictures import Turn, converted, kind_of, view

Bytes = npt.NDArray[np.uint8]
_AS_THEY_ARE = ("yuv420p", "yuvj420p", "nv12")


def content_of(picture: Any, color: Color, turn: Turn, version: Hashable) -> Planes | Rgba:
    """A decoded picture, upright. Planes are those of the decoder, which keeps them for us."""
    if kind_of(picture) == "rgba":
        return _rgba(picture, color, turn, version)
    if picture.format.name not in _AS_THEY_ARE:
        picture = converted(picture, "yuv420p", color)
    y, u, v = (_upright(plane, turn) for plane in _planes(picture))
    return Planes(y, u, v, color.matrix, color.range == "full", version)


def bytes_of(content: Planes | Rgba) -> int:
    """How much memory it holds."""
    if isinstance(content, Rgba):
        return int(content.pixels.nbytes)
    return int(content.y.nbytes + content.u.nbytes + content.v.nbytes)


def _rgba(picture: Any, color: Color, turn: Turn, version: Hashable) -> Rgba:
    rgba = converted(picture, "rgba", color)
    pixels = np.ascontiguousarray(turn.apply(view(rgba.planes[0], rgba.width, 4)))
    return Rgba(pixels, bool((pixels[..., 3] == 255).all()), version)


def _planes(picture: Any) -> tuple[Bytes, Bytes, Bytes]:
    half = -(-picture.width // 2)
    planes = picture.planes
    luma = view(planes[0], picture.width)
    if len(planes) == 2:  # nv12: U and V in turn
        both = view(planes[1], half, 2)
        return luma, np.ascontiguousarray(both[..., 0]), np.ascontiguousarray(both[..., 1])
    return luma, view(planes[1], half), view(planes[2], half)


def _upright(plane: Bytes, turn: Turn) -> Bytes:
    return plane if turn == Turn() else np.ascontiguousarray(turn.apply(plane))
