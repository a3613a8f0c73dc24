"""``dala`` in a terminal, as a person sees it."""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import sys
import time

DALA = [sys.executable, "-m", "dala"]


def in_terminal(
    arguments: list[str], *, columns: int = 80, interrupt_at: str = "", **env: str
) -> tuple[int, str]:
    """Exit code and everything that was written to a terminal; Ctrl-C once a text has been seen."""
    import fcntl
    import pty
    import termios

    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    settings = {**os.environ, "TERM": "xterm-256color", **env}
    for name in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR"):
        if name not in env:
            settings.pop(name, None)
    process = subprocess.Popen(
        [*DALA, *arguments],
        stdin=terminal, stdout=terminal, stderr=terminal, env=settings, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(terminal)
    seen, until = b"", time.monotonic() + 300
    while time.monotonic() < until:
        if not select.select([keeper], [], [], 0.2)[0]:
            continue
        try:
            read = os.read(keeper, 65_536)
        except OSError:  # the last one has left the terminal
            break
        if not read:
            break
        seen += read
        if interrupt_at and interrupt_at in seen.decode(errors="replace"):
            os.write(keeper, b"\x03")
            interrupt_at = ""
    os.close(keeper)
    return process.wait(300), seen.decode(errors="replace")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
