"""Light and tone, one pixel at a time. Alpha is kept."""

from __future__ import annotations

from dala.kernels.color import keep_alpha
from dala.kernels.declare import builtin
from dala.language.parameter import param
from dala.language.values import Image, Vec
from dala.language.vocabulary import height, max, min, sqrt, width, x, y


@builtin("image")
def exposure(
    src: Image, stops: float = param(0.0, min=-10, max=10, help="One stop up is twice the light.")
) -> Vec:
    """More or less light, in stops as on a camera: c · 2^stops.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.exposure(photo, 1)[0, 0].tolist()
    [200, 200, 200]
    """
    p = src[0, 0]
    return keep_alpha(p.rgb * 2.0**stops, p)


@builtin("image")
def gamma(
    src: Image, value: float = param(1.0, min=0.01, max=100, help="Above 1 lightens the mid-tones.")
) -> Vec:
    """Lighter or darker middle tones, black and white stay: c^(1 / value); below 0 counts as 0.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.gamma(photo, 2)[0, 0].tolist()
    [160, 160, 160]
    """
    p = src[0, 0]
    return keep_alpha(max(p.rgb, 0.0) ** (1.0 / value), p)


@builtin("image")
def hdr(
    src: Image,
    exposure: float = param(1.0, min=0, max=100, help="Light before the curve, as a factor."),
) -> Vec:
    """Filmic tone map: deep shadows, a soft end to the highlights, what is above white within 0..1.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.hdr(photo)[0, 0].tolist()
    [120, 120, 120]
    """
    # Narkowicz's fit of the ACES curve, in linear light: on encoded values it looks washed out. A
    # gamma of 2 is near enough and cheap. The curve reaches 1 at 7.24 and is flat from there; the
    # bound at 8 keeps inf and large squares out of the quotient. c below 0 (and NaN) counts as 0.
    p = src[0, 0]
    c = max(p.rgb, 0.0)
    light = min(c * c * exposure, 8.0)
    film = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14)
    return keep_alpha(sqrt(min(film, 1.0)), p)


@builtin("image")
def vignette(
    src: Image,
    intensity: float = param(0.5, min=0, max=1, help="How dark the corners become; 1 is black."),
) -> Vec:
    """Darker towards the corners, along ellipses that follow the picture's shape.

    >>> dark = media.vignette(np.full((9, 9, 3), 100, np.uint8))
    >>> dark[4, 4].tolist(), dark[0, 0].tolist()
    ([100, 100, 100], [60, 60, 60])
    """
    p = src[0, 0]
    across = (x + 0.5) * (2.0 / width) - 1.0
    down = (y + 0.5) * (2.0 / height) - 1.0
    corner = (across * across + down * down) * 0.5  # 0 in the centre, 1 in the corner
    return keep_alpha(p.rgb * (1.0 - intensity * corner), p)
