"""The further images of a filter: a mask, a background, the top of a blend."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dala.compute.buffers import Buffer, array_type
from dala.compute.default import default_engine
from dala.compute.engine import Engine
from dala.errors import ArgumentError
from dala.ir.arrays import ArrayType
from dala.media.pictures import take_picture
from dala.media.pil import is_pil, open_picture
from dala.ml.catalogue import MODELS
from dala.ml.model import Model, load_model
from dala.once import OnceByKey

MASK_MODELS = tuple(n for n, info in MODELS.items() if info.task in ("people", "segment"))
_loaded: OnceByKey[tuple[str, str], Model] = OnceByKey(8)  # by name and device


@dataclass(frozen=True, slots=True, eq=False)
class Further:
    """An image that a filter reads besides the picture; on a device already, or on its way there."""

    type: ArrayType
    is_rgb: bool  # by its nature; else it has the channel order of the picture it comes with
    held: Buffer | None
    write: Callable[[np.ndarray], None]  # its pixels, as a device has them
    model: Model | None = (
        None  # what makes it of every picture; its pixels are then only the first ones
    )

    def buffer_on(self, engine: Engine) -> Buffer:
        """The image as a buffer of a device: the caller's own, or a copy as it is now."""
        if self.held is not None:
            return self.held
        storage = engine.device.allocate(self.type)
        engine.device.fill(storage, self.write)
        return Buffer(engine, self.type, storage)

    def made_on(self, engine: Engine, pixels: np.ndarray) -> Buffer:
        """Pixels of its type that were made for one picture, as a buffer of a device."""
        storage = engine.device.allocate(self.type)
        engine.device.upload(storage, pixels)
        return Buffer(engine, self.type, storage)


def take_further(image: object, who: str) -> Further:
    """Whatever a picture may be, or the path of one; a mask may also be of True and False, or a model (or
    the name of one) that tells people from what is behind them."""
    if isinstance(image, str) and image in MASK_MODELS and not os.path.exists(image):
        image = _model_by_name(image)
    if isinstance(image, Model):
        return _made_by(image, who)
    is_rgb = is_pil(image) or isinstance(image, str | os.PathLike)
    if isinstance(image, str | os.PathLike):
        image = open_picture(Path(image), who)
    if isinstance(image, np.ndarray) and image.dtype == np.bool_:
        image = image.astype(np.uint8) * np.uint8(255)
    picture = take_picture(image, who=who)
    held = picture.pixels if isinstance(picture.pixels, Buffer) else None
    return Further(picture.layout.type, is_rgb, held, picture.pack_into)


def _model_by_name(name: str) -> Model:
    device = default_engine().device.name
    return _loaded.get((name, device), lambda: load_model(name))


def _made_by(model: Model, who: str) -> Further:
    if model.task is None or "person" not in model.labels:
        raise ArgumentError(
            f"{who}: a mask is made by a model that finds people ({', '.join(MASK_MODELS)}), "
            f"got {model!r}"
        )
    form = model.task.form
    return Further(array_type((form.height, form.width), "u8"), True, None, _blank, model)


def _blank(room: np.ndarray) -> None:
    room[...] = 0
