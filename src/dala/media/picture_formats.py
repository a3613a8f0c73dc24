"""Which picture files are opened: those that Pillow decodes itself.

The rest of what Pillow knows is handed on to programs (EPS to Ghostscript), drawn by the system (WMF) or is
hardly met; a stranger's file says of itself what it is, whatever its ending is.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = (
    "PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "JPEG2000", "PPM", "TGA", "QOI", "ICO", "ICNS",
    "DIB", "PSD", "PCX", "SGI",
)  # fmt: skip


def readable_formats() -> list[str]:
    """Those of them that this Pillow has."""
    from PIL import Image

    Image.init()
    return [name for name in FORMATS if name in Image.OPEN]


def open_image(path: str | PathLike[str]) -> Image:
    """``Image.open`` for these; anything else is no picture (``UnidentifiedImageError``)."""
    from PIL import Image

    return Image.open(path, formats=readable_formats())
