"""Bytes → a document. What is too large or too deep, or has a key twice, is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from dala.errors import SceneFileError

FORMAT, VERSION = "dala.scene", 1
SPELLED = {"from": "from_"}  # a word of Python's
MOST_BYTES = 16 << 20
DEEPEST = 64


def read_document(path: str | os.PathLike[str]) -> Any:
    """The document in a file."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SceneFileError(f"{error.strerror or error}", where=os.fspath(path)) from error
    return parse_document(data)


def parse_document(data: bytes | str) -> Any:
    """The document in bytes of UTF-8."""
    if len(data) > MOST_BYTES:
        raise SceneFileError(f"a scene's file has at most {MOST_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise SceneFileError(f"no UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        reason = f"no JSON: {error.msg}, line {error.lineno} column {error.colno}"
        raise SceneFileError(reason) from None
    except RecursionError:
        raise SceneFileError(f"deeper than {DEEPEST} levels") from None
    except ValueError as error:  # a number of thousands of digits
        raise SceneFileError(str(error)) from None
    _check_depth(found)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise SceneFileError(f"the key {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise SceneFileError(f"{name} is no number in JSON")


def _check_depth(found: Any) -> None:
    level = [found]
    for _ in range(DEEPEST):
        level = [
            part
            for whole in level
            if isinstance(whole, dict | list)
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return
    raise SceneFileError(f"deeper than {DEEPEST} levels")
