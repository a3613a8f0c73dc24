"""How workers' processes are started: on Linux forked by one that has loaded all they need (nursery.py).

macOS must not fork what has loaded its frameworks, and Windows cannot: there each loads for itself.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol, TypeVar

from dala.errors import FleetError

Started = TypeVar("Started")
PAUSES_S = (0.1, 0.2, 0.4, 0.8)  # until the next attempt, while a machine has no room
_PASSING = (errno.EAGAIN, errno.ENOMEM)  # other processes end, too
_LAST_SAID = 4096  # bytes
TOLD = 128 + signal.SIGTERM  # exit code of a worker that was told to end


class NoWorkerError(FleetError):
    """This one worker cannot be started; others may be at work."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"no worker can be started ({why}); with fewer workers a job needs fewer processes and open "
            "files, see also: ulimit -u, ulimit -n"
        )


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
        """A new worker, or a NoWorkerError; what it says besides its replies goes into a file."""
        return patiently(lambda: self._start(errors))

    def _start(self, errors: IO[bytes]) -> Process:
        return subprocess.Popen(
            [sys.executable, "-m", "dala.fleet.worker"],
            env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            text=True, encoding="utf-8", start_new_session=True,  # a Ctrl-C is for whoever began the job
        )  # fmt: skip


def patiently(start: Callable[[], Started], pauses: Sequence[float] = PAUSES_S) -> Started:
    """What that starts, at once or a little later."""
    try:
        return start()
    except OSError as error:
        if not pauses or error.errno not in _PASSING:
            raise NoWorkerError(error.strerror or str(error)) from error
    time.sleep(pauses[0])
    return patiently(start, pauses[1:])


def how_it_ended(code: int, errors: IO[bytes]) -> str:
    """By what, and the last that it said."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - _LAST_SAID))
    last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}{': ' + last[0] if last else ''}"
