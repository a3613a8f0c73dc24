"""What Pillow does not tell of a file: how many bits its values have, how they are coded, why it fails.

It decodes AVIF, JPEG 2000 in colour, JPEG XL and CMYK to 8 bits, whatever was there: so the files' own
heads are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

HEAD = 1 << 16  # bytes in which a file says what it is
_ARITHMETIC = (0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)  # JPEG's frames that are coded so
_BARE = (0x01, *range(0xD0, 0xD9))  # JPEG's markers without a length


def bits_in(form: str, file: BinaryIO, opened: Any) -> int:
    """Bits of a value in the file; 8 where nobody knows better."""
    if form == "TIFF":
        return int(max(opened.tag_v2.get(258, (8,))))
    if form not in ("AVIF", "JPEG2000", "JXL"):
        return 8
    file.seek(0)
    head = file.read(HEAD)
    if form == "AVIF":
        at = head.find(b"av1C")
        flags = head[at + 6] if 0 < at < len(head) - 6 else 0
        return 12 if flags & 0x60 == 0x60 else 10 if flags & 0x40 else 8
    if form == "JPEG2000":
        at = head.find(b"\xff\x4f\xff\x51")  # SOC and SIZ: sizes, then a byte for each component
        return (head[at + 42] & 0x7F) + 1 if 0 <= at < len(head) - 42 else 8
    return _bits_of_jxl(head)


def is_lossless_webp(file: BinaryIO) -> bool:
    """Whether the pictures of a WebP are coded without loss."""
    file.seek(0)
    head = file.read(HEAD)
    lossless, lossy = head.find(b"VP8L"), head.find(b"VP8 ")
    return lossless > 0 and not 0 < lossy < lossless


def is_arithmetic(file: BinaryIO) -> bool:
    """Whether a JPEG is coded arithmetically."""
    return any(marker in _ARITHMETIC for marker in _markers(file))


def _markers(file: BinaryIO) -> Iterator[int]:
    """The markers of a JPEG's head, up to its first scan."""
    file.seek(2)
    while (start := file.read(2)) and len(start) == 2 and start[0] == 0xFF and start[1] != 0xDA:
        yield start[1]
        if start[1] not in _BARE:
            length = int.from_bytes(file.read(2), "big")
            file.seek(max(length - 2, 0), 1)


def _bits_of_jxl(head: bytes) -> int:
    """Of the codestream's first image; 8 of floats, too, and of what is unusual."""
    at = head.find(b"\xff\x0a")
    bits = _Bits(head[at + 2 :]) if at >= 0 else None
    if bits is None:
        return 8
    _skip_size(bits)
    if bits.take(1):  # everything is as usual
        return 8
    if bits.take(1):  # orientation, previews, animation
        bits.take(3)
        if bits.take(1):
            _skip_size(bits)
        if bits.take(1) or bits.take(1):
            return 8
    if bits.take(1):
        return 32
    return (8, 10, 12, 0)[which] if (which := bits.take(2)) < 3 else 1 + bits.take(6)


def _skip_size(bits: _Bits) -> None:
    """Height, a ratio, and a width if the ratio is none."""
    small = bits.take(1)

    def skip_side() -> None:
        bits.take(5 if small else (9, 13, 18, 30)[bits.take(2)])

    skip_side()
    if not bits.take(3):
        skip_side()


class _Bits:
    """Bits of bytes, the lowest first."""

    def __init__(self, data: bytes) -> None:
        self._value = int.from_bytes(data[:64], "little")

    def take(self, count: int) -> int:
        """The next ones, as a number."""
        taken = self._value & ((1 << count) - 1)
        self._value >>= count
        return taken
