"""Threshold, posterize, pixelate: exact on bytes, so they are compared with whole-number arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from pictures import apply, picture

from dala.errors import ParameterError

SHAPES = [(1, 1), (1, 7), (13, 17), (40, 61)]


def grey_levels() -> np.ndarray:
    return np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (1, 1, 4))


# --- threshold ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("level", [0, 1, 51, 100, 128, 255])
def test_threshold_of_bytes(shape: tuple[int, int], level: int) -> None:
    source = picture(shape, "u8")
    luma = source[..., :3].astype(int) @ [299, 587, 114]
    got = apply("threshold", source, value=level / 255)
    want = np.where(luma >= level * 1000, 255, 0)
    np.testing.assert_array_equal(got[..., :3], np.dstack([want] * 3))
    np.testing.assert_array_equal(got[..., 3], source[..., 3])


@pytest.mark.usefixtures("device")
def test_a_grey_on_the_threshold_is_white() -> None:
    for level in range(256):
        got = apply("threshold", grey_levels(), value=level / 255)[0, :, 0]
        assert (got == 255).sum() == 256 - level


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_threshold_of_floats(shape: tuple[int, int]) -> None:
    source = picture(shape, "f32")
    luma = source[..., :3].astype(np.float64) @ [0.299, 0.587, 0.114]
    np.testing.assert_array_equal(apply("threshold", source)[..., 0], luma >= 0.5)


@pytest.mark.usefixtures("device")
def test_threshold_as_opencv_does_it() -> None:
    cv2 = pytest.importorskip("cv2")
    grey = picture((13, 17), "u8")[..., 0].copy()
    _, want = cv2.threshold(grey, 127, 255, cv2.THRESH_BINARY)
    np.testing.assert_array_equal(apply("threshold", grey), want)


# --- posterize ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("levels", [2, 3, 4, 5, 16, 17, 51, 255, 256])
def test_posterize_of_bytes(levels: int) -> None:
    source = picture((13, 17), "u8")
    source[1:, :, 0] = np.arange(12 * 17).reshape(12, 17)
    source[0, :2] = [[0, 0, 0, 9], [255, 255, 255, 9]]
    step = np.minimum(source[..., :3].astype(int) * levels // 255, levels - 1)
    got = apply("posterize", source, levels=levels)
    assert np.abs(got[..., :3] - step * 255 / (levels - 1)).max() <= 0.5 + 1e-3
    np.testing.assert_array_equal(got[..., 3], source[..., 3])
    assert got[0, :2, 0].tolist() == [0, 255]
    ramp = apply("posterize", grey_levels(), levels=levels)[0, :, 0]
    assert len(np.unique(ramp)) == levels
    assert (np.diff(ramp.astype(int)) >= 0).all()


@pytest.mark.usefixtures("device")
def test_posterize_with_every_level_changes_nothing() -> None:
    np.testing.assert_array_equal(apply("posterize", grey_levels(), levels=256), grey_levels())


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_posterize_of_floats(shape: tuple[int, int]) -> None:
    source = picture(shape, "f32")
    want = np.clip(np.floor(source[..., :3].astype(np.float64) * 4), 0, 3) / 3
    np.testing.assert_allclose(apply("posterize", source)[..., :3], want, atol=1e-6)


# --- pixelate -------------------------------------------------------------------------------------


def blocks(values: np.ndarray, size: int) -> np.ndarray:
    """The mean of four pixels on a turned grid over each block, cut at the border."""
    result = values.copy()
    for top in range(0, values.shape[0], size):
        for left in range(0, values.shape[1], size):
            block = values[top : top + size, left : left + size]
            high, wide = block.shape[:2]
            taps = [
                block[high * row // 8, wide * column // 8, :3]
                for column, row in ((1, 3), (3, 7), (5, 1), (7, 5))
            ]
            result[top : top + size, left : left + size, :3] = np.mean(taps, axis=0)
    return result


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13, 1000])
def test_pixelate(size: int, shape: tuple[int, int]) -> None:
    source = picture(shape, "f32")
    want = blocks(source.astype(np.float64), size)
    np.testing.assert_allclose(apply("pixelate", source, size=size), want, atol=1e-6)
    levels = picture(shape, "u8")
    want = blocks(levels.astype(np.float64), size)
    assert np.abs(apply("pixelate", levels, size=size) - want).max() <= 0.5 + 1e-3


@pytest.mark.usefixtures("device")
def test_blocks_have_one_colour_near_their_mean() -> None:
    row = np.linspace(0, 1, 64, dtype=np.float32)
    source = np.dstack([row[None] * row[:, None]] * 4)
    got = apply("pixelate", source, size=16)[..., 0].reshape(4, 16, 4, 16)
    assert np.ptp(got, axis=(1, 3)).max() == 0
    mean = source[..., 0].reshape(4, 16, 4, 16).mean((1, 3))
    np.testing.assert_allclose(got[:, 0, :, 0], mean, atol=0.02)


@pytest.mark.usefixtures("device")
def test_pixels_far_to_the_right_find_their_block() -> None:
    source = np.zeros((1, 60_000, 4), np.float32)
    for size in (37, 41, 47, 1024):  # 41 · (1 / 41) is less than 1 in f32
        source[0, :, 0] = np.arange(60_000) // size
        np.testing.assert_array_equal(apply("pixelate", source, size=size), source)


# --- the ends -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
def test_values_outside_and_not_a_number() -> None:
    source = np.array([[[np.nan, -1.0, 7.0, 0.5], [np.inf, -np.inf, 0.5, np.nan]]], np.float32)
    steps = apply("posterize", source)
    assert steps[0, 0].tolist() == [0, 0, 1, 0.5]
    assert steps[0, 1, :2].tolist() == [1, 0]
    assert np.isnan(steps[0, 1, 3])
    assert apply("threshold", source)[0, 0].tolist() == [0, 0, 0, 0.5]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("kernel", ["threshold", "posterize", "pixelate"])
def test_grey_images_stay_grey(kernel: str) -> None:
    grey = picture((11, 19), "u8")[..., 0].copy()
    colour = np.dstack([grey] * 3 + [np.full_like(grey, 255)])
    np.testing.assert_array_equal(apply(kernel, grey), apply(kernel, colour)[..., 0])


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        ("posterize", {"levels": 1}, "posterize: levels must be a whole number in 2..256, got 1"),
        ("posterize", {"levels": 2.5}, "levels must be a whole number in 2..256, got 2.5"),
        ("pixelate", {"size": 0}, "pixelate: size must be a whole number in 1..1024, got 0"),
        ("threshold", {"value": 1.5}, "value must be a number in 0..1, got 1.5"),
    ],
)
def test_parameters_out_of_range(kernel: str, params: dict[str, float], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        apply(kernel, picture((2, 2), "u8"), **params)
