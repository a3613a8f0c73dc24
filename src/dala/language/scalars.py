"""The numbers a kernel computes with, Scalar and Vec (a pixel), and the rules by which they mix.

Each operation adds a node to the graph instead of computing a number. Numbers known while tracing follow
the symbols they meet; among themselves they are computed at once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from dala.errors import DTypeError, KernelError
from dala.ir import graph
from dala.ir.dtypes import BOOL, F32, S32, DType
from dala.ir.graph import Node
from dala.ir.ops import OPS
from dala.language.budget import count_nodes
from dala.language.operators import Arithmetic, DomainMismatch, NoNumber
from dala.language.shown import show_node

Number: TypeAlias = int | float | bool
Operand: TypeAlias = "Scalar | int | float | bool"


class Scalar(Arithmetic["Operand", "Value"]):
    """One number per output element, known only when the kernel runs."""

    __slots__ = ("node",)
    is_element = False  # of a buffer, as it lies there

    def __init__(self, node: Node) -> None:
        count_nodes()
        self.node = node

    @property
    def is_integer(self) -> bool:
        """Whether the element type is an integer; known while tracing, so ``if`` may use it."""
        return self.node.dtype.is_int

    def _unary(self, op: str) -> Value:
        return unary(op, self)

    def _binary(self, op: str, other: Operand) -> Value:
        return power(self, other) if op == "pow" else binary(op, self, other)

    def _swapped(self, op: str, other: Operand) -> Value:
        return power(other, self) if op == "pow" else binary(op, other, self)

    def __pos__(self) -> Value:
        return self

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return binary("eq", self, _operand(other))

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return binary("ne", self, _operand(other))

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.node.dtype} {show_node(self.node)}>"

    def __iter__(self) -> Iterator[Scalar]:
        raise KernelError("a scalar has no components; a pixel (src[0, 0]) has")


class Vec(Scalar):
    """A few scalars handled together: a pixel (r, g, b, a) or a colour (r, g, b)."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Scalar, ...]) -> None:  # not one node but several
        self.parts = parts

    @property
    def is_integer(self) -> bool:
        return self.parts[0].is_integer

    @property
    def r(self) -> Scalar:
        """Red, the first component."""
        return self.parts[0]

    @property
    def g(self) -> Scalar:
        """Green, the second component."""
        return self.parts[1]

    @property
    def b(self) -> Scalar:
        """Blue, the third component."""
        return self._part(2, "b")

    @property
    def a(self) -> Scalar:
        """Alpha, the fourth component: 1 is opaque."""
        return self._part(3, "a")

    @property
    def rgb(self) -> Vec:
        """The colour without its alpha."""
        return Vec((self.r, self.g, self.b))

    def with_alpha(self, alpha: Operand) -> Vec:
        """The colour with ``alpha`` as its fourth component."""
        return Vec((self.r, self.g, self.b, as_scalar(alpha, F32)))

    if TYPE_CHECKING:  # a colour times anything is a colour

        def __add__(self, other: Operand) -> Vec: ...
        def __radd__(self, other: Operand) -> Vec: ...
        def __sub__(self, other: Operand) -> Vec: ...
        def __rsub__(self, other: Operand) -> Vec: ...
        def __mul__(self, other: Operand) -> Vec: ...
        def __rmul__(self, other: Operand) -> Vec: ...
        def __truediv__(self, other: Operand) -> Vec: ...
        def __rtruediv__(self, other: Operand) -> Vec: ...
        def __mod__(self, other: Operand) -> Vec: ...
        def __pow__(self, other: Operand) -> Vec: ...
        def __rpow__(self, other: Operand) -> Vec: ...
        def __neg__(self) -> Vec: ...

    def _part(self, index: int, name: str) -> Scalar:
        if index >= len(self.parts):
            raise KernelError(f"a value of {len(self.parts)} components has no .{name}")
        return self.parts[index]

    def __repr__(self) -> str:
        kind = "pixel" if len(self.parts) == 4 else "colour"
        shown = ", ".join(
            f"{c}: {show_node(p.node)}" for c, p in zip("rgba", self.parts, strict=False)
        )
        return f"<{kind} {shown}>"

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self.parts)

    def __getitem__(self, index: int) -> Scalar:
        if not isinstance(index, int) or not -len(self.parts) <= index < len(self.parts):
            raise KernelError(
                f"component {index!r} does not exist; expected 0..{len(self.parts) - 1}"
            )
        return self.parts[index]


Value: TypeAlias = Scalar  # a Scalar or a Vec (or a plain number, if all operands were)


def as_scalar(value: Operand, dtype: DType) -> Scalar:
    """A constant or a scalar, converted to ``dtype`` where that is lossless in meaning."""
    if isinstance(value, NoNumber):
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")
    if isinstance(value, Vec):
        raise KernelError(
            f"expected one number, got {len(value)} components; take .r, .g, .b or .a"
        )
    if isinstance(value, Scalar):
        if value.node.dtype == dtype:
            return value
        if value.node.dtype == S32 and dtype.is_float:
            return Scalar(graph.cast(value.node, dtype))
        raise DTypeError(f"expected {dtype}, got {value.node.dtype}; cast it")
    return Scalar(_constant(value, dtype))


def as_integer(value: Operand) -> Scalar:
    """A position: s32; floats are truncated towards zero (use floor or round first)."""
    if isinstance(value, NoNumber):
        raise DomainMismatch("an image is not a position")
    if isinstance(value, Vec):
        raise KernelError("expected one number, got a pixel")
    if isinstance(value, Scalar):
        return Scalar(graph.cast(value.node, S32))
    return Scalar(_constant(int(value), S32))


def unary(op: str, value: Operand) -> Value:
    """One-operand op, component by component."""
    if isinstance(value, Vec):
        return Vec(tuple(unary(op, p) for p in value.parts))
    if isinstance(value, NoNumber):
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")
    if not isinstance(value, Scalar):
        return _compute_now(op, value)
    return Scalar(graph.make(op, value.node))


def float_unary(op: str, value: Operand) -> Value:
    """Like unary, but a whole number (a coordinate) becomes f32 first."""
    if isinstance(value, Vec):
        return Vec(tuple(float_unary(op, p) for p in value.parts))
    if isinstance(value, Scalar) and value.node.dtype == S32 and value.node.op != "load":
        value = as_scalar(value, F32)
    return unary(op, value)


def binary(op: str, a: Operand, b: Operand) -> Value:
    """Two-operand op; scalars spread over the components of a Vec."""
    if isinstance(a, NoNumber) or isinstance(b, NoNumber):
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")
    if isinstance(a, Vec) or isinstance(b, Vec):
        return Vec(tuple(binary(op, p, q) for p, q in pair_components(a, b)))
    if not isinstance(a, Scalar) and not isinstance(b, Scalar):
        return _compute_now(op, a, b)
    left, right = unify(a, b)
    if op == "div" and left.node.dtype == S32:  # x / width is a fraction, as in Python
        left, right = as_scalar(left, F32), as_scalar(right, F32)
    elif op == "div" and left.node.dtype.is_int:
        raise DTypeError(f"'/' needs a float type, got {left.node.dtype}; use // or cast")
    return Scalar(graph.make(op, left.node, right.node))


def pair_components(*values: Operand) -> list[tuple[Operand, ...]]:
    """The components of several values side by side, single numbers repeated."""
    lengths = {len(v) for v in values if isinstance(v, Vec)}
    if len(lengths) != 1:
        listed = " and ".join(str(n) for n in sorted(lengths))
        raise KernelError(f"values of {listed} components do not fit together")
    count = lengths.pop()
    columns = [v.parts if isinstance(v, Vec) else (v,) * count for v in values]
    return list(zip(*columns, strict=True))


def unify(a: Operand, b: Operand) -> tuple[Scalar, Scalar]:
    """Two operands of one type: constants follow the other side, s32 becomes the other's float."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        # not the elements of a buffer: those are converted only where the kernel says so
        if a.node.dtype == S32 and b.node.dtype.is_float and not a.is_element:
            return as_scalar(a, b.node.dtype), b
        if b.node.dtype == S32 and a.node.dtype.is_float and not b.is_element:
            return a, as_scalar(b, a.node.dtype)
        return a, b
    if isinstance(a, Scalar):
        return _meet(a, b)
    if isinstance(b, Scalar):
        second, first = _meet(b, a)
        return first, second
    dtype = F32 if isinstance(a, float) or isinstance(b, float) else S32
    return as_scalar(a, dtype), as_scalar(b, dtype)


def power(base: Operand, exponent: Operand) -> Value:
    """``base ** exponent``: small whole exponents multiply, everything else is pow."""
    if isinstance(exponent, int | float) and exponent in (1, 2, 3, 4) and isinstance(base, Scalar):
        square = base * base if exponent > 1 else base
        return {1: lambda: base, 2: lambda: square, 3: lambda: square * base}.get(
            int(exponent), lambda: square * square
        )()
    if isinstance(base, Vec) or isinstance(exponent, Vec):
        return Vec(tuple(power(p, q) for p, q in pair_components(base, exponent)))
    if not isinstance(base, Scalar) and not isinstance(exponent, Scalar):
        return _compute_now("pow", base, exponent)
    left, right = unify(base, exponent)
    if left.node.dtype == S32:
        left, right = as_scalar(left, F32), as_scalar(right, F32)
    return Scalar(graph.make("pow", left.node, right.node))


def _compute_now(op: str, *numbers: Number) -> Value:
    """An op on compile-time numbers gives a compile-time number, so that it can steer loops."""
    for number in numbers:
        if not isinstance(number, int | float | np.number):
            raise KernelError(f"expected a number, got {describe(number)}")
    whole = all(isinstance(n, int | np.integer) for n in numbers)
    if whole and op in _WHOLE:
        return cast("Value", _WHOLE[op](*map(int, numbers)))
    meaning = OPS[op].numpy
    assert meaning is not None
    result = float(meaning(*(np.float64(n) for n in numbers)))
    if op in ("floor", "ceil", "trunc", "round") and math.isfinite(result):
        return cast("Value", int(result))
    return cast("Value", result)


_WHOLE: dict[str, Callable[..., int]] = {
    "abs": abs, "min": min, "max": max, "add": operator.add, "sub": operator.sub,
    "mul": operator.mul, "neg": operator.neg,
}  # fmt: skip


def _meet(scalar: Scalar, number: Operand) -> tuple[Scalar, Scalar]:
    dtype = scalar.node.dtype
    if dtype == S32 and isinstance(number, float):
        return as_scalar(scalar, F32), as_scalar(number, F32)
    return scalar, as_scalar(number, dtype)


def _constant(value: Number, dtype: DType) -> Node:
    if not isinstance(value, int | float):
        try:
            value = value.item()  # a NumPy scalar
        except AttributeError:
            raise KernelError(f"expected a number, got {describe(value)}") from None
    if dtype == BOOL:
        return graph.const(bool(value), BOOL)
    if dtype.is_int:
        if isinstance(value, float) and (not math.isfinite(value) or value != int(value)):
            raise DTypeError(f"{value!r} is not a whole number, and the values here are {dtype}")
        bits = dtype.bytes * 8
        low, high = (
            (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "s" else (0, 2**bits - 1)
        )
        if not low <= int(value) <= high:
            raise DTypeError(f"{value!r} does not fit into {dtype} ({low}..{high})")
        return graph.const(int(value), dtype)
    return graph.const(float(value), dtype)


def _operand(value: object) -> Operand:
    if isinstance(value, Scalar | int | float):
        return value
    raise KernelError(f"expected a number, got {describe(value)}")


def describe(value: object) -> str:
    return "nothing" if value is None else f"{type(value).__name__}"
