"""Lines: where a paragraph is broken, and where its glyphs stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

import numpy as np

from dala.text.paragraph import Item, Paragraph
from dala.text.shaping import Floats, Shaped, shape_item
from dala.text.unicode.bidi import reset_levels, visual_order

SLACK = 1e-6  # pixels that a line may be too long by, for sums of floats
WHITE = "WSB"  # bidi classes of white space that hangs over a line's end
SPACES = (0x20, 0xA0)
UNSPACED = ("Hani", "Hira", "Kana", "Bopo", "Hang", "Thai", "Laoo", "Khmr", "Mymr")


class ShapedParagraph:
    """A paragraph with the glyphs of its items, and how far each of its characters advances."""

    def __init__(self, paragraph: Paragraph) -> None:
        self.paragraph = paragraph
        self.shaped = [shape_item(paragraph, item) for item in paragraph.items]
        self._whole = {(s.item.start, s.item.stop, s.item.level & 1): s for s in self.shaped}
        advances = np.zeros(len(paragraph.text))
        for one in self.shaped:
            np.add.at(advances, one.clusters, one.advances)
        self._ink_ends = [
            0
        ]  # for each place, the end of the last character before it that is not white
        for index, letter in enumerate(paragraph.classes):
            self._ink_ends.append(self._ink_ends[-1] if letter in WHITE else index + 1)
        self._item_starts = [item.start for item in paragraph.items]
        self.before: list[float] = [0.0, *np.cumsum(advances).tolist()]  # the advance before each

    def width(self, start: int, stop: int) -> float:
        """Of some characters, without white space at their end."""
        return self.before[self.trim(start, stop)] - self.before[start]

    def trim(self, start: int, stop: int) -> int:
        """Where the white space at the end begins."""
        return max(start, self._ink_ends[stop])

    def wrap(self, max_width: float | None) -> list[tuple[int, int]]:
        """Beginning and end of each line: as many words as fit; a word that is too long is cut."""
        count = len(self.paragraph.text)
        if max_width is None or self.width(0, count) <= max_width + SLACK:
            return [(0, count)]
        ends = [i + 1 for i, kind in enumerate(self.paragraph.breaks) if kind]
        lines: list[tuple[int, int]] = []
        start = last = 0
        for end in ends:
            while self.width(start, end) > max_width + SLACK:
                if last <= start:
                    last = self._cut(start, end, max_width)
                    if last >= end:
                        break
                lines.append((start, last))
                start = last
            last = end
        lines.append((start, count))
        return lines

    def _cut(self, start: int, end: int, max_width: float) -> int:
        """The last character of a word that still fits; at least one."""
        room = self.before[start] + max_width + SLACK
        starts = self.paragraph.starts
        place = bisect_right(starts, start)
        best = starts[place] if place < len(starts) else end
        while place < len(starts) and starts[place] < end and self.before[starts[place]] <= room:
            best = starts[place]
            place += 1
        return min(best, end)

    def line(self, start: int, stop: int) -> list[Shaped]:
        """The glyphs of a line, from left to right."""
        paragraph = self.paragraph
        levels = paragraph.levels[start:stop]
        reset_levels(levels, paragraph.classes[start:stop], paragraph.base)
        parts: list[Shaped] = []
        begin = max(bisect_right(self._item_starts, start) - 1, 0)
        for item in paragraph.items[begin : bisect_left(self._item_starts, stop)]:
            first, last = max(item.start, start), min(item.stop, stop)
            while first < last:
                level, end = levels[first - start], first + 1
                while end < last and levels[end - start] == level:
                    end += 1
                parts.append(self._part(item, first, end, level))
                first = end
        return [parts[place] for place in visual_order([part.item.level for part in parts])]

    def _part(self, item: Item, start: int, stop: int, level: int) -> Shaped:
        part = item._replace(start=start, stop=stop, level=level)
        whole = self._whole.get((start, stop, level & 1))
        if whole is not None and whole.item.font is item.font:
            return replace(whole, item=part)
        return shape_item(self.paragraph, part)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedLine:
    """A line whose glyphs are known and whose place is not."""

    source: ShapedParagraph
    start: int  # in the paragraph
    stop: int
    parts: list[Shaped]
    hard_end: bool  # the paragraph ends here
    cut: int | None = None  # the line is another text from here on: an ellipsis

    @property
    def base(self) -> int:
        return self.source.paragraph.base

    def widths(self) -> tuple[float, float]:
        """The visible width, and that of the white space at the end."""
        trimmed = self.source.trim(self.start, self.stop)
        total = hanging = 0.0
        for part in self.parts:
            total += part.width
            hanging += float(part.advances[part.clusters >= trimmed].sum())
        return total - hanging, hanging


def justify(line: PlacedLine, slack: float) -> PlacedLine:
    """Spread what a line lacks over its spaces; between characters where a script has none."""
    paragraph = line.source.paragraph
    trimmed = line.source.trim(line.start, line.stop)
    gaps = [_gaps(part, paragraph, trimmed, spaces=True) for part in line.parts]
    if not any(gap.any() for gap in gaps):
        gaps = [_gaps(part, paragraph, trimmed, spaces=False) for part in line.parts]
    count = sum(int(gap.sum()) for gap in gaps)
    if not count:
        return line
    parts = [
        replace(part, advances=part.advances + gap * (slack / count))
        for part, gap in zip(line.parts, gaps, strict=True)
    ]
    return replace(line, parts=parts)


def _gaps(part: Shaped, paragraph: Paragraph, trimmed: int, *, spaces: bool) -> Floats:
    inside = part.clusters < trimmed
    if spaces:
        found = np.isin(paragraph.codes[part.clusters], SPACES) & inside
    else:
        last = np.ones(len(part.ids), bool)
        last[:-1] = part.clusters[1:] != part.clusters[:-1]
        final = part.clusters == max(trimmed - 1, 0)
        found = last & inside & ~final & (part.item.script in UNSPACED)
    return found.astype(np.float64)
