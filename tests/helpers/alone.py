"""Tests in a process of their own: quiet, and of a known size, whatever ran before them."""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from processes import environment

import dala

CODE = "import sys, alone; alone._run_here(*sys.argv[1:])"


def alone(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test in a fresh interpreter, on the device that its argument ``device`` names.

    What else it takes are values that JSON knows, and ``monkeypatch``.
    """

    @functools.wraps(test)
    def run(**given: Any) -> None:
        values = {k: v for k, v in given.items() if k != "monkeypatch"}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-X", "faulthandler", "-c", CODE,
             test.__code__.co_filename, test.__name__, json.dumps(values)],
            env=environment(),
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.fail(f"in a process of its own:\n{done.stdout}{done.stderr}", pytrace=False)

    return run


def _run_here(path: str, name: str, values: str) -> None:
    pytest.register_assert_rewrite("test_alone")
    spec = importlib.util.spec_from_file_location("test_alone", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    test = getattr(module, name).__wrapped__
    given = json.loads(values)
    with dala.use(given["device"]), pytest.MonkeyPatch.context() as monkeypatch:
        if "monkeypatch" in test.__code__.co_varnames[: test.__code__.co_argcount]:
            given["monkeypatch"] = monkeypatch
        test(**given)
