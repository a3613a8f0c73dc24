"""Tests of jobs need PyAV; without it they are skipped, visibly."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

HAS_AV = importlib.util.find_spec("av") is not None
collect_ignore_glob = [] if HAS_AV else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line, also with -q, where they were left out."""
    if not HAS_AV:
        terminalreporter.write_line("fleet cases were SKIPPED: pip install av")


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 frames in groups of 10, with B-frames, and a second and a half of sound with clicks."""
    import av

    path = tmp_path_factory.mktemp("fleet") / "clip.mp4"
    with av.open(path, "w") as container:
        container.metadata["title"] = "Blocks"
        container.set_chapters(
            [{"id": n, "start": n * 800, "end": n * 800 + 800, "time_base": Fraction(1, 1000),
              "metadata": {"title": f"Chapter {n}"}} for n in range(3)]
        )  # fmt: skip
        pictures = container.add_stream(
            "libx264", rate=25, options={"g": "10", "sc_threshold": "0"}
        )
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("aac", rate=48_000, layout="mono")
        random = np.random.default_rng(3)
        for number in range(60):
            picture = random.integers(0, 256, (6, 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)
            frame = av.VideoFrame.from_ndarray(picture)
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(pictures.encode(frame))
            click = np.zeros((1, 1920), np.float32)
            click[0, number % 7 * 100] = 0.8
            heard = av.AudioFrame.from_ndarray(click, "fltp", "mono")
            heard.pts, heard.sample_rate, heard.time_base = (
                number * 1920,
                48_000,
                Fraction(1, 48_000),
            )
            container.mux(sound.encode(heard))
        container.mux(pictures.encode(None))
        container.mux(sound.encode(None))
    return path
