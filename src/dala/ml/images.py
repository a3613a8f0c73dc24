"""Pictures as callers have them, for reading: as (height, width, channels) in memory or on a device.

A path, a NumPy array, a PIL image, raw bytes with a size, DLPack (torch), a surface or a buffer; grey, RGB
or RGBA, or with ``channels="bgr"`` BGR(A); of uint8 (0..255), uint16 or float32 (0..1).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.errors import (
    ArgumentError,
    DTypeError,
    MediaError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)

Array = npt.NDArray[Any]
Order = Literal["rgb", "bgr"]


@runtime_checkable
class _Drawn(Protocol):
    """A surface, as far as models look at it."""

    def to_array(self) -> Array: ...


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A picture to look at."""

    pixels: Array | Buffer  # (height, width, channels), u8 or f32
    swapped: bool  # blue comes first

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[1], self.pixels.shape[0]


def take_image(
    image: object, *, channels: str = "rgb", size: tuple[int, int] | None = None, who: str
) -> Image:
    """Whatever a caller calls a picture; what is wrong with it is said here."""
    if channels not in ("rgb", "bgr"):
        raise ParameterError(f"{who}: channels is 'rgb' or 'bgr', got {channels!r}")
    pixels = _open(image, size, who)
    if isinstance(pixels, Buffer):
        if pixels.dtype not in ("u8", "f32") or len(pixels.shape) != 3:
            raise ShapeError(
                f"{who}: expected a buffer of (height, width, channels) u8 or f32, got {pixels!r}"
            )
        return Image(pixels, channels == "bgr")
    return Image(_checked(pixels, who), channels == "bgr")


def _open(image: object, size: tuple[int, int] | None, who: str) -> Array | Buffer:
    if isinstance(image, Buffer):
        image.storage()  # refuses a freed one
        return image
    if isinstance(image, np.ndarray):
        return image
    if isinstance(image, str | os.PathLike):
        return _from_file(Path(image), who)
    if isinstance(image, bytes | bytearray | memoryview):
        return _from_bytes(image, size, who)
    if any(base.__module__.startswith("PIL.") for base in type(image).__mro__):
        return _from_pil(image, who)
    if isinstance(image, _Drawn):
        return image.to_array()
    if hasattr(image, "__dlpack__"):
        try:
            return np.from_dlpack(image)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ArgumentError(f"{who}: {type(image).__name__} cannot be read: {error}") from error
    raise ArgumentError(
        f"{who}: expected a picture (a path, NumPy array, PIL image, bytes with size=(width, height), "
        f"DLPack, buffer or surface), got {type(image).__name__}"
    )


def _from_file(path: Path, who: str) -> Array:
    try:
        from PIL import Image as Pillow
        from PIL import ImageOps
    except ImportError as error:
        raise UnsupportedError(
            f"{who}: pictures are read with Pillow (pip install 'dala-gpu[image]')"
        ) from error
    try:
        with Pillow.open(path) as opened:
            return _from_pil(ImageOps.exif_transpose(opened), who)
    except (OSError, SyntaxError, Pillow.DecompressionBombError) as error:
        raise MediaError(f"{who}: cannot read the picture {str(path)!r}: {error}") from error


def _from_pil(image: Any, who: str) -> Array:
    if image.mode in ("I;16", "I;16L", "I;16B"):
        return np.asarray(image).astype(np.uint16)
    wanted = image.mode if image.mode in ("L", "RGB", "RGBA") else "RGB"
    try:
        return np.asarray(image if wanted == image.mode else image.convert(wanted))
    except (OSError, SyntaxError) as error:
        raise MediaError(f"{who}: the picture cannot be read: {error}") from error


def _from_bytes(
    data: bytes | bytearray | memoryview, size: tuple[int, int] | None, who: str
) -> Array:
    if size is None:
        raise ArgumentError(f"{who}: bytes need size=(width, height)")
    width, height = size
    flat = np.frombuffer(data, np.uint8)
    for count in (4, 3, 1):
        if flat.size == width * height * count:
            return flat.reshape(height, width, count)
    raise ShapeError(
        f"{who}: {width} × {height} pixels are {width * height} bytes, or 3 or 4 times as many; "
        f"got {flat.size}"
    )


def _checked(pixels: Array, who: str) -> Array:
    """As (height, width, channels) of u8 or f32."""
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or min(pixels.shape) < 1:
        raise ShapeError(
            f"{who}: expected (height, width) or (height, width, 1, 3 or 4), got {pixels.shape}"
        )
    if pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    if pixels.dtype not in (np.uint8, np.float32) or not pixels.dtype.isnative:
        raise DTypeError(
            f"{who}: expected uint8, uint16, or float32 of 0..1, got {pixels.dtype}; "
            "convert it, e.g. x.astype('float32')"
        )
    return pixels
