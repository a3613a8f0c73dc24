"""A clock that only goes on when somebody sleeps, or when it is told to."""

from __future__ import annotations

import threading
import time
from types import ModuleType

import pytest


class FakeClock:
    """Stands in for the module ``time`` in another module, for the thread that made it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.naps: list[float] = []
        self._owner = threading.get_ident()

    def perf_counter(self) -> float:
        return self.now if threading.get_ident() == self._owner else time.perf_counter()

    def sleep(self, seconds: float) -> None:
        if threading.get_ident() != self._owner:
            time.sleep(seconds)
            return
        self.naps.append(seconds)
        self.now += seconds

    def put_into(self, monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> FakeClock:
        for module in modules:
            monkeypatch.setattr(module, "time", self)
        return self
