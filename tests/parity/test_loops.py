"""Sums of many terms are loops: short text, and the values that the terms spelled out would give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from machines import machine_with

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import detect_host
from dala.backends.cpu.run import launch
from dala.compute import default
from dala.compute.engine import Engine
from dala.language.kernel import Kernel, make_kernel
from dala.language.values import Image, Value, intermediate
from dala.language.vocabulary import average, exp
from dala.plan.fuse import FusedPass

pytestmark = pytest.mark.usefixtures("on_cpu")

REACH = range(-15, 16)


def unlike(src: Image, k: float = 0.3) -> Value:
    """Weights that have nothing in common."""
    weights = [exp(k * d) if d % 2 else k + d for d in REACH]
    return average([src[d, d // 4] for d in REACH], weights)


def inlined(src: Image, k: float = 0.02) -> Value:
    """Two averages with different taps that are inlined into one expression."""
    wide = intermediate(average([src[d, 0] for d in REACH], [exp(-k * d * d) for d in REACH]))
    tall = intermediate(average([src[0, d] for d in REACH], [1.0 for _ in REACH]))
    return src[0, 0] + (wide[0, 0] - tall[0, 0]) * 0.5


def two_sources(src: Image, other: Image) -> Value:
    taps = [src[d, 0] for d in REACH] + [other[0, 0] for _ in REACH]
    return average(taps, [float(2 + abs(k)) for k in range(len(taps))])


def gathered(src: Image, k: float = 0.5) -> Value:
    """A sum whose first terms are unlike the others cannot be a loop, and must not become one."""
    total = src.at(0, 0) * k + src.at(1, 1)
    for n in range(2, 80):
        total = total + src.at(n, 2 * n) * (k + n) * 0.01
    return total


CASES: dict[str, tuple[Callable[..., Value], int]] = {
    "unlike": (unlike, 1),
    "inlined": (inlined, 1),
    "two sources": (two_sources, 2),
    "gathered": (gathered, 1),
}


@pytest.mark.parametrize("shape", [(37, 53, 4), (37, 53), (3, 1, 4)], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_loops_mean_what_the_reference_means(case: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    function, count = CASES[case]
    kernel: Kernel = make_kernel(function, domain="image")
    images = [rng.random(shape, dtype=np.float32) for _ in range(count)]
    results = []
    for device in ("cpu", "reference"):
        with dala.use(device):
            out = compute.buffer_zeros(shape, "f32")
            compute.run_kernel(kernel, [compute.from_array(i) for i in images], out)
            results.append(out.read())
    np.testing.assert_allclose(results[0], results[1], rtol=3e-6, atol=3e-6)


CHAIN: list[tuple[str, dict[str, object]]] = [
    ("brightness", {"value": 0.1}),
    ("blur", {"radius": 14}),
    ("sharpen", {"amount": 0.4}),
    ("blur", {"radius": 60, "sigma": 4.0}),
    ("beauty", {"radius": 6}),
]


@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("vector_bytes", [64, 32, 16])
def test_fused_loops_are_unfused_byte_for_byte(
    monkeypatch: pytest.MonkeyPatch, vector_bytes: int, dtype: str
) -> None:
    """Through chains, in small bands, on vectors of any width."""
    rng = np.random.default_rng(4)
    image = rng.random((29, 61, 4), dtype=np.float32)
    pixels = (image * 255).astype(np.uint8) if dtype == "u8" else image
    apart = compute.from_array(pixels)
    for kernel, params in CHAIN:
        out = compute.buffer_zeros(image.shape, dtype)
        compute.run_kernel(kernel, [apart], out, params)
        apart = out
    narrow = machine_with(vector_bytes)
    monkeypatch.setattr(launch, "_band_rows", lambda *_: 7)
    monkeypatch.setattr(default, "_default", Engine(CpuDevice(narrow)))
    chain = compute.pipeline()
    here: compute.Buffer | compute.Scratch = compute.from_array(pixels)
    fused = compute.buffer_zeros(image.shape, dtype)
    for number, (kernel, params) in enumerate(CHAIN):
        after = fused if number == len(CHAIN) - 1 else compute.scratch(image.shape, dtype)
        chain.add({"kernel": kernel, "inputs": [here], "output": after, "params": params})
        here = after
    chain.run()
    assert fused.read().tobytes() == apart.read().tobytes()


def lines_of(kernel: str, dtype: str, target: tuple[int, ...], params: dict[str, object]) -> int:
    """How much text the pass of one call is."""
    pipeline = compute.pipeline()
    source, output = compute.buffer_zeros((96, 128, 4), dtype), compute.buffer_zeros(target, dtype)
    pipeline.add({"kernel": kernel, "inputs": [source], "output": output, "params": params})
    plan = pipeline.engine.prepare(pipeline._stages).executable.plan  # type: ignore[attr-defined]
    (work,) = plan.passes
    assert isinstance(work, FusedPass)
    return len(emit_pass(work, detect_host()).text.splitlines())


@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_text_does_not_grow_with_the_window(dtype: str) -> None:
    for narrow, wide in ((16, 25), (30, 40), (60, 100)):  # full size, half, a quarter
        blurs = [lines_of("blur", dtype, (96, 128, 4), {"radius": r}) for r in (narrow, wide)]
        assert blurs[1] < 1.3 * blurs[0]
    area: dict[str, object] = {"interpolation": "area"}
    sizes = [lines_of("resize", dtype, target, area) for target in ((24, 32, 4), (9, 12, 4))]
    assert sizes[1] < 2.5 * sizes[0]  # along one axis


def test_rolled_sums_are_the_sums_byte_for_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    image = compute.from_array(rng.random((96, 128, 4), dtype=np.float32))
    out = compute.buffer_zeros((13, 17, 4), "f32")
    engine = compute.pipeline().engine
    results, compiled = [], []
    for long_body in (1, 10**9):
        monkeypatch.setattr("dala.backends.cpu.arithmetic.roll.LONG_BODY", long_body)
        engine.forget()
        compute.run_kernel("resize", [image], out, {"interpolation": "area"})
        results.append(out.read())
        compiled.append(engine.device.code.compiled)  # type: ignore[attr-defined]
    assert compiled[1] == compiled[0] + 1  # it was other code
    np.testing.assert_array_equal(results[0].view(np.uint32), results[1].view(np.uint32))
