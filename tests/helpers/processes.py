"""Programs that run in a Python of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

HANGS_S = 60.0  # no measure of anything: whoever takes that long has stopped working


def start_python(text: str, *arguments: str) -> subprocess.Popen[str]:
    """A running program."""
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


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
