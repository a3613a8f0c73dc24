"""Blend modes: W3C Compositing and Blending, level 1, one pixel at a time.

Functions of the rasteriser's language (language.py). With straight colours s and d of alpha a and b, all
0 … 1:   alpha = a + b − a·b,   color = (a·(1 − b)·s + a·b·B(d, s) + (1 − a)·b·d) / alpha.
``add`` sums what is premultiplied, ``erase`` takes the destination away, ``replace`` goes from one to the
other by coverage.
"""

from __future__ import annotations

from dala.gpu.raster.words import load8, load_u32, magnitude, store32

OVER, MULTIPLY, SCREEN, OVERLAY, DARKEN, LIGHTEN, ADD, DIFFERENCE, EXCLUSION, HARD_LIGHT, ERASE = (
    range(11)
)
LAST_MODE = ERASE
REPLACE_MODE = 11


def mode_row(to: int, count: int, pixels: int, cover: int, tint: int, mode: int) -> None:
    """A row of pixels through coverage, in any mode; the tint's alpha is an opacity."""
    for i in range(count):
        c = load_u32(cover + i * 4)
        if c > 0:
            mode_pixel(to + i * 4, pixels + i * 4, c * (1.0 / 255), tint, mode)


def mode_pixel(to: int, pixel: int, cover: float, tint: int, mode: int) -> None:
    a, b = load8(pixel + 3) * (tint >> 24 & 255) / 65025.0, load8(to + 3) / 255.0
    if mode == REPLACE_MODE:
        lerp_pixel(to, pixel, cover, a, b, tint)
        return
    a = a * cover
    if mode == ERASE:
        store_alpha(to, b * (1.0 - a))
        return
    alpha = min(a + b, 1.0) if mode == ADD else a + b - a * b
    if alpha <= 0.0:
        return
    result = int(alpha * 255.0 + 0.5) << 24
    for c in range(3):
        s, d = load8(pixel + c) * (tint >> (c * 8) & 255) / 65025.0, load8(to + c) / 255.0
        if mode == ADD:
            level = min((a * s + b * d) / alpha, 1.0)
        else:
            mixed = blended(s, d, mode)
            level = (a * (1.0 - b) * s + a * b * mixed + (1.0 - a) * b * d) / alpha
        result = result | int(level * 255.0 + 0.5) << (c * 8)
    store32(to, result)


def store_alpha(to: int, alpha: float) -> None:
    store32(to, load_u32(to) & 0xFFFFFF | int(alpha * 255.0 + 0.5) << 24)


def lerp_pixel(to: int, pixel: int, cover: float, a: float, b: float, tint: int) -> None:
    """From what was there to what comes, by coverage; colours count by their alpha."""
    left, right = b * (1.0 - cover), a * cover
    alpha = left + right
    result = int(alpha * 255.0 + 0.5) << 24
    for c in range(3):
        s, d = load8(pixel + c) * (tint >> (c * 8) & 255) / 255.0, load8(to + c) * 1.0
        level = s if alpha <= 0.0 else (s * right + d * left) / max(alpha, 1e-9)
        result = result | int(level + 0.5) << (c * 8)
    store32(to, result)


def blended(s: float, d: float, mode: int) -> float:
    """B(d, s)."""
    if mode == MULTIPLY:
        return s * d
    if mode == SCREEN:
        return s + d - s * d
    if mode == OVERLAY:
        return hard(d, s)
    if mode == HARD_LIGHT:
        return hard(s, d)
    if mode == DARKEN:
        return min(s, d)
    if mode == LIGHTEN:
        return max(s, d)
    if mode == DIFFERENCE:
        return magnitude(s - d)
    if mode == EXCLUSION:
        return s + d - 2.0 * s * d
    return s


def hard(s: float, d: float) -> float:
    return 2.0 * s * d if s <= 0.5 else 1.0 - 2.0 * (1.0 - s) * (1.0 - d)
