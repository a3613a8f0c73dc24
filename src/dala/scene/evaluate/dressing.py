"""What a node wears: a shadow below it, a border around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dala.scene.evaluate import drawing
from dala.scene.evaluate.geometry import Matrix, magnification, moved, scaled, times
from dala.scene.evaluate.lettering import step_for
from dala.scene.evaluate.resources import Resources
from dala.scene.layers import Entry, Layer, Solid
from dala.scene.nodes.looks import Border, Shadow


def shadow_below(
    shadow: Shadow, box: Matrix, size: tuple[float, float], radius: float
) -> list[Entry]:
    """A soft rectangle, as large as the node."""
    if shadow.color[3] == 0:
        return []
    blur = max(min(size) * 0.06, 6.0) if shadow.blur is None else shadow.blur
    x, y = (0.0, blur / 2) if shadow.offset is None else shadow.offset
    larger = magnification(box)
    return [
        Layer(
            Solid(shadow.color),
            times(times(box, moved(x, y)), scaled(*size)),
            corner_radius=(radius + blur / 2) * larger,
            softness=2 * blur * larger,
        )
    ]


def border_below(
    border: Border, box: Matrix, size: tuple[float, float], radius: float
) -> list[Entry]:
    """Of an opaque node: a larger rectangle below it, so that no seam is seen between the two."""
    wide = border.width
    place = times(times(box, moved(-wide, -wide)), scaled(size[0] + 2 * wide, size[1] + 2 * wide))
    round_ = (radius + wide) * magnification(box) if radius else 0.0
    return [Layer(Solid(border.color), place, corner_radius=round_)]


def border_around(
    border: Border, box: Matrix, size: tuple[float, float], radius: float, resources: Resources
) -> list[Entry]:
    """Of a node that one sees through: a ring."""
    wide = border.width
    values: Mapping[str, Any] = {
        "shape": "rect",
        "size": (size[0] + wide, size[1] + wide),
        "fill": None,
        "stroke": border.color,
        "stroke_width": wide,
        "points": (),
        "path": "",
        "corner_radius": radius + wide / 2 if radius else 0.0,
    }
    step = step_for(magnification(box))
    made = resources.drawn(drawing.key_of(values, step), lambda: drawing.draw_shape(values, step))
    assert made.picture is not None
    place = times(times(box, moved(-wide / 2, -wide / 2)), made.matrix)
    return [Layer(made.picture, place)]
