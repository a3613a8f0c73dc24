"""One function for each filter, with its parameters and their defaults.

color.py   colours of single pixels   light.py   light and tone      detail.py  neighbourhoods
shape.py   where pixels go            layers.py  several pictures
"""

from __future__ import annotations

from dala.media.filters.color import (
    brightness,
    contrast,
    grayscale,
    hue,
    invert,
    lut,
    saturation,
    sepia,
    split_tone,
    vibrance,
    white_balance,
)
from dala.media.filters.detail import (
    beauty,
    blur,
    denoise,
    edge_detect,
    median,
    pixelate,
    posterize,
    sharpen,
    threshold,
)
from dala.media.filters.layers import background_blur, background_replace, blend, chroma_key
from dala.media.filters.light import exposure, gamma, glow, grain, hdr, tone, vignette
from dala.media.filters.shape import crop, flip, resize, rotate, warp_affine, warp_perspective

__all__ = [
    "background_blur", "background_replace", "beauty", "blend", "blur", "brightness",
    "chroma_key", "contrast", "crop", "denoise", "edge_detect", "exposure", "flip", "gamma",
    "glow", "grain", "grayscale", "hdr", "hue", "invert", "lut", "median", "pixelate",
    "posterize", "resize", "rotate", "saturation", "sepia", "sharpen", "split_tone",
    "threshold", "tone", "vibrance", "vignette", "warp_affine", "warp_perspective",
    "white_balance",
]  # fmt: skip
