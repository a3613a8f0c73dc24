"""Sources and results that are not files of this machine: whatever fsspec reaches (``s3://``, ``gs://`` …).

A source is copied to where FFmpeg can search in it; a result is made here, sent under another name and
renamed when it is complete.
"""

from __future__ import annotations

import importlib
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from dala.errors import ArgumentError, FleetError, UnsupportedError
from dala.video.parts.journal import is_url

State = list[int | str]


def absolute(place: str | os.PathLike[str]) -> str:
    """The same for every process: an address as it is, a path from the root on."""
    if not isinstance(place, str | os.PathLike) or "\0" in os.fspath(place):
        raise ArgumentError(f"expected a path or an address, got {place!r}")
    return str(place) if is_url(place) else os.path.abspath(place)


def inside(folder: str, name: str) -> str:
    """A name in a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else str(Path(folder) / name)


def state_of(place: str) -> State | None:
    """What changes with a file's content; None if there is no such file."""
    if is_url(place):
        files, path = _find(place)
        try:
            info = files.info(path)
        except (OSError, ValueError):
            return None
        changing = ("ETag", "etag", "LastModified", "mtime", "last_modified", "created")
        return [int(info.get("size") or 0), *(str(info[name]) for name in changing if name in info)]
    try:
        found = os.stat(place)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def fetch(url: str, target: Path) -> Path:
    """Copy what is at an address into a file, which has its name when it is complete."""
    files, path = _find(url)
    part = target.with_name(f".{target.stem}-{secrets.token_hex(4)}.part{target.suffix}")
    try:
        files.get_file(path, str(part))
        part.replace(target)
    except (OSError, ValueError) as error:
        raise FleetError(f"{url}: cannot be fetched ({_why(error)})") from error
    finally:
        part.unlink(missing_ok=True)
    return target


def deliver(made: Path, url: str) -> None:
    """Bring a file to an address: under another name first."""
    files, path = _find(url)
    part = f"{path}.{secrets.token_hex(4)}.part"
    try:
        with suppress(NotImplementedError):  # where folders are no more than names
            files.makedirs(path.rpartition("/")[0], exist_ok=True)
        files.put_file(str(made), part)
        files.mv(part, path)
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            files.rm(part)
        raise FleetError(f"{url}: cannot be written ({_why(error)})") from error


def _find(url: str) -> tuple[Any, str]:
    """The file system that an address belongs to, and the path in it."""
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError as error:
        raise UnsupportedError(
            f"{url}: addresses need fsspec ({error}); pip install 'dala-gpu[fleet]', and what the address "
            "needs itself (s3fs, gcsfs …)"
        ) from error
    try:
        files, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"{url}: {error}") from error
    return files, str(path)


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
