"""Errors that come sixty times a second: in full once, then short, then counted."""

from __future__ import annotations

import logging
import re

from dala import forking

_NUMBER = re.compile(r"\d+")
log = logging.getLogger("dala.gpu")
SHORT = 5  # how often an error is told in one line, after it was told in full
QUIET = 1000  # and then one line for so many
REMEMBERED = 256  # different errors


class Reporter:
    """Tells errors of one surface to the log, at a bearable rate."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: dict[tuple[type, str], int] = {}
        self._lock = forking.lock()

    def tell_more(self, count: int) -> None:
        """Log that there were more, without saying which."""
        if count:
            log.error("%s: and %d more commands failed", self._name, count)

    def tell(self, error: Exception) -> None:
        """Log an error, unless it has been logged often enough."""
        key = (type(error), _NUMBER.sub("#", str(error)))  # another number is not another error
        with self._lock:
            if len(self._seen) >= REMEMBERED:
                self._seen.clear()
            count = self._seen[key] = self._seen.get(key, 0) + 1
        if count == 1:
            log.error("%s: a command failed", self._name, exc_info=error)
        elif count <= 1 + SHORT:
            log.error("%s: again: %s", self._name, error)
        elif count % QUIET == 0:
            log.error("%s: %d times so far: %s", self._name, count, error)
