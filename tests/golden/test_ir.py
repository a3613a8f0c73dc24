"""The IR of catalogue kernels, as text. ``DALA_UPDATE_GOLDEN=1 pytest tests/golden`` rewrites it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dala import compute
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, S32, U8
from dala.ir.graph import Program
from dala.ir.printer import print_program
from golden import assert_golden

FOLDER = Path(__file__).parent / "ir"
PIXELS = ArrayType((48, 64, 4), U8)


@dataclass(frozen=True)
class Case:
    kernel: str
    inputs: tuple[ArrayType, ...] = (PIXELS,)
    output: ArrayType = PIXELS
    params: dict[str, object] = field(default_factory=dict)


CASES = {
    "blur_radius_1": Case("blur", params={"radius": 1}),
    "blur_radius_1_sigma": Case("blur", params={"radius": 1, "sigma": 0.5}),
    "contrast": Case("contrast"),
    "generate_gradient": Case("generate_gradient", ()),
    "grayscale": Case("grayscale"),
    "grayscale_to_grey": Case("grayscale", (ArrayType((48, 64), U8),), ArrayType((48, 64), U8)),
    "relu_f32": Case("relu", (ArrayType((8, 3), F32),), ArrayType((8, 3), F32)),
    "relu_s32": Case("relu", (ArrayType((8, 3), S32),), ArrayType((8, 3), S32)),
    "resize_bilinear": Case("resize", output=ArrayType((20, 30, 4), U8)),
    "sharpen": Case("sharpen"),
    "transpose": Case("transpose", (ArrayType((8, 3), F32),), ArrayType((3, 8), F32)),
}


def print_case(case: Case) -> str:
    kernel = compute.find_kernel(case.kernel)
    work = kernel.specialize(case.inputs, case.output, kernel.bind(case.params)).work
    assert isinstance(work, Program)
    return print_program(work)


@pytest.mark.parametrize("name", CASES)
def test_the_ir_of_a_kernel(name: str) -> None:
    assert_golden(print_case(CASES[name]), FOLDER / f"{name}.txt")


def test_every_file_belongs_to_a_case() -> None:
    assert {p.stem for p in FOLDER.iterdir()} == set(CASES)
