"""``media.open`` and ``media.save``: picture files for whoever calls.

The words are those of the field, so this file has them instead of Python's own.
"""

from __future__ import annotations

import os

import numpy as np

from dala.compute.buffers import Buffer
from dala.media.files import Metadata, Photo, open_photo, save_photo
from dala.media.pictures import take_picture


def open(path: str | os.PathLike[str]) -> Photo:  # the word that everybody looks for
    """A picture's file: JPEG, PNG, TIFF, WebP, GIF, AVIF, …; HEIC, JPEG XL and camera raw where a package
    for them is installed. It stays as deep as it is (16 bits, floats), is turned upright, and keeps its
    colour profile, EXIF, XMP and the like. Only pictures are opened: no PostScript, and no bombs.

    >>> import tempfile, numpy as np
    >>> from dala import media
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     media.save(np.full((2, 3), 700, np.uint16), f"{folder}/deep.tif")
    ...     media.open(f"{folder}/deep.tif")
    <dala photo 3 × 2, grey, 16 bits, TIFF>
    """
    return open_photo(path)


def save(
    picture: object, path: str | os.PathLike[str], *, quality: int = 92, strict: bool = False
) -> None:
    """Write a picture in the format of the path's ending, with all that belongs to it.

    ``quality`` (1 to 100) is of JPEG, WebP, AVIF, HEIC and JPEG XL. A JPEG of quality 100 has a colour for
    each pixel (4:4:4), any other has as many as the file that it was read from. What the format cannot hold
    is a LossWarning, in one line; with ``strict`` it is a LossError, and nothing is written.

    >>> import tempfile, numpy as np
    >>> from dala import errors, media
    >>> try:
    ...     media.save(np.zeros((2, 3, 3), np.uint16), "out.jpg", strict=True)
    ... except errors.LossError as error:
    ...     print(error)
    out.jpg does not hold 16 bits (8 bits are kept)
    """
    photo = picture if isinstance(picture, Photo) else _photo_of(picture)
    save_photo(photo, path, quality=quality, strict=strict)


def _photo_of(picture: object) -> Photo:
    """Whatever else is a picture; of a PIL image, with its colour profile."""
    pixels = take_picture(picture, who="save").pixels
    array = pixels.read() if isinstance(pixels, Buffer) else pixels
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    info = getattr(picture, "info", {})
    icc = info.get("icc_profile") if isinstance(info, dict) else None
    return Photo((np.ascontiguousarray(array),), Metadata(icc_profile=icc))
