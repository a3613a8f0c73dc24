"""Where a file is written: beside its place, under another name, until it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dala.errors import MediaFileError

STEM = 32  # characters of a name that its unfinished file has, too
_REASONS = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "a folder, expected a picture's file",
    NotADirectoryError: "a part of its path is no folder",
    PermissionError: "no permission",
}


@contextlib.contextmanager
def moved_into_place(target: Path) -> Iterator[Path]:
    """A new name beside ``target``; what is written there becomes ``target`` at the end, or is removed.
    A link stays one, and a file that is replaced leaves its permissions. What nothing can be moved onto (a
    pipe, a device, a file of a folder one may not write to) is written to once all is there.
    """
    place = Path(os.path.realpath(target))
    _check_permitted(place, target)
    with contextlib.ExitStack() as until_moved:
        stays = os.path.exists(place) and not _can_be_replaced(place)
        if stays:
            folder = Path(until_moved.enter_context(tempfile.TemporaryDirectory(prefix="dala-")))
        else:
            folder = place.parent
        # its beginning alone: the whole name may be as long as the system allows
        name = f".{target.stem[:STEM]}.{secrets.token_hex(4)}.part{target.suffix}"
        unfinished = folder / name
        try:
            yield unfinished
            try:
                (_pour if stays else _move)(unfinished, place)
            except OSError as error:
                raise system_refuses(error, target) from error
        finally:
            with contextlib.suppress(OSError):  # what went wrong with the file says more
                unfinished.unlink()


def _check_permitted(place: Path, target: Path) -> None:
    """Refuse a folder, and a file that is not to be written to, though it could be replaced."""
    if os.path.isdir(place):  # of a name too long, pathlib raises
        raise system_refuses(IsADirectoryError(errno.EISDIR, "a folder"), target)
    if os.path.exists(place) and not os.access(place, os.W_OK):
        raise system_refuses(PermissionError(errno.EACCES, "not to be written to"), target)


def _can_be_replaced(place: Path) -> bool:
    return os.path.isfile(place) and os.access(place.parent, os.W_OK)


def _move(unfinished: Path, place: Path) -> None:
    if os.path.exists(place):
        shutil.copymode(place, unfinished)
    os.replace(unfinished, place)


def _pour(unfinished: Path, place: Path) -> None:
    with unfinished.open("rb") as made, place.open("wb") as file:
        shutil.copyfileobj(made, file)


def system_refuses(error: OSError, path: Path) -> MediaFileError:
    """What the system says about a picture's file, in one line."""
    reason = _REASONS.get(type(error)) or error.strerror or str(error)
    folder = path.parent
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}"
    return MediaFileError(f"{path}: {reason}", errno=error.errno)
