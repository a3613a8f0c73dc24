"""Images from nothing: kernels without inputs."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.parameter import param
from dala.language.values import Value, Vec
from dala.language.vocabulary import (
    f32,
    floor,
    height,
    max,
    min,
    rgb,
    rgba,
    u32,
    where,
    width,
    x,
    y,
)

BARS = 7  # white, yellow, cyan, green, magenta, red, blue
GRID = 16  # pixels from line to line
STEPS = 11  # greys below the ramp, black and white among them


@builtin("image")
def generate_gradient() -> Vec:
    """Red grows to the right, green downwards, blue is their mean; opaque.

    >>> media.generate_gradient(3, 2)[1, 2].tolist()
    [255, 255, 255, 255]
    """
    across = x / max(width - 1, 1)
    down = y / max(height - 1, 1)
    return rgba(across, down, (across + down) * 0.5, 1.0)


@builtin("image")
def generate_noise(
    seed: int = param(0, min=0, max=2**31 - 1, help="Another seed, another image."),
    frame: int = param(
        0, min=0, max=2**31 - 1, help="Of a video: its number, set for every frame."
    ),
) -> Vec:
    """Every level of every colour equally likely; opaque. The same bytes on every device.

    >>> media.generate_noise(640, 480, seed=1).shape
    (480, 640, 4)
    """
    begin = u32(seed) + u32(frame) * 0x27D4EB2F + 0x85EBCA77
    row = scramble(u32(y) * 0x9E3779B1 + scramble(begin))
    bits = scramble(u32(x) * 0xC2B2AE3D + row)
    levels = [f32((bits >> shift) & 255) for shift in (0, 8, 16)]
    return rgb(*(level * (1 / 255) for level in levels)).with_alpha(1.0)


def scramble(bits: Value) -> Value:
    """32 bits, each changed by each (Wellons' "lowbias32"): any two inputs look unrelated."""
    bits = (bits ^ (bits >> 16)) * 0x7FEB352D
    bits = (bits ^ (bits >> 15)) * 0x846CA68B
    return bits ^ (bits >> 16)


@builtin("image")
def test_pattern() -> Vec:
    """Colour bars (75 %) over the same in reverse, a grey ramp over grey steps, a grid; opaque.

    >>> media.test_pattern(640, 480)[0, 0].tolist()
    [191, 191, 191, 255]
    """
    across = (x + 0.5) / width  # times 7 or 11 it is no whole number, so no rounding decides
    down = 12 * y + 6  # in twelfths of the height, by whole numbers: the same rows on every device
    bar = floor(across * BARS)
    ramp = where(down < 9 * height, x / max(width - 1, 1), _steps(across))
    line = where((x % GRID == 0) | (y % GRID == 0), 1.0, 0.0)
    grey = where(down < 10 * height, ramp, line)
    reverse = where(bar % 2 == 0, bar + 1.0, 0.0)  # blue, black, magenta, black, cyan, black, white
    colors = where(down < 7 * height, _bar_color(BARS - bar), _bar_color(reverse))
    pixel = where(down < 8 * height, colors, rgb(grey, grey, grey))
    assert isinstance(pixel, Vec)
    return pixel.with_alpha(1.0)


def _bar_color(number: Value) -> Vec:
    """The bits of 0..7 are green, red and blue: the brighter, the larger."""
    green, rest = floor(number / 4.0), number % 4.0
    red, blue = floor(rest / 2.0), rest % 2.0
    return rgb(red * 0.75, green * 0.75, blue * 0.75)


def _steps(across: Value) -> Value:
    return min(floor(across * STEPS), STEPS - 1.0) / (STEPS - 1.0)
