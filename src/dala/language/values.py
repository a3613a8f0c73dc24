"""The symbols a kernel computes with: what it reads, Image and Tensor, and numbers (scalars.py).

A kernel function runs once on these symbols; what it returns is the program.
"""

from __future__ import annotations

from collections.abc import Callable

from dala.errors import KernelError
from dala.ir.dtypes import F32, S32, DType
from dala.ir.graph import Access, Extent, Gather, Node
from dala.ir.rewrite import fold_constants, share_common
from dala.language.budget import MAX_STAGES, current_trace
from dala.language.operators import DomainMismatch, NoNumber
from dala.language.scalars import (
    Operand,
    Scalar,
    Value,
    Vec,
    as_integer,
    as_scalar,
    describe,
    unary,
)

__all__ = ["Image", "Operand", "Scalar", "Tensor", "Value", "Vec", "as_body", "intermediate"]

MAX_OFFSET = 512  # farthest compile-time offset of a load, in pixels
STEPS = (1, 2, 4, 8)  # of intermediate images: how many pixels of the picture are one of theirs


class Image(NoNumber):
    """An image a kernel reads. ``src[dx, dy]`` is the pixel at an offset, clamped to the edge."""

    def __init__(self, source: int, channels: int, kind: str = "") -> None:
        self.source = source
        self.channels = channels
        self.kind = kind  # of an array parameter: its loader's word

    @property
    def width(self) -> Scalar:
        """Columns of this image."""
        return Scalar(Node("extent", S32, (), Extent(self.source, 1)))

    @property
    def height(self) -> Scalar:
        """Rows of this image."""
        return Scalar(Node("extent", S32, (), Extent(self.source, 0)))

    def __repr__(self) -> str:
        return f"<image input{self.source} of {self.channels} channels: read it with src[0, 0]>"

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


class Tensor(Scalar):
    """An n-d array a kernel reads. Used as a number it is the element at the output position."""

    __slots__ = ("any_rank", "rank", "source")
    is_element = True

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
    keeps full f32 precision; the planner may hold it as a few rows, or inline it.

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
        raise KernelError(f"intermediate: step is one of {STEPS}, got {describe(step)}")
    if isinstance(margin, Scalar) or margin not in (0, 1):
        raise KernelError(f"intermediate: margin is 0 or 1, got {describe(margin)}")
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
    raise KernelError(f"expected a pixel or a number, got {describe(value)}; add a return?")
