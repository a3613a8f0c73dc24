"""Rows of 16-bit levels: which bodies buffer levels instead of 0..1, and which buffer them in 16 bits.

What a stage of a u16 image buffers are levels divided by 65535, and who counts in levels (counted.py) would
multiply them again. All 65536 levels survive that, so rows that nobody reads as anything else are buffered
as levels: no byte differs.

A buffered row of f32 is often more than the first cache has room for, and who reads many rows waits for the
second one. So rows that are read many times, or only copied for the sake of their borders, are buffered in
16 bits, and converted wherever they are read: a blur of 1920 columns became 1.3 times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dala.ir.dtypes import U16
from dala.ir.graph import Access, Node, accesses, in_order, make, map_nodes
from dala.ir.rewrite import is_whole_level16
from dala.plan.fuse import Body, FusedPass

MANY_ROWS = 4  # of planes of f32, from which reading them is waiting for them


def is_deep(work: FusedPass) -> bool:
    """Whether a pass has images of 16 bits."""
    return work.domain == "image" and any(a.type.dtype == U16 for a in (*work.reads, *work.writes))


def buffer_levels(
    work: FusedPass, bodies: Sequence[Body], interleaved: frozenset[int]
) -> tuple[list[Body], set[int]]:
    """The bodies, where those whose rows are only read as levels buffer levels; and the numbers of the
    bodies that buffer levels in 16 bits."""
    inputs = len(work.reads)
    other = {a.source for b in bodies for a in accesses(_outside_levels(b))}
    found = {n: _levels_of(work, b) for n, b in enumerate(bodies) if inputs + n not in other}
    levels = {n: buffered for n, buffered in found.items() if buffered}
    if not levels:
        return [*bodies], set()

    def read(node: Node) -> Node:
        attr = node.args[0].attr if node.op == "level16" else None
        return node.args[0] if isinstance(attr, Access) and attr.source - inputs in levels else node

    kept = [replace(b, buffered=levels.get(n, b.buffered)) for n, b in enumerate(bodies)]
    changed = [b.map(lambda roots: map_nodes(roots, read)) for b in kept]
    return changed, {n for n in levels if _wants_words(changed, n, inputs, n in interleaved)}


def _wants_words(bodies: Sequence[Body], number: int, inputs: int, interleaved: bool) -> bool:
    """Whether rows of levels are better buffered in 16 bits."""
    body = bodies[number]
    if interleaved:
        return all(n.args[0].op == "load" for n in body.buffered)  # copied
    reads = [(r, a) for r in bodies for a in accesses(r.roots) if a.source - inputs == number]
    level = all(r.mip == body.mip and not r.margin for r, _ in reads) and not body.margin
    return level and len({a.dy for _, a in reads}) >= MANY_ROWS


def _outside_levels(body: Body) -> list[Node]:
    """The loads whose values are used as they are, not as levels."""
    nodes = in_order(body.roots)
    read = [a for n in nodes if n.op != "level16" for a in n.args] + [*body.roots]
    return [n for n in read if n.op == "load"]


def _levels_of(work: FusedPass, body: Body) -> tuple[Node, ...]:
    """The levels of the values that a body buffers, before they are divided by 65535; nothing if a value is
    something else."""
    levels = []
    for node in body.buffered:
        if is_whole_level16(node):
            levels.append(node.args[0])
        elif isinstance(node.attr, Access) and _is_image(work, node.attr.source):
            levels.append(make("level16", node))
        else:
            return ()
    return tuple(levels)


def _is_image(work: FusedPass, source: int) -> bool:
    return source < len(work.reads) and work.reads[source].type.dtype == U16
