"""Tests of jobs need PyAV; without it they are skipped, visibly."""

from __future__ import annotations

import importlib.util

import pytest

HAS_AV = importlib.util.find_spec("av") is not None
collect_ignore_glob = [] if HAS_AV else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line, also with -q, where they were left out."""
    if not HAS_AV:
        terminalreporter.write_line("fleet cases were SKIPPED: pip install av")
