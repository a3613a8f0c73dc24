"""The clip of ``dala demo``: a landscape at dusk, or a slow flight over a photo.

The landscape is a kernel of no inputs; each frame is one call with another time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import dala
from dala import compute, media
from dala.language.kernel import make_kernel
from dala.language.values import Value, Vec
from dala.language.vocabulary import height, mix, rgb, sin, smoothstep, sqrt, width, x, y
from dala.media.packing import add_alpha

Array = npt.NDArray[np.uint8]
HILLS = (  # how far down, how high, how fast, colour
    (0.62, 0.060, 0.020, (0.62, 0.40, 0.46)),
    (0.70, 0.075, 0.045, (0.43, 0.27, 0.40)),
    (0.79, 0.060, 0.090, (0.26, 0.17, 0.31)),
    (0.89, 0.050, 0.180, (0.12, 0.09, 0.19)),
)


def draw_dusk(seconds: float = dala.param(0.0, min=0, max=3600, help="The time.")) -> Vec:
    """A sun going down behind hills that pass by."""
    u, v = x / height, y / height  # so that circles are round
    picture: Value = mix(rgb(0.22, 0.26, 0.52), rgb(0.98, 0.66, 0.42), smoothstep(0.0, 0.7, v))
    right, down = u - 0.62 * (width / height), v - (0.36 + seconds * 0.03)
    distance = sqrt(right * right + down * down)
    picture = mix(picture, rgb(1.0, 0.88, 0.62), smoothstep(0.55, 0.0, distance) * 0.5)
    picture = mix(picture, rgb(1.0, 0.95, 0.82), smoothstep(0.104, 0.100, distance))
    for number, (base, rise, speed, color) in enumerate(HILLS):
        along = u * (3.0 + number) + seconds * speed * 10.0 + number * 1.7
        ridge = base - rise * (sin(along) + 0.5 * sin(along * 2.3 + 1.0) + 0.2 * sin(along * 7.1))
        picture = mix(picture, rgb(*color), smoothstep(0.0, 0.004, v - ridge))
    assert isinstance(picture, Vec)
    return picture.with_alpha(1.0)


def dusk_frames(size: tuple[int, int], count: int, fps: int) -> Iterator[Array]:
    """The landscape, frame by frame."""
    kernel = make_kernel(draw_dusk)  # not entered into the catalogue
    frame = compute.buffer_zeros((size[1], size[0], 4), "u8")
    for number in range(count):
        compute.run_kernel(kernel, [], frame, {"seconds": number / fps})
        yield frame.read()


def photo_frames(path: Path, size: tuple[int, int], count: int) -> Iterator[Array]:
    """A slow flight over a photo: from all of its width to two thirds of it, upwards."""
    pixels = media.open(path).pixels
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        pixels = add_alpha(pixels)
    rows, columns = pixels.shape[:2]
    wide, high = size
    photo = compute.from_array(pixels)
    frame = compute.buffer_zeros((high, wide, 4), "u8")
    widest = min(columns, rows * wide / high)
    for number in range(count):
        progress = 0.5 - 0.5 * math.cos(math.pi * number / max(count - 1, 1))
        scale = wide / (widest * (1 - 0.33 * progress))
        left = (columns - wide / scale) / 2
        top = (rows - high / scale) * (0.12 - 0.04 * progress)
        matrix = (scale, 0, -left * scale, 0, scale, -top * scale)
        compute.run_kernel("warp_affine", [photo], frame, {"matrix": matrix})
        yield frame.read()
