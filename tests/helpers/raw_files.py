"""A camera's raw file: a DNG of a Bayer mosaic with 16 bits, as small as LibRaw takes it."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

RED, GREEN, BLUE = 0, 1, 2
BLACK, WHITE = 512, 65_000
NEUTRAL = (0.5, 1.0, 0.5)  # what a grey card gives: green sees most
SRGB_FROM_XYZ = (3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.2040, 1.0570)
SHORT, LONG, RATIONAL, SIGNED = 3, 4, 5, 10
Tags = dict[int, tuple[int, Any]]  # each with its kind and values


def mosaic_of(light: npt.NDArray[np.float64]) -> npt.NDArray[np.uint16]:
    """What a sensor of RGGB says of linear RGB light (H, W, 3), 0..1."""
    seen = light * NEUTRAL * (WHITE - BLACK) + BLACK
    mosaic = seen[..., GREEN].copy()
    mosaic[::2, ::2], mosaic[1::2, 1::2] = seen[::2, ::2, RED], seen[1::2, 1::2, BLUE]
    return mosaic.round().astype(np.uint16)


def write_dng(path: Path, light: npt.NDArray[np.float64], orientation: int = 1) -> None:
    """The DNG, with a maker's EXIF."""
    mosaic = mosaic_of(light)
    rows, columns = mosaic.shape
    tags: Tags = {
        254: (LONG, [0]), 256: (LONG, [columns]), 257: (LONG, [rows]), 258: (SHORT, [16]),
        259: (SHORT, [1]), 262: (SHORT, [32803]), 271: (2, b"Maker\0"), 272: (2, b"Camera\0"),
        273: (LONG, [0]), 274: (SHORT, [orientation]), 277: (SHORT, [1]), 278: (LONG, [rows]),
        279: (LONG, [mosaic.nbytes]), 284: (SHORT, [1]), 33421: (SHORT, [2, 2]),
        33422: (1, bytes([RED, GREEN, GREEN, BLUE])), 34665: (LONG, [0]),
        50706: (1, bytes([1, 4, 0, 0])), 50708: (2, b"Maker Camera\0"), 50714: (SHORT, [BLACK]),
        50717: (LONG, [WHITE]), 50721: (SIGNED, list(map(Fraction, map(str, SRGB_FROM_XYZ)))),
        50728: (RATIONAL, list(map(Fraction, map(str, NEUTRAL)))), 50778: (SHORT, [21]),
    }  # fmt: skip
    place = 8 + len(_directory(tags, 8))
    exposed: Tags = {33434: (RATIONAL, [Fraction(1, 50)]), 37500: (7, b"notes of the maker")}
    exif = _directory(exposed, place)
    tags |= {34665: (LONG, [place]), 273: (LONG, [place + len(exif)])}
    path.write_bytes(b"II*\0\x08\0\0\0" + _directory(tags, 8) + exif + mosaic.tobytes())


def _directory(tags: Tags, place: int) -> bytes:
    """A TIFF directory that begins there, with what does not fit into its entries behind it."""
    behind = place + 2 + 12 * len(tags) + 4
    entries, rest = b"", b""
    for tag, (kind, values) in sorted(tags.items()):
        data = values if isinstance(values, bytes) else b"".join(_packed(kind, v) for v in values)
        if len(data) > 4:
            data, rest = (
                struct.pack("<I", behind + len(rest)),
                rest + data + b"\0" * (len(data) % 2),
            )
        count = len(values)
        entries += struct.pack("<HHI", tag, kind, count) + data.ljust(4, b"\0")
    return struct.pack("<H", len(tags)) + entries + b"\0\0\0\0" + rest


def _packed(kind: int, value: int | Fraction) -> bytes:
    if kind in (RATIONAL, SIGNED):
        return struct.pack("<ii", *Fraction(value).as_integer_ratio())
    return struct.pack({SHORT: "<H", LONG: "<I"}[kind], value)
