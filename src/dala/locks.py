"""Locks for ``with`` that Ctrl-C does not leave locked.

Until Python 3.13 nothing comes between a lock that was taken and the ``with`` that gives it back. In 3.14
entering a ``with`` is a call like every other, after which signals are looked for: the exception of a
handler that comes there leaves a lock of ``threading`` locked for good.

So the lock of 3.14 enters in Python, where that exception can be met, and leaves in C, where nothing comes
before the release. It can do so because it knows its owner, as an RLock does. A thread that took it twice
would therefore not stand still, as with ``threading.Lock``; nothing here takes one twice.
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
            if self._is_owned():
                self.release()
            raise
        return True


def lock() -> threading.Lock:
    """What ``threading.Lock()`` is, for ``with``."""
    return threading.Lock() if sys.version_info < (3, 14) else cast("threading.Lock", _Lock())


def rlock() -> threading.RLock:
    """What ``threading.RLock()`` is, for ``with``."""
    return threading.RLock() if sys.version_info < (3, 14) else cast("threading.RLock", _Lock())


def condition() -> threading.Condition:
    """What ``threading.Condition()`` is."""
    return threading.Condition(rlock())
