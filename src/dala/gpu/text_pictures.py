"""Texts on surfaces: each a picture of its glyphs that is loaded, drawn and forgotten."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dala.errors import ParameterError
from dala.gpu.ink_command import encode_draw_picture
from dala.gpu.opcodes import FIXED, HEADS, MAX_PIXELS, MAX_SIDE, Op
from dala.gpu.paint import finite_numbers

TEXT_IMAGE = 2**63 + 17  # the number under which a surface holds a text, for the moment


def text_commands(
    x: float, y: float, text: Any, layout: dict[str, Any], paint: dict[str, Any]
) -> list[bytes]:
    """Commands that draw a text; none if it shows nothing. Transforms, clips and layers apply."""
    from dala import text as texts  # needs its extra

    finite_numbers((x, y), "draw_text")
    made = text if isinstance(text, texts.Layout) else texts.layout(text, **layout)
    if isinstance(text, texts.Layout) and layout:
        raise ParameterError(
            f"draw_text: a layout is made already; it takes no {', '.join(layout)}"
        )
    left, top = math.floor(x), math.floor(y)
    tiles = texts.rasterise(made, (x - left, y - top), **paint)
    if not tiles:
        return []
    x0, y0 = min(t.x for t in tiles), min(t.y for t in tiles)
    w = max(t.x + t.pixels.shape[1] for t in tiles) - x0
    h = max(t.y + t.pixels.shape[0] for t in tiles) - y0
    if w > MAX_SIDE or h > MAX_SIDE or w * h > MAX_PIXELS:
        raise ParameterError(f"draw_text: the text is {w} × {h} pixels; {MAX_SIDE} at the most")
    pixels = np.zeros((h, w, 4), np.uint8)
    texts.paint(pixels, made, (x - left - x0, y - top - y0), **paint)
    load = HEADS[Op.LOAD_IMAGE].pack(Op.LOAD_IMAGE, TEXT_IMAGE, w, h) + pixels.tobytes()
    draw = encode_draw_picture(TEXT_IMAGE, left + x0, top + y0, w, h)
    return [load, draw, FIXED[Op.REMOVE_IMAGE].pack(Op.REMOVE_IMAGE, TEXT_IMAGE)]
