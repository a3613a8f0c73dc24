"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from searching import FREE, examples, first_seed

import dala
from dala import compute
from dala.backends.webgpu.adapters import find_adapters, why_none

DEVICES = ("reference", "cpu", "webgpu")
GPU_REQUIRED = os.environ.get("DALA_REQUIRE_GPU") == "1"  # `make test-gpu`
REQUIRED = GPU_REQUIRED or os.environ.get("DALA_REQUIRE_WEBGPU") == "1"
ROOT = Path(__file__).parents[1]

# Neither depends on how long anything takes. The tests search the same cases each time and remember
# none; `make fuzz` searches others each time, and prints what repeats a failure.
_any_speed = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", _any_speed, derandomize=True)
settings.register_profile("fuzz", _any_speed, max_examples=examples(100), print_blob=True)
settings.load_profile("fuzz" if FREE else "steady")


def seeds(config: pytest.Config) -> list[str]:
    """What repeats this run: the order of the tests, and where a free search began."""
    order = config.getoption(
        "randomly_seed", None
    )  # without pytest-randomly they run as they stand
    found = [] if order is None else [f"in random order: --randomly-seed={order} repeats it"]
    return [*found, f"free searches: DALA_FUZZ_SEED={first_seed()}"] if FREE else found


def files_in_root() -> set[str]:
    return {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where the WebGPU cases are required, having no adapter is an error and no reason to skip."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so a shell starts what ends in &
        signal.signal(signal.SIGINT, signal.default_int_handler)  # programs of tests inherit it
    hung_up = getattr(signal, "SIGHUP", None)  # Windows has none; nohup ignores it
    if hung_up is not None and signal.getsignal(hung_up) == signal.SIG_IGN:
        signal.signal(hung_up, signal.SIG_DFL)
    if REQUIRED and not find_adapters():
        raise pytest.UsageError(f"DALA_REQUIRE_WEBGPU=1, but {why_none()}")
    if GPU_REQUIRED and (best := find_adapters()[0]).is_software:
        raise pytest.UsageError(f"DALA_REQUIRE_GPU=1, but the best adapter here is {best}: no GPU")
    session.config.stash[_files] = files_in_root()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        for line in seeds(session.config):
            reporter.write_line(line)


_files = pytest.StashKey[set[str]]()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Which adapter the WebGPU cases ran on, or that they were skipped: one line, also with -q."""
    for line in seeds(config):
        terminalreporter.write_line(line)
    left = files_in_root() - config.stash[_files]
    if left:
        terminalreporter.write_line(f"tests have left files in {ROOT}: {', '.join(sorted(left))}")
    unseen = [
        r for r in terminalreporter.stats.get("skipped", ()) if "DALA_MODELS" in str(r.longrepr)
    ]
    if unseen:
        terminalreporter.write_line(
            f"{len(unseen)} cases with real models were SKIPPED: no DALA_MODELS"
        )
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.write_line(f"passed or failed at its second try: {report.nodeid}")
    adapters = find_adapters()
    ran = f"ran on {adapters[0]}" if adapters else f"were SKIPPED: {why_none()}"
    terminalreporter.write_line(f"webgpu cases {ran}")
    skipped = [
        r for r in terminalreporter.stats.get("skipped", ()) if "test_real_models" in r.nodeid
    ]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} cases of real models were SKIPPED: DALA_MODELS names no folder of weights"
        )
    if REQUIRED and _skipped:
        listed = ", ".join(_skipped[:5])
        terminalreporter.write_line(f"{len(_skipped)} of them skipped without leave: {listed}")
    if GPU_REQUIRED:
        for line in _account(terminalreporter.stats):
            terminalreporter.write_line(line)


def _account(stats: dict[str, list[Any]]) -> list[str]:
    """What ran on the GPU, and every case that did not, with its reason."""
    best = find_adapters()[0]
    counts = {word: len(stats.get(word, ())) for word in ("passed", "failed", "error", "skipped")}
    skipped: dict[str, list[str]] = {}
    for report in stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "no reason given"
        skipped.setdefault(reason.removeprefix("Skipped: "), []).append(report.nodeid)
    lines = [
        f"adapter: {best}, driver {best.driver or 'unknown'}",
        ", ".join(f"{count} {word}" for word, count in counts.items()),
    ]
    for reason, nodes in sorted(skipped.items()):
        lines += [f"skipped, {reason}:", *(f"    {node}" for node in nodes)]
    return lines


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without an adapter, the cases of that device are skipped, each of them counted."""
    odd = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if odd:  # another in every process: several processes could not share the work
        raise pytest.UsageError(f"a case is named by an address; give it ids=: {odd[0]}")
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
    "test_within_a_level_of_the_reference[median 2]",  # on a software adapter
)
_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note every WebGPU case that was skipped without leave."""
    allowed = any(name in report.nodeid for name in SKIPPED_WITH_REASON)
    if report.skipped and "webgpu" in report.nodeid and not allowed:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the WebGPU cases are required, they cannot silently become fewer; there no file is left."""
    left = files_in_root() - session.config.stash[_files]  # elsewhere somebody may be at work
    if REQUIRED and (left or _skipped) and session.exitstatus == 0:
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


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Kernels that a test registers are gone when it is over, so that no other test finds them."""
    before = set(compute.kernels())
    yield
    for name in set(compute.kernels()) - before:
        compute.unregister(name)


@pytest.fixture(autouse=True)
def scheduling() -> Iterator[None]:
    """What SVT-AV1 makes a real-time thread (see video/library.py) is none for the tests after it."""
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    yield
    if os.sched_getscheduler(0) != policy:
        os.sched_setscheduler(0, policy, param)
