"""How everything that holds memory, threads, files or windows ends: ``close``, or the end of a ``with``."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

Holder = TypeVar("Holder", bound="Closing")


class Closing:
    """Something that is closed after use; closing it twice does nothing."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether it was closed."""

    def __enter__(self: Holder) -> Holder:
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        self.close()
