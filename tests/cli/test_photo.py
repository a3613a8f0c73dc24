"""Picture files: what belongs to a photo besides its pixels stays with it."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from dala.cli.photo import filter_photo
from dala.errors import MediaError, MediaFileError
from dala.media import Chain
from dala.media.files import format_of, open_photo

INVERT, NOTHING = Chain.of("invert"), Chain()
ORIENTATION = 0x0112


def rgb(width: int = 40, height: int = 30) -> Any:
    rng = np.random.default_rng(5)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), np.uint8))


def through(image: Any, tmp_path: Path, chain: Chain, name: str = "out.png", **saved: Any) -> Any:
    """An image saved, filtered and opened again."""
    source = tmp_path / f"in{saved.pop('ending', '.png')}"
    image.save(source, **saved)
    target = tmp_path / name
    filter_photo(source, target, target, chain, 95, tell=lambda line: None)
    with Image.open(target) as opened:
        opened.load()
        return opened


def test_colours_are_those_of_the_filter(tmp_path: Path) -> None:
    image = rgb()
    result = through(image, tmp_path, INVERT)
    assert result.mode == "RGB"
    assert (np.asarray(result) == 255 - np.asarray(image)).all()


def test_alpha_is_kept_and_flattened_on_black_where_it_must(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    image = rgb()
    image.putalpha(Image.fromarray(rng.integers(0, 256, (30, 40), np.uint8)))
    result = through(image, tmp_path, INVERT)
    assert result.mode == "RGBA"
    assert (np.asarray(result)[..., 3] == np.asarray(image)[..., 3]).all()
    clear = Image.new("RGBA", (40, 30), (255, 255, 255, 0))
    flat = through(clear, tmp_path, NOTHING, "out.jpg")
    assert flat.mode == "RGB"
    assert np.asarray(flat).max() <= 2


def test_a_filter_may_make_alpha(tmp_path: Path) -> None:
    green = Image.new("RGB", (16, 16), (0, 177, 64))
    result = through(green, tmp_path, Chain.of("chroma_key"))
    assert result.mode == "RGBA"
    assert np.asarray(result)[..., 3].max() == 0


def test_grey_stays_grey_unless_the_filter_adds_colour(tmp_path: Path) -> None:
    grey = rgb().convert("L")
    assert through(grey, tmp_path, INVERT).mode == "L"
    assert through(grey, tmp_path, INVERT, "out.jpg").mode == "L"
    assert through(grey, tmp_path, Chain.of("sepia")).mode == "RGB"
    assert through(rgb().convert("LA"), tmp_path, INVERT).mode == "LA"


def test_sixteen_bits_stay_sixteen(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 65_536, (20, 30)).astype(np.uint16)
    result = through(Image.fromarray(levels), tmp_path, INVERT)
    assert result.mode.startswith("I")
    back = np.asarray(result).astype(int)
    assert np.abs(back - (65_535 - levels.astype(int))).max() <= 1
    assert through(Image.fromarray(levels), tmp_path, INVERT, "out.jpg").mode == "L"


def reads_back(image: Image.Image, path: Path) -> bool:
    image.save(path)
    with Image.open(path) as written:
        try:
            written.load()
        except OSError:
            return False
    return True


@pytest.mark.parametrize("mode", ["1", "P", "CMYK", "YCbCr", "RGBX"])
def test_other_modes_become_rgb(mode: str, tmp_path: Path) -> None:
    image = rgb().convert(mode)
    source = ".tif" if mode != "P" else ".png"
    if not reads_back(image, tmp_path / f"probe{source}"):
        pytest.skip(f"this Pillow cannot read a {mode} picture that it wrote")
    result = through(image, tmp_path, NOTHING, ending=source)
    expected = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(np.asarray(result.convert("RGB")).astype(int) - expected).max() <= 1


def test_the_orientation_of_a_phone_is_applied_once(tmp_path: Path) -> None:
    upright = np.zeros((30, 40, 3), np.uint8)
    upright[:, :20] = 255  # the left is white
    turned = Image.fromarray(np.rot90(upright).copy())
    exif = turned.getexif()
    exif[ORIENTATION] = 6  # show it turned clockwise
    exif[0x010F] = "Maker"
    result = through(turned, tmp_path, NOTHING, "out.jpg", ending=".jpg", exif=exif, quality=98)
    assert result.size == (40, 30)
    pixels = np.asarray(result)
    assert pixels[:, :18].min() > 200
    assert pixels[:, 22:].max() < 60
    assert result.getexif().get(ORIENTATION, 1) == 1
    assert result.getexif()[0x010F] == "Maker"


def test_the_colour_profile_is_kept(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for name in ("out.png", "out.jpg", "out.webp", "out.tif"):
        result = through(rgb(), tmp_path, INVERT, name, icc_profile=profile)
        assert result.info["icc_profile"] == profile, name
    grey = through(rgb().convert("L"), tmp_path, Chain.of("sepia"), icc_profile=profile)
    assert "icc_profile" not in grey.info  # it spoke of greys


def test_animations_keep_their_frames_and_times(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (16, 12), (level, 0, 0)) for level in (0, 120, 240)]
    more = {"save_all": True, "append_images": frames[1:], "duration": [50, 70, 90], "loop": 2}
    through(frames[0], tmp_path, INVERT, "out.gif", ending=".gif", **more)
    seen, times = [], []
    with Image.open(tmp_path / "out.gif") as opened:
        assert opened.n_frames == 3
        for number in range(3):
            opened.seek(number)
            seen.append(opened.convert("RGB").getpixel((3, 3))[0])
            times.append(opened.info["duration"])
    assert np.abs(np.array(seen) - (255, 135, 15)).max() <= 8
    assert times == [50, 70, 90]
    with pytest.raises(MediaError, match=r"x\.jpg: 3 frames; \.jpg files have only one"):
        filter_photo(tmp_path / "in.gif", tmp_path / "x.jpg", tmp_path / "x.jpg", INVERT, 90)


def test_pages_stay_pages_and_become_nothing_else(tmp_path: Path) -> None:
    pages = [rgb(), rgb()]
    pages[0].save(tmp_path / "in.tif", save_all=True, append_images=pages[1:])
    for ending in (".jpg", ".gif", ".png"):
        target = tmp_path / f"out{ending}"
        with pytest.raises(
            MediaError, match=rf"out\{ending}: 2 pages; \{ending} files have only one"
        ):
            filter_photo(tmp_path / "in.tif", target, target, INVERT, 90)
        assert not target.exists()


def test_filters_may_change_the_size(tmp_path: Path) -> None:
    half = Chain.of([("resize", {"width": 20}), ("crop", {"width": 10, "height": 8})])
    assert through(rgb(), tmp_path, half).size == (10, 8)


# -- what is damaged -----------------------------------------------------------------------------------


def jpeg() -> bytes:
    data = io.BytesIO()
    rgb(400, 300).save(data, "JPEG")
    return data.getvalue()


BROKEN = {
    "empty": (b"", "the file is empty"),
    "text": (b"hello, this is no picture\n" * 20, "not a picture that can be read"),
    "truncated": (jpeg()[:5000], "the picture is damaged: .*truncated"),
    "only a head": (jpeg()[:100], "damaged|not a picture"),
    "png without end": (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "damaged|not a picture"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damage_is_one_error_about_the_file(name: str, tmp_path: Path) -> None:
    data, words = BROKEN[name]
    source = tmp_path / "in.jpg"
    source.write_bytes(data)
    with pytest.raises(MediaError, match=f"in.jpg: .*({words})"):
        open_photo(source)


def test_flipped_bits_are_an_error_or_a_picture(tmp_path: Path) -> None:
    """Never another exception, whatever is wrong with the bytes."""
    good, source = jpeg(), tmp_path / "in.jpg"
    outcomes = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        data = bytearray(good)
        for place in rng.integers(0, len(data), 1 + seed % 20):
            data[place] ^= 1 << int(rng.integers(8))
        source.write_bytes(data)
        try:
            photo = open_photo(source)
            outcomes.add("picture")
            assert photo.pixels.shape[2] == 3
        except MediaError:
            outcomes.add("error")
    assert outcomes == {"picture", "error"}


@pytest.mark.skipif(os.name == "nt", reason="has other permissions")
def test_no_permission(tmp_path: Path) -> None:
    source = tmp_path / "in.jpg"
    source.write_bytes(jpeg())
    source.chmod(0)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65_534)  # root may read everything
    try:
        with pytest.raises(MediaFileError, match=r"in\.jpg: no permission"):
            open_photo(source)
    finally:
        if was_root:
            os.seteuid(0)


def test_unknown_endings() -> None:
    assert format_of(Path("a.JPG")) == "JPEG"
    with pytest.raises(MediaError, match=r"no picture format is called '\.jpgg'; did you mean"):
        format_of(Path("a.jpgg"))
    with pytest.raises(MediaError, match="no picture format is called 'nothing'"):
        format_of(Path("a"))
