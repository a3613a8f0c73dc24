"""Which rows each body computes when, and how many of them are held.

A pass sweeps its rows once. Body b runs ``lead`` rows ahead of the last body, so that the rows its
readers ask for are there; it keeps ``depth`` rows in a ring. An input image that is read at several
offsets gets a body of its own that converts each row once ("loader").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dala.ir.dtypes import F32
from dala.ir.graph import Access, Node, accesses, map_nodes
from dala.plan.melt import Body, FusedPass, Store

MANY_ROWS = 3  # an input read at so many rows is converted once instead of at every read


@dataclass(frozen=True, slots=True)
class Ring:
    """The held rows of one body: how many, how wide their borders, how the channels lie."""

    depth: int
    channels: int
    pad_left: int
    pad_right: int
    planar: bool  # channels apart (readable at any column offset), or in blocks of one vector


@dataclass(frozen=True, slots=True)
class RowBody:
    """A body with its place in the sweep; ``first`` is the first row it needs, relative to a band."""

    label: str
    held: tuple[Node, ...]
    stores: tuple[Store, ...]
    lead: int
    first: int
    ring: Ring | None

    @property
    def roots(self) -> tuple[Node, ...]:
        return (*self.held, *(n for s in self.stores for n in s.values))


def schedule_rows(work: FusedPass) -> tuple[RowBody, ...]:
    """Loaders added, unused channels dropped, leads and depths computed."""
    bodies = _add_loaders(work)
    bodies = _drop_unused_channels(bodies, len(work.reads))
    return _lead_and_depth(bodies, len(work.reads))


def _add_loaders(work: FusedPass) -> list[Body]:
    if work.domain == "tensor":
        return list(work.bodies)
    inputs = len(work.reads)
    wanted: dict[int, int] = {}  # read → number of its loader
    users: dict[int, set[int]] = {}
    for number, body in enumerate(work.bodies):
        for read in range(inputs):
            offsets = {(a.dx, a.dy) for a in accesses(body.roots) if a.source == read}
            rows = {dy for _, dy in offsets}
            if any(dx for dx, _ in offsets) or len(rows) >= MANY_ROWS:
                wanted.setdefault(read, len(wanted))
                users.setdefault(number, set()).add(read)
    loaders = [
        Body(
            f"load {read}",
            tuple(
                Node("load", F32, (), Access(read, c))
                for c in range(work.reads[read].type.channels)
            ),
            (),
        )
        for read in wanted
    ]

    def redirect(body: Body, mine: set[int]) -> Body:
        def move(node: Node) -> Node:
            if node.op != "load" or not isinstance(node.attr, Access):
                return node
            source = node.attr.source
            if source >= inputs:  # held rows of a body: numbered after the loaders now
                return replace(node, attr=node.attr._replace(source=source + len(loaders)))
            if source in mine:
                return replace(node, attr=node.attr._replace(source=inputs + wanted[source]))
            return node

        return _with_roots(body, map_nodes(body.roots, move))

    return loaders + [redirect(b, users.get(i, set())) for i, b in enumerate(work.bodies)]


def _drop_unused_channels(bodies: list[Body], inputs: int) -> list[Body]:
    """Hold only the channels somebody reads (alpha often is constant)."""
    kept: list[dict[int, int]] = []
    for number in range(len(bodies)):
        source = inputs + number
        used = {a.channel for b in bodies for a in accesses(b.roots) if a.source == source}
        kept.append({channel: index for index, channel in enumerate(sorted(used))})

    def renumber(node: Node) -> Node:
        if node.op != "load" or not isinstance(node.attr, Access) or node.attr.source < inputs:
            return node
        channel = kept[node.attr.source - inputs][node.attr.channel]
        return replace(node, attr=node.attr._replace(channel=channel))

    result = []
    for number, body in enumerate(bodies):
        held = tuple(n for c, n in enumerate(body.held) if c in kept[number])
        slim = Body(body.label, held, body.stores)
        result.append(_with_roots(slim, map_nodes(slim.roots, renumber)))
    return result


def _lead_and_depth(bodies: list[Body], inputs: int) -> tuple[RowBody, ...]:
    lead = [0] * len(bodies)
    first = [0] * len(bodies)
    rings: list[Ring | None] = [None] * len(bodies)
    for number in reversed(range(len(bodies))):
        reads = [
            (reader, access)
            for reader in range(number + 1, len(bodies))
            for access in accesses(bodies[reader].roots)
            if access.source == inputs + number
        ]
        if not reads:
            continue
        lead[number] = max(lead[r] + max(a.dy, 0) for r, a in reads)
        first[number] = min(first[r] + min(a.dy, 0) for r, a in reads)
        oldest = min(lead[r] + min(a.dy, 0) for r, a in reads)
        left = max(0, -min(a.dx for _, a in reads))
        right = max(0, max(a.dx for _, a in reads))
        rings[number] = Ring(
            depth=lead[number] - oldest + 1,
            channels=len(bodies[number].held),
            pad_left=left,
            pad_right=right,
            planar=left + right > 0,
        )
    return tuple(
        RowBody(b.label, b.held, b.stores, lead[i], first[i], rings[i])
        for i, b in enumerate(bodies)
    )


def _with_roots(body: Body, roots: tuple[Node, ...]) -> Body:
    """The body with its held and stored expressions replaced, in the order of ``roots``."""
    rest = list(roots[len(body.held) :])
    stores = []
    for store in body.stores:
        stores.append(replace(store, values=tuple(rest[: len(store.values)])))
        del rest[: len(store.values)]
    return Body(body.label, roots[: len(body.held)], tuple(stores))
