"""Pipelines: whatever is fused, the result is that of the stages run one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from pipelines_apart import (
    BLUR,
    IN_PLACE,
    SHAPES,
    Spec,
    assert_like_one_by_one,
    build,
    one_by_one,
    pixels,
    random_matrix,
)

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.compute import Buffer, Scratch

pytestmark = pytest.mark.usefixtures("device", "registry")


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
