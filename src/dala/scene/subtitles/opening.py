"""Subtitles of any of the three kinds, from a file, a text or cues; their content says which they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from dala.errors import ArgumentError, SubtitleError
from dala.scene.subtitles.ass import parse_ass
from dala.scene.subtitles.cue import Cue, Cues
from dala.scene.subtitles.reading import read_lines
from dala.scene.subtitles.srt import parse_srt
from dala.scene.subtitles.vtt import parse_vtt

_SECTION = re.compile(r"^\s*\[(script info|v4\+? styles|events)\]", re.IGNORECASE | re.MULTILINE)


def is_text(given: str) -> bool:
    """Whether it is subtitles themselves and no path: a path has one line.

    >>> from dala.scene.subtitles.opening import is_text
    >>> is_text("film.srt"), is_text("1\\n00:00:01,000 --> 00:00:02,000\\nHello")
    (False, True)
    """
    return "\n" in given or "\r" in given


def read_subtitles(source: object) -> Cues:
    """Cues of a path, of a text of more than one line, of bytes, or the cues that one has.

    >>> from dala.scene.subtitles.opening import read_subtitles
    >>> read_subtitles("WEBVTT\\n\\n00:01.000 --> 00:02.000\\nHello")[0].text
    'Hello'
    """
    if isinstance(source, str | bytes | os.PathLike):
        path = None if isinstance(source, bytes) or _holds_text(source) else Path(source)
        text = "\n".join(read_lines(source if path is None else path, None))
        cues = _parser(text)(text)
        if cues.problems and not cues:
            raise SubtitleError(f"{path or 'subtitles'}: no cue can be read: {cues.problems[0]}")
        return cues
    if isinstance(source, Cues):
        return source
    given = list(source) if isinstance(source, list | tuple) else []
    if not given or not all(isinstance(cue, Cue) for cue in given):
        raise ArgumentError(
            f"expected a path of subtitles, their text, or cues as parse_srt gives them; got {source!r}"
        )
    return Cues(given)


def _holds_text(source: str | os.PathLike[str]) -> bool:
    return isinstance(source, str) and is_text(source)


def _parser(text: str) -> Callable[[str], Cues]:
    if text.lstrip().startswith("WEBVTT"):
        return parse_vtt
    return parse_ass if _SECTION.search(text) else parse_srt
