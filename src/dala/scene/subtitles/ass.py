"""Advanced SubStation Alpha (.ass, .ssa): sections, styles, events; the part of it that people use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dala.errors import SubtitleError
from dala.scene.subtitles.ass_overrides import Line, read_text
from dala.scene.subtitles.ass_styles import (
    NamedStyle,
    Script,
    placed,
    read_number,
    read_script,
    read_style,
)
from dala.scene.subtitles.cue import Cue, Cues
from dala.scene.subtitles.reading import MOST_CUES, MOST_TEXT, Problems, Source, read_lines
from dala.scene.subtitles.srt import clock_us

_CLOCK = re.compile(r"\s*(\d{1,4}):(\d{1,2}):(\d{1,2})[.:](\d{1,3})\s*")
_STYLE_FIELDS = {
    False: "name,fontname,fontsize,primarycolour,secondarycolour,outlinecolour,backcolour,bold,italic,"
    "underline,strikeout,scalex,scaley,spacing,angle,borderstyle,outline,shadow,alignment,marginl,"
    "marginr,marginv,encoding",
    True: "name,fontname,fontsize,primarycolour,secondarycolour,tertiarycolour,backcolour,bold,italic,"
    "borderstyle,outline,shadow,alignment,marginl,marginr,marginv,alphalevel,encoding",
}  # in files without a line "Format:"
_EVENT_FIELDS = "layer,start,end,style,name,marginl,marginr,marginv,effect,text"
MOST_STYLES = 2_000
EXPECTED = "expected 'Dialogue:' with times like 0:00:01.00"


@dataclass
class _File:
    """What is known so far; styles are read when all of ``[Script Info]`` is known."""

    info: dict[str, str] = field(default_factory=dict)
    style_lines: list[tuple[dict[str, str], bool]] = field(default_factory=list)
    events: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    old: bool = False
    problems: Problems = field(default_factory=Problems)


def parse_ass(source: Source, *, encoding: str | None = None) -> Cues:
    """The cues of an ASS or SSA file, with styles, places, movements, fades and karaoke.

    >>> from dala.scene.subtitles import parse_ass
    >>> cue = parse_ass('''[Script Info]
    ... PlayResX: 640
    ... PlayResY: 360
    ... [Events]
    ... Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{\\\\k50}ka{\\\\k50}ra''')[0]
    >>> [(run.text, run.begin_us, run.end_us) for run in cue.runs]
    [('ka', 0, 500000), ('ra', 500000, 1000000)]
    """
    file = _read_sections(read_lines(source, encoding))
    script = read_script(file.info)
    styles: dict[str, NamedStyle] = {}
    for fields, old in file.style_lines:
        styles[_style_name(fields.get("name", ""))] = read_style(fields, script, old=old)
    cues: list[Cue] = []
    ignored: set[str] = set()
    for number, fields in file.events:
        cue = _read_event(fields, script, styles, ignored)
        if cue is None:
            file.problems.add(number, f"{EXPECTED}, got {_said(fields)!r}")
        else:
            cues.append(cue)
    told = file.problems.told()
    if ignored:
        told.append("passed over: " + ", ".join(f"\\{name}" for name in sorted(ignored)))
    return Cues(cues, told)


def _read_sections(lines: list[str]) -> _File:
    file, section = _File(), ""
    formats: dict[str, list[str]] = {}
    seen = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            section, seen = text[1:-1].strip().lower(), True
            continue
        key, mark, value = text.partition(":")
        if not mark or text.startswith(";"):
            continue
        key = key.strip().lower()
        if section == "script info":
            file.info.setdefault(key[:100], value.strip()[:200])
        elif key == "format":
            formats[section] = [word.strip().lower() for word in value.split(",")[:64]]
        elif "styles" in section and key == "style":
            _take_style(file, value, formats.get(section), "+" not in section)
        elif section == "events" and key == "dialogue":
            names = formats.get(section) or _EVENT_FIELDS.split(",")
            file.events.append((number, _fields(names, value)))
            if len(file.events) > MOST_CUES:
                raise SubtitleError(f"subtitles have at most {MOST_CUES} cues")
    if not seen and any(line.strip() for line in lines):
        raise SubtitleError("these are no subtitles of ASS: expected sections like [Events]")
    return file


def _take_style(file: _File, value: str, names: list[str] | None, old: bool) -> None:
    if len(file.style_lines) < MOST_STYLES:
        chosen = names or _STYLE_FIELDS[old].split(",")
        file.style_lines.append((_fields(chosen, value), old))


def _fields(names: list[str], value: str) -> dict[str, str]:
    """The last one may hold commas."""
    return dict(zip(names, value.split(",", len(names) - 1), strict=False))


def _read_event(
    fields: Mapping[str, str],
    script: Script,
    styles: Mapping[str, NamedStyle],
    ignored: set[str],
) -> Cue | None:
    start, end = _time(fields.get("start", "")), _time(fields.get("end", ""))
    if start is None or end is None or end <= start or "text" not in fields:
        return None
    named = styles.get(_style_name(fields.get("style", ""))) or styles.get("default")
    named = named or read_style({}, script, old=False)
    own = [read_number(fields.get(key, "")) for key in ("marginl", "marginr", "marginv")]
    left, right, vertical = (a or b for a, b in zip(own, named.margins, strict=True))
    line = Line(script, styles, named, named.style, named.placement, end - start)
    read_text(line, fields["text"][:MOST_TEXT])
    ignored |= line.ignored
    return Cue(
        start,
        end,
        tuple(line.runs),
        line.place(placed(line.placement, (left, right, vertical), script)),
        voice=fields.get("name", fields.get("actor", "")).strip()[:200],
        layer=int(min(max(read_number(fields.get("layer", "")) or 0, -(2**31)), 2**31)),
        fade_us=line.fade_us,
    )


def _style_name(text: str) -> str:
    return text.strip().lstrip("*").lower()[:200]


def _said(fields: Mapping[str, str]) -> str:
    return ",".join(list(fields.values())[:4])[:60]


def _time(text: str) -> int | None:
    found = _CLOCK.fullmatch(text)
    return clock_us(*found.groups()) if found else None
