"""argmax, layer_norm, conv2d and preprocess against plain NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dala import compute
from dala.errors import DalaError, DTypeError, ParameterError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import S32, S64, U8

pytestmark = pytest.mark.usefixtures("device")

zeros = compute.buffer_zeros


def run(
    kernel: str, inputs: list[np.ndarray], shape: tuple[int, ...], dtype: str = "f32", **params: Any
) -> np.ndarray:
    out = zeros(shape, dtype)
    compute.run_kernel(kernel, [compute.from_array(a) for a in inputs], out, params)
    return out.read()


# -- argmax ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint8])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, -3])
@pytest.mark.parametrize("positions", ["s32", "s64"])
def test_argmax(dtype: Any, axis: int | None, positions: str) -> None:
    rng = np.random.default_rng(11)
    data = rng.integers(0, 9, (3, 5, 7)).astype(dtype)  # few values: many ties
    want = np.atleast_1d(np.argmax(data, axis=axis))
    got = run("argmax", [data], want.shape, positions, axis=axis)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == (np.int32 if positions == "s32" else np.int64)


def test_argmax_takes_the_first_of_equals_and_nan_before_all() -> None:
    rows = np.array([[1, 3, 3, 2], [np.inf, np.nan, 9, np.nan], [-np.inf] * 4], np.float32)
    np.testing.assert_array_equal(run("argmax", [rows], (3,), "s32", axis=1), [1, 1, 0])
    np.testing.assert_array_equal(run("argmax", [rows], (1,), "s64"), [5])
    np.testing.assert_array_equal(run("argmax", [rows[0]], (1,), "s64", axis=0), [1])


def test_argmax_of_more_than_s32_can_count() -> None:
    kernel, huge = compute.find_kernel("argmax"), ArrayType((3, 2**30), U8)
    kernel.specialize([huge], ArrayType((1,), S64), kernel.bind({}))
    kernel.specialize([huge], ArrayType((3,), S32), kernel.bind({"axis": 1}))
    with pytest.raises(DTypeError, match=r"^argmax: 3221225472 positions do not fit into s32"):
        kernel.specialize([huge], ArrayType((1,), S32), kernel.bind({}))


# -- top_k -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1001,), (3, 5), (2, 3, 300)], ids=str)
@pytest.mark.parametrize("k", [1, 5])
def test_top_k(shape: tuple[int, ...], k: int) -> None:
    rng = np.random.default_rng(k)
    data = rng.integers(0, 40, shape).astype(np.float32)  # few values: many ties
    order = np.argsort(-data, axis=-1, kind="stable")[..., :k]
    want = np.stack([np.take_along_axis(data, order, -1), order], axis=-1)
    np.testing.assert_array_equal(run("top_k", [data], want.shape), want)


def test_top_k_with_nan_and_what_it_refuses() -> None:
    rows = np.array([[1, np.nan, -np.inf, np.nan, np.inf]], np.float32)
    found = run("top_k", [rows], (1, 5, 2))
    np.testing.assert_array_equal(found[0, :, 1], [1, 3, 4, 0, 2])
    np.testing.assert_array_equal(found[0, :, 0], [np.nan, np.nan, np.inf, 1, -np.inf])
    with pytest.raises(ShapeError, match=r"expected an output of \(1, 'k', 2\) with k from 1 to 5"):
        run("top_k", [rows], (1, 6, 2))
    with pytest.raises(ShapeError, match=r"expected an output of \(1, 2, 2\), got \(2, 2\)"):
        run("top_k", [rows], (2, 2))
    with pytest.raises(DTypeError, match="needs f32 or f64"):
        run("top_k", [np.zeros((1, 5), np.int32)], (1, 2, 2), "s32")


# -- layer_norm --------------------------------------------------------------------------------


def normalized(x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    x = x.astype(np.float64)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 33), (1, 4, 1, 768)], ids=str)
def test_layer_norm(dtype: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(11)
    x = (rng.normal(3, 2, shape)).astype(dtype)
    weight, bias = rng.normal(size=(2, shape[-1])).astype(dtype)
    name = "f32" if dtype == np.float32 else "f64"
    close = {"rtol": 1e-5, "atol": 1e-5} if name == "f32" else {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(run("layer_norm", [x], shape, name), normalized(x), **close)
    got = run("layer_norm", [x, weight], shape, name, eps=0.1)
    np.testing.assert_allclose(got, normalized(x, 0.1) * weight, **close)
    got = run("layer_norm", [x, weight, bias], shape, name)
    np.testing.assert_allclose(got, normalized(x) * weight + bias, **close)


def test_layer_norm_in_place_and_of_large_numbers() -> None:
    rng = np.random.default_rng(11)
    x = (rng.normal(size=(4, 64)) + 10_000).astype(np.float32)
    b = compute.from_array(x)
    compute.run_kernel("layer_norm", [b], b)
    np.testing.assert_allclose(b.read(), normalized(x), atol=2e-3)


# -- conv2d ------------------------------------------------------------------------------------


def correlated(
    x: np.ndarray, weight: np.ndarray, stride: int = 1, padding: int = 0, groups: int = 1
) -> np.ndarray:
    """One sum per output element, as it is defined."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2])
    made, taken, high, wide = weight.shape
    rows, columns = (x.shape[2] - high) // stride + 1, (x.shape[3] - wide) // stride + 1
    out = np.zeros((len(x), made, rows, columns))
    for o, i, j in np.ndindex(made, rows, columns):
        first = o // (made // groups) * taken
        part = x[:, first : first + taken, i * stride :, j * stride :][..., :high, :wide]
        out[:, o, i, j] = (part * weight[o]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "weight", "params"),
    [
        ((1, 1, 1, 1), (1, 1, 1, 1), {}),
        ((1, 3, 7, 9), (4, 3, 3, 3), {}),
        ((2, 3, 8, 5), (4, 3, 3, 1), {"padding": 1}),
        ((1, 2, 9, 11), (3, 2, 2, 4), {"stride": 2}),
        ((1, 2, 3, 3), (3, 2, 5, 5), {"padding": 2, "stride": 3}),
        ((3, 4, 6, 7), (6, 2, 3, 3), {"groups": 2, "padding": 1}),
        ((2, 5, 6, 7), (5, 1, 3, 3), {"groups": 5, "padding": 1, "stride": 2}),
        ((1, 3, 5, 5), (6, 1, 3, 3), {"groups": 3}),
        ((1, 8, 5, 6), (4, 8, 1, 1), {}),
        ((1, 8, 5, 6), (4, 8, 1, 1), {"stride": 2}),
        ((1, 2, 4, 5), (2, 2, 4, 5), {}),
    ],
    ids=str,
)
def test_conv2d(dtype: Any, shape: Any, weight: Any, params: dict[str, int]) -> None:
    rng = np.random.default_rng(11)
    x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=weight).astype(dtype)
    bias = rng.normal(size=weight[0]).astype(dtype)
    want = correlated(x, w, **params)
    name = "f32" if dtype == np.float32 else "f64"
    tolerance = 1e-5 if name == "f32" else 1e-12
    got = run("conv2d", [x, w], want.shape, name, **params)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    got = run("conv2d", [x, w, bias], want.shape, name, **params)
    np.testing.assert_allclose(got, want + bias[:, None, None], rtol=tolerance, atol=tolerance)


def test_conv2d_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    monkeypatch.setattr("dala.ir.library.MAX_WINDOWS", 300)
    x = rng.normal(size=(2, 4, 13, 6)).astype(np.float32)
    w = rng.normal(size=(4, 2, 3, 3)).astype(np.float32)
    want = correlated(x, w, padding=1, groups=2)
    got = run("conv2d", [x, w], want.shape, padding=1, groups=2)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# -- preprocess --------------------------------------------------------------------------------

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def scaled(image: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Bilinear, pixel centres kept, the edge repeated; in 0..1 and without alpha."""
    values = image[..., :3] / 255 if image.dtype == np.uint8 else image[..., :3].astype(np.float64)

    def lines(length: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        at = (np.arange(count) + 0.5) * length / count - 0.5
        low = np.floor(at).astype(int)
        return np.clip(low, 0, length - 1), np.clip(low + 1, 0, length - 1), at - low

    top, bottom, down = lines(image.shape[0], rows)
    left, right, across = lines(image.shape[1], columns)
    down, across = down[:, None, None], across[None, :, None]
    upper = values[top][:, left] * (1 - across) + values[top][:, right] * across
    lower = values[bottom][:, left] * (1 - across) + values[bottom][:, right] * across
    return upper * (1 - down) + lower * down


@pytest.mark.parametrize("shape", [(1, 1, 4), (33, 17, 4), (48, 64, 3), (300, 251, 4)], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_preprocess(shape: tuple[int, ...], dtype: Any, layout: str) -> None:
    rng = np.random.default_rng(11)
    image = rng.integers(0, 256, shape).astype(dtype)
    if dtype == np.float32:
        image /= np.float32(255)
    for size in ((224, 224), (31, 50)):
        want = scaled(image, *size)
        out = (1, 3, *size) if layout == "nchw" else (1, *size, 3)
        plain = run("preprocess", [image], out, size=size, layout=layout, normalize=False)
        full = run("preprocess", [image], out, size=list(size), layout=layout)
        if layout == "nchw":
            plain, full = (a.transpose(0, 2, 3, 1) for a in (plain, full))
        np.testing.assert_allclose(plain[0], want, atol=3e-5)
        np.testing.assert_allclose(full[0], (want - MEAN) / STD, atol=1.5e-4)


def test_preprocess_as_opencv_resizes() -> None:
    rng = np.random.default_rng(11)
    cv2 = pytest.importorskip("cv2")
    image = rng.integers(0, 256, (120, 97, 4), dtype=np.uint8)
    want = cv2.resize(image[..., :3].astype(np.float32), (224, 224)) / 255
    got = run("preprocess", [image], (1, 224, 224, 3), layout="nhwc", normalize=False)
    np.testing.assert_allclose(got[0], want, atol=1e-4)


def test_preprocess_with_a_mean_of_its_own() -> None:
    image = np.full((4, 6, 4), 255, np.uint8)
    got = run(
        "preprocess", [image], (1, 3, 2, 2), size=(2, 2), mean=(0, 0.5, 1), std=(1, 0.5, 0.25)
    )
    np.testing.assert_allclose(got[0, :, 0, 0], [1, 1, 0], atol=1e-6)


# -- what is refused ---------------------------------------------------------------------------

F, D, S, U = "f32", "f64", "s32", "u8"
X, IMAGE = (1, 4, 5, 6), (8, 9, 4)
WRONG: list[tuple[str, list, tuple, dict, type[DalaError], str]] = [
    ("argmax", [((2, 3), F)], ((2,), F), {"axis": 1}, DTypeError,
     "positions need an output of s32 or s64, got f32"),
    ("argmax", [((2, 3), F)], ((3,), S), {"axis": 1}, ShapeError,
     "expected an output of (2,), got (3,)"),
    ("argmax", [((2, 3), F)], ((2,), S), {}, ShapeError,
     "over all axes the output is (1,), got (2,)"),
    ("argmax", [((2, 3), F)], ((2,), S), {"axis": 2}, ParameterError,
     "axis must be in -2..1, got 2"),
    ("layer_norm", [((2, 3), S)], ((2, 3), S), {}, DTypeError, "needs f32 or f64, got s32"),
    ("layer_norm", [((2, 3), F)], ((3, 2), F), {}, ShapeError,
     "expected an output of (2, 3), got (3, 2)"),
    ("layer_norm", [((2, 3), F), ((2,), F)], ((2, 3), F), {}, ShapeError,
     "expected a weight of (3,), as the last axis of (2, 3) says, got (2,)"),
    ("layer_norm", [((2, 3), F), ((3,), F), ((1, 3), F)], ((2, 3), F), {}, ShapeError,
     "expected a bias of (3,), as the last axis of (2, 3) says, got (1, 3)"),
    ("layer_norm", [((2, 3), F), ((3,), D)], ((2, 3), F), {}, DTypeError,
     "expected one dtype for inputs and output, got f32 and f64 into f32"),
    ("layer_norm", [((2, 3), F)], ((2, 3), F), {"eps": -1}, ParameterError,
     "eps must be a number from 0 up, got -1"),
    ("layer_norm", [], ((2, 3), F), {}, ShapeError, "expected 1 to 3 inputs, got 0"),
    ("conv2d", [(X, F)], (X, F), {}, ShapeError, "expected 2 to 3 inputs, got 1"),
    ("conv2d", [(X, U), ((4, 4, 1, 1), U)], (X, U), {}, DTypeError, "needs f32 or f64, got u8"),
    ("conv2d", [((4, 5, 6), F), ((4, 4, 1, 1), F)], (X, F), {}, ShapeError,
     "expected an input of (N, C, H, W), got (4, 5, 6)"),
    ("conv2d", [(X, F), ((4, 4), F)], (X, F), {}, ShapeError,
     "expected a weight of (O, C, H, W), got (4, 4)"),
    ("conv2d", [(X, F), ((4, 3, 1, 1), F)], (X, F), {}, ShapeError,
     "a weight of (4, 3, 1, 1) takes 3 channels in each of 1 groups, but the input (1, 4, 5, 6) has 4"),
    ("conv2d", [(X, F), ((4, 4, 1, 1), F)], (X, F), {"groups": 3}, ParameterError,
     "groups must divide the channels, 4 in and 4 out; got 3"),
    ("conv2d", [(X, F), ((4, 4, 7, 1), F)], (X, F), {}, ShapeError,
     "a window of (7, 1) does not fit into (5, 6) with a padding of 0"),
    ("conv2d", [(X, F), ((2, 4, 3, 3), F)], (X, F), {"padding": 1}, ShapeError,
     "expected an output of (1, 2, 5, 6), got (1, 4, 5, 6)"),
    ("conv2d", [(X, F), ((2, 4, 1, 1), F), ((4,), F)], ((1, 2, 5, 6), F), {}, ShapeError,
     "expected a bias of (2,), as the outputs of the weight (2, 4, 1, 1) says, got (4,)"),
    ("conv2d", [(X, F), ((4, 4, 1, 1), F)], (X, F), {"stride": 0}, ParameterError,
     "stride must be a whole number from 1 up, got 0"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 224, 224), U), {}, DTypeError,
     "expected an output of f32, got u8"),
    ("preprocess", [(IMAGE, D)], ((1, 3, 224, 224), F), {}, DTypeError,
     "expected a u8 or f32 image, got f64"),
    ("preprocess", [((8, 9), U)], ((1, 3, 224, 224), F), {}, ShapeError,
     "expected an image of (H, W, 4) or (H, W, 3), got (8, 9)"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 224, 225), F), {}, ShapeError,
     "expected an output of (1, 3, 224, 224), got (1, 3, 224, 225)"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 9, 8), F), {"size": (9, 8), "layout": "nhwc"}, ShapeError,
     "expected an output of (1, 9, 8, 3), got (1, 3, 9, 8)"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 8, 8), F), {"size": 8}, ParameterError,
     "size must be 2 numbers, each a whole number in 1..65536, got 8"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 8, 8), F), {"size": (8.5, 8)}, ParameterError,
     "size must be 2 numbers, each a whole number in 1..65536, got (8.5, 8)"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 8, 8), F), {"size": (8, 8), "std": (1, 0, 1)},
     ParameterError, "std must be 3 numbers, each a number from 1e-06 up, got (1, 0, 1)"),
    ("preprocess", [(IMAGE, U)], ((1, 3, 8, 8), F), {"layout": "chw"}, ParameterError,
     "layout must be one of 'nchw', 'nhwc', got 'chw'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "inputs", "output", "params", "error", "message"), WRONG, ids=lambda v: str(v)[:30]
)
def test_refusals(
    kernel: str, inputs: list, output: Any, params: Any, error: type[DalaError], message: str
) -> None:
    sources, target = [zeros(*i) for i in inputs], zeros(*output)
    with pytest.raises(error) as caught:
        compute.run_kernel(kernel, sources, target, params)
    assert str(caught.value) == f"{kernel}: {message}"
    assert type(caught.value) is error
