"""Texts as pictures: laid out and painted by dala.text, once for all frames that show the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dala.errors import ParameterError
from dala.scene.layers import Rgba
from dala.scene.nodes.looks import Gradient

if TYPE_CHECKING:
    from dala.text import Layout

LARGEST = 64_000_000  # pixels of one picture
# How much larger than asked for a text is drawn when a node is enlarged, so that it stays sharp; few
# steps, so that a text that grows is not drawn anew for every frame.
_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
LOOK = (
    "text", "font", "font_size", "color", "font_weight", "italic", "outline", "shadow", "background",
    "align", "vertical_align", "direction", "language", "line_height", "letter_spacing", "max_lines",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lettering:
    """A text as a picture, and where its box lies in it, in pixels of the node."""

    picture: Rgba | None  # nothing: nothing is seen of it
    matrix: tuple[float, float, float, float, float, float]  # from the picture to the node's box
    size: tuple[float, float]  # of the box


def step_for(magnification: float) -> float:
    """How much larger a text is drawn."""
    return next((step for step in _STEPS if step >= magnification - 1e-3), _STEPS[-1])


def key_of(values: Mapping[str, Any], step: float) -> tuple[Any, ...]:
    """Equal for texts that look the same."""
    shown = round(values["reveal"] * _length(values["text"])) if values["reveal"] < 1 else -1
    return ("text", step, values["size"], shown, *(values[name] for name in LOOK))


def _length(text: Any) -> int:
    return len(text) if isinstance(text, str) else sum(len(run) for run, _ in text)


def draw_text(values: Mapping[str, Any], step: float) -> tuple[Lettering, int]:
    """The picture of a text, ``step`` times as large as asked for; and its bytes."""
    from dala import text  # needs its extra

    size = values["font_size"] * step
    if size > 2048:
        step *= 2048 / size
        size = 2048.0
    wide = values["size"][0] * step
    font: Any = values["font"]
    if values["font_weight"] != 400 or values["italic"]:
        weight, italic = values["font_weight"], values["italic"]
        font = text.Font.load(font, weight, italic) if font else text.Font.default(weight, italic)
    made = text.layout(
        _runs(values["text"], step),
        font,
        size,
        max_width=wide or None,
        max_lines=values["max_lines"],
        align=values["align"],
        direction=values["direction"],
        language=values["language"],
        line_height=values["line_height"],
        letter_spacing=values["letter_spacing"] * step,
    )
    box = (wide or made.width, values["size"][1] * step or made.height)
    down = {"top": 0.0, "middle": 0.5, "bottom": 1.0}[values["vertical_align"]]
    top = (box[1] - made.height) * down
    if values["reveal"] < 1:
        made = _revealed(made, values["reveal"])
    paint = _paint(values, step)
    picture, (left, upper) = ink_of(made, paint)
    matrix = (1 / step, 0.0, 0.0, 1 / step, left / step, (upper + top) / step)
    natural = (box[0] / step, box[1] / step)
    return Lettering(picture, matrix, natural), bytes_of(picture)


def ink_of(made: Layout, paint: Mapping[str, Any]) -> tuple[Rgba | None, tuple[int, int]]:
    """A layout as a picture, and where its corner lies; no picture where nothing is seen."""
    from dala import text

    tiles = text.rasterise(made, (0, 0), **paint)
    if not tiles:
        return None, (0, 0)
    edges = np.array([tile.box for tile in tiles])
    left, upper = int(edges[:, 0].min()), int(edges[:, 1].min())
    right, lower = int(edges[:, 2].max()), int(edges[:, 3].max())
    if (right - left) * (lower - upper) > LARGEST:
        raise ParameterError(
            f"a text takes {right - left} × {lower - upper} pixels; at most {LARGEST} in all: "
            "make its font smaller"
        )
    pixels = np.zeros((max(lower - upper, 1), max(right - left, 1), 4), np.uint8)
    text.paint(pixels, made, (-left, -upper), **paint)
    return Rgba(pixels), (left, upper)


def bytes_of(picture: Rgba | None) -> int:
    """What keeping it takes."""
    return 64 if picture is None else picture.pixels.nbytes


def _runs(given: Any, step: float) -> Any:
    if isinstance(given, str):
        return given
    return [(run, {k: v * step if k in _LENGTHS else v for k, v in style}) for run, style in given]


_LENGTHS = ("size", "letter_spacing")


def _paint(values: Mapping[str, Any], step: float) -> dict[str, Any]:
    from dala import text

    color = values["color"]
    return {
        "color": text.Gradient(color.colors, color.angle) if isinstance(color, Gradient) else color,
        **dress_of(values, step),
    }


def dress_of(values: Mapping[str, Any], step: float) -> dict[str, Any]:
    """What lies around and behind letters, as ``dala.text`` takes it, ``step`` times as large."""
    from dala import text

    def times(length: float | None) -> float | None:
        return None if length is None else length * step

    outline, shadow, box = values["outline"], values["shadow"], values["background"]
    return {
        "outline": outline and text.Outline(outline.color, times(outline.width)),
        "shadow": shadow
        and text.Shadow(
            shadow.color,
            shadow.offset and (shadow.offset[0] * step, shadow.offset[1] * step),
            times(shadow.blur),
        ),
        "background": box and text.Box(box.color, times(box.padding), times(box.radius)),
    }


def _revealed(made: Any, part: float) -> Any:
    """The same layout with its first characters only: nothing moves while it is written."""
    from dala.text.layout import Layout

    shown = math.floor(part * len(made.text) + 0.5)
    runs = []
    for run in made.runs:
        keep = np.array([cluster < shown for cluster in run.clusters], bool)
        if keep.any():
            ids = [glyph for glyph, kept in zip(run.ids, keep, strict=True) if kept]
            clusters = [cluster for cluster, kept in zip(run.clusters, keep, strict=True) if kept]
            runs.append(replace(run, ids=ids, clusters=clusters, x=run.x[keep], y=run.y[keep]))
    return Layout(made.text, list(made.lines), runs, made._carets)
