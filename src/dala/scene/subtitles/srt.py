"""SubRip (.srt): a number, two times, and lines of text until an empty line.

What people's files do is taken: no numbers, points for commas, empty lines within a text, ``{\\an8}``,
coordinates behind the times.
"""

from __future__ import annotations

import re

from dala.errors import SubtitleError
from dala.scene.subtitles.cue import Cue, Cues, Placement
from dala.scene.subtitles.markup import srt_runs
from dala.scene.subtitles.reading import (
    LONGEST_US,
    MOST_CUES,
    MOST_TEXT,
    Problems,
    Source,
    read_lines,
)

_CLOCK = r"(?:(\d{1,4})\s*:\s*)?(\d{1,2})\s*:\s*(\d{1,2})(?:\s*[,.]\s*(\d{1,9}))?"
_TIMES = re.compile(rf"\s*{_CLOCK}\s*-{{1,2}}>\s*{_CLOCK}(?:\s.*)?")
_ANCHOR = re.compile(r"\{\\an?(\d{1,2})[^{}]{0,200}\}")
_OVERRIDE = re.compile(r"\{\\[^{}]{0,500}\}")
EXPECTED = "expected times like 00:00:01,000 --> 00:00:02,500"


def parse_srt(source: Source, *, encoding: str | None = None) -> Cues:
    """The cues of a SubRip file: its text, its bytes, or a ``pathlib.Path``.

    Bytes are UTF-8 or what a byte-order mark says; ``encoding`` overrules it. A cue that cannot be read is
    left out and named in ``problems``; a text without any is a SubtitleError.

    >>> from dala.scene.subtitles import parse_srt
    >>> [(cue.start_us, cue.text) for cue in parse_srt("1\\n00:00:01,000 --> 00:00:02,000\\nHello")]
    [(1000000, 'Hello')]
    """
    lines = read_lines(source, encoding)
    problems = Problems()
    cues: list[Cue] = []
    number = 0
    while number < len(lines):
        if not _has_times(lines[number]):
            number += 1
            continue
        end = _end_of_text(lines, number + 1)
        cue = _read_cue(lines[number], lines[number + 1 : end])
        if cue is not None:
            cues.append(cue)
        elif _TIMES.fullmatch(lines[number]):
            problems.add(number + 1, f"it ends before it begins: {lines[number][:60]!r}")
        else:
            problems.add(number + 1, f"{EXPECTED}, got {lines[number][:60]!r}")
        number = end
        if len(cues) > MOST_CUES:
            raise SubtitleError(f"subtitles have at most {MOST_CUES} cues")
    if not cues and any(line.strip() for line in lines):
        raise SubtitleError(f"these are no subtitles of SubRip (.srt): {EXPECTED} in some line")
    return Cues(cues, problems.told())


def _end_of_text(lines: list[str], begin: int) -> int:
    """Where the next cue begins: at its times, or at the number before them."""
    number = begin
    while number < len(lines) and not _has_times(lines[number]):
        number += 1
    numbered = begin < number < len(lines) and lines[number - 1].strip().isdigit()
    return number - 1 if numbered else number


def _has_times(line: str) -> bool:
    """Whether a cue begins: an arrow that is too short is one if there are times on both sides."""
    return "-->" in line or ("->" in line and _TIMES.fullmatch(line) is not None)


def _read_cue(times: str, text: list[str]) -> Cue | None:
    found = _TIMES.fullmatch(times)
    if found is None:
        return None
    start, end = clock_us(*found.groups()[:4]), clock_us(*found.groups()[4:])
    if start is None or end is None or end <= start:
        return None
    words = "\n".join(line.strip() for line in text).strip()[:MOST_TEXT]
    placement = Placement()
    if anchor := _ANCHOR.search(words):
        legacy = anchor[0].startswith("{\\a") and not anchor[0].startswith("{\\an")
        placement = numpad(int(anchor[1]), legacy=legacy) or placement
    return Cue(start, end, srt_runs(_OVERRIDE.sub("", words)), placement)


def clock_us(
    hours: str | None, minutes: str | None, seconds: str | None, fraction: str | None
) -> int | None:
    """A clock's parts in microseconds; None where it is no time of a day, or beyond all films."""
    if int(minutes or 0) > 59 or int(seconds or 0) > 59:
        return None
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    time = whole * 1_000_000 + int((fraction or "0").ljust(6, "0")[:6])
    return time if time <= LONGEST_US else None


_OLD_ROWS = {0: 1.0, 4: 0.0, 8: 0.5}  # SSA's \a: 1..3 below, 5..7 above, 9..11 in the middle


def numpad(number: int, *, legacy: bool = False) -> Placement | None:
    """``\\an``: 1..9 as on a keyboard, 7 above left; None for no such key."""
    if legacy:
        column, row = (number & 3) - 1, _OLD_ROWS.get(number & 12)
        if not 0 <= column <= 2 or row is None:
            return None
    elif 1 <= number <= 9:
        column, row = (number - 1) % 3, (1.0, 0.5, 0.0)[(number - 1) // 3]
    else:
        return None
    across = column / 2
    edge = (0.05, 0.5, 0.95)[column]
    y, line = (0.5, -1) if row == 0.5 else (None, 0 if row == 0 else -1)
    align = ("left", "center", "right")[column]
    return Placement(x=edge, y=y, line=line, anchor=(across, row), align=align)  # type: ignore[arg-type]
