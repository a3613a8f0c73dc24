"""Any picture that a user hands over as an array of RGBA."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.media.pictures import Picture, add_alpha, take_picture

Array = npt.NDArray[np.uint8]


def as_rgba(image: object, channels: str | None = None, who: str = "on_frame") -> Array:
    """(H, W, 4) u8 of an array, a PIL image or a buffer."""
    picture = take_picture(image, channels=channels, who=who)
    if isinstance(picture.pixels, Buffer):
        picture = take_picture(picture.pixels.read(), channels=channels, who=who)
    rgba = rgba_of(picture)
    return np.ascontiguousarray(rgba[..., [2, 1, 0, 3]]) if picture.layout.swapped else rgba


def rgba_of(picture: Picture) -> Array:
    """The pixels of a picture in memory as they are ordered, with alpha."""
    pixels: Any = picture.pixels
    if pixels.dtype != np.uint8:
        levels = np.nan_to_num(pixels * 255, nan=0.0)
        pixels = np.rint(levels).clip(0, 255).astype(np.uint8)
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        pixels = np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
    return add_alpha(pixels) if pixels.shape[2] == 3 else np.ascontiguousarray(pixels)
