"""Tests of scenes: on the CPU, unless one says otherwise; and no thread of ours is left when it is over."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import dala

OURS = (
    "dala-ahead",
    "dala-live",
    "dala-decode",
    "dala-filter",
    "dala-encode",
    "dala-latest",
    "dala-out",
)


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with dala.use("cpu"):
        yield
    for thread in threading.enumerate():
        if thread.name.startswith(OURS):
            thread.join(300)
            assert not thread.is_alive(), thread.name
