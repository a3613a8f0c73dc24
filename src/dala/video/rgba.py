"""Any picture that a user hands over as an array of RGBA."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.media.pictures import Picture, add_alpha, take_picture

Array = npt.NDArray[Any]  # u8, or u16 where more than 8 bits are wanted


def as_rgba(
    image: object, channels: str | None = None, who: str = "on_frame", *, deep: bool = False
) -> Array:
    """(H, W, 4) u8 of an array, a PIL image or a buffer; u16 with ``deep``."""
    picture = take_picture(image, channels=channels, who=who)
    if isinstance(picture.pixels, Buffer):
        picture = take_picture(picture.pixels.read(), channels=channels, who=who)
    rgba = rgba_of(picture, deep=deep)
    return np.ascontiguousarray(rgba[..., [2, 1, 0, 3]]) if picture.layout.swapped else rgba


def rgba_of(picture: Picture, *, deep: bool = False) -> Array:
    """The pixels of a picture in memory as they are ordered, with alpha; u8, or u16 with ``deep``."""
    pixels: Any = picture.pixels
    wanted, white = (np.uint16, 65535) if deep else (np.uint8, 255)
    if pixels.dtype.kind == "f":
        levels = np.nan_to_num(pixels * white, nan=0.0)
        pixels = np.rint(levels).clip(0, white).astype(wanted)
    elif pixels.dtype != wanted:
        wide = pixels.astype(np.uint32)
        pixels = (wide * 257 if deep else (wide + 128) // 257).astype(wanted)
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        pixels = np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
    return add_alpha(pixels) if pixels.shape[2] == 3 else np.ascontiguousarray(pixels)
