"""What a file says besides its pixels: read, cleaned of what no longer holds, and given back."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from dala.media.files.content import Metadata, Pixels

ORIENTATION, ICC, XMP, COPYRIGHT, IPTC = 274, 34675, 700, 33432, 33723
ACROSS, DOWN, UNIT = 282, 283, 296  # how densely a picture is printed
IPTC_RESOURCE = 0x0404  # of those that Photoshop puts into a JPEG
SEGMENT = 65_000  # bytes of one part of a JPEG's head, at most
EXIF_IFD, GPS_IFD, MAKERS_NOTES = 34665, 34853, 37500
# what a TIFF's first directory may say about any picture: the rest is about how that file lies on disk
DESCRIPTIVE = frozenset(
    (270, 271, 272, ACROSS, DOWN, UNIT, 305, 306, 315, COPYRIGHT, EXIF_IFD, GPS_IFD)
)
XMP_KEY = "XML:com.adobe.xmp"  # of a PNG's texts
_UPRIGHT_XMP = re.compile(rb"""(tiff:Orientation(?:\s*=\s*["']|>))\s*[2-8]""")


def read_metadata(opened: Any) -> tuple[Metadata, int]:
    """The metadata of an opened picture, and its orientation (1 to 8)."""
    info = opened.info
    raw = info.get("exif")
    if isinstance(raw, bytes) and opened.format != "TIFF":
        orientation = opened.getexif().get(ORIENTATION, 1)
        exif: bytes | None = raw if orientation == 1 else _upright_exif(raw)
    else:
        exif, orientation = _clean_exif(opened.getexif(), tiff=opened.format == "TIFF")
    text = {k: str(v) for k, v in getattr(opened, "text", {}).items() if k != XMP_KEY}
    comment = info.get("comment")
    return Metadata(
        icc_profile=info.get("icc_profile") or None,
        exif=exif,
        xmp=_upright_xmp(info.get("xmp") or info.get(XMP_KEY)),
        comment=comment.encode("utf-8", "replace") if isinstance(comment, str) else comment or None,
        text=text,
        dpi=_dpi(info.get("dpi")) or dpi_in(exif),
        iptc=_iptc_of(opened),
    ), orientation if orientation in range(1, 9) else 1  # fmt: skip


def _iptc_of(opened: Any) -> bytes | None:
    resources = opened.info.get("photoshop", {})
    found = resources.get(IPTC_RESOURCE) if isinstance(resources, dict) else None
    return as_bytes(found or getattr(opened, "tag_v2", {}).get(IPTC))


def as_bytes(value: object) -> bytes | None:
    """A tag's value, some of which are written as whole numbers."""
    if isinstance(value, tuple) and all(isinstance(v, int) for v in value):
        value = struct.pack(f"<{len(value)}I", *value)
    return value if isinstance(value, bytes) and value else None


def dpi_in(exif: bytes | None) -> tuple[float, float] | None:
    """The density that EXIF tells, which is where some formats have it."""
    if not exif:
        return None
    from PIL import Image

    tags = Image.Exif()
    tags.load(exif)
    return _density(tags)


def _density(tags: Any) -> tuple[float, float] | None:
    unit = {2: 1.0, 3: 2.54}.get(tags.get(UNIT, 2))
    if not unit or ACROSS not in tags or DOWN not in tags:
        return None
    return _dpi((tags[ACROSS] * unit, tags[DOWN] * unit))


def read_tiff_metadata(tags: Any, file: BinaryIO) -> tuple[Metadata, int]:
    """The same of a page of a TIFF that Pillow does not open. EXIF is that of the first page."""
    from PIL import Image

    exif = Image.Exif()
    file.seek(0)
    if b"+" in file.read(4):  # of 64-bit offsets, which Pillow's Exif does not know
        _load_big(exif, tags, file)
    else:
        file.seek(0)
        exif.load_from_fp(file)
    data, _ = _clean_exif(exif, tiff=True)
    orientation = tags.get(ORIENTATION, 1)
    return Metadata(
        icc_profile=tags.get(ICC),
        exif=data,
        xmp=_upright_xmp(tags.get(XMP)),
        dpi=_density(tags),
        iptc=as_bytes(tags.get(IPTC)),
    ), orientation if orientation in range(1, 9) else 1


def read_raw_metadata(tags: Any, file: BinaryIO) -> Metadata:
    """What a camera's raw file says of the photo, as far as it holds for what is made of it: the notes of
    makers are about the sensor, and cannot be moved."""
    from PIL import Image

    exif = Image.Exif()
    file.seek(0)
    exif.load_from_fp(file)
    exif.get_ifd(EXIF_IFD).pop(MAKERS_NOTES, None)
    data, _ = _clean_exif(exif, tiff=True)
    return Metadata(exif=data, xmp=_upright_xmp(tags.get(XMP)), iptc=as_bytes(tags.get(IPTC)))


def _load_big(exif: Any, tags: Any, file: BinaryIO) -> None:
    from PIL import TiffImagePlugin

    file.seek(0)
    header = file.read(16)
    for tag, value in tags.items():
        if tag in (EXIF_IFD, GPS_IFD):
            inner = TiffImagePlugin.ImageFileDirectory_v2(header, group=tag)
            file.seek(value)
            inner.load(file)
            exif.get_ifd(tag).update(dict(inner))
        elif tag in DESCRIPTIVE or tag == ORIENTATION:
            exif[tag] = value


def _upright_exif(data: bytes) -> bytes:
    """EXIF of an upright picture. Nothing else moves: makers' notes point to places in it."""
    start = 6 if data.startswith(b"Exif\0\0") else 0
    order = ">" if data[start : start + 2] == b"MM" else "<"
    (first,) = struct.unpack_from(f"{order}I", data, start + 4)
    (count,) = struct.unpack_from(f"{order}H", data, start + first)
    patched = bytearray(data)
    for entry in range(start + first + 2, start + first + 2 + 12 * count, 12):
        if struct.unpack_from(f"{order}H", data, entry) == (ORIENTATION,):
            struct.pack_into(f"{order}HI", patched, entry + 2, 3, 1)
            struct.pack_into(f"{order}HH", patched, entry + 8, 1, 0)
    return bytes(patched)


def _clean_exif(exif: Any, *, tiff: bool) -> tuple[bytes | None, int]:
    """EXIF as bytes, without the orientation, and that."""
    orientation = exif.get(ORIENTATION, 1)
    for tag in (EXIF_IFD, GPS_IFD):
        if tag in exif:
            exif.get_ifd(tag)  # read now, while the file is open
    for tag in list(exif):
        if tag == ORIENTATION or (tiff and tag not in DESCRIPTIVE):
            del exif[tag]
    kept = set(exif) - ({ACROSS, DOWN, UNIT} if tiff else set())
    return exif.tobytes() if kept else None, orientation if orientation in range(1, 9) else 1


def _upright_xmp(xmp: object) -> bytes | None:
    if isinstance(xmp, tuple) and len(xmp) == 1:  # as a TIFF's tags have it
        (xmp,) = xmp
    data = xmp.encode() if isinstance(xmp, str) else xmp
    return _UPRIGHT_XMP.sub(rb"\g<1>1", data) if isinstance(data, bytes) and data else None


def _dpi(dpi: Any) -> tuple[float, float] | None:
    try:
        across, down = (float(value) for value in dpi)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return (across, down) if across > 0 and down > 0 else None


def turn_upright(pixels: Pixels, orientation: int) -> Pixels:
    """Pixels as EXIF says that they should be seen."""
    if orientation > 1 and pixels.ndim == 3 and pixels.shape[2] == 4 and pixels.itemsize < 4:
        words = pixels.view(np.uint32 if pixels.itemsize == 1 else np.uint64)  # a pixel at a time
        return turn_upright(words[..., 0], orientation)[..., None].view(pixels.dtype)
    turned = {
        2: lambda p: p[:, ::-1],
        3: lambda p: p[::-1, ::-1],
        4: lambda p: p[::-1],
        5: lambda p: p.swapaxes(0, 1),
        6: lambda p: np.rot90(p, -1),
        7: lambda p: p[::-1, ::-1].swapaxes(0, 1),
        8: lambda p: np.rot90(p),
    }.get(orientation)
    return pixels if turned is None else np.ascontiguousarray(turned(pixels))


# -- giving back --------------------------------------------------------------------------------------


def tiff_tags(metadata: Metadata) -> Mapping[int, Any]:
    """The tags of a TIFF file that hold metadata."""
    from PIL import Image

    tags: dict[int, Any] = {}
    if metadata.exif:
        exif = Image.Exif()
        exif.load(metadata.exif)
        tags = {tag: value for tag, value in exif.items() if tag in DESCRIPTIVE}
        tags |= {tag: dict(exif.get_ifd(tag)) for tag in (EXIF_IFD, GPS_IFD) if tag in exif}
    if metadata.dpi:
        tags |= {UNIT: 2, ACROSS: metadata.dpi[0], DOWN: metadata.dpi[1]}
    if metadata.xmp:
        tags[XMP] = metadata.xmp
    if metadata.icc_profile:
        tags[ICC] = metadata.icc_profile
    if metadata.iptc:
        tags[IPTC] = metadata.iptc
    return tags


def exif_with_density(metadata: Metadata) -> bytes | None:
    """EXIF for formats that have no other place for dpi. What it says of that is left alone, and so are
    makers' notes, which cannot be moved.
    """
    from PIL import Image

    exif = Image.Exif()
    if metadata.exif:
        exif.load(metadata.exif)
    if not metadata.dpi or ACROSS in exif or MAKERS_NOTES in exif.get_ifd(EXIF_IFD):
        return metadata.exif
    exif.get_ifd(GPS_IFD)
    exif[ACROSS], exif[DOWN], exif[UNIT] = *metadata.dpi, 2
    return exif.tobytes()


def photoshop_segments(iptc: bytes) -> bytes:
    """The part of a JPEG's head that holds IPTC."""
    block = (
        b"8BIM" + struct.pack(">HHI", IPTC_RESOURCE, 0, len(iptc)) + iptc + b"\0" * (len(iptc) % 2)
    )
    head = b"Photoshop 3.0\0"
    return b"\xff\xed" + struct.pack(">H", 2 + len(head) + len(block)) + head + block
