"""Backgrounds by a mask: what is in front stays, and does not smear into what is behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from skimage import data

from dala import compute, media
from dala.errors import ArgumentError, MediaError
from dala.media.packing import add_alpha

pytestmark = pytest.mark.usefixtures("device")

PHOTO = np.ascontiguousarray(data.astronaut()[:60, 100:180])
MASK = np.zeros((60, 80), np.uint8)
MASK[15:45, 20:60] = 255
FRONT = MASK > 0


def test_the_front_stays_sharp_and_the_rest_does_not() -> None:
    result = media.background_blur(PHOTO, MASK, radius=6)
    assert np.array_equal(result[FRONT], PHOTO[FRONT])
    behind = ~FRONT
    assert result[behind].astype(float).std() < PHOTO[behind].astype(float).std()


def test_the_front_does_not_glow() -> None:
    """White before black: a blur of the whole picture would leave a halo around the front."""
    image = np.repeat(MASK[..., None], 3, axis=2)
    assert (media.background_blur(image, MASK, radius=8)[~FRONT] == 0).all()
    assert (media.blur(image, radius=8)[~FRONT] > 0).any()
    inverse = 255 - image
    assert (media.background_blur(inverse, MASK, radius=8)[~FRONT] == 255).all()


def test_background_blur_by_definition() -> None:
    wanted = _blurred_behind(PHOTO.astype(float), MASK / 255, radius=3)
    assert np.abs(media.background_blur(PHOTO, MASK, radius=3) - wanted).max() <= 1.01
    soft = media.blur(MASK, radius=5)
    far = _blurred_behind(PHOTO.astype(float), soft / 255, radius=9)  # at half the size, from 6 on
    assert np.abs(media.background_blur(PHOTO, soft, radius=9) - far).max() <= 3
    wanted = _blurred_behind(PHOTO.astype(float), soft / 255, radius=3)
    assert np.abs(media.background_blur(PHOTO, soft, radius=3) - wanted).max() <= 1.01


def _blurred_behind(image: np.ndarray, mask: np.ndarray, radius: int) -> np.ndarray:
    weight = 1 - mask[..., None] + 1e-4
    bell = np.exp(-0.5 * (np.arange(-radius, radius + 1) / (radius / 2)) ** 2)

    def blur(values: np.ndarray) -> np.ndarray:
        padded = np.pad(values, ((radius, radius), (radius, radius), (0, 0)), mode="edge")
        down = sum(w * padded[d : d + values.shape[0]] for d, w in enumerate(bell))
        return sum(w * down[:, d : d + values.shape[1]] for d, w in enumerate(bell))

    around = blur(image * weight) / blur(weight)
    return around + (image - around) * mask[..., None]


@pytest.mark.parametrize("kind", ["array", "floats", "bool", "small", "pil", "buffer", "path"])
def test_masks_of_every_kind(kind: str, tmp_path: Path) -> None:
    mask: Any = {
        "array": MASK,
        "floats": (MASK / 255).astype(np.float32),
        "bool": FRONT,
        "small": MASK[::5, ::5],
        "pil": Image.fromarray(MASK),
    }.get(kind)
    if kind == "buffer":
        mask = compute.from_array(MASK)
    if kind == "path":
        mask = tmp_path / "mask.png"
        Image.fromarray(MASK).save(mask)
    for result in (
        media.replace_background(PHOTO, mask, (0, 0, 200)),
        media.background_replace(PHOTO, mask, np.full((1, 1, 3), (0, 0, 200), np.uint8)),
    ):
        inside, outside = (slice(20, 40), slice(25, 55)), (slice(0, 10), slice(0, 15))
        assert np.array_equal(result[inside], PHOTO[inside])
        assert (result[outside] == (0, 0, 200)).all()


def test_a_background_fills_the_picture() -> None:
    """It is cut, not squeezed: a square stays a square."""
    wide = np.zeros((60, 300, 3), np.uint8)
    wide[:, 140:160] = 255
    result = media.replace_background(PHOTO, np.zeros_like(MASK), wide)
    assert (result[30].max(axis=1) > 0).sum() == 20
    tall = np.ascontiguousarray(wide.transpose(1, 0, 2))
    result = media.replace_background(PHOTO, np.zeros_like(MASK), tall)
    assert (result[:, 30].max(axis=1) > 0).sum() in (26, 27, 28)  # 60 columns became 80


def test_backgrounds_follow_the_channels() -> None:
    red = np.zeros((60, 80, 3), np.uint8)
    red[..., 2] = 255  # BGR
    result = media.replace_background(PHOTO[..., ::-1], MASK, red, channels="bgr")
    assert (result[~FRONT] == (0, 0, 255)).all()
    assert np.array_equal(result[FRONT], PHOTO[..., ::-1][FRONT])
    image = Image.fromarray(red[..., ::-1].copy())  # what is no array has an order of its own
    for same in (image, (255, 0, 0), compute.from_array(add_alpha(red))):
        other = media.replace_background(PHOTO[..., ::-1], MASK, same, channels="bgr")
        assert np.array_equal(other, result)
    wanted = media.blend(PHOTO, red[..., ::-1])[..., ::-1]
    for top in (red, image):
        assert np.array_equal(media.blend(PHOTO[..., ::-1], top, channels="bgr"), wanted)


def test_bytes_and_buffers() -> None:
    data = media.replace_background(PHOTO.tobytes(), MASK, (1, 2, 3), 80, 60)
    assert data == media.replace_background(PHOTO, MASK, (1, 2, 3)).tobytes()
    rgba = compute.from_array(media.chroma_key(PHOTO))
    assert isinstance(media.background_blur(rgba, MASK), compute.Buffer)


def test_refused() -> None:
    with pytest.raises(ArgumentError, match="replace_background: background: expected a picture"):
        media.replace_background(PHOTO, MASK, 7)
    with pytest.raises(MediaError, match=r"cannot read the picture 'nowhere.jpg'"):
        media.replace_background(PHOTO, MASK, "nowhere.jpg")
    for color in ((1, 2), (1, 2, 300), (0.5, 0, 0), ("a", "b", "c")):
        with pytest.raises(
            ArgumentError, match=r"a colour is \(red, green, blue\), 0..255 each, got"
        ):
            media.replace_background(PHOTO, MASK, color)
