"""Where a value can be NaN, and what the WGSL of a kernel does about it. No device is needed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dala import compute
from dala.backends.webgpu.prepare import prepare_program
from dala.backends.webgpu.ranges import ANYTHING, UNIT, Range, find_ranges
from dala.backends.webgpu.shader import emit_pass
from dala.backends.webgpu.tiles import TileMemory
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, F64, S32, U8
from dala.ir.graph import Access, Node, Program, const, make
from dala.plan.fuse import FusedPass
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot

BYTE = Node("load", F32, (), Access(0))
FLOAT = Node("load", F32, (), Access(1))
PARAM = Node("param", F32, (), 0)
HALF, TWO, ZERO = const(0.5, F32), const(2.0, F32), const(0.0, F32)


def range_of(node: Node) -> Range:
    return find_ranges([node], lambda source, _: UNIT if source == 0 else ANYTHING)[id(node)]


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (BYTE, UNIT),
        (FLOAT, ANYTHING),
        (PARAM, ANYTHING),
        (const(math.nan, F32), ANYTHING),
        (make("sub", BYTE, HALF), Range(-0.5, 0.5)),
        (make("mul", make("sub", BYTE, HALF), TWO), Range(-1.0, 1.0)),
        (make("fma", BYTE, TWO, HALF), Range(0.5, 2.5)),
        (make("div", BYTE, TWO), Range(0.0, 0.5)),
        (make("div", BYTE, BYTE), ANYTHING),
        (make("min", FLOAT, HALF), Range(-math.inf, 0.5)),
        (make("max", make("min", FLOAT, HALF), ZERO), Range(0.0, 0.5)),
        (make("min", HALF, FLOAT), Range(-math.inf, 0.5, nan=True)),
        (make("sqrt", BYTE), Range(0.0, 2.0)),
        (make("sqrt", make("sub", BYTE, HALF)), ANYTHING),
        (make("level", FLOAT), Range(0.0, 255.0)),
        (make("exp", BYTE), Range(0.0, math.inf)),
        (make("sub", make("exp", BYTE), make("exp", HALF)), ANYTHING),
        (make("mul", const(1e30, F32), const(1e30, F32)), Range(math.inf, math.inf)),
        (Node("cast", F32, (Node("coord", S32, (), 1),)), Range(-(2.0**64), 2.0**64)),
    ],
    ids=lambda v: v.op if isinstance(v, Node) else "",
)
def test_ranges(node: Node, wanted: Range) -> None:
    found = range_of(node)
    assert found.nan == wanted.nan
    assert found.low <= wanted.low and found.high >= wanted.high
    assert found == wanted or node.op in ("mul", "sqrt")  # a bound, not the least one


def test_a_square_is_not_negative() -> None:
    difference = make("sub", BYTE, HALF)
    assert not range_of(make("sqrt", make("mul", difference, difference))).nan


def text_of(name: str, types: list[ArrayType], output: ArrayType, **params: Any) -> str:
    kernel = compute.find_kernel(name)
    work = kernel.specialize(types, output, kernel.bind(params)).work
    assert isinstance(work, Program)
    program = prepare_program(work, types, output)
    slots = [Slot(t) for t in (*types, output)]
    can = TileMemory(tiled=True, most_arrays=8, most_bytes=32_768)
    plan = plan_calls([Call(program, tuple(range(len(types))), len(types))], slots, can)
    texts = []
    for part in plan.passes:
        assert isinstance(part, FusedPass)
        texts.append(emit_pass(part, can.tuning, can.most_bytes).text)
    return "".join(texts)


PIXELS = {d: ArrayType((48, 64, 4), d) for d in (U8, F32)}


@pytest.mark.parametrize("kernel", ["median", "edge_detect", "vibrance", "beauty"])
def test_images_of_bytes_take_plain_extrema(kernel: str) -> None:
    assert "is_nan" not in text_of(kernel, [PIXELS[U8]], PIXELS[U8])


def test_images_of_floats_keep_nan() -> None:
    assert "f32_min(" in text_of("median", [PIXELS[F32]], PIXELS[F32])


ROWS = {d: ArrayType((8, 3), d) for d in (F32, F64, S32)}
TEXTS = {
    "min(a, 0.5)": (F32, "select(0.5f, ", "is_nan"),
    "min(0.5, a)": (F32, "f32_min(0.5f, ", "f64"),
    "max(a, a * 2.0)": (F64, "f64_max(", "is_nan"),
    "min(a, a * 2)": (S32, "select(", "_min("),
    "where(a < 3.0, a, 3.0)": (F32, "is_nan(", "f32_min"),
    "a % 4.0": (F32, " * 0.25f)", "f32_mod"),
    "a // 0.25": (F32, " * 4.0f)", "f32_floordiv"),
    "a % 3.0": (F32, "f32_mod(", "f64"),
}


@pytest.mark.parametrize("expression", TEXTS)
def test_spelling(registry: None, expression: str) -> None:
    dtype, wanted, unwanted = TEXTS[expression]
    text = f"def probe(a: Tensor):\n    return {expression}\n"
    compute.register("probe", text, domain="tensor")
    written = text_of("probe", [ROWS[dtype]], ROWS[dtype])
    assert wanted in written
    assert unwanted not in written
