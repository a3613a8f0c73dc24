"""The hash of a long file, made while somebody else reads where it may be cut."""

from __future__ import annotations

import threading

from dala.locks import Event
from dala.video.parts.journal import hash_file


class Hashing:
    """A file's hash, made on a thread of its own; a context manager. To leave it takes no time.

    >>> from pathlib import Path
    >>> from dala.fleet.hashing import Hashing
    >>> _ = Path("letter.txt").write_text("Dear Ada")
    >>> with Hashing("letter.txt") as content:
    ...     content.result()[:8]
    '9cac02f4'
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._found = ""
        self._error: BaseException | None = None
        self._left = Event()
        self._over = Event()
        self._thread = threading.Thread(target=self._run, name="dala-hash", daemon=True)

    def __enter__(self) -> Hashing:
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._left.set()
        self._over.wait()

    def result(self) -> str:
        """Wait for it."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._found

    def _run(self) -> None:
        try:
            self._found = hash_file(self._path, self._left.is_set)
        except BaseException as error:
            self._error = error
        finally:
            self._over.set()
