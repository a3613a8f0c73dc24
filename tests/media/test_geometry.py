"""Turning, fitting, cutting and marking photos: as functions, in chains, and in videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import data

from dala import media, video
from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.media import Chain

COFFEE = data.coffee()  # 600 × 400


@pytest.mark.parametrize("degrees", [90, 180, 270, -90, 450])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_right_angles_lose_nothing(degrees: int, kind: type) -> None:
    photo = COFFEE if kind is np.uint8 else np.float32(COFFEE / 255)
    turned = media.rotate(photo, degrees)
    assert np.array_equal(turned, np.rot90(photo, degrees // 90))


def test_a_turned_chain_knows_its_size_and_any_other_angle_keeps_it() -> None:
    assert Chain.of([("rotate", {"degrees": 90}), "blur"]).size_after(600, 400) == (400, 600)
    assert Chain.of([("rotate", {"degrees": 30})]).size_after(600, 400) == (600, 400)
    with media.start_pipeline(600, 400) as frames:
        assert frames.process(COFFEE, [("rotate", {"degrees": 30})]).shape == (400, 600, 3)
        assert frames.process(COFFEE, [("rotate", {"degrees": 270})]).shape == (600, 400, 3)
        # of one structure but for the size
        assert frames.process(COFFEE, [("rotate", {"degrees": 31})]).shape == (400, 600, 3)


@pytest.mark.parametrize(
    ("params", "size"),
    [
        ({"scale": 0.5}, (300, 200)),
        ({"long_edge": 150}, (150, 100)),
        ({"width": 300}, (300, 200)),
        ({"height": 100}, (150, 100)),
        ({"width": 300, "height": 300}, (300, 300)),
        ({"width": 300, "height": 300, "fit": "contain"}, (300, 200)),
        ({"width": 300, "height": 100, "fit": "contain"}, (150, 100)),
        ({"width": 300, "height": 300, "fit": "cover"}, (300, 300)),
        ({"scale": 0.0001}, (1, 1)),
    ],
)
def test_sizes(params: dict[str, object], size: tuple[int, int]) -> None:
    assert Chain.of([("resize", params)]).size_after(600, 400) == size
    assert media.resize(COFFEE, **params).shape == (size[1], size[0], 3)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic", "area", "lanczos"])
def test_cover_is_the_middle(interpolation: str) -> None:
    """Away from the cut, where a wider window sees what was cut off."""
    covered = media.resize(COFFEE, 133, 133, interpolation=interpolation, fit="cover")
    middle = np.ascontiguousarray(COFFEE[:, 100:500])
    wanted = media.resize(middle, 133, 133, interpolation=interpolation)
    apart = np.abs(covered[:, 5:-5].astype(int) - wanted[:, 5:-5])
    assert apart.mean() < 0.5
    assert apart.max() <= (0 if interpolation == "nearest" else 12)


def test_cover_by_area_of_a_much_larger_picture_is_its_mean() -> None:
    photo = np.random.default_rng(1).integers(0, 201, (400, 800), np.uint8)
    small = media.resize(photo, 7, 3, interpolation="area", fit="cover")
    assert np.abs(small.astype(int) - 100).max() <= 25  # of 144 samples each: five deviations
    assert abs(small.mean() - 100) < 4


def test_sizes_that_say_two_things() -> None:
    with pytest.raises(ParameterError, match="give a scale, a long_edge, or a width and height"):
        media.resize(COFFEE, 100, scale=0.5)
    with pytest.raises(ParameterError, match="fit must be one of 'stretch', 'contain', 'cover'"):
        media.resize(COFFEE, 100, 100, fit="fill")
    with pytest.raises(ParameterError, match="give a ratio or a size, not both"):
        media.crop(COFFEE, width=10, ratio=2)


def test_cuts() -> None:
    assert np.array_equal(media.crop(COFFEE, ratio=1), COFFEE[:, 100:500])
    assert np.array_equal(media.crop(COFFEE, ratio=3), COFFEE[100:300])
    assert np.array_equal(media.crop(COFFEE, ratio=1, at="right"), COFFEE[:, 200:])
    cut = media.crop(COFFEE, width=50, height=30, at="bottom-right")
    assert np.array_equal(cut, COFFEE[-30:, -50:])
    assert np.array_equal(media.crop(COFFEE, 20, 10, 100, 100), COFFEE[10:110, 20:120])
    with pytest.raises(ShapeError, match="does not fit into 600 × 400"):
        media.crop(COFFEE, 10, width=600, height=400)


# -- overlays ----------------------------------------------------------------------------------


def logo(tmp_path: Path) -> Path:
    """A disc on nothing; what is transparent is black."""
    rows, columns = np.mgrid[-50:50, -100:100]
    inside = (rows / 50) ** 2 + (columns / 100) ** 2 < 0.9
    pixels = np.where(inside[..., None], (255, 200, 0, 255), 0).astype(np.uint8)
    path = tmp_path / "logo.png"
    Image.fromarray(pixels).save(path)
    return path


def test_an_overlay_keeps_its_proportions_and_its_rim_is_clean(tmp_path: Path) -> None:
    white = np.full((300, 400, 3), 255, np.uint8)
    marked = media.overlay(white, logo(tmp_path), "bottom-right", 0.25, margin=0.1)
    changed = np.argwhere((marked != 255).any(axis=2))
    (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
    assert top >= 220 and bottom < 270  # 50 rows, 30 above the border
    assert left >= 270 and right < 370
    assert bottom - top > 40 and right - left > 85
    assert marked[245, 320].tolist() == [255, 200, 0]
    # on white a rim of yellow is never darker than yellow: black must not leak in
    assert marked[..., 0].min() == 255 and marked[..., 1].min() >= 199


@pytest.mark.parametrize("opacity", [0.0, 0.5, 1.0])
def test_opacity_mixes(tmp_path: Path, opacity: float) -> None:
    grey = np.full((100, 100, 3), 100, np.uint8)
    marked = media.overlay(grey, logo(tmp_path), "center", 0.5, opacity)
    wanted = 100 + (np.array([255, 200, 0]) - 100) * opacity
    assert np.abs(marked[50, 50] - wanted).max() <= 1
    assert (marked[0] == 100).all()


def test_an_overlay_on_grey_on_bgr_and_in_a_chain(tmp_path: Path) -> None:
    path = logo(tmp_path)
    grey = media.overlay(np.zeros((60, 80), np.uint8), path, "center", 0.5)
    assert grey.shape == (60, 80)
    assert abs(int(grey[30, 40]) - 194) <= 1  # luma of the colour
    bgr = media.overlay(np.zeros((60, 80, 3), np.uint8), path, "center", 0.5, channels="bgr")
    assert bgr[30, 40].tolist() == [0, 200, 255]
    chain = Chain.of([("overlay", {"top": path, "at": "center", "scale": 0.5}), "invert"])
    assert media.apply_filters(np.zeros((60, 80, 3), np.uint8), chain)[30, 40].tolist() == [
        0,
        55,
        255,
    ]


# -- what is measured --------------------------------------------------------------------------


def test_levels_reach_from_black_to_white_and_keep_colours() -> None:
    dull = (COFFEE * 0.4 + 60).astype(np.uint8)
    clear = media.auto_levels(dull)
    assert np.quantile(clear, 0.002) <= 3 and np.quantile(clear.max(axis=2), 0.998) >= 252
    # one curve for all colours: differences grow by one factor
    apart, before = (p[..., 0].astype(float) - p[..., 2] for p in (clear, dull))
    inside = (clear > 5).all(axis=2) & (clear < 250).all(axis=2) & (before > 20)
    ratio = apart[inside] / before[inside]
    assert ratio.std() < 0.1 * ratio.mean()
    assert np.array_equal(media.auto_levels(dull, 0), dull)
    flat = np.full((8, 8, 3), 90, np.uint8)  # nothing to stretch
    assert np.ptp(media.auto_levels(flat)) == 0


def test_white_balance_takes_a_cast_away() -> None:
    cast = (COFFEE * np.array([1.0, 0.8, 0.6])).astype(np.uint8)
    balanced = media.auto_white_balance(cast).astype(float)
    cup = np.s_[60:80, 190:230]  # white porcelain
    before, after = (np.ptp(p[cup].mean(axis=(0, 1))) for p in (cast.astype(float), balanced))
    assert after < 0.4 * before
    luma = np.array([0.299, 0.587, 0.114])
    assert abs((balanced @ luma).mean() / (cast @ luma).mean() - 1) < 0.1


def test_it_is_measured_behind_what_comes_before() -> None:
    chain = Chain.of([("brightness", {"value": -0.3}), "auto_levels"])
    alone = media.auto_levels(media.brightness(COFFEE, -0.3))
    assert np.array_equal(media.apply_filters(COFFEE, chain), alone)
    bgr = media.apply_filters(np.ascontiguousarray(COFFEE[..., ::-1]), chain, channels="bgr")
    assert np.abs(bgr[..., ::-1].astype(int) - alone).max() <= 1


def test_frames_that_follow_are_treated_as_the_first() -> None:
    chain = Chain.of("auto_levels")
    dull, dark = (COFFEE * 0.4 + 60).astype(np.uint8), (COFFEE * 0.2).astype(np.uint8)
    with media.start_pipeline(600, 400) as frames:
        first, second = frames.map([dull, dark], chain)
    assert np.array_equal(first, media.auto_levels(dull))
    step = chain.steps[0].measured(dull)
    assert np.array_equal(second, media.apply_filters(dark, Chain([step])))
    assert not np.array_equal(second, media.auto_levels(dark))


def test_a_chain_that_was_not_measured_is_refused() -> None:
    from dala import compute

    pipeline = compute.pipeline()
    a, b = (compute.buffer_zeros((4, 4, 4), "u8") for _ in range(2))
    with pytest.raises(ArgumentError, match="auto_levels looks at a picture first"):
        Chain.of("auto_levels").add_to(pipeline, a, b)


def test_videos_turn_and_are_measured_once(tmp_path: Path) -> None:
    source, turned, clear = (tmp_path / f"{n}.mp4" for n in ("in", "turned", "clear"))
    with video.Writer(source, fps=10, preset="ultrafast", crf=5) as writer:
        for level in (0.5, 0.3):
            writer.write((COFFEE[:64, :96] * level + 50).astype(np.uint8))
    video.transcode(source, turned, [("rotate", {"degrees": 90})], crf=5, preset="ultrafast")
    with video.Reader(source) as before, video.Reader(turned) as after:
        for a, b in zip(before, after, strict=True):
            assert b.rgb.shape == (96, 64, 3)
            assert np.abs(np.rot90(a.rgb).astype(int) - b.rgb).mean() < 3
    video.transcode(source, clear, "auto_levels", crf=5, preset="ultrafast")
    with video.Reader(clear) as reader:
        first, second = (f.rgb.astype(float) for f in reader)
    assert np.ptp(first) > 235  # the whole range
    assert second.max() < first.max() - 30  # darker, as it was
