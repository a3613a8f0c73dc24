"""Bytes counted in levels instead of 0..1: the same within a rounding; left alone where it could grow."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from machines import machine_with

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm.jit import detect_host
from dala.backends.cpu.schedule.counted import Counted, count_in_levels
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.compute import default
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Program, walk
from dala.ir.rewrite import INVERSE_255, is_whole_level
from dala.language.kernel import Kernel, make_kernel

pytestmark = pytest.mark.usefixtures("on_cpu")

SMOOTH = {
    "a product": "p * q",
    "a product of three": "p * q * p",
    "a square, an offset": "(p.rgb * p.rgb * 0.7 + 0.2).with_alpha(q.a)",
    "a mix by alpha": "(p.rgb + (q.rgb - p.rgb) * p.a).with_alpha(p.a + q.a - p.a * q.a)",
    "a quotient": "(p.rgb * q.a / max(p.a, 0.01)).with_alpha(p.a / 3.0)",
    "a constant over": "rgba(0.1 / max(p.r, 0.1), p.g / max(q.g, 0.25) * 0.5, 0.2, p.a)",
    "functions": "(sqrt(p.rgb) * 0.5 + exp(q.rgb) * 0.2).with_alpha(p.a)",
    "extremes": "max(min(p.rgb, 0.6), q.rgb * 0.55).with_alpha(abs(p.a - q.a))",
    "where it is": "(p.rgb * (x / width) + y / height * 0.25 - q.rgb * 0.1).with_alpha(1.0)",
    "a parameter": "((p.rgb - k) * q.r + k).with_alpha(-p.a + 1.0)",
    "beyond both ends": "(p.rgb * q.r * 5.0 - 1.5).with_alpha(p.a)",
}
JUMPS = {
    "a comparison": "where(p.r * q.r > 0.2, p, q)",
    "a whole part": "(floor(p.rgb * q.r * 4.0) * 0.25).with_alpha(p.a)",
    "a quotient of anything": "(p.rgb / (p.g - q.g)).with_alpha(p.a)",
    "a quotient by a parameter": "((p.rgb * q.r - 0.5) / k).with_alpha(p.a)",
}


def probe(text: str) -> Kernel:
    head = "def probe(src, other, k: float = 0.3):\n    p = src[0, 0]\n    q = other[0, 0]\n"
    return make_kernel(f"{head}    return {text}")


def program_of(kernel: Kernel) -> Program:
    type_ = ArrayType((8, 8, 4), U8)
    special = kernel.specialize([type_] * 2, type_, kernel.bind({}))
    assert isinstance(special.work, Program)
    return special.work


def pictures(shape: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(11)
    return [rng.integers(0, 256, (*shape, 4), dtype=np.uint8) for _ in range(2)]


def run(kernel: Kernel | str, images: list[np.ndarray], **params: object) -> np.ndarray:
    out = compute.buffer_zeros(images[0].shape, "u8")
    compute.run_kernel(kernel, [compute.from_array(i) for i in images], out, params)
    return out.read()


@pytest.mark.parametrize("name", [*SMOOTH, *JUMPS])
@pytest.mark.parametrize("shape", [(1, 1), (7, 35), (40, 64)])
def test_the_same_within_a_level(name: str, shape: tuple[int, int]) -> None:
    kernel, images = probe((SMOOTH | JUMPS)[name]), pictures(shape)
    found = []
    for device in ("cpu", "reference"):
        with dala.use(device):
            found.append(run(kernel, images).astype(int))
    off = np.abs(found[0] - found[1])
    assert off.max() <= 1
    assert (off > 0).mean() < 0.005  # only what lies between two levels


@pytest.mark.parametrize("name", SMOOTH)
def test_results_are_whole_levels(name: str) -> None:
    body = count_in_levels(program_of(probe(SMOOTH[name])).stages[-1].body, Counted(U8, {0, 1}))
    made = [n for n in body if n.op not in ("load", "const")]
    assert made
    assert all(is_whole_level(n) for n in made)


@pytest.mark.parametrize("text", ["max(p, q)", "min(max(p, 0.2), q)"])
def test_extremes_stay_bytes(text: str) -> None:
    body = program_of(probe(text)).stages[-1].body
    assert count_in_levels(body, Counted(U8, {0, 1})) is body


def test_curves_are_the_same_with_and_without_tables() -> None:
    image = pictures((9, 67))[0]
    wanted = run("contrast", [image], value=0.37)
    host = dataclasses.replace(detect_host(), permutes_bytes=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        np.testing.assert_array_equal(run("contrast", [image], value=0.37), wanted)


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_are_left_alone(name: str) -> None:
    body = program_of(probe(JUMPS[name])).stages[-1].body
    assert count_in_levels(body, Counted(U8, {0, 1})) is body


def test_what_is_not_bytes_is_left_alone() -> None:
    program = program_of(probe("p * q"))
    image = ArrayType((8, 8, 4), U8)
    prepared = prepare_program(program, [image, image], image, fma=False).stages[-1].body
    floats = ArrayType((8, 8, 4), F32)
    kept = prepare_program(program, [floats, floats], floats, fma=False).stages[-1].body
    assert any(n.attr == INVERSE_255 for n in walk(prepared))
    assert not any(n.attr in (INVERSE_255, 255.0) for n in walk(kept))


@pytest.mark.parametrize(("vector_bytes", "x86"), [(64, False), (32, True), (16, True)])
def test_other_machines_give_the_same_bytes(vector_bytes: int, x86: bool) -> None:
    kernels, images = [probe(text) for text in SMOOTH.values()], pictures((9, 67))
    wanted = [run(k, images) for k in kernels]
    host = machine_with(vector_bytes, x86)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = [run(k, images) for k in kernels]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", ["over", "multiply", "screen", "difference"])
def test_fused_layers_are_those_of_single_stages(mode: str) -> None:
    """A view that is a level already meets the next stage, which reads levels."""
    base, top = pictures((13, 70))
    params = {"alpha": 0.6, "mode": mode}
    first = run("blend", [base, top], **params)
    second = run("vibrance", [run("blend", [first, top], **params)], value=0.4)
    a, b = compute.from_array(base), compute.from_array(top)
    one, two = (compute.scratch(base.shape, "u8") for _ in range(2))
    out, pipeline = compute.buffer_zeros(base.shape, "u8"), compute.pipeline()
    pipeline.add({"kernel": "blend", "inputs": [a, b], "output": one, "params": params})
    pipeline.add({"kernel": "blend", "inputs": [one, b], "output": two, "params": params})
    pipeline.add({"kernel": "vibrance", "inputs": [two], "output": out, "params": {"value": 0.4}})
    pipeline.run()
    np.testing.assert_array_equal(out.read(), second)
