"""The same kernel again and again: what is remembered of a run must never be taken for another one."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import dala
from dala import compute
from dala.compute import Buffer
from dala.errors import (
    BufferFreedError,
    DeviceError,
    DTypeError,
    KernelNotFoundError,
    ParameterError,
    PipelineError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("device", "registry")


def numbers(*values: float) -> Buffer:
    return compute.buffer(list(values))


def result(name: str, source: Buffer, target: Buffer, **params: object) -> list[float | int]:
    compute.run_kernel(name, [source], target, params)
    return compute.read_list(target)


def test_every_form_of_the_call() -> None:
    a, b = numbers(1, 2), numbers(0, 0)
    params = {"scalar": 3}
    for _ in range(3):
        compute.run_kernel("scalar_mul", [a], b, params)
        compute.run_kernel("scalar_mul", (a,), b, params)
        compute.run_kernel(name="scalar_mul", inputs=[a], output=b, params=params)
        compute.run_kernel(compute.find_kernel("scalar_mul"), [a], output=b, params=params)
        assert compute.read_list(b) == [3, 6]


def test_new_values_and_other_buffers() -> None:
    a, b, c, d = numbers(1, 2), numbers(0, 0), numbers(5, 6), numbers(0, 0)
    for k in range(5):
        assert result("scalar_mul", a, b, scalar=k) == [k, 2 * k]
        assert result("scalar_mul", c, d, scalar=k + 0.5) == [5 * (k + 0.5), 6 * (k + 0.5)]
        assert result("scalar_mul", b, c, scalar=1) == [k, 2 * k]
        c.write([5, 6])


def test_compile_time_values_that_compare_equal() -> None:
    """1, 1.0 and True are equal, and hash alike, but trace differently."""
    compute.register("halves", "def halves(a, n: Static[float] = 1.0):\n    return a * 0 + n / 2")
    compute.register(
        "words", "def words(a, n: Static[bool] = True):\n    return a * 0 + (3 if n else 4)"
    )
    a, b = compute.buffer([1, 1], dtype="f32"), numbers(0, 0)
    for _ in range(2):
        assert result("halves", a, b, n=1) == result("halves", a, b, n=1.0) == [0.5, 0.5]
        assert result("halves", a, b, n=3) == [1.5, 1.5]
        assert result("words", a, b, n=True) == [3, 3]
        assert result("words", a, b, n=False) == [4, 4]


def test_a_kernel_registered_anew() -> None:
    a, b = numbers(2), numbers(0)
    compute.register("mine", "def mine(a, k: float = 3.0):\n    return a * k")
    p = compute.pipeline().add({"kernel": "mine", "inputs": [a], "output": b})
    assert result("mine", a, b) == result("mine", a, b) == [6]
    compute.register("mine", "def mine(a, k: float = 3.0):\n    return a + k")
    assert result("mine", a, b) == result("mine", a, b) == [5]
    compute.register("mine", "def mine(a, q: float = 3.0):\n    return a - q")
    assert result("mine", a, b) == [-1]
    with pytest.raises(ParameterError, match="unknown parameter 'k'"):
        compute.run_kernel("mine", [a], b, {"k": 1})
    compute.unregister("mine")
    with pytest.raises(KernelNotFoundError):
        compute.run_kernel("mine", [a], b)
    p.run()  # a pipeline keeps the kernel it was built with
    assert compute.read_list(b) == [6]


@pytest.mark.parametrize("which", ["input", "output"])
def test_a_buffer_freed_in_between(which: str) -> None:
    a, b = numbers(2), numbers(0)
    p = compute.pipeline().add({"kernel": "relu", "inputs": [a], "output": b})
    for _ in range(2):
        compute.relu(a, b)
        p.run()
    (a if which == "input" else b).free()
    for again in (lambda: compute.relu(a, b), p.run, p.submit):
        with pytest.raises(BufferFreedError, match="has been freed"):
            again()
    compute.relu(numbers(1), numbers(2))  # others of that type are fine


def test_what_was_refused_is_refused_after_a_run_too() -> None:
    shape = (6, 5, 4)
    a, b = compute.buffer_zeros(shape, "u8"), compute.buffer_zeros(shape, "u8")
    compute.run_kernel("blur", [a], b, {"radius": 1})
    other = compute.buffer_zeros((6, 4, 4), "u8")
    wide = compute.buffer_zeros(shape, "s32")
    for _ in range(2):
        with pytest.raises(ShapeError):
            compute.run_kernel("blur", [a], other, {"radius": 1})
        with pytest.raises(DTypeError):
            compute.run_kernel("blur", [wide], b, {"radius": 1})
        with pytest.raises(ShapeError, match="expected 1 inputs, got 2"):
            compute.run_kernel("blur", [a, a], b, {"radius": 1})
        with pytest.raises(ParameterError, match="unknown parameter 'raduis'"):
            compute.run_kernel("blur", [a], b, {"raduis": 1})
        with pytest.raises(ParameterError, match="radius must be"):
            compute.run_kernel("blur", [a], b, {"radius": -1})
        with pytest.raises(ParameterError, match="value must be"):
            compute.run_kernel("brightness", [a], b, {"value": 2.0})
        with pytest.raises(ParameterError, match="value must be"):
            compute.run_kernel("brightness", [a], b, {"value": float("nan")})
        with pytest.raises(ParameterError, match="value must be"):
            compute.run_kernel("brightness", [a], b, {"value": True})
        with pytest.raises(ParameterError, match="'scalar' is missing"):
            compute.run_kernel("scalar_mul", [numbers(1)], numbers(1))
        with pytest.raises(PipelineError, match="scratch"):
            compute.run_kernel("blur", [compute.scratch(shape)], b, {"radius": 1})
        compute.run_kernel("brightness", [a], b, {"value": 0.5})


def test_a_whole_number_is_asked_for_each_time() -> None:
    a, b = compute.buffer([1, 2], dtype="s32"), compute.buffer([0, 0], dtype="s32")
    for _ in range(2):
        assert result("scalar_mul", a, b, scalar=3) == [3, 6]
        with pytest.raises(DTypeError, match="not a whole number"):
            compute.run_kernel("scalar_mul", [a], b, {"scalar": 0.5})
        with pytest.raises(DTypeError, match="does not fit into s32"):
            compute.run_kernel("scalar_mul", [a], b, {"scalar": 2**40})


def test_a_buffer_of_another_device(device: str) -> None:
    a, b = numbers(1), numbers(0)
    with dala.use("reference" if device == "cpu" else "cpu"):
        foreign = numbers(1)
    for _ in range(2):
        compute.relu(a, b)
        with pytest.raises(DeviceError):
            compute.relu(foreign, b)
        with pytest.raises(DeviceError):
            compute.relu(a, foreign)


def test_the_same_buffers_and_distinct_ones_in_turn() -> None:
    """A stencil in place needs another plan than one from here to there."""
    image = np.random.default_rng(0).integers(0, 256, (40, 30, 4), dtype=np.uint8)
    source, out = compute.from_array(image), compute.buffer_zeros(image.shape, "u8")
    compute.run_kernel("blur", [source], out, {"radius": 2})
    wanted = out.read()
    for _ in range(3):
        own = compute.from_array(image)
        compute.run_kernel("blur", [own], own, {"radius": 2})
        np.testing.assert_array_equal(own.read(), wanted)
        compute.run_kernel("blur", [source], out, {"radius": 2})
        np.testing.assert_array_equal(out.read(), wanted)
        np.testing.assert_array_equal(source.read(), image)
    a, b, c = numbers(1, 2), numbers(10, 20), numbers(0, 0)
    for first, second, target, expected in [
        (a, b, c, [11, 22]), (a, a, c, [2, 4]), (b, a, c, [11, 22]), (b, b, b, [20, 40]),
        (a, b, b, [21, 42]), (b, a, b, [22, 44]), (a, b, a, [23, 46]),
    ]:  # fmt: skip
        compute.add(first, second, target)
        assert compute.read_list(target) == expected


def test_after_what_is_under_way() -> None:
    a, b = numbers(0), numbers(0)
    spec = {"kernel": "scalar_add", "inputs": [a], "output": a, "params": {"scalar": 1}}
    copy = compute.pipeline().add({"kernel": "scalar_mul", "inputs": [a], "output": b,
                                   "params": {"scalar": 2}})  # fmt: skip
    stream = compute.stream()
    for n in range(1, 20):
        for _ in range(5):
            compute.submit(spec)
            stream.submit(spec)
        assert result("scalar_add", a, b, scalar=0) == [10 * n]
        stream.submit({**spec, "params": {"scalar": 0}})
        copy.run()
        assert compute.read_list(b) == [20 * n]


def test_from_many_threads() -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        a, b = numbers(number, 1), numbers(0, 0)
        for k in range(200):
            found = result("scalar_mul", a, b, scalar=k)
            if found != [number * k, k]:
                failures.append((number, k, found))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    assert failures == []
