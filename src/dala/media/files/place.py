"""Where a file is written: beside its place, under another name, until it is complete."""

from __future__ import annotations

import contextlib
import errno
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
    if os.path.isdir(place):  # of a name too long, pathlib raises
        raise system_refuses(IsADirectoryError(errno.EISDIR, "a folder"), target)
    # its beginning alone: the whole name may be as long as the system allows
    unfinished = place.with_name(f".{target.stem[:32]}.{secrets.token_hex(4)}.part{target.suffix}")
    try:
        yield unfinished
        try:
            if os.path.exists(place):
                shutil.copymode(place, unfinished)
            os.replace(unfinished, place)
        except OSError as error:
            raise system_refuses(error, target) from error
    finally:
        with contextlib.suppress(OSError):  # what went wrong with the file says more
            unfinished.unlink()


def system_refuses(error: OSError, path: Path) -> MediaFileError:
    """What the system says about a picture's file, in one line."""
    reason = _REASONS.get(type(error)) or error.strerror or str(error)
    folder = path.parent
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}"
    return MediaFileError(f"{path}: {reason}", errno=error.errno)
