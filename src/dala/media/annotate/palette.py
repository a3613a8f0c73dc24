"""Colours that differ from each other, and what is readable on them."""

from __future__ import annotations

import colorsys
from collections.abc import Hashable
from zlib import crc32

from dala.colors import Color, rgba

RGB = tuple[int, int, int]
_STEP = 0.6180339887498949  # the golden section: hues that follow each other are far apart
RIM = (0, 0, 0, 150)


def color_of(key: Hashable) -> RGB:
    """A bright colour for a number or a name, always the same one."""
    number = key if isinstance(key, int) else crc32(str(key).encode())
    hue = (number * _STEP + 0.02) % 1.0
    light = 0.58 if number // 8 % 2 == 0 else 0.7
    red, green, blue = colorsys.hls_to_rgb(hue, light, 0.95)
    return round(red * 255), round(green * 255), round(blue * 255)


def chosen(color: Color | None, key: Hashable) -> RGB:
    """The caller's colour, or one by the key."""
    if color is None:
        return color_of(key)
    red, green, blue, _ = rgba(color)
    return red, green, blue


def readable_on(color: RGB) -> RGB:
    """Black or white, whichever has more contrast."""
    red, green, blue = ((c / 255) ** 2.2 for c in color)
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return (0, 0, 0) if bright > 0.18 else (255, 255, 255)
