"""Reads at computed positions on the CPU: the short cuts are taken, and give what NumPy gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dala
from dala import compute
from dala.backends.cpu.emit.function import NativePass, emit_pass
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.backends.cpu.schedule.repeats import REPEATED
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Program
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.plan.fuse import FusedPass
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot

COLOURS, GREYS = ArrayType((64, 64, 4), U8), ArrayType((64, 64), U8)
FLOATS = ArrayType((64, 64, 4), F32)


def native(
    kernel: str | Kernel, source: ArrayType, target: ArrayType, **params: object
) -> NativePass:
    found = find_kernel(kernel) if isinstance(kernel, str) else kernel
    values = found.bind(params)
    special = found.specialize([source], target, values)
    assert isinstance(special.work, Program)
    types = [source, *(t.type for t in found.tables(values))]
    program = prepare_program(special.work, types, target, fma=True, least_table=0.0)
    slots = [Slot(t) for t in (*types, target)]
    work = plan_calls([Call(program, tuple(range(len(types))), len(types))], slots).passes[0]
    assert isinstance(work, FusedPass)
    return emit_pass(work, Host("", "", 64, True, permutes_bytes=True))


def fast_paths(text: str) -> list[str]:
    """What is read where a whole vector lies inside the image."""
    return re.findall(r"^v\d+\.yes:\n(.*?)^v\d+\.no:", text, re.S | re.M)


@pytest.mark.parametrize("kernel", ["crop", "flip"])
@pytest.mark.parametrize("type_", [COLOURS, GREYS, FLOATS])
def test_a_piece_of_a_row_is_one_load(kernel: str, type_: ArrayType) -> None:
    (path,) = fast_paths(native(kernel, type_, type_).text)
    assert "gather" not in path
    assert path.count("= load") == 1


@pytest.mark.parametrize("kernel", ["crop", "flip"])
def test_moved_pixels_stay_bytes(kernel: str) -> None:
    assert "float" not in native(kernel, COLOURS, COLOURS).text


def test_neighbours_are_read_together() -> None:
    text = native("rotate", COLOURS, FLOATS).text
    assert text.count("= load <2 x i32>") == 2 * 16  # two rows
    assert "masked.gather" not in text


def test_a_curve_of_bytes_is_a_table() -> None:
    curve = np.linspace(0, 1, 9)[:, None] ** [0.5, 1, 2]
    text = native("lut", COLOURS, COLOURS, lut=curve).text
    loop = re.search(r"^b0\.loop:\n(.*?)^b0\.done:", text, re.S | re.M)
    assert loop is not None
    assert "gather" not in loop[1] and "vpermi2var" in loop[1]


def test_a_curve_works_in_place() -> None:
    image = np.random.default_rng(0).integers(0, 256, (9, 70, 4), dtype=np.uint8)
    curve = np.linspace(0, 1, 9)[:, None] ** [0.5, 1, 2]
    results = []
    for device in ("cpu", "reference"):
        with dala.use(device):
            buffer = compute.from_array(image)
            p = compute.pipeline()
            p.add({"kernel": "lut", "inputs": [buffer], "output": buffer, "params": {"lut": curve}})
            assert "copied back" not in p.explain()
            p.run()
            results.append(buffer.read())
    np.testing.assert_array_equal(*results)


REPEATS = "def steps(src):\n    row = s32(floor(y / 4.0))\n    return {}"
THREE = "src.at(x, row) * 0.5 + src.at(x * 2, row) * 0.25 + src.at(x * 3, row + 1) * 0.25"


@pytest.mark.parametrize(
    ("result", "held"),
    [
        (THREE, True),
        ("src.at(x, row)", False),  # as fast as a buffered row
        (f"({THREE}) * (y / height)", False),  # another one for every row
        (f"({THREE}) * src[0, 0]", False),  # needs its own row
    ],
)
def test_rows_that_repeat_are_held(result: str, held: bool) -> None:
    kernel = make_kernel(REPEATS.format(result))
    chosen = [b.arithmetic for b in native(kernel, COLOURS, COLOURS).sweep.bodies]
    assert (REPEATED in chosen) == held
    assert all(b.arithmetic != REPEATED for b in native(kernel, COLOURS, FLOATS).sweep.bodies)


@pytest.mark.parametrize("width", [1, 2, 3, 15, 16, 17, 31, 33, 64, 70])
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("channels", [4, 1])
def test_every_border(width: int, dtype: str, channels: int) -> None:
    """Pieces of rows, pairs and single pixels at, before and behind both ends."""
    rng = np.random.default_rng(width)
    shape = (5, width, 4) if channels == 4 else (5, width)
    image = rng.integers(0, 256, shape, dtype=np.uint8)
    source = image if dtype == "u8" else image.astype(np.float32)
    kernel = make_kernel(
        "def probe(src, left: int = 0, turn: int = 1):\n"
        "    column = where(turn == 1, x * 3 // 2, x) + left\n"
        "    p = src.at(column, y)\n"
        "    q = src.at(column + 1, y)\n"
        "    r = src.at(x + left, y - 1)\n"
        "    s = src.at(width - 1 - x + left, y + 1)\n"
        "    return where(y == 0, p, where(y == 1, q, where(y == 2, r, s)))"
    )
    columns = np.arange(width)
    with dala.use("cpu"):
        for left in (-20, -2, -1, 0, 1, 2, width // 2, 90):
            out = compute.buffer_zeros(shape, dtype)
            compute.run_kernel(kernel, [compute.from_array(source)], out, {"left": left})
            first = columns * 3 // 2 + left
            mirrored = width - 1 - columns + left
            wanted = [(0, first), (1, first + 1), (1, columns + left), (4, mirrored), (4, mirrored)]
            expected = np.stack([source[y, np.clip(c, 0, width - 1)] for y, c in wanted])
            np.testing.assert_array_equal(out.read(), expected)


def test_whether_a_column_is_odd_is_known() -> None:
    stripes = make_kernel(
        "def stripes(src):\n    return where((x & 1) == 1, src[0, 0], 1 - src[0, 0].rgb.with_alpha(0))"
    )
    text = native(stripes, COLOURS, COLOURS).text
    assert not re.search(r"and <16 x i32> %v\d+, splat \(i32 1\)", text)
    image = np.random.default_rng(0).integers(0, 256, (5, 37, 4), dtype=np.uint8)
    results = []
    for device in ("cpu", "reference"):
        with dala.use(device):
            out = compute.buffer_zeros(image.shape, "u8")
            compute.run_kernel(stripes, [compute.from_array(image)], out)
            results.append(out.read())
    np.testing.assert_array_equal(*results)
