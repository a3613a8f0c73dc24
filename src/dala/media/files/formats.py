"""The formats of picture files that are opened and written: no others, however many Pillow knows.

Pillow hands PostScript to Ghostscript, and metafiles to Windows: files of strangers stay out of there.
HEIC, JPEG XL and camera raw need a package more; whoever lacks it is told which.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from dala.errors import MediaError, UnsupportedError, suggest
from dala.once import once

# Pillow's names; those of plug-ins come after them
READ = ("JPEG", "MPO", "PNG", "TIFF", "WEBP", "GIF", "AVIF", "BMP", "DIB", "PPM", "TGA", "ICO", "ICNS",
        "PCX", "SGI", "JPEG2000", "QOI", "DDS", "XBM", "HEIF", "JXL")  # fmt: skip
WRITTEN = ("JPEG", "PNG", "TIFF", "WEBP", "GIF", "AVIF", "BMP", "PPM", "TGA", "ICO", "PCX", "SGI",
           "JPEG2000", "HEIF", "JXL")  # fmt: skip
SAME_FILES = {
    "MPO": "JPEG"
}  # a JPEG with further ones behind it, which is opened and written as one
ANIMATED = ("GIF", "WEBP", "PNG", "AVIF")  # several frames are a film; in an MPO, other views
LOSSY = ("JPEG", "WEBP", "AVIF", "HEIF", "JXL")
OPAQUE = ("JPEG", "PPM", "BMP", "PCX")  # no alpha
DEEP = {"PNG": 16, "TIFF": 32, "PPM": 16}  # bits of a value; else 8
HOLDS = {
    "icc_profile": ("JPEG", "PNG", "TIFF", "WEBP", "AVIF", "HEIF", "JXL"),
    "exif": ("JPEG", "PNG", "TIFF", "WEBP", "AVIF", "HEIF", "JXL"),
    "xmp": ("JPEG", "PNG", "TIFF", "WEBP", "AVIF", "HEIF"),
    "comment": ("JPEG", "GIF", "JPEG2000", "PPM"),
    "dpi": ("JPEG", "PNG", "TIFF", "BMP"),
    "iptc": ("JPEG", "TIFF"),
}
RAW = frozenset(
    (".dng", ".cr2", ".cr3", ".crw", ".nef", ".nrw", ".arw", ".sr2", ".srf", ".orf", ".rw2", ".rwl", ".raf",
     ".pef", ".srw", ".3fr", ".fff", ".iiq", ".mos", ".mef", ".mrw", ".erf", ".kdc", ".dcr", ".x3f", ".gpr")
)  # fmt: skip
PLUGINS = {  # module → what it is installed by, and the endings of its files
    "pillow_heif": ("pillow-heif", (".heic", ".heif", ".hif")),
    "pillow_jxl": ("pillow-jxl-plugin", (".jxl",)),
}


def pillow(who: str) -> Any:
    """Pillow's ``Image`` module, with the plug-ins that are installed."""
    try:
        from PIL import Image
    except ImportError as error:
        raise UnsupportedError(
            f"{who}: picture files need Pillow (pip install 'dala-gpu[image]')"
        ) from error
    _register()
    return Image


@once
def _register() -> frozenset[str]:
    """Let Pillow know of the plug-ins that are installed: their names."""
    from PIL import Image

    found = set()
    for module in PLUGINS:
        try:
            plugin = importlib.import_module(module)
        except ImportError:
            continue
        found.add(module)
        if module == "pillow_heif":
            plugin.register_heif_opener()
    Image.init()
    return frozenset(found)


def hint_for(path: Path) -> str:
    """What to install so that a file can be opened, or why it never is; nothing if nobody knows."""
    ending = path.suffix.lower()
    for module, (package, endings) in PLUGINS.items():
        if ending in endings and module not in _register():
            return f"{ending} needs {package} (pip install {package})"
    if ending in RAW:
        return f"{ending} is camera raw and needs rawpy (pip install rawpy)"
    if ending in (".eps", ".ps", ".pdf", ".ai", ".svg", ".wmf", ".emf"):
        return f"{ending} is a drawing, not a picture; render it to .png first"
    return ""


def picture_endings() -> frozenset[str]:
    """Endings of the files that are opened, with what is installed or without."""
    image = pillow("open")
    known = {
        e
        for e, f in image.registered_extensions().items()
        if f in READ and SAME_FILES.get(f, f) in image.OPEN
    }
    return frozenset(known | RAW | {e for _, endings in PLUGINS.values() for e in endings})


def format_of(path: Path) -> str:
    """Pillow's name of the format that a file's ending asks for."""
    image = pillow("save")
    registered = {e: SAME_FILES.get(f, f) for e, f in image.registered_extensions().items()}
    endings = {e: f for e, f in registered.items() if f in WRITTEN and f in image.SAVE}
    endings.pop(".pfm", None)  # of floats, which is opened only
    form: str | None = endings.get(path.suffix.lower())
    if form is None and path.suffix.lower() in RAW:
        raise MediaError(
            f"{path}: camera raw is opened and never written; name another ending: '{{name}}.jpg', "
            "or '{name}.tif' for 16 bits"
        )
    if form is None:
        hint = hint_for(path)
        near = f"; {hint}" if hint else suggest(path.suffix.lower(), endings)
        raise MediaError(
            f"{path}: no picture format is called {path.suffix or 'nothing'!r}"
            f"{near or '; .png and .jpg always work'}"
        )
    return form
