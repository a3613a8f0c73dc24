"""Frames as picture files. PNG needs nothing; JPEG and WebP need Pillow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, UnsupportedError
from dala.png import encode_png

__all__ = ["encode_png", "save_picture"]

Array = npt.NDArray[np.uint8]
_PILLOW = {".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}


def save_picture(pixels: Array, path: Path, quality: int) -> None:
    """Write RGBA pixels; the ending says how."""
    ending = path.suffix.lower()
    if ending == ".png":
        path.write_bytes(encode_png(pixels))
    elif ending in _PILLOW:
        _save_with_pillow(pixels, path, _PILLOW[ending], quality)
    else:
        known = ", ".join((".png", *_PILLOW))
        raise ParameterError(f"save: no picture format for {path.name!r}; expected one of {known}")


def _save_with_pillow(pixels: Array, path: Path, form: str, quality: int) -> None:
    try:
        from PIL import Image
    except ImportError as error:
        raise UnsupportedError(
            f"save: {form} needs Pillow (pip install 'dala-gpu[image]'); PNG needs nothing"
        ) from error
    image: Any = Image.fromarray(np.ascontiguousarray(pixels))
    if form == "JPEG":
        ground = Image.new("RGBA", image.size, (0, 0, 0, 255))
        image = Image.alpha_composite(ground, image).convert("RGB")
    image.save(path, form, quality=quality)
