"""The five interpolations of resize, against matrices of weights and against OpenCV."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pictures import picture

import dala
from dala import compute
from dala.errors import KernelError, ParameterError, ShapeError
from dala.kernels.resize import MOST_TAPS, SAMPLED, count_taps
from dala.kernels.resize import resize as resize_kernel

WAYS = ["nearest", "bilinear", "bicubic", "area", "lanczos"]
SIZES = [
    ((1, 1), (1, 1)),
    ((1, 1), (3, 5)),
    ((1, 9), (4, 3)),
    ((11, 12), (1, 1)),
    ((13, 17), (13, 17)),
    ((12, 18), (6, 6)),  # whole factors
    ((13, 17), (7, 5)),
    ((13, 17), (29, 40)),
    ((20, 33), (41, 11)),  # wider and lower
    ((34, 70), (17, 35)),  # half
    ((2, 2), (1, 1)),
    ((17, 35), (34, 70)),  # double
    ((1, 1), (2, 2)),
    ((2, 1), (4, 2)),
]


def resize(image: np.ndarray, size: tuple[int, int], way: str) -> np.ndarray:
    out = compute.buffer_zeros(
        (*size, *image.shape[2:]), "u8" if image.dtype == np.uint8 else "f32"
    )
    compute.run_kernel("resize", [compute.from_array(image)], out, {"interpolation": way})
    return out.read()


# --- one axis as a matrix: new pixels × old pixels --------------------------------------------------


def by_distance(weight: Callable[[np.ndarray], np.ndarray], reach: int) -> Callable:
    """Weights by the distance from the new centre; taps beyond the border fall onto the edge."""

    def matrix(old: int, new: int) -> np.ndarray:
        result = np.zeros((new, old))
        for k in range(new):
            centre = (k + 0.5) * old / new - 0.5
            taps = np.floor(centre) + np.arange(1 - reach, reach + 1)
            weights = weight(np.abs(centre - taps))
            weights /= weights.sum()
            np.add.at(result[k], np.clip(taps, 0, old - 1).astype(int), weights)
        return result

    return matrix


def keys_cubic(d: np.ndarray) -> np.ndarray:
    a = -0.75
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    return np.where(d <= 1, near, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a)


def nearest(old: int, new: int) -> np.ndarray:
    result = np.zeros((new, old))
    result[np.arange(new), (2 * np.arange(new) + 1) * old // (2 * new)] = 1
    return result


def area(old: int, new: int) -> np.ndarray:
    if new >= old:
        return MATRICES["bilinear"](old, new)
    begin, end = (np.arange(new)[:, None] + np.array([0, 1])[:, None, None]) * old / new
    pixel = np.arange(old)
    shared = np.minimum(pixel + 1, end) - np.maximum(pixel, begin)
    return np.clip(shared, 0, 1) * new / old


MATRICES: dict[str, Callable[[int, int], np.ndarray]] = {
    "nearest": nearest,
    "bilinear": by_distance(lambda d: 1 - d, 1),
    "bicubic": by_distance(keys_cubic, 2),
    "area": area,
    "lanczos": by_distance(lambda d: np.sinc(d) * np.sinc(d / 4) + 1e-30, 4),
}


@pytest.mark.parametrize(("old", "new"), SIZES, ids=str)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_resize(
    device: str, dtype: str, way: str, old: tuple[int, int], new: tuple[int, int]
) -> None:
    image = picture(old, dtype)
    down, across = (MATRICES[way](o, n) for o, n in zip(old, new, strict=True))
    want = np.einsum("yj,xi,jic->yxc", down, across, image.astype(np.float64))
    got = resize(image, new, way)
    assert got.shape == (*new, 4)
    if dtype == "f32":
        np.testing.assert_allclose(got, want, atol=2e-4 if way == "lanczos" else 2e-5)
    else:  # perhaps in 16 bits
        enlarged = way == "area" and all(n >= o for o, n in zip(old, new, strict=True))
        beyond = {"lanczos": 0.15, "bicubic": 0.06, "bilinear": 0.04}.get(
            "bilinear" if enlarged else way, 0.01
        )
        assert np.abs(got - np.clip(want, 0, 255)).max() <= 0.5 + beyond


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [(75, 100), (52, 64), (98, 136), (150, 200)], ids=str)
def test_resize_as_opencv_does_it(device: str, way: str, size: tuple[int, int]) -> None:
    cv2 = pytest.importorskip("cv2")
    rows, columns, channel = np.mgrid[0:150, 0:200, 0:4]
    image = 128 + 60 * np.sin(rows / 7) + 50 * np.cos(columns / (4 + channel))
    noise = np.random.default_rng(0).normal(0, 8, image.shape)
    image = np.clip(image + noise, 0, 255).astype(np.uint8)
    ways = {
        "nearest": cv2.INTER_NEAREST_EXACT,
        "bilinear": cv2.INTER_LINEAR,
        "bicubic": cv2.INTER_CUBIC,
        "area": cv2.INTER_AREA,
        "lanczos": cv2.INTER_LANCZOS4,
    }
    want = cv2.resize(image, size[::-1], interpolation=ways[way])
    assert np.abs(resize(image, size, way).astype(int) - want).max() <= (way != "nearest")


def test_enlarging_by_area_is_bilinear(device: str) -> None:
    image = picture((7, 10), "f32")
    got, want = resize(image, (16, 23), "area"), resize(image, (16, 23), "bilinear")
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_large_image_is_sampled_by_area(device: str) -> None:
    """Beyond MOST_TAPS not every pixel is read; what is read is spread evenly."""
    rng = np.random.default_rng(1)
    rows, columns = np.mgrid[0:300, 0:400]
    image = np.repeat((100 + rows / 4 + columns / 8)[..., None], 4, axis=2)
    noisy = np.clip(image + rng.normal(0, 25, image.shape), 0, 255).astype(np.uint8)
    want = np.einsum("yj,xi,jic->yxc", area(300, 7), area(400, 9), noisy.astype(float))
    assert count_taps(300, 7) == SAMPLED
    error = resize(noisy, (7, 9), "area") - want
    assert np.abs(error).max() <= 9  # 25 / √144 is 2, and these are hundreds of values
    assert np.abs(error.mean()) < 0.5


@pytest.mark.parametrize(("old", "new"), [(1000, 41), (4000, 77), (4096, 100), (1920, 64)], ids=str)
def test_which_pixels_are_sampled_is_exact(device: str, old: int, new: int) -> None:
    """Also where a sample falls between two pixels: the second, on every device."""
    row = np.random.default_rng(new).integers(0, 256, (1, old, 4), dtype=np.uint8)
    middles = 2 * MOST_TAPS * np.arange(new)[:, None] + 2 * np.arange(MOST_TAPS) + 1
    read = row[0, middles * old // (2 * MOST_TAPS * new)]
    assert np.abs(resize(row, (1, new), "area")[0] - read.mean(axis=1)).max() <= 0.51


@pytest.mark.parametrize(
    ("old", "new", "taps"),
    [(8, 8, 1), (4, 9, 2), (8, 4, 2), (9, 6, 2), (10, 6, 3), (7, 5, 3), (1000, 999, 2), (7, 2, 4)],
)
def test_area_takes_as_many_taps_as_the_sizes_ask_for(old: int, new: int, taps: int) -> None:
    assert count_taps(old, new) == taps
    assert count_taps(MOST_TAPS * 10, 10) == MOST_TAPS
    assert count_taps(MOST_TAPS * 10 - 1, 10) == SAMPLED  # some touch one more


@pytest.mark.parametrize("way", WAYS)
def test_grey_images_stay_grey(device: str, way: str) -> None:
    grey = picture((11, 19), "u8")[..., 0].copy()
    color = np.dstack([grey] * 3 + [np.full_like(grey, 255)])
    got = resize(color, (6, 25), way)
    assert (got[..., :3] == got[..., :1]).all()
    assert (got[..., 3] == 255).all()
    alone = resize(grey, (6, 25), way)  # perhaps in another arithmetic
    assert np.abs(alone.astype(int) - got[..., 0]).max() <= 1


@pytest.mark.parametrize("way", ["bilinear", "area"])
def test_resize_says_what_it_wants(device: str, way: str) -> None:
    image = compute.from_array(picture((4, 6), "u8"))
    out, grey = compute.buffer_zeros((2, 3, 4), "u8"), compute.buffer_zeros((2, 3), "u8")
    flat = compute.buffer_zeros((24,), "u8")
    with pytest.raises(
        ShapeError, match=r"resize: expected an output of \(3, 3\), got \(2, 3, 4\)"
    ):
        compute.run_kernel("resize", [image], out, {"width": 3, "height": 3, "interpolation": way})
    with pytest.raises(ParameterError, match="resize: give width and height together"):
        compute.run_kernel("resize", [image], out, {"width": 3, "interpolation": way})
    with pytest.raises(ShapeError, match=r"resize: expected an input of shape"):
        compute.run_kernel("resize", [flat], out, {"interpolation": way})
    with pytest.raises(ShapeError, match=r"resize: expected 1 input"):
        compute.run_kernel("resize", [image, image], out, {"interpolation": way})
    with pytest.raises(ShapeError, match="resize: colours do not fit into an output of"):
        compute.run_kernel("resize", [image], grey, {"interpolation": way})


def test_area_cannot_be_part_of_another_kernel() -> None:
    with pytest.raises(KernelError, match="it works in run_kernel only"):

        @dala.kernel
        def half(src):  # type: ignore[no-untyped-def]
            return resize_kernel(src, interpolation="area")


LARGE = [(65_536, 40_000), (40_000, 65_535), (65_535, 65_536), (4093, 16_384), (65_536, 3)]


@pytest.mark.parametrize(("old", "new"), LARGE, ids=str)
def test_nearest_is_exact_at_any_size(device: str, old: int, new: int) -> None:
    """By whole numbers, whatever a device's division and f32 make of it."""
    row = np.random.default_rng(old).integers(0, 256, (1, old, 4), dtype=np.uint8)
    columns = (2 * np.arange(new) + 1) * old // (2 * new)
    assert np.array_equal(resize(row, (1, new), "nearest"), row[:, columns])
    assert np.array_equal(
        resize(row.swapaxes(0, 1).copy(), (new, 1), "nearest"), row[:, columns].swapaxes(0, 1)
    )
