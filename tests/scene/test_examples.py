"""Each example of a scene runs, and its picture is the one in the documentation.

DALA_UPDATE_GOLDEN=1 rewrites the pictures; look at them before you commit them.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import numpy as np
import pytest

from dala import media

image = pytest.importorskip("PIL.Image")
pytest.importorskip("uharfbuzz")
ROOT = Path(__file__).parents[2]
NAMES = ["streamer", "conference", "title", "karaoke", "slides", "scoreboard", "audiogram"]


@pytest.mark.parametrize("name", NAMES)
def test_the_picture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module(f"scene_{name}")
    with example.make() as stage:
        stage.render(0.0)
        seen = stage.render(example.AT).to_array()[..., :3]
        assert np.array_equal(stage.render(0.0).to_array(), stage.render(0).to_array())
    path = ROOT / "docs" / "scenes" / f"{name}.jpg"
    if os.environ.get("DALA_UPDATE_GOLDEN"):
        media.save(seen.copy(), path, quality=88)
    with image.open(path) as opened:
        wanted = np.asarray(opened)
    assert seen.shape == wanted.shape
    # a JPEG is near, not equal; letters differ with the fonts of the machine
    assert (np.abs(seen.astype(int) - wanted) > 40).any(-1).mean() < 0.02
