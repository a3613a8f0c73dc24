"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest

import dala
from dala import compute
from dala.backends.webgpu.adapters import find_adapters, why_none

DEVICES = ("reference", "cpu", "webgpu")
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())  # else Mesa complains on stderr
REQUIRED = os.environ.get("DALA_REQUIRE_WEBGPU") == "1"


def pytest_report_header() -> str:
    """Which adapter the WebGPU cases run on, or that they are skipped: one line that is always seen."""
    adapters = find_adapters()
    if adapters:
        return f"webgpu cases run on {adapters[0]}"
    if REQUIRED:
        raise pytest.UsageError(f"DALA_REQUIRE_WEBGPU=1, but {why_none()}")
    return f"webgpu cases are SKIPPED: {why_none()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without an adapter, the cases of that device are skipped, each of them counted."""
    if find_adapters():
        return
    skip = pytest.mark.skip(reason=f"no WebGPU adapter: {why_none()}")
    for item in items:
        spec = getattr(item, "callspec", None)
        chosen = spec is not None and "webgpu" in spec.params.values()
        if chosen or item.get_closest_marker("webgpu"):
            item.add_marker(skip)


@pytest.fixture(params=DEVICES)
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
