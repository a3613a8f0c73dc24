"""From pictures to tensors: the values, the layouts, the kinds of pictures, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dala import compute, ml
from dala.backends.host import HostArray
from dala.errors import ArgumentError, DTypeError, MediaError, ParameterError, ShapeError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
PHOTO = RNG.integers(0, 256, (45, 70, 3), np.uint8)


def slowly(picture: Array, height: int, width: int, fit: str) -> Array:
    """Bilinear samples of (H, W, 3) in 0..1, pixel by pixel; grey beside the picture."""
    rows, columns = picture.shape[:2]
    across, down = columns / width, rows / height
    left = top = 0.0
    if fit != "stretch":
        across = down = max(across, down)
        if fit == "letterbox":
            left, top = (width - columns / across) / 2, (height - rows / down) / 2
    out = np.full((height, width, 3), 127.5 / 255)
    for y in range(height):
        for x in range(width):
            v, u = (y + 0.5 - top) * down - 0.5, (x + 0.5 - left) * across - 0.5
            if fit != "stretch" and not (-0.5 < u < columns - 0.5 and -0.5 < v < rows - 0.5):
                continue
            y0, x0 = int(np.floor(v)), int(np.floor(u))
            total = np.zeros(3)
            for dy in (0, 1):
                for dx in (0, 1):
                    weight = (1 - abs(v - y0 - dy)) * (1 - abs(u - x0 - dx))
                    row, column = np.clip(y0 + dy, 0, rows - 1), np.clip(x0 + dx, 0, columns - 1)
                    total += weight * picture[row, column] / 255
            out[y, x] = total
    return out


@pytest.mark.parametrize("fit", ["stretch", "letterbox", "corner"])
@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
def test_samples_are_those_of_a_slow_loop(fit: Any, layout: Any) -> None:
    mean, std = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)
    tensor = ml.preprocess(PHOTO, (24, 31), fit, mean=mean, std=std, layout=layout)
    expected = (slowly(PHOTO, 24, 31, fit) - mean) / std
    if layout == "nchw":
        expected = expected.transpose(2, 0, 1)
    assert tensor.dtype == np.float32
    np.testing.assert_allclose(tensor[0], expected, atol=2e-5)


def test_every_kind_of_picture_gives_the_same(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "photo.png"
    Image.fromarray(PHOTO).save(path)
    expected = ml.preprocess(PHOTO, (16, 16))
    rgba = np.concatenate([PHOTO, np.full((45, 70, 1), 9, np.uint8)], axis=2)
    pictures: list[tuple[object, dict[str, Any]]] = [
        (path, {}), (str(path), {}), (Image.fromarray(PHOTO), {}), (rgba, {}),
        (PHOTO[..., ::-1], {"channels": "bgr"}), (PHOTO.tobytes(), {"image_size": (70, 45)}),
        (np.repeat(PHOTO, 2, axis=1)[:, ::2], {}), (PHOTO.astype(np.uint16) << 8, {}),
        (compute.from_array(rgba), {}), (memoryview(rgba.tobytes()), {"image_size": (70, 45)}),
    ]  # fmt: skip
    for picture, how in pictures:
        np.testing.assert_array_equal(ml.preprocess(picture, (16, 16), **how), expected)
    floats = ml.preprocess(PHOTO.astype(np.float32) / 255, (16, 16))
    np.testing.assert_allclose(floats, expected, atol=1e-5)
    grey = ml.preprocess(PHOTO[..., 0], (16, 16))
    np.testing.assert_array_equal(grey, np.repeat(expected[..., :1], 3, axis=3))


def test_a_buffer_is_sampled_where_it_is(device: str) -> None:
    expected = ml.preprocess(PHOTO, (12, 9), "letterbox")
    found = ml.preprocess(compute.from_array(PHOTO), (12, 9), "letterbox")
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_wrong_pictures_are_refused_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"expected a picture .* got int"):
        ml.preprocess(7)
    with pytest.raises(ArgumentError, match=r"bytes need size=\(width, height\)"):
        ml.preprocess(b"123")
    with pytest.raises(
        ShapeError, match="2 × 2 pixels are 4 bytes, or 3 or 4 times as many; got 5"
    ):
        ml.preprocess(b"12345", image_size=(2, 2))
    with pytest.raises(ShapeError, match=r"got \(3, 4, 5, 6\)"):
        ml.preprocess(np.zeros((3, 4, 5, 6), np.uint8))
    with pytest.raises(DTypeError, match="got float64; convert it"):
        ml.preprocess(np.zeros((4, 4)))
    with pytest.raises(MediaError, match=r"cannot read the picture '.*none\.png'"):
        ml.preprocess(tmp_path / "none.png")
    with pytest.raises(ParameterError, match="channels is 'rgb' or 'bgr', got 'rgbx'"):
        ml.preprocess(PHOTO, channels="rgbx")
    with pytest.raises(ParameterError, match="did you mean 'letterbox'"):
        ml.preprocess(PHOTO, fit="leterbox")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"size is \(height, width\), got \(0, 4\)"):
        ml.preprocess(PHOTO, (0, 4))
    with pytest.raises(ParameterError, match="std is above 0"):
        ml.preprocess(PHOTO, std=(1.0, 0.0, 1.0))
    with pytest.raises(ShapeError, match="expected a buffer of"):
        ml.preprocess(compute.buffer([1.0]))


def test_memory_is_lent_only_where_reading_on_is_harmless() -> None:
    page = 4096
    memory = np.zeros(4 * page, np.uint8)
    begin = -memory.ctypes.data % page
    whole = memory[begin : begin + 2 * page]
    lent = HostArray.lent(whole[: page + 100].reshape(-1, 1, 1))
    assert lent is not None and lent.address == whole.ctypes.data
    assert not lent.array.flags.writeable and whole.flags.writeable
    assert HostArray.lent(whole[: 2 * page - 8]) is None  # a vector would reach into the next page
    assert HostArray.lent(whole[: page + 100 : 2]) is None
    assert HostArray.lent(whole[:0]) is None
