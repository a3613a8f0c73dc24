"""TIFF files: those of 16 bits and of floats, which Pillow cuts or refuses, are read here; all are written.

The container is read and written here (Pillow's directory of tags does the bytes); what compresses is
libtiff inside of Pillow: to it, strips are a grey picture of bytes. So LZW, deflate, packbits and zstd all
work, and predictors are a few lines of NumPy. (Rejected: tifffile, whose LZW is in imagecodecs, 30 MB more,
and which writes no EXIF.)
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from dala.errors import MediaError
from dala.media.files.content import Pixels

Bytes = npt.NDArray[np.uint8]
WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
OFFSETS, SAMPLES, ROWS, COUNTS, PLANAR, PREDICTOR = 273, 277, 278, 279, 284, 317
TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_COUNTS, EXTRA, FORMAT = 322, 323, 324, 325, 338, 339
NAMES = {"raw": 1, "tiff_lzw": 5, "tiff_adobe_deflate": 8, "tiff_deflate": 32946, "packbits": 32773}
NAMES |= {"zstd": 50000}
SUBFILE, OLD_SUBFILE, PAGE = 254, 255, 297
# in words, what Pillow has none for
COMPRESSIONS = {7: "JPEG", 8: "deflate", 32946: "deflate", 34712: "JPEG 2000", 34925: "LZMA", 50000: "zstd",
                50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL"}  # fmt: skip
DEFLATED = (8, 32946)
PREDICTED = (5, *DEFLATED, 50000)  # compressions that have a predictor
STRIP_BYTES = 1 << 18  # of one strip that is written
TYPES = {
    (16, 1): "u2",
    (16, 3): "f2",
    (32, 3): "f4",
    (64, 3): "f8",
}  # bits and sample format → NumPy's


@dataclass(frozen=True, slots=True)
class Layout:
    """How samples lie in a file."""

    size: tuple[int, int]  # height and width
    samples: int
    type: np.dtype[Any]
    compression: int
    predictor: int
    planar: bool


def read_tags(file: BinaryIO) -> Any:
    """The first directory of a TIFF file; None if it is none."""
    return next(_directories(file), None)


def read_pages(file: BinaryIO) -> list[tuple[int, Any]]:
    """The directories of a TIFF's pages with their numbers; thumbnails of others are none."""
    found = list(enumerate(_directories(file)))
    return found[:1] + [(n, tags) for n, tags in found[1:] if not _is_reduced(tags)]


def pixels_of(pages: Sequence[tuple[int, Any]]) -> int:
    """How many pixels these pages have, by what they say."""
    return sum(int(tags.get(WIDTH, 0)) * int(tags.get(HEIGHT, 0)) for _, tags in pages)


def _directories(file: BinaryIO) -> Iterator[Any]:
    from PIL import TiffImagePlugin

    file.seek(0)
    header = file.read(8)
    if header[:4] not in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return
    if b"+" in header[:4]:  # 64-bit offsets
        header += file.read(8)
    tags = TiffImagePlugin.ImageFileDirectory_v2(header)
    seen: set[int] = set()
    while (place := tags.next) and place not in seen:
        seen.add(place)
        tags = TiffImagePlugin.ImageFileDirectory_v2(header)
        file.seek(place)
        tags.load(file)
        yield tags


def _is_reduced(tags: Any) -> bool:
    return bool(tags.get(SUBFILE, 0) & 1) or tags.get(OLD_SUBFILE) == 2


def describe(tags: Any) -> str:
    """A kind of TIFF that nobody here reads, in words."""
    from PIL import TiffTags

    def word(tag: int, others: Mapping[int, str]) -> str:
        known, value = TiffTags.lookup(tag), tags.get(tag, 1)
        names = {number: word for word, number in known.enum.items()} | dict(others)
        return names.get(value, f"{known.name} {value}")

    samples = f"{tags.get(SAMPLES, 1)} × {max(tags.get(BITS, (1,)))} bits"
    return f"a TIFF of {samples}, {word(PHOTOMETRIC, {})}, {word(COMPRESSION, COMPRESSIONS)}"


def compression_of(tags: Any) -> str:
    """How a TIFF is compressed, in words; nothing of what Pillow's libtiff has always."""
    return (
        COMPRESSIONS.get(tags.get(COMPRESSION, 1), "") if tags.get(COMPRESSION, 1) > 40_000 else ""
    )


def layout_of(tags: Any) -> Layout | None:
    """How samples lie, if they are of 16 bits or floats, grey or RGB: what ``read_deep`` reads."""
    bits, samples = tags.get(BITS, (1,)), tags.get(SAMPLES, 1)
    kind = tags.get(FORMAT, (1,))
    kinds = {(b, k) for b, k in zip(bits, kind * len(bits), strict=False)}
    name = TYPES.get(next(iter(kinds))) if len(kinds) == 1 else None
    known = tags.get(PHOTOMETRIC) in (0, 1, 2) and tags.get(COMPRESSION, 1) in NAMES.values()
    if name is None or not known or samples not in (1, 2, 3, 4) or tags.get(266, 1) != 1:
        return None
    order = ">" if tags.prefix == b"MM" else "<"
    planar = tags.get(PLANAR, 1) == 2 and samples > 1
    size = tags[HEIGHT], tags[WIDTH]
    return Layout(
        size,
        samples,
        np.dtype(order + name),
        tags.get(COMPRESSION, 1),
        tags.get(PREDICTOR, 1),
        planar,
    )


def read_deep(tags: Any, layout: Layout, file: BinaryIO) -> Pixels:
    """The samples of a file: uint16, or float32. Grey with alpha is RGBA."""
    read = _read_tiles if TILE_OFFSETS in tags else _read_strips
    pixels = read(tags, layout, file)
    pixels = pixels.astype(np.uint16 if layout.type.kind == "u" else np.float32)
    if tags.get(PHOTOMETRIC) == 0:  # black is the largest
        pixels = (65535 - pixels if layout.type.kind == "u" else 1 - pixels).astype(pixels.dtype)
    if layout.samples == 1:
        return pixels[..., 0]
    if layout.samples == 2:
        return np.ascontiguousarray(pixels[..., [0, 0, 0, 1]])
    has_alpha = layout.samples == 4 and tags.get(EXTRA, (0,))[0] in (1, 2)
    return pixels if has_alpha else np.ascontiguousarray(pixels[..., :3])


def _read_strips(tags: Any, layout: Layout, file: BinaryIO) -> Pixels:
    height, width = layout.size
    rows = min(tags.get(ROWS, height), height)
    planes = layout.samples if layout.planar else 1
    samples = layout.samples // planes
    in_plane = -(-height // rows)
    offsets, counts = tags[OFFSETS], tags[COUNTS]
    if len(offsets) != in_plane * planes or len(counts) != len(offsets):
        raise MediaError("its strips are not where they should be")
    _check_segments(file, counts)
    parts = []
    for plane in range(planes):
        own = slice(plane * in_plane, (plane + 1) * in_plane)
        strips = [_segment(file, *place) for place in zip(offsets[own], counts[own], strict=True)]
        row_bytes = width * samples * layout.type.itemsize
        raw = _decompress(strips, layout.compression, (height, row_bytes), rows)
        parts.append(_samples(raw, layout, width, samples))
    return parts[0] if planes == 1 else np.concatenate(parts, -1)


def _read_tiles(tags: Any, layout: Layout, file: BinaryIO) -> Pixels:
    height, width = layout.size
    rows, columns = tags[TILE_HEIGHT], tags[TILE_WIDTH]
    if rows % 16 or columns % 16:
        raise MediaError(f"its tiles are {columns} × {rows}; sides are multiples of 16")
    down, across = -(-height // rows), -(-width // columns)
    planes = layout.samples if layout.planar else 1
    samples = layout.samples // planes
    places = list(zip(tags[TILE_OFFSETS], tags[TILE_COUNTS], strict=True))
    if (
        len(places) != down * across * planes
        or down * rows * across * columns > 4 * height * width + 2**22
    ):
        raise MediaError("its tiles are not where they should be")
    _check_segments(file, tags[TILE_COUNTS])
    out = np.empty((down * rows, across * columns, layout.samples), layout.type.newbyteorder("="))
    for number, place in enumerate(places):
        plane, rest = divmod(number, down * across)
        row, column = divmod(rest, across)
        shape = rows, columns * samples * layout.type.itemsize
        raw = _decompress([_segment(file, *place)], layout.compression, shape, rows)
        tile = _samples(raw, layout, columns, samples)
        there = slice(row * rows, (row + 1) * rows), slice(column * columns, (column + 1) * columns)
        out[(*there, slice(plane * samples, (plane + 1) * samples))] = tile
    return out[:height, :width]


def _check_segments(file: BinaryIO, counts: Sequence[int]) -> None:
    """What is compressed is no larger than the file, however many strips say that they are it."""
    if sum(counts) > file.seek(0, io.SEEK_END):
        raise MediaError("the file ends too early")


def _segment(file: BinaryIO, offset: int, count: int) -> bytes:
    file.seek(offset)
    data = file.read(count)
    if len(data) != count:
        raise MediaError("the file ends too early")
    return data


def _samples(raw: Bytes, layout: Layout, width: int, samples: int) -> Pixels:
    """Decompressed rows as samples, without what the predictor did to them."""
    size = layout.type.itemsize
    if layout.predictor == 3:  # floats by bytes, the highest first, each as a difference
        flat = raw.reshape(len(raw), width, samples * size)
        whole = np.cumsum(flat.reshape(len(raw), -1, samples), 1, dtype=np.uint8).reshape(
            len(raw), size, -1
        )
        values = np.ascontiguousarray(whole.transpose(0, 2, 1)).view(layout.type.newbyteorder(">"))
        return values.reshape(len(raw), width, samples)
    values = raw.view(layout.type).reshape(len(raw), width, samples)
    if layout.predictor == 2:
        whole_type = np.dtype(f"u{size}")
        words = values.astype(layout.type.newbyteorder("=")).view(whole_type)
        return np.cumsum(words, 1, dtype=whole_type).view(layout.type.newbyteorder("="))
    return values


def _decompress(
    strips: Sequence[bytes], compression: int, shape: tuple[int, int], rows: int
) -> Bytes:
    """Strips of so many rows each, as rows of bytes."""
    height, row_bytes = shape
    if compression in DEFLATED or compression == 1:
        parts = []
        for first, data in zip(range(0, height, rows), strips, strict=True):
            size = min(rows, height - first) * row_bytes
            part = data if compression == 1 else _inflate(data, size)
            if len(part) < size:
                raise MediaError("a strip is too short")
            parts.append(part[:size])
        return np.frombuffer(b"".join(parts), np.uint8).reshape(shape)
    return _through_libtiff(strips, compression, shape, rows)


def _inflate(data: bytes, size: int) -> bytes:
    """No more than ``size`` bytes: a strip cannot be a bomb."""
    try:
        return zlib.decompressobj().decompress(data, size)
    except zlib.error as error:
        raise MediaError(f"a strip is damaged: {error}") from error


def _through_libtiff(
    strips: Sequence[bytes], compression: int, shape: tuple[int, int], rows: int
) -> Bytes:
    from PIL import TiffImagePlugin

    counts = [len(s) for s in strips]
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    grey = {
        WIDTH: shape[1],
        HEIGHT: shape[0],
        BITS: 8,
        COMPRESSION: compression,
        PHOTOMETRIC: 1,
        SAMPLES: 1,
    }
    _set(tags, {**grey, ROWS: rows, COUNTS: tuple(counts), OFFSETS: _starts(counts)})
    file = io.BytesIO()
    tags.save(file)
    for strip in strips:
        file.write(strip)
    file.seek(0)
    # its own size was checked when it was opened; this picture of bytes is larger, and no bomb
    return np.asarray(TiffImagePlugin.TiffImageFile(file))


def _starts(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(n) for n in np.cumsum([0, *counts[:-1]]))


def _set(tags: Any, values: Mapping[int, Any]) -> None:
    for number, value in values.items():
        tags[number] = value
        if number in (OFFSETS, COUNTS, WIDTH, HEIGHT, ROWS):
            tags.tagtype[number] = 4  # LONG: a file may be larger than 64 KB


# -- writing ------------------------------------------------------------------------------------------


def write_tiff(
    target: Path, pages: Sequence[Pixels], compression: str, tags: Mapping[int, Any]
) -> None:
    """A TIFF file of pages of uint8, uint16 or float32 pixels, with these tags besides its own."""
    with target.open("wb") as file:
        link = 0  # where the place of the next page is written
        for number, pixels in enumerate(pages):
            own = {SUBFILE: 2, PAGE: (number, len(pages))} if len(pages) > 1 else {}
            directory, strips = _page(pixels, compression, {**tags, **own})
            file.write(b"\0" * (file.tell() % 2))
            place = file.tell() or 8
            directory.save(file)
            for strip in strips:
                file.write(strip)
            if link:
                file.seek(link)
                file.write(struct.pack("<I", place))
                file.seek(0, io.SEEK_END)
            link = place + 2 + 12 * len(directory)


def _page(pixels: Pixels, compression: str, tags: Mapping[int, Any]) -> tuple[Any, list[bytes]]:
    """A directory and the strips that follow it."""
    from PIL import TiffImagePlugin

    height, width = pixels.shape[:2]
    samples = pixels.shape[2] if pixels.ndim == 3 else 1
    number = NAMES.get(compression, 8)
    rows = max(1, STRIP_BYTES // (width * samples * pixels.itemsize))
    differs = number in PREDICTED and pixels.dtype.kind == "u"  # few readers have the one of floats
    strips = [
        _packed(pixels[y : y + rows], samples, number, differs) for y in range(0, height, rows)
    ]
    counts = [len(s) for s in strips]
    directory = TiffImagePlugin.ImageFileDirectory_v2(prefix=b"II")
    for tag, value in tags.items():
        if isinstance(value, bytes):
            directory.tagtype[tag] = 7
        directory[tag] = value
    bits, kind = pixels.itemsize * 8, 3 if pixels.dtype.kind == "f" else 1
    own: dict[int, Any] = {
        WIDTH: width,
        HEIGHT: height,
        BITS: (bits,) * samples,
        COMPRESSION: number,
    }
    own |= {PHOTOMETRIC: 2 if samples > 2 else 1, SAMPLES: samples, ROWS: rows, PLANAR: 1}
    own |= {COUNTS: tuple(counts), OFFSETS: _starts(counts), FORMAT: (kind,) * samples}
    if differs:
        own[PREDICTOR] = 2
    if samples in (2, 4):
        own[EXTRA] = (2,)  # alpha by itself: colours are not multiplied by it
    _set(directory, own)
    return directory, strips


def _packed(rows: Pixels, samples: int, compression: int, differs: bool) -> bytes:
    little = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<")).reshape(
        len(rows), -1, samples
    )
    raw = _differences(little) if differs else little.reshape(len(rows), -1).view(np.uint8)
    if compression == 1:
        return raw.tobytes()
    if compression in DEFLATED:
        return zlib.compress(raw.tobytes(), 6)
    return _compress_by_libtiff(raw, compression)


def _differences(rows: Pixels) -> Bytes:
    """What the predictor does: each sample as the difference to the one before it."""
    less = rows.copy()
    less[:, 1:] -= rows[:, :-1]
    return less.reshape(len(rows), -1).view(np.uint8)


def _compress_by_libtiff(raw: Bytes, compression: int) -> bytes:
    from PIL import Image

    name = next(name for name, number in NAMES.items() if number == compression)
    file = io.BytesIO()
    rows = {ROWS: len(raw)}
    Image.fromarray(raw).save(file, "TIFF", compression=name, tiffinfo=rows)
    file.seek(0)
    with Image.open(file, formats=("TIFF",)) as made:
        assert hasattr(made, "tag_v2")
        offsets, counts = made.tag_v2[OFFSETS], made.tag_v2[COUNTS]
    data = file.getvalue()
    assert len(offsets) == 1, "one strip goes in, and one comes out"
    return data[offsets[0] : offsets[0] + counts[0]]
