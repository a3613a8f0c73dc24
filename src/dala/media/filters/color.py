"""Colour: one pixel at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy.typing as npt

from dala.media.apply import Image, run_filter
from dala.media.pictures import Channels


def grayscale(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The luma 0.299 r + 0.587 g + 0.114 b, in all colours.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.grayscale(photo)[0, 0].tolist()
    [131, 131, 131]
    """
    return run_filter("grayscale", image, (width, height), channels, device)


def brightness(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    value: float = 0.0,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Adds ``value`` (-1..1) to every colour.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.brightness(photo, value=0.2)[0, 0].tolist()
    [151, 151, 151]
    """
    return run_filter("brightness", image, (width, height), channels, device, value=value)


def contrast(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    value: float = 0.0,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Colours away from the middle grey by 1 + ``value`` (-1..3); ``tone`` does it without clipping.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.contrast(photo, value=0.5)[0, 0].tolist()
    [86, 86, 86]
    """
    return run_filter("contrast", image, (width, height), channels, device, value=value)


def saturation(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    value: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Colours away from their grey by 1 + ``value``: -1 is grey, 0 changes nothing, at most 3.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.saturation(photo, value=-1)[0, 0].tolist()
    [131, 131, 131]
    """
    return run_filter("saturation", image, (width, height), channels, device, value=value)


def vibrance(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    value: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Saturation for pale colours; strong ones change less.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.vibrance(photo, value=0.5)[0, 0].tolist()
    [188, 118, 48]
    """
    return run_filter("vibrance", image, (width, height), channels, device, value=value)


def hue(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    degrees: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Colours turned about the grey axis: 120 makes red green.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (200, 0, 0), np.uint8)
    >>> media.hue(photo, degrees=120)[0, 0].tolist()
    [0, 200, 0]
    """
    return run_filter("hue", image, (width, height), channels, device, degrees=degrees)


def white_balance(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    temperature: float = 6500.0,
    tint: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """For the light a picture was taken in, in kelvin: higher makes it warmer. ``tint``: green to magenta.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.white_balance(photo, temperature=9000)[0, 0].tolist()
    [107, 99, 88]
    """
    return run_filter(
        "white_balance",
        image,
        (width, height),
        channels,
        device,
        temperature=temperature,
        tint=tint,
    )


def sepia(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    intensity: float = 0.8,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The brown of old prints.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.sepia(photo)[0, 0].tolist()
    [128, 116, 95]
    """
    return run_filter("sepia", image, (width, height), channels, device, intensity=intensity)


def invert(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The negative.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.invert(photo)[0, 0].tolist()
    [155, 155, 155]
    """
    return run_filter("invert", image, (width, height), channels, device)


def split_tone(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    shadows: Sequence[float] = (0.0, 0.0, 0.0),
    highlights: Sequence[float] = (0.0, 0.0, 0.0),
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """One tint for dark tones, another for light ones, as red, green and blue to add.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.split_tone(photo, shadows=(-0.1, 0, 0.1))[0, 0].tolist()
    [75, 100, 125]
    """
    return run_filter(
        "split_tone",
        image,
        (width, height),
        channels,
        device,
        shadows=shadows,
        highlights=highlights,
    )


def lut(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    lut: npt.ArrayLike | str | os.PathLike[str],
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Colours through a table: an array (n, n, n, 3) or (n, 3), a ``.cube`` file, a picture of a table.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> negative = np.linspace([1.0, 1, 1], [0.0, 0, 0], 2)
    >>> media.lut(photo, lut=negative)[0, 0].tolist()
    [155, 155, 155]
    """
    return run_filter("lut", image, (width, height), channels, device, lut=lut)
