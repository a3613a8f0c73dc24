"""PIL images as arrays, and back in the same mode. Pillow is not imported unless somebody has an image.

L, RGB, RGBA   as they are
F              grey, f32
I;16, I;16B    grey, u16
LA, La, RGBa   through RGBA
CMYK, YCbCr, HSV, RGBX   through RGB
1, P, PA       become L, RGB or RGBA and stay so: a palette has no room for new colours
I, LAB         are refused: their values would be cut to 8 bits
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import DTypeError, MediaError, UnsupportedError

Array = npt.NDArray[Any]
PLAIN = ("L", "RGB", "RGBA", "F")
THROUGH = {
    "LA": "RGBA", "La": "RGBA", "RGBa": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "RGBX": "RGB",
}  # fmt: skip


def is_pil(image: object) -> bool:
    """Whether it is an image of Pillow."""
    return any(base.__module__.startswith("PIL.") for base in type(image).__mro__)


def array_of_pil(image: Any, who: str) -> Array:
    """The pixels: (H, W), (H, W, 3) or (H, W, 4)."""
    deep = image.mode.startswith("I;16")
    working = image.mode if deep or image.mode in PLAIN else _working_mode(image, who)
    try:  # only now are the pixels of a file read
        if deep:
            return np.asarray(image).astype(np.uint16)
        return np.asarray(image if working == image.mode else image.convert(working))
    except (OSError, SyntaxError) as error:
        raise MediaError(f"{who}: the picture cannot be read: {error}") from error


def _working_mode(image: Any, who: str) -> str:
    mode = image.mode
    if mode in THROUGH:
        return THROUGH[mode]
    if mode == "1":
        return "L"
    if mode in ("P", "PA"):
        return "RGBA" if mode == "PA" or "transparency" in image.info else "RGB"
    raise DTypeError(
        f"{who}: a PIL image of mode {mode!r} has no pixels of 8 or 16 bits; convert it to L or RGB first"
    )


def pil_like(image: Any) -> Callable[[Array], object]:
    """How an array becomes an image of this one's mode, with its colour profile and the like."""
    mode = image.mode
    info = {k: v for k, v in image.info.items() if k != "transparency"}

    def restore(result: Array) -> object:
        from PIL import Image

        made: Any = Image.fromarray(np.ascontiguousarray(result))
        if mode in THROUGH:
            made = made.convert(mode)
        made.info = dict(info)
        return made

    return restore


def open_picture(path: Path, who: str) -> Array:
    """The pixels of a picture's file, upright, as grey, RGB or RGBA."""
    from dala.media.files import open_photo

    try:
        return open_photo(path).pixels
    except UnsupportedError as error:
        raise UnsupportedError(f"{who}: {error}") from error
    except MediaError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise MediaError(f"{who}: cannot read the picture {str(path)!r}: {reason}") from error
