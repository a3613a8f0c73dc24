"""Which font shows a character: the caller's, else one of this machine, else the box of the missing.

What no font has is reported once.
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Sequence

from dala import forking
from dala.errors import FontError
from dala.once import OnceByKey
from dala.text.font import Font
from dala.text.system import FontFace, can_show, fonts, nearest

log = logging.getLogger("dala.text")
REPORTED = 1024  # characters whose lack was told
# Of the fonts for Chinese, Japanese and Korean, whose forms of a character differ: the one of a language.
_EAST = {"ja": "JP", "ko": "KR", "zh": "SC", "zh-hant": "TC", "zh-tw": "TC", "zh-hk": "HK"}
_EAST_SCRIPTS = {"Hira": "JP", "Kana": "JP", "Hang": "KR", "Bopo": "TC"}

_families: OnceByKey[tuple[str, bool], list[list[FontFace]]] = OnceByKey(32)
_found: OnceByKey[tuple[object, ...], Font | None] = OnceByKey(4096)
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
        for faces in _families.get((region, emoji), lambda: _ranked(region, emoji=emoji)):
            face = nearest(faces, like.weight, like.italic)
            if can_show(face, codes):
                try:
                    return Font.load(face, like.weight, like.italic)
                except FontError:  # damaged beyond its names
                    continue
        return None

    return _found.get(key, search)


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
