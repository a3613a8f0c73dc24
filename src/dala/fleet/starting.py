"""How workers' processes are started: on Linux forked by one that has loaded all they need (nursery.py).

macOS must not fork what has loaded its frameworks, and Windows cannot: there each loads for itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Protocol


class Process(Protocol):
    """A worker's process, as far as a pool needs it; ``subprocess.Popen`` is one."""

    stdin: IO[str] | None
    stdout: IO[str] | None

    def wait(self, timeout: float | None = None) -> int:
        """How it has ended: exit code, or the negative number of a signal; or a ``TimeoutExpired``."""
        ...

    def terminate(self) -> None:
        """Tell it to end."""

    def kill(self) -> None:
        """End it."""


class Starter:
    """Starts workers that have some variables; a context manager, left when they have ended."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        source = str(Path(__file__).parents[2])  # this very dala
        paths = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH", "")]))
        self.environment = {**os.environ, **variables, "PYTHONPATH": paths}

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *_raised: object) -> None:
        return None

    def start(self, errors: IO[bytes]) -> Process:
        """A new worker; what it says besides its replies goes into a file."""
        return subprocess.Popen(
            [sys.executable, "-m", "dala.fleet.worker"],
            env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            text=True, encoding="utf-8", start_new_session=True,  # a Ctrl-C is for whoever began the job
        )  # fmt: skip


def how_it_ended(code: int, errors: IO[bytes]) -> str:
    """By what, and the last that it said."""
    errors.seek(0)
    last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}{': ' + last[0] if last else ''}"
