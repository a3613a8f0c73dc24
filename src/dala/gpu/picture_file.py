"""Frames as picture files. PNG needs nothing; JPEG and WebP need Pillow."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, UnsupportedError

Array = npt.NDArray[np.uint8]
_PILLOW = {".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}


def save_picture(pixels: Array, path: Path, quality: int) -> None:
    """Write RGBA pixels; the ending says how."""
    ending = path.suffix.lower()
    if ending == ".png":
        path.write_bytes(encode_png(pixels))
    elif ending in _PILLOW:
        _save_with_pillow(pixels, path, _PILLOW[ending], quality)
    else:
        known = ", ".join((".png", *_PILLOW))
        raise ParameterError(f"save: no picture format for {path.name!r}; expected one of {known}")


def encode_png(pixels: Array) -> bytes:
    """A PNG file of RGBA pixels. Each row is stored as differences to the one above: drawings are
    mostly the same from row to row."""
    height, width, _ = pixels.shape
    rows = np.empty((height, 1 + width * 4), np.uint8)
    rows[:, 0] = 2
    flat = pixels.reshape(height, width * 4)
    rows[0, 1:] = flat[0]
    np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*c) for c in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def _save_with_pillow(pixels: Array, path: Path, form: str, quality: int) -> None:
    try:
        from PIL import Image
    except ImportError as error:
        raise UnsupportedError(
            f"save: {form} needs Pillow (pip install 'dala-gpu[image]'); PNG needs nothing"
        ) from error
    image: Any = Image.fromarray(np.ascontiguousarray(pixels))
    if form == "JPEG":
        ground = Image.new("RGBA", image.size, (0, 0, 0, 255))
        image = Image.alpha_composite(ground, image).convert("RGB")
    image.save(path, form, quality=quality)
