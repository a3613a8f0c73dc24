"""``dala filter`` on deep pictures: they stay deep, or one line says that they do not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dala
from dala import media
from dala.cli import main

LEVELS = np.arange(24 * 36 * 3, dtype=np.uint16).reshape(24, 36, 3) * 25
LINE = "out.jpg does not hold 16 bits (8 bits are kept)"


@pytest.fixture(autouse=True)
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    media.save(LEVELS, "in.tif")


def run(*arguments: str) -> int:
    with dala.use("cpu"):
        return main(["filter", *arguments])


def test_deep_pictures_stay_deep(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("in.tif", "out.png", "--invert") == 0
    np.testing.assert_array_equal(media.open("out.png").pixels, 65535 - LEVELS)
    assert "note" not in "".join(capfd.readouterr())


def test_a_loss_is_one_line_and_none_if_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("in.tif", "out.jpg", "--invert") == 0
    assert capfd.readouterr().err == f"note: {LINE}\n"
    assert run("in.tif", "out.jpg", "--invert", "--overwrite", "--quiet") == 0
    assert capfd.readouterr().err == ""
    assert run("in.tif", "out.jpg", "--invert", "--overwrite", "--json") == 0
    assert json.loads(capfd.readouterr().out)["files"][0]["notes"] == [LINE]


def test_strict_makes_it_an_error_that_leaves_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("in.tif", "out.jpg", "--invert", "--strict") == 1
    assert capfd.readouterr().err == f"dala filter: {LINE}\n"
    assert [p.name for p in Path().iterdir()] == ["in.tif"]
    assert run("in.tif", "out.png", "--invert", "--strict") == 0
