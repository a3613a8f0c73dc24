"""The overrides of ASS: ``{\\b1\\c&HFF&\\k20}`` within a text.

Understood: b i u s fn fs fscx fscy fsp c 1c 2c 3c 4c alpha 1a 2a 3a 4a bord shad r an a pos move fad fade
frz k K kf ko, and ``\\N``, ``\\n``, ``\\h``. Drawings (``\\p``) show nothing. All others, animations
(``\\t``) and clips among them, are passed over; the file's ``problems`` name them once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from dala.scene.subtitles.ass_styles import (
    NamedStyle,
    Script,
    read_ass_color,
    read_number,
)
from dala.scene.subtitles.cue import Karaoke, Movement, Placement, Run, Style
from dala.scene.subtitles.reading import LONGEST_US, MOST_RUNS
from dala.scene.subtitles.srt import numpad

_BLOCK = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(
    r"\\(fscx|fscy|fsp|fs|fn|frz|fr|fade|fad|bord|xbord|ybord|shad|xshad|yshad|alpha|[1-4]c|[1-4]a|pos|move"
    r"|org|iclip|clip|blur|be|an|a|pbo|p|kf|ko|K|k|q|r|t|b|i|u|s|c|fax|fay|frx|fry|fe)"
)


@dataclass
class Line:
    """An event's text while it is read."""

    script: Script
    styles: Mapping[str, NamedStyle]
    named: NamedStyle
    style: Style
    placement: Placement
    length_us: int
    runs: list[Run] = field(default_factory=list)
    fade_us: tuple[int, int] = (0, 0)
    ignored: set[str] = field(default_factory=set)
    drawing: bool = False
    sung_us: int = 0  # how far karaoke is
    turn: tuple[int, int, Karaoke] | None = None  # of the syllable that comes
    point: tuple[float, float] | None = None  # where \pos or \move put it
    movement: Movement | None = None

    def place(self, usual: Placement) -> Placement:
        """Where it is: at its own point, or at the usual edge."""
        if self.point is None:
            return usual
        x, y = self.point
        return replace(usual, x=x, y=y, movement=self.movement)


def read_text(line: Line, text: str) -> None:
    """The runs of a text, and what its overrides say of the whole."""
    place = 0
    for block in _BLOCK.finditer(text):
        _write(line, text[place : block.start()])
        _read_block(line, block[1])
        place = block.end()
    _write(line, text[place:])


def _write(line: Line, text: str) -> None:
    if not text or line.drawing or len(line.runs) >= MOST_RUNS:
        return
    text = text.replace("\\N", "\n").replace("\\n", " ").replace("\\h", "\u00a0")
    begin, end, kind = line.turn or (None, None, "switch")
    line.runs.append(Run(text, line.style, begin, end, kind))


def _read_block(line: Line, block: str) -> None:
    place = 0
    while found := _NAME.search(block, place):
        name, place = found[1], found.end()
        if place < len(block) and block[place] == "(":
            close = block.find(")", place)
            if name == "t" or close < 0:  # an animation's own overrides are within its brackets
                close = block.rfind(")")
            close = close if close > place else len(block)
            argument, place = block[place + 1 : close], close + 1
        else:
            end = block.find("\\", place)
            end = len(block) if end < 0 else end
            argument, place = block[place:end].strip(), end
        if name in _CHANGES:
            _CHANGES[name](line, argument[:500])
        elif name not in ("q", "be"):
            line.ignored.add(name)


# -- what each does ------------------------------------------------------------------------------------


def _set(line: Line, **changes: object) -> None:
    line.style = replace(line.style, **changes)  # type: ignore[arg-type]


def _flag(name: str) -> Callable[[Line, str], None]:
    def change(line: Line, text: str) -> None:
        number = read_number(text)
        own = getattr(line.named.style, name)
        _set(line, **{name: own if number is None else bool(number)})

    return change


def _length(name: str, least: float = 0.0) -> Callable[[Line, str], None]:
    def change(line: Line, text: str) -> None:
        number = read_number(text)
        own = getattr(line.named.style, name)
        value = own if number is None else max(number, least) / line.script.height
        _set(line, **{name: value})

    return change


def _size(line: Line, text: str) -> None:
    number, own = read_number(text), line.named.style.size
    if number is None or number <= 0:
        _set(line, size=own)
    elif text[:1] in "+-":  # tenths more or less
        _set(line, size=(line.style.size or 0.0) * max(1 + number / 10, 0.1))
    else:
        _set(line, size=number / line.script.height)


def _scale(line: Line, text: str) -> None:
    number = read_number(text)
    _set(line, scale=1.0 if number is None else min(max(number / 100, 0.05), 20.0))


_PAINTS = ("color", "unsung", "outline_color", "shadow_color")


def _color(name: str) -> Callable[[Line, str], None]:
    def change(line: Line, text: str) -> None:
        given = read_ass_color(text)
        own = getattr(line.named.style, name)
        before = getattr(line.style, name) or b"\xff\xff\xff\xff"
        _set(line, **{name: own if given is None else given[:3] + before[3:]})

    return change


def _alpha(*names: str) -> Callable[[Line, str], None]:
    def change(line: Line, text: str) -> None:
        given = read_ass_color(text)
        for name in names:
            before = getattr(line.style, name) or b"\xff\xff\xff\xff"
            own = getattr(line.named.style, name)
            opacity = 255 - given[0] if given is not None else (own or b"\xff" * 4)[3]
            _set(line, **{name: before[:3] + bytes((opacity,))})

    return change


def _font(line: Line, text: str) -> None:
    _set(line, font=text.lstrip("@")[:100] or line.named.style.font)


def _reset(line: Line, text: str) -> None:
    found = line.styles.get(text.strip().lstrip("*").lower()) if text else line.named
    line.style = (found or line.named).style


def _anchor(legacy: bool) -> Callable[[Line, str], None]:
    def change(line: Line, text: str) -> None:
        number = read_number(text)
        found = None if number is None else numpad(int(number), legacy=legacy)
        if found is not None:
            line.placement = replace(found, rotation=line.placement.rotation)

    return change


def _numbers(text: str) -> list[float]:
    found = [read_number(part) for part in text.split(",")[:16]]
    return [] if None in found else [n for n in found if n is not None]


def _position(line: Line, text: str) -> None:
    numbers = _numbers(text)
    if len(numbers) == 2:
        line.point = numbers[0] / line.script.width, numbers[1] / line.script.height
        line.movement = None


def _move(line: Line, text: str) -> None:
    numbers = _numbers(text)
    if len(numbers) not in (4, 6):
        return
    wide, high = line.script.width, line.script.height
    begin, end = (round(n * 1000) for n in numbers[4:]) if len(numbers) == 6 else (0, 0)
    if end <= begin:
        begin, end = 0, line.length_us
    line.movement = Movement(numbers[2] / wide, numbers[3] / high, begin, end)
    line.point = numbers[0] / wide, numbers[1] / high


def _fade(line: Line, text: str) -> None:
    numbers = [min(max(round(n * 1000), 0), LONGEST_US) for n in _numbers(text)]
    if len(numbers) == 2:
        line.fade_us = (numbers[0], numbers[1])


def _fade_long(line: Line, text: str) -> None:
    """``\\fade(a1,a2,a3,t1,t2,t3,t4)``: only from nothing to all and back, which is what people write."""
    numbers = _numbers(text)
    if len(numbers) == 7:
        times = [round(n * 1000) for n in numbers[3:]]
        line.fade_us = (max(times[1] - times[0], 0), max(times[3] - times[2], 0))
    else:
        _fade(line, text)


def _rotate(line: Line, text: str) -> None:
    number = read_number(text)
    own = line.named.placement.rotation
    line.placement = replace(line.placement, rotation=own if number is None else number)


def _sing(kind: Karaoke) -> Callable[[Line, str], None]:
    def change(line: Line, text: str) -> None:
        number = read_number(text)
        begin = line.sung_us
        hundredths = min(max(number or 0.0, 0.0), 360_000.0)
        line.sung_us = min(begin + round(hundredths * 10_000), LONGEST_US)
        line.turn = (begin, line.sung_us, kind)

    return change


def _draw(line: Line, text: str) -> None:
    line.drawing = bool(read_number(text))


_CHANGES: dict[str, Callable[[Line, str], None]] = {
    "b": _flag("bold"), "i": _flag("italic"), "u": _flag("underline"), "s": _flag("strike"),
    "fn": _font, "fs": _size, "fscx": _scale, "fscy": _scale, "fsp": _length("letter_spacing", -1e4),
    "c": _color("color"), "1c": _color("color"), "2c": _color("unsung"),
    "3c": _color("outline_color"), "4c": _color("shadow_color"),
    "alpha": _alpha(*_PAINTS), "1a": _alpha("color"), "2a": _alpha("unsung"),
    "3a": _alpha("outline_color"), "4a": _alpha("shadow_color"),
    "bord": _length("outline"), "shad": _length("shadow"), "r": _reset,
    "an": _anchor(legacy=False), "a": _anchor(legacy=True), "pos": _position, "move": _move,
    "fad": _fade, "fade": _fade_long, "frz": _rotate, "fr": _rotate,
    "k": _sing("switch"), "K": _sing("sweep"), "kf": _sing("sweep"), "ko": _sing("outline"),
    "p": _draw,
}  # fmt: skip
