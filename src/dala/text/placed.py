"""What stands somewhere: glyphs, runs of them, lines."""

from __future__ import annotations

from dataclasses import dataclass

from dala.text.font import Font
from dala.text.shaping import Floats


@dataclass(frozen=True, slots=True)
class Glyph:
    """One glyph of a layout, as it stands from left to right in its line.

    >>> from dala import text
    >>> [glyph.cluster for glyph in text.layout("abc").glyphs]
    [0, 1, 2]
    """

    id: int  # in its font
    x: float  # of its origin, in pixels from the left of the layout
    y: float  # of its origin, on the base line, in pixels from the top
    cluster: int  # the index of the first character it shows
    font: Font
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class GlyphRun:
    """Glyphs of one font, size and colour: what is drawn at once."""

    font: Font
    size: float
    color: bytes | None
    ids: list[int]
    x: Floats
    y: Floats
    clusters: list[int]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a layout.

    >>> from dala import text
    >>> [line.text for line in text.layout("one two", size=20, max_width=50).lines]
    ['one ', 'two']
    """

    text: str
    start: int  # index of its first character
    stop: int  # and behind its last one
    x: float  # where it begins from the left
    y: float  # its top
    width: float  # without white space at its end
    height: float
    baseline: float
    rtl: bool
