"""The folder of a job: what a job puts there, and nothing else, is ever deleted.

A folder that no job has made is refused, and so is a link: what lies there belongs to somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from dala.errors import FleetError

JOURNAL = "journal.jsonl"
LOOK = "chain.look"
SCENE = "scene.json"
SOURCE = "source-"  # begins the name of a copy of what lies at an address
BEGINS = b'{"job": '  # the first line of a journal
_MADE = re.compile(
    rf"{re.escape(JOURNAL)}|{re.escape(LOOK)}|{re.escape(SCENE)}|part-\d{{5,}}\.(mp4|mov)"
    rf"|{SOURCE}[0-9a-f]{{16}}(\..*)?"
    r"|\..+-[0-9a-f]{8,}\.part(\.[^.]*)?"  # not complete yet, of whatever name
    rf"|\.{re.escape(LOOK)}\.\d+"
)
_OF_ADDRESS = re.compile(r"\.(.+)-[0-9a-f]{8}\.fleet")  # holds the result, too, until it is sent


def part_key(number: int) -> str:
    """The name of a part, without its ending."""
    return f"part-{number:05}"


def claim(folder: Path) -> None:
    """Make the folder of a job, or go on in one that a job has made; FleetError for any other."""
    if folder.is_symlink() or (folder / JOURNAL).is_symlink():
        raise FleetError(
            f"{folder}: is a link or holds one as its journal; parts go into a folder of their own: "
            "remove the link, or name another output"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        begun = _begun(folder / JOURNAL)
        foreign = [path.name for path in folder.iterdir() if not _is_made(path)]
    except OSError as error:
        raise FleetError(
            f"{folder}: parts cannot be kept there ({error.strerror}); name another output"
        ) from error
    if begun is None or (foreign and not begun):
        what = foreign[0] if foreign else JOURNAL
        raise FleetError(
            f"{folder}: is no folder of a job ({what} in it is none of a job's files); "
            "move it away, or name another output"
        )


def clear(folder: Path, keep: Collection[str] = ()) -> None:
    """Delete what a job has put there, but for names that begin with one of ``keep``."""
    for path in folder.iterdir():
        if _is_made(path) and not path.name.startswith(tuple(keep)):
            path.unlink(missing_ok=True)


def _begun(journal: Path) -> bool | None:
    """Whether a job's journal begins there; False where it would, None where something else stands."""
    try:
        with journal.open("rb") as file:
            first = file.read(len(BEGINS) + 2).lstrip()[: len(BEGINS)]
    except FileNotFoundError:
        return False
    except PermissionError:  # on Windows, one that is locked; who locks it next says what is wrong
        return True
    return first == BEGINS if BEGINS.startswith(first) else None


def _is_made(path: Path) -> bool:
    result = _OF_ADDRESS.fullmatch(path.parent.name)
    known = _MADE.fullmatch(path.name) or (result is not None and result[1] == path.name)
    return bool(known) and (path.is_symlink() or not path.is_dir())
