"""Texts that are compared with files. ``DALA_UPDATE_GOLDEN=1 pytest tests/golden`` rewrites those."""

from __future__ import annotations

import os
from pathlib import Path

UPDATE = os.environ.get("DALA_UPDATE_GOLDEN") == "1"


def assert_golden(text: str, path: Path) -> None:
    """The file has this text; it is given it, where golden files are updated."""
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == text
