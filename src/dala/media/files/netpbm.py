"""Netpbm files: PGM and PPM of 16 bits, which Pillow cuts, PFM's floats, and the comments of all of them.

A head of words (the kind, width, height, the largest value) with comments between them, then the values,
the highest byte first.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

import numpy as np

from dala.errors import MediaError
from dala.media.files.content import Pixels

_GAP = rb"(?:[ \t\r\n]|#[^\n]*\n)+"
_HEAD = re.compile(
    rb"(P[56]|P[Ff])" + _GAP + rb"(\d+)" + _GAP + rb"(\d+)" + _GAP + rb"([-+\d.eE]+)\s"
)
_SHORT_HEAD = re.compile(rb"P[1-6Ff]" + _GAP + rb"\d+" + _GAP + rb"\d+")
_COMMENT = re.compile(rb"#[ \t]?([^\n]*)\n")
_LONGEST = 1 << 18  # bytes of a head with comments; a JPEG's have up to 64 KB
CHANNELS = {b"P5": 1, b"P6": 3, b"Pf": 1, b"PF": 3}


def read_deep(file: BinaryIO, most_pixels: int) -> Pixels | None:
    """uint16 of PGM and PPM, float32 of PFM; None of what has 8 bits, or is something else."""
    file.seek(0)
    found = _HEAD.match(file.read(_LONGEST))
    if found is None:
        return None
    kind, floats = found[1], found[1] in (b"Pf", b"PF")
    width, height, largest = int(found[2]), int(found[3]), float(found[4])
    if not floats and not 255 < largest <= 65535:
        return None
    if not 0 < width * height <= most_pixels:
        raise MediaError(f"{width} × {height} pixels; more than {most_pixels} could be a bomb")
    order = "<" if floats and largest < 0 else ">"
    dtype = np.dtype(order + ("f4" if floats else "u2"))
    channels = CHANNELS[kind]
    file.seek(found.end())
    data = file.read(width * height * channels * dtype.itemsize)
    if len(data) != width * height * channels * dtype.itemsize:
        raise MediaError("the file ends too early")
    values = np.frombuffer(data, dtype).reshape(height, width, channels)
    pixels = values[..., 0] if channels == 1 else values
    if floats:  # the lowest row comes first
        return np.ascontiguousarray(pixels[::-1], np.float32)
    return _spread(np.ascontiguousarray(pixels, np.uint16), int(largest))


def _spread(levels: Pixels, largest: int) -> Pixels:
    """Levels of 0..largest as those of 16 bits."""
    if largest == 65535:
        return levels
    spread = np.rint(np.minimum(levels, largest) * (65535 / largest))
    return spread.astype(np.uint16)


def read_comment(file: BinaryIO) -> bytes | None:
    """What the head says besides, a line for each comment."""
    file.seek(0)
    head = file.read(_LONGEST)
    found = _HEAD.match(head) or _SHORT_HEAD.match(head)
    lines = _COMMENT.findall(found[0]) if found else []
    return b"\n".join(line.rstrip(b"\r") for line in lines) or None


def write_netpbm(target: Path, pixels: Pixels, comment: bytes | None) -> None:
    """uint8 or uint16, grey or RGB, as PGM or PPM."""
    kind, most = "P5" if pixels.ndim == 2 else "P6", 255 if pixels.itemsize == 1 else 65535
    said = b"".join(b"# " + line + b"\n" for line in (comment or b"").splitlines())
    head = f"{pixels.shape[1]} {pixels.shape[0]}\n{most}\n"
    with target.open("wb") as file:
        file.write(f"{kind}\n".encode() + said + head.encode())
        file.write(pixels.astype(">u2" if most > 255 else "u1").tobytes())
