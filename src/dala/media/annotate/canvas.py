"""A picture that is drawn on: a surface of its size, and texts; then a picture of the caller's kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.gpu import Surface
from dala.media.annotate.palette import RGB, readable_on
from dala.media.pictures import Channels, Picture, take_picture

Array = npt.NDArray[Any]
LINE, TEXT = 1 / 240, 1 / 36  # of the picture's shorter side
THINNEST, SMALLEST = 1.4, 11.0  # pixels: what can still be seen and read


@dataclass(slots=True)
class Canvas:
    """What is drawn on: a surface with the picture's pixels, or with nothing where those have more bits."""

    surface: Surface
    width: int
    height: int
    texts: list[tuple[str, float, float, RGB]] = field(default_factory=list)
    result: Any = None

    @property
    def line(self) -> float:
        """How wide lines are."""
        return max(THINNEST, min(self.width, self.height) * LINE)

    @property
    def text_size(self) -> float:
        """How large texts are."""
        return max(SMALLEST, min(self.width, self.height) * TEXT)

    def write(self, text: str, x: float, y: float, color: RGB) -> None:
        """A text on a box of a colour, its left top corner at (x, y); moved to be seen whole."""
        self.texts.append((text, x, y, color))


@contextmanager
def drawing_on(
    image: Any, width: int | None, height: int | None, channels: Channels | None, who: str
) -> Iterator[Canvas]:
    """Open a picture; behind ``with``, ``result`` is the picture with what was drawn."""
    if isinstance(image, Surface):
        size = image.width, image.height
        canvas = Canvas(image, *size)
        yield canvas
        if canvas.texts:
            pixels = np.array(image.read_pixels(0, 0, *size))
            _write_texts(canvas, pixels)
            image.set_pixels(pixels)
        canvas.result = image
        return
    picture = take_picture(image, width, height, channels, who=who)
    pixels = _unpack(picture)
    deep = pixels.dtype != np.uint8
    with Surface(*picture.size, device="cpu") as surface:
        surface.set_pixels(np.zeros((*pixels.shape[:2], 4), np.uint8) if deep else _as_rgba(pixels))
        canvas = Canvas(surface, *picture.size)
        yield canvas
        drawn = np.array(surface.read_pixels(0, 0, *picture.size))
    _write_texts(canvas, drawn)
    made = _over(pixels, drawn) if deep else _like(pixels, drawn)
    canvas.result = _give_back(picture, made)


def _unpack(picture: Picture) -> Array:
    """Pixels as an array (H, W) or (H, W, 4), red first."""
    pixels = picture.pixels
    if isinstance(pixels, Buffer):
        room = pixels.read()
    else:
        room = np.empty(picture.layout.type.shape, pixels.dtype)
        picture.pack_into(room)
    return room[..., [2, 1, 0, 3]] if picture.layout.swapped else room


def _give_back(picture: Picture, made: Array) -> object:
    made = np.ascontiguousarray(made[..., [2, 1, 0, 3]] if picture.layout.swapped else made)
    if isinstance(picture.pixels, Buffer):
        buffer = picture.pixels
        result = Buffer(buffer.engine, buffer.type, buffer.engine.device.allocate(buffer.type))
        result.write(made.reshape(buffer.shape))
        return result
    return picture.give_back(made)


def _as_rgba(pixels: Array) -> Array:
    if pixels.ndim == 3:
        return pixels
    rgba = np.full((*pixels.shape, 4), 255, np.uint8)
    rgba[..., :3] = pixels[..., None]
    return rgba


def _like(pixels: Array, drawn: Array) -> Array:
    """What was drawn, as many channels as the picture has."""
    if pixels.ndim == 3:
        return drawn
    grey = drawn[..., :3].astype(np.uint32) @ np.array([77, 150, 29], np.uint32)
    changed = (drawn[..., :3] != pixels[..., None]).any(-1)
    return np.where(changed, (grey + 128 >> 8).astype(np.uint8), pixels)


def _over(pixels: Array, drawn: Array) -> Array:
    """A layer of 8 bits over a picture of floats."""
    alpha = drawn[..., 3:].astype(np.float32) / 255
    colors = drawn[..., :3].astype(np.float32) / 255
    if pixels.ndim == 2:
        grey = colors @ np.array([0.299, 0.587, 0.114], np.float32)
        return pixels + (grey - pixels) * alpha[..., 0]
    under = pixels[..., 3:] * (1 - alpha)
    total = np.maximum(alpha + under, 1e-9)
    mixed = (colors * alpha + pixels[..., :3] * under) / total
    result = np.concatenate([mixed, alpha + under], axis=2)
    return np.where(alpha > 0, result, pixels).astype(np.float32)


def _write_texts(canvas: Canvas, pixels: Array) -> None:
    if not canvas.texts:
        return
    from dala import text  # needs its extra

    size = canvas.text_size
    margin = max(1.0, round(size / 5))
    for written, x, y, color in canvas.texts:
        made = text.layout(
            written, size=size, max_width=max(canvas.width - 2 * margin, size), max_lines=1
        )
        w, h = made.width + 2 * margin, made.height + margin
        left = min(max(round(x), 0), max(canvas.width - w, 0))
        top = min(max(round(y), 0), max(canvas.height - h, 0))
        pixels[int(top) : int(top + h), int(left) : int(left + w)] = (*color, 255)
        text.paint(pixels, made, (left + margin, top + margin / 2), color=readable_on(color))
