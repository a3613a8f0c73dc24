"""The processes of a job's pool."""

from __future__ import annotations

import os
from pathlib import Path


def worker_pids() -> list[int]:
    """The workers that this process has started and that are alive."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
            command = (folder / "cmdline").read_bytes()
        except (OSError, IndexError, ValueError):  # it has ended meanwhile
            continue
        if parent == os.getpid() and state != "Z" and b"dala.fleet.worker" in command:
            found.append(int(folder.name))
    return found
