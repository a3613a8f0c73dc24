"""The tags of SRT and WebVTT as runs: bold, italic, colours, voices, classes, times of karaoke.

Unknown tags of SRT are shown as they are (people write "<3"); those of WebVTT are left out, as its
specification says.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dala.colors import NAMES
from dala.scene.subtitles.cue import PLAIN, Run, Style
from dala.scene.subtitles.reading import MOST_RUNS

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)((?:\.[^\s<>.]+)*)([^<>]*)>|<([\d:.]+)>")
_VALUE = r"(?:\"([^\"]{0,200})\"|'([^']{0,200})'|([^\s\"'>]{1,200}))"
_ATTRIBUTE = re.compile(rf"([A-Za-z-]{{1,20}})\s*=\s*{_VALUE}")
DEEPEST = 32  # tags within tags


@dataclass
class _Writer:
    """Runs in the making."""

    runs: list[Run] = field(default_factory=list)
    begin_us: int | None = None

    def write(self, text: str, style: Style) -> None:
        """Text in a style; what follows alike is one run."""
        if not text:
            return
        last = self.runs[-1] if self.runs else None
        alike = last is not None and (last.style, last.begin_us) == (style, self.begin_us)
        if last is not None and (alike or len(self.runs) >= MOST_RUNS):
            self.runs[-1] = replace(last, text=last.text + text)
        else:
            self.runs.append(Run(text, style, self.begin_us))


def srt_runs(text: str) -> tuple[Run, ...]:
    """``<b>``, ``<i>``, ``<u>``, ``<s>``, ``<font …>``; everything else is text."""
    return _runs(text, _srt_style, None, keep_unknown=True)


def vtt_runs(
    text: str,
    styles: Mapping[str, Callable[[Style], Style]],
    time_of: Callable[[str], int | None],
    end_us: int,
) -> tuple[Run, ...]:
    """WebVTT's tags; ``styles`` are what a file's CSS says of tags and ``.classes``."""

    def style_of(base: Style, name: str, classes: str, rest: str) -> Style | None:
        return _vtt_style(base, name, classes, rest, styles)

    runs = _runs(text, style_of, time_of, keep_unknown=False)
    return tuple(_with_ends(runs, end_us))


def voice_of(text: str) -> str:
    """Who speaks first."""
    found = re.search(r"<v(?:\.[^\s>]*)?\s+([^>]{1,200})>", text)
    return html.unescape(found[1]).strip() if found else ""


_StyleOf = Callable[[Style, str, str, str], "Style | None"]


def _runs(
    text: str,
    style_of: _StyleOf,
    time_of: Callable[[str], int | None] | None,
    *,
    keep_unknown: bool,
) -> tuple[Run, ...]:
    writer = _Writer()
    stack: list[tuple[str, Style]] = []
    style, place = PLAIN, 0
    for tag in _TAG.finditer(text):
        writer.write(html.unescape(text[place : tag.start()]), style)
        place = tag.end()
        closing, name, classes, rest, time = tag.groups()
        if time is not None:
            begin = None if time_of is None else time_of(time)
            if begin is not None:
                writer.begin_us = begin
            elif keep_unknown:
                writer.write(tag[0], style)
            continue
        name = name.lower()
        if closing:
            style = _close(stack, name, style)
            continue
        made = style_of(style, name, classes, rest)
        if made is None:
            writer.write(tag[0] if keep_unknown else "", style)
        elif len(stack) < DEEPEST:
            stack.append((name, style))
            style = made
    writer.write(html.unescape(text[place:]), style)
    return tuple(writer.runs)


def _close(stack: list[tuple[str, Style]], name: str, style: Style) -> Style:
    """The style before the tag that is closed; tags within it end, too."""
    for number in range(len(stack) - 1, -1, -1):
        if stack[number][0] == name:
            before = stack[number][1]
            del stack[number:]
            return before
    return style


_PLAIN_TAGS: dict[str, Callable[[Style], Style]] = {
    "b": lambda style: replace(style, bold=True),
    "i": lambda style: replace(style, italic=True),
    "u": lambda style: replace(style, underline=True),
    "s": lambda style: replace(style, strike=True),
}


def _srt_style(base: Style, name: str, classes: str, rest: str) -> Style | None:
    if name in _PLAIN_TAGS and not classes and not rest.strip():
        return _PLAIN_TAGS[name](base)
    if name != "font":
        return None
    found = {m[1].lower(): m[2] or m[3] or m[4] or "" for m in _ATTRIBUTE.finditer(rest)}
    color = read_color(found.get("color", ""))
    face = found.get("face")
    return replace(base, color=color or base.color, font=face or base.font)


def _vtt_style(
    base: Style,
    name: str,
    classes: str,
    rest: str,
    styles: Mapping[str, Callable[[Style], Style]],
) -> Style | None:
    if name not in ("c", "i", "b", "u", "v", "lang", "ruby", "rt"):
        return None
    style = _PLAIN_TAGS[name](base) if name in _PLAIN_TAGS else base
    if name == "rt":
        style = replace(style, scale=style.scale * 0.5)
    if name == "lang" and re.fullmatch(r"[A-Za-z0-9-]{2,35}", rest.strip()):
        style = replace(style, language=rest.strip())
    for word in classes.split(".")[1:]:
        style = _class_color(style, word.lower())
    keys = [name, *(f".{word}" for word in classes.split(".")[1:])]
    if name == "v":
        keys.append(f"v={html.unescape(rest).strip()}")
    for key in keys:
        if key in styles:
            style = styles[key](style)
    return style


def _class_color(style: Style, word: str) -> Style:
    """The classes that every player knows: white, lime, cyan, red, yellow, magenta, blue, black, bg_…"""
    known = ("white", "lime", "cyan", "red", "yellow", "magenta", "blue", "black")
    if word in known:
        return replace(style, color=NAMES[word])
    if word.startswith("bg_") and word[3:] in known:
        return replace(style, box=NAMES[word[3:]])
    return style


def _with_ends(runs: tuple[Run, ...], end_us: int) -> Iterator[Run]:
    """A part is sung until the next one begins."""
    begins = [run.begin_us for run in runs]
    for number, run in enumerate(runs):
        if run.begin_us is None:
            yield run
            continue
        later = (b for b in begins[number + 1 :] if b is not None and b > run.begin_us)
        yield replace(run, end_us=max(next(later, end_us), run.begin_us))


def read_color(word: str) -> bytes | None:
    """``red``, ``#f00``, ``#ff0000``, ``ff0000``, ``rgb(…)``, ``rgba(…)``; None for anything else."""
    word = word.strip().lower()[:60]
    if word in NAMES:
        return bytes([0, 128, 0, 255]) if word == "green" else NAMES[word]  # as CSS has it
    digits = word.removeprefix("#")
    if re.fullmatch(r"[0-9a-f]{3,4}", digits) and word.startswith("#"):
        digits = "".join(2 * digit for digit in digits)
    if re.fullmatch(r"[0-9a-f]{6}([0-9a-f]{2})?", digits):
        return bytes.fromhex(digits.ljust(8, "f"))
    if found := re.fullmatch(r"rgba?\(([^)]*)\)", word):
        return _functional(found[1])
    return None


def _functional(inside: str) -> bytes | None:
    parts = [part for part in re.split(r"[\s,/]+", inside.strip()) if part]
    try:
        levels = [float(p[:-1]) * 2.55 if p.endswith("%") else float(p) for p in parts[:3]]
        alpha = parts[3] if len(parts) > 3 else "1"
        share = float(alpha[:-1]) / 100 if alpha.endswith("%") else float(alpha)
        if len(levels) != 3:
            return None
        return bytes(round(min(max(level, 0), 255)) for level in (*levels, 255 * share))
    except ValueError:
        return None
