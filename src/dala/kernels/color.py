"""Colour, one pixel at a time. Alpha is kept.

Values outside 0..1 of an f32 image go through; a NaN stays NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.kernels.declare import builtin
from dala.language.parameter import param
from dala.language.values import Image, Operand, Value, Vec
from dala.language.vocabulary import cos, exp, luma, mix, pi, rgb, sin

_SEPIA = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))


def keep_alpha(color: Value, pixel: Vec) -> Vec:
    """``color`` with the alpha of the pixel it was made from."""
    assert isinstance(color, Vec)
    return color.with_alpha(pixel.a)


@builtin("image")
def grayscale(src: Image) -> Vec:
    """Black and white, as bright as colours look: 0.299 r + 0.587 g + 0.114 b.

    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.grayscale(photo)[0, 0].tolist()
    [131, 131, 131]
    """
    p = src[0, 0]
    y = luma(p)
    return rgb(y, y, y).with_alpha(p.a)


@builtin("image")
def brightness(
    src: Image, value: float = param(0.0, min=-1, max=1, help="Added to every colour.")
) -> Vec:
    """Lighter or darker all over: c + value.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.brightness(photo, 0.2)[0, 0].tolist()
    [151, 151, 151]
    """
    p = src[0, 0]
    return keep_alpha(p.rgb + value, p)


@builtin("image")
def contrast(
    src: Image, value: float = param(0.0, min=-1, max=3, help="0 changes nothing, -1 gives grey.")
) -> Vec:
    """Dark tones darker, light ones lighter: (c - ½)(1 + value) + ½; ``tone`` does it without clipping.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.contrast(photo, 0.5)[0, 0].tolist()
    [86, 86, 86]
    """
    p = src[0, 0]
    return keep_alpha((p.rgb - 0.5) * (1.0 + value) + 0.5, p)


@builtin("image")
def saturation(
    src: Image, value: float = param(0.0, min=-1, max=3, help="0 changes nothing, -1 gives grey.")
) -> Vec:
    """Stronger or paler colours: luma + (c - luma)(1 + value).

    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.saturation(photo, -1)[0, 0].tolist()
    [131, 131, 131]
    """
    p = src[0, 0]
    y = luma(p)
    return keep_alpha(y + (p.rgb - y) * (1.0 + value), p)


@builtin("image")
def hue(
    src: Image,
    degrees: float = param(0.0, min=-360, max=360, help="120 turns red into green."),
) -> Vec:
    """Other colours, red to green to blue: a turn about the grey axis; greys stay.

    >>> photo = np.full((2, 2, 3), (200, 0, 0), np.uint8)
    >>> media.hue(photo, 120)[0, 0].tolist()
    [0, 200, 0]
    """
    p = src[0, 0]
    angle = degrees * (pi / 180)
    aside = (1.0 - cos(angle)) * (1 / 3)
    turn = sin(angle) * (1 / 3**0.5)
    keep, back, on = 1.0 - 2.0 * aside, aside - turn, aside + turn
    return keep_alpha(_transform(p, ((keep, back, on), (on, keep, back), (back, on, keep))), p)


@builtin("image")
def white_balance(
    src: Image,
    temperature: float = param(
        6500.0, min=1000, max=40_000, help="The light the picture was taken in, in kelvin."
    ),
    tint: float = param(0.0, min=-1, max=1, help="Above 0 towards magenta, below towards green."),
) -> Vec:
    """Warmer or cooler: what was grey in light of this temperature becomes grey; higher is warmer.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.white_balance(photo, 9000)[0, 0].tolist()
    [107, 99, 88]
    """
    # In mireds (10⁶ / kelvin) equal steps look equal, and the light of a black body is near enough
    # a straight line: fitted to Planck's law in sRGB (2500 K to 40,000 K) for values with a gamma
    # of 2.2, where a factor in linear light is a factor too. Below 2000 K the light leaves sRGB.
    p = src[0, 0]
    mired = 1.0 / temperature - 1 / 6500
    red, green, blue = exp(mired * -1700.0), exp(tint * -0.3), exp(mired * 2800.0)
    gains = rgb(red, green, blue)
    return keep_alpha(p.rgb * (gains / luma(gains)), p)


@builtin("image")
def sepia(
    src: Image, intensity: float = param(0.8, min=0, max=1, help="0 changes nothing.")
) -> Vec:
    """The brown of old prints, mixed with the colour by ``intensity``.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.sepia(photo)[0, 0].tolist()
    [128, 116, 95]
    """
    p = src[0, 0]
    rows = [
        [mix(float(i == j), weight, intensity) for j, weight in enumerate(row)]
        for i, row in enumerate(_SEPIA)
    ]
    return keep_alpha(_transform(p, rows), p)


@builtin("image")
def invert(src: Image) -> Vec:
    """The negative: 1 - c.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.invert(photo)[0, 0].tolist()
    [155, 155, 155]
    """
    p = src[0, 0]
    return keep_alpha(1.0 - p.rgb, p)


def _transform(color: Vec, rows: Sequence[Sequence[Operand]]) -> Vec:
    """The product of a 3 × 3 matrix and a colour."""
    return rgb(*(color.r * r + color.g * g + color.b * b for r, g, b in rows))
