"""Geometry: where pixels go."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy.typing as npt

from dala.media.apply import Image, run_filter
from dala.media.pictures import Channels

Interpolation: TypeAlias = Literal["nearest", "bilinear", "bicubic", "area", "lanczos"]


def flip(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    horizontal: bool = True,
    vertical: bool = False,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The picture mirrored.

    >>> import numpy as np
    >>> from dala import media
    >>> media.flip(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """
    return run_filter(
        "flip", image, (width, height), channels, device, horizontal=horizontal, vertical=vertical
    )


def rotate(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    degrees: float = 0.0,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Turned about its centre, counter-clockwise, in a picture of the same size; beyond the border it is
    transparent, or black without alpha.

    >>> import numpy as np
    >>> from dala import media
    >>> media.rotate(np.array([[0, 0, 0], [0, 0, 255], [0, 0, 0]], np.uint8), degrees=90)
    array([[  0, 255,   0],
           [  0,   0,   0],
           [  0,   0,   0]], dtype=uint8)
    """
    return run_filter("rotate", image, (width, height), channels, device, degrees=degrees)


def warp_affine(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    matrix: npt.ArrayLike,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Moved by 2 rows of 3 numbers, from input to output pixels, as OpenCV's warpAffine does it.

    >>> import numpy as np
    >>> from dala import media
    >>> media.warp_affine(np.array([[1, 2, 3]], np.uint8), matrix=[[1, 0, 1], [0, 1, 0]])
    array([[0, 1, 2]], dtype=uint8)
    """
    return run_filter("warp_affine", image, (width, height), channels, device, matrix=matrix)


def warp_perspective(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    matrix: npt.ArrayLike,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Moved by 3 rows of 3 numbers, from input to output pixels, as OpenCV's warpPerspective does it.

    >>> import numpy as np
    >>> from dala import media
    >>> media.warp_perspective(np.array([[1, 2, 3]], np.uint8), matrix=np.eye(3))
    array([[1, 2, 3]], dtype=uint8)
    """
    return run_filter("warp_perspective", image, (width, height), channels, device, matrix=matrix)


def resize(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    interpolation: Interpolation = "bilinear",
    image_size: tuple[int, int] | None = None,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Another size; of one side alone the other follows. Area is best for shrinking.

    ``image_size`` is the width and height of bytes, since ``width`` and ``height`` are those of the result.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.zeros((480, 640, 3), np.uint8)
    >>> media.resize(photo, 320, interpolation="area").shape
    (240, 320, 3)
    """
    return run_filter(
        "resize",
        image,
        image_size,
        channels,
        device,
        width=width,
        height=height,
        interpolation=interpolation,
    )


def crop(
    image: Image,
    x: int = 0,
    y: int = 0,
    width: int | None = None,
    height: int | None = None,
    *,
    image_size: tuple[int, int] | None = None,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """The rectangle that begins at (x, y); without a width or a height, all that is left.

    ``image_size`` is the width and height of bytes, since ``width`` and ``height`` are those of the result.

    >>> import numpy as np
    >>> from dala import media
    >>> media.crop(np.array([[1, 2, 3, 4]], np.uint8), x=1, width=2)
    array([[2, 3]], dtype=uint8)
    """
    return run_filter(
        "crop",
        image,
        image_size,
        channels,
        device,
        x=x,
        y=y,
        width=width,
        height=height,
    )
