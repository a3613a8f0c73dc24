"""WebVTT (.vtt): a header, blocks between empty lines: NOTE, STYLE, REGION, cues."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from dala.errors import SubtitleError
from dala.scene.subtitles.cue import PLAIN, Cue, Cues, Style
from dala.scene.subtitles.markup import voice_of, vtt_runs
from dala.scene.subtitles.reading import MOST_CUES, MOST_TEXT, Problems, Source, read_lines
from dala.scene.subtitles.srt import clock_us
from dala.scene.subtitles.vtt_settings import Region, read_region, read_settings
from dala.scene.subtitles.vtt_styles import Change, read_styles

_CLOCK = re.compile(r"(?:(\d{2,4}):)?([0-5]\d):([0-5]\d)\.(\d{3})")
EXPECTED = "expected times like 00:01.000 --> 00:02.500"


@dataclass
class _File:
    """What is known so far."""

    styles: dict[str, Change] = field(default_factory=dict)
    regions: dict[str, Region] = field(default_factory=dict)
    cues: list[Cue] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)


def parse_vtt(source: Source, *, encoding: str | None = None) -> Cues:
    """The cues of a WebVTT file, with their places, voices, styles and times within.

    A cue that cannot be read is left out and named in ``problems``. A text that does not begin with
    ``WEBVTT`` is a SubtitleError.

    >>> from dala.scene.subtitles import parse_vtt
    >>> cue = parse_vtt("WEBVTT\\n\\n00:01.000 --> 00:02.000 line:0 align:left\\n<v Ann>Hi")[0]
    >>> cue.voice, cue.text, cue.placement.line, cue.placement.align
    ('Ann', 'Hi', 0, 'left')
    """
    lines = read_lines(source, encoding)
    if not re.match(r"WEBVTT(?:[ \t]|$)", lines[0]):
        raise SubtitleError(
            f"WebVTT begins with a line WEBVTT, got {lines[0][:40]!r}; parse_srt reads SubRip"
        )
    file = _File()
    for number, block in _blocks(lines):
        _read_block(file, number, block)
        if len(file.cues) > MOST_CUES:
            raise SubtitleError(f"subtitles have at most {MOST_CUES} cues")
    return Cues(file.cues, file.problems.told())


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines between empty ones, with the number of the first; times begin a block of their own."""
    block: list[str] = []
    for number, line in enumerate([*lines[1:], ""], 2):
        begins_anew = "-->" in line and any("-->" in before for before in block)
        if block and (not line.strip() or begins_anew):
            yield number - len(block), block
            block = []
        if line.strip():
            block.append(line)


def _read_block(file: _File, number: int, block: list[str]) -> None:
    arrow = next((n for n, line in enumerate(block[:2]) if "-->" in line), None)
    if arrow is not None:
        _read_cue(file, number + arrow, block[0] if arrow else "", block[arrow:])
        return
    head = block[0].strip()
    if head == "STYLE" and not file.cues:
        file.styles |= read_styles("\n".join(block[1:]))
    elif head == "REGION" and not file.cues:
        name, region = read_region("\n".join(block[1:]))
        file.regions[name] = region
    elif not re.match(r"(NOTE|STYLE|REGION|X-TIMESTAMP-MAP)\b", head) and number > 2:
        file.problems.add(number, f"{EXPECTED}, got {head[:60]!r}")


def _read_cue(file: _File, number: int, name: str, block: list[str]) -> None:
    start, _, rest = block[0].partition("-->")
    words = rest.split(None, 1)
    begin, end = time_us(start), time_us(words[0] if words else "")
    if begin is None or end is None:
        return file.problems.add(number, f"{EXPECTED}, got {block[0][:60]!r}")
    if end <= begin:
        return file.problems.add(number, f"it ends before it begins: {block[0][:60]!r}")
    text = "\n".join(block[1:])[:MOST_TEXT]
    runs = vtt_runs(text, file.styles, _since(begin, end), end - begin)
    if "" in file.styles:
        runs = tuple(replace(run, style=_over(file.styles[""], run.style)) for run in runs)
    placement = read_settings(words[1] if len(words) > 1 else "", file.regions)
    file.cues.append(Cue(begin, end, runs, placement, name.strip()[:200], voice_of(text)))
    return None


def _since(begin: int, end: int) -> Callable[[str], int | None]:
    """Times within a cue, counted from its start; others are none."""

    def since(text: str) -> int | None:
        time = time_us(text)
        return None if time is None or not begin <= time <= end else time - begin

    return since


def _over(change: Change, style: Style) -> Style:
    """What holds for all cues, below what a part of one says of itself."""
    base = change(PLAIN)
    changed = {
        name: getattr(style, name)
        for name in Style.__dataclass_fields__
        if getattr(style, name) != getattr(PLAIN, name)
    }
    return replace(base, **changed)


def time_us(text: str) -> int | None:
    """``00:01.000`` or ``01:00:01.000`` in microseconds."""
    found = _CLOCK.fullmatch(text.strip())
    return clock_us(*found.groups()) if found else None
