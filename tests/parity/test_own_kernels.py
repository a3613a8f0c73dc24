"""A user's kernel is computed as one of the catalogue of the same shape, however she writes it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from llvm_kernels import AROUND, kernel_of, taps
from llvm_texts import HOSTS, Case, Step, plan_case

import dala
from dala import compute
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.language.kernel import Kernel
from dala.plan.fuse import FusedPass

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURE = ArrayType((48, 64, 4), U8)
INTENDED = {
    "unsharp_mask": "gain",
    "emboss": "gain",
    "two_inks": "dot",
    "soft_down": "fixed",
    "brightest": "extrema",
}
BELL = [(0, d) for d in range(-2, 3)]
SOFT = f"average(({taps('src', AROUND)}), (1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0))"
# the same filters as others would write them; ``gain`` is between -2 and 2
OTHERWISE = {
    "unsharp by a mix": (f"mix({SOFT}, src[0, 0], 1.0 + gain)", "gain"),
    "unsharp, its strength known": (f"src[0, 0] + (src[0, 0] - {SOFT}) * 0.8", "dot"),
    "unsharp, alpha kept": (f"(p.rgb + (p.rgb - {SOFT}.rgb) * gain).with_alpha(p.a)", "gain"),
    "emboss of known strength": ("src[1, 1] - src[-1, -1] + 0.5", "dot"),
    "emboss on the photo": ("src[0, 0] + (src[1, 1] - src[-1, -1]) * gain", "gain"),
    "emboss in grey": (
        "rgb(luma(src[1, 1]) - luma(src[-1, -1]), 0.5, 0.5).with_alpha(p.a) * gain", "dot",
    ),
    "two inks of any strength": ("mix(p.rgb, rgb(0.1, 0.2, 0.5) * luma(p), gain).with_alpha(p.a)", "dot"),
    "soft down as a sum": (
        "(src[0, -2] + src[0, 2] + (src[0, -1] + src[0, 1]) * 4.0 + src[0, 0] * 6.0) / 16.0", "dot",
    ),
    "soft down, alpha kept": (
        f"average(({taps('src', BELL)}), (1.0, 4.0, 6.0, 4.0, 1.0)).with_alpha(p.a)", "dot",
    ),
    "brightest, all channels": (f"max({taps('src', AROUND)})", "extrema"),
    "darkest, alpha kept": (f"min({taps('src', AROUND)}).with_alpha(p.a)", "extrema"),
}  # fmt: skip
KERNELS = {name: kernel_of(text) for name, (text, _) in OTHERWISE.items()}


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("own_filters")


def arithmetics(kernel: Kernel, host: str) -> list[str]:
    case = Case([Step(kernel, ("a",), "b")], dict.fromkeys(("a", "b"), PICTURE))
    (work,) = plan_case(case, HOSTS[host]).passes
    assert isinstance(work, FusedPass)
    return [body.arithmetic.name for body in work.bodies]


@pytest.mark.parametrize("host", HOSTS)
def test_the_five_of_the_example(own: ModuleType, host: str) -> None:
    assert {k.name: arithmetics(k, host) for k in own.FILTERS} == {
        name: [intended] for name, intended in INTENDED.items()
    }


@pytest.mark.parametrize("host", HOSTS)
def test_however_they_are_written(host: str) -> None:
    found = {name: arithmetics(kernel, host) for name, kernel in KERNELS.items()}
    assert found == {name: [intended] for name, (_, intended) in OTHERWISE.items()}


def run(kernel: Kernel, image: np.ndarray, params: Mapping[str, object]) -> np.ndarray:
    out = compute.buffer_zeros(image.shape, "u8")
    compute.run_kernel(kernel, [compute.from_array(image)], out, dict(params))
    return out.read()


def assert_meant(kernel: Kernel, params: Mapping[str, object]) -> None:
    rng = np.random.default_rng(6)
    for shape in ((11, 67, 4), (1, 1, 4), (3, 200, 4)):
        image = rng.integers(0, 256, shape, dtype=np.uint8)
        with dala.use("cpu"):
            cpu = run(kernel, image, params)
        with dala.use("reference"):
            meant = run(kernel, image, params)
        assert np.abs(cpu.astype(int) - meant).max() <= 1


def test_the_five_are_within_one_level_of_their_meaning(own: ModuleType) -> None:
    strengths = {own.unsharp_mask: "amount", own.emboss: "strength", own.two_inks: "amount"}
    for kernel in own.FILTERS:
        for strength in (0.0, 0.3, 1.0) if kernel in strengths else (None,):
            assert_meant(kernel, {} if strength is None else {strengths[kernel]: strength})


@pytest.mark.parametrize("name", KERNELS)
def test_the_others_are_within_one_level_of_their_meaning(name: str) -> None:
    for gain in (-2.0, -0.3, 0.0, 0.7, 2.0):
        assert_meant(KERNELS[name], {"gain": gain})
