"""Another background, by a mask of what is in front."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.errors import ArgumentError
from dala.media.apply import Image, run_filter
from dala.media.chain import find_filter
from dala.media.pictures import Channels, take_picture
from dala.media.pil import array_of_pil, is_pil, open_picture


def replace_background(
    image: Image,
    mask: object,
    background: object,
    width: int | None = None,
    height: int | None = None,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The picture where the mask is white, before a background that is a picture or a colour.

    A background of another shape is cut to fill the picture (from its middle), and a mask of another
    size is scaled. The colour is (red, green, blue), 0..255.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> mask = np.array([[0, 255], [0, 255]], np.uint8)
    >>> media.replace_background(photo, mask, (0, 0, 200))[0].tolist()
    [[0, 0, 200], [100, 100, 100]]
    """
    who = "replace_background"
    size = take_picture(image, width, height, channels, who=who).size
    ground = _as_ground(background, size, channels)
    params = {"mask": mask, "background": ground}
    return run_filter(
        find_filter("background_replace"), image, (width, height), channels, device, params
    )


def _as_ground(
    background: object, size: tuple[int, int], channels: str | None
) -> Buffer | npt.NDArray[Any]:
    """A colour or a picture as a background for a picture of that size, in its order of channels."""
    who = "replace_background: background"
    if isinstance(background, tuple):
        pixels = _as_color(background)
    elif isinstance(background, str | os.PathLike):
        pixels = open_picture(Path(background), who)
    elif is_pil(background):
        pixels = array_of_pil(background, who)
    else:
        given = take_picture(background, who=who).pixels
        return given if isinstance(given, Buffer) else cover(given, size)
    if channels in ("bgr", "bgra") and pixels.ndim == 3:
        pixels = pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
    return cover(pixels, size)


def _as_color(color: tuple[object, ...]) -> npt.NDArray[Any]:
    fits = [isinstance(c, int) and not isinstance(c, bool) and 0 <= c <= 255 for c in color]
    if fits != [True] * 3:
        raise ArgumentError(f"a colour is (red, green, blue), 0..255 each, got {color!r}")
    return np.array([[color]], np.uint8)


def cover(pixels: npt.NDArray[Any], size: tuple[int, int]) -> npt.NDArray[Any]:
    """The middle of a picture, in the proportions of a size."""
    rows, columns = pixels.shape[:2]
    width, height = size
    wide = min(columns, max(1, round(rows * width / height)))
    high = min(rows, max(1, round(columns * height / width)))
    left, top = (columns - wide) // 2, (rows - high) // 2
    return pixels[top : top + high, left : left + wide]
