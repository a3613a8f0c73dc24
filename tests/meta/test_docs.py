"""The pages that are written by scripts say what the kernels and looks say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dala import media

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["build.py", "gallery.py", "stubs.py"])
def test_the_pages_are_up_to_date(script: str) -> None:
    command = [sys.executable, str(ROOT / "docs" / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_look_has_its_picture() -> None:
    pictures = {path.stem for path in (ROOT / "docs" / "looks").glob("*.jpg")}
    assert pictures == set(media.looks.names())
