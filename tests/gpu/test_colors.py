"""Colours in every form that is taken, and those that are not."""

from __future__ import annotations

import numpy as np
import pytest

from dala.colors import NAMES, rgba, rgba_array
from dala.errors import ColorError


@pytest.mark.parametrize(
    ("color", "wanted"),
    [
        ("red", (255, 0, 0, 255)),
        ("green", (0, 255, 0, 255)),  # as in the original, not as in CSS
        ("transparent", (0, 0, 0, 0)),
        ("RebeccaPurple", (102, 51, 153, 255)),
        ("#0a0B0c", (10, 11, 12, 255)),
        ("#0a0b0c80", (10, 11, 12, 128)),
        ((1, 2, 3), (1, 2, 3, 255)),
        ((1, 2, 3, 4), (1, 2, 3, 4)),
        ([1, 2, 3], (1, 2, 3, 255)),
        (np.array([1, 2, 3, 4]), (1, 2, 3, 4)),
        (np.array([1, 2, 3, 4], np.uint8), (1, 2, 3, 4)),
    ],
)
def test_colors(color: object, wanted: tuple[int, ...]) -> None:
    assert tuple(rgba(color)) == wanted
    assert tuple(rgba(color)) == wanted  # the second time it is looked up


@pytest.mark.parametrize(
    ("color", "message"),
    [
        ("redd", "no colour is named 'redd'; did you mean 'red'?"),
        ("#12345", "expected a colour's name"),
        ("#12 456", "expected a colour's name"),
        ("#gggggg", "expected a colour's name"),
        ((1, 2), "expected a colour's name"),
        ((1, 2, 3, 4, 5), "expected a colour's name"),
        ((1, 2, 256), "a colour's parts are 0..255, got 256"),
        ((1, 2, -1), "a colour's parts are 0..255, got -1"),
        ((1, 2, 0.5), "expected a colour's name"),
        (7, "expected a colour's name"),
        (None, "expected a colour's name"),
    ],
)
def test_wrong_colors(color: object, message: str) -> None:
    for _ in range(2):
        with pytest.raises(ColorError) as caught:
            rgba(color)
        assert message in str(caught.value)


def test_all_css_names() -> None:
    assert len(NAMES) == 148 + 1  # CSS level 4, and transparent
    assert all(len(c) == 4 for c in NAMES.values())


def test_many_different_colors_are_forgotten() -> None:
    for i in range(40_000):
        assert rgba((i & 255, i >> 8, 7)) == bytes((i & 255, i >> 8, 7, 255))


def test_arrays_of_colors() -> None:
    assert rgba_array("red", 3).tolist() == [255, 0, 0, 255]
    assert rgba_array(["red", (1, 2, 3)], 2).tolist() == [[255, 0, 0, 255], [1, 2, 3, 255]]
    assert rgba_array([1, 2, 3], 3).tolist() == [1, 2, 3, 255]
    assert rgba_array(np.array([[1, 2, 3]]), 1).tolist() == [[1, 2, 3, 255]]
    with pytest.raises(ColorError, match="whole numbers"):
        rgba_array(np.zeros((1, 4)), 1)
    with pytest.raises(ColorError, match=r"0\.\.255"):
        rgba_array(np.full((1, 4), 256), 1)
