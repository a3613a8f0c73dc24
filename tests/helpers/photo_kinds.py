"""Kinds of photos as people have them: how each is made, without dala, and what of it is not kept where."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin

from dala.cli.photo import filter_photo
from dala.media import Chain

Array = np.ndarray[Any, Any]
ROWS, COLUMNS = 24, 36
U16, F32 = np.uint16, np.float32
NOTHING, LOOK = Chain(), Chain.of([("contrast", {"value": 0.2}), ("saturation", {"value": 0.3})])
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf tiff:Orientation="1" note="\xc3\xa9"/></x:xmpmeta>'

# keywords as agencies write them, in the part of a JPEG's head that is Photoshop's
IPTC = b"\x1c\x02\x19\x00\x03sea\x1c\x02\x19\x00\x07evening"
_BLOCK = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(IPTC)) + IPTC
IPTC_SEGMENT = b"\xff\xed" + struct.pack(">H", 2 + len(_BLOCK)) + _BLOCK


def levels(channels: int, dtype: type = np.uint8) -> Array:
    """Soft slopes, so that lossy formats come near: (H, W) or (H, W, channels)."""
    y, x = np.mgrid[0:1:ROWS * 1j, 0:1:COLUMNS * 1j]  # fmt: skip
    planes = [0.2 + 0.6 * x, 0.8 - 0.5 * y, 0.3 + 0.3 * (x + y), 0.1 + 0.4 * (x + y)][:channels]
    values = planes[0] if channels == 1 else np.dstack(planes)
    if dtype is np.float32:
        return (values * 1.5 - 0.2).astype(np.float32)
    return np.rint(values * np.iinfo(dtype).max).astype(dtype)


def exif_bytes(orientation: int = 1) -> bytes:
    exif = Image.Exif()
    exif[0x010F], exif[0x0112], exif[0x8298] = "Maker", orientation, "Someone"
    exif.get_ifd(0x8769)[0x829A] = 0.02  # the exposure's time
    exif.get_ifd(0x8825)[1] = "N"
    return exif.tobytes()


def png16(path: Path, pixels: Array) -> None:
    """A PNG of 16 bits, written without dala."""
    kinds = {1: 0, 2: 4, 3: 2, 4: 6}
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    raw = pixels.astype(">u2").reshape(len(pixels), -1).view(np.uint8)
    head = struct.pack(">2I5B", pixels.shape[1], len(pixels), 16, kinds[channels], 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in raw)
    data = b"\x89PNG\r\n\x1a\n"
    for name, content in ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        crc = zlib.crc32(name + content)
        data += struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc)
    path.write_bytes(data)


def tiff_of(pixels: Array, **options: Any) -> Callable[[Path], None]:
    import tifffile

    options = {
        "photometric": "rgb" if pixels.ndim == 3 and pixels.shape[2] > 2 else "minisblack",
        **options,
    }
    return lambda path: tifffile.imwrite(path, pixels, **options)


def pil(mode: str, **options: Any) -> Callable[[Path], None]:
    """An image of a mode, saved by Pillow."""

    def make(path: Path) -> None:
        image = (
            Image.fromarray(levels(4))
            .convert("RGB" if mode in ("CMYK", "P") else mode)
            .convert(mode)
        )
        image.save(path, **options)

    return make


def palette_with_alpha(path: Path) -> None:
    Image.fromarray(levels(3)).quantize(64).save(path, transparency=5)


def png_saying(**chunks: int) -> Callable[[Path], None]:
    """A PNG with chunks of four bytes."""
    said = PngImagePlugin.PngInfo()
    for kind, value in chunks.items():
        said.add(kind.encode(), value.to_bytes(4, "big"))
    return pil("RGB", pnginfo=said)


def lab_tiff(path: Path) -> None:
    rgb, lab = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    image = ImageCms.profileToProfile(Image.fromarray(levels(3)), rgb, lab, outputMode="LAB")
    assert image is not None
    image.save(path)


def tiff_with_thumbnail(path: Path) -> None:
    import tifffile

    with tifffile.TiffWriter(path) as writer:
        writer.write(levels(3, U16), photometric="rgb")
        writer.write(levels(3)[::4, ::4], photometric="rgb", subfiletype=1)


def tiff_pages(path: Path) -> None:
    """A page of 16 bits, another of bytes and another size, and one of floats."""
    import tifffile

    with tifffile.TiffWriter(path) as writer:
        writer.write(levels(3, U16), photometric="rgb", compression="zlib")
        writer.write(levels(3)[:9], photometric="rgb")
        writer.write(levels(1, F32), photometric="minisblack")


def tiff12(path: Path) -> None:
    """Two values of 12 bits in three bytes, as sensors and scanners pack them."""
    values = (levels(1, U16) >> 4).reshape(-1, 2)
    packed = np.stack(
        [values[:, 0] >> 4, (values[:, 0] & 15) << 4 | values[:, 1] >> 8, values[:, 1] & 255], 1
    )
    data = packed.astype(np.uint8).tobytes()
    tags = {
        256: COLUMNS,
        257: ROWS,
        258: 12,
        259: 1,
        262: 1,
        273: 8,
        277: 1,
        278: ROWS,
        279: len(data),
    }
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    head = b"II*\0" + struct.pack("<I", 8 + len(data))
    path.write_bytes(head + data + struct.pack("<H", len(tags)) + entries + bytes(4))


def netpbm(pixels: Array) -> Callable[[Path], None]:
    kind = "P5" if pixels.ndim == 2 else "P6"
    head = f"{kind}\n# made by a test\n{COLUMNS} {ROWS}\n65535\n".encode()

    def make(path: Path) -> None:
        path.write_bytes(head + pixels.astype(">u2").tobytes())

    return make


@dataclass(frozen=True)
class Kind:
    """A kind of file: how it is made, what it is, and what is not kept where."""

    make: Callable[[Path], None]
    ending: str
    channels: str
    bits: int = 8
    lossy: bool = False
    lost: str = ""  # said when it is written as it was
    into: dict[str, str] = field(default_factory=dict)  # another ending → what is said then


DEEP_LOSS = "16 bits (8 bits are kept)"
METADATA = {"icc_profile": SRGB, "exif": exif_bytes()}
KINDS = {
    "jpeg rgb": Kind(pil("RGB", quality=95), ".jpg", "rgb", lossy=True),
    "jpeg grey": Kind(pil("L", quality=95), ".jpg", "grey", lossy=True),
    "jpeg 4:4:4": Kind(pil("RGB", quality=95, subsampling=0), ".jpg", "rgb", lossy=True),
    "jpeg progressive": Kind(pil("RGB", quality=95, progressive=True), ".jpg", "rgb", lossy=True),
    "jpeg metadata": Kind(
        pil("RGB", quality=95, xmp=XMP, comment=b"hello", dpi=(300, 300), **METADATA), ".jpg", "rgb",
        lossy=True,
        into={
            ".png": "", ".webp": "its comment",
            ".bmp": "its colour profile, its EXIF, its XMP, its comment",
        },
    ),
    "jpeg cmyk": Kind(pil("CMYK", quality=95), ".jpg", "rgb", lossy=True, lost="CMYK (it is RGB)"),
    "jpeg cmyk, profile of rgb": Kind(
        pil("CMYK", quality=95, icc_profile=SRGB), ".jpg", "rgb", lossy=True, lost="CMYK (it is RGB)"
    ),
    "jpeg cmyk, no profile at all": Kind(
        pil("CMYK", quality=95, icc_profile=b"nonsense" * 40), ".jpg", "rgb", lossy=True,
        lost="CMYK (it is RGB)",
    ),
    "jpeg iptc": Kind(
        pil("RGB", quality=95, extra=IPTC_SEGMENT, dpi=(300, 300)), ".jpg", "rgb", lossy=True,
        into={
            ".tif": "", ".png": "its IPTC", ".webp": "its IPTC",
            ".gif": "more than 256 colours, its IPTC, 300 dpi",
        },
    ),
    "png grey": Kind(pil("L"), ".png", "grey"),
    "png grey with alpha": Kind(pil("LA"), ".png", "rgba"),
    "png rgb": Kind(pil("RGB"), ".png", "rgb", into={".gif": "more than 256 colours"}),
    "png rgba": Kind(pil("RGBA"), ".png", "rgba", into={".jpg": "alpha (it lies on black)", ".webp": ""}),
    "png palette": Kind(pil("P"), ".png", "rgb"),
    "png bilevel": Kind(pil("1"), ".png", "grey"),
    "png metadata": Kind(pil("RGB", dpi=(300, 300), **METADATA), ".png", "rgb"),
    "png grey 16": Kind(lambda p: png16(p, levels(1, U16)), ".png", "grey", 16, into={".jpg": DEEP_LOSS}),
    "png grey with alpha 16": Kind(lambda p: png16(p, levels(2, U16)), ".png", "rgba", 16),
    "png rgb 16": Kind(
        lambda p: png16(p, levels(3, U16)), ".png", "rgb", 16,
        into={".tif": "", ".jpg": DEEP_LOSS, ".webp": DEEP_LOSS},
    ),
    "png rgba 16": Kind(
        lambda p: png16(p, levels(4, U16)), ".png", "rgba", 16,
        into={".tif": "", ".jpg": f"{DEEP_LOSS}, alpha (it lies on black)"},
    ),
    "tiff grey": Kind(pil("L"), ".tif", "grey"),
    "tiff rgb": Kind(pil("RGB", compression="tiff_lzw"), ".tif", "rgb"),
    "tiff rgba": Kind(pil("RGBA", compression="tiff_adobe_deflate"), ".tif", "rgba"),
    "tiff cmyk": Kind(pil("CMYK"), ".tif", "rgb", lost="CMYK (it is RGB)"),
    "tiff metadata": Kind(pil("RGB", dpi=(300, 300), **METADATA), ".tif", "rgb"),
    "tiff grey 16": Kind(tiff_of(levels(1, U16)), ".tif", "grey", 16),
    "tiff rgb 16": Kind(tiff_of(levels(3, U16)), ".tif", "rgb", 16, into={".png": "", ".jpg": DEEP_LOSS}),
    "tiff rgba 16": Kind(tiff_of(levels(4, U16), extrasamples=["unassalpha"]), ".tif", "rgba", 16),
    "tiff rgb 16 deflate": Kind(
        tiff_of(levels(3, U16), compression="zlib", predictor=True), ".tif", "rgb", 16
    ),
    "tiff rgb 16 tiled": Kind(tiff_of(levels(3, U16), tile=(16, 16)), ".tif", "rgb", 16),
    "tiff rgb 16 planar": Kind(
        tiff_of(np.moveaxis(levels(3, U16), -1, 0), planarconfig="separate", photometric="rgb"),
        ".tif", "rgb", 16,
    ),
    "tiff rgb 16 big-endian": Kind(tiff_of(levels(3, U16), byteorder=">"), ".tif", "rgb", 16),
    "tiff grey floats": Kind(tiff_of(levels(1, F32)), ".tif", "grey", 32),
    "tiff rgb floats": Kind(
        tiff_of(levels(3, F32)), ".tif", "rgb", 32,
        into={".png": "floats (16 bits are kept)", ".jpg": "floats (8 bits are kept)"},
    ),
    "tiff rgba floats": Kind(tiff_of(levels(4, F32), extrasamples=["unassalpha"]), ".tif", "rgba", 32),
    "tiff rgb half floats": Kind(tiff_of(levels(3, F32).astype(np.float16)), ".tif", "rgb", 32),
    "webp rgb": Kind(pil("RGB", quality=95, **METADATA), ".webp", "rgb", lossy=True, into={".jpg": ""}),
    "webp rgba": Kind(pil("RGBA", lossless=True), ".webp", "rgba", lossy=True),
    "avif rgb": Kind(pil("RGB", quality=95, **METADATA), ".avif", "rgb", lossy=True),
    "webp rgba lossless": Kind(pil("RGBA", lossless=True), ".webp", "rgba"),
    "jpeg and a second view": Kind(
        pil("RGB", format="MPO", quality=95, save_all=True, append_images=[Image.fromarray(levels(3))]),
        ".mpo", "rgb", lossy=True, lost="its second picture (a gain map, or another view)",
    ),
    "png palette with alpha": Kind(palette_with_alpha, ".png", "rgba"),
    "png of linear light": Kind(png_saying(gAMA=100_000), ".png", "rgb", into={".jpg": "its gamma of 1"}),
    "png of HDR": Kind(
        png_saying(cICP=0x09100001), ".png", "rgb", into={".tif": "its colours (cICP 9/16)", ".png": ""}
    ),
    "tiff bilevel": Kind(pil("1", compression="group4"), ".tif", "grey"),
    "tiff lab": Kind(lab_tiff, ".tif", "rgb"),
    "tiff cmyk 16": Kind(
        tiff_of(levels(4, U16), photometric="separated"), ".tif", "rgb",
        lost="CMYK (it is RGB), 16 bits (8 are read)",
    ),
    "tiff rgb 16, 64-bit offsets": Kind(tiff_of(levels(3, U16), bigtiff=True), ".tif", "rgb", 16),
    "tiff grey 12": Kind(tiff12, ".tif", "grey", 16),
    "tiff rgb 16 and its thumbnail": Kind(tiff_with_thumbnail, ".tif", "rgb", 16),
    "tiff pages": Kind(tiff_pages, ".tif", "rgb", 16),
    "pgm 16": Kind(netpbm(levels(1, U16)), ".pgm", "grey", 16, into={".png": "", ".jpg": DEEP_LOSS}),
    "ppm 16": Kind(
        netpbm(levels(3, U16)), ".ppm", "rgb", 16, into={".tif": "its comment", ".jpg": DEEP_LOSS}
    ),
    "bmp": Kind(pil("RGB", dpi=(300, 300)), ".bmp", "rgb"),
    "ppm": Kind(pil("RGB"), ".ppm", "rgb"),
    "tga": Kind(pil("RGBA"), ".tga", "rgba"),
    "jpeg 2000": Kind(pil("RGB"), ".jp2", "rgb", lossy=True),
}  # fmt: skip


def through(
    source: Path, target: Path, chain: Chain, quality: int = 92, *, strict: bool = False
) -> str:
    """What is said when a file becomes another one."""
    said: list[str] = []
    filter_photo(source, target, target, chain, quality, strict=strict, tell=said.append)
    assert len(said) <= 1
    return said[0].removeprefix(f"{target} does not hold ") if said else ""
