"""From a user's bytes to lines: encodings, byte-order marks, line ends; and how much is read at most."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import TypeAlias

from dala.errors import ArgumentError, SubtitleError

Source: TypeAlias = "str | bytes | os.PathLike[str]"
MOST_BYTES = 64 << 20
MOST_CUES = 200_000
MOST_TEXT = 4_000  # characters of one cue: more than any screen shows
MOST_RUNS = 512  # parts of one cue
MOST_PROBLEMS = 100
LONGEST_US = 1000 * 3_600_000_000  # 1,000 hours
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16's, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Problems:
    """What was left out of a file, in lines that can be read; no more of them than anybody reads."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._more = 0

    def add(self, line: int, what: str) -> None:
        """A problem in that line of the file."""
        if len(self.lines) < MOST_PROBLEMS:
            self.lines.append(f"line {line}: {what}")
        else:
            self._more += 1

    def told(self) -> list[str]:
        """All of them."""
        return self.lines + ([f"and {self._more} more"] if self._more else [])


def read_lines(source: Source, encoding: str | None) -> list[str]:
    """The lines of a text, of bytes, or of a file; a str is always the text itself."""
    if isinstance(source, os.PathLike):
        source = _read_file(Path(source))
    if isinstance(source, bytes | bytearray | memoryview):
        text = _decode(bytes(source), encoding)
    elif isinstance(source, str):
        text = source
    else:
        raise ArgumentError(
            f"subtitles are text, bytes or a pathlib.Path, got {type(source).__name__}"
        )
    if len(text) > MOST_BYTES:
        raise SubtitleError(f"subtitles have at most {MOST_BYTES >> 20} MiB, got {len(text)} bytes")
    text = text.removeprefix("\ufeff").replace("\0", "\ufffd")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SubtitleError(f"{path}: {error.strerror}") from error


def _decode(data: bytes, encoding: str | None) -> str:
    """UTF-8 or what a mark says; what is neither was written on a western Windows, most likely."""
    if len(data) > MOST_BYTES:
        raise SubtitleError(f"subtitles have at most {MOST_BYTES >> 20} MiB, got {len(data)} bytes")
    if encoding is not None:
        try:
            return data.decode(encoding)
        except LookupError:
            raise SubtitleError(f"no encoding is named {encoding!r}; 'utf-8' is one") from None
        except (UnicodeError, ValueError) as error:
            raise SubtitleError(f"this is no {encoding}: {error}") from None
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    if wide := _unmarked_utf16(data):
        return data.decode(wide, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _unmarked_utf16(data: bytes) -> str | None:
    """ASCII in 16 bits has a zero in every other byte."""
    head = data[:512]
    if len(head) < 8 or head.count(0) < len(head) // 3:
        return None
    return "utf-16-be" if head[::2].count(0) > head[1::2].count(0) else "utf-16-le"
