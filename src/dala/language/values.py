"""The symbols a kernel computes with: Scalar, Vec (a pixel), Image and Tensor.

Each operator adds a node to the graph instead of computing a number. A kernel function runs once on
these symbols; what it returns is the program.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

import numpy as np

from dala.errors import DTypeError, KernelError
from dala.ir import graph
from dala.ir.dtypes import BOOL, F32, S32, DType
from dala.ir.graph import Access, Extent, Gather, Node
from dala.ir.ops import OPS
from dala.ir.rewrite import fold_constants, share_common
from dala.language.budget import MAX_STAGES, count_nodes, current_trace

MAX_OFFSET = 512  # farthest compile-time offset of a load, in pixels
STEPS = (1, 2, 4, 8)  # of intermediate images: how many pixels of the picture are one of theirs

Number: TypeAlias = int | float | bool
Operand: TypeAlias = "Scalar | Vec | Tensor | int | float | bool"


class DomainMismatch(KernelError):
    """An image was used as a tensor or the other way round."""


class Scalar:
    """One number per output element, known only when the kernel runs."""

    __slots__ = ("node",)
    __array_ufunc__ = None  # NumPy scalars on the left defer to our operators

    def __init__(self, node: Node) -> None:
        count_nodes()
        self.node = node

    @property
    def is_integer(self) -> bool:
        """Whether the element type is an integer; known while tracing, so ``if`` may use it."""
        return self.node.dtype.is_int

    def __add__(self, other: Operand) -> Value:
        return binary("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return binary("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return binary("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return binary("div", other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: Operand) -> Value:
        return binary("floordiv", other, self)

    def __mod__(self, other: Operand) -> Value:
        return binary("mod", self, other)

    def __rmod__(self, other: Operand) -> Value:
        return binary("mod", other, self)

    def __pow__(self, other: Operand) -> Value:
        return power(self, other)

    def __rpow__(self, other: Operand) -> Value:
        return power(other, self)

    def __and__(self, other: Operand) -> Value:
        return binary("and", self, other)

    def __rand__(self, other: Operand) -> Value:
        return binary("and", other, self)

    def __or__(self, other: Operand) -> Value:
        return binary("or", self, other)

    def __ror__(self, other: Operand) -> Value:
        return binary("or", other, self)

    def __xor__(self, other: Operand) -> Value:
        return binary("xor", self, other)

    def __rxor__(self, other: Operand) -> Value:
        return binary("xor", other, self)

    def __lshift__(self, other: Operand) -> Value:
        return binary("shl", self, other)

    def __rlshift__(self, other: Operand) -> Value:
        return binary("shl", other, self)

    def __rshift__(self, other: Operand) -> Value:
        return binary("shr", self, other)

    def __rrshift__(self, other: Operand) -> Value:
        return binary("shr", other, self)

    def __neg__(self) -> Value:
        return unary("neg", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return unary("abs", self)

    def __invert__(self) -> Value:
        return unary("not", self)

    def __lt__(self, other: Operand) -> Value:
        return binary("lt", self, other)

    def __le__(self, other: Operand) -> Value:
        return binary("le", self, other)

    def __gt__(self, other: Operand) -> Value:
        return binary("gt", self, other)

    def __ge__(self, other: Operand) -> Value:
        return binary("ge", self, other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return binary("eq", self, _operand(other))

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return binary("ne", self, _operand(other))

    __hash__ = object.__hash__

    def __floor__(self) -> Value:
        return unary("floor", self)

    def __ceil__(self) -> Value:
        return unary("ceil", self)

    def __round__(self) -> Value:
        return unary("round", self)

    def __trunc__(self) -> Value:
        return unary("trunc", self)

    def __bool__(self) -> bool:
        raise KernelError(
            "a condition that depends on pixels or run-time parameters cannot steer `if`, `and` or "
            "`or`; use where(condition, a, b), & and |, or declare the parameter static"
        )

    def _needs_number(self) -> int:
        raise KernelError(
            "a number known while tracing is needed here, but this value is only known at run time; "
            "declare the parameter static, or use the kernel language's own function"
        )

    __index__ = _needs_number
    __int__ = _needs_number

    def __float__(self) -> float:
        return self._needs_number()

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
        return self.parts[0]

    @property
    def g(self) -> Scalar:
        return self.parts[1]

    @property
    def b(self) -> Scalar:
        return self._part(2, "b")

    @property
    def a(self) -> Scalar:
        return self._part(3, "a")

    @property
    def rgb(self) -> Vec:
        return Vec((self.r, self.g, self.b))

    def with_alpha(self, alpha: Operand) -> Vec:
        """The colour with ``alpha`` as its fourth component."""
        return Vec((self.r, self.g, self.b, as_scalar(alpha, F32)))

    def _part(self, index: int, name: str) -> Scalar:
        if index >= len(self.parts):
            raise KernelError(f"a value of {len(self.parts)} components has no .{name}")
        return self.parts[index]

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


class Image:
    """An image a kernel reads. ``src[dx, dy]`` is the pixel at an offset, clamped to the edge."""

    __array_ufunc__ = None

    def __init__(self, source: int, channels: int, kind: str = "") -> None:
        self.source = source
        self.channels = channels
        self.kind = kind  # of an array parameter: its loader's word

    @property
    def width(self) -> Scalar:
        return Scalar(Node("extent", S32, (), Extent(self.source, 1)))

    @property
    def height(self) -> Scalar:
        return Scalar(Node("extent", S32, (), Extent(self.source, 0)))

    def __getitem__(self, offset: tuple[int, int]) -> Vec:
        if not isinstance(offset, tuple) or len(offset) != 2:
            raise KernelError("an image takes two offsets: src[dx, dy]")
        if any(isinstance(o, Scalar) for o in offset):
            raise KernelError(
                "offsets must be known while tracing; read at a computed position with "
                "src.at(column, row) or src.sample(u, v)"
            )
        dx, dy = (_as_offset(o) for o in offset)
        if not isinstance(dx, int) or not isinstance(dy, int):
            raise KernelError(f"offsets must be whole numbers, got {offset!r}")
        if max(abs(dx), abs(dy)) > MAX_OFFSET:
            raise KernelError(f"offsets reach at most {MAX_OFFSET} pixels, got {offset!r}")
        return self._pixel(
            lambda channel: Node("load", F32, (), Access(self.source, channel, dx, dy))
        )

    def at(self, *column_and_row: Operand) -> Vec:
        """The pixel at an absolute, computed column and row, clamped to the edge."""
        if len(column_and_row) != 2:
            raise DomainMismatch("an image is read at two positions: src.at(column, row)")
        column, row = column_and_row
        position = (as_integer(row).node, as_integer(column).node)
        return self._pixel(
            lambda channel: Node("gather", F32, position, Gather(self.source, channel))
        )

    def sample(self, u: Operand, v: Operand) -> Vec:
        """The bilinear mix at pixel coordinates ``u, v``; the centre of the first pixel is 0, 0."""
        column, row = as_scalar(u, F32), as_scalar(v, F32)
        left, top = unary("floor", column), unary("floor", row)
        fx, fy = column - left, row - top
        x0, y0 = as_integer(left), as_integer(top)
        x1, y1 = x0 + 1, y0 + 1
        upper = self._lerp(self.at(x0, y0), self.at(x1, y0), fx)
        lower = self._lerp(self.at(x0, y1), self.at(x1, y1), fx)
        return self._lerp(upper, lower, fy)

    @staticmethod
    def _lerp(a: Vec, b: Vec, t: Scalar) -> Vec:
        mixed = a + (b - a) * t
        assert isinstance(mixed, Vec)
        return mixed

    @property
    def is_integer(self) -> bool:
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")

    @property
    def rank(self) -> int:
        raise DomainMismatch("only tensors have a rank")

    def size(self, axis: int) -> Scalar:
        raise DomainMismatch("only tensors have a size(); an image has a width and a height")

    def _pixel(self, read: Callable[[int], Node]) -> Vec:
        if self.channels == 1:  # grey: the value in r, g and b, and opaque
            value = Scalar(read(0))
            return Vec((value, value, value, as_scalar(1.0, F32)))
        if self.channels == 2:  # a plane of pairs: in r and g, as textures have it
            pair = (Scalar(read(0)), Scalar(read(1)))
            return Vec((*pair, as_scalar(0.0, F32), as_scalar(1.0, F32)))
        return Vec(tuple(Scalar(read(channel)) for channel in range(4)))

    def _is_no_number(self, *_: object) -> Value:
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _is_no_number
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _is_no_number
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _is_no_number
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _is_no_number
    __neg__ = __pos__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _is_no_number
    __eq__ = __ne__ = __round__ = __floor__ = __ceil__ = __iter__ = _is_no_number  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")


class Tensor(Scalar):
    """An n-d array a kernel reads. Used as a number it is the element at the output position."""

    __slots__ = ("any_rank", "rank", "source")

    def __init__(self, source: int, dtype: DType, rank: int, *, any_rank: bool = False) -> None:
        super().__init__(Node("load", dtype, (), Access(source)))
        self.source = source
        self.rank = rank
        self.any_rank = any_rank  # a trial before there are arrays: ``rank`` is only a guess

    def at(self, *position: Operand) -> Scalar:
        """The element at an absolute, computed position, each index clamped to its axis."""
        if not position or (len(position) != self.rank and not self.any_rank):
            raise KernelError(f"at() needs {self.rank} indices, got {len(position)}")
        indices = tuple(as_integer(p).node for p in position)
        return Scalar(Node("gather", self.node.dtype, indices, Gather(self.source)))

    def size(self, axis: int) -> Scalar:
        """The length of one axis."""
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise KernelError(f"an axis is a whole number, got {axis!r}")
        if not -self.rank <= axis < self.rank and not self.any_rank:
            raise KernelError(f"axis {axis} does not exist; the tensor has {self.rank}")
        return Scalar(Node("extent", S32, (), Extent(self.source, axis % self.rank)))

    def __getitem__(self, key: object) -> Value:
        raise DomainMismatch("a tensor is read at a computed position with a.at(i, j)")

    def sample(self, *position: Operand) -> Value:
        raise DomainMismatch("only images can be sampled")


def _as_offset(offset: object) -> object:
    """Whole floats (3.0) count as offsets too."""
    return int(offset) if isinstance(offset, float) and offset.is_integer() else offset


def intermediate(value: Operand, step: int = 1, margin: int = 0) -> Image:
    """Let an intermediate image stand here: it is computed whole before anything reads it.

    Inside a multi-pass kernel this is what makes a separable filter two cheap passes. The image
    keeps full f32 precision; the planner may hold it as a few rows, or melt it away.

    With a ``step`` of 2 (or 4, 8) the image has one pixel for every 2 × 2 of the picture. In its ``value``
    an image of twice the size is read around the block's first pixel: ``src[1, 0]`` is the one at
    (2x + 1, 2y). And where an image of half the size is read, ``small[0, 0]`` is the pixel at
    (x // 2, y // 2).

    Beyond its border the image repeats its edge. With a ``margin`` of 1, one more pixel on each side is
    computed like any other: the mean of a block outside of the picture is the edge pixel itself.
    """
    trace = current_trace()
    if trace is None:
        raise KernelError("intermediate() only works inside a kernel")
    if trace.domain == "tensor":
        raise DomainMismatch("intermediate() is for images; a tensor kernel is one stage")
    if len(trace.stages) >= MAX_STAGES:
        raise KernelError(f"a kernel has at most {MAX_STAGES} intermediate images")
    if isinstance(step, Scalar) or step not in STEPS:
        raise KernelError(f"intermediate: step is one of {STEPS}, got {_describe(step)}")
    if isinstance(margin, Scalar) or margin not in (0, 1):
        raise KernelError(f"intermediate: margin is 0 or 1, got {_describe(margin)}")
    body = _grey_alone(as_body(value))
    return Image(trace.add_stage(body, STEPS.index(step), int(margin)), len(body))


def _grey_alone(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """An opaque grey pixel needs only one channel."""
    if len(body) == 4:
        red, green, blue, alpha = share_common(fold_constants(body))
        if red is green is blue and alpha.op == "const" and alpha.attr == 1.0:
            return (red,)
    return body


def as_body(value: object) -> tuple[Node, ...]:
    """What an image kernel returned, as the nodes of its channels."""
    if isinstance(value, Image):
        raise DomainMismatch("an image is not a pixel; return src[0, 0]")
    if isinstance(value, Vec):
        if len(value) != 4:
            raise KernelError(
                f"expected a pixel of 4 components, got {len(value)}; add .with_alpha(p.a)"
            )
        return tuple(as_scalar(p, F32).node for p in value.parts)
    if isinstance(value, Scalar | int | float) and not isinstance(value, bool):
        return (as_scalar(value, F32).node,)
    raise KernelError(f"expected a pixel or a number, got {_describe(value)}; add a return?")


def as_scalar(value: Operand, dtype: DType) -> Scalar:
    """A constant or a scalar, converted to ``dtype`` where that is lossless in meaning."""
    if isinstance(value, Image):
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
    if isinstance(value, Image):
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
    if isinstance(value, Image):
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
    if isinstance(a, Image) or isinstance(b, Image):
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
        if a.node.dtype == S32 and b.node.dtype.is_float and not isinstance(a, Tensor):
            return as_scalar(a, b.node.dtype), b
        if b.node.dtype == S32 and a.node.dtype.is_float and not isinstance(b, Tensor):
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
            raise KernelError(f"expected a number, got {_describe(number)}")
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
            raise KernelError(f"expected a number, got {_describe(value)}") from None
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
    raise KernelError(f"expected a number, got {_describe(value)}")


def _describe(value: object) -> str:
    return "nothing" if value is None else f"{type(value).__name__}"
