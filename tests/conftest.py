"""Fixtures that every folder of tests may use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dala
from dala import compute


@pytest.fixture(params=["reference", "cpu"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each device in turn as the default one; nothing is under way when the test is over."""
    with dala.use(request.param):
        yield request.param
        compute.synchronize()


@pytest.fixture
def registry() -> Iterator[None]:
    """Kernels that a test registers are gone when it is over."""
    before = set(compute.kernels())
    yield
    for name in set(compute.kernels()) - before:
        compute.unregister(name)
