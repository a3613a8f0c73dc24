"""``layout``: a text as lines of glyphs that stand somewhere.

text → paragraphs → levels, items → shaped → lines → aligned → Layout
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from dala.errors import ParameterError, suggest
from dala.once import OnceByKey
from dala.text.carets import Caret, CaretMap, segments_of
from dala.text.font import Font
from dala.text.lines import PlacedLine, ShapedParagraph, justify
from dala.text.paragraph import Paragraph, split_paragraphs
from dala.text.shaping import Floats, Shaped
from dala.text.style import (
    Features,
    FontLike,
    Source,
    Style,
    Text,
    check_language,
    check_number,
    check_size,
    read_features,
    read_fonts,
    read_source,
)

Align: TypeAlias = Literal["start", "end", "left", "right", "center", "justify"]
Direction: TypeAlias = Literal["auto", "ltr", "rtl"]
ALIGNMENTS = ("start", "end", "left", "right", "center", "justify")
DIRECTIONS = {"auto": None, "ltr": 0, "rtl": 1}
KEPT = 128  # layouts that are remembered
REMEMBERED = 16  # drawings of a layout
SHORT = 4096  # characters of a text that is worth it


class Glyph(NamedTuple):
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


class Layout:
    """A text whose glyphs stand somewhere; it never changes, and can be drawn again and again.

    >>> from dala import text
    >>> made = text.layout("Hello", size=40)
    >>> len(made.glyphs), len(made.lines)
    (5, 1)
    """

    def __init__(
        self, text: str, lines: list[Line], runs: list[GlyphRun], carets: CaretMap
    ) -> None:
        self.text = text
        self.lines = tuple(lines)
        self.runs = tuple(runs)
        self.width = max((line.x + line.width for line in lines), default=0.0)
        self.height = lines[-1].y + lines[-1].height if lines else 0.0
        self._carets = carets
        # what was drawn of it (ink.py), by paint and place within a pixel
        self.inks: OnceByKey[object, Any] = OnceByKey(REMEMBERED)

    @property
    def glyphs(self) -> tuple[Glyph, ...]:
        """All glyphs, line after line, from left to right."""
        return tuple(
            Glyph(glyph, x, y, cluster, run.font, run.size)
            for run in self.runs
            for glyph, x, y, cluster in zip(
                run.ids, run.x.tolist(), run.y.tolist(), run.clusters, strict=True
            )
        )

    def hit(self, x: float, y: float) -> int:
        """The index of the character before which a caret would stand for a click at a point."""
        return self._carets.hit(check_number(x, "x"), check_number(y, "y"))

    def caret(self, index: int) -> Caret:
        """Where the caret stands before a character; at ``len(text)`` behind the last one."""
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise ParameterError(f"a caret's index is a whole number, got {index!r}")
        if not 0 <= index <= len(self.text):
            raise ParameterError(f"a caret stands at 0 to {len(self.text)}, got {index}")
        return self._carets.caret(int(index))

    def __repr__(self) -> str:
        start = self.text[:20] + "…" * (len(self.text) > 20)
        return f"Layout({start!r}, {self.width:.0f}×{self.height:.0f}, {len(self.lines)} lines)"


@dataclass(frozen=True, slots=True)
class Options:
    """How a text is laid out."""

    max_width: float | None
    max_lines: int | None
    align: str
    base: int | None
    line_height: float
    ellipsis: str


_kept: OnceByKey[tuple[Source, Options], Layout] = OnceByKey(KEPT)


def layout(
    text: Text,
    font: FontLike = None,
    size: float = 32,
    *,
    max_width: float | None = None,
    max_lines: int | None = None,
    align: Align = "start",
    direction: Direction = "auto",
    language: str | None = None,
    line_height: float = 1.2,
    letter_spacing: float = 0,
    features: Features = None,
    ellipsis: str = "…",
) -> Layout:
    """Lay a text out: shaped, in both directions, wrapped, aligned.

    ``text`` is a string or runs with a style of their own. ``font`` is a font, a family, a path, or several
    of them, in the order they are tried; what none of them has comes from the fonts of this machine.
    What does not fit into ``max_lines`` is left out, and ``ellipsis`` says so.

    >>> from dala import text
    >>> made = text.layout([("Hello ", {}), ("world", {"color": "gold"})], size=40, max_width=300)
    >>> made.text
    'Hello world'
    """
    base = Style(
        read_fonts(font), check_size(size), None, read_features(features),
        check_number(letter_spacing, "letter_spacing", -1000, 1000), check_language(language),
    )  # fmt: skip
    options = _check_options(max_width, max_lines, align, direction, line_height, ellipsis)
    source = read_source(text, base)
    if len(source.text) > SHORT:
        return _make(source, options)
    return _kept.get((source, options), lambda: _make(source, options))


def _check_options(
    max_width: float | None,
    max_lines: int | None,
    align: str,
    direction: str,
    line_height: float,
    ellipsis: str,
) -> Options:
    if align not in ALIGNMENTS:
        names = ", ".join(map(repr, ALIGNMENTS))
        raise ParameterError(f"align is {names}, got {align!r}{suggest(str(align), ALIGNMENTS)}")
    if direction not in DIRECTIONS:
        raise ParameterError(f"direction is 'auto', 'ltr' or 'rtl', got {direction!r}")
    if max_lines is not None and (
        isinstance(max_lines, bool) or not isinstance(max_lines, int) or max_lines < 1
    ):
        raise ParameterError(f"max_lines is a whole number from 1 up, or None, got {max_lines!r}")
    if not isinstance(ellipsis, str) or len(ellipsis) > 16 or len(ellipsis.splitlines()) > 1:
        raise ParameterError(f"an ellipsis is a short text, e.g. '…', got {ellipsis!r}")
    width = None if max_width is None else check_number(max_width, "max_width", 0)
    height = check_number(line_height, "line_height", 0.1, 100)
    return Options(width, max_lines, align, DIRECTIONS[direction], height, ellipsis)


def _make(source: Source, options: Options) -> Layout:
    lines = list(_place_lines(source, options))
    widths = [line.widths() for line in lines]
    box = options.max_width
    if box is None:
        box = max((visible for visible, _ in widths), default=0.0)
    finished: list[Line] = []
    runs: list[GlyphRun] = []
    carets = CaretMap()
    top = 0.0
    for line, (visible, hanging) in zip(lines, widths, strict=True):
        if options.align == "justify" and not line.hard_end and visible < box:
            line = justify(line, box - visible)
            visible, hanging = line.widths()
        x = _align(options.align, line.base, box - visible)
        record = _measure(line, source, options, x, top, visible)
        start_x = x - hanging if line.base & 1 else x
        placed = list(_place_runs(line, start_x, record.baseline))
        runs += [run for run, _ in placed]
        carets.add(record, segments_of(line, placed))
        finished.append(record)
        top += record.height
    return Layout(source.text, finished, runs, carets)


def _place_lines(source: Source, options: Options) -> Iterator[PlacedLine]:
    """The lines of all paragraphs, up to the last that is allowed."""
    numbers = source.style_numbers()
    count = 0
    for start, stop, after in split_paragraphs(source.text):
        styles = [source.styles[n] for n in numbers[start:stop]]
        shaped = ShapedParagraph(Paragraph(source.text[start:stop], styles, start, options.base))
        spans = shaped.wrap(options.max_width)
        for place, (first, last) in enumerate(spans):
            count += 1
            ends = place + 1 == len(spans)
            if count == options.max_lines and not (ends and after == stop):
                style = styles[first] if styles else _style_at(source, start)
                yield _shorten(shaped, first, style, options)
                return
            yield PlacedLine(shaped, first, last, shaped.line(first, last), ends)


def _shorten(shaped: ShapedParagraph, first: int, style: Style, options: Options) -> PlacedLine:
    """The rest of a paragraph on one line, cut so that the ellipsis fits behind it."""
    paragraph, room = shaped.paragraph, options.max_width
    ends = [end for end in (*paragraph.starts, len(paragraph.text)) if end >= first]
    if (
        room is not None
    ):  # what cannot fit is not tried; kerning may let in a little more than sums say
        dots = 0.75 * _width_of(options.ellipsis, style)
        ends = [end for end in ends if shaped.width(first, end) + dots <= room] or [first]
    while True:
        end = shaped.trim(first, ends.pop())
        last = paragraph.styles[end - 1] if end > first else style
        text = paragraph.text[first:end] + options.ellipsis
        styles = [*paragraph.styles[first:end], *[last] * len(options.ellipsis)]
        made = ShapedParagraph(Paragraph(text, styles, paragraph.offset + first, paragraph.base))
        if room is None or not ends or made.width(0, len(text)) <= room:
            return PlacedLine(made, 0, len(text), made.line(0, len(text)), True, cut=end - first)


def _style_at(source: Source, index: int) -> Style:
    return source.styles[max(bisect_right(source.starts, index) - 1, 0)]


def _width_of(text: str, style: Style) -> float:
    return ShapedParagraph(Paragraph(text, [style] * len(text), 0, 0)).before[-1]


def _align(align: str, base: int, slack: float) -> float:
    if align == "center":
        return slack / 2
    right = align == "right" or (align == "end") != bool(base & 1)
    if align in ("left", "right"):
        right = align == "right"
    elif align == "justify":
        right = bool(base & 1)
    return slack if right else 0.0


def _measure(
    line: PlacedLine, source: Source, options: Options, x: float, top: float, width: float
) -> Line:
    """Where a line stands: as high as its largest style, the base line on a whole pixel."""
    paragraph = line.source.paragraph
    start = paragraph.offset + line.start
    stop = paragraph.offset + (line.stop if line.cut is None else line.cut)
    styles = set(paragraph.styles[line.start : line.stop])
    if not styles:
        styles = {_style_at(source, start)}
    height = max(style.size for style in styles) * options.line_height
    ascent = max(style.fonts[0].ascent * style.size for style in styles)
    descent = max(style.fonts[0].descent * style.size for style in styles)
    baseline = float(round(top + (height - ascent - descent) / 2 + ascent))
    text = paragraph.text[line.start : line.stop]
    return Line(text, start, stop, x, top, width, height, baseline, bool(line.base & 1))


def _place_runs(line: PlacedLine, x: float, baseline: float) -> Iterator[tuple[GlyphRun, Shaped]]:
    paragraph = line.source.paragraph
    most = len(paragraph.text) if line.cut is None else line.cut
    for part in line.parts:
        begins = (
            x + np.concatenate([[0.0], np.cumsum(part.advances)[:-1]]) if len(part.ids) else part.dx
        )
        run = GlyphRun(
            part.item.font, part.item.style.size, part.item.style.color, part.ids.tolist(),
            begins + part.dx, baseline - part.dy,
            (np.minimum(part.clusters, most) + paragraph.offset).tolist(),
        )  # fmt: skip
        yield run, part
        x += part.width
