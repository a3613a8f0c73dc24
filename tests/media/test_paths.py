"""A path is a picture: filtered, it is a photo, which can be saved with all that belongs to it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dala import media
from dala.errors import MediaError

RNG = np.random.default_rng(4)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    pixels = RNG.integers(0, 256, (20, 30, 3), np.uint8)
    Image.fromarray(pixels).save(path, dpi=(300, 300))
    return path


@pytest.mark.parametrize("kind", [str, Path, os.fspath])
def test_a_path_through_a_filter_into_a_file(photo: Path, kind: type) -> None:
    soft = photo.with_name("soft.png")
    made = media.blur(kind(photo), 3)
    assert isinstance(made, media.Photo)
    made.save(soft)
    with Image.open(photo) as before, Image.open(soft) as after:
        wanted = media.blur(np.asarray(before), 3)
        assert np.array_equal(np.asarray(after), wanted)
        assert after.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_chains_looks_and_geometry_take_paths(photo: Path) -> None:
    assert media.apply_filters(str(photo), "noir").pixels.shape == (20, 30, 3)
    assert media.apply_filter(str(photo), "invert").width == 30
    turned = media.rotate(photo, 90)
    assert (turned.width, turned.height) == (20, 30)
    marked = media.overlay(photo, str(photo), "top-left", 0.5)
    assert not np.array_equal(marked.pixels, media.open(photo).pixels)
    assert media.auto_levels(photo).channels == "rgb"


def test_sixteen_bits_stay_through_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "deep.png"
    deep = RNG.integers(0, 65536, (12, 16, 3), np.uint16)
    media.save(deep, path)
    assert np.array_equal(media.rotate(path, 90).pixels, np.rot90(deep))
    assert np.array_equal(media.crop(path, 1, 2, 5, 4).pixels, deep[2:6, 1:6])
    for made in (media.auto_levels(path), media.auto_white_balance(path), media.resize(path, scale=0.5),
                 media.overlay(path, path), media.apply_filters(path, "film")):  # fmt: skip
        assert made.bits == 16
        assert len(np.unique(made.pixels)) > 50


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(
        MediaError, match=r"blur: cannot read the picture 'no.jpg': there is no such file"
    ):
        media.blur("no.jpg", 3)
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    with pytest.raises(MediaError, match=r"notes.txt"):
        media.blur(text, 3)


def test_photos_in_a_notebook(photo: Path, tmp_path: Path) -> None:
    for pixels in (media.open(photo), media.grayscale(photo)):
        png = pixels._repr_png_()
        shown = tmp_path / "shown.png"
        shown.write_bytes(png)
        with Image.open(shown) as opened:
            assert opened.size == (30, 20)
            assert np.array_equal(np.asarray(opened.convert("RGB")), pixels.pixels)
    media.save(RNG.integers(0, 65536, (1000, 40), np.uint16), tmp_path / "deep.png")
    assert media.open(tmp_path / "deep.png")._repr_png_().startswith(b"\x89PNG")
