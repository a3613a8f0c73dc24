"""Pixels as users have them, as RGBA bytes and as arrays of them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.errors import ArgumentError, DTypeError, ShapeError
from dala.gpu.opcodes import MAX_PIXELS, MAX_SIDE

Pixels: TypeAlias = "bytes | bytearray | memoryview | npt.NDArray[Any] | object"
Array = npt.NDArray[np.uint8]


def as_pixel_bytes(
    pixels: Pixels, width: int | None, height: int | None, who: str
) -> tuple[bytes, int, int]:
    """RGBA bytes and their size, of bytes with a size, an array or a PIL image."""
    array = as_pixel_array(pixels, width, height, who)
    return array.tobytes(), array.shape[1], array.shape[0]


def as_pixel_array(pixels: Pixels, width: int | None, height: int | None, who: str) -> Array:
    """An array (height, width, 4) of bytes; grey and RGB arrays become opaque RGBA."""
    if isinstance(pixels, bytes | bytearray | memoryview):
        if width is None or height is None:
            raise ArgumentError(f"{who}: bytes need a width and a height")
        flat = np.frombuffer(pixels, np.uint8)
        if width < 1 or height < 1 or flat.size != width * height * 4:
            raise ShapeError(
                f"{who}: {width} × {height} pixels need {max(width, 0) * max(height, 0) * 4} bytes "
                f"of RGBA, got {flat.size}"
            )
        return flat.reshape(height, width, 4)
    array = _as_rgba(pixels, who)
    size = (array.shape[1], array.shape[0])
    if (width or size[0], height or size[1]) != size:
        raise ShapeError(f"{who}: expected {width} × {height} pixels, got {size[0]} × {size[1]}")
    if max(size) > MAX_SIDE or min(size) < 1 or size[0] * size[1] > MAX_PIXELS:
        raise ShapeError(f"{who}: a picture has 1..{MAX_SIDE} pixels each way, got {size}")
    return array


def _as_rgba(pixels: object, who: str) -> Array:
    if not isinstance(pixels, np.ndarray) and hasattr(pixels, "convert"):  # a PIL image
        pixels = pixels.convert("RGBA")
    array = np.asarray(pixels)
    if array.dtype != np.uint8:
        raise DTypeError(f"{who}: pixels are bytes (u8), got {array.dtype}")
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4):
        raise ShapeError(f"{who}: expected (height, width, 4), got {array.shape}")
    if array.shape[2] == 4:
        return np.ascontiguousarray(array)
    filled = np.full((*array.shape[:2], 4), 255, np.uint8)
    filled[..., :3] = array
    return filled
