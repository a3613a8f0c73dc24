"""Carets and hit tests: from places in the text to places in the picture, and back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from dala.text.lines import PlacedLine
from dala.text.shaping import Shaped

if TYPE_CHECKING:
    from dala.text.layout import GlyphRun, Line


class Caret(NamedTuple):
    """Where a caret stands: a line from ``(x, y)`` downwards.

    >>> from dala import text
    >>> text.layout("abc", size=20).caret(0).x
    0.0
    """

    x: float
    y: float
    height: float


class Segment(NamedTuple):
    """A cluster of a line: from where to where, and its characters' indices, one for each boundary."""

    left: float
    right: float
    bounds: tuple[int, ...]
    rtl: bool

    def x_of(self, index: int) -> float:
        """Where the caret stands within it; a ligature is divided evenly."""
        part = bisect_left(self.bounds, index) / max(len(self.bounds) - 1, 1)
        part = min(part, 1.0)
        return self.left + (self.right - self.left) * ((1 - part) if self.rtl else part)

    def index_at(self, x: float) -> int:
        """The boundary nearest to a place."""
        parts = len(self.bounds) - 1
        share = (x - self.left) / (self.right - self.left) if self.right > self.left else 0.0
        share = 1 - share if self.rtl else share
        return self.bounds[min(max(round(share * parts), 0), parts)]


def segments_of(line: PlacedLine, placed: list[tuple[GlyphRun, Shaped]]) -> list[Segment]:
    """The clusters of a line, from left to right."""
    paragraph = line.source.paragraph
    most = len(paragraph.text) if line.cut is None else line.cut
    found: list[Segment] = []
    for run, part in placed:
        left = (run.x - part.dx).tolist()
        clusters = part.clusters.tolist()
        known = sorted(set(clusters))
        ends = dict(zip(known, [*known[1:], part.item.stop], strict=True))
        place = 0
        while place < len(clusters):
            cluster, first, width = clusters[place], left[place], 0.0
            while place < len(clusters) and clusters[place] == cluster:
                width += float(part.advances[place])
                place += 1
            starts = paragraph.starts
            inner = starts[bisect_right(starts, cluster) : bisect_left(starts, ends[cluster])]
            bounds = [cluster, *inner, ends[cluster]]
            shown = tuple(min(bound, most) + paragraph.offset for bound in bounds)
            found.append(Segment(first, first + width, shown, bool(part.item.level & 1)))
    return found


class CaretMap:
    """The segments of all lines."""

    def __init__(self) -> None:
        self._lines: list[tuple[Line, list[Segment]]] = []

    def add(self, line: Line, segments: list[Segment]) -> None:
        """One more line."""
        self._lines.append((line, segments))

    def hit(self, x: float, y: float) -> int:
        """The index nearest to a point."""
        tops = [line.y for line, _ in self._lines]
        line, segments = self._lines[max(bisect_right(tops, y) - 1, 0)]
        if not segments:
            return line.start
        segment = min(segments, key=lambda s: max(s.left - x, x - s.right, 0.0))
        return segment.index_at(x)

    def caret(self, index: int) -> Caret:
        """Where the caret before a character stands."""
        starts = [line.start for line, _ in self._lines]
        line, segments = self._lines[max(bisect_right(starts, index) - 1, 0)]
        for segment in segments:
            if segment.bounds[0] <= index < segment.bounds[-1]:
                return Caret(segment.x_of(index), line.y, line.height)
        if not segments:
            return Caret(line.x, line.y, line.height)
        last = max(segments, key=lambda s: (s.bounds[-1], s.bounds[0]))  # behind the last character
        return Caret(last.left if last.rtl else last.right, line.y, line.height)
