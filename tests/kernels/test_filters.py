"""Edges, medians, denoising and skin against independent definitions and against OpenCV and SciPy."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from pictures import apply, picture, unit
from precision import is_halved, levels_off

from dala import compute
from dala.errors import ParameterError
from dala.kernels import median as networks

SHAPES = [(1, 1), (1, 9), (9, 1), (13, 17), (40, 61)]
LUMA = np.array([0.299, 0.587, 0.114])
PHOTO = Path(__file__).parents[2] / "examples" / "assets" / "astronaut.jpg"


def assert_close(
    got: np.ndarray, want: np.ndarray, tolerance: float = 2e-5, levels: float = 0.0
) -> None:
    if got.dtype == np.float32:
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:  # a value on the edge between two levels may fall to either side
        allowed = max(255 * tolerance, levels)
        assert np.abs(got - np.clip(want * 255, 0, 255)).max() <= 0.5 + allowed


def moved(values: np.ndarray, dx: int, dy: int) -> np.ndarray:
    rows = np.clip(np.arange(values.shape[0]) + dy, 0, values.shape[0] - 1)
    columns = np.clip(np.arange(values.shape[1]) + dx, 0, values.shape[1] - 1)
    return values[rows][:, columns]


def photograph() -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(PHOTO).convert("RGBA")).copy()


# --- edge_detect ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_edges_are_the_sobel_magnitude_of_luma(
    device: str, dtype: str, shape: tuple[int, int]
) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    image = picture(shape, dtype)
    image[..., :3] = image[..., :3] // 4 if dtype == "u8" else image[..., :3] / 4  # few clamp
    luma = unit(image)[..., :3] @ LUMA
    across = ndimage.sobel(luma, axis=1, mode="nearest")
    down = ndimage.sobel(luma, axis=0, mode="nearest")
    want = unit(image)
    want[..., :3] = np.minimum(np.hypot(across, down), 1)[..., None]
    assert_close(apply("edge_detect", image), want)


def test_edges_as_opencv_finds_them(device: str) -> None:
    cv2 = pytest.importorskip("cv2")
    grey = picture((60, 80), "u8")[..., 0] // 4
    image = np.dstack([grey, grey, grey, np.full_like(grey, 255)])
    across = cv2.Sobel(grey, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)
    down = cv2.Sobel(grey, cv2.CV_32F, 0, 1, borderType=cv2.BORDER_REPLICATE)
    want = np.minimum(cv2.magnitude(across, down), 255)
    assert np.abs(apply("edge_detect", image)[..., 1] - want).max() <= 1


def test_a_flat_image_has_no_edges(device: str) -> None:
    image = np.full((7, 9, 4), 0.3, np.float32)
    np.testing.assert_allclose(apply("edge_detect", image)[..., :3], 0, atol=1e-6)


# --- median ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_median_is_exact(device: str, dtype: str, shape: tuple[int, int], radius: int) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    image = picture(shape, dtype)
    size = 2 * radius + 1
    want = ndimage.median_filter(image, size=(size, size, 1), mode="nearest")
    want[..., 3] = image[..., 3]
    np.testing.assert_array_equal(apply("median", image, radius=radius), want)


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_median_as_opencv_has_it(device: str, radius: int) -> None:
    cv2 = pytest.importorskip("cv2")
    image = picture((33, 50), "u8")
    want = cv2.medianBlur(np.ascontiguousarray(image[..., :3]), 2 * radius + 1)
    np.testing.assert_array_equal(apply("median", image, radius=radius)[..., :3], want)


@pytest.mark.parametrize("size", [3, 5, 7])
def test_median_networks_are_proved(size: int) -> None:
    """0-1 principle: sorting right for all zeros and ones is sorting right for all numbers."""
    for bits in itertools.product((0, 1), repeat=size):
        assert swap(list(bits), networks.SORT[size]) == sorted(bits)
    half = (size * size + 1) // 2
    # Rows and columns sorted, zeros and ones: each row has no more zeros than the one above it.
    for zeros in itertools.combinations_with_replacement(range(size, -1, -1), size):
        square = np.array([[0] * z + [1] * (size - z) for z in zeros])
        kept = [int(square[place]) for place in networks.survivors(size)]
        found = swap(kept, networks.SELECT[size])[networks.MEDIAN_AT[size]]
        assert found == (0 if sum(zeros) >= half else 1)


def swap(values: list[int], network: networks.Network) -> list[int]:
    for i, j in network:
        values[i], values[j] = sorted((values[i], values[j]))
    return values


def test_median_removes_salt_and_pepper(device: str) -> None:
    rows, columns = np.mgrid[0:48, 0:64]
    clean = np.dstack([rows * 4, columns * 3, rows + columns, 0 * rows + 200]).astype(np.uint8)
    noisy, rng = clean.copy(), np.random.default_rng(0)
    hit = rng.random(clean.shape[:2]) < 0.05
    noisy[hit, :3] = rng.choice([0, 255], hit.sum())[:, None]
    error = np.abs(apply("median", noisy).astype(int) - clean)[1:-1, 1:-1]
    assert np.abs(noisy.astype(int) - clean).mean() > 3
    assert error.mean() < 0.5
    assert np.quantile(error, 0.99) <= 8
    twice = np.abs(apply("median", noisy, radius=2).astype(int) - clean)[2:-2, 2:-2]
    assert twice.max() <= 8


def test_median_takes_no_other_radius() -> None:
    image = compute.from_array(picture((3, 3), "u8"))
    for radius in (0, 4, 1.5):
        with pytest.raises(ParameterError, match="radius"):
            compute.run_kernel("median", [image], image, {"radius": radius})


# --- denoise --------------------------------------------------------------------------------------


def bilateral(values: np.ndarray, strength: float) -> np.ndarray:
    """Σ w·c / Σ w over 5 x 5 pixels without the corners; w as denoise.py defines it."""
    colors = values[..., :3]
    limit = max(0.6 * strength, 1e-4)
    total, weights = colors.copy(), np.ones(colors.shape[:2])
    for dy, dx in itertools.product(range(-2, 3), repeat=2):
        if not 0 < dx * dx + dy * dy <= 5:
            continue
        other = moved(colors, dx, dy)
        distance = ((other - colors) ** 2).sum(-1)
        weight = np.exp(-(dx * dx + dy * dy) / 8) * np.maximum(1 - distance / limit**2, 0) ** 2
        total += weight[..., None] * other
        weights += weight
    result = values.copy()
    result[..., :3] = total / weights[..., None]
    return result


@pytest.mark.parametrize("strength", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_denoise_is_a_bilateral_filter(
    device: str, dtype: str, shape: tuple[int, int], strength: float
) -> None:
    image = picture(shape, dtype)
    image[..., :3] = image[..., :3] // 3 if dtype == "u8" else image[..., :3] / 3
    levels = levels_off(device, "denoise", image, strength=strength)
    got = apply("denoise", image, strength=strength)
    assert_close(got, bilateral(unit(image), strength), levels=levels)


def test_denoise_of_strength_0_changes_nothing(device: str) -> None:
    image = picture((20, 31), "u8")
    np.testing.assert_array_equal(apply("denoise", image, strength=0), image)


def test_denoise_keeps_a_step_and_calms_what_is_flat(device: str) -> None:
    rng = np.random.default_rng(4)
    step = np.full((64, 64, 4), 0.3, np.float32)
    step[:, 32:] = 0.7
    noisy = step + rng.normal(0, 0.03, step.shape).astype(np.float32)
    calm = apply("denoise", noisy)[..., :3]
    left, right = calm[4:-4, 4:28], calm[4:-4, 36:-4]
    assert left.var() < noisy[4:-4, 4:28, :3].var() / 8
    assert right.var() < noisy[4:-4, 36:-4, :3].var() / 8
    contrast = calm[:, 32].mean() - calm[:, 31].mean()
    assert contrast >= 0.9 * 0.4
    np.testing.assert_array_equal(apply("denoise", step), step)


def test_denoise_cleans_as_well_as_opencvs_bilateral_filter(device: str) -> None:
    """Its weights differ (a biweight for the bell, eight pixels more), what it is for does not."""
    cv2 = pytest.importorskip("cv2")
    clean = photograph()[:200, 100:300]
    rng = np.random.default_rng(6)
    noisy = clean.copy()
    noisy[..., :3] = np.clip(clean[..., :3] + rng.normal(0, 10, clean[..., :3].shape), 0, 255)

    def psnr(image: np.ndarray) -> float:
        error = image[..., :3].astype(float) - clean[..., :3]
        return float(10 * np.log10(255**2 / (error**2).mean()))

    source = np.ascontiguousarray(noisy[..., :3])
    best = max(psnr(cv2.bilateralFilter(source, 5, width, 2)) for width in (20, 30, 45, 60, 90))
    assert psnr(apply("denoise", noisy)) > max(psnr(noisy) + 5, best)


# --- beauty ---------------------------------------------------------------------------------------


def test_beauty_smooths_skin_and_keeps_eyes_and_hair(device: str) -> None:
    photo = photograph()[20:170, 150:300]
    smooth = apply("beauty", photo, strength=1.0)

    def kept(rows: slice, columns: slice) -> float:
        """How much is left of what pixels differ by from their neighbours."""
        rest = []
        for image in (smooth, photo):
            luma = image[..., :3] @ LUMA
            steps = itertools.product((-1, 0, 1), repeat=2)
            around = sum(moved(luma, dx, dy) for dx, dy in steps) / 9
            rest.append((luma - around)[rows, columns].std())
        return float(rest[0] / rest[1])

    cheeks = (slice(94, 104), slice(95, 112)), (slice(94, 104), slice(36, 50))
    eyes = (slice(76, 86), slice(44, 62)), (slice(78, 88), slice(91, 108))
    hair = slice(10, 40), slice(40, 90)
    assert all(kept(*cheek) < 0.5 for cheek in cheeks)
    assert all(kept(*eye) > 0.9 for eye in eyes)
    assert kept(*hair) > 0.8
    np.testing.assert_array_equal(smooth[..., 3], photo[..., 3])


@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_beauty_leaves_other_colours_alone(device: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for color in ((0.2, 0.5, 0.9), (0.1, 0.8, 0.2), (0.5, 0.5, 0.5), (0.9, 0.1, 0.1), (0, 0, 0)):
        image = np.clip(np.array([*color, 0.5]) + rng.normal(0, 0.005, (24, 33, 4)), 0, 1)
        image = np.rint(image * 255).astype(np.uint8) if dtype == "u8" else image.astype("f4")
        got = apply("beauty", image, strength=1.0)
        np.testing.assert_allclose(unit(got), unit(image), atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_beauty_is_a_guided_filter_under_a_mask(
    device: str, dtype: str, shape: tuple[int, int]
) -> None:
    image = picture(shape, dtype)
    tone = np.array([200, 150, 120])  # skin, with a little noise
    noise = image[..., :3] % 16 if dtype == "u8" else image[..., :3] * 0.06
    image[..., :3] = tone + noise if dtype == "u8" else tone / 255 + noise
    values = unit(image)
    luma = values[..., :3] @ LUMA
    mean, square = (gaussian(v) for v in (values[..., :3], luma**2))
    variance = np.maximum(square - (mean @ LUMA) ** 2, 0)
    keep = variance / (variance + 0.0025)
    smooth = gaussian(keep)[..., None] * values[..., :3] + gaussian(mean * (1 - keep[..., None]))
    want = values.copy()
    want[..., :3] += 0.7 * (smooth - values[..., :3])  # all of it is skin
    assert_close(apply("beauty", image, strength=0.7), want)


def gaussian(values: np.ndarray, radius: int = 5) -> np.ndarray:
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / (radius / 2)) ** 2)
    taps /= taps.sum()
    down = sum(w * moved(values, 0, d - radius) for d, w in enumerate(taps))
    return sum(w * moved(down, d - radius, 0) for d, w in enumerate(taps))


# --- all of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["edge_detect", "median", "denoise", "beauty"])
def test_grey_images_stay_grey(device: str, kernel: str) -> None:
    grey = picture((11, 19), "u8")[..., 0].copy()
    color = np.dstack([grey] * 3 + [np.full_like(grey, 255)])
    off = np.abs(apply(kernel, grey).astype(int) - apply(kernel, color)[..., 0])
    assert off.max() <= is_halved(device, kernel, color)  # each within a level of what is exact
