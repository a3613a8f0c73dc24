"""Node, Stage, Program: what a kernel is once it has been traced.

A Node is one scalar operation on values of one output element. Nodes form a graph without cycles;
identity is the node itself, so a shared sub-expression is computed once. A Stage computes the
components of one image or tensor; a Program is the stages of one kernel in order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from dala.errors import DTypeError
from dala.ir.dtypes import DType
from dala.ir.ops import OPS, VARIADIC
from dala.ir.planes import Plane

Domain = Literal["image", "tensor"]
UNIFORM_LEAVES = frozenset({"const", "param", "extent"})  # the same for all elements
OUTPUT = -1  # the source number that means "the array being written"


class Access(NamedTuple):
    """Where a load reads: ``source`` at an offset from the output position. Tensors use no offset.

    If the source is an image of twice the size (see Stage), the position is (2x + dx, 2y + dy); of
    half the size, (x // 2 + dx, y // 2 + dy); of a quarter, (x // 4 + dx, y // 4 + dy).
    """

    source: int
    channel: int = 0
    dx: int = 0
    dy: int = 0


class Extent(NamedTuple):
    """The size of one axis of a source, or of the image being written.

    In a fused pass ``mip`` says which mip level is meant, see Stage.
    """

    source: int
    axis: int
    mip: int = 0


class Gather(NamedTuple):
    """Which source a gather reads; its position is in the node's arguments, slowest axis first."""

    source: int
    channel: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation. ``attr`` holds what is not a value: a constant, a parameter number, an Access."""

    op: str
    dtype: DType
    args: tuple[Node, ...] = ()
    attr: Hashable = None

    def key(self) -> tuple[Hashable, ...]:
        """Equal keys (over shared arguments) mean equal values."""
        # repr tells 0.0 from -0.0 and 1 from True, which Python's == does not.
        attr = repr(self.attr) if self.op == "const" else self.attr
        return (self.op, self.dtype.name, attr, *map(id, self.args))


def make(op: str, *args: Node) -> Node:
    """A checked operation node; the op table's type rule decides the type or refuses."""
    row = OPS[op]
    fits = row.arity == len(args) or (row.arity == VARIADIC and args and len(args) % 2 == 0)
    assert fits, f"{op} takes {row.arity} operands, got {len(args)}"
    result = row.types([a.dtype for a in args])
    if isinstance(result, str):
        raise DTypeError(f"'{op}' {result}")
    return Node(op, result, args)


def const(value: float | int | bool, dtype: DType) -> Node:
    """A constant, held as the Python number nearest to what the type can represent."""
    with np.errstate(over="ignore"):  # 1e300 as f32 is inf, by the policy
        return Node("const", dtype, (), dtype.numpy.type(value).item())


def cast(value: Node, dtype: DType) -> Node:
    """``value`` converted to ``dtype`` by the cast policy of the op table."""
    return value if value.dtype == dtype else Node("cast", dtype, (value,))


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a device computes a stage, if it can choose: what a planner knows of it.

    Stages of one arithmetic are inlined into each other, unless each wants its ``own_body``. With
    ``joint_stores``, those that are only written to memory share one body even then.
    """

    name: str
    own_body: bool = False
    joint_stores: bool = False


PLAIN = Arithmetic("plain")


@dataclass(frozen=True, slots=True)
class Stage:
    """One image or tensor computed element by element: ``body`` has one node per channel.

    Sources 0 … inputs-1 are the kernel's inputs; source ``inputs + k`` is the result of stage k. A stage of
    mip level g (``mip``) has one pixel for 2ᵍ × 2ᵍ of the picture: ceil(size / 2ᵍ) of them. What lies
    outside an image repeats its edge; with a ``margin`` of 1, one pixel more on each side is computed
    first, from what its sources have there, and that repeats.
    """

    body: tuple[Node, ...]
    arithmetic: Arithmetic = PLAIN
    mip: int = 0
    margin: int = 0


@dataclass(frozen=True, slots=True)
class RuntimeParam:
    """A value handed over at launch, within its bounds; changing it never recompiles."""

    name: str
    dtype: DType
    low: float = -math.inf
    high: float = math.inf


@dataclass(frozen=True, slots=True)
class ArrayView:
    """What a program reads or writes of an array: all of it, or one plane of a frame."""

    array: int  # number of the input; 0 for the output
    plane: Plane | None = None
    mip: int = 0


@dataclass(frozen=True, slots=True)
class Program:
    """A traced kernel: its stages in order; the last one (one for each plane) is the result."""

    kernel: str
    domain: Domain
    inputs: int  # sources in memory
    params: tuple[RuntimeParam, ...]
    stages: tuple[Stage, ...]
    views: tuple[ArrayView, ...] = ()  # what the sources in memory are, unless source k is input k
    planes: tuple[Plane, ...] = ()  # what the last stages write, unless it is the whole output
    general: Program | None = None  # the same for images of any size, should a device prefer it

    @property
    def first_result(self) -> int:
        """The number of the first stage that is written to memory."""
        return len(self.stages) - max(1, len(self.planes))

    def view_of(self, source: int) -> ArrayView:
        """What a source in memory is: an input, or a plane of it."""
        return self.views[source] if self.views else ArrayView(source)

    def mip_of(self, source: int) -> int:
        """The mip level of any source: an input or a stage."""
        if source < self.inputs:
            return self.view_of(source).mip
        return self.stages[source - self.inputs].mip

    @property
    def has_one_size(self) -> bool:
        """Whether all images, read and written, have one size and are whole."""
        return not self.views and not any(s.mip or s.margin for s in self.stages)

    def map_bodies(self, change: Callable[[tuple[Node, ...]], tuple[Node, ...]]) -> Program:
        """The program with every stage's body rewritten by ``change``."""
        return replace(self, stages=tuple(replace(s, body=change(s.body)) for s in self.stages))


def walk(roots: Iterable[Node], known: Iterable[int] = ()) -> list[Node]:
    """Every node once, arguments before users; not those ``known`` by id, nor what is only below them.

    Iterative: graphs may be deeper than Python's stack. (The most frequent loop of a compilation, so
    methods are looked up once.)
    """
    order: list[Node] = []
    seen = set(known)
    stack: list[Node | None] = [*reversed([*roots])]
    add, push, pop = seen.add, stack.append, stack.pop
    while stack:
        node = pop()
        if node is None:  # the node below it is through with its arguments
            done = pop()
            assert done is not None
            order.append(done)
        elif id(node) not in seen:
            add(id(node))
            if not node.args:  # most nodes of a wide stencil
                order.append(node)
                continue
            push(node)
            push(None)
            for arg in reversed(node.args):
                if id(arg) not in seen:
                    push(arg)
    return order


@functools.lru_cache(32)  # many steps ask for the whole of the same graph; a node is its own key
def in_order(roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """All that ``walk`` meets."""
    return tuple(walk(roots))


def code_length(roots: Sequence[Node]) -> int:
    """How many instructions the graph is, roughly: what its compilation costs."""
    # what no table lists was put in by a device, as one operation
    return sum(OPS[n.op].length if n.op in OPS else 1 for n in in_order(tuple(roots)))


def map_nodes(
    roots: Sequence[Node], change: Callable[[Node], Node], known: Mapping[int, Node] | None = None
) -> tuple[Node, ...]:
    """Rebuild the graph bottom-up; ``change`` sees each node once, its arguments already changed.

    What nodes become may be ``known`` by their ids: those and what is below them are left alone.
    """
    done: dict[int, Node] = dict(known or {})
    for node in walk(roots, known) if known else in_order(tuple(roots)):
        args = tuple([done[id(a)] for a in node.args])
        if args != node.args:  # by identity: nodes have no other equality
            done[id(node)] = change(Node(node.op, node.dtype, args, node.attr))
        else:
            done[id(node)] = change(node)
    return tuple(done[id(root)] for root in roots)


def map_accesses(roots: tuple[Node, ...], change: Callable[[Access], Access]) -> tuple[Node, ...]:
    """The expressions with their loads reading elsewhere."""

    def move(node: Node) -> Node:
        if not isinstance(node.attr, Access):
            return node
        to = change(node.attr)
        return node if to == node.attr else Node(node.op, node.dtype, (), to)

    return map_nodes(roots, move)


def accesses(roots: Iterable[Node]) -> Iterator[Access]:
    """Every distinct load of the graph."""
    seen: set[Access] = set()
    for node in in_order(tuple(roots)):
        if node.op == "load":
            access = node.attr
            assert isinstance(access, Access)
            if access not in seen:
                seen.add(access)
                yield access


def gathered_sources(roots: Iterable[Node]) -> set[int]:
    """The sources read at computed positions."""
    return {
        n.attr.source
        for n in in_order(tuple(roots))
        if n.op == "gather" and isinstance(n.attr, Gather)
    }
