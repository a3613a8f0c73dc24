"""PNG files of RGBA pixels, by zlib alone: for surfaces, and for what notebooks show."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.uint8]


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
