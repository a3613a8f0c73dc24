"""Gains on bytes: within one level of the meaning for all levels and gains, the same bytes everywhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from machines import machine_with
from several_threads import use_threads

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.run import launch
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.compute import default
from dala.compute.engine import Engine
from dala.errors import ParameterError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.ir.graph import Program
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.plan.fuse import FusedPass
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot

AMOUNTS = [0, 1e-40, 1e-6, 0.01, 0.1, 0.3, 0.4999999, 0.5, 0.7, 0.99999, 1, 1.99999, 2.7, 3.9999695,
           5, 7.99999, 8, 9.99, 10]  # fmt: skip
AROUND = [f"src[{dx}, {dy}]" for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
GAIN = {"gain": dala.Param("gain", "float", 0.5, min=-3, max=3)}
TEXTS = {
    "relief": "src[-1, -1] * gain - src[1, 1] * gain",
    "relief upside down": "src[0, 0] - (src[1, 0] + src[0, 1] - 2.0 * src[2, 3]) * gain",
    "all the same weight": "src[1, 0] + gain * (1.0 - 2.0 * gain) * (src[0, 0] - src[0, 3])",
    "passing two": "rgba((src[1, 0] * gain - src[0, 0]).r, src[0, 0].g, (src[1, 0] * gain - src[0, 0]).b, "
    "src[1, 0].a)",
    "negative": "-(src[0, 1] * gain) - src[1, 0]",
    "sixteenths": "src[0, 0] + (src[0, 0] * 4.0 - src[1, 1] * 3.0 - src[0, 1]) / 16.0 * gain",
    "ninths": f"src[0, 0] + (src[0, 0] - average(({', '.join(AROUND)}), ({'1.0, ' * 9}))) * gain",
    "mixed": "mix(src[1, 0] * 0.5 + src[0, 1] * 0.5, src[0, 0], 1.0 - 2.0 * gain)",
    "mixed by hand": "src[0, 0] * (1.0 - gain) + src[1, 0] * gain",
    "a summand": "src[0, 0] + src[1, 0] * gain + 0.25",
    "a relief on grey": "(src[1, 1] - src[-1, -1]) * gain + 0.5",
    "a relief on less than black": "(src[1, 1] - src[-1, -1]) * gain - 0.3",
    "something less itself": "src[0, 0] + (src[1, 0] - src[1, 0] + src[0, 1]) * gain + src[3, 3] * 0.0",
}
KERNELS = {
    name: make_kernel(
        f"def probe(src, gain: float = 0.5):\n    return {text}", params=list(GAIN.values())
    )
    for name, text in TEXTS.items()
}


def run(kernel: str | Kernel, image: np.ndarray, device: str, params: dict) -> np.ndarray:
    with dala.use(device):
        return run_here(kernel, image, params)


def run_here(kernel: str | Kernel, image: np.ndarray, params: dict) -> np.ndarray:
    out = compute.buffer_zeros(image.shape, "u8")
    compute.run_kernel(kernel, [compute.from_array(image)], out, params)
    return out.read()


def crosses() -> np.ndarray:
    """Every level in the middle, with every sum of four levels around it, as far apart as they go."""
    image = np.zeros((256 * 3, 256 * 2 + 1, 4), np.uint8)
    middle, around = np.mgrid[0:256, 0:1021:4]
    levels = np.clip(around[..., None] - 255 * np.arange(4), 0, 255)
    image[1::3, 1::2, :3] = middle[..., None]
    image[1::3, 0:-1:2, 1] = image[1::3, 2::2, 2] = levels[..., 0]
    image[0::3, 1::2, :3] = levels[..., 1:4]
    image[2::3, 1::2, :3] = levels[..., 3:0:-1]
    image[..., 3] = np.arange(image.shape[1]) % 256
    return image


@pytest.mark.parametrize("amount", AMOUNTS)
def test_within_one_level_of_the_meaning(amount: float) -> None:
    for image in (crosses(), crosses()[..., 1].copy()):
        cpu = run("sharpen", image, "cpu", {"amount": amount}).astype(int)
        reference = run("sharpen", image, "reference", {"amount": amount})
        assert np.abs(cpu - reference).max() <= 1
        if amount == 0:
            np.testing.assert_array_equal(cpu, image)
        if amount in (1, 2, 5, 8, 10):  # whole numbers stay whole
            np.testing.assert_array_equal(cpu, reference)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_the_error_is_what_was_proved(amount: float) -> None:
    image = crosses().astype(np.int64)
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    around = padded[1:-1, :-2] + padded[1:-1, 2:] + padded[:-2, 1:-1] + padded[2:, 1:-1]
    exact = image + np.float64(np.float32(amount)) * (4 * image - around)
    got = run("sharpen", image.astype(np.uint8), "cpu", {"amount": amount})
    exponent = np.frexp(max(amount, 2.0**-20) * (1 + 2.0**-16))[1] - 1
    bound = 0.5 + 2.0 ** -min(4 - exponent, 7)
    worst = np.abs(got - np.clip(exact, 0, 255))[..., :3].max()
    assert worst <= bound


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), 10.001, -1e-9])
def test_gains_out_of_bounds_are_refused(amount: float) -> None:
    with pytest.raises(ParameterError, match=r"a number in 0\.\.10"):
        run("sharpen", np.zeros((2, 2, 4), np.uint8), "cpu", {"amount": amount})


@pytest.mark.parametrize("gain", [-3, -1.3, -1e-9, 0, 0.3, 1, 2.999])
@pytest.mark.parametrize("name", KERNELS)
def test_other_functions(name: str, gain: float) -> None:
    rng = np.random.default_rng(4)
    shapes = [(11, 67, 4), (1, 1, 4), (3, 200, 4)]
    shapes += [] if name == "passing two" else [(7, 131)]
    for shape in shapes:
        image = rng.integers(0, 256, shape, dtype=np.uint8)
        cpu, reference = (
            run(KERNELS[name], image, device, {"gain": gain}) for device in ("cpu", "reference")
        )
        assert np.abs(cpu.astype(int) - reference).max() <= 1


@pytest.mark.parametrize("channels", [4, 1])
@pytest.mark.parametrize(
    ("vector_bytes", "x86"), [(64, False), (32, True), (32, False), (16, True)]
)
def test_other_machines_give_the_same_bytes(channels: int, vector_bytes: int, x86: bool) -> None:
    image = crosses()[: 3 * 64]
    image = image if channels == 4 else image[..., 0].copy()
    wanted = [run("sharpen", image, "cpu", {"amount": a}) for a in AMOUNTS]
    wanted += [run(k, image, "cpu", {}) for n, k in KERNELS.items() if n != "passing two"]
    with pytest.MonkeyPatch.context() as patch:
        host = machine_with(vector_bytes, x86)
        patch.setattr(launch, "_band_rows", lambda *_: 5)
        use_threads(patch, 4)
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = [run_here("sharpen", image, {"amount": a}) for a in AMOUNTS]
        got += [run_here(k, image, {}) for n, k in KERNELS.items() if n != "passing two"]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


# --- what is written ------------------------------------------------------------------------------


def text_of(kernel: Kernel, host: Host) -> str:
    type_ = ArrayType((64, 64, 4), U8)
    special = kernel.specialize([type_], type_, kernel.bind({}))
    assert isinstance(special.work, Program)
    program = prepare_program(special.work, [type_], type_, fma=host.fma)
    (work,) = plan_calls([Call(program, (0,), 1)], [Slot(type_)] * 2).passes
    assert isinstance(work, FusedPass)
    return emit_pass(work, host).text


def in_16_bits(kernel: Kernel) -> bool:
    return "x float>" not in text_of(kernel, Host("", "", 64, fma=True))


def test_bounded_gains_know_no_vectors_of_floats() -> None:
    assert in_16_bits(find_kernel("sharpen"))
    for name, kernel in KERNELS.items():
        assert in_16_bits(kernel), name


BOUNDED = {"min": -3, "max": 3}
OTHERWISE = {
    "no bounds": ("src[0, 0] + src[1, 0] * gain", {}),
    "half a bound": ("src[0, 0] + src[1, 0] * gain", {"min": 0}),
    "nothing times no bounds": (
        "src[0, 0] + src[1, 0] * (gain * 0.0)",
        {"min": 0, "finite": False},
    ),
    "too large": ("src[0, 0] + (src[1, 0] - src[0, 0]) * gain", {"min": -3, "max": 64}),
    "a summand that gains": ("src[0, 0] + (src[1, 0] - 0.5) * gain", {"min": -40, "max": 40}),
    "another function": ("src[0, 0] + src[1, 0] * sqrt(gain)", BOUNDED),
    "a product of levels": ("src[0, 0] * src[1, 0] * gain", BOUNDED),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_what_stays_in_floats(case: str) -> None:
    text, bounds = OTHERWISE[case]
    gain = dala.Param("gain", "float", 0.5, **bounds)
    kernel = make_kernel(f"def probe(src, gain: float = 0.5):\n    return {text}", params=[gain])
    assert not in_16_bits(kernel)
    image = np.random.default_rng(5).integers(0, 256, (5, 37, 4), dtype=np.uint8)
    cpu, reference = (run(kernel, image, d, {"gain": 0.75}) for d in ("cpu", "reference"))
    assert np.abs(cpu.astype(int) - reference).max() <= 1


def test_products_are_one_instruction() -> None:
    text = text_of(find_kernel("sharpen"), Host("", "", 64, fma=True, x86=True))
    assert len(re.findall(r"= call .*@llvm\.x86\.avx512\.pmul\.hr\.sw\.512", text)) == 4
