"""The surfaces that most files here draw on; some have one of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dala import gpu
from dala.gpu import Surface


@pytest.fixture(params=["cpu", pytest.param("webgpu", marks=pytest.mark.webgpu)])
def surface(request: pytest.FixtureRequest) -> Iterator[Surface]:
    """One that the CPU draws, and one that a GPU draws."""
    with gpu.create_surface(40, 30, device=request.param) as made:
        yield made


@pytest.fixture
def cpu_surface() -> Iterator[Surface]:
    with gpu.create_surface(40, 30, device="cpu") as made:
        yield made
