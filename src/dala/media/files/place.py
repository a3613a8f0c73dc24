"""Where a file is written: beside its place, under another name, until it is complete."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from dala.errors import MediaFileError

_REASONS = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "a folder, expected a picture's file",
    NotADirectoryError: "a part of its path is no folder",
    PermissionError: "no permission",
}


@contextlib.contextmanager
def moved_into_place(target: Path) -> Iterator[Path]:
    """A new name beside ``target``; what is written there becomes ``target`` at the end, or is removed.
    A link stays one, and a file that is replaced leaves its permissions.
    """
    place = Path(os.path.realpath(target))
    unfinished = place.with_name(f".{target.stem}.{secrets.token_hex(4)}.part{target.suffix}")
    try:
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        os.replace(unfinished, place)
    finally:
        unfinished.unlink(missing_ok=True)


def system_refuses(error: OSError, path: Path) -> MediaFileError:
    """What the system says about a picture's file, in one line."""
    reason = _REASONS.get(type(error)) or error.strerror or str(error)
    folder = path.parent
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}"
    return MediaFileError(f"{path}: {reason}", errno=error.errno)
