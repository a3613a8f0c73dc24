"""Which rows each body computes when, how many of them are held, and in which form.

A pass sweeps its rows once. Body b runs ``lead`` rows ahead of the last body, so that the rows its
readers ask for are there; it keeps ``depth`` rows in a ring. An image of bytes that is read at
several offsets gets a body of its own that converts each row once ("load").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from dala.ir.dtypes import F32
from dala.ir.graph import Access, Node, accesses, map_nodes, walk
from dala.ir.rewrite import normalized_level
from dala.plan.melt import Body, FusedPass, Store

MANY_ROWS = 3  # a source read at so many rows is converted once instead of at every read
# What a held row is made of: f32 values, a plane per channel; bytes (levels of a u8 image, as they lie
# in memory); or 16-bit fixed point (levels with 7 binary places, see fixed.py).
Form = Literal["f32", "u8", "u16"]


@dataclass(frozen=True, slots=True)
class Ring:
    """The held rows of one body: how many, how wide their borders, how a row is laid out.

    A row is ``planes`` runs of pixels, each with its borders, so that a reader may move sideways. Rows of
    f32 that nobody reads sideways are ``blocked`` instead: the channels of one vector of pixels side by
    side, so that a reader of many rows needs one pointer per row.
    """

    depth: int
    channels: int
    pad_left: int
    pad_right: int
    form: Form
    blocked: bool
    planes: int
    pixel_bytes: int  # of one pixel in one plane


@dataclass(frozen=True, slots=True)
class RowBody:
    """A body with its place in the sweep; ``first`` is the first row it needs, relative to a band."""

    label: str
    held: tuple[Node, ...]
    stores: tuple[Store, ...]
    lead: int
    first: int
    ring: Ring | None
    fixed: bool  # averages in 16 bits (fixed.py)

    @property
    def roots(self) -> tuple[Node, ...]:
        return (*self.held, *(n for s in self.stores for n in s.values))


def schedule_rows(work: FusedPass) -> tuple[RowBody, ...]:
    """Loaders added, forms chosen, unused channels dropped, leads and depths computed."""
    inputs = len(work.reads)
    bodies, forms = _choose_forms(work)
    bodies, forms = _add_loaders(work, bodies, forms)
    bodies = _drop_unused_channels(bodies, forms, inputs)
    return _lead_and_depth(bodies, forms, inputs)


def _choose_forms(work: FusedPass) -> tuple[list[Body], list[Form]]:
    """Fixed-point bodies and tables read and hold bytes (or fixed point); everything else, f32."""
    inputs = len(work.reads)
    forms: list[Form] = []
    sources = [_sources(b) for b in work.bodies]
    for number, body in enumerate(work.bodies):
        readers = [b for b, s in zip(work.bodies, sources, strict=True) if inputs + number in s]
        if body.melts == "none":
            forms.append("u8" if body.levels else "u16")
        else:
            bytes_wanted = body.melts == "kin" or any(r.melts != "any" for r in readers)
            forms.append("u8" if body.levels and bytes_wanted else "f32")
    bodies = [
        replace(b, held=b.levels, levels=()) if form == "u8" and b.held else replace(b, levels=())
        for b, form in zip(work.bodies, forms, strict=True)
    ]
    return bodies, forms


def average_of(node: Node) -> Node:
    """The average under what storing or viewing a u8 image puts around it."""
    while node.op != "average":
        node = node.args[0]
    return node


def _sources(body: Body) -> set[int]:
    return {a.source for a in accesses(body.roots)}


def _add_loaders(
    work: FusedPass, bodies: list[Body], forms: list[Form]
) -> tuple[list[Body], list[Form]]:
    """Insert a converting body after each source that some reader reads at several offsets."""
    if work.domain == "tensor":
        return bodies, forms
    inputs = len(work.reads)
    loaders: dict[tuple[int, Form], int] = {}  # (source, form) → its new number
    renumbered: dict[int, int] = {}  # old source → new source, for held bodies
    made: list[Body] = []
    made_forms: list[Form] = []

    def channels(source: int) -> int:
        if source < inputs:
            return work.reads[source].type.channels
        return len(bodies[source - inputs].held)

    def loader(source: int, form: Form) -> int:
        if (source, form) not in loaders:
            new = renumbered.get(source, source)
            values = [Node("load", F32, (), Access(new, c)) for c in range(channels(source))]
            if form == "u8":
                values = [normalized_level(v).args[0] for v in values]
            made.append(Body(f"load {source}", tuple(values), ()))
            made_forms.append(form)
            loaders[source, form] = inputs + len(made) - 1
        return loaders[source, form]

    for number, body in enumerate(bodies):
        targets: dict[int, int] = {}
        averages = [n for n in walk(body.roots) if n.op == "average"]
        averaged = {a.source for a in accesses(averages)}  # loops over taps read held rows
        for source in sorted(_sources(body)):
            offsets = {(a.dx, a.dy) for a in accesses(body.roots) if a.source == source}
            sideways = any(dx for dx, _ in offsets)
            several = sideways or len({dy for _, dy in offsets}) >= MANY_ROWS
            in_bytes = source < inputs or forms[source - inputs] == "u8"
            if body.melts == "none" and source < inputs and sideways:
                targets[source] = loader(source, "u8")
            elif body.melts != "none" and in_bytes and (several or source in averaged):
                targets[source] = loader(source, "f32")
            else:
                targets[source] = renumbered.get(source, source)
        moved = any(old != new for old, new in targets.items())
        made.append(body.map(_redirect(targets)) if moved else body)
        made_forms.append(forms[number])
        renumbered[inputs + number] = inputs + len(made) - 1
    return made, made_forms


def _redirect(
    targets: dict[int, int],
) -> Callable[[tuple[Node, ...]], tuple[Node, ...]]:
    """Loads moved from old sources to new ones."""

    def move(node: Node) -> Node:
        if node.op != "load" or not isinstance(node.attr, Access):
            return node
        source, channel, dx, dy = node.attr
        return Node("load", node.dtype, (), Access(targets[source], channel, dx, dy))

    return lambda roots: map_nodes(roots, move)


def _drop_unused_channels(bodies: list[Body], forms: list[Form], inputs: int) -> list[Body]:
    """Hold only the f32 channels somebody reads (alpha often is constant)."""
    kept: list[dict[int, int]] = []
    read = {(a.source, a.channel) for b in bodies for a in accesses(b.roots)}
    for number, body in enumerate(bodies):
        used = {channel for source, channel in read if source == inputs + number}
        whole = set(range(len(body.held))) if forms[number] != "f32" else used
        kept.append({channel: index for index, channel in enumerate(sorted(whole))})

    if all(len(kept[number]) == len(body.held) for number, body in enumerate(bodies)):
        return bodies

    def renumber(node: Node) -> Node:
        if node.op != "load" or not isinstance(node.attr, Access) or node.attr.source < inputs:
            return node
        source, channel, dx, dy = node.attr
        kept_as = kept[source - inputs][channel]
        if kept_as == channel:
            return node
        return Node("load", node.dtype, (), Access(source, kept_as, dx, dy))

    slim = [
        replace(b, held=tuple(n for c, n in enumerate(b.held) if c in kept[number]))
        for number, b in enumerate(bodies)
    ]
    return [b.map(lambda roots: map_nodes(roots, renumber)) for b in slim]


def _lead_and_depth(bodies: list[Body], forms: list[Form], inputs: int) -> tuple[RowBody, ...]:
    lead = [0] * len(bodies)
    first = [0] * len(bodies)
    rings: list[Ring | None] = [None] * len(bodies)
    all_reads = [(reader, a) for reader, b in enumerate(bodies) for a in accesses(b.roots)]
    for number in reversed(range(len(bodies))):
        reads = [(reader, a) for reader, a in all_reads if a.source == inputs + number]
        if not reads:
            continue
        lead[number] = max(lead[r] + max(a.dy, 0) for r, a in reads)
        first[number] = min(first[r] + min(a.dy, 0) for r, a in reads)
        oldest = min(lead[r] + min(a.dy, 0) for r, a in reads)
        left = max(0, -min(a.dx for _, a in reads))
        right = max(0, max(a.dx for _, a in reads))
        channels = len(bodies[number].held)
        planes, pixel_bytes = {
            "f32": (channels, 4),
            "u8": (1, channels),
            "u16": (2, 4) if channels == 4 else (1, 2 * channels),
        }[forms[number]]
        rings[number] = Ring(
            depth=lead[number] - oldest + 1,
            channels=channels,
            pad_left=left,
            pad_right=right,
            form=forms[number],
            blocked=forms[number] == "f32" and left + right == 0,
            planes=planes,
            pixel_bytes=pixel_bytes,
        )
    return tuple(
        RowBody(b.label, b.held, b.stores, lead[i], first[i], rings[i], b.melts == "none")
        for i, b in enumerate(bodies)
    )
