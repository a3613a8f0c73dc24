"""Pictures that were drawn and are kept: those not used for longest go when there are too many bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from dala import forking

T = TypeVar("T")


class Kept(Generic[T]):
    """Values by key, within a budget of bytes. What is larger than all of it is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._found: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._bytes = 0
        self._lock = forking.lock()

    @property
    def bytes(self) -> int:
        """What is held now."""
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], tuple[T, int]]) -> T:
        """The value of a key; ``make`` gives it and how many bytes it takes."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
                return found[0]
        value, size = make()
        with self._lock:
            if key in self._found:  # another thread was faster: one value per key
                return self._found[key][0]
            if size <= self._most:
                self._found[key] = (value, size)
                self._bytes += size
            self._drop_oldest()
        return value

    def _drop_oldest(self) -> None:
        while self._bytes > self._most:
            _, (_, freed) = self._found.popitem(last=False)
            self._bytes -= freed

    def clear(self) -> None:
        """Let all of them go."""
        with self._lock:
            self._found.clear()
            self._bytes = 0
