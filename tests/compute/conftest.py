"""Fixtures for what commands do, and for what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from launches import Launches
from refusals import Things

from dala import compute
from dala.backends.host import HostExecutable
from dala.backends.webgpu.execute import GpuExecutable
from dala.compute.engine import Engine, _engines


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Launches]:
    for engine in list(_engines):
        engine.forget()  # a short run that is a function of its own by now knows no launch
    control = Launches()
    for kind in (HostExecutable, GpuExecutable):
        monkeypatch.setattr(kind, "launch", control.around(kind.launch))
    # short runs would pass it by
    monkeypatch.setattr(Engine, "finish", lambda engine, ready: engine.launch(ready, inline=True))
    yield control
    control.let_all_go()
    compute.synchronize()


@pytest.fixture
def things() -> Iterator[Things]:
    made = Things()
    before = made.content()
    yield made
    assert made.content() == before
