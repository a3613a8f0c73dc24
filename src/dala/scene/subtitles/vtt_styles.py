"""The CSS of WebVTT's STYLE blocks, as far as players follow it: colours, weight, slant, lines, size."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from dala.scene.subtitles.cue import Style
from dala.scene.subtitles.markup import read_color

Change = Callable[[Style], Style]
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,4000})\}")
_SELECTOR = re.compile(
    r"::cue(?:\(\s*(?:(?P<tag>[a-z]+)?(?P<class>\.[\w-]+)?(?:\[voice=[\"']?(?P<voice>[^\"'\]]+)[\"']?\])?)\s*\))?"
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIZE = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)(%|em)")
MOST_RULES = 500


def read_styles(text: str) -> dict[str, Change]:
    """Changes by ``""`` (all cues), ``b``, ``.class`` and ``v=name``; unknown selectors are passed over."""
    found: dict[str, Change] = {}
    for number, rule in enumerate(_RULE.finditer(_COMMENT.sub(" ", text))):
        if number >= MOST_RULES:
            break
        change = _read_rule(rule[2])
        for selector in rule[1].split(","):
            if key := _key_of(selector.strip()):
                found[key[0]] = _joined(found.get(key[0]), change)
    return found


def _key_of(selector: str) -> tuple[str] | None:
    said = _SELECTOR.fullmatch(selector)
    if said is None:
        return None
    if said["voice"]:
        return (f"v={said['voice']}",)
    return (said["class"] or said["tag"] or "",)


def _joined(first: Change | None, second: Change) -> Change:
    return second if first is None else lambda style: second(first(style))


def _read_rule(text: str) -> Change:
    changes: list[Change] = []
    for part in text.split(";")[:64]:
        name, mark, value = part.partition(":")
        change = _declaration(name.strip().lower(), value.strip().lower()) if mark else None
        if change is not None:
            changes.append(change)

    def change_all(style: Style) -> Style:
        for one in changes:
            style = one(style)
        return style

    return change_all


def _declaration(name: str, value: str) -> Change | None:
    if name == "color" and (color := read_color(value)):
        return lambda style: replace(style, color=color)
    if name in ("background-color", "background") and (box := read_color(value)):
        return lambda style: replace(style, box=box)
    if name == "font-weight":
        bold = value == "bold" or (value.isdigit() and int(value[:5]) >= 600)
        return lambda style: replace(style, bold=bold)
    if name == "font-style":
        return lambda style: replace(style, italic=value in ("italic", "oblique"))
    if name == "text-decoration":
        under, through = "underline" in value, "line-through" in value
        return lambda style: replace(style, underline=under, strike=through)
    if name == "font-family" and value:
        family = value.split(",")[0].strip("'\" ")[:100]
        return lambda style: replace(style, font=family)
    if name == "font-size" and (size := _SIZE.fullmatch(value)):
        scale = float(size[1]) / (100 if size[2] == "%" else 1)
        return lambda style: replace(style, scale=min(max(scale, 0.1), 10.0))
    return None
