"""Where in a document something is, and all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dala.errors import DalaError, SceneFileError

MOST_PROBLEMS = 100


class TooManyProblems(Exception):
    """Nobody reads more."""


def place(where: str, key: str | int) -> str:
    """One level deeper, as JSON's pointers are written."""
    return f"{where}/{str(key).replace('~', '~0').replace('/', '~1')}"


class Problems:
    """What is wrong with a document, each with its place."""

    def __init__(self) -> None:
        self.found: list[SceneFileError] = []

    def add(self, reason: str, where: str) -> None:
        """One more."""
        self.found.append(SceneFileError(reason, where=where))
        if len(self.found) >= MOST_PROBLEMS:
            raise TooManyProblems

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """An error inside is a problem at a place, and the reading goes on behind it."""
        try:
            yield
        except SceneFileError as error:
            self.found.append(type(error)(error.reason, where=where + error.where))
        except DalaError as error:
            self.add(str(error), where)
