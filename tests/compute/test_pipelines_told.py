"""Pipelines on streams, and what they say of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from pipelines_apart import (
    BLUR,
    pixels,
)

import dala
from dala import compute

pytestmark = pytest.mark.usefixtures("device", "registry")


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
        assert "ring-buffered, never an image: blur.2" in text


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
