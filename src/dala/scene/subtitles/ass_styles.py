"""The styles of an ASS file: its ``[V4+ Styles]``, in pixels of the script, as shares of the picture."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dala.scene.subtitles.cue import Placement, Style
from dala.scene.subtitles.srt import numpad

SIZE = (384, 288)  # of a script that does not say, as in SubStation Alpha
_COLOR = re.compile(r"(?:&?[Hh])?([0-9A-Fa-f]{1,8})&?")
_NUMBER = re.compile(r"\s*([+-]?\d{1,7}(?:\.\d{0,6})?|[+-]?\.\d{1,6})\s*")


@dataclass(frozen=True, slots=True)
class Script:
    """What holds for the whole file."""

    width: int = SIZE[0]
    height: int = SIZE[1]


@dataclass(frozen=True, slots=True)
class NamedStyle:
    """A style, and where its cues are."""

    style: Style
    placement: Placement
    margins: tuple[float, float, float]  # left, right, vertical; pixels of the script


def read_script(fields: Mapping[str, str]) -> Script:
    """From ``[Script Info]``; of two sizes one may be left out."""
    width, height = (_whole(fields.get(key, "")) for key in ("playresx", "playresy"))
    if width and not height:
        height = max(1, width * 3 // 4)
    if height and not width:
        width = max(1, height * 4 // 3)
    return Script(width or SIZE[0], height or SIZE[1])


def read_style(fields: Mapping[str, str], script: Script, *, old: bool) -> NamedStyle:
    """From one line ``Style:`` whose fields are known by name."""
    number = {key: read_number(value) for key, value in fields.items()}
    high = script.height
    boxed = number.get("borderstyle") == 3
    color = {key: read_ass_color(fields.get(key, "")) for key in _COLORS}
    outline = max(number.get("outline") or 0.0, 0.0) / high
    back = color["backcolour"] or b"\0\0\0\xff"
    edge = color["outlinecolour"] or color["tertiarycolour"] or b"\0\0\0\xff"
    style = Style(
        font=fields.get("fontname", "").strip().lstrip("@")[:100] or None,
        size=max(number.get("fontsize") or 18.0, 0.0) / high,
        bold=bool(number.get("bold")),
        italic=bool(number.get("italic")),
        underline=bool(number.get("underline")),
        strike=bool(number.get("strikeout")),
        color=color["primarycolour"],
        unsung=color["secondarycolour"],
        outline_color=edge,
        outline=0.0 if boxed else outline,
        shadow_color=back,
        shadow=0.0 if boxed else max(number.get("shadow") or 0.0, 0.0) / high,
        box=edge if boxed else None,
        letter_spacing=(number.get("spacing") or 0.0) / high,
    )
    placement = numpad(int(number.get("alignment") or 2), legacy=old) or numpad(2)
    assert placement is not None
    placement = replace(placement, rotation=number.get("angle") or 0.0)
    margins = tuple(max(number.get(key) or 0.0, 0.0) for key in ("marginl", "marginr", "marginv"))
    return NamedStyle(style, placement, margins)  # type: ignore[arg-type]


_COLORS = ("primarycolour", "secondarycolour", "outlinecolour", "tertiarycolour", "backcolour")


def placed(placement: Placement, margins: tuple[float, float, float], script: Script) -> Placement:
    """With margins in pixels of the script."""
    left, right, vertical = margins
    wide = script.width
    across = placement.anchor[0]
    room = max((wide - left - right) / wide, 0.01)
    x = left / wide + across * room
    return replace(placement, x=x, width=min(room, 1.0), margin=min(vertical / script.height, 0.95))


def read_ass_color(text: str) -> bytes | None:
    """``&HAABBGGRR``: alpha counts from opaque (00) on; decimal in the oldest files."""
    text = text.strip()
    if re.fullmatch(r"-?\d{1,10}", text) and not text.startswith("0"):
        value = int(text) & 0xFFFFFFFF
    elif found := _COLOR.fullmatch(text):
        value = int(found[1], 16)
    else:
        return None
    alpha, blue, green, red = value.to_bytes(4, "big")
    return bytes((red, green, blue, 255 - alpha))


def read_number(text: str) -> float | None:
    """A number, or None."""
    found = _NUMBER.fullmatch(text)
    return float(found[1]) if found else None


def _whole(text: str) -> int | None:
    number = read_number(text)
    return int(number) if number is not None and 1 <= number <= 65_535 else None
