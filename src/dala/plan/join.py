"""Bodies of a pass that need no rows between them become one: for devices on which a body is a loop of its
own over a tile, and what it buffers takes room there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dala.ir.graph import Access, Node, accesses, map_nodes
from dala.ir.rewrite import move_sources
from dala.plan.fuse import Body, FusedPass


def merge_bodies(work: FusedPass) -> FusedPass:
    """Bodies that need no tile between them become one.

    What is not buffered is computed for the same pixels anyway; what is buffered for one reader, and read
    there at its own position alone, is part of that reader.
    """
    bodies = list(work.bodies)
    first = len(work.reads)
    plain = [i for i, b in enumerate(bodies) if not b.buffered and not b.arithmetic.own_body]
    if len(plain) > 1:
        joined = replace(
            bodies[plain[-1]],
            stores=tuple(s for i in plain for s in bodies[i].stores),
            label=" + ".join(bodies[i].label for i in plain),
        )
        bodies = [b for i, b in enumerate(bodies) if i not in plain] + [joined]
        order = [i for i in range(len(work.bodies)) if i not in plain] + [plain[-1]]
        bodies = renumber(bodies, {first + old: first + new for new, old in enumerate(order)})
    while (number := _mergeable(bodies, first)) is not None:
        bodies = _inline_into_reader(bodies, number, first)
    return replace(work, bodies=tuple(bodies))


def _mergeable(bodies: Sequence[Body], first: int) -> int | None:
    for number, body in enumerate(bodies):
        readers = [b for b in bodies if any(a.source == first + number for a in accesses(b.roots))]
        offsets = {
            (a.dx, a.dy) for b in readers for a in accesses(b.roots) if a.source == first + number
        }
        own = any(b.arithmetic.own_body for b in (body, *readers))
        if body.buffered and len(readers) == 1 and offsets == {(0, 0)} and not own:
            return number
    return None


def _inline_into_reader(bodies: Sequence[Body], number: int, first: int) -> list[Body]:
    gone = bodies[number]

    def change(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        def swap(node: Node) -> Node:
            attr = node.attr
            if isinstance(attr, Access) and attr.source == first + number:
                return gone.buffered[attr.channel]
            return node

        return map_nodes(nodes, swap)

    kept = []
    for i, body in enumerate(bodies):
        if i == number:
            continue
        if any(a.source == first + number for a in accesses(body.roots)):
            body = replace(body.map(change), label=f"{gone.label} + {body.label}")
            body = replace(body, stores=(*gone.stores, *body.stores))
        kept.append(body)
    order = [i for i in range(len(bodies)) if i != number]
    return renumber(kept, {first + old: first + new for new, old in enumerate(order)})


def renumber(bodies: Sequence[Body], numbers: Mapping[int, int]) -> list[Body]:
    """The bodies with other numbers for some of what they read."""
    return [body.map(lambda roots: move_sources(roots, numbers)) for body in bodies]
