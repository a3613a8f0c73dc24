"""Each drawing example runs, and its picture is the one in the documentation.

DALA_UPDATE_GOLDEN=1 rewrites the pictures; look at them before you commit them.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

image = pytest.importorskip("PIL.Image")
ROOT = Path(__file__).parents[2]
EXAMPLES = ["primitives", "bouncing_sprites", "clock"]
ON_A_GPU = ["plasma"]
INKED = ["particles", "breakout", "plot"]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_the_picture(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(name, device, monkeypatch)


@pytest.mark.parametrize("name", INKED)
def test_the_picture_in_ink(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("uharfbuzz")
    # letters differ with the fonts of the machine, by some of the plot's pixels
    compare(name, "cpu", monkeypatch, most=0.03 if name == "plot" else 0.005)


@pytest.mark.parametrize("name", ON_A_GPU)
@pytest.mark.parametrize("device", ["webgpu"])
def test_the_picture_by_a_shader(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(name, device, monkeypatch)


def compare(name: str, device: str, monkeypatch: pytest.MonkeyPatch, most: float = 0.001) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module(name).EXAMPLE
    path = ROOT / "docs" / "surfaces" / f"{name}.png"
    with example.surface(device) as surface:
        example.draw(surface, example.at)
        surface.present().wait()
        seen = np.array(surface)
        if os.environ.get("DALA_UPDATE_GOLDEN"):
            surface.save(path)
    with image.open(path) as opened:
        wanted = np.asarray(opened)
    assert seen.shape == wanted.shape
    # the rasteriser is exact; sines and square roots of the examples may round differently elsewhere
    differ = (np.abs(seen.astype(int) - wanted) > 3).any(-1).mean()
    assert differ < most


def test_a_drawing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module("bouncing_sprites").EXAMPLE
    frames = []
    with example.surface() as surface:
        for second in (0.0, 0.5):
            example.draw(surface, second)
            frames.append(np.array(surface))
    assert (frames[0] != frames[1]).any(-1).mean() > 0.05


@pytest.mark.parametrize("name", EXAMPLES)
def test_from_the_command_line(name: str, tmp_path: Path) -> None:
    script = str(ROOT / "examples" / f"{name}.py")
    command = [sys.executable, script, "--out", str(tmp_path / "x.png")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.png").exists()
