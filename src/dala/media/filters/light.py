"""Light and tone."""

from __future__ import annotations

from dala.media.apply import Image, run_filter
from dala.media.pictures import Channels


def exposure(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    stops: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Twice the light for each stop.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.exposure(photo, stops=1)[0, 0].tolist()
    [200, 200, 200]
    """
    return run_filter("exposure", image, (width, height), channels, device, stops=stops)


def gamma(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    value: float = 1.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Above 1 lightens the middle tones; black and white stay.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.gamma(photo, value=2)[0, 0].tolist()
    [160, 160, 160]
    """
    return run_filter("gamma", image, (width, height), channels, device, value=value)


def tone(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    contrast: float = 0.0,
    shadows: float = 0.0,
    highlights: float = 0.0,
    fade: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """A smooth curve that never clips: contrast, dark and light tones (-1..1 each), lifted blacks.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.tone(photo, contrast=0.5, shadows=0.2)[0, 0].tolist()
    [101, 101, 101]
    """
    return run_filter(
        "tone",
        image,
        (width, height),
        channels,
        device,
        contrast=contrast,
        shadows=shadows,
        highlights=highlights,
        fade=fade,
    )


def hdr(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    exposure: float = 1.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """A filmic tone map; ``exposure`` is the light before it, as a factor.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.hdr(photo)[0, 0].tolist()
    [120, 120, 120]
    """
    return run_filter("hdr", image, (width, height), channels, device, exposure=exposure)


def vignette(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    intensity: float = 0.5,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Darker towards the corners.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((9, 9, 3), 100, np.uint8)
    >>> media.vignette(photo)[4, 4].tolist(), media.vignette(photo)[0, 0].tolist()
    ([100, 100, 100], [60, 60, 60])
    """
    return run_filter("vignette", image, (width, height), channels, device, intensity=intensity)


def glow(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    amount: float = 0.3,
    radius: int = 12,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Light that spills from bright places, as through a soft-focus lens.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.zeros((9, 9, 3), np.uint8)
    >>> photo[:, 4:] = 255
    >>> media.glow(photo, amount=1, radius=2)[4, :5, 0].tolist()
    [0, 0, 0, 3, 255]
    """
    return run_filter(
        "glow",
        image,
        (width, height),
        channels,
        device,
        amount=amount,
        radius=radius,
    )


def grain(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    amount: float = 0.1,
    seed: int = 0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The grain of film; another ``seed`` for every frame of a video.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> bool((media.grain(photo) != photo).any())
    True
    """
    return run_filter("grain", image, (width, height), channels, device, amount=amount, seed=seed)
