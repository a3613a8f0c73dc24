"""Layers: keys, masks, one picture on another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from dala.media.apply import Image, apply_chain, run_filter
from dala.media.chain import Chain
from dala.media.pictures import Channels

Mode: TypeAlias = Literal[
    "over",
    "add",
    "subtract",
    "multiply",
    "screen",
    "overlay",
    "darken",
    "lighten",
    "difference",
    "soft_light",
    "hard_light",
]


def chroma_key(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    color: Sequence[float] = (0, 177, 64),
    threshold: float = 0.3,
    softness: float = 0.1,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Transparent where the colour is near the screen's, whose cast on the rest is removed.

    The result has an alpha channel even if the picture came without.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.array([[[0, 177, 64], [200, 80, 70]]], np.uint8)
    >>> media.chroma_key(photo)[0, :, 3].tolist()
    [0, 255]
    """
    params = {"color": color, "threshold": threshold, "softness": softness}
    chain = Chain.of([("chroma_key", params)])
    size = (width, height)
    return apply_chain(image, chain, size, channels, device, who="chroma_key", needs_alpha=True)


def blend(
    image: Image,
    top: object,
    width: int | None = None,
    height: int | None = None,
    *,
    alpha: float = 0.5,
    mode: Mode = "over",
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Another picture on top of this one; if its size is another, it is scaled.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.blend(photo, np.full((2, 2), 200, np.uint8), alpha=0.5)[0, 0].tolist()
    [150, 150, 150]
    """
    return run_filter(
        "blend", image, (width, height), channels, device, top=top, alpha=alpha, mode=mode
    )


def background_replace(
    image: Image,
    mask: object,
    background: object | None = None,
    width: int | None = None,
    height: int | None = None,
    *,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The picture where the mask is white, else the background; of two pictures the second is the
    background, and the first one's alpha the mask. ``replace_background`` also fits it.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> mask = np.array([[0, 255], [0, 255]], np.uint8)
    >>> media.background_replace(photo, mask, np.zeros((2, 2), np.uint8))[0].tolist()
    [[0, 0, 0], [100, 100, 100]]
    """
    return run_filter(
        "background_replace",
        image,
        (width, height),
        channels,
        device,
        mask=mask,
        background=background,
    )


def background_blur(
    image: Image,
    mask: object,
    width: int | None = None,
    height: int | None = None,
    *,
    radius: int = 12,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Blurred where the mask is black, sharp where it is white; what is in front does not smear.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> mask = np.array([[0, 255], [0, 255]], np.uint8)
    >>> media.background_blur(photo, mask)[0, 0].tolist()
    [100, 100, 100]
    """
    return run_filter(
        "background_blur", image, (width, height), channels, device, mask=mask, radius=radius
    )
