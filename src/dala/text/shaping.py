"""Items shaped: HarfBuzz's glyphs and positions, in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.text.fallback import report_missing
from dala.text.harfbuzz import harfbuzz
from dala.text.paragraph import Item, Paragraph
from dala.text.unicode.tables import CURSIVE, tables

Floats = npt.NDArray[np.float64]
TAB, SPACE, TAB_WIDTH = 0x09, 0x20, 4  # a tab is as wide as so many spaces
CONTEXT = 8  # characters around an item that HarfBuzz is shown; it looks at five
NO_LIGATURES = {"liga": False, "clig": False}  # letters that are spaced do not join


@dataclass(frozen=True, slots=True, eq=False)
class Shaped:
    """Glyphs of an item from left to right; advances and offsets in pixels."""

    item: Item
    ids: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]  # indices into the paragraph
    advances: Floats
    dx: Floats
    dy: Floats  # upwards

    @property
    def width(self) -> float:
        """From its beginning to its end."""
        return float(self.advances.sum())


def shape_item(paragraph: Paragraph, item: Item) -> Shaped:
    """Shape an item within its paragraph: what stands around it decides how letters join."""
    buffer = _run_harfbuzz(paragraph, item)
    infos, positions = buffer.glyph_infos, buffer.glyph_positions
    ids = np.array([info.codepoint for info in infos], np.int64)
    clusters = np.array([info.cluster for info in infos], np.int64) + max(item.start - CONTEXT, 0)
    table = np.array([p.position for p in positions], np.float64).reshape(-1, 4)
    table *= item.style.size / item.font.upem
    advances = table[:, 2]
    if not ids.all():
        _report(paragraph, clusters[ids == 0].tolist(), item)
    if "\t" in paragraph.text:
        advances[paragraph.codes[clusters] == TAB] *= TAB_WIDTH
    if item.style.letter_spacing and not _is_cursive(paragraph, item):
        advances = _space_letters(clusters, advances, item.style.letter_spacing)
    return Shaped(item, ids, clusters, advances, table[:, 0], table[:, 1])


def _run_harfbuzz(paragraph: Paragraph, item: Item) -> Any:
    hb = harfbuzz()
    buffer = hb.Buffer()
    first = max(item.start - CONTEXT, 0)
    codes = paragraph.code_list[first : item.stop + CONTEXT]
    if "\t" in paragraph.text:
        codes = [SPACE if code == TAB else code for code in codes]
    buffer.add_codepoints(codes, item.start - first, item.stop - item.start)
    buffer.direction = "rtl" if item.level & 1 else "ltr"
    buffer.script = item.script
    buffer.language = item.style.language or "und"
    features: dict[str, Any] = dict(NO_LIGATURES) if item.style.letter_spacing else {}
    features.update(item.style.features)
    hb.shape(item.font.harfbuzz, buffer, features)
    return buffer


def _report(paragraph: Paragraph, clusters: list[int], item: Item) -> None:
    for cluster in clusters:
        if not item.font.covers(paragraph.code_list[cluster]):
            report_missing(paragraph.code_list[cluster], item.font)


def _is_cursive(paragraph: Paragraph, item: Item) -> bool:
    """Whether letters join, so that nothing may stand between them."""
    flags = tables().flags[paragraph.records[item.start : item.stop]]
    return bool((flags & CURSIVE).any())


def _space_letters(clusters: npt.NDArray[np.int64], advances: Floats, spacing: float) -> Floats:
    """Spacing behind the last glyph of each cluster."""
    last = np.ones(len(clusters), bool)
    last[:-1] = clusters[1:] != clusters[:-1]
    return advances + spacing * last
