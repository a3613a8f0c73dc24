"""RGB ↔ RGBA, in runs of any length and on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from dala.media import packing


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (3, 7), (40, 50), (257, 131)], ids=str)
def test_there_and_back(
    threads: int, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "COPIERS", threads)
    monkeypatch.setattr(packing, "PART", 40)
    rgb = np.random.default_rng(0).integers(
        0, 255, (*shape, 3), np.uint8
    )  # alpha is no level of it
    rgba = packing.add_alpha(rgb)
    assert np.array_equal(rgba[..., :3], rgb) and (rgba[..., 3] == 255).all()
    assert np.array_equal(packing.drop_alpha(rgba), rgb)
    room = np.zeros((*shape, 4), np.uint8)
    assert packing.add_alpha(rgb[:, ::-1], room) is room
    assert np.array_equal(room, rgba[:, ::-1])
