"""A virtual screen whose pixels can be read. Needs Xvfb, rendercanvas, glfw and a Vulkan driver."""

from __future__ import annotations

import importlib.util
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

REQUIRED = os.environ.get("DALA_REQUIRE_WINDOW") == "1"
SCREEN = (640, 480)


def missing() -> str:
    """What there is not to show windows here; empty if all is there."""
    if shutil.which("Xvfb") is None:
        return "Xvfb is not installed"
    for package in ("rendercanvas", "glfw", "wgpu"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return ""


def virtual_screen(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A fixture: the environment for a process that draws on the screen, with the file of its pixels."""
    if missing():
        if REQUIRED:
            pytest.fail(f"DALA_REQUIRE_WINDOW=1, but {missing()}")
        pytest.skip(missing())
    reader, writer = os.pipe()
    size = f"{SCREEN[0]}x{SCREEN[1]}x24"
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-fbdir", str(tmp_path)],
        pass_fds=[writer],
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as answer:
        number = answer.readline().strip()
    assert number, "Xvfb did not start"
    yield {
        **os.environ,
        "DISPLAY": f":{number}",
        "SCREEN_FILE": str(tmp_path / "Xvfb_screen0"),
    }
    server.terminate()
    server.wait(300)


def screenshot(path: Path) -> np.ndarray:
    """Red, green and blue of an X window dump, as Xvfb keeps it."""
    raw = path.read_bytes()
    words = struct.unpack(">25I", raw[:100])
    header, width, height, row, colors = words[0], words[4], words[5], words[12], words[19]
    pixels = np.frombuffer(raw, np.uint8, height * row, header + colors * 12)
    return pixels.reshape(height, row // 4, 4)[:, :width, 2::-1]
