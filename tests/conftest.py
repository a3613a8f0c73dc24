"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import dala
from dala import compute
from dala.backends.webgpu.adapters import find_adapters, why_none

DEVICES = ("reference", "cpu", "webgpu")
REQUIRED = os.environ.get("DALA_REQUIRE_WEBGPU") == "1"


def pytest_sessionstart() -> None:
    """Where the WebGPU cases are required, having no adapter is an error and no reason to skip."""
    if REQUIRED and not find_adapters():
        raise pytest.UsageError(f"DALA_REQUIRE_WEBGPU=1, but {why_none()}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Which adapter the WebGPU cases ran on, or that they were skipped: one line, also with -q."""
    adapters = find_adapters()
    ran = f"ran on {adapters[0]}" if adapters else f"were SKIPPED: {why_none()}"
    terminalreporter.write_line(f"webgpu cases {ran}")
    if REQUIRED and _skipped:
        listed = ", ".join(_skipped[:5])
        terminalreporter.write_line(f"{len(_skipped)} of them skipped without leave: {listed}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without an adapter, the cases of that device are skipped, each of them counted."""
    if find_adapters():
        return
    skip = pytest.mark.skip(reason=f"no WebGPU adapter: {why_none()}")
    for item in items:
        spec = getattr(item, "callspec", None)
        values = [] if spec is None else spec.params.values()
        chosen = any(isinstance(v, str) and v == "webgpu" for v in values)
        if chosen or item.get_closest_marker("webgpu"):
            item.add_marker(skip)


# What may be skipped of the WebGPU cases where they are required; anything more is a failure.
SKIPPED_WITH_REASON = (
    "test_a_forked_child_can_submit",  # refused there, and tested as such
    "test_ctrl_c_at_any_moment",  # on Pythons from 3.12 on, on every device
    "test_a_buffer_over_the_binding_size",  # on an adapter without such a limit
    "test_another_adapter",  # where there are not so many
    "test_gpu_time_",  # on an adapter without timestamps
)
_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note every WebGPU case that was skipped without leave."""
    allowed = any(name in report.nodeid for name in SKIPPED_WITH_REASON)
    if report.skipped and "webgpu" in report.nodeid and not allowed:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the WebGPU cases are required, they cannot silently become fewer."""
    if REQUIRED and _skipped and session.exitstatus == 0:
        session.exitstatus = 1


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each device in turn as the default one; nothing is under way when the test is over."""
    with dala.use(request.param):
        yield request.param
        compute.synchronize()


@pytest.fixture
def on_cpu() -> Iterator[None]:
    """For tests of the CPU alone, whatever this machine's default device is."""
    with dala.use("cpu"):
        yield


@pytest.fixture
def registry() -> Iterator[None]:
    """Kernels that a test registers are gone when it is over."""
    before = set(compute.kernels())
    yield
    for name in set(compute.kernels()) - before:
        compute.unregister(name)
