"""Detail: neighbourhoods, noise, fewer tones."""

from __future__ import annotations

from dala.media.apply import Image, run_filter
from dala.media.pictures import Channels


def blur(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    radius: int = 3,
    sigma: float | None = None,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Gaussian blur over a window of ±``radius``; ``sigma`` is radius / 2 if not given.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.zeros((5, 5), np.uint8)
    >>> photo[2, 2] = 255
    >>> media.blur(photo, radius=1, sigma=1.0)[2].tolist()
    [0, 32, 52, 32, 0]
    """
    return run_filter("blur", image, (width, height), channels, device, radius=radius, sigma=sigma)


def sharpen(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    amount: float = 0.5,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """More of what a pixel differs from its neighbours by.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((3, 3), 100, np.uint8)
    >>> photo[1, 1] = 110
    >>> int(media.sharpen(photo)[1, 1])
    130
    """
    return run_filter("sharpen", image, (width, height), channels, device, amount=amount)


def median(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    radius: int = 1,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The median of each window (``radius`` 1, 2 or 3): specks go, edges stay.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((5, 5), 100, np.uint8)
    >>> photo[2, 2] = 255
    >>> int(media.median(photo).max())
    100
    """
    return run_filter("median", image, (width, height), channels, device, radius=radius)


def denoise(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    strength: float = 0.5,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """A bilateral filter: noise is averaged, edges stay.

    >>> import numpy as np
    >>> from dala import media
    >>> noisy = np.random.default_rng(0).normal(100, 5, (32, 32)).astype(np.uint8)
    >>> bool(media.denoise(noisy).std() < 0.5 * noisy.std())
    True
    """
    return run_filter("denoise", image, (width, height), channels, device, strength=strength)


def beauty(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    strength: float = 0.3,
    radius: int = 5,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Skin is smoothed; edges, eyes, hair and all other colours stay.

    >>> import numpy as np
    >>> from dala import media
    >>> leaf = np.full((2, 2, 3), (40, 160, 50), np.uint8)
    >>> bool((media.beauty(leaf, strength=1) == leaf).all())
    True
    """
    return run_filter(
        "beauty", image, (width, height), channels, device, strength=strength, radius=radius
    )


def edge_detect(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The strength of edges (Sobel), in all colours.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.zeros((3, 4), np.uint8)
    >>> photo[:, 2:] = 60
    >>> media.edge_detect(photo)[1].tolist()
    [0, 240, 240, 0]
    """
    return run_filter("edge_detect", image, (width, height), channels, device)


def threshold(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    value: float = 0.5,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """White where the luma is at least ``value``, else black.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.threshold(photo, value=0.3)[0, 0].tolist()
    [255, 255, 255]
    """
    return run_filter("threshold", image, (width, height), channels, device, value=value)


def posterize(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    levels: int = 4,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """As few as ``levels`` tones in each colour.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.posterize(photo, levels=2)[0, 0].tolist()
    [0, 0, 0]
    """
    return run_filter("posterize", image, (width, height), channels, device, levels=levels)


def pixelate(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    size: int = 8,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Blocks of one colour, ``size`` pixels wide.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.arange(16, dtype=np.uint8).reshape(4, 4) * 10
    >>> media.pixelate(photo, size=4).tolist()[0]
    [75, 75, 75, 75]
    """
    return run_filter("pixelate", image, (width, height), channels, device, size=size)
