"""Pipelines that overwrite what they read."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from pipelines_apart import (
    IN_PLACE,
    SHAPES,
    Spec,
    assert_like_one_by_one,
    pixels,
    random_matrix,
)

from dala import compute

pytestmark = pytest.mark.usefixtures("device", "registry")


# -- in place ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("case", IN_PLACE)
def test_in_place(case: str, shape: tuple[int, ...]) -> None:
    arrays = {name: pixels(shape, seed) for seed, name in enumerate("abc")}
    assert_like_one_by_one(IN_PLACE[case], arrays)


@pytest.mark.parametrize("case", IN_PLACE)
def test_in_place_f32(case: str) -> None:
    arrays = {name: pixels((21, 35, 4), seed, np.float32) for seed, name in enumerate("abc")}
    assert_like_one_by_one(IN_PLACE[case], arrays)


def test_in_place_on_many_rows(device: str) -> None:
    """Enough work for several threads and bands: a band must not read what another has written."""
    arrays = {"a": pixels((700, 900, 4) if device == "cpu" else (70, 90, 4))}
    assert_like_one_by_one([("blur", "a", "a", {"radius": 5})], arrays)
    assert_like_one_by_one([("sharpen", "a", "a", {}), ("sharpen", "a", "a", {})], arrays)


KERNELS: dict[str, Any] = {
    "blur": lambda r: {"radius": r.choice([0, 1, 2, 5, 12, 25])},
    "sharpen": lambda r: {"amount": r.uniform(0, 2)},
    "invert": lambda r: {},
    "grayscale": lambda r: {},
    "contrast": lambda r: {"value": r.uniform(-1, 3)},
    "resize": lambda r: {"interpolation": r.choice(["nearest", "bilinear", "bicubic"])},
    "generate_gradient": lambda r: {},
    "copy_buffer": lambda r: {},
}


@pytest.mark.parametrize("seed", range(40))
def test_random_stages_on_few_buffers(seed: int) -> None:
    """Four buffers read and overwritten in any order: every hazard there is, sooner or later."""
    r = random.Random(seed)
    shape = r.choice([(1, 1, 4), (3, 70, 4), (40, 5, 4), (33, 65, 4), (9, 11)])
    dtype = r.choice([np.uint8, np.uint8, np.float32])
    specs: list[Spec] = []
    for _ in range(r.randint(2, 9)):
        kernel = r.choice(sorted(KERNELS))
        sources = [] if kernel == "generate_gradient" else [r.choice("abcd")]
        specs.append((kernel, sources, r.choice("abcd"), KERNELS[kernel](r)))
    assert_like_one_by_one(specs, {n: pixels(shape, k, dtype) for k, n in enumerate("abcd")})


TENSOR_IN_PLACE: dict[str, list[Spec]] = {
    "matmul(a, b, a)": [("matmul", "ab", "a", {})],
    "matmul(a, b, b)": [("matmul", "ab", "b", {})],
    "matmul(a, a, a)": [("matmul", "aa", "a", {})],
    "softmax": [("softmax", "a", "a", {})],
    "softmax along rows": [("softmax", "a", "a", {"axis": 0})],
    "transpose": [("transpose", "a", "a", {})],
    "transpose twice": [("transpose", "a", "a", {}), ("transpose", "a", "a", {})],
    "add to itself": [("elementwise_add", "aa", "a", {})],
    "add over the second": [("elementwise_sub", "ab", "b", {})],
    "transpose then add": [("transpose", "a", "b", {}), ("elementwise_add", "ab", "a", {})],
    "add then transpose": [("elementwise_add", "ab", "a", {}), ("transpose", "a", "b", {})],
    "relu of a product": [("matmul", "ab", "a", {}), ("relu", "a", "a", {}), ("softmax", "a", "b", {})],
    "reshape": [("reshape", "a", "a", {}), ("scalar_mul", "a", "a", {"scalar": 2})],
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 4, 19, 64])
@pytest.mark.parametrize("case", TENSOR_IN_PLACE)
def test_tensors_in_place(case: str, size: int) -> None:
    arrays = {n: random_matrix(size, size, seed=s) for s, n in enumerate("ab")}
    assert_like_one_by_one(TENSOR_IN_PLACE[case], arrays)


def test_in_place_without_a_pipeline() -> None:
    a = random_matrix(19, 19)
    for kernel, expected in (("transpose", a.T), ("relu", np.maximum(a, 0))):
        b = compute.from_array(a)
        compute.run_kernel(kernel, [b], b)
        np.testing.assert_array_equal(b.read(), expected)
    b = compute.from_array(a)
    compute.matmul(b, b, b)
    np.testing.assert_allclose(b.read(), a @ a, rtol=1e-4, atol=1e-4)
