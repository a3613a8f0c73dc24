"""Text on pictures: the help of ``dala live`` and the captions of contact sheets."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Array = npt.NDArray[np.uint8]
GROUND = (12, 14, 20, 190)
TEXT, KEY, ON = (225, 228, 235, 255), (255, 190, 90, 255), (110, 220, 150, 255)


@functools.cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, so that it looks alike everywhere."""
    return ImageFont.load_default(size)


@functools.lru_cache(8)
def _drawn(lines: tuple[tuple[str, str, bool], ...], width: int, height: int) -> Array:
    size = min(max(height // 34, 11), 28)
    margin, step = size, int(size * 1.5)
    letters = font(size)
    column = margin + int(max(letters.getlength(key) for key, _, _ in lines)) + size
    wide = column + int(max(letters.getlength(text) for _, text, _ in lines)) + margin
    panel = Image.new(
        "RGBA", (min(wide, width), min(step * len(lines) + 2 * margin, height)), GROUND
    )
    pen = ImageDraw.Draw(panel)
    for number, (key, text, on) in enumerate(lines):
        top = margin + number * step
        pen.text((margin, top), key, KEY, letters)
        pen.text((column, top), text, ON if on else TEXT, letters)
    return np.asarray(panel)


def draw_lines(lines: Sequence[tuple[str, str, bool]], width: int, height: int) -> Array:
    """Keys and their meaning as a picture with alpha, for a frame of that size."""
    return _drawn(tuple(lines), width, height)
