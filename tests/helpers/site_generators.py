"""The programs that write pages of the site."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

GENERATE = Path(__file__).parents[2] / "docs" / "generate"


def generators(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a generator by its name; afterwards none of them is left among the modules."""
    monkeypatch.syspath_prepend(str(GENERATE))
    before = set(sys.modules)

    def load(name: str) -> ModuleType:
        return __import__(name)

    yield load
    for name in set(sys.modules) - before:
        if (GENERATE / f"{name}.py").exists():
            del sys.modules[name]
