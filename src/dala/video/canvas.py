"""Where pictures are placed on a larger one, and the stages that do it.

each input: RGBA → scaled into its box ─┐
the background ─────────────────────────┴→ one placed after the other
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dala.compute.pipelines import Pipeline
from dala.kernels.geometry import any_size, coverage
from dala.language import vocabulary
from dala.language.kernel import make_kernel
from dala.language.parameter import param
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import rgba, where
from dala.video.device import Middle, Tensor, rgba_scratch


class Box(NamedTuple):
    """A rectangle of the canvas."""

    left: int
    top: int
    width: int
    height: int

    def holding(self, width: int, height: int) -> Box:
        """The largest rectangle of these proportions in its middle."""
        scale = min(Fraction(self.width, width), Fraction(self.height, height))
        wide, high = max(1, round(width * scale)), max(1, round(height * scale))
        left, top = self.left + (self.width - wide) // 2, self.top + (self.height - high) // 2
        return Box(left, top, wide, high)


@dataclass(frozen=True)
class Canvas:
    """Where each input is placed."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    background: bytes


def _shown(layer: Image, left: Value, top: Value, beside: Vec) -> Vec:
    """The layer with its corner at a place, and something else beside it."""
    column, row = vocabulary.x - left, vocabulary.y - top
    inside = coverage(column, layer.width) * coverage(row, layer.height)
    shown = where(inside > 0.0, layer.at(column, row), beside)
    assert isinstance(shown, Vec)
    return shown


def _ground(
    layer: Image,
    left: int = param(0, min=0, max=65_535),
    top: int = param(0, min=0, max=65_535),
    red: float = param(0.0),
    green: float = param(0.0),
    blue: float = param(0.0),
) -> Vec:
    """A picture on a canvas of one colour."""
    return _shown(layer, left, top, rgba(red, green, blue))  # type: ignore[arg-type]


def _place(
    canvas: Image,
    layer: Image,
    left: int = param(0, min=0, max=65_535),
    top: int = param(0, min=0, max=65_535),
) -> Vec:
    """A picture on another."""
    return _shown(layer, left, top, canvas[0, 0])  # type: ignore[arg-type]


GROUND = make_kernel(_ground, name="ground", domain="image", shape_rule=any_size)
PLACE = make_kernel(_place, name="place", inputs=2, domain="image", shape_rule=any_size)


def place_inputs(canvas: Canvas, firsts: Sequence[Middle | None] = ()) -> Middle:
    """The stages from the inputs' pictures to the canvas; ``firsts`` is what is done to each before."""

    def add(pipeline: Pipeline, pictures: Sequence[Tensor], output: Tensor) -> None:
        layers = []  # scaled first, so that all the placing is one pass
        for number, (picture, box) in enumerate(zip(pictures, canvas.boxes, strict=True)):
            first = firsts[number] if firsts else None
            if first is not None:
                rows, columns = picture.shape[:2]
                plain = rgba_scratch(rows, columns, output.dtype)
                first(pipeline, [picture], plain)
                picture = plain
            fitted = box.holding(picture.shape[1], picture.shape[0])
            place: dict[str, object] = {"left": fitted.left, "top": fitted.top}
            layers.append((_scaled(pipeline, picture, fitted), place))
        below: list[Tensor] = []
        if len(layers) > 1 and layers[0][0].shape == output.shape:
            below = [layers.pop(0)[0]]  # it fills the canvas
        red, green, blue = (level / 255 for level in canvas.background[:3])
        for number, (layer, params) in enumerate(layers, 1):
            rows, columns = output.shape[:2]
            target = output if number == len(layers) else rgba_scratch(rows, columns, output.dtype)
            if not below:
                params |= {"red": red, "green": green, "blue": blue}
            kernel = PLACE if below else GROUND
            pipeline.add({"kernel": kernel, "inputs": [*below, layer], "output": target,
                          "params": params})  # fmt: skip
            below = [target]

    return add


def _scaled(pipeline: Pipeline, picture: Tensor, box: Box) -> Tensor:
    if picture.shape[:2] == (box.height, box.width):
        return picture
    return scaled(pipeline, picture, rgba_scratch(box.height, box.width, picture.dtype))


def scaled(pipeline: Pipeline, picture: Tensor, output: Tensor) -> Tensor:
    """A picture in the size of another."""
    params = {"interpolation": "area"}
    pipeline.add({"kernel": "resize", "inputs": [picture], "output": output, "params": params})
    return output
