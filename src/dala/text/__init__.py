"""Text in every script: fonts, layout, glyphs, drawing.

    font.py        what a user loads           fontfile.py   files of fonts; harfbuzz.py HarfBuzz itself
    system.py      the fonts of this machine   fallback.py   which of them shows what
    fonts/         the default font            (tools/default_font.py makes it)
    style.py       text and styles             paragraph.py  levels, breaks, items of one font
    unicode/       Unicode's algorithms        shaping.py    items → glyphs
    lines.py       wrapped, justified          layout.py     text → Layout (placed.py: what it holds)
    carets.py      carets and hits
    glyphs.py      glyphs as tiles of pixels   outline.py    grown and blurred
    paint.py       colours, gradients, …       ink.py        a layout as tiles, painted in order
    blendcode.py   tiles over pixels, compiled draw.py       draw on pictures; pictures.py opens them

    text → paragraphs → levels, breaks, fonts → shaped → lines → glyphs → tiles → pixels

HarfBuzz (``pip install 'dala-gpu[text]'``) shapes and rasterises; bidi, line breaks and clusters are ours.
"""

from __future__ import annotations

from dala.text.carets import Caret
from dala.text.draw import draw, paint, rasterise
from dala.text.font import Font
from dala.text.ink import PlacedTile
from dala.text.layout import Layout, layout
from dala.text.paint import Box, Gradient, Outline, Shadow
from dala.text.placed import Glyph, Line
from dala.text.system import FontFace, fonts

__all__ = [
    "Box", "Caret", "Font", "FontFace", "Glyph", "Gradient", "Layout", "Line", "Outline", "PlacedTile",
    "Shadow", "draw", "fonts", "layout", "paint", "rasterise",
]  # fmt: skip
