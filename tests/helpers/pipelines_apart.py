"""Pipelines, and the same stages one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import compute
from dala.compute import Buffer, Pipeline, Scratch

Array = npt.NDArray[Any]
SHAPES = [(1, 1, 4), (5, 7, 4), (33, 65, 4), (120, 70, 4)]
Spec = tuple[str, Sequence[str], str, dict[str, object]]


def pixels(shape: tuple[int, ...], seed: int = 0, dtype: Any = np.uint8) -> Array:
    values = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    return values if dtype == np.uint8 else (values / 255).astype(dtype)


def build(specs: Sequence[Spec], buffers: dict[str, Buffer | Scratch]) -> Pipeline:
    p = compute.pipeline()
    for kernel, inputs, output, params in specs:
        spec: dict[str, object] = {
            "inputs": [buffers[i] for i in inputs],
            "output": buffers[output],
            "params": params,
        }
        p.add({**spec, "op": kernel} if kernel == "copy_buffer" else {**spec, "kernel": kernel})
    return p


def one_by_one(specs: Sequence[Spec], arrays: dict[str, Array]) -> dict[str, Array]:
    """Each stage alone, into a buffer of its own: no fusion and no aliasing."""
    current = dict(arrays)
    for kernel, inputs, output, params in specs:
        sources = [compute.from_array(current[i]) for i in inputs]
        target = compute.from_array(current[output])
        if kernel == "copy_buffer":
            current[output] = sources[0].read().reshape(target.shape)
            continue
        compute.run_kernel(kernel, sources, target, params)
        current[output] = target.read()
    return current


def assert_fused_alike(got: Array, apart: Array, name: str = "") -> None:
    """Byte for byte; a GPU's compiler may round the last place of a fused expression otherwise."""
    if compute.device_info()["backend"] != "wgpu":
        np.testing.assert_array_equal(got, apart, err_msg=name)
    elif got.dtype == np.uint8:
        apart_by = np.abs(got.astype(int) - apart.astype(int))
        assert apart_by.max() <= 1, name
        assert np.count_nonzero(apart_by) <= max(1, apart_by.size // 1000), name
    else:
        np.testing.assert_allclose(got, apart, rtol=2e-6, atol=2e-6, err_msg=name)


def assert_like_one_by_one(specs: Sequence[Spec], arrays: dict[str, Array]) -> None:
    buffers: dict[str, Buffer | Scratch] = {n: compute.from_array(a) for n, a in arrays.items()}
    expected = one_by_one(specs, arrays)
    build(specs, buffers).run()
    for name, b in buffers.items():
        assert isinstance(b, Buffer)
        assert_fused_alike(b.read(), expected[name], name)


BLUR: dict[str, object] = {"radius": 2}


IN_PLACE: dict[str, list[Spec]] = {
    "point-wise": [("invert", "a", "a", {})],
    "point-wise twice": [("invert", "a", "a", {}), ("contrast", "a", "a", {"value": 0.5})],
    "stencil": [("blur", "a", "a", BLUR)],
    "small stencil": [("sharpen", "a", "a", {"amount": 1.0})],
    "stencil twice": [("blur", "a", "a", BLUR), ("sharpen", "a", "a", {})],
    "stencil then point-wise": [("blur", "a", "a", BLUR), ("invert", "a", "a", {})],
    "point-wise then stencil": [("invert", "a", "a", {}), ("blur", "a", "a", BLUR)],
    "computed positions": [("flip", "a", "a", {}), ("pixelate", "a", "a", {"size": 3})],
    "computed positions, then over another": [("flip", "a", "b", {}), ("invert", "c", "c", {})],
    "computed positions, then over it": [("flip", "a", "b", {}), ("invert", "c", "a", {})],
    "there and back": [("blur", "a", "b", BLUR), ("sharpen", "b", "a", {})],
    "there and back, point-wise": [("invert", "a", "b", {}), ("contrast", "b", "a", {"value": 1})],
    "round and round": [
        ("blur", "a", "b", BLUR),
        ("invert", "b", "c", {}),
        ("sharpen", "c", "a", {}),
        ("blur", "a", "b", {"radius": 1}),
    ],
    "overwrites what was read before": [("blur", "a", "b", BLUR), ("invert", "c", "a", {})],
    "overwrites what was read before, stencil": [
        ("invert", "a", "b", {}),
        ("blur", "c", "a", BLUR),
    ],
    "reads what was overwritten": [("invert", "b", "a", {}), ("blur", "a", "c", BLUR)],
    "written twice": [("invert", "a", "b", {}), ("grayscale", "a", "b", {})],
    "written twice, read between": [
        ("invert", "a", "b", {}),
        ("blur", "b", "c", BLUR),
        ("grayscale", "a", "b", {}),
    ],
    "written twice, stencils": [
        ("blur", "a", "b", BLUR),
        ("sharpen", "b", "c", {}),
        ("sharpen", "a", "b", {}),
    ],
    "swap": [("copy_buffer", "a", "c", {}), ("copy_buffer", "b", "a", {}), ("copy_buffer", "c", "b", {})],
    "copy over what is read": [("blur", "a", "b", BLUR), ("copy_buffer", "b", "a", {})],
    "copy, then use": [("copy_buffer", "a", "b", {}), ("invert", "b", "b", {})],
    "copy to itself": [("copy_buffer", "a", "a", {}), ("invert", "a", "b", {})],
    "two results, one over an input": [
        ("grayscale", "b", "a", {}),
        ("invert", "c", "b", {}),
        ("grayscale", "a", "a", {}),
    ],
    "each over the other": [
        ("copy_buffer", "a", "c", {}),
        ("grayscale", "b", "a", {}),
        ("invert", "c", "b", {}),
    ],
    "one source, three readers": [
        ("blur", "a", "b", BLUR),
        ("sharpen", "a", "c", {}),
        ("invert", "a", "a", {}),
    ],
}  # fmt: skip


def random_matrix(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
