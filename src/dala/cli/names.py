"""Which files are read, and where each result goes; decided, and refused, before anything is written."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dala.cli.mistakes import Failed, UsageMistake
from dala.errors import suggest

NEAR = 0.75  # how alike names of files must be to be taken for one another
MOST_PIXELS = 65_536  # in a row or a column
HEAD = 4096  # bytes that tell what a file is
FIELDS = ("name", "ext", "folder", "n")


@dataclass(frozen=True)
class Job:
    """One file to filter."""

    source: Path
    target: Path
    make_folder: bool = False  # for the target, if there is none
    film: tuple[Path, ...] = ()  # pictures that become one video


def plan_jobs(
    inputs: Sequence[str], output: str, is_media: Callable[[Path], bool] = lambda path: True
) -> list[Job]:
    """Every input with its output. ``output`` is a file, a folder, or a pattern of names; of a folder among
    the inputs, all files that are ``is_media`` by their names."""
    sources = expand(inputs, is_media)
    make_folder = "{" in output or "%" in output or output.endswith(("/", os.sep))
    targets = _targets(sources, output)
    jobs = [Job(s, t, make_folder) for s, t in zip(sources, targets, strict=True)]
    _refuse_clashes(jobs)
    return jobs


def expand(
    inputs: Sequence[str], is_media: Callable[[Path], bool] = lambda path: True
) -> list[Path]:
    """Files by name, by folder or by glob (``'*.jpg'``, ``'photos/**/*.png'``), each once, in order."""
    found: dict[Path, None] = {}
    for given in inputs:
        if os.path.isdir(given):
            inside = [p for p in sorted(Path(given).iterdir()) if p.is_file() and is_media(p)]
            files = [p for p in inside if not p.name.startswith(".")]
            if not files:
                hint = f"; those of the folders in it: '{given.rstrip('/')}/**/*.jpg'"
                deeper = any(p.is_dir() for p in Path(given).iterdir())
                raise Failed(f"no picture or video is in {given}{hint if deeper else ''}")
            found.update(dict.fromkeys(files))
            continue
        if glob.has_magic(given) and not os.path.lexists(given):
            matches = [Path(m) for m in sorted(glob.glob(given, recursive=True))]
            files = [m for m in matches if m.is_file()]
            if not files:
                raise Failed(f"no file matches {given!r}")
            found.update(dict.fromkeys(files))
        else:
            found[Path(given)] = None
    return list(found)


def check_source(path: Path) -> None:
    """Refuse what is no file, and name the one that may be meant."""
    if not os.path.lexists(path):
        beside = os.listdir(path.parent) if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, beside, n=1, cutoff=NEAR)
        hint = f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""
        raise Failed(f"no file {str(path)!r}{hint}")


def _targets(sources: Sequence[Path], output: str) -> list[Path]:
    if "{" in output:
        return [_fill(output, source, n) for n, source in enumerate(sources, 1)]
    folder = Path(output)
    if folder.is_dir() or output.endswith(("/", os.sep)):  # made later, if there is none
        return [folder / source.name for source in sources]
    if len(sources) > 1:
        raise UsageMistake(
            f"{len(sources)} files cannot all become {output!r}; give a folder ('{output}/') or a "
            "pattern such as 'out/{name}_new{ext}'"
        )
    return [folder]


def _fill(pattern: str, source: Path, number: int) -> Path:
    values = {
        "name": source.stem,
        "ext": source.suffix,
        "folder": str(source.parent),
        "n": number,
    }
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(pattern)]
        for field in fields:
            if field is not None and field not in FIELDS:
                listed = ", ".join("{" + f + "}" for f in FIELDS)
                hint = suggest(field, FIELDS)
                raise UsageMistake(f"{pattern!r}: no field {{{field}}}{hint}; there are {listed}")
        return Path(pattern.format(**values))
    except ValueError as error:
        raise UsageMistake(f"{pattern!r} is no pattern of names: {error}") from error


def _refuse_clashes(jobs: Sequence[Job]) -> None:
    """No input is ever written over, and no result by another."""
    taken: dict[str, Path] = {}
    jobs = [job for job in jobs if str(job.target) != "-"]  # stdout is no file
    inputs = {_identity(job.source): job.source for job in jobs}
    for job in jobs:
        place = _identity(job.target)
        if place in inputs:
            raise UsageMistake(f"{job.target} would be written over, and it is an input")
        if place in taken:
            raise UsageMistake(
                f"{taken[place]} and {job.source} would both become {job.target}; "
                "{n} in a pattern numbers the files"
            )
        taken[place] = job.source


def what_it_is(path: Path) -> str:
    """What a file is that has no picture's or video's name: ``a text file``; empty if nobody knows."""
    with path.open("rb") as file:
        return what_begins(file.read(HEAD))


def what_begins(head: bytes) -> str:
    """The same of its first bytes."""
    if not head:
        return "an empty file"
    for begin, name in _KINDS.items():
        if head.startswith(begin):
            return name
    if (head[:4], head[8:12]) == (b"RIFF", b"WAVE") or head[4:11] == b"ftypM4A":
        return "a sound file"
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return ""
    odd = any(ord(c) < 32 and c not in "\t\n\r\f\x1b" for c in text)
    return "" if odd else "a text file"


_KINDS = {
    b"%PDF": "a PDF document", b"PK\x03\x04": "a ZIP archive or an office document",
    b"\x1f\x8b": "a gzip archive", b"ID3": "a sound file", b"fLaC": "a sound file",
    b"\xff\xfb": "a sound file", b"\xff\xf3": "a sound file",
    b"\x7fELF": "a program", b"MZ": "a program", b"SQLite format 3": "a database",
}  # fmt: skip


def read_size(text: str) -> tuple[int, int]:
    """``1920x1080`` as numbers."""
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(p.isdecimal() and 0 < int(p) <= MOST_PIXELS for p in parts):
        raise UsageMistake(f"a size is written as 1920x1080, got {text!r}")
    return int(parts[0]), int(parts[1])


def _identity(path: Path) -> str:
    """The same for two names of one place, whatever links and the case of letters make of them."""
    try:
        facts = os.stat(path)
        return f"{facts.st_dev}:{facts.st_ino}"
    except OSError:  # not there yet
        return os.path.normcase(os.path.realpath(path))
