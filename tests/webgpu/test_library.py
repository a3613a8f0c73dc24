"""Whole-array ops at the sizes where this device computes them in another way: tiles, pieces, two steps."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import dala
from dala import compute
from dala.backends.webgpu import convolution, listing, matmul, tiled
from dala.backends.webgpu.convolution import ENOUGH, MANY, TILE
from dala.backends.webgpu.library import EMITTERS, PIECE, emit_library
from dala.backends.webgpu.shader import MOST_GROUPS
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32
from dala.ir.library import LIBRARY, LibraryCall
from dala.plan.fuse import Location, PassArray
from dala.plan.whole import WholePass

pytestmark = pytest.mark.webgpu


@pytest.fixture(autouse=True)
def _gpu() -> Iterator[None]:
    with dala.use("webgpu"):
        yield
        compute.synchronize()


def test_every_library_op_has_a_shader() -> None:
    assert set(EMITTERS) == set(LIBRARY)


def run(
    kernel: str, inputs: list[np.ndarray], shape: tuple[int, ...], dtype: str, **params: object
) -> np.ndarray:
    out = compute.buffer_zeros(shape, dtype)
    compute.run_kernel(kernel, [compute.from_array(a) for a in inputs], out, params)
    return out.read()


SIZES = [
    (96, 32, 96),
    (128, 16, 128),
    (128, 128, 256),
    (97, 33, 131),
    (130, 257, 96),
    (300, 64, 100),
    (256, 512, 128),
]


@pytest.mark.parametrize("blocking", [tiled.LARGE, tiled.MEDIUM], ids=lambda b: str(b.block))
@pytest.mark.parametrize(("rows", "inner", "columns"), SIZES, ids=str)
def test_large_matmul(
    rows: int, inner: int, columns: int, blocking: tiled.Blocking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul, "choose_blocking", lambda *shape: blocking)
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
    got = run("matmul", [a.astype("f4"), b.astype("f4")], (rows, columns), "f32")
    want = a.astype("f4").astype("f8") @ b.astype("f4").astype("f8")
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 * inner)


def test_few_large_tiles_are_made_smaller() -> None:
    assert tiled.choose_blocking(1024, 1024) == tiled.MEDIUM
    assert tiled.choose_blocking(4096, 4096) == tiled.LARGE
    assert tiled.choose_blocking(128, 12544, 32) == tiled.LARGE
    assert tiled.choose_blocking(64, 12544, 32) == tiled.MEDIUM


@pytest.mark.parametrize(
    ("channels", "made", "size", "window", "options"),
    [
        (3, 32, (9, 11), 3, {"padding": 1}),
        (32, 70, (13, 10), 3, {"stride": 2, "padding": 1}),
        (12, 96, (8, 9), 3, {"groups": 2}),
        (5, 33, (20, 21), 5, {"stride": 2, "padding": 2}),
        (8, 40, (6, 7), 1, {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("blocking", [tiled.LARGE, tiled.MEDIUM], ids=lambda b: str(b.block))
def test_conv2d_as_a_product(
    channels: int,
    made: int,
    size: tuple[int, int],
    window: int,
    options: dict[str, int],
    blocking: tiled.Blocking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many channels: windows are gathered into the tiles of a product; ends that are no multiples."""
    monkeypatch.setattr(convolution, "choose_blocking", lambda *shape: blocking)
    rng, groups = np.random.default_rng(6), options.get("groups", 1)
    x = rng.standard_normal((2, channels, *size)).astype("f4")
    weight = rng.standard_normal((made, channels // groups, window, window)).astype("f4")
    arrays = [x, weight, rng.standard_normal(made).astype("f4")][: 3 if channels % 2 else 2]
    stride, padding = options.get("stride", 1), options.get("padding", 0)
    made_size = [(n + 2 * padding - window) // stride + 1 for n in size]
    assert made_size[0] * made_size[1] >= MANY and made // groups >= MANY
    with dala.use("reference"):
        want = run("conv2d", arrays, (2, made, *made_size), "f32", **options)
    got = run("conv2d", arrays, (2, made, *made_size), "f32", **options)
    np.testing.assert_allclose(got, want, rtol=0, atol=3e-5)


MANY_GROUPS = {  # shapes of the inputs and of the result, which asks for more groups along one axis
    "pixels": ("conv2d", [(1, 3, 2160, 3840), (32, 3, 3, 3)], (1, 32, 2160, 3840)),
    "pictures": ("conv2d", [(70_000, 3, 6, 6), (32, 3, 3, 3)], (70_000, 32, 6, 6)),
    "rows": ("matmul", [(4_200_000, 32), (32, 48)], (4_200_000, 48)),
    "rows of a small product": ("matmul", [(1_100_000, 16), (16, 16)], (1_100_000, 16)),
}


@pytest.mark.parametrize("name", MANY_GROUPS)
def test_no_axis_has_more_groups_than_a_gpu(name: str) -> None:
    op, reads, made = MANY_GROUPS[name]
    arrays = [
        PassArray(Location("slot", k), ArrayType(shape, F32))
        for k, shape in enumerate([*reads, made])
    ]
    options = {"stride": 1, "padding": 1, "groups": 1} if op == "conv2d" else {}
    call = LibraryCall(op, op, tuple(options.items()))
    work = WholePass(call, (op,), tuple(arrays[:-1]), (arrays[-1],))
    (shader,) = emit_library(work, lambda type_: Location("temp", 0))
    assert max(shader.groups) <= MOST_GROUPS < math.prod(shader.groups)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_groups_that_are_counted_through(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a GPU had so few along an axis; the sizes are of this test alone, as plans are kept."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((3, 4, 11, 10 + most)).astype("f4")
    weight = rng.standard_normal((140, 2, 3, 3)).astype("f4")
    a, b = (rng.standard_normal(s).astype("f4") for s in ((200 + most, 40), (40, 130)))
    small = rng.integers(0, 99, (50 + most, 20), "i4"), rng.integers(0, 99, (20, 40), "i4")
    cases: list[tuple[str, tuple[np.ndarray, ...], tuple[int, ...], str, dict[str, int]]] = [
        ("conv2d", (x, weight), (3, 140, 11, 10 + most), "f32", {"padding": 1, "groups": 2}),
        ("matmul", (a, b), (200 + most, 130), "f32", {}),
        ("matmul", small, (50 + most, 40), "s32", {}),
    ]
    monkeypatch.setattr(listing, "MOST_GROUPS", most)
    for op, arrays, shape, dtype, options in cases:
        got = run(op, list(arrays), shape, dtype, **options)
        with dala.use("reference"):
            want = run(op, list(arrays), shape, dtype, **options)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)


def test_a_matrix_times_itself_into_itself() -> None:
    a = np.random.default_rng(2).standard_normal((128, 128)).astype("f4")
    b = compute.from_array(a)
    compute.matmul(b, b, b)
    np.testing.assert_allclose(b.read(), a.astype("f8") @ a, rtol=0, atol=3e-4)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u4", "u1"])
@pytest.mark.parametrize("lines", [1, 3, 300])
@pytest.mark.parametrize("op", ["sum", "max", "min"])
def test_long_reductions(op: str, lines: int, dtype: str) -> None:
    length = 70 if lines == 300 else 3 * PIECE + 77
    a = np.random.default_rng(3).integers(0, 200, (lines, length)).astype(dtype)
    got = run(f"reduce_{op}", [a], (lines,), compute.from_array(a[:1, :1]).dtype, axis=1)
    want = getattr(np, op)(a, axis=1).astype(dtype)  # integers wrap
    np.testing.assert_allclose(got, want, rtol=1e-6 if dtype[0] == "f" else 0)


def test_a_long_mean_of_everything() -> None:
    a = np.random.default_rng(4).random((5, PIECE, 2), dtype=np.float32)
    np.testing.assert_allclose(
        run("reduce_mean", [a], (1,), "f32"), [a.mean(dtype="f8")], rtol=1e-6
    )


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("at", [0, PIECE - 1, PIECE, 2 * PIECE + 5])
def test_not_a_number_wins_a_long_reduction(op: str, at: int) -> None:
    a = np.zeros((1, 2 * PIECE + 9), np.float32)
    a[0, at] = np.nan
    assert np.isnan(run(f"reduce_{op}", [a], (1,), "f32", axis=1)).all()


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1"])
def test_argmax_over_pieces_takes_the_first_of_equals(dtype: str) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 250, (2, 2 * PIECE + 300)).astype(dtype)
    for line, locations in ((0, (PIECE + 3, PIECE + 4, 2 * PIECE + 1)), (1, (7, PIECE + 200))):
        a[line, list(locations)] = 255
    assert run("argmax", [a], (2,), "s32", axis=1).tolist() == [PIECE + 3, 7]
    assert run("argmax", [a], (1,), "s64").tolist() == [PIECE + 3]


def test_argmax_finds_the_first_nan() -> None:
    a = np.random.default_rng(6).random((1, 3 * PIECE), dtype=np.float32)
    a[0, [PIECE + 9, 2 * PIECE + 1]] = np.nan
    a[0, 3] = np.inf
    assert run("argmax", [a], (1,), "s32", axis=1).tolist() == [PIECE + 9]


def test_argmax_of_the_lowest_values() -> None:
    a = np.full((2, 700), -np.inf, np.float32)
    assert run("argmax", [a], (2,), "s32", axis=1).tolist() == [0, 0]


@pytest.mark.parametrize(("shape", "axis"), [((3, 5000), 1), ((5000, 3), 0), ((2, 300, 4), 1)])
def test_long_softmax_in_place(shape: tuple[int, ...], axis: int) -> None:
    a = (np.random.default_rng(7).standard_normal(shape) * 20).astype("f4")
    b = compute.from_array(a)
    compute.run_kernel("softmax", [b], b, {"axis": axis})
    e = np.exp(a.astype("f8") - a.max(axis, keepdims=True))
    np.testing.assert_allclose(b.read(), e / e.sum(axis, keepdims=True), rtol=2e-5, atol=1e-9)


def test_long_layer_norm() -> None:
    rng = np.random.default_rng(8)
    a, weight, bias = (rng.standard_normal(s).astype("f4") for s in ((7, 3000), (3000,), (3000,)))
    wide = a.astype("f8")
    apart = wide - wide.mean(-1, keepdims=True)
    want = apart / np.sqrt(np.square(apart).mean(-1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(
        run("layer_norm", [a, weight, bias], a.shape, "f32"), want, atol=3e-5
    )


@pytest.mark.parametrize(
    "options", [{"stride": 2, "padding": 1}, {"groups": 8, "padding": 2}], ids=str
)
def test_wide_conv2d(options: dict) -> None:
    rng = np.random.default_rng(9)
    groups = options.get("groups", 1)
    a = rng.standard_normal((2, 8, 30, 41)).astype("f4")
    w = rng.standard_normal((16, 8 // groups, 3, 5)).astype("f4")
    stride, padding = options.get("stride", 1), options.get("padding", 0)
    shape = (2, 16, (30 + 2 * padding - 3) // stride + 1, (41 + 2 * padding - 5) // stride + 1)
    with dala.use("reference"):
        want = run("conv2d", [a, w], shape, "f32", **options)
    np.testing.assert_allclose(run("conv2d", [a, w], shape, "f32", **options), want, atol=3e-5)


@pytest.mark.parametrize(("stride", "padding", "groups"), [(1, 1, 1), (2, 0, 2), (2, 1, 1)])
def test_conv2d_in_tiles(stride: int, padding: int, groups: int) -> None:
    """So many results that four channels of four pixels are computed at once; odd ends."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 6, 131, 133)).astype("f4")
    weight = rng.standard_normal((8 if groups == 2 else 7, 6 // groups, 3, 3)).astype("f4")
    bias = rng.standard_normal(len(weight)).astype("f4")
    with dala.use("reference"):
        size = [(n + 2 * padding - 3) // stride + 1 for n in x.shape[2:]]
        shape = (2, len(weight), *size)
        given = {"stride": stride, "padding": padding, "groups": groups}
        want = run("conv2d", [x, weight, bias], shape, "f32", **given)
    assert 2 * 2 * size[0] * -(-size[1] // TILE) >= ENOUGH
    np.testing.assert_allclose(
        run("conv2d", [x, weight, bias], shape, "f32", **given), want, atol=1e-4
    )
