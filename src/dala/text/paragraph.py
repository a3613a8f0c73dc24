"""A paragraph looked at: levels, breaks, clusters, and items of one font, script, style and direction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from dala.text.fallback import covers_all, find_fallback
from dala.text.font import Font
from dala.text.style import Style
from dala.text.unicode.bidi import paragraph_level, resolve_levels
from dala.text.unicode.graphemes import grapheme_starts
from dala.text.unicode.linebreak import line_breaks
from dala.text.unicode.scripts import scripts_of
from dala.text.unicode.tables import (
    EMOJI,
    EMOJI_PRESENTATION,
    IGNORABLE,
    Array,
    code_points,
    letters,
    tables,
)

TEXT_FORM, EMOJI_FORM, KEYCAP = 0xFE0E, 0xFE0F, 0x20E3
SPACE = 0x20


class Item(NamedTuple):
    """What is shaped at once."""

    start: int
    stop: int
    font: Font
    script: str
    level: int
    style: Style


class Paragraph:
    """A text without line ends inside, with styles per character; ``offset`` is where it begins."""

    def __init__(self, text: str, styles: Sequence[Style], offset: int, base: int | None) -> None:
        self.text, self.styles, self.offset = text, styles, offset
        self.codes: Array = code_points(text)
        self.records: Array = tables().records(self.codes)
        self.classes = letters(tables().bidi, self.records)
        self.base = paragraph_level(self.classes) if base is None else base
        self.code_list: list[int] = self.codes.tolist()
        self.levels = resolve_levels(self.classes, self.base, self.code_list)
        self.starts = grapheme_starts(self.records)

    @cached_property
    def breaks(self) -> list[int]:
        """After which characters a line may end."""
        return line_breaks(self.records)

    @cached_property
    def items(self) -> list[Item]:
        """The paragraph in logical order."""
        scripts = scripts_of(self.records)
        chosen = FontChooser(self, scripts).choose()
        items: list[Item] = []
        for number, start in enumerate(self.starts):
            stop = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
            key = (chosen[number], scripts[start], self.levels[start], self.styles[start])
            last = items[-1] if items else None
            if last is not None and (last.font, last.script, last.level, last.style) == key:
                items[-1] = last._replace(stop=stop)
            else:
                items.append(Item(start, stop, *key))
        return items


class FontChooser:
    """Chooses a font for each cluster of a paragraph."""

    def __init__(self, paragraph: Paragraph, scripts: list[str]) -> None:
        self._paragraph, self._scripts = paragraph, scripts
        self._flags: Array = tables().flags[paragraph.records]
        self._known: dict[tuple[object, ...], Font] = {}
        # Han characters beside kana are Japanese, beside Hangul Korean: one font for all of them
        kinds = set(scripts)
        self._language = "ja" if kinds & {"Hira", "Kana"} else "ko" if "Hang" in kinds else None

    def choose(self) -> list[Font]:
        """One font per cluster."""
        paragraph, codes = self._paragraph, self._paragraph.code_list
        if not codes:
            return []
        ends = [*paragraph.starts[1:], len(codes)]
        simple = (self._flags & (EMOJI | IGNORABLE)) == 0
        chosen: list[Font] = []
        for start, stop in zip(paragraph.starts, ends, strict=True):
            style = paragraph.styles[start]
            first = style.fonts[0]
            if codes[start] == SPACE and chosen and paragraph.styles[start - 1] == style:
                last = chosen[-1]  # a space is of the word before it, but an emoji's is too wide
                chosen.append(last if last.covers(SPACE) and not last.is_colored else first)
            elif stop == start + 1 and simple[start] and first.covers(codes[start]):
                chosen.append(first)
            else:
                chosen.append(self._choose_one(start, stop, style))
        return chosen

    def _choose_one(self, start: int, stop: int, style: Style) -> Font:
        codes = tuple(self._paragraph.code_list[start:stop])
        key = (codes, style.fonts, style.language, self._scripts[start])
        if key not in self._known:
            self._known[key] = self._search(codes, start, stop, style)
        return self._known[key]

    def _search(self, codes: tuple[int, ...], start: int, stop: int, style: Style) -> Font:
        hidden = (self._flags[start:stop] & IGNORABLE) != 0
        shown = tuple(code for code, is_hidden in zip(codes, hidden, strict=True) if not is_hidden)
        shown = shown or codes[:1]
        script, first = self._scripts[start], style.fonts[0]
        language = style.language or self._language
        if self._is_emoji(codes, start):
            coloured = [font for font in style.fonts if font.is_colored]
            for font in coloured:
                if covers_all(font, shown):
                    return font
            found = find_fallback(shown, script, language, first, emoji=True)
            if found is not None:
                return found
        for wanted in (shown, shown[:1]):  # a mark that no font has does not cost its letter
            for font in style.fonts:
                if covers_all(font, wanted):
                    return font
            found = find_fallback(wanted, script, language, first, emoji=False)
            if found is not None:
                return found
        return first

    def _is_emoji(self, codes: tuple[int, ...], start: int) -> bool:
        """Whether a cluster is shown in colour: by itself, or because the text says so (UTS #51)."""
        if TEXT_FORM in codes:
            return False
        if EMOJI_FORM in codes or KEYCAP in codes[1:]:
            return True
        return bool(self._flags[start] & EMOJI_PRESENTATION)


def split_paragraphs(text: str) -> list[tuple[int, int, int]]:
    """Where each paragraph begins, ends, and the next one begins. A text that ends with a line end has an
    empty last one."""
    found: list[tuple[int, int, int]] = []
    start = 0
    while True:
        stop = next((i for i in range(start, len(text)) if text[i] in LINE_ENDS), len(text))
        after = stop + 1 + (text[stop : stop + 2] == "\r\n")
        found.append((start, stop, min(after, len(text))))
        if stop == len(text):
            return found
        start = after


LINE_ENDS = frozenset("\n\r\v\f\x85\u2028\u2029")
