"""What a caller writes, as text and styles: one string, and which style holds from where to where."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from dala.colors import rgba
from dala.errors import ArgumentError, ParameterError, suggest
from dala.text.font import Font
from dala.text.system import FontFace

FontSource: TypeAlias = "Font | str | os.PathLike[str] | bytes | FontFace"
FontLike: TypeAlias = "FontSource | Sequence[FontSource] | None"
Features: TypeAlias = "Mapping[str, int | bool] | Sequence[str] | None"
Text: TypeAlias = "str | Sequence[tuple[str, Mapping[str, Any]]]"

LONGEST = 65_536  # characters of a layout
SMALLEST, LARGEST = 1.0, 2048.0  # sizes
_TAG = re.compile(r"[+-]?[A-Za-z0-9]{4}(=\d+)?")
KEYS = ("font", "size", "color", "weight", "italic", "features", "letter_spacing", "language")


@dataclass(frozen=True, slots=True)
class Style:
    """How a part of a text looks."""

    fonts: tuple[Font, ...]  # the first that has a character shows it; then those of the machine
    size: float
    color: bytes | None  # RGBA; nothing: the colour that is drawn with
    features: tuple[tuple[str, int], ...]
    letter_spacing: float
    language: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """A text, and its styles by where each begins."""

    text: str
    starts: tuple[int, ...]
    styles: tuple[Style, ...]

    def style_numbers(self) -> list[int]:
        """For each character which style it has."""
        ends = (*self.starts[1:], len(self.text))
        spans = zip(self.starts, ends, strict=True)
        return [n for n, (start, end) in enumerate(spans) for _ in range(end - start)]


def read_source(text: object, base: Style) -> Source:
    """A string, or runs of ``(text, {style})``."""
    if isinstance(text, str):
        parts: list[tuple[str, Style]] = [(text, base)]
    elif isinstance(text, list | tuple):
        parts = [_read_run(run, base) for run in text]
    else:
        raise ArgumentError(f"expected text or a list of (text, style), got {type(text).__name__}")
    whole = "".join(part for part, _ in parts)
    if len(whole) > LONGEST:
        raise ParameterError(f"a layout has at most {LONGEST} characters, got {len(whole)}")
    starts, styles, place = [0], [base], 0
    for part, style in parts:
        if part and place == 0:
            starts, styles = [0], [style]
        elif part and style != styles[-1]:
            starts.append(place)
            styles.append(style)
        place += len(part)
    return Source(whole, tuple(starts), tuple(styles))


def _read_run(run: object, base: Style) -> tuple[str, Style]:
    if isinstance(run, str):
        return run, base
    if (
        not isinstance(run, list | tuple)
        or len(run) != 2
        or not isinstance(run[0], str)
        or not isinstance(run[1], Mapping)
    ):
        raise ArgumentError(
            f"a run is (text, style), e.g. ('gold', {{'color': 'gold'}}), got {run!r}"
        )
    text, changes = run
    for key in changes:
        if key not in KEYS:
            raise ParameterError(
                f"a run's style has no {key!r}{suggest(str(key), KEYS)}; there are {', '.join(KEYS)}"
            )
    return text, _change(base, dict(changes))


def _change(base: Style, changes: dict[str, Any]) -> Style:
    style = base
    if "font" in changes or "weight" in changes or "italic" in changes:
        font = changes.get("font")
        chosen = font if font is not None else list(base.fonts)
        style = replace(
            style, fonts=read_fonts(chosen, changes.get("weight"), changes.get("italic"))
        )
    if "size" in changes:
        style = replace(style, size=check_size(changes["size"]))
    if changes.get("color") is not None:
        style = replace(style, color=rgba(changes["color"]))
    if "features" in changes:
        style = replace(style, features=read_features(changes["features"]))
    if "letter_spacing" in changes:
        style = replace(
            style, letter_spacing=check_number(changes["letter_spacing"], "letter_spacing")
        )
    if "language" in changes:
        style = replace(style, language=check_language(changes["language"]))
    return style


def read_fonts(
    font: Any, weight: int | None = None, italic: bool | None = None
) -> tuple[Font, ...]:
    """One font or several, in the order they are tried; a weight or slant that is not given stays."""
    if isinstance(font, Font):
        return (font.styled(weight or font.weight, font.italic if italic is None else italic),)
    weight, italic = weight or 400, bool(italic)
    if font is None:
        return (Font.default(weight, italic),)
    if isinstance(font, list | tuple):
        if not font:
            raise ParameterError("a list of fonts has at least one; leave it out for the default")
        return tuple(found for one in font for found in read_fonts(one, weight, italic))
    return (Font.load(font, weight, italic),)


def read_features(features: Features) -> tuple[tuple[str, int], ...]:
    """``{"liga": False}`` or ``["-liga", "ss01"]`` as tags and values."""
    if features is None:
        return ()
    if isinstance(features, str) or not isinstance(features, Mapping | list | tuple):
        raise ArgumentError(f"features are a dict or a list of tags, got {features!r}")
    found: list[tuple[str, int]] = []
    pairs = (
        features.items() if isinstance(features, Mapping) else ((word, None) for word in features)
    )
    for tag, value in pairs:
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            raise ParameterError(f"a feature is a tag of four letters like 'liga', got {tag!r}")
        name, _, number = tag.lstrip("+-").partition("=")
        chosen = int(number or not tag.startswith("-")) if value is None else int(value)
        if not 0 <= chosen < 1 << 16:
            raise ParameterError(f"a feature's value is 0 to 65535, got {chosen} for {name!r}")
        found.append((name, chosen))
    return tuple(found)


def check_size(size: object) -> float:
    """A size in pixels."""
    number = check_number(size, "size")
    if not SMALLEST <= number <= LARGEST:
        raise ParameterError(f"size is {SMALLEST:g} to {LARGEST:g} pixels, got {size!r}")
    return number


def check_number(value: object, name: str, least: float = -1e6, most: float = 1e6) -> float:
    """A finite number within bounds."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise ArgumentError(f"{name} is a number, got {value!r}")
    number = float(value)
    if not math.isfinite(number) or not least <= number <= most:
        raise ParameterError(f"{name} is a number from {least:g} to {most:g}, got {value!r}")
    return number


def check_language(language: object) -> str | None:
    """A BCP 47 tag."""
    if language is None:
        return None
    if not isinstance(language, str) or not re.fullmatch(r"[A-Za-z0-9-]{2,35}", language):
        raise ParameterError(f"a language is a tag like 'ja' or 'zh-Hant', got {language!r}")
    return language
