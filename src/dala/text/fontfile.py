"""Font files, whole or in part.

A collection of Chinese, Japanese and Korean has 20 MB; to know its names takes two kilobytes.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from dala.errors import FontError, FontNotFoundError
from dala.text.harfbuzz import harfbuzz

LARGEST = 256 << 20  # bytes of a font
LARGEST_TABLE = 4 << 20  # of those that say what a font is and which characters it has
MOST_TABLES = 512
MOST_FACES = 256  # in a collection
PLAIN = (b"\x00\x01\x00\x00", b"OTTO", b"true")


def read_font(path: Path) -> bytes:
    """A font file as bytes."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise FontError(f"{path}: a font has at most {LARGEST >> 20} MB, this has {size >> 20}")
        with path.open("rb") as file:
            return file.read(LARGEST)
    except FileNotFoundError:
        raise FontNotFoundError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FontError(f"{path}: cannot be read: {error.strerror or error}") from error


def open_face(data: bytes, index: int, name: str) -> Any:
    """HarfBuzz's face of a whole file."""
    hb = harfbuzz()
    if data[:4] in (b"wOFF", b"wOF2"):
        raise FontError(f"{name}: is packed for the web (WOFF); give the TTF or OTF it was made of")
    if data[:4] not in (*PLAIN, b"ttcf"):
        raise FontError(f"{name}: expected a font (TTF, OTF, TTC), got something else")
    face = hb.Face(hb.Blob(data), index)
    if not face.glyph_count:
        raise FontError(f"{name}: has no glyphs; the file is damaged")
    if not 16 <= face.upem <= 16384:
        raise FontError(f"{name}: its em has {face.upem} units, expected 16 to 16384")
    return face


def partial_face(path: Path, index: int, tags: tuple[str, ...]) -> Any:
    """A face that has only some of its tables: they are read and put together as a small font.

    HarfBuzz can ask for tables when it needs them, too, but uharfbuzz 0.57 crashed now and then after some
    hundred such faces.
    """
    offset = face_offsets(path)[index]
    tables: list[tuple[bytes, bytes]] = []
    with path.open("rb") as file:
        file.seek(offset)
        count = min(struct.unpack(">4xH6x", file.read(12))[0], MOST_TABLES)
        entries = file.read(16 * count)
        for tag, start, length in struct.iter_unpack(">4s4xII", entries):
            if tag.decode("latin-1") in tags and length <= LARGEST_TABLE:
                file.seek(start)
                tables.append((tag, file.read(length)))
    hb = harfbuzz()
    return hb.Face(hb.Blob(_put_together(tables)))


def _put_together(tables: list[tuple[bytes, bytes]]) -> bytes:
    place = 12 + 16 * len(tables)
    head, body = struct.pack(">4sH6x", PLAIN[0], len(tables)), b""
    for tag, content in tables:
        head += struct.pack(">4s4xII", tag, place + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    return head + body


def face_offsets(path: Path) -> list[int]:
    """Where the faces of a file begin: one, or those of a collection; none if it is no font."""
    with path.open("rb") as file:
        head = file.read(12)
        if len(head) < 12:
            return []
        if head[:4] in PLAIN:
            return [0]
        if head[:4] != b"ttcf":
            return []
        count = min(struct.unpack(">8xI", head)[0], MOST_FACES)
        offsets = file.read(4 * count)
    return list(struct.unpack(f">{len(offsets) // 4}I", offsets[: len(offsets) // 4 * 4]))
