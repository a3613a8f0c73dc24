"""Fonts: from files, bytes, families of the system, and the default that is always there."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path
from typing import Any

from dala.errors import ArgumentError, FontError, ParameterError
from dala.once import OnceByKey
from dala.text.fontfile import open_face, read_font
from dala.text.harfbuzz import harfbuzz
from dala.text.system import FontFace, find_face, fonts, nearest

BOLD = 600  # from here on a weight is bold
SLANT = 0.2  # of a font that has no italic of its own
EMBOLDENING = 0.03  # of an em, of a font that has no bold of its own
REMEMBERED = 8192  # characters that a font is known to have or not
KEPT = 64  # fonts that stay in memory, if nobody holds them
CARRIED = Path(__file__).parent / "fonts"  # those that come with dala (tools/default_font.py)
_keys = itertools.count()


class Font:
    """A font in one weight and slant, at no size in particular. It can be used from any thread.

    >>> from dala import text
    >>> font = text.Font.default()
    >>> font.family, font.weight
    ('Noto Sans', 400)
    """

    def __init__(
        self,
        data: bytes,
        index: int = 0,
        weight: int = 400,
        italic: bool = False,
        name: str = "font",
    ) -> None:
        hb = harfbuzz()
        face = open_face(data, index, name)
        self._hb = hb.Font(face)
        self.key = next(_keys)  # what caches know it by
        self.name = name
        self.upem: int = face.upem
        self.family: str = face.get_name(hb.OTNameIdPredefined.TYPOGRAPHIC_FAMILY) or (
            face.get_name(hb.OTNameIdPredefined.FONT_FAMILY) or name
        )
        self.has_png = bool(face.has_color_png)
        self.has_paint = bool(face.has_color_paint or face.has_color_layers)
        self.weight, self.italic = weight, italic
        self._data, self._index = data, index
        self._covered: dict[int, bool] = {}
        self._choose(weight, italic)
        self.ascent, self.descent = self._extents()

    def _choose(self, weight: int, italic: bool) -> None:
        """Set a variable font's axes; what the font cannot do is made of its outlines."""
        hb, font = harfbuzz(), self._hb
        try:
            axes = {axis.tag: axis for axis in font.face.axis_infos}
        except UnicodeDecodeError as error:  # a tag that is no text
            raise FontError(f"{self.name}: its table of axes is damaged") from error
        chosen: dict[str, float] = {}
        if "wght" in axes:
            chosen["wght"] = min(max(weight, axes["wght"].min_value), axes["wght"].max_value)
        if italic and "ital" in axes:
            chosen["ital"] = axes["ital"].max_value
        elif italic and "slnt" in axes:
            chosen["slnt"] = axes["slnt"].min_value
        if chosen:
            font.set_variations(chosen)
        style = hb.StyleTag
        slanted = font.get_style_value(style.ITALIC) or font.get_style_value(style.SLANT_ANGLE)
        if italic and not slanted:
            font.synthetic_slant = SLANT
        if weight >= BOLD and font.get_style_value(style.WEIGHT) < BOLD:
            font.synthetic_bold = (EMBOLDENING, EMBOLDENING, False)

    def _extents(self) -> tuple[float, float]:
        """Above and below the base line, in parts of the size; nonsense is not followed."""
        extents = self._hb.get_font_extents("ltr")
        ascent, descent = extents.ascender / self.upem, -extents.descender / self.upem
        if not (0 < ascent <= 4 and 0 <= descent <= 4):
            return 0.8, 0.2
        return ascent, descent

    @property
    def is_colored(self) -> bool:
        """Whether it has glyphs in colours of their own."""
        return self.has_png or self.has_paint

    @property
    def harfbuzz(self) -> Any:
        """HarfBuzz's font, in units of the font. It must not be changed."""
        return self._hb

    @staticmethod
    def load(
        source: str | os.PathLike[str] | bytes | FontFace, weight: int = 400, italic: bool = False
    ) -> Font:
        """A font from a file, from a file's bytes, or of this machine by its family.

        The nearest weight of the family is taken; of a variable font exactly that one. ``sans-serif``,
        ``serif``, ``monospace`` and ``emoji`` are whichever of the usual families there is.
        """
        check_weight(weight)
        if isinstance(source, bytes | bytearray | memoryview):
            return Font(bytes(source), 0, weight, italic, "the bytes")
        if isinstance(source, FontFace):
            return _load_file(source.path, source.index, weight, italic)
        if not isinstance(source, str | os.PathLike):
            raise ArgumentError(
                f"expected a font's path, bytes or family, got {type(source).__name__}"
            )
        if isinstance(source, os.PathLike) or is_path(source):
            return _load_file(Path(source), 0, weight, italic)
        face = find_face(source, weight, italic)
        return _load_file(face.path, face.index, weight, italic)

    @staticmethod
    def default(weight: int = 400, italic: bool = False) -> Font:
        """The font that is always there: Noto Sans (Latin, Greek, Cyrillic; others fall back)."""
        check_weight(weight)
        file = "NotoSans-Bold.ttf" if weight >= BOLD else "NotoSans-Regular.ttf"
        return _load_file(CARRIED / file, 0, weight, italic)

    def styled(self, weight: int, italic: bool) -> Font:
        """The same font in another weight or slant: of its family if that has one, else made of this."""
        if (weight, italic) == (self.weight, self.italic):
            return self
        check_weight(weight)
        return self._restyle(weight, italic)

    def _restyle(self, weight: int, italic: bool) -> Font:
        if Path(self.name).parent == CARRIED:
            return Font.default(weight, italic)
        faces = [face for face in fonts() if face.family == self.family]
        if faces and Path(self.name).is_file():
            face = nearest(faces, weight, italic)
            return _load_file(face.path, face.index, weight, italic)
        key = (self.key, weight, bool(italic))
        return _restyled.get(key, lambda: Font(self._data, self._index, weight, italic, self.name))

    def has(self, text: str) -> bool:
        """Whether it has a glyph for each of these characters."""
        return all(self.covers(ord(char)) for char in text)

    def covers(self, code: int) -> bool:
        """Whether it has a glyph for a code point."""
        known = self._covered.get(code)
        if known is None:
            if len(self._covered) >= REMEMBERED:
                self._covered = {}
            known = self._covered[code] = self._hb.get_nominal_glyph(code) is not None
        return known

    def __repr__(self) -> str:
        return f"Font({self.family!r}, weight={self.weight}{', italic=True' * self.italic})"


def check_weight(weight: object) -> None:
    """Weights are 1 to 1000, as OpenType has them."""
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not number or not math.isfinite(weight) or not 1 <= weight <= 1000:  # type: ignore[arg-type, operator]
        raise ParameterError(
            f"a font's weight is 1 to 1000 (400 regular, 700 bold), got {weight!r}"
        )


def is_path(name: str) -> bool:
    """Whether a word names a font's file, not a family."""
    ending = os.path.splitext(name)[1].lower()
    return ending in (".ttf", ".otf", ".ttc", ".otc", ".woff", ".woff2") or os.sep in name


_loaded: OnceByKey[tuple[str, int, int, bool, int], Font] = OnceByKey(KEPT)
_restyled: OnceByKey[tuple[int, int, bool], Font] = OnceByKey(KEPT)


def _load_file(path: Path, index: int, weight: int, italic: bool) -> Font:
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0  # read_font says what is wrong
    key = (str(path), index, weight, bool(italic), changed)
    return _loaded.get(key, lambda: Font(read_font(path), index, weight, italic, str(path)))
