"""One group of steps becomes one FusedPass.

A value read only at its own position is inlined into its reader. A value read at other positions gets a
body of its own whose rows are buffered for the readers. A value of ``u8`` or ``u16`` is rounded and clamped
exactly where an unfused run would have stored it: fusion never changes a byte.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import (
    OUTPUT,
    PLAIN,
    Access,
    Arithmetic,
    Domain,
    Extent,
    Gather,
    Node,
    accesses,
    const,
    make,
    map_nodes,
    walk,
)
from dala.ir.rewrite import LEVELS, PASSES, move_sources, normalized_level
from dala.plan.group import Group, works_in_place
from dala.plan.steps import Step, Value

CHEAP = 12  # a shared value of so few operations is computed twice rather than buffered


@dataclass(frozen=True, slots=True)
class Location:
    """Where an array of a pass lives: a slot of the pipeline, or a temporary of the plan."""

    kind: str  # "slot" or "temp"
    number: int


@dataclass(frozen=True, slots=True)
class PassArray:
    """An array in memory that a pass reads or writes: all of ``location``, or a plane of it."""

    location: Location
    type: ArrayType
    offset: int = 0  # of the plane, in bytes
    whole: ArrayType | None = None  # what it is a plane of
    mip: int = 0  # mip level, see FusedPass


@dataclass(frozen=True, slots=True)
class Store:
    """What a body writes to memory: levels of a u8 or u16 image, else the values themselves."""

    write: int  # index into FusedPass.writes
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """Expressions computed together, one row at a time; ``buffered`` ones are kept for later bodies: by the
    CPU as ring-buffered rows, by a GPU as tiles of workgroup memory."""

    label: str
    buffered: tuple[Node, ...]
    stores: tuple[Store, ...]
    levels: tuple[Node, ...] = ()  # of a u8 image: what ``buffered`` is, as whole levels 0..255
    arithmetic: Arithmetic = PLAIN
    mip: int = 0
    images: int = 1  # how many images of the same size ``buffered`` is
    margin: int = 0  # see Stage

    @property
    def roots(self) -> tuple[Node, ...]:
        return (*self.buffered, *(node for store in self.stores for node in store.values))

    @property
    def channels(self) -> int:
        """Of one pixel that it computes."""
        return len(self.stores[0].values) if self.stores else len(self.buffered) // self.images

    def map(self, change: Callable[[tuple[Node, ...]], tuple[Node, ...]]) -> Body:
        """The body with all of its expressions rewritten together."""
        values = [s.values for s in self.stores]
        buffered, *values, levels = map_together([self.buffered, *values, self.levels], change)
        return replace(self, buffered=buffered, stores=renew(self.stores, values), levels=levels)


def map_together(
    parts: Sequence[tuple[Node, ...]], change: Callable[[tuple[Node, ...]], tuple[Node, ...]]
) -> list[tuple[Node, ...]]:
    """Several lists of expressions rewritten as one, so that they go on sharing what they share."""
    changed = iter(change(tuple(node for part in parts for node in part)))
    return [tuple(itertools.islice(changed, len(part))) for part in parts]


def renew(stores: Sequence[Store], values: Sequence[tuple[Node, ...]]) -> tuple[Store, ...]:
    """The stores with other values."""
    return tuple(replace(s, values=v) for s, v in zip(stores, values, strict=True))


@dataclass(frozen=True, slots=True)
class FusedPass:
    """One sweep over memory. Source ``k`` is ``reads[k]``; beyond those, the buffered rows of a body.

    ``shape`` is that of the largest image computed. An image of mip level g has 1/2ᵍ of its height and
    width; what is only read may be larger: mip level -1.
    """

    domain: Domain
    labels: tuple[str, ...]
    shape: tuple[int, ...]
    reads: tuple[PassArray, ...]
    writes: tuple[PassArray, ...]
    bodies: tuple[Body, ...]
    inlined: tuple[str, ...]


def fuse_group(group: Group, values: list[Value], locate: Callable[[Value], Location]) -> FusedPass:
    """Inline, buffer, share: the pass for one group."""
    return _Fusing(group, values, locate).build()


def drop_unread(bodies: Sequence[Body], first: int) -> tuple[Body, ...]:
    """The bodies that somebody needs, without the channels that nobody does; ``first`` is the source
    number of the first body.

    Fusion simplifies: a mask may turn out to be the same everywhere, and then nobody reads what it hides.
    Devices rely on it that every body and channel they are given is read.
    """
    needed: set[tuple[int, int]] = set()
    kept: dict[int, Body] = {}
    for number in reversed(range(len(bodies))):
        body = bodies[number]
        read = [(first + number, channel) in needed for channel in range(len(body.buffered))]
        if not any(read) and not body.stores:
            continue
        kept[number] = body = _without_unread(body, read)
        needed |= {(a.source, a.channel) for a in accesses(body.roots)}
    if len(kept) == len(bodies):
        return tuple(kept[k] for k in range(len(bodies)))
    moved = {first + k: first + new for new, k in enumerate(sorted(kept))}
    return tuple(kept[k].map(lambda roots: move_sources(roots, moved)) for k in sorted(kept))


def _without_unread(body: Body, read: Sequence[bool]) -> Body:
    """Channels that nobody reads are black. Only f32 may have such pixels; other arithmetics want whole
    ones."""
    if all(read) or (any(read) and body.arithmetic != PLAIN):
        return body
    if not any(read):
        return replace(body, buffered=(), levels=())
    black = const(0.0, F32)
    buffered, levels = (
        tuple(n if r else black for n, r in zip(nodes, read, strict=False))
        for nodes in (body.buffered, body.levels)
    )
    return replace(body, buffered=buffered, levels=levels)


class _Fusing:
    def __init__(
        self, group: Group, values: list[Value], locate: Callable[[Value], Location]
    ) -> None:
        self.group = group
        self.values = values
        self.locate = locate
        self.bodies = {s.output: s.work for s in group.steps if isinstance(s.work, tuple)}
        self.reads: dict[int, int] = {}  # value → index of a read
        self.in_place = works_in_place(group, values) and not group.stencil
        self.finest = min(group.mips[s.output] for s in group.steps)
        self.buffered = self._choose_buffered()
        self.views: dict[tuple[int, bool], tuple[Node, ...]] = {}

    def build(self) -> FusedPass:
        group, values = self.group, self.values
        for value in sorted(group.reads):
            self.reads[value] = len(self.reads)
        for step in group.steps:  # in order, so that long chains do not nest deep
            self._view(step.output)
        stored = [s.output for s in group.steps if values[s.output].stored]
        bodies: list[Body] = []
        # what is stored but not buffered, by arithmetic and mip level
        last: dict[tuple[Arithmetic, int], list[int]] = {}
        for step in group.steps:
            value = step.output
            if value not in self.buffered and (
                step.arithmetic.joint_stores or not step.arithmetic.own_body
            ):
                rest = last.setdefault((self._arithmetic(step), self._mip(value)), [])
                rest += [value] if value in stored else []
                continue
            stores = [Store(stored.index(value), self._levels(value))] if value in stored else []
            buffered = self._view(value) if value in self.buffered else ()
            levels = self._levels(value) if buffered and self._has_bytes(value) else ()
            body = Body("", buffered, tuple(stores), levels, step.arithmetic, margin=step.margin)
            bodies.append(self._body([value], body))
        for (arithmetic, _), rest in last.items():
            if rest:
                stores = [Store(stored.index(v), self._levels(v)) for v in rest]
                bodies.append(self._body(rest, Body("", (), tuple(stores), (), arithmetic)))
        first = group.steps[0]
        return FusedPass(
            domain="image" if first.domain == "image" else "tensor",
            labels=tuple(s.label for s in group.steps),
            shape=group.sizes[self.finest],
            reads=tuple(map(self._array, self.reads)),
            writes=tuple(map(self._array, stored)),
            bodies=drop_unread(bodies, len(self.reads)),
            inlined=tuple(
                values[s.output].label
                for s in group.steps
                if s.output not in self.buffered and s.output not in stored
            ),
        )

    def _mip(self, value: int) -> int:
        return self.group.mips.get(value, self.finest) - self.finest

    def _array(self, number: int) -> PassArray:
        value = self.values[number]
        home = value if value.whole is None else self.values[value.whole]
        whole = None if value.whole is None else home.type
        return PassArray(self.locate(home), value.type, value.offset, whole, self._mip(number))

    def _choose_buffered(self) -> dict[int, int]:
        """The values whose rows must be kept, numbered in the order of their bodies."""
        moved = {
            a.source
            for value, body in self.bodies.items()
            for a in accesses(body)
            if a.dx or a.dy or self._mip(a.source) != self._mip(value)
        }
        read = {v for s in self.group.steps for v in s.inputs}
        chosen = {s.output: self._arithmetic(s) for s in self.group.steps}
        buffered = {s.output for s in self.group.steps if s.output in moved}
        for step in self.group.steps:
            if step.arithmetic.own_body or step.margin:
                buffered |= {step.output} & read
            # what a margin reads beyond the border is the edge, not what would be computed there
            buffered |= {
                v
                for v in step.inputs
                if v in chosen
                and (step.margin or not self._may_inline(chosen[v], chosen[step.output]))
            }
        # value → bodies it would be inlined into: those of buffered values, and the last ones,
        # by arithmetic and mip level
        roots: dict[int, set[int | tuple[Arithmetic, int]]] = {}
        for step in reversed(self.group.steps):
            value = step.output
            if value in buffered or step.arithmetic.own_body:
                roots[value] = {value}
                continue
            owners = {r for s in self.group.steps if value in s.inputs for r in roots[s.output]}
            if self.values[value].stored:
                owners.add((chosen[value], self._mip(value)))
            expensive = sum(1 for _ in walk(self.bodies[value])) > CHEAP
            if len(owners) > 1 and expensive and not self.in_place:
                buffered.add(value)
                owners = {value}
            roots[value] = owners
        ordered = [
            s.output
            for s in self.group.steps
            if s.output in buffered or (s.arithmetic.own_body and not s.arithmetic.joint_stores)
        ]
        return {value: index for index, value in enumerate(ordered) if value in buffered}

    def _arithmetic(self, step: Step) -> Arithmetic:
        """How a step is computed here. In place everything is one body, so that all of it is read before
        any of it is written."""
        return step.arithmetic if step.arithmetic.own_body or not self.in_place else PLAIN

    @staticmethod
    def _may_inline(value: Arithmetic, reader: Arithmetic) -> bool:
        return value == reader and not value.own_body

    def _body(self, computed: list[int], body: Body) -> Body:
        for rewrite in PASSES:
            body = body.map(rewrite)
        label = " + ".join(self.values[v].label for v in computed)
        return replace(body, label=label, mip=self._mip(computed[0]))

    def _expression(self, value: int) -> tuple[Node, ...]:
        """The value's own expression with every inlined input put in."""
        mip = self._mip(value)
        return self._cached(
            value,
            False,
            lambda: map_nodes(self.bodies[value], lambda node: self._resolve(node, mip)),
        )

    def _view(self, value: int) -> tuple[Node, ...]:
        """What a reader of the value sees: rounded and clamped if it is an image of levels."""

        def view() -> tuple[Node, ...]:
            expression = self._expression(value)
            if self._has_levels(value):
                dtype = self.values[value].type.dtype
                return tuple(normalized_level(n, dtype) for n in expression)
            return expression

        return self._cached(value, True, view)

    def _cached(
        self, value: int, view: bool, build: Callable[[], tuple[Node, ...]]
    ) -> tuple[Node, ...]:
        key = (value, view)
        if key not in self.views:
            self.views[key] = build()
        return self.views[key]

    def _levels(self, value: int) -> tuple[Node, ...]:
        """What memory receives."""
        if value in self.buffered:  # the rounding is shared with what is buffered
            views = self._view(value)
            return tuple(n.args[0] for n in views) if self._has_levels(value) else views
        expression = self._expression(value)
        if self._has_levels(value):
            op, _ = LEVELS[self.values[value].type.dtype]
            return tuple(make(op, n) for n in expression)
        return expression

    def _has_levels(self, value: int) -> bool:
        """Whether a value is an image of u8 or u16."""
        return self.group.steps[0].domain == "image" and self.values[value].type.dtype in LEVELS

    def _has_bytes(self, value: int) -> bool:
        return self._has_levels(value) and self.values[value].type.dtype == U8

    def _resolve(self, node: Node, mip: int) -> Node:
        match node.attr:
            case Access(source, channel, dx, dy):
                if source in self.reads or source not in self.bodies:
                    return Node("load", node.dtype, (), Access(self.reads[source], channel, dx, dy))
                if source in self.buffered:
                    number = len(self.reads) + self.buffered[source]
                    return Node("load", node.dtype, (), Access(number, channel, dx, dy))
                assert (dx, dy) == (0, 0), "only values read at their own position are inlined"
                return self._view(source)[channel]
            case Gather(source, _):
                return replace(node, attr=node.attr._replace(source=self.reads[source]))
            case Extent(source, axis):
                if source in self.reads:
                    return replace(node, attr=Extent(self.reads[source], axis))
                # what this pass makes has the size of its mip level
                made = mip if source == OUTPUT else self._mip(source)
                return replace(node, attr=Extent(OUTPUT, axis, made))
        return node
