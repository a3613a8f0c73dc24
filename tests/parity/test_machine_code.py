"""What the CPU compiler writes: for other machines too, and without clamps in the inner loop."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from dala import compute
from dala.backends.cpu.emit.function import NativePass, emit_pass
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, F64, U8
from dala.ir.graph import Program
from dala.language.registry import find_kernel
from dala.plan.fuse import FusedPass
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot

IMAGE = ArrayType((64, 64, 4), U8)


def native(
    kernel: str, vector_bytes: int, *, fma: bool, type_: ArrayType = IMAGE, **params: object
) -> NativePass:
    found = find_kernel(kernel)
    special = found.specialize([type_] * found.inputs, type_, found.bind(params))
    assert isinstance(special.work, Program)
    count = found.inputs
    program = prepare_program(special.work, [type_] * count, type_, fma=fma)
    plan = plan_calls([Call(program, tuple(range(count)), count)], [Slot(type_)] * (count + 1))
    work = plan.passes[0]
    assert isinstance(work, FusedPass)
    return emit_pass(work, Host("", "", vector_bytes, fma))


def assembly(text: str, triple: str, cpu: str, features: str = "") -> str:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=2
    )
    module = llvm.parse_assembly(text)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    module.verify()
    return str(machine.emit_assembly(module))


KERNELS = ["blur", "sharpen", "grayscale", "brightness", "rotate", "generate_gradient", "median"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("triple", "cpu", "vector_bytes", "fma", "sign"),
    [
        ("aarch64-unknown-linux-gnu", "neoverse-n1", 16, True, r"\bv\d+\.(4s|16b)\b"),
        ("arm64-apple-macosx", "apple-m1", 16, True, r"\.(4s|16b)\b"),
        ("x86_64-unknown-linux-gnu", "x86-64", 16, False, "xmm"),
        ("x86_64-unknown-linux-gnu", "haswell", 32, True, "ymm"),
        ("x86_64-unknown-linux-gnu", "skylake-avx512", 64, True, "zmm"),
        ("x86_64-pc-windows-msvc", "haswell", 32, True, "ymm"),
    ],
    ids=["neon", "m1", "sse2", "avx2", "avx512", "windows"],
)
def test_code_for_other_machines(
    kernel: str, triple: str, cpu: str, vector_bytes: int, fma: bool, sign: str
) -> None:
    text = assembly(native(kernel, vector_bytes, fma=fma).text, triple, cpu)
    assert re.search(sign, text), "no vector code"


@pytest.mark.parametrize("dtype", [F32, F64])
def test_mathematics_for_other_machines(dtype: object) -> None:
    tensor = ArrayType((100,), dtype)  # type: ignore[arg-type]
    for kernel in ("exp", "tanh", "sigmoid", "sqrt"):
        code = native(kernel, 16, fma=True, type_=tensor)
        assert "dala_pass" in assembly(code.text, "aarch64-unknown-linux-gnu", "neoverse-n1")


def inner_loops(text: str) -> list[str]:
    return re.findall(r"^b\d+\.loop:\n(.*?)^b\d+\.done:", text, re.S | re.M)


@pytest.mark.parametrize("kernel", ["blur", "sharpen"])
def test_inner_loops_of_stencils_have_no_clamps(kernel: str) -> None:
    loops = inner_loops(native(kernel, 64, fma=True).text)
    assert len(loops) >= 2
    for loop in loops:
        compared = re.findall(r"icmp \w+ i64 .*", loop)
        stored = len(re.findall(r"select i1 .*, ptr", loop))
        assert len(compared) == 1 + stored, "the loop's end and the partial vector, nothing else"
        assert "gather" not in loop
    assert "select i1" in loops[-1]


def test_blur_of_floats_multiplies_and_adds_in_one_instruction() -> None:
    floats = ArrayType((64, 64, 4), F32)
    loops = inner_loops(native("blur", 64, fma=True, type_=floats).text)
    assert max(loop.count("@llvm.fma.v16f32") for loop in loops) == 24  # 6 of 7 taps, 4 channels
    assert sum(loop.count("fadd") for loop in loops) == 0


def test_blur_of_bytes_runs_in_16_bits() -> None:
    code = native("blur", 64, fma=True)
    text = assembly(code.text, "x86_64-unknown-linux-gnu", "znver4")
    assert len(re.findall(r"vpmulhuw\s.*zmm", text)) == 16  # 4 products, 2 parts, 2 directions
    assert not re.search(r"vfmadd.*zmm", text)


def test_code_does_not_depend_on_the_size() -> None:
    small = native("blur", 64, fma=True, type_=ArrayType((8, 8, 4), U8))
    large = native("blur", 64, fma=True, type_=ArrayType((2160, 3840, 4), U8))
    assert small.text == large.text


def test_ring_holds_as_many_rows_as_the_filter_reaches() -> None:
    def depths(code: NativePass) -> list[int]:
        rings = [code.sweep.bodies[number].ring for number in code.sweep.order]
        return [ring.depth for ring in rings if ring is not None]

    floats = native("blur", 64, fma=True, type_=ArrayType((64, 64, 4), F32))
    assert depths(floats) == [7, 1]
    in_bytes = native("blur", 64, fma=True)  # reads its seven rows in place, holds one
    assert depths(in_bytes) == [1]


def test_planes_that_are_shrunk_alike_are_a_loop() -> None:
    floats = native("blur", 64, fma=True, type_=ArrayType((64, 64, 4), F32), radius=100)
    small = [b for b in floats.sweep.bodies if b.label in ("blur.1", "blur.2")]
    assert [b.mip for b in small] == [1, 2]
    planes = re.findall(r"^b\d+\.plane:\n.*?^b\d+\.turned:", floats.text, re.S | re.M)
    assert [len(re.findall("= fmul", text)) for text in planes] == [1, 1]


def test_of_two_rows_one_is_read() -> None:
    """An enlarged pixel is made of three columns of two rows: of the nearer one, and of one beside it."""
    wide = native("blur", 64, fma=True, radius=30)
    (loop,) = [text for text in inner_loops(wide.text) if "sitofp" in text and "fptosi" in text]
    assert len(re.findall(r"load <16 x float>", loop)) == 4 * 2
    assert len(re.findall(r"shufflevector <16 x float>", loop)) == 4 * 2 * 3


def test_reading_stays_inside_the_buffer() -> None:
    """Rows of every width next to memory that must not show up in the result."""
    for width in range(1, 70):
        image = np.full((3, width, 4), 10, np.uint8)
        guarded = compute.from_array(image)
        out = compute.buffer_zeros(image.shape, "u8")
        compute.run_kernel("blur", [guarded], out, {"radius": 2})
        assert (out.read() == 10).all(), width


def test_point_wise_bytes_become_a_table() -> None:
    type_ = ArrayType((64, 64, 4), U8)
    plain = native("contrast", 64, fma=True, type_=type_)
    assert "table0" not in plain.text  # this host was not said to permute bytes
    work_text = emit_with_tables("contrast")
    text = assembly(work_text, "x86_64-unknown-linux-gnu", "znver4")
    assert len(re.findall(r"vpermi2b|vpermt2b", text)) == 2
    (loop,) = inner_loops(work_text)
    assert "fmul" not in loop


def emit_with_tables(kernel: str) -> str:
    found = find_kernel(kernel)
    special = found.specialize([IMAGE], IMAGE, found.bind({}))
    assert isinstance(special.work, Program)
    program = prepare_program(special.work, [IMAGE], IMAGE, fma=True)
    plan = plan_calls([Call(program, (0,), 1)], [Slot(IMAGE)] * 2)
    work = plan.passes[0]
    assert isinstance(work, FusedPass)
    return emit_pass(work, Host("", "", 64, True, permutes_bytes=True)).text
