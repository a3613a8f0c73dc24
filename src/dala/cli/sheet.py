"""A contact sheet: moments of a clip, before above after, in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from dala.cli.overlay import font
from dala.media import start_pipeline

Array = npt.NDArray[np.uint8]
GROUND, WORDS, FAINT = (17, 19, 24), (232, 234, 240), (140, 146, 158)
CELL = 440  # columns of a picture
GAP, MARGIN = 14, 32


@dataclass(frozen=True)
class Moment:
    """The same frame before and after."""

    seconds: float
    before: Array
    after: Array


def make_sheet(moments: Sequence[Moment], title: str, subtitle: str) -> Image.Image:
    """All moments side by side, with a title above and the time below."""
    tops = [_shrink(m.before) for m in moments]
    bottoms = [_shrink(m.after) for m in moments]
    high, low = tops[0].shape[0], bottoms[0].shape[0]
    head, label = 92, 30
    width = 2 * MARGIN + len(moments) * CELL + (len(moments) - 1) * GAP
    height = head + label + high + label + low + 40 + MARGIN // 2
    sheet = Image.new("RGB", (width, height), GROUND)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, 24), title, WORDS, font(26))
    pen.text((MARGIN, 60), subtitle, FAINT, font(16))
    for name, y in (("before", head), ("after", head + label + high)):
        pen.text((MARGIN, y + 6), name, FAINT, font(15))
    for number, moment in enumerate(moments):
        x = MARGIN + number * (CELL + GAP)
        sheet.paste(Image.fromarray(tops[number][..., :3].copy()), (x, head + label))
        below = head + label + high + label
        sheet.paste(Image.fromarray(bottoms[number][..., :3].copy()), (x, below))
        pen.text((x, below + low + 10), f"{moment.seconds:.2f} s", FAINT, font(15))
    return sheet


def _shrink(picture: Array) -> Array:
    """A picture in a cell's width, by dala's own resize."""
    height, width, _ = picture.shape
    with start_pipeline(width, height) as pipeline:
        step = ("resize", {"width": CELL, "interpolation": "area"})
        return pipeline.process(picture, [step])
