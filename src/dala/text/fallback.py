"""Which font shows a character: the caller's, else one of this machine, else the box of the missing.

What no font has is reported once.
"""

from __future__ import annotations

import logging
import unicodedata
from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dala import forking
from dala.errors import FontError
from dala.once import OnceByKey, once
from dala.text.font import Font
from dala.text.system import FontFace, can_show, covered_codes, fonts, nearest

log = logging.getLogger("dala.text")
PATIENCE = 32  # searches in vain, after which all fonts are looked through once
REPORTED = 1024  # characters whose lack was told
# Of the fonts for Chinese, Japanese and Korean, whose forms of a character differ: the one of a language.
_EAST = {"ja": "JP", "ko": "KR", "zh": "SC", "zh-hant": "TC", "zh-tw": "TC", "zh-hk": "HK"}
_EAST_SCRIPTS = {"Hira": "JP", "Kana": "JP", "Hang": "KR", "Bopo": "TC"}

_families: OnceByKey[tuple[str, bool], list[list[FontFace]]] = OnceByKey(32)
_found: OnceByKey[tuple[object, ...], Font | None] = OnceByKey(4096)
_misses: deque[tuple[int, ...]] = deque(maxlen=PATIENCE + 1)
_told: set[int] = set()
_telling = forking.lock()


def find_fallback(
    codes: tuple[int, ...], script: str, language: str | None, like: Font, *, emoji: bool
) -> Font | None:
    """A font of this machine that has all of these code points, in the weight and slant of another."""
    region = _EAST.get((language or "").lower()) or _EAST.get((language or "").lower()[:2])
    region = region or _EAST_SCRIPTS.get(script, "SC")
    key = (codes, region, emoji, like.weight, like.italic)

    def search() -> Font | None:
        if _looks_hopeless(codes):
            return None
        for faces in _families.get((region, emoji), lambda: _ranked(region, emoji=emoji)):
            face = nearest(faces, like.weight, like.italic)
            if can_show(face, codes):
                try:
                    return Font.load(face, like.weight, like.italic)
                except FontError:  # damaged beyond its names
                    continue
        _misses.append(codes)
        return None

    return _found.get(key, search)


def _looks_hopeless(codes: tuple[int, ...]) -> bool:
    """After some searches in vain: whether no font here has one of these code points at all.

    To ask every font for every character of a long text would take minutes.
    """
    return len(_misses) > PATIENCE and not all(_shown_anywhere()[code] for code in codes)


@once
def _shown_anywhere() -> npt.NDArray[np.bool_]:
    """For each code point whether any font of this machine has it."""
    found = np.zeros(0x110000, bool)
    for face in fonts():
        found[covered_codes(face)] = True
    return found


def _ranked(region: str, *, emoji: bool) -> list[list[FontFace]]:
    """The families of this machine, the most general ones first."""
    families: dict[str, list[FontFace]] = {}
    for face in fonts():
        families.setdefault(face.family, []).append(face)

    def rank(family: str) -> tuple[int, int, str]:
        words = family.lower()
        if "emoji" in words:
            return (0 if emoji else 9), 0, family
        plain = 0 if words.startswith("noto sans") else 1 if "sans" in words else 2
        special = ("mono", "display", "serif", "kufi", "looped", "rashi", "unjoined", "tifinagh ")
        odd = sum(word in words for word in special)
        if " cjk " in words:
            odd += not family.endswith(region)
        return 1 + odd, plain, family

    return [families[family] for family in sorted(families, key=rank)]


def covers_all(font: Font, codes: Sequence[int]) -> bool:
    """Whether a font has a cluster, as it is written or composed."""
    if all(font.covers(code) for code in codes):
        return True
    if len(codes) == 1:
        return False
    composed = unicodedata.normalize("NFC", "".join(map(chr, codes)))
    return all(font.covers(ord(char)) for char in composed)


def report_missing(code: int, font: Font) -> None:
    """Say once that no font has a character."""
    with _telling:
        if code in _told or len(_told) >= REPORTED:
            return
        _told.add(code)
    name = unicodedata.name(chr(code), "a character")
    log.warning(
        "no font here has U+%04X %s (%r); a box is drawn for it. Install a font that has it, or give one: "
        "font=[%r, …]", code, name, chr(code), font.family,
    )  # fmt: skip
