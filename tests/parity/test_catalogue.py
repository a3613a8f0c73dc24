"""The catalogue against independent definitions, written here in plain NumPy (float64)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from names import named
from pictures import unit
from precision import is_halved, levels_off

import dala
from dala import compute

SHAPES = [(1, 1), (1, 9), (9, 1), (13, 17), (40, 61)]


@pytest.fixture(params=["reference", "cpu", "webgpu"])
def on(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def images(shape: tuple[int, int]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    u8 = rng.integers(0, 256, (*shape, 4), dtype=np.uint8)
    return {"u8": u8, "f32": rng.random((*shape, 4), dtype=np.float32)}


def moved(values: np.ndarray, dx: int, dy: int) -> np.ndarray:
    rows = np.clip(np.arange(values.shape[0]) + dy, 0, values.shape[0] - 1)
    columns = np.clip(np.arange(values.shape[1]) + dx, 0, values.shape[1] - 1)
    return values[rows][:, columns]


def keep_alpha(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    def apply(values: np.ndarray) -> np.ndarray:
        result = values.copy()
        result[..., :3] = change(values[..., :3])
        return result

    return apply


def gaussian(radius: int, sigma: float) -> Callable[[np.ndarray], np.ndarray]:
    def apply(values: np.ndarray) -> np.ndarray:
        taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
        taps /= taps.sum()
        across = sum(w * moved(values, d - radius, 0) for d, w in enumerate(taps))
        return sum(w * moved(across, 0, d - radius) for d, w in enumerate(taps))

    return apply


def sharpened(amount: float) -> Callable[[np.ndarray], np.ndarray]:
    def apply(c: np.ndarray) -> np.ndarray:
        around = moved(c, -1, 0) + moved(c, 1, 0) + moved(c, 0, -1) + moved(c, 0, 1)
        return c + amount * (4 * c - around)

    return apply


def grey(c: np.ndarray) -> np.ndarray:
    return np.repeat((c @ [0.299, 0.587, 0.114])[..., None], 3, axis=2)


FILTERS: list[tuple[str, dict, Callable[[np.ndarray], np.ndarray]]] = [
    ("blur", {"radius": 3, "sigma": 1.5}, gaussian(3, 1.5)),
    ("blur", {"radius": 4}, gaussian(4, 2.0)),
    ("blur", {"radius": 20, "sigma": 9.0}, gaussian(20, 9.0)),
    ("blur", {"radius": 50, "sigma": 30.0}, gaussian(50, 30.0)),
    ("blur", {"radius": 60}, gaussian(60, 30.0)),
    ("blur", {"radius": 0}, lambda v: v),
    ("blur", {}, gaussian(3, 1.5)),
    ("sharpen", {}, keep_alpha(sharpened(0.5))),
    ("sharpen", {"amount": 2.0}, keep_alpha(sharpened(2.0))),
    ("grayscale", {}, keep_alpha(grey)),
    ("brightness", {"value": 0.2}, keep_alpha(lambda c: c + 0.2)),
    ("brightness", {}, lambda v: v),
    ("contrast", {"value": -0.5}, keep_alpha(lambda c: (c - 0.5) * 0.5 + 0.5)),
    ("contrast", {"value": 2.0}, keep_alpha(lambda c: (c - 0.5) * 3 + 0.5)),
    ("invert", {}, keep_alpha(lambda c: 1 - c)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize(("kernel", "params", "meaning"), FILTERS, ids=named)
def test_filter(
    on: str,
    kernel: str,
    params: dict,
    meaning: Callable[[np.ndarray], np.ndarray],
    dtype: str,
    shape: tuple[int, int],
) -> None:
    source = images(shape)[dtype]
    want = meaning(unit(source))
    with dala.use(on):
        out = compute.buffer_zeros(source.shape, dtype)
        compute.run_kernel(kernel, [compute.from_array(source)], out, params)
        got = out.read()
    if dtype == "f32":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    else:  # a value on the edge between two levels may fall to either side
        levels = np.clip(want * 255, 0, 255)
        taps = 2 * params.get("radius", 3) + 1
        products = (taps + 1) / 2
        fixed_point = 2 * (products + 3 + (products + taps + 4) / 256) / 256  # by cpu/fixed.py
        dot_product = 4 * 255 / 2**14  # the bound in cpu/dot.py
        own = {"blur": fixed_point, "grayscale": dot_product} if on == "cpu" else {}
        allowed = own.get(kernel, levels_off(on, kernel, source, **params))
        assert np.abs(got - levels).max() <= 0.5 + allowed


@pytest.mark.parametrize("kernel", ["blur", "sharpen", "brightness", "invert", "resize"])
def test_grey_images_stay_grey(on: str, kernel: str) -> None:
    grey_image = np.random.default_rng(1).integers(0, 256, (11, 19), dtype=np.uint8)
    colour = np.dstack([grey_image] * 3 + [np.full_like(grey_image, 255)])
    with dala.use(on):
        out, wide = compute.buffer_zeros((11, 19), "u8"), compute.buffer_zeros((11, 19, 4), "u8")
        compute.run_kernel(kernel, [compute.from_array(grey_image)], out)
        compute.run_kernel(kernel, [compute.from_array(colour)], wide)
        off = np.abs(out.read().astype(int) - wide.read()[..., 0])
    assert off.max() <= is_halved(on, kernel, colour)  # each within a level of what is exact


def test_resize_keeps_pixel_centres(on: str) -> None:
    ramp = np.tile(np.linspace(0, 1, 8, dtype=np.float32)[None, :, None], (4, 1, 4))
    with dala.use(on):
        source = compute.from_array(ramp)
        half = compute.buffer_zeros((2, 4, 4), "f32")
        compute.run_kernel("resize", [source], half, {"width": 4, "height": 2})
        np.testing.assert_allclose(
            half.read()[0, :, 0], (ramp[0, ::2, 0] + ramp[0, 1::2, 0]) / 2, atol=1e-6
        )
        same = compute.buffer_zeros((4, 8, 4), "f32")
        for way in ("nearest", "bilinear", "bicubic"):
            compute.run_kernel("resize", [source], same, {"interpolation": way})
            np.testing.assert_allclose(same.read(), ramp, atol=1e-6)
        double = compute.buffer_zeros((8, 16, 4), "f32")
        compute.run_kernel("resize", [source], double, {"interpolation": "nearest"})
        np.testing.assert_array_equal(double.read(), ramp.repeat(2, 0).repeat(2, 1))


def test_gradient(on: str) -> None:
    with dala.use(on):
        out = compute.buffer_zeros((3, 5, 4), "u8")
        compute.run_kernel("generate_gradient", [], out)
        got = out.read()
    assert got[0, :, 0].tolist() == [0, 64, 128, 191, 255]
    assert got[:, 0, 1].tolist() == [0, 128, 255]
    assert got[2, 4].tolist() == [255, 255, 255, 255]


X = np.array([[-2.0, -0.5, 0.0], [0.5, 1.0, 3.0]])
TENSORS: list[tuple[str, dict, Callable[[np.ndarray], np.ndarray]]] = [
    ("scalar_mul", {"scalar": 3}, lambda a: a * 3),
    ("scalar_add", {"scalar": -2}, lambda a: a - 2),
    ("relu", {}, lambda a: np.maximum(a, 0)),
    ("relu", {"slope": 0.1}, lambda a: np.where(a > 0, a, 0.1 * a)),
    ("sigmoid", {}, lambda a: 1 / (1 + np.exp(-a))),
    ("tanh", {}, np.tanh),
    ("exp", {}, np.exp),
    ("abs", {}, np.abs),
    ("clip", {"min": -1, "max": 1}, lambda a: np.clip(a, -1, 1)),
    ("softmax", {}, lambda a: np.exp(a) / np.exp(a).sum(-1, keepdims=True)),
    ("softmax", {"axis": 0}, lambda a: np.exp(a) / np.exp(a).sum(0, keepdims=True)),
    ("transpose", {}, np.transpose),
    ("reduce_sum", {"axis": 1}, lambda a: a.sum(1)),
    ("reduce_max", {"axis": 0}, lambda a: a.max(0)),
    ("reduce_min", {"axis": -1}, lambda a: a.min(-1)),
    ("reduce_mean", {}, lambda a: a.mean().reshape(1)),
]


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(("kernel", "params", "meaning"), TENSORS, ids=named)
def test_tensor_kernel(
    on: str, kernel: str, params: dict, meaning: Callable[[np.ndarray], np.ndarray], dtype: str
) -> None:
    want = meaning(X)
    with dala.use(on):
        out = compute.buffer_zeros(want.shape, dtype)
        compute.run_kernel(kernel, [compute.buffer(X, dtype=dtype)], out, params)
        tolerance = 1e-6 if dtype == "f32" else 1e-13
        np.testing.assert_allclose(out.read(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f32", "f64", "s32", "s64", "u32", "u16", "u8"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (17, 33), (4, 3, 5), (2, 3, 4, 5)], ids=str)
def test_transpose_of_any_rank(on: str, dtype: str, shape: tuple[int, ...]) -> None:
    data = np.arange(np.prod(shape)).reshape(shape) % 200
    with dala.use(on):
        out = compute.buffer_zeros(shape[::-1], dtype)
        compute.run_kernel("transpose", [compute.buffer(data, dtype=dtype)], out)
        np.testing.assert_array_equal(out.read(), data.T)


@pytest.mark.parametrize("dtype", ["s32", "s64", "u32", "u16", "u8"])
def test_integers_wrap_and_division_by_zero_is_zero(on: str, dtype: str) -> None:
    numpy_type = compute.buffer_zeros((1,), dtype).type.dtype.numpy
    top, low = np.iinfo(numpy_type).max, np.iinfo(numpy_type).min
    with dala.use(on):
        a = compute.buffer(np.array([top, low, 7, 7], numpy_type), dtype=dtype)
        b = compute.buffer(np.array([1, 1, 0, 2], numpy_type), dtype=dtype)
        out = compute.buffer_zeros((4,), dtype)
        compute.add(a, b, out)
        assert compute.read_list(out) == [low, low + 1, 7, 9]
        compute.run_kernel("elementwise_div", [a, b], out)
        assert compute.read_list(out) == [top, low, 0, 3]


@pytest.mark.parametrize("dtype", ["f32", "f64", "s32", "s64", "u32", "u16", "u8"])
def test_matmul(on: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, (5, 7)), rng.integers(0, 9, (7, 3))
    with dala.use(on):
        out = compute.buffer_zeros((5, 3), dtype)
        compute.matmul(compute.buffer(a, dtype=dtype), compute.buffer(b, dtype=dtype), out)
        want = (a @ b).astype(out.type.dtype.numpy)
        np.testing.assert_array_equal(out.read(), want)


def test_no_neighbour_leaks_into_float_images(on: str) -> None:
    """NaN and inf in one pixel stay where the filter reaches, and survive storing."""
    image = np.zeros((9, 40, 4), np.float32)
    image[4, 20] = [np.nan, np.inf, -np.inf, 1e30]
    with dala.use(on):
        out = compute.buffer_zeros(image.shape, "f32")
        compute.run_kernel("blur", [compute.from_array(image)], out, {"radius": 2})
        got = out.read()
    assert np.isnan(got[2:7, 18:23, 0]).all()
    assert np.isfinite(np.delete(got, np.s_[18:23], axis=1)).all()
    with dala.use(on):
        levels = compute.buffer_zeros(image.shape, "u8")
        compute.run_kernel("brightness", [compute.from_array(image)], levels, {"value": 0.0})
        assert levels.read()[4, 20].tolist() == [0, 255, 0, 255]
