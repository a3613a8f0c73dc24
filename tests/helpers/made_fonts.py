"""Fonts made here, so that tests do not depend on those of a machine."""

from __future__ import annotations

import functools
import io
from typing import Any

from fontTools.colorLib.builder import buildCOLR, buildCPAL
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib.tables.TupleVariation import TupleVariation

EM = 1000
NAMES = [".notdef", "space", "A", "B", "V", "f", "i", "f_i", "acutecomb", "red", "blue"]
CHARS = {0x20: "space", 0x41: "A", 0x42: "B", 0x56: "V", 0x66: "f", 0x69: "i", 0x301: "acutecomb"}
BOXES = {  # left, bottom, right, top
    ".notdef": (50, 0, 450, 700), "A": (100, 0, 500, 700), "B": (100, 0, 500, 700), "V": (100, 0, 500, 700),
    "f": (50, 0, 250, 700), "i": (50, 0, 150, 500), "f_i": (50, 0, 450, 700),
    "acutecomb": (-200, 750, -100, 900), "red": (100, 0, 500, 350), "blue": (100, 350, 500, 700),
}  # fmt: skip
FEATURES = """
feature liga { sub f i by f_i; } liga;
feature kern { pos A V -200; } kern;
feature ss01 { sub A by B; } ss01;
"""


def box(left: int, bottom: int, right: int, top: int) -> Any:
    pen = TTGlyphPen(None)
    pen.moveTo((left, bottom))
    pen.lineTo((left, top))
    pen.lineTo((right, top))
    pen.lineTo((right, bottom))
    pen.closePath()
    return pen.glyph()


def builder(family: str) -> FontBuilder:
    """A font of boxes: every letter is a rectangle whose edges are known."""
    made = FontBuilder(EM, isTTF=True)
    made.setupGlyphOrder(NAMES)
    made.setupCharacterMap(CHARS)
    empty = TTGlyphPen(None).glyph()
    made.setupGlyf({name: box(*BOXES[name]) if name in BOXES else empty for name in NAMES})
    advances = {"space": 300, "f": 300, "i": 200, "f_i": 500, "acutecomb": 0}
    made.setupHorizontalMetrics(
        {name: (advances.get(name, 600), BOXES.get(name, (0,))[0]) for name in NAMES}
    )
    made.setupHorizontalHeader(ascent=800, descent=-200)
    made.setupNameTable({"familyName": family, "styleName": "Regular"})
    made.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWeightClass=400)
    made.setupPost()
    return made


def saved(made: FontBuilder) -> bytes:
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


@functools.cache
def plain_font() -> bytes:
    made = builder("Dala Boxes")
    addOpenTypeFeaturesFromString(made.font, FEATURES)
    return saved(made)


@functools.cache
def variable_font() -> bytes:
    """Weights 100 to 900; at 900 an A is twice as wide as at 400, and advances by 200 more."""
    made = builder("Dala Variable")
    made.setupFvar([("wght", 100, 400, 900, "Weight")], [])
    deltas = [(0, 0), (0, 0), (400, 0), (400, 0), (0, 0), (200, 0), (0, 0), (0, 0)]
    variation = TupleVariation({"wght": (0.0, 1.0, 1.0)}, deltas)
    made.setupGvar({"A": [variation]})
    return saved(made)


@functools.cache
def color_font(version: int = 0) -> bytes:
    """A is red below and blue above."""
    made = builder("Dala Colours")
    made.font["CPAL"] = buildCPAL([[(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)]])
    layers: Any = [("red", 0), ("blue", 1)]
    if version == 1:
        layers = {
            "Format": 1,  # PaintColrLayers
            "Layers": [
                {
                    "Format": 10,
                    "Glyph": name,
                    "Paint": {"Format": 2, "PaletteIndex": n, "Alpha": 1.0},
                }
                for n, name in enumerate(("red", "blue"))
            ],
        }
    made.font["COLR"] = buildCOLR({"A": layers}, version=version)
    return saved(made)
