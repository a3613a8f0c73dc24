"""PNG files of 16 bits per value in colour or with alpha, which Pillow cuts to 8.

Reading lets Pillow inflate and unfilter, twice: its unpackers take the first byte of each value
(``RGB;16B``) or the second one (``RGB;16L``). That is all of its checks and the speed of its C at the price
of inflating twice; unfiltering in NumPy is not possible (each byte needs the one before), and PyAV would be
30 MB more. Writing needs no such thing: filters look at the original bytes only, so NumPy applies them to
whole rows.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from dala.media.files.content import Pixels

Bytes = npt.NDArray[np.uint8]
SIGNATURE = b"\x89PNG\r\n\x1a\n"
KINDS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels → PNG's colour type
STRIP = 64  # rows filtered and compressed at a time
COLOR_CHUNKS = {b"cICP": 4, b"mDCV": 24, b"cLLI": 8, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1}  # bytes
LIGHT_CHUNKS = (b"mDCV", b"cLLI")  # those of them that Pillow does not write
HEAD = len(SIGNATURE) + 25  # with IHDR, which comes first
TWO_BYTES = ("RGB;16B", "RGBA;16B", "LA;16B")


def is_deep(opened: Any) -> bool:
    """Whether an opened PNG has 16 bits that Pillow would cut."""
    return opened.format == "PNG" and len(opened.tile) == 1 and _raw_mode(opened) in TWO_BYTES


def is_grey(opened: Any) -> bool:
    """Whether such a PNG is grey with alpha."""
    return _raw_mode(opened) == "LA;16B"


def _raw_mode(opened: Any) -> str:
    args = opened.tile[0][3]
    return args if isinstance(args, str) else args[0]


def read_deep(opened: Any, reopen: Any) -> Pixels:
    """The levels of an opened PNG that ``is_deep``; ``reopen`` opens it again. Grey with alpha is RGBA."""
    raw = _raw_mode(opened)
    clear = opened.info.get("transparency")
    if raw == "LA;16B":  # four bytes a pixel, whatever they are called
        values = _with_unpacker(opened, "RGBA").view(">u2").astype(np.uint16)
        return np.ascontiguousarray(values[..., [0, 0, 0, 1]])
    levels = _with_unpacker(opened, raw).astype(np.uint16) << 8
    with reopen() as again:
        levels |= _with_unpacker(again, raw[:-1] + "L")
    if isinstance(clear, tuple) and levels.shape[2] == 3:  # one colour is transparent
        alpha = np.where((levels == np.array(clear, np.uint16)).all(-1), 0, 65535)
        return np.dstack([levels, alpha.astype(np.uint16)])
    return levels


def _with_unpacker(opened: Any, raw: str) -> Bytes:
    codec, extents, offset, _ = opened.tile[0]
    opened.tile = [type(opened.tile[0])(codec, extents, offset, raw)]
    return np.array(opened)


def read_color_chunks(file: BinaryIO) -> dict[bytes, bytes]:
    """What a PNG says of its colours besides a profile, as it is; what has not its length says nothing."""
    found: dict[bytes, bytes] = {}
    file.seek(len(SIGNATURE))
    while len(head := file.read(8)) == 8 and head[4:] not in (b"IDAT", b"IEND"):
        (length,), kind = struct.unpack(">I", head[:4]), head[4:]
        if length == COLOR_CHUNKS.get(kind):
            found[kind] = file.read(length)
            length = 0
        file.seek(length + 4, 1)
    return found


# -- writing ------------------------------------------------------------------------------------------


def write_deep(target: Path, pixels: Pixels, chunks: Iterable[tuple[bytes, bytes]]) -> None:
    """A PNG file of uint16 pixels; ``chunks`` come before them."""
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    header = struct.pack(">2I5B", width, height, 16, KINDS[channels], 0, 0, 0)
    with target.open("wb") as file:
        file.write(SIGNATURE)
        _write_chunk(file, b"IHDR", header)
        for kind, data in chunks:
            _write_chunk(file, kind, data)
        for data in _compressed(pixels.reshape(height, -1), 2 * channels):
            _write_chunk(file, b"IDAT", data)
        _write_chunk(file, b"IEND", b"")


def with_chunks(png: bytes, chunks: Mapping[bytes, bytes]) -> bytes:
    """A PNG file with more chunks behind its head."""
    file = io.BytesIO()
    file.write(png[:HEAD])
    for kind, data in chunks.items():
        _write_chunk(file, kind, data)
    file.write(png[HEAD:])
    return file.getvalue()


def _write_chunk(file: BinaryIO, kind: bytes, data: bytes) -> None:
    checksum = zlib.crc32(data, zlib.crc32(kind))
    file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum))


def _compressed(rows: Pixels, pixel_bytes: int) -> Iterator[bytes]:
    packer = zlib.compressobj(6)
    above = np.zeros(rows.shape[1] * 2, np.uint8)
    for first in range(0, len(rows), STRIP):
        strip = rows[first : first + STRIP].astype(">u2").view(np.uint8)
        data = packer.compress(_filtered(strip, above, pixel_bytes).tobytes())
        above = strip[-1]
        if data:
            yield data
    yield packer.flush()


def _filtered(strip: Bytes, above: Bytes, pixel_bytes: int) -> Bytes:
    """Rows as differences to what lies left of them or above: per row whichever is the smallest, as PNG's
    own library chooses."""
    up = np.vstack([above[None], strip[:-1]])
    left, corner = np.zeros_like(strip), np.zeros_like(strip)
    left[:, pixel_bytes:] = strip[:, :-pixel_bytes]
    corner[:, pixel_bytes:] = up[:, :-pixel_bytes]
    tried = {1: strip - left, 2: strip - up, 4: strip - _paeth(left, up, corner)}
    costs = np.stack(
        [np.abs(t.view(np.int8).astype(np.int16)).sum(1, dtype=np.int64) for t in tried.values()]
    )
    best, kinds, choices = costs.argmin(0), list(tried), np.stack(list(tried.values()))
    rows = np.empty((len(strip), 1 + strip.shape[1]), np.uint8)
    rows[:, 0] = np.array(kinds, np.uint8)[best]
    rows[:, 1:] = choices[best, np.arange(len(strip))]
    return rows


def _paeth(left: Bytes, up: Bytes, corner: Bytes) -> Bytes:
    """Whichever of three neighbours is nearest to left + up - corner."""
    a, b, c = (v.astype(np.int16) for v in (left, up, corner))
    to_left, to_up, to_corner = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    nearest = np.where(to_up <= to_corner, up, corner)
    return np.where((to_left <= to_up) & (to_left <= to_corner), left, nearest)
