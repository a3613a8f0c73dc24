"""Kernels that move pixels, against independent definitions and against OpenCV."""

from __future__ import annotations

import numpy as np
import pytest
from pictures import picture, unit

from dala import compute
from dala.errors import ParameterError, ShapeError

SHAPES = [(1, 1), (1, 9), (9, 1), (13, 17), (40, 61)]
DTYPES = ["u8", "f32"]


def smooth_picture(shape: tuple[int, int]) -> np.ndarray:
    """Opaque, and without detail: OpenCV's coordinates are whole parts of 1/32 pixel in some builds."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    red, green = np.sin(rows / 9) * 90 + 120, np.cos(columns / 11) * 80 + 120
    blue = np.sin((rows + columns) / 13) * 100 + 128
    return np.dstack([red, green, blue, np.full(shape, 255)]).astype(np.uint8)


def apply(
    kernel: str, image: np.ndarray, size: tuple[int, int] | None = None, **params: object
) -> np.ndarray:
    shape = (*(size or image.shape[:2]), *image.shape[2:])
    out = compute.buffer_zeros(shape, "u8" if image.dtype == np.uint8 else "f32")
    compute.run_kernel(kernel, [compute.from_array(image)], out, params)
    return out.read()


# --- crop and flip --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("x", "y", "size"), [(0, 0, (13, 17)), (3, 2, (5, 4)), (16, 12, (1, 1)), (1, 0, (13, 16))]
)
def test_crop(device: str, dtype: str, x: int, y: int, size: tuple[int, int]) -> None:
    image = picture((13, 17), dtype)
    want = image[y : y + size[0], x : x + size[1]]
    np.testing.assert_array_equal(apply("crop", image, size, x=x, y=y), want)
    got = apply("crop", image, size, x=x, y=y, width=size[1], height=size[0])
    np.testing.assert_array_equal(got, want)


def test_crop_past_the_border_repeats_the_edge(device: str) -> None:
    image = picture((4, 5), "u8")
    got = apply("crop", image, (3, 4), x=3, y=2)
    np.testing.assert_array_equal(got, image[[2, 3, 3]][:, [3, 4, 4, 4]])


def test_crop_refuses_what_does_not_fit(device: str) -> None:
    image = picture((4, 5), "u8")
    with pytest.raises(ShapeError, match=r"crop: \(5, 5\) does not fit into an image of \(4, 5\)"):
        apply("crop", image, (5, 5))
    with pytest.raises(ShapeError, match=r"crop: expected an output of \(2, 3\), got \(3, 3, 4\)"):
        apply("crop", image, (3, 3), width=3, height=2)
    with pytest.raises(ParameterError, match="crop: give width and height together"):
        apply("crop", image, (3, 3), width=3)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_flip(device: str, dtype: str, shape: tuple[int, int]) -> None:
    image = picture(shape, dtype)
    np.testing.assert_array_equal(apply("flip", image), image[:, ::-1])
    upside_down = apply("flip", image, horizontal=False, vertical=True)
    np.testing.assert_array_equal(upside_down, image[::-1])
    np.testing.assert_array_equal(apply("flip", image, vertical=True), image[::-1, ::-1])
    np.testing.assert_array_equal(apply("flip", apply("flip", image)), image)
    np.testing.assert_array_equal(apply("flip", image, horizontal=False), image)


def test_flip_keeps_the_size(device: str) -> None:
    with pytest.raises(ShapeError, match="flip"):
        apply("flip", picture((4, 5), "u8"), (5, 4))


# --- rotate and warp ------------------------------------------------------------------------------


def moved_by(image: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bilinear mix at u, v as if the edge went on, and how much of it is the image."""
    values, (height, width) = unit(image), image.shape[:2]
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    mixed, covered = np.zeros((*u.shape, 4)), np.zeros(u.shape)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        column, row = left + dx, top + dy
        weight = np.abs(1 - dx - (u - left)) * np.abs(1 - dy - (v - top))
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        covered += weight * inside
        pixel = values[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
        mixed += weight[..., None] * pixel
    return mixed, covered


def assert_moved(got: np.ndarray, image: np.ndarray, u: np.ndarray, v: np.ndarray) -> None:
    """Inside the image its colours, fading in alpha on the border; outside nothing."""
    (mixed, covered), values = moved_by(image, u, v), unit(got)
    tolerance = 2e-4 if image.dtype == np.float32 else 0.56 / 255  # 0.06: in 16 bits
    np.testing.assert_allclose(values[..., 3], mixed[..., 3] * covered, atol=tolerance)
    seen = covered > 1e-4
    np.testing.assert_allclose(values[seen, :3], mixed[seen, :3], atol=tolerance)
    assert not got[covered == 0].any()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("degrees", [10.0, -75.0, 200.0])
def test_rotate(device: str, dtype: str, shape: tuple[int, int], degrees: float) -> None:
    image = picture(shape, dtype)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    across, down = columns - (shape[1] - 1) / 2, rows - (shape[0] - 1) / 2
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    u = c * across - s * down + (shape[1] - 1) / 2
    v = s * across + c * down + (shape[0] - 1) / 2
    assert_moved(apply("rotate", image, degrees=degrees), image, u, v)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rotate_by_nothing_is_the_identity(device: str, dtype: str, shape: tuple[int, int]) -> None:
    image = picture(shape, dtype)
    np.testing.assert_array_equal(apply("rotate", image), image)


@pytest.mark.parametrize("size", [1, 2, 7, 32])
@pytest.mark.parametrize("turns", [1, 2, 3, -1, 5])
def test_quarter_turns(device: str, size: int, turns: int) -> None:
    image = picture((size, size), "u8")
    got = apply("rotate", image, degrees=90.0 * turns)
    np.testing.assert_array_equal(got, np.rot90(image, turns))


def test_a_quarter_turn_fits_a_turned_output(device: str) -> None:
    image = picture((5, 8), "u8")
    np.testing.assert_array_equal(apply("rotate", image, (8, 5), degrees=90), np.rot90(image))


AFFINE = (0.9, 0.3, 2.5, -0.2, 1.1, 4.25)
PERSPECTIVE = (0.9, 0.3, 2.5, -0.2, 1.1, 4.25, 0.002, -0.001, 1.0)


def source_of(matrix: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.mgrid[0 : size[0], 0 : size[1]]
    points = np.linalg.inv(matrix) @ np.stack([columns.ravel(), rows.ravel(), np.ones(rows.size)])
    u, v = points[:2] / points[2]
    return u.reshape(size), v.reshape(size)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_warps(device: str, dtype: str, shape: tuple[int, int]) -> None:
    image = picture(shape, dtype)
    size = (shape[0] + 3, shape[1] + 1)  # any size will do
    matrix = np.array([*AFFINE, 0, 0, 1]).reshape(3, 3)
    got = apply("warp_affine", image, size, matrix=AFFINE)
    assert_moved(got, image, *source_of(matrix, size))
    got = apply("warp_perspective", image, size, matrix=PERSPECTIVE)
    assert_moved(got, image, *source_of(np.array(PERSPECTIVE).reshape(3, 3), size))


def test_warps_as_opencv_does_them(device: str) -> None:
    cv2 = pytest.importorskip("cv2")
    image = smooth_picture((90, 120))
    affine = cv2.getRotationMatrix2D((50, 40), 25, 0.8)
    corners = np.float32([[0, 0], [119, 0], [119, 89], [0, 89]])
    places = np.float32([[10, 5], [105, 12], [112, 80], [4, 70]])
    perspective = cv2.getPerspectiveTransform(corners, places)
    wanted = {
        "warp_affine": (affine, cv2.warpAffine(image, affine, (130, 100))),
        "warp_perspective": (perspective, cv2.warpPerspective(image, perspective, (130, 100))),
    }
    for kernel, (matrix, want) in wanted.items():
        got = apply(kernel, image, (100, 130), matrix=matrix).astype(float)
        got[..., :3] *= got[..., 3:] / 255  # OpenCV darkens the border, we only fade it
        far = np.abs(got - want).max(-1)
        inside = want[..., 3] == 255
        assert far[inside].max() <= 2
        assert far[~inside].max() <= 10  # coverage in steps of 1/32


def test_rotate_as_opencv_does_it(device: str) -> None:
    cv2 = pytest.importorskip("cv2")
    image = smooth_picture((80, 101))
    matrix = cv2.getRotationMatrix2D((50, 39.5), 33, 1)
    want = cv2.warpAffine(image, matrix, (101, 80))
    got = apply("rotate", image, degrees=33).astype(int)
    inside = (want[..., 3] == 255) & (got[..., 3] == 255)
    assert inside.mean() > 0.5
    assert np.abs(got - want)[inside].max() <= 2


@pytest.mark.parametrize("kernel", ["warp_affine", "warp_perspective"])
def test_a_matrix_without_inverse_gives_nothing(device: str, kernel: str) -> None:
    matrix = (0.0,) * (6 if kernel == "warp_affine" else 9)
    assert not apply(kernel, picture((9, 20), "u8"), matrix=matrix).any()
    assert not apply(kernel, picture((9, 20), "f32"), matrix=matrix).any()


@pytest.mark.parametrize(("kernel", "count"), [("warp_affine", 6), ("warp_perspective", 9)])
def test_a_matrix_has_a_size(kernel: str, count: int) -> None:
    with pytest.raises(ParameterError, match=f"matrix must be {count} numbers"):
        apply(kernel, picture((3, 3), "u8"), matrix=(1.0, 0.0))


def test_a_border_fades_in_alpha_and_keeps_its_colour(device: str) -> None:
    image = np.full((8, 8, 4), 200, np.uint8)
    image[..., 3] = 255
    got = apply("warp_affine", image, matrix=(1, 0, 0.5, 0, 1, 0))
    assert got[3, 0].tolist() == [200, 200, 200, 128]  # half covered
    assert apply("warp_affine", image, matrix=(1, 0, 2, 0, 1, 0))[3, :2].tolist() == [[0] * 4] * 2
    grey = apply("warp_affine", image[..., 0].copy(), matrix=(1, 0, 0.5, 0, 1, 0))
    assert grey[3, 0] == 100


@pytest.mark.parametrize("kernel", ["crop", "flip", "rotate"])
def test_grey_images_stay_grey(device: str, kernel: str) -> None:
    grey = picture((11, 19), "u8")[..., 0].copy()
    color = np.dstack([grey] * 3 + [np.full_like(grey, 255)])
    np.testing.assert_array_equal(apply(kernel, grey), apply(kernel, color)[..., 0])
