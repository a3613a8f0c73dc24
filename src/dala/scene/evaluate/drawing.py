"""Shapes as pictures: drawn with the ink of dala.gpu, once for all frames that show the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dala.errors import ParameterError
from dala.gpu import ConicGradient, LinearGradient, Path, RadialGradient, Surface
from dala.scene.evaluate.lettering import Lettering
from dala.scene.layers import Rgba
from dala.scene.nodes.looks import Gradient

LARGEST = 64_000_000  # pixels of one picture
LOOK = ("shape", "size", "fill", "stroke", "stroke_width", "points", "path", "corner_radius")


def key_of(values: Mapping[str, Any], step: float) -> tuple[Any, ...]:
    """Equal for shapes that look the same."""
    return ("shape", step, *(values[name] for name in LOOK))


def is_plain(values: Mapping[str, Any]) -> bool:
    """A rectangle in one colour needs no picture."""
    return (
        values["shape"] == "rect"
        and not isinstance(values["fill"], Gradient)
        and (values["stroke"] is None or values["stroke_width"] == 0)
    )


def draw_shape(values: Mapping[str, Any], step: float) -> tuple[Lettering, int]:
    """The picture of a shape, ``step`` times as large as asked for; and its bytes."""
    path = outline_of(values)
    w, h = values["size"]
    line = values["stroke_width"] if values["stroke"] is not None else 0.0
    # What lies outside of its box is drawn as well: a line's half, a path's arms
    left, top, right, bottom = path.bounds()
    margin = line * 2 + 1
    x0, y0 = math.floor(left - margin), math.floor(top - margin)
    wide, high = math.ceil(right + margin) - x0, math.ceil(bottom + margin) - y0
    across, down = math.ceil(wide * step), math.ceil(high * step)
    if across * down > LARGEST or max(across, down) > 16_384:
        raise ParameterError(f"a shape takes {across} × {down} pixels; at most 16,384 a side")
    with Surface(across, down, device="cpu") as surface:
        surface.push_transform((step, 0, 0, step, -x0 * step, -y0 * step))
        if values["fill"] is not None and values["shape"] != "line":
            surface.fill_path(path, _paint(values["fill"], w, h))
        if line:
            surface.stroke_path(path, values["stroke"], line, "round", "round")
        surface.pop_transform()
        pixels = np.array(surface.read_pixels(0, 0, across, down))
    matrix = (1 / step, 0.0, 0.0, 1 / step, float(x0), float(y0))
    return Lettering(Rgba(pixels), matrix, (w, h)), pixels.nbytes


def outline_of(values: Mapping[str, Any]) -> Path:
    """A shape's outline in its box."""
    (w, h), shape = values["size"], values["shape"]
    if shape == "rect":
        return Path().rect(0, 0, w, h, values["corner_radius"])
    if shape == "ellipse":
        return Path().ellipse(w / 2, h / 2, w / 2, h / 2)
    if shape == "path":
        return Path(values["path"])
    points = values["points"] or ((0.0, 0.0), (w, h))
    return Path.polyline(points, closed=shape == "polygon")


def _paint(fill: Any, w: float, h: float) -> Any:
    if not isinstance(fill, Gradient):
        return fill
    if fill.way == "radial":
        return RadialGradient(w / 2, h / 2, math.hypot(w, h) / 2, fill.colors)
    if fill.way == "conic":
        return ConicGradient(w / 2, h / 2, fill.colors, fill.angle)
    angle = math.radians(fill.angle)
    cos, sin = math.cos(angle), math.sin(angle)
    reach = (abs(w * cos) + abs(h * sin)) / 2  # the corners just get the first and last colour
    x, y = w / 2, h / 2
    return LinearGradient(
        x - cos * reach, y - sin * reach, x + cos * reach, y + sin * reach, fill.colors
    )
