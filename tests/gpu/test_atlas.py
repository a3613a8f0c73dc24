"""Sprites share pages and never a pixel; what is removed makes room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples

from dala.errors import PictureNotFoundError
from dala.gpu.atlas import PAGE_SIDE, Atlas


def picture(number: int, w: int, h: int) -> np.ndarray:
    return np.full((h, w, 4), number % 251, np.uint8)


def look(atlas: Atlas, number: int) -> np.ndarray:
    found = atlas.find(number)
    assert found.place is not None
    begin = found.place.begin
    flat = found.pixels.array.reshape(-1, 4)[begin : begin + found.width * found.height]
    assert (found.address, found.stride) == (int(flat.ctypes.data), found.width * 4)
    return flat.reshape(found.height, found.width, 4)


steps = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 400), st.integers(1, 400), st.booleans()),
    max_size=40,
)


@settings(max_examples=examples(60))
@given(steps)
def test_every_sprite_keeps_its_pixels(made: list[tuple[int, int, int, bool]]) -> None:
    atlas = Atlas()
    known: dict[int, np.ndarray] = {}
    for count, (number, w, h, remove) in enumerate(made):
        if remove and number in known:
            atlas.remove(number)
            del known[number]
        else:
            known[number] = picture(count, w, h)
            atlas.load(number, known[number])
        atlas.commit()
        for key, pixels in known.items():
            assert (look(atlas, key) == pixels).all()
    assert len(atlas) == len(known)
    for key in known:
        atlas.remove(key)
    atlas.commit()
    assert len(atlas.pages) <= 1
    assert not any(page.shelves for page in atlas.pages)


def test_sprites_are_packed() -> None:
    atlas = Atlas()
    for number in range(256):
        atlas.load(number, picture(number, 64, 64))
    assert len(atlas.pages) == 1  # 16 × 16 of them fill a page


def test_room_is_used_again() -> None:
    atlas = Atlas()
    for number in range(256):
        atlas.load(number, picture(number, 64, 64))
    for turn in range(5):
        for number in range(0, 256, 3):
            atlas.remove(number)
        atlas.commit()
        for number in range(0, 256, 3):
            atlas.load(number, picture(turn, 60, 61))
    assert len(atlas.pages) == 1


def test_large_sprites_have_their_own_page() -> None:
    atlas = Atlas()
    atlas.load(1, picture(1, 3 * PAGE_SIDE, 5))
    atlas.load(2, picture(2, 5, 3 * PAGE_SIDE))
    assert (look(atlas, 1) == 1).all()
    assert (look(atlas, 2) == 2).all()


def test_rolling_back() -> None:
    atlas = Atlas()
    for number in range(4):
        atlas.load(number, picture(number, 30, 30))
    atlas.commit()
    before = atlas.begin()
    atlas.remove(0)
    atlas.load(1, picture(9, 30, 30))
    atlas.load(5, picture(5, 30, 30))
    atlas.load(5, picture(6, 30, 30))
    atlas.rollback(before)
    assert len(atlas) == 4
    for number in range(4):
        assert (look(atlas, number) == number).all()
    with pytest.raises(PictureNotFoundError, match="no sprite has the number 5"):
        atlas.find(5)
    for number in range(10, 14):  # what was freed can be used, what was kept cannot
        atlas.load(number, picture(number, 30, 30))
    for number in range(4):
        assert (look(atlas, number) == number).all()


def test_the_table_is_sorted_as_unsigned() -> None:
    atlas = Atlas()
    for number in (2**64 - 1, 3, 2**63, 0):
        atlas.load(number, picture(1, 1, 1))
    assert atlas.table()[:, 0].astype(np.uint64).tolist() == [0, 3, 2**63, 2**64 - 1]


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(0, 80), st.sampled_from("llrtb")), max_size=60))
def test_the_table_follows_every_change(steps: list[tuple[int, str]]) -> None:
    atlas = Atlas()
    for number in range(0, 120, 2):  # so many that a change is put in by itself
        atlas.load(number, picture(number, 2, 2))
    before = atlas.begin()
    for count, (near, step) in enumerate(steps):
        number = near + (2**64 - 81) * (near % 3 == 0)
        if step == "l":
            atlas.load(number, picture(count, 1 + count % 5, 2))
        elif step == "r" and number in atlas.begin():
            atlas.remove(number)
        elif step == "b":
            atlas.rollback(before)
        else:
            expect_table(atlas)
    expect_table(atlas)


def expect_table(atlas: Atlas) -> None:
    known = atlas.begin()
    wanted = [
        (number, p.address, p.stride, p.width, p.height) for number, p in sorted(known.items())
    ]
    assert [(number % 2**64, *rest) for number, *rest in atlas.table().tolist()] == wanted
