"""Locks for ``with`` that Ctrl-C does not leave locked.

Until Python 3.13 nothing comes between a lock that was taken and the ``with`` that gives it back. In 3.14
entering a ``with`` is a call like every other, after which signals are looked for: the exception of a
handler that comes there leaves a lock of ``threading`` locked for good.

So the lock of 3.14 enters in Python, where that exception can be met, and leaves in C, where nothing comes
before the release. It can do so because it knows its owner, as an RLock does. A thread that took it twice
would therefore not stand still, as with ``threading.Lock``; nothing here takes one twice.

On every Python ``threading.Condition``, and so ``Event``, enter and leave by functions of Python's, where
Ctrl-C leaves them locked as well; those here do so as the lock itself does.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, cast

_Owned: Any = type(threading.RLock())


class _Lock(_Owned):  # type: ignore[misc]
    """Enters as a whole or not at all."""

    __slots__ = ()

    def __enter__(self) -> bool:
        try:
            self.acquire()
        except BaseException:
            try:  # noqa: SIM105 (no call before it: behind that another signal may come)
                self.release()
            except RuntimeError:  # it was not taken yet
                pass
            raise
        return True


def lock() -> threading.Lock:
    """What ``threading.Lock()`` is, for ``with``."""
    return threading.Lock() if sys.version_info < (3, 14) else cast("threading.Lock", _Lock())


def rlock() -> threading.RLock:
    """What ``threading.RLock()`` is, for ``with``."""
    return threading.RLock() if sys.version_info < (3, 14) else cast("threading.RLock", _Lock())


class Condition(threading.Condition):
    """threading.Condition, entered and left by the methods of its lock.

    >>> from dala.locks import Condition
    >>> changed = Condition()
    >>> with changed:
    ...     changed.wait_for(lambda: True)
    True
    """

    _lock: Any

    def __init__(self, lock: Any = None) -> None:
        super().__init__(rlock() if lock is None else lock)

    # Looked up before it is locked; what is called then is the lock's own.
    __enter__ = property(lambda self: self._lock.__enter__)
    __exit__ = property(lambda self: self._lock.__exit__)


class Event:
    """threading.Event, of such a condition.

    >>> from dala.locks import Event
    >>> over = Event()
    >>> over.set()
    >>> over.wait()
    True
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._is_set = False

    def is_set(self) -> bool:
        """Whether it has been set."""
        return self._is_set

    def set(self) -> None:
        """Wake all who wait, and let nobody wait any more."""
        with self._changed:
            self._is_set = True
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until it is set, or for so many seconds; whether it is."""
        with self._changed:
            return self._changed.wait_for(self.is_set, timeout)
