"""Fewer tones and fewer pixels. Alpha is kept."""

from __future__ import annotations

from dala.kernels.color import keep_alpha
from dala.kernels.declare import builtin
from dala.language.parameter import param
from dala.language.values import Image, Scalar, Value, Vec
from dala.language.vocabulary import clamp, floor, height, luma, min, rgb, where, width, x, y

# A luma equal to the threshold in decimal must not fall below it in f32, nor on one device only. The
# lumas of bytes are four times farther apart.
_ROUNDING = 1e-6


@builtin("image")
def threshold(
    src: Image, value: float = param(0.5, min=0, max=1, help="White from this luma on.")
) -> Vec:
    """Only black and white: white where the luma is at least ``value`` (NaN is black).

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.threshold(photo, 0.3)[0, 0].tolist()
    [255, 255, 255]
    """
    p = src[0, 0]
    white = where(luma(p) >= value - _ROUNDING, 1.0, 0.0)
    return rgb(white, white, white).with_alpha(p.a)


@builtin("image")
def posterize(
    src: Image, levels: int = param(4, min=2, max=256, help="Tones left in each channel.")
) -> Vec:
    """Few tones, as on a poster: each channel in ``levels`` steps of equal width; NaN is black.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.posterize(photo, 2)[0, 0].tolist()
    [0, 0, 0]
    """
    p = src[0, 0]
    step = floor(p.rgb * levels)
    return keep_alpha(clamp(step, 0.0, levels - 1.0) * (1.0 / (levels - 1.0)), p)


@builtin("image")
def pixelate(
    src: Image,
    size: int = param(8, min=1, max=1024, pixels=True, help="Edge of a block in pixels."),
) -> Vec:
    """Blocks of one colour: the mean of four pixels spread over the block.

    >>> photo = np.arange(16, dtype=np.uint8).reshape(4, 4) * 10
    >>> media.pixelate(photo, 4).tolist()[0]
    [75, 75, 75, 75]
    """
    # The mean of all pixels would need a loop as long as the block and a program for each size; a
    # single pixel is three times farther from it, and flickers in a video. Four on a turned grid
    # (no two in one row or column) are the exact mean up to size 2. Blocks at the border are cut.
    left, wide = _block(x, width, size)
    top, high = _block(y, height, size)
    total: Value = rgb(0.0, 0.0, 0.0)
    for column, row in ((1, 3), (3, 7), (5, 1), (7, 5)):
        total = total + src.at(left + wide * (column / 8), top + high * (row / 8)).rgb
    return keep_alpha(total * 0.25, src[0, 0])


def _block(position: Scalar, length: Scalar, size: int) -> tuple[Value, Value]:
    """Where the block at a position begins, and how much of it lies in the picture."""
    # in floats: vectors have no whole division. Half a pixel keeps it away from the boundaries
    begin = floor((position + 0.5) * (1.0 / size)) * size
    return begin, min(length - begin, size * 1.0)
