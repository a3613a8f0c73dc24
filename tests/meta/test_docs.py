"""The catalogue page says what the kernels declare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_catalogue_page_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
