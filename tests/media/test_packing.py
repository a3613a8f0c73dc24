"""RGB ↔ RGBA, in runs of any length and on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples
from several_threads import use_threads

from dala.media.packing import add_alpha, drop_alpha


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (3, 7), (40, 50), (257, 131)], ids=str)
def test_there_and_back(
    threads: int, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_threads(monkeypatch, threads)
    rgb = np.random.default_rng(0).integers(
        0, 255, (*shape, 3), np.uint8
    )  # alpha is no level of it
    rgba = add_alpha(rgb)
    assert np.array_equal(rgba[..., :3], rgb) and (rgba[..., 3] == 255).all()
    assert np.array_equal(drop_alpha(rgba), rgb)
    room = np.zeros((*shape, 4), np.uint8)
    assert add_alpha(rgb[:, ::-1], room) is room
    assert np.array_equal(room, rgba[:, ::-1])


@settings(max_examples=examples(60))
@given(rows=st.integers(1, 20), columns=st.integers(1, 40), is_float=st.booleans())
def test_any_size(rows: int, columns: int, is_float: bool) -> None:
    rgb = np.random.default_rng(columns).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
    if is_float:
        rgb = rgb.astype(np.float32)
    packed = add_alpha(rgb)
    assert (packed[..., :3] == rgb).all() and (packed[..., 3] == (1 if is_float else 255)).all()
    assert (drop_alpha(packed) == rgb).all()


def test_large_pictures() -> None:
    rgba = np.random.default_rng(0).integers(0, 256, (1081, 1923, 4), dtype=np.uint8)
    rgb = drop_alpha(rgba)
    assert (rgb == rgba[..., :3]).all() and rgb.flags.owndata
    assert (add_alpha(rgb)[..., :3] == rgb).all()
