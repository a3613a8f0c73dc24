"""The WGSL of catalogue kernels, as text. ``DALA_UPDATE_GOLDEN=1 pytest tests/golden`` rewrites it.

Emitting needs no GPU and no wgpu: these run everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from dala import compute
from dala.backends.webgpu.library import emit_library
from dala.backends.webgpu.prepare import prepare_program
from dala.backends.webgpu.shader import Shader, emit_pass
from dala.backends.webgpu.tiles import TileMemory
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, S32, U8
from dala.ir.graph import Program
from dala.plan.fuse import FusedPass, Location
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot
from golden import assert_golden

FOLDER = Path(__file__).parent / "wgsl"
PIXELS = ArrayType((48, 64, 4), U8)
ODD = ArrayType((47, 63, 4), U8)  # rows that do not begin on a group of four pixels


@dataclass(frozen=True)
class Case:
    stages: tuple[tuple[str, dict[str, object]], ...]
    inputs: tuple[ArrayType, ...] = (PIXELS,)
    output: ArrayType = PIXELS
    most_bytes: int = 32_768
    half: bool = False
    shaders: int = 1


MATRIX = ArrayType((200, 200), F32)
CASES = {
    "brightness": Case((("brightness", {}),)),
    "brightness_odd": Case((("brightness", {}),), (ODD,), ODD),
    "vignette_odd": Case((("vignette", {}),), (ODD,), ODD),
    "sharpen": Case((("sharpen", {}),)),
    "sharpen_odd": Case((("sharpen", {}),), (ODD,), ODD),
    "sharpen_grey_odd": Case(
        (("sharpen", {}),), (ArrayType((47, 63), U8),), ArrayType((47, 63), U8)
    ),
    "blur_radius_1": Case((("blur", {"radius": 1}),)),
    "blur_radius_1_sigma": Case((("blur", {"radius": 1, "sigma": 0.5}),)),
    "blur_radius_1_no_room": Case((("blur", {"radius": 1}),), most_bytes=1024, shaders=2),
    "blur_sharpen": Case((("blur", {"radius": 1}), ("sharpen", {})), shaders=2),
    "blur_radius_1_half": Case((("blur", {"radius": 1, "sigma": 0.5}),), half=True),
    "blur_sharpen_half": Case((("blur", {"radius": 1}), ("sharpen", {})), shaders=2, half=True),
    "median_half": Case((("median", {}),), half=True),
    "denoise_half_odd": Case((("denoise", {}),), (ODD,), ODD, half=True),
    "resize_bilinear": Case((("resize", {}),), output=ArrayType((20, 30, 4), U8)),
    "relu_f32": Case((("relu", {}),), (ArrayType((8, 3), F32),), ArrayType((8, 3), F32)),
    "add_u8": Case((("elementwise_add", {}),), (ArrayType((7,), U8),) * 2, ArrayType((7,), U8)),
    "transpose": Case((("transpose", {}),), (ArrayType((8, 3), S32),), ArrayType((3, 8), S32)),
    "matmul_large": Case((("matmul", {}),), (MATRIX, MATRIX), MATRIX),
    "reduce_sum_long": Case(
        (("reduce_sum", {}),), (ArrayType((50_000,), F32),), ArrayType((1,), F32), shaders=2
    ),
}


def emit_case(case: Case) -> list[Shader]:
    slots = [Slot(t) for t in (*case.inputs, case.output)]
    calls, sources = [], tuple(range(len(case.inputs)))
    for number, (name, params) in enumerate(case.stages):
        kernel = compute.find_kernel(name)
        types = [slots[s].type for s in sources]
        work = kernel.specialize(types, case.output, kernel.bind(params)).work
        if isinstance(work, Program):
            work = prepare_program(work, types, case.output, half=case.half)
        target = len(case.inputs)
        if number < len(case.stages) - 1:
            slots.append(Slot(case.output, scratch=True))
            target = len(slots) - 1
        calls.append(Call(work, sources, target))
        sources = (target,)
    temps: list[ArrayType] = []

    def new_temp(type_: ArrayType) -> Location:
        temps.append(type_)
        return Location("temp", len(temps) - 1)

    shaders: list[Shader] = []
    can = TileMemory(tiled=True, most_arrays=16, most_bytes=case.most_bytes)
    for work in plan_calls(calls, slots, can).passes:
        if isinstance(work, FusedPass):
            shaders.append(emit_pass(work, can.tuning, can.most_bytes))
        else:
            shaders += emit_library(work, new_temp)
    return shaders


@pytest.mark.parametrize("name", CASES)
def test_the_wgsl_of_a_kernel(name: str) -> None:
    shaders = emit_case(CASES[name])
    assert len(shaders) == CASES[name].shaders
    assert_golden("\n".join(s.text for s in shaders), FOLDER / f"{name}.wgsl")


def test_every_file_belongs_to_a_case() -> None:
    assert {p.stem for p in FOLDER.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", ["brightness", "sharpen", "blur_radius_1", "vignette_odd"])
def test_sizes_and_values_are_no_part_of_the_text(name: str) -> None:
    """Another image size, or another value of a parameter, reuses the compiled shader."""
    case = CASES[name]
    rows, columns, channels = case.output.shape
    other = ArrayType((rows * 3, columns + 64, channels), U8)
    larger = Case(case.stages, (other,), other)
    assert [s.text for s in emit_case(larger)] == [s.text for s in emit_case(case)]


def test_weights_are_constants_and_no_arrays() -> None:
    (shader,) = emit_case(CASES["blur_radius_1"])
    assert "0.7869859" in shader.text  # of the middle of three taps
    assert "array<f32" not in shader.text
    assert (
        "fma(" in shader.text
    )  # products are not shared between pixels: they are contracted into sums


def test_weights_of_a_run_time_width_are_uniforms() -> None:
    (shader,) = emit_case(CASES["blur_radius_1_sigma"])
    assert "exp" not in shader.text  # computed once, on the host
    assert len(shader.uniforms.pack((0.5,))) >= 16
    assert shader.uniforms.pack((0.5,)) != shader.uniforms.pack((0.7,))
