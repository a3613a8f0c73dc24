"""Element-wise steps in WGSL: a running ``v`` of four channels, at ``row`` and ``quad`` of the output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dala.backends.webgpu.spelling import constant
from dala.errors import ModelError
from dala.ir.dtypes import F32
from dala.ml.layers.elementwise import CAST
from dala.ml.layers.program import Step
from dala.ml.layers.table import type_after
from dala.ml.run.webgpu.access import Access, Stored
from dala.ml.run.webgpu.shader import LayerShader

ONE, ZERO = "vec4<f32>(1.0)", "vec4<f32>(0.0)"
POWER = """fn power(a: f32, b: f32) -> f32 {
    if (b == 0.0) { return 1.0; }
    if (a == 0.0) { return select(0.0, bitcast<f32>(0x7f800000u), b < 0.0); }
    let p = pow(abs(a), b);
    let odd = fract(abs(b) * 0.5) != 0.0;
    return select(p, -p, a < 0.0 && odd);
}
"""
ERF = """fn erf(x: f32) -> f32 {
    let a = abs(x);
    let t = 1.0 / (1.0 + 0.3275911 * a);
    let s = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    return sign(x) * (1.0 - s * exp(-a * a));
}
"""
SIGMOID = """fn sigmoid(v: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + exp(clamp(-v, vec4<f32>(-80.0), vec4<f32>(80.0))));
}
"""
PLAIN = {
    "relu": f"max(v, {ZERO})", "sigmoid": "sigmoid(v)", "silu": "v * sigmoid(v)",
    "tanh": "tanh(clamp(v, vec4<f32>(-10.0), vec4<f32>(10.0)))", "exp": "exp(v)", "log": "log(v)",
    "sqrt": "sqrt(v)", "abs": "abs(v)", "neg": "-v", "floor": "floor(v)", "ceil": "ceil(v)",
    "round": "round(v)", "reciprocal": f"{ONE} / v",
    "softplus": f"max(v, {ZERO}) + log({ONE} + exp(-abs(v)))",
    "hardswish": f"v * clamp(v / 6.0 + 0.5, {ZERO}, {ONE})",
    "erf": "vec4<f32>(erf(v.x), erf(v.y), erf(v.z), erf(v.w))",
    "not": f"select({ZERO}, {ONE}, v == {ZERO})",
}  # fmt: skip
BINARY = {
    "add": "{a} + {b}", "sub": "{a} - {b}", "mul": "{a} * {b}", "div": "{a} / {b}", "max": "max({a}, {b})",
    "min": "min({a}, {b})", "less": "{a} < {b}", "lessequal": "{a} <= {b}", "greater": "{a} > {b}",
    "greaterequal": "{a} >= {b}", "equal": "{a} == {b}",
    "and": "({a} != vec4<f32>(0.0)) & ({b} != vec4<f32>(0.0))",
    "or": "({a} != vec4<f32>(0.0)) | ({b} != vec4<f32>(0.0))",
    "prelu": "select({a}, {a} * {b}, {a} < vec4<f32>(0.0))",
    "leakyrelu": "select({a}, {a} * {b}, {a} < vec4<f32>(0.0))",
    "elu": "select({a}, {b} * (exp({a}) - 1.0), {a} < vec4<f32>(0.0))",
    "pow": "vec4<f32>(power({a}.x, {b}.x), power({a}.y, {b}.y), power({a}.z, {b}.z), power({a}.w, {b}.w))",
}  # fmt: skip
LOGICAL = ("less", "lessequal", "greater", "greaterequal", "equal", "and", "or")


def collapse(shape: Sequence[int], others: Sequence[Sequence[int]]) -> bool:
    """Whether all arrays can be seen as one long row: they have one shape, or one element."""
    return all(tuple(o) == tuple(shape) or math.prod(o) == 1 for o in others)


def operand(shader: LayerShader, stored: Stored, shape: Sequence[int], *, flat: bool) -> str:
    """Four channels of an operand at ``row`` and ``quad`` of an output of this shape."""
    given = stored.shape
    if math.prod(given) == 1:
        return f"vec4<f32>({shader.array(stored, 1).one('0u')})"
    if flat:
        return shader.array(stored, stored.count).read("row", "quad")
    array = shader.array(stored)
    if tuple(given) == tuple(shape):
        return array.read("row", "quad")
    row = _row(shader, array, given, shape)
    if given[-1] == shape[-1]:
        return array.read(row, "quad")
    return f"vec4<f32>({array.one(row)})"


def _row(shader: LayerShader, array: Access, given: Sequence[int], shape: Sequence[int]) -> str:
    """Which row of an operand belongs to a row of the output."""
    leading, terms = shape[:-1], []
    if tuple(given[:-1]) == tuple(leading):
        return "row"
    for axis, length in enumerate(leading):
        if given[axis] == 1:
            continue
        inner, stride = math.prod(leading[axis + 1 :]), math.prod(given[axis + 1 : -1])
        key = f"a{array.number}.{axis}"
        names = [
            shader.number(f"{key}{k}", v) for k, v in (("i", inner), ("n", length), ("s", stride))
        ]
        terms.append(f"((row / {names[0]}) % {names[1]}) * {names[2]}")
    return " + ".join(terms) or "0u"


def emit_epilogue(
    shader: LayerShader,
    steps: Sequence[Step],
    operands: Sequence[Stored],
    shape: Sequence[int],
    dtype: np.dtype[Any],
    types: Sequence[np.dtype[Any]],
    *,
    flat: bool = False,
) -> str:
    """Lines that change ``v``; ``operands`` and ``types`` are those of the layer's inputs."""
    lines = []
    for step in steps:
        given = [f"vec4<f32>({_literal(n)})" for n in step.numbers]
        given += [operand(shader, operands[k], shape, flat=flat) for k in step.operands]
        lines.append(f"    v = {_spell(shader, step, given, dtype)};\n")
        dtype = type_after(dtype, step, types[step.operands[0]] if step.operands else None)
    return "".join(lines)


def _literal(number: float) -> str:
    return constant(F32, max(-3.4e38, min(3.4e38, float(number))))


def _spell(shader: LayerShader, step: Step, given: list[str], dtype: np.dtype[Any]) -> str:
    op = step.op
    if op in ("sigmoid", "silu"):
        shader.helpers[SIGMOID] = None
    if op == "erf":
        shader.helpers[ERF] = None
    if op == "pow":
        shader.helpers[POWER] = None
    if op.startswith(CAST):
        return _cast(np.dtype(op[len(CAST) :]), dtype)
    if op in PLAIN:
        return PLAIN[op]
    if op == "clip":
        return f"min(max(v, {given[0]}), {given[1]})"
    if op == "hardsigmoid":
        return f"clamp(v * {given[0]} + {given[1]}, {ZERO}, {ONE})"
    if op == "where":
        return f"select({given[1]}, {given[0]}, v != {ZERO})"
    if op not in BINARY:
        raise ModelError(f"{op} has no spelling in WGSL")
    a, b = (given[0], "v") if step.swapped else ("v", given[0])
    text = BINARY[op].format(a=a, b=f"({b})")
    if op in LOGICAL:
        return f"select({ZERO}, {ONE}, {text})"
    return f"trunc({text})" if op == "div" and dtype.kind in "iu" else text


def _cast(target: np.dtype[Any], source: np.dtype[Any]) -> str:
    if target.kind == "b":
        return f"select({ZERO}, {ONE}, v != {ZERO})"
    if target.kind in "iu" and source.kind == "f":
        return "trunc(v)"
    return "v"
