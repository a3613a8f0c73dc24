"""Programs that run in a Python of their own, with the same dala and the same packages as this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import dala

HANGS_S = 300.0  # no measure of anything: whoever takes that long has stopped working

SRC = Path(dala.__file__).parents[1]
HELPERS = Path(__file__).parent


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, with dala's source and these helpers first on the path.

    A pytest that it runs is nobody's worker.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    paths = [str(SRC), str(HELPERS), os.environ.get("PYTHONPATH", "")]
    return {**own, **changes, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def start_python(text: str, *arguments: str) -> subprocess.Popen[str]:
    """A running program."""
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        start_new_session=True,
    )  # fmt: skip


def run_to_the_end(text: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors; raises TimeoutExpired if the program does not end."""
    with start_python(text, *arguments) as process:
        try:
            out, errors = process.communicate(timeout=HANGS_S)
        except BaseException:
            if hasattr(os, "killpg"):  # what it has forked, too
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            raise
    return process.returncode, out, errors
