"""The further images of a filter: a mask, a background, the top of a blend."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dala.compute.buffers import Buffer
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.media.pictures import take_picture
from dala.media.pil import is_pil, open_picture


@dataclass(frozen=True, slots=True, eq=False)
class Further:
    """An image that a filter reads besides the picture; on a device already, or on its way there."""

    type: ArrayType
    is_rgb: bool  # by its nature; else it has the channel order of the picture it comes with
    held: Buffer | None
    write: Callable[[np.ndarray], None]  # its pixels, as a device has them

    def buffer_on(self, engine: Engine) -> Buffer:
        """The image as a buffer of a device: the caller's own, or a copy as it is now."""
        if self.held is not None:
            return self.held
        storage = engine.device.allocate(self.type)
        engine.device.fill(storage, self.write)
        return Buffer(engine, self.type, storage)


def take_further(image: object, who: str) -> Further:
    """Whatever a picture may be, or the path of one; a mask may also be of True and False."""
    is_rgb = is_pil(image) or isinstance(image, str | os.PathLike)
    if isinstance(image, str | os.PathLike):
        image = open_picture(Path(image), who)
    if isinstance(image, np.ndarray) and image.dtype == np.bool_:
        image = image.astype(np.uint8) * np.uint8(255)
    picture = take_picture(image, who=who)
    held = picture.pixels if isinstance(picture.pixels, Buffer) else None
    return Further(picture.layout.type, is_rgb, held, picture.pack_into)
