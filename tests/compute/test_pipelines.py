"""Pipelines: whatever is fused, the result is that of the stages run one after the other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.compute import Buffer, Pipeline, Scratch

pytestmark = pytest.mark.usefixtures("device", "registry")

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


# -- in place ----------------------------------------------------------------------------------

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


def random_matrix(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


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


# -- stages of other kinds ---------------------------------------------------------------------


def test_copy_buffer() -> None:
    a = compute.buffer([[1.0, 2.0], [3.0, 4.0]])
    b = compute.buffer_zeros((4,))
    compute.pipeline().add({"op": "copy_buffer", "inputs": [a], "output": b}).run()
    assert compute.read_list(b) == [1, 2, 3, 4]
    c = compute.buffer_zeros((1, 4))
    compute.submit({"op": "copy_buffer", "inputs": [b], "output": c}).wait()
    assert compute.read_list(c) == [1, 2, 3, 4]
    a.write([9, 9, 9, 9])
    assert compute.read_list(b) == [1, 2, 3, 4]


def test_copy_through_a_scratch() -> None:
    a, out = compute.from_array(pixels((9, 7, 4))), compute.buffer_zeros((9, 7, 4), "u8")
    one, two = compute.scratch((9, 7, 4)), compute.scratch((9, 7, 4))
    p = compute.pipeline()
    p.add({"op": "copy_buffer", "inputs": [a], "output": one})
    p.add({"kernel": "invert", "inputs": [one], "output": two})
    p.add({"op": "copy_buffer", "inputs": [two], "output": out})
    p.run()
    expected = 255 - a.read()
    expected[..., 3] = a.read()[..., 3]
    np.testing.assert_array_equal(out.read(), expected)


def test_a_barrier_cuts_and_changes_nothing() -> None:
    specs: list[Spec] = [("invert", "a", "b", {}), ("sharpen", "b", "c", {})]
    arrays = {name: pixels((20, 30, 4), seed) for seed, name in enumerate("abc")}
    expected = one_by_one(specs, arrays)
    buffers: dict[str, Buffer | Scratch] = {n: compute.from_array(a) for n, a in arrays.items()}
    p = compute.pipeline()
    p.add({"kernel": "invert", "inputs": [buffers["a"]], "output": buffers["b"]})
    assert p.explain().startswith("1 stage → 1 pass")
    p.add({"op": "barrier"})
    p.add({"kernel": "sharpen", "inputs": [buffers["b"]], "output": buffers["c"]})
    assert p.explain().startswith("3 stages → 2 passes")
    assert "cut: a barrier was asked for" in p.explain()
    p.run()
    for name, b in buffers.items():
        assert isinstance(b, Buffer)
        np.testing.assert_array_equal(b.read(), expected[name])


def test_barriers_at_the_ends() -> None:
    a = compute.buffer([-1.0, 2.0])
    p = compute.pipeline().add({"op": "barrier"})
    p.add({"kernel": "relu", "inputs": [a], "output": a}).add({"op": "barrier"})
    p.run()
    assert compute.read_list(a) == [0, 2]
    compute.pipeline().add({"op": "barrier"}).add({"op": "barrier"}).run()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scratch_gives_the_same_as_a_buffer(shape: tuple[int, ...]) -> None:
    specs: list[Spec] = [
        ("blur", "a", "b", {"radius": 3}),
        ("sharpen", "b", "c", {"amount": 0.8}),
        ("grayscale", "c", "d", {}),
    ]
    arrays = {n: pixels(shape, s) for s, n in enumerate("abcd")}
    expected = one_by_one(specs, arrays)["d"]
    buffers: dict[str, Buffer | Scratch] = {
        "a": compute.from_array(arrays["a"]),
        "b": compute.scratch(shape),
        "c": compute.scratch(shape),
        "d": compute.buffer_zeros(shape, "u8"),
    }
    build(specs, buffers).run()
    out = buffers["d"]
    assert isinstance(out, Buffer)
    np.testing.assert_array_equal(out.read(), expected)


def test_one_scratch_used_twice_and_in_two_pipelines() -> None:
    shape = (12, 9, 4)
    a, out = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    s = compute.scratch(shape)
    specs: list[Spec] = [
        ("blur", "a", "s", BLUR),
        ("invert", "s", "s", {}),
        ("sharpen", "s", "out", {}),
    ]
    p = build(specs, {"a": a, "s": s, "out": out})
    q = build(specs[:2] + [("grayscale", "s", "out", {})], {"a": a, "s": s, "out": out})
    arrays = {"a": a.read(), "s": a.read(), "out": a.read()}
    for _ in range(2):
        p.run()
        np.testing.assert_array_equal(out.read(), one_by_one(specs, arrays)["out"])
        q.run()
        expected = one_by_one(specs[:2] + [("grayscale", "s", "out", {})], arrays)["out"]
        np.testing.assert_array_equal(out.read(), expected)


def test_scratch_of_float_keeps_more_than_eight_bits() -> None:
    shape = (4, 4, 4)
    a, out = compute.from_array(np.full(shape, 100, np.uint8)), compute.buffer_zeros(shape, "u8")
    s = compute.scratch(shape, "f32")
    p = compute.pipeline()
    p.add({"kernel": "brightness", "inputs": [a], "output": s, "params": {"value": 1.0}})
    p.add({"kernel": "brightness", "inputs": [s], "output": out, "params": {"value": -1.0}})
    p.run()
    np.testing.assert_array_equal(out.read(), a.read())  # through u8 it would have been cut to 255


def test_a_result_nobody_reads_is_dropped() -> None:
    shape = (4, 4, 4)
    a, out = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": compute.scratch(shape)})
    p.add({"kernel": "invert", "inputs": [a], "output": out})
    assert "dropped, because nobody reads the result" in p.explain()
    p.run()
    np.testing.assert_array_equal(out.read()[..., :3], 255 - a.read()[..., :3])


def test_generators() -> None:
    shape = (16, 24, 4)
    out, soft = compute.buffer_zeros(shape, "u8"), compute.buffer_zeros(shape, "u8")
    s = compute.scratch(shape)
    p = compute.pipeline()
    p.add({"kernel": "generate_gradient", "output": s})
    p.add({"kernel": "invert", "inputs": [s], "output": out})
    p.add({"kernel": "blur", "inputs": [s], "output": soft, "params": BLUR})
    p.run()
    alone = compute.buffer_zeros(shape, "u8")
    compute.run_kernel("generate_gradient", [], alone)
    expected = 255 - alone.read()
    expected[..., 3] = 255
    np.testing.assert_array_equal(out.read(), expected)
    compute.run_kernel("blur", [alone], alone, BLUR)
    np.testing.assert_array_equal(soft.read(), alone.read())


def test_tensors_and_images_in_one_pipeline() -> None:
    shape = (10, 12, 4)
    image = pixels(shape, 3, np.float32)
    specs: list[Spec] = [
        ("blur", "a", "b", BLUR),
        ("scalar_mul", "b", "b", {"scalar": 2.0}),
        ("clip", "b", "c", {"min": 0.25, "max": 0.75}),
        ("invert", "c", "a", {}),
        ("elementwise_add", "ac", "c", {}),
        ("sharpen", "c", "d", {"amount": 0.25}),
    ]
    arrays = {n: image if n == "a" else np.zeros_like(image) for n in "abcd"}
    assert_like_one_by_one(specs, arrays)
    buffers: dict[str, Buffer | Scratch] = {n: compute.from_array(a) for n, a in arrays.items()}
    assert "is a tensor kernel" in build(specs, buffers).explain()


def test_whole_array_kernels_between_others() -> None:
    specs: list[Spec] = [
        ("scalar_add", "a", "a", {"scalar": 1.0}),
        ("matmul", "ab", "c", {}),
        ("relu", "c", "c", {}),
        ("softmax", "c", "a", {}),
        ("reduce_sum", "a", "r", {"axis": 1}),
    ]
    arrays = {n: random_matrix(8, 8, seed=s) for s, n in enumerate("abc")}
    arrays["r"] = np.zeros(8, np.float32)
    assert_like_one_by_one(specs, arrays)


def test_a_resize_between_filters() -> None:
    specs: list[Spec] = [
        ("blur", "a", "s", BLUR),
        ("resize", "s", "b", {}),
        ("sharpen", "b", "b", {}),
    ]
    arrays = {
        "a": pixels((20, 30, 4)),
        "s": pixels((20, 30, 4)),
        "b": pixels((11, 45, 4)),
    }
    assert_like_one_by_one(specs, arrays)


def test_long_chains() -> None:
    shape = (9, 11, 4)
    a, b = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    p = compute.pipeline()
    for n in range(60):
        source, target = (a, b) if n % 2 == 0 else (b, a)
        p.add({"kernel": "invert", "inputs": [source], "output": target})
    before = a.read()
    p.run()
    np.testing.assert_array_equal(a.read(), before)


# -- parameters --------------------------------------------------------------------------------


def test_new_parameters_give_new_results_and_compile_nothing(device: str) -> None:
    shape = (20, 30, 4)
    a, out = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    s = compute.scratch(shape)
    p = compute.pipeline()
    p.add({"kernel": "brightness", "inputs": [a], "output": s, "params": {"value": 0.1}})
    p.add({"kernel": "contrast", "inputs": [s], "output": s, "params": {"value": 0.0}})
    p.add({"kernel": "sharpen", "inputs": [s], "output": out, "params": {"amount": 0.5}})
    p.run()
    cpu = dala.device("cpu")
    assert isinstance(cpu, CpuDevice)
    compiled = cpu.code.compiled
    results = []
    for step in range(1, 6):
        assert p.set_params(0, value=step / 10) is p
        p.set_params(1, value=step / 5)
        p.set_params(-1, amount=step / 2)
        p.run()
        results.append(out.read())
        specs: list[Spec] = [
            ("brightness", "a", "b", {"value": step / 10}),
            ("contrast", "b", "b", {"value": step / 5}),
            ("sharpen", "b", "c", {"amount": step / 2}),
        ]
        assert cpu.code.compiled == compiled
        arrays = {n: a.read() for n in "abc"}
        np.testing.assert_array_equal(out.read(), one_by_one(specs, arrays)["c"])
        compiled = cpu.code.compiled  # the stages alone may have been new
    assert len({r.tobytes() for r in results}) == 5
    assert p.stages[0]["params"] == {"value": 0.5}


def test_parameters_before_the_first_run() -> None:
    a, b = compute.buffer([1.0, 2.0]), compute.buffer_zeros((2,))
    spec = {"kernel": "scalar_mul", "inputs": [a], "output": b, "params": {"scalar": 2}}
    p = compute.pipeline().add(spec).set_params(0, scalar=5)
    p.run()
    assert compute.read_list(b) == [5, 10]


def test_compile_time_parameters_may_change_too() -> None:
    shape = (20, 30, 4)
    a, out = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": out, "params": {"radius": 1}})
    for radius in (1, 4, 0, 1):
        p.set_params(0, radius=radius)
        p.run()
        alone = compute.buffer_zeros(shape, "u8")
        compute.run_kernel("blur", [a], alone, {"radius": radius})
        np.testing.assert_array_equal(out.read(), alone.read())


def test_derived_parameters_come_and_go() -> None:
    shape = (20, 30, 4)
    a, out = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": out, "params": {"radius": 3}})
    p.run()
    derived = out.read()
    p.set_params(0, sigma=0.5).run()
    assert (out.read() != derived).any()
    p.set_params(0, sigma=None).run()
    np.testing.assert_array_equal(out.read(), derived)


def test_a_parameter_may_be_called_anything() -> None:
    compute.register("odd", "def odd(a, stage: float = 1.0): return a * stage")
    a, b = compute.buffer([2.0]), compute.buffer_zeros((1,))
    p = compute.pipeline().add({"kernel": "odd", "inputs": [a], "output": b})
    p.set_params(0, stage=4).run()
    assert compute.read_list(b) == [8]


def test_parameters_of_a_run_under_way_do_not_change() -> None:
    a = compute.buffer_zeros((1,))
    spec = {"kernel": "scalar_add", "inputs": [a], "output": a, "params": {"scalar": 1}}
    p = compute.pipeline().add(spec)
    for n in range(1, 51):
        p.set_params(0, scalar=n).submit()
    assert compute.read_list(a) == [sum(range(1, 51))]


# -- other buffers -----------------------------------------------------------------------------


def test_run_on_other_buffers() -> None:
    a, b = compute.buffer([1.0, -2.0]), compute.buffer_zeros((2,))
    p = compute.pipeline().add({"kernel": "relu", "inputs": [a], "output": b})
    p.run()
    c, d = compute.buffer([-3.0, 4.0]), compute.buffer_zeros((2,))
    p.run(buffers={a: c, b: d})
    assert compute.read_list(d) == [0, 4]
    assert compute.read_list(b) == [1, 0]
    p.run(buffers={a: c})
    assert compute.read_list(b) == [0, 4]
    p.run(buffers={})
    p.run()
    assert compute.read_list(b) == [1, 0]
    p.submit(buffers={b: d}).wait()
    assert compute.read_list(d) == [1, 0]


def test_run_with_two_buffers_swapped() -> None:
    a, b = compute.buffer([5.0]), compute.buffer([3.0])
    p = compute.pipeline().add({"kernel": "elementwise_sub", "inputs": [a, b], "output": a})
    p.run(buffers={a: b, b: a})
    assert (compute.read_list(a), compute.read_list(b)) == ([5], [-2])


@pytest.mark.parametrize("shape", [(1, 1, 4), (33, 65, 4), (300, 400, 4)], ids=str)
@pytest.mark.parametrize("case", ["there and back", "one source, three readers", "round and round"])
def test_buffers_that_become_one(case: str, shape: tuple[int, ...]) -> None:
    """The plan was made for distinct buffers; with one in the place of two it must be another."""
    arrays = {n: pixels(shape, s) for s, n in enumerate("abc")}
    buffers: dict[str, Buffer | Scratch] = {n: compute.from_array(x) for n, x in arrays.items()}
    p = build(IN_PLACE[case], buffers)
    p.run()
    one = compute.from_array(arrays["a"])
    a, b = buffers["a"], buffers["b"]
    assert isinstance(a, Buffer)
    assert isinstance(b, Buffer)
    b_before, c_before = b.read(), buffers["c"].read()
    merged = [
        (k, [i.replace("b", "a") for i in ins], out.replace("b", "a"), params)
        for k, ins, out, params in IN_PLACE[case]
    ]
    p.run(buffers={a: one, b: one})
    expected = one_by_one(merged, {"a": arrays["a"], "c": c_before})
    np.testing.assert_array_equal(one.read(), expected["a"])
    np.testing.assert_array_equal(buffers["c"].read(), expected["c"])
    np.testing.assert_array_equal(b.read(), b_before)


def test_an_input_that_becomes_the_output() -> None:
    image = pixels((40, 50, 4))
    a, b = compute.from_array(image), compute.buffer_zeros(image.shape, "u8")
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": b, "params": {"radius": 3}})
    p.run()
    p.run(buffers={b: a})
    np.testing.assert_array_equal(a.read(), b.read())


# -- streams -----------------------------------------------------------------------------------


def test_submit_on_streams() -> None:
    shape = (30, 40, 4)
    first, last = compute.buffer_zeros(shape, "u8"), compute.buffer_zeros(shape, "u8")
    p = compute.pipeline()
    soft = compute.scratch(shape)
    p.add({"kernel": "blur", "inputs": [first], "output": soft, "params": BLUR})
    p.add({"kernel": "invert", "inputs": [soft], "output": last})
    frames = [compute.from_array(pixels(shape, n)) for n in range(12)]
    outs = [compute.buffer_zeros(shape, "u8") for _ in frames]
    streams = [compute.stream() for _ in range(3)]
    submitted = [
        p.submit(stream=streams[n % 3], buffers={first: frame, last: out})
        for n, (frame, out) in enumerate(zip(frames, outs, strict=True))
    ]
    for stream in streams:
        stream.synchronize()
    assert {c.status for c in submitted} == {"completed"}
    for frame, out in zip(frames, outs, strict=True):
        p.run(buffers={first: frame})
        np.testing.assert_array_equal(out.read(), last.read())


# -- what a pipeline says of itself ------------------------------------------------------------


def test_stages_and_length() -> None:
    a, b = compute.buffer([1.0]), compute.buffer_zeros((1,))
    p = compute.pipeline()
    assert (len(p), p.stage_count, p.stages) == (0, 0, [])
    assert repr(p) == "<dala pipeline: empty>"
    p.add({"kernel": "relu", "inputs": [a], "output": b, "params": {"slope": 0.5}})
    p.add({"op": "barrier"}).add({"op": "copy_buffer", "inputs": (b,), "output": a})
    assert len(p) == p.stage_count == 3
    assert p.stages == [
        {
            "op": "run_kernel",
            "kernel": "relu",
            "inputs": [a],
            "output": b,
            "params": {"slope": 0.5},
        },
        {"op": "barrier", "kernel": None, "inputs": [], "output": None, "params": {}},
        {"op": "copy_buffer", "kernel": None, "inputs": [b], "output": a, "params": {}},
    ]
    assert repr(p) == "<dala pipeline: relu → barrier → copy_buffer>"


def test_stages_can_be_added_again() -> None:
    @dala.kernel(name="invert")  # the catalogue owns this name
    def mine(src):  # type: ignore[no-untyped-def]
        return src[0, 0] * 0.0

    shape = (3, 4, 4)
    a, out = compute.from_array(pixels(shape)), compute.buffer_zeros(shape, "u8")
    s = compute.scratch(shape)
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": s, "params": BLUR})
    p.add({"op": "barrier"}).add({"op": "copy_buffer", "inputs": [s], "output": out})
    p.add({"kernel": mine, "inputs": [out], "output": out})
    again = compute.pipeline()
    for spec in p.stages:
        again.add(spec)
    assert again.stages == p.stages
    again.run()
    assert not out.read().any()


def test_changing_the_returned_stages_changes_nothing() -> None:
    a = compute.buffer([-1.0])
    p = compute.pipeline().add({"kernel": "relu", "inputs": [a], "output": a})
    p.stages.clear()
    p.stages[0]["params"]["slope"] = 7  # type: ignore[index]
    p.run()
    assert compute.read_list(a) == [0]


def test_changing_a_spec_after_adding_it_changes_nothing() -> None:
    a, b = compute.buffer([-1.0]), compute.buffer([-2.0])
    params: dict[str, object] = {"slope": 0.5}
    spec = {"kernel": "relu", "inputs": [a], "output": a, "params": params}
    p = compute.pipeline().add(spec)
    params["slope"] = 7
    spec["inputs"][0] = b  # type: ignore[index]
    p.run()
    assert compute.read_list(a) == [-0.5]


def test_explain(device: str) -> None:
    shape = (480, 640, 4)
    a, out = compute.buffer_zeros(shape, "u8"), compute.buffer_zeros(shape, "u8")
    one, two = compute.scratch(shape), compute.scratch(shape)
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": one, "params": {"radius": 3}})
    p.add({"kernel": "sharpen", "inputs": [one], "output": two})
    p.add({"kernel": "grayscale", "inputs": [two], "output": out})
    text = p.explain()
    head, *_ = text.split("\n")
    assert head.removesuffix(", cut into 2") == f"3 stages → 1 pass on {device}"
    assert "image of 480×640×4; reads 1, writes 1 arrays (2.3 MiB in all)" in text
    if device == "webgpu":
        assert "pass 1: blur.1 → blur.2\n" in text and "part 2 of pass 1: grayscale\n" in text
        assert "kept in tiles, never an image: blur.1" in text
    else:
        assert "pass 1: blur.1 → blur.2 → sharpen → grayscale\n" in text
        assert "held as rows, never an image: blur.2" in text


def test_explain_names_the_reason_for_a_cut() -> None:
    a = compute.buffer_zeros((6, 6))
    p = compute.pipeline()
    p.add({"kernel": "matmul", "inputs": [a, a], "output": a})
    p.add({"kernel": "relu", "inputs": [a], "output": a})
    text = p.explain()
    assert "2 stages → 2 passes" in text
    assert "cut: matmul works on whole arrays" in text


def test_an_empty_pipeline(device: str) -> None:
    p = compute.pipeline()
    p.run()
    p.submit().wait()
    compute.pipeline_run(p)
    assert p.explain() == f"0 stages → 0 passes on {device}"


def test_a_pipeline_grows_between_runs() -> None:
    a = compute.buffer([1.0])
    p = compute.pipeline()
    for expected in (2, 8, 64):
        p.add({"kernel": "scalar_mul", "inputs": [a], "output": a, "params": {"scalar": 2}})
        a.write([1.0] if expected == 2 else compute.read_list(a))
        p.run()
        assert compute.read_list(a) == [expected]


def test_a_pipeline_belongs_to_its_device(device: str) -> None:
    a = compute.buffer([-1.0])
    p = compute.pipeline().add({"kernel": "relu", "inputs": [a], "output": a})
    with dala.use("cpu" if device == "reference" else "reference"):
        p.run()  # whatever the default is by now
    assert compute.read_list(a) == [0]


def test_a_kernel_replaced_later_does_not_change_a_pipeline() -> None:
    compute.register("mine", "def mine(a): return a + 1")
    a = compute.buffer([1.0])
    p = compute.pipeline().add({"kernel": "mine", "inputs": [a], "output": a})
    compute.register("mine", "def mine(a): return a + 100")
    p.run()
    assert compute.read_list(a) == [2]
    compute.run_kernel("mine", [a], a)
    assert compute.read_list(a) == [102]
    compute.unregister("mine")
    p.run()
    assert compute.read_list(a) == [103]
