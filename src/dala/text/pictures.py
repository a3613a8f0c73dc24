"""Pictures as callers have them, opened to be drawn on.

    NumPy arrays    grey (H, W), (H, W, 1), RGB, RGBA; uint8, uint16, float32 (0..1), any memory order
    PIL images      L, RGB, RGBA as they are, others through RGB or RGBA
    buffers         of dala; DLPack (torch and others) on the host

``dala.media`` takes the same kinds and more (files, raw bytes) for its filters, and lies above this
package. Here nothing is packed for a device: ink goes straight onto the caller's own pixels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.errors import ArgumentError, DTypeError, ShapeError

Array = npt.NDArray[Any]
PLAIN = ("L", "RGB", "RGBA")
THROUGH = {"1": "L", "LA": "RGBA", "La": "RGBA", "RGBa": "RGBA", "PA": "RGBA", "P": "RGB", "CMYK": "RGB",
           "YCbCr": "RGB", "HSV": "RGB", "RGBX": "RGB"}  # fmt: skip
RESTORED = (
    "LA",
    "La",
    "RGBa",
    "CMYK",
    "YCbCr",
    "HSV",
    "RGBX",
)  # modes that have room for new colours


def open_pixels(picture: object, *, in_place: bool) -> tuple[Array, Callable[[Array], object]]:
    """Pixels to draw on, (H, W) or (H, W, C), and what makes them a picture of the caller's kind again."""
    if isinstance(picture, np.ndarray):
        _check(picture)
        if in_place and not picture.flags.writeable:
            raise ArgumentError("this array cannot be written; leave in_place out to get a new one")
        return (picture if in_place else picture.copy()), lambda _: picture if in_place else _
    if isinstance(picture, Buffer):
        return _open_buffer(picture, in_place=in_place)
    if any(base.__module__.startswith("PIL.") for base in type(picture).__mro__):
        return _open_pil(picture, in_place=in_place)
    if hasattr(picture, "__dlpack__") and not in_place:
        return _open_dlpack(picture)
    raise ArgumentError(
        "expected a picture (NumPy array, PIL image, dala buffer, DLPack on the host), "
        f"got {type(picture).__name__}"
    )


def _check(pixels: Array) -> None:
    if pixels.dtype not in (np.uint8, np.uint16, np.float32):
        raise DTypeError(f"expected a picture of uint8, uint16 or float32, got {pixels.dtype}")
    known = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))
    if not known or not pixels.size:
        raise ShapeError(
            f"expected a picture of (height, width) or (height, width, 1, 3 or 4), got {pixels.shape}"
        )


def _open_buffer(buffer: Buffer, *, in_place: bool) -> tuple[Array, Callable[[Array], object]]:
    pixels = buffer.read()
    _check(pixels)

    def give_back(drawn: Array) -> Buffer:
        target = buffer
        if not in_place:
            storage = buffer.engine.device.allocate(buffer.type)
            target = Buffer(buffer.engine, buffer.type, storage)
        target.write(drawn)
        return target

    return pixels, give_back


def _open_pil(image: Any, *, in_place: bool) -> tuple[Array, Callable[[Array], object]]:
    mode = image.mode
    if mode not in PLAIN and mode not in THROUGH:
        raise DTypeError(f"a PIL image of mode {mode!r} has no room for colours; convert it to RGB")
    if in_place and mode not in PLAIN:
        raise ArgumentError(
            f"a PIL image of mode {mode!r} is not drawn on in place; convert it to RGB"
        )
    working = mode if mode in PLAIN else THROUGH[mode]
    if mode == "P" and "transparency" in image.info:
        working = "RGBA"
    pixels = np.array(image if working == mode else image.convert(working))

    def give_back(drawn: Array) -> object:
        from PIL import Image

        made = Image.fromarray(drawn)
        if in_place:
            image.paste(made)
            return image
        made = made.convert(mode) if mode in RESTORED else made
        made.info = {k: v for k, v in image.info.items() if k != "transparency"}
        return made

    return pixels, give_back


def _open_dlpack(picture: Any) -> tuple[Array, Callable[[Array], object]]:
    try:
        pixels = np.array(np.from_dlpack(picture))
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"the memory of {type(picture).__name__} cannot be read from here ({error}); "
            "move it to the host first, e.g. x.cpu()"
        ) from error
    _check(pixels)
    library = sys.modules.get(type(picture).__module__.partition(".")[0])
    return pixels, getattr(library, "from_dlpack", lambda drawn: drawn)
