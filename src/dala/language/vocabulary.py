"""The words of the kernel language.

A kernel written as a Python function sees these names without importing them (its own module's
names win); a kernel written as text sees these and nothing else. Import them to please a linter:
``from dala.language.vocabulary import floor, where, x, y``.
"""

from __future__ import annotations

import builtins
import math as _math
from collections.abc import Sequence
from typing import cast as typing_cast

import numpy as np

from dala.errors import KernelError
from dala.ir import graph
from dala.ir.dtypes import BOOL, F32, F64, S32, S64, U8, U16, U32, DType
from dala.ir.graph import OUTPUT, Extent, Node
from dala.ir.ops import cast_array
from dala.language.budget import count_nodes
from dala.language.operators import DomainMismatch
from dala.language.scalars import (
    Operand,
    Scalar,
    Value,
    Vec,
    as_scalar,
    binary,
    float_unary,
    pair_components,
    power,
    unary,
    unify,
)
from dala.language.values import Image, Tensor, intermediate

# The position being written and the size of the output, as whole numbers (s32).
x = Scalar(Node("coord", S32, (), 1))
y = Scalar(Node("coord", S32, (), 0))
width = Scalar(Node("extent", S32, (), Extent(OUTPUT, 1)))
height = Scalar(Node("extent", S32, (), Extent(OUTPUT, 0)))
pi = _math.pi


def index(axis: int) -> Scalar:
    """The output position along one axis of a tensor."""
    return Scalar(Node("coord", S32, (), _axis(axis)))


def size(axis: int) -> Scalar:
    """The length of one axis of the output tensor."""
    return Scalar(Node("extent", S32, (), Extent(OUTPUT, _axis(axis))))


def _axis(axis: int) -> int:
    if not isinstance(axis, int) or isinstance(axis, bool) or not 0 <= axis < 16:
        raise KernelError(f"an axis is a whole number from 0, got {axis!r}")
    return axis


def floor(value: Operand) -> Value:
    """The largest whole number not above ``value``."""
    return float_unary("floor", value)


def ceil(value: Operand) -> Value:
    """The smallest whole number not below ``value``."""
    return float_unary("ceil", value)


def trunc(value: Operand) -> Value:
    """``value`` without its fraction."""
    return float_unary("trunc", value)


def round(value: Operand) -> Value:
    """The nearest whole number; halves go to the even one."""
    return float_unary("round", value)


def half_precision(value: Operand) -> Value:
    """``value`` itself; for images of bytes a device may compute it in half precision.

    For what stays within about -8..8 and need not be more exact than a level: weights, differences, sums of
    few pixels. A GPU is about twice as fast then.
    """
    return float_unary("half", value)


def fract(value: Operand) -> Value:
    """``value - floor(value)``."""
    return binary("sub", value, floor(value))


def sqrt(value: Operand) -> Value:
    """The square root; NaN below zero."""
    return float_unary("sqrt", value)


def exp(value: Operand) -> Value:
    """e to the power of ``value``."""
    return float_unary("exp", value)


def log(value: Operand) -> Value:
    """The natural logarithm; -inf at zero, NaN below."""
    return float_unary("log", value)


def sin(value: Operand) -> Value:
    """Sine of an angle in radians."""
    return float_unary("sin", value)


def cos(value: Operand) -> Value:
    """Cosine of an angle in radians."""
    return float_unary("cos", value)


def tanh(value: Operand) -> Value:
    """Hyperbolic tangent."""
    return float_unary("tanh", value)


def atan2(rise: Operand, run: Operand) -> Value:
    """The angle of the point (run, rise), in radians."""
    return binary("atan2", rise, run)


def pow(base: Operand, exponent: Operand) -> Value:
    """``base ** exponent``."""
    return power(base, exponent)


def abs(value: Operand) -> Value:
    """The value without its sign."""
    return unary("abs", value)


def sign(value: Operand) -> Value:
    """-1, 0 or 1."""
    rest = binary("mul", value, 0)  # keeps NaN and the type
    if isinstance(value, Scalar) and not isinstance(value, Vec) and value.node.dtype.kind == "u":
        return where(binary("gt", value, 0), 1, rest)
    return where(binary("gt", value, 0), 1, where(binary("lt", value, 0), -1, rest))


def min(*values: Operand) -> Value:
    """The smallest of two or more values."""
    return _chain("min", values)


def max(*values: Operand) -> Value:
    """The largest of two or more values."""
    return _chain("max", values)


def clamp(value: Operand, low: Operand, high: Operand) -> Value:
    """``value`` kept between ``low`` and ``high``; NaN becomes ``low``."""
    return binary("min", binary("max", value, low), high)


def mix(a: Operand, b: Operand, t: Operand) -> Value:
    """``a`` where t is 0, ``b`` where t is 1, straight between."""
    return binary("add", a, binary("mul", binary("sub", b, a), t))


def step(edge: Operand, value: Operand) -> Value:
    """0 below ``edge``, 1 from it on."""
    return where(binary("lt", value, edge), _like(value, 0), _like(value, 1))


def smoothstep(low: Operand, high: Operand, value: Operand) -> Value:
    """0 below ``low``, 1 above ``high``, a smooth curve between."""
    t = clamp(binary("div", binary("sub", value, low), binary("sub", high, low)), 0.0, 1.0)
    return binary("mul", binary("mul", t, t), binary("sub", 3.0, binary("mul", 2.0, t)))


def where(condition: Operand, yes: Operand, no: Operand) -> Value:
    """``yes`` where the condition holds, else ``no``; both are always computed."""
    if builtins.any(isinstance(v, Vec) for v in (condition, yes, no)):
        return Vec(tuple(where(c, p, q) for c, p, q in pair_components(condition, yes, no)))
    a, b = unify(yes, no)
    c = condition if isinstance(condition, Scalar) else as_scalar(condition, BOOL)
    return Scalar(graph.make("select", c.node, a.node, b.node))


def dot(a: Operand, b: Operand) -> Value:
    """The sum of the products of the components."""
    if not isinstance(a, Vec) and not isinstance(b, Vec):
        raise KernelError("dot() needs a colour or a pixel and a second value")
    products = [binary("mul", p, q) for p, q in pair_components(a, b)]
    return sum(products)


def sum(values: object) -> Value:
    """The components of a Vec, or a list of values, added from left to right."""
    if isinstance(values, Image) or not hasattr(values, "__iter__"):
        raise DomainMismatch("sum() adds the components of a pixel or the items of a list")
    items = list(typing_cast("list[Operand]", values))
    if not items:
        raise KernelError("sum() of nothing")
    total = items[0]
    for item in items[1:]:
        total = binary("add", total, item)
    return typing_cast("Value", total)


def average(values: Sequence[Operand], weights: Sequence[Operand]) -> Value:
    """Σ value · weight / Σ weight. Weights below zero count as zero, so it never overshoots.

    Prefer it to a sum of products: a device may compute an average of 8-bit pixels much faster.
    """
    if len(values) != len(weights) or not values:
        raise KernelError(
            f"average() needs as many weights as values, got {len(values)} and {len(weights)}"
        )
    if builtins.any(isinstance(v, Vec) for v in values):
        return Vec(tuple(average(column, weights) for column in pair_components(*values)))
    dtype = next((v.node.dtype for v in values if isinstance(v, Scalar)), F32)
    count_nodes(4 * len(values))  # what a device may have to spell it out as
    nodes = [as_scalar(v, dtype).node for v in (*values, *weights)]
    first = nodes[0]
    if builtins.all(n.op == "const" and n.attr == first.attr for n in nodes[: len(values)]):
        return Scalar(first)  # the alpha of an opaque image, say
    return Scalar(graph.make("average", *nodes))


def luma(color: Vec) -> Value:
    """The brightness a person sees: 0.299 r + 0.587 g + 0.114 b."""
    if not isinstance(color, Vec):
        raise KernelError("luma() needs a colour or a pixel such as src[0, 0]")
    return 0.299 * color.r + 0.587 * color.g + 0.114 * color.b


def rgb(r: Operand, g: Operand, b: Operand) -> Vec:
    """A colour of three components."""
    return Vec((as_scalar(r, F32), as_scalar(g, F32), as_scalar(b, F32)))


def rgba(r: Operand, g: Operand, b: Operand, a: Operand = 1.0) -> Vec:
    """A pixel of four components."""
    return rgb(r, g, b).with_alpha(a)


def _like(value: Operand, number: int) -> Operand:
    """A constant of the type of ``value``, so that f64 stays f64."""
    if isinstance(value, Scalar) and not isinstance(value, Vec):
        return as_scalar(number, value.node.dtype)
    return float(number)


def _cast(value: Operand, dtype: DType) -> Value:
    if isinstance(value, Vec):
        return Vec(tuple(_cast(p, dtype) for p in value.parts))
    if isinstance(value, Scalar):
        return Scalar(graph.cast(value.node, dtype))
    if isinstance(value, int | float):  # a compile-time number follows the same policy
        return as_scalar(cast_array(np.asarray(value), dtype).item(), dtype)
    return as_scalar(value, dtype)


def f32(value: Operand) -> Value:
    """``value`` as f32."""
    return _cast(value, F32)


def f64(value: Operand) -> Value:
    """``value`` as f64."""
    return _cast(value, F64)


def s32(value: Operand) -> Value:
    """``value`` as s32: floats truncate and saturate, NaN becomes 0, integers wrap."""
    return _cast(value, S32)


def s64(value: Operand) -> Value:
    """``value`` as s64."""
    return _cast(value, S64)


def u32(value: Operand) -> Value:
    """``value`` as u32."""
    return _cast(value, U32)


def u16(value: Operand) -> Value:
    """``value`` as u16."""
    return _cast(value, U16)


def u8(value: Operand) -> Value:
    """``value`` as u8."""
    return _cast(value, U8)


def _chain(op: str, values: tuple[Operand, ...]) -> Value:
    if len(values) < 2:
        raise KernelError(f"{op}() needs two or more values, got {len(values)}")
    result = values[0]
    for value in values[1:]:
        result = binary(op, result, value)
    return typing_cast("Value", result)


FUNCTIONS = {
    f.__name__: f
    for f in (
        index, size, floor, ceil, trunc, round, fract, sqrt, exp, log, sin, cos, tanh, atan2, pow,
        abs, sign, min, max, clamp, mix, step, smoothstep, average, where, dot, sum, luma, rgb, rgba,
        f32, f64, s32, s64, u32, u16, u8, intermediate, half_precision,
    )
}  # fmt: skip
POSITIONS: dict[str, Scalar] = {"x": x, "y": y, "width": width, "height": height}
VOCABULARY: dict[str, object] = {**FUNCTIONS, **POSITIONS, "pi": pi}
ATTRIBUTES = {
    Vec: frozenset({"r", "g", "b", "a", "rgb", "is_integer"}),
    Image: frozenset({"width", "height"}),
    Tensor: frozenset({"is_integer"}),
    Scalar: frozenset({"is_integer"}),
}
METHODS = {
    Vec: frozenset({"with_alpha"}),
    Image: frozenset({"at", "sample"}),
    Tensor: frozenset({"at", "size"}),
    Scalar: frozenset[str](),
}
