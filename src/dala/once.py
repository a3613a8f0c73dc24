"""What is made once, however many threads ask for it at the same moment.

``functools.cache`` lets several threads make the same thing and frees all copies but one. For machine code,
and for what a library calls back, that is fatal: somebody may already be running in a copy that is freed.

No loop is written inside of ``with lock``, here and elsewhere: it stands in a function that is called
there. CPython 3.12 to 3.14 leave jumps back to a loop's head out of the ``with`` around it, so a signal
handler's exception (Ctrl-C) that comes there leaves the lock locked for good. A test looks for such loops.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from dala import forking

T = TypeVar("T")
Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)


def drop_oldest(values: OrderedDict[Key, Value], limit: int) -> None:
    """Let the first ones go until there are no more than ``limit``. The caller has the lock."""
    while len(values) > limit:
        values.popitem(last=False)


class once(Generic[T]):
    """A function without arguments whose result is made under a lock, and kept for good.

    >>> from dala.once import once
    >>> @once
    ... def answer() -> object:
    ...     return object()
    >>> answer() is answer()
    True
    """

    def __init__(self, make: Callable[[], T]) -> None:
        functools.update_wrapper(self, make)
        self._make = make
        self._made: list[T] = []
        self._lock = forking.rlock()

    def __call__(self) -> T:
        made = self._made
        if made:
            return made[0]
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


class once_per_process(once[T]):
    """Likewise, and made anew in a forked child: threads do not survive a fork."""

    def __init__(self, make: Callable[[], T]) -> None:
        super().__init__(make)
        forking.in_child(self._forget)

    def _forget(self) -> None:
        self._made = []


class OnceByKey(Generic[Key, T]):
    """One value per key; the last used ones stay.

    Who wants a key that is being made waits for it; who wants another one does not.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.made = 0  # how often a value was made
        self._values: OrderedDict[Key, T] = OrderedDict()
        self._turns: dict[Key, threading.RLock] = {}  # of those who make, or wait for, a value
        self._lock = forking.lock()

    def peek(self, key: Key) -> T | None:
        """The value if it is there; cheaper than ``get``, and does not count as a use."""
        return self._values.get(key)

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """The value of ``key``; if there is none, what ``make`` makes. What that raises is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            turn = self._turns.setdefault(key, forking.rlock())
        with turn:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                return self._keep(key, make())
            finally:
                with self._lock:
                    self._turns.pop(key, None)

    def _keep(self, key: Key, fresh: T) -> T:
        with self._lock:
            self.made += 1
            value = self._values.setdefault(key, fresh)
            drop_oldest(self._values, self.limit)
            return value

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
