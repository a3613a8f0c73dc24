"""What a node shows at a time: a content, and how large it is by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dala.scene.evaluate import drawing, lettering
from dala.scene.evaluate.geometry import IDENTITY, Matrix, scaled
from dala.scene.evaluate.resources import Resources
from dala.scene.layers import Content, Group, Layer, Rgba, Solid
from dala.scene.nodes.looks import Gradient
from dala.scene.nodes.node import Node

MOST_MARGIN = 256
MARGIN_STEP = 32


@dataclass(frozen=True)
class Shown:
    """A content and its box. ``inner`` leads from the content to the box; nothing: ``fit`` says how."""

    content: Content | None
    size: tuple[float, float]
    inner: Matrix | None = None
    is_opaque: bool = False


NOTHING = Shown(None, (0.0, 0.0))


def show_still(
    node: Node, values: Mapping[str, Any], magnification: float, resources: Resources
) -> Shown:
    """A picture, a text or a shape."""
    if node.type in ("image", "overlay"):
        picture = resources.picture(values["image"])
        return Shown(picture, (picture.width, picture.height), is_opaque=picture.opaque)
    step = lettering.step_for(magnification)
    if node.type == "text":
        made = resources.drawn(
            lettering.key_of(values, step), lambda: lettering.draw_text(values, step)
        )
        return Shown(made.picture, made.size, made.matrix)
    if drawing.is_plain(values):
        return _plain(values)
    made = resources.drawn(drawing.key_of(values, step), lambda: drawing.draw_shape(values, step))
    return Shown(made.picture, made.size, made.matrix)


def _plain(values: Mapping[str, Any]) -> Shown:
    fill = values["fill"]
    assert not isinstance(fill, Gradient)
    w, h = values["size"]
    if fill is None or fill[3] == 0 or w <= 0 or h <= 0:
        return Shown(None, (w, h))
    opaque = fill[3] == 255 and values["corner_radius"] == 0
    return Shown(Solid(fill), (w, h), scaled(w, h), opaque)


def margin_for(content: Content, params: Mapping[str, Any]) -> int:
    """Room around a picture with transparent parts, so that a blur is not cut off at its edge.

    In steps: while a radius moves the size hardly changes, for which filters are compiled.
    """
    if not isinstance(content, Rgba) or content.opaque:
        return 0
    radius = params.get("radius", 8)
    reach = 2 * radius + 8 if isinstance(radius, int | float) else 24
    return min(max(math.ceil(reach / MARGIN_STEP), 0) * MARGIN_STEP, MOST_MARGIN)


def with_margin(content: Content, margin: int) -> tuple[Content, Matrix]:
    """A picture with room around it, and the way back."""
    if margin == 0:
        return content, IDENTITY
    inside = Layer(content, (1.0, 0.0, 0.0, 1.0, float(margin), float(margin)))
    group = Group((inside,), content.width + 2 * margin, content.height + 2 * margin)
    return group, (1.0, 0.0, 0.0, 1.0, float(-margin), float(-margin))
