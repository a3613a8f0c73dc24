"""The sheet of letters: it is drawn, and its two columns have ink."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]


def test_the_sheet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    lettering = importlib.import_module("lettering")
    monkeypatch.setattr("sys.argv", ["lettering.py", "--out", str(tmp_path / "sheet.png")])
    lettering.main()
    with Image.open(tmp_path / "sheet.png") as opened:
        sheet = np.asarray(opened).astype(int)
    assert sheet.shape == (900, 1280, 3)
    bright = sheet.max(axis=2) > 180
    rows = [
        bright[34 + row * 57 : 80 + row * 57, 190:700].mean()
        for row in range(len(lettering.SCRIPTS))
    ]
    assert min(rows) > 0.005, rows
    assert bright[:, 740:].mean() > 0.02
    with Image.open(ROOT / "docs" / "text" / "lettering.png") as opened:
        assert opened.size == (1280, 900)
