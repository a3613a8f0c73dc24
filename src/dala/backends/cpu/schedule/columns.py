"""What a stencil computes of whole columns, computed once for all pixels that need it.

A window of 7 x 7 has seven columns, and its neighbour to the right has six of them again. Where the same
function of one column occurs at several offsets, a body of its own computes it once per pixel and buffers
the row; the stencil reads it there, moved sideways. The operations are the same, only fewer of them: no
bit of the result can change.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

from dala.ir.dtypes import F32
from dala.ir.graph import Access, Node, in_order, make, map_accesses, map_nodes
from dala.ir.rewrite import share_common
from dala.plan.fuse import Body

MIN_OFFSETS = 3  # columns that must have the same function
MANY = math.inf  # the column of what is made of several ones
MIN_SAVED = 5  # operations that each buffered value must save: it costs a store, and loads


def share_columns(body: Body, source: int, channels: int = 0) -> tuple[Body, Body] | None:
    """The body that buffers shared columns, as ``source``, and the one that reads them, if it is worth it.

    With ``channels``, the body does not tell channels apart (see extrema.py): then images of bytes with so
    many channels are buffered, otherwise single values.
    """
    if body.margin:
        return None
    nodes = in_order(body.roots)
    if any(n.op in ("coord", "gather") for n in nodes):
        return None
    shared = _worth_sharing(nodes)
    if not shared:
        return None
    loads: dict[int, Node] = {}
    for number, column in enumerate(shared):
        for dx, node in column.items():
            access = Access(source, number * max(channels, 1), dx)
            loads[id(node)] = Node("load", node.dtype, (), access)
    firsts = tuple(next(iter(column.values())) for column in shared)
    # those of the pixel's own column
    buffered = share_common(map_accesses(firsts, lambda access: access._replace(dx=0)))
    if channels:
        buffered = tuple(level for n in buffered for level in [make("level", n)] * channels)
    images = len(shared) if channels else 1
    holder = Body(
        f"columns of {body.label}",
        buffered,
        (),
        arithmetic=body.arithmetic,
        mip=body.mip,
        images=images,
    )
    return holder, body.map(lambda roots: map_nodes(roots, lambda node: node, loads))


def _worth_sharing(nodes: Sequence[Node]) -> list[dict[int, Node]]:
    """Functions of a column that are read at several offsets by what joins columns: offset → node."""
    offset: dict[int, float] = {}  # node → its column; absent: it has none
    number: dict[int, int] = {}  # node → the number of its function of a column
    known: dict[tuple[Hashable, ...], int] = {}
    parts: dict[int, list[int]] = {}  # function → those it is made of
    occurs: dict[int, dict[int, Node]] = {}  # function → where, by offset
    joined: dict[int, None] = {}  # functions of which several columns are joined
    for node in nodes:
        attr: Hashable = None
        column: float | None = None
        for arg in node.args:
            other = offset.get(id(arg))
            if other is not None and other != column:
                column = other if column is None else MANY
        if column == MANY:
            offset[id(node)] = MANY
            for arg in node.args:
                if offset.get(id(arg), MANY) != MANY and arg.op != "load":
                    joined[number[id(arg)]] = None
            continue
        if not node.args:
            attr = node.attr
            if isinstance(attr, Access):
                column, attr = attr.dx, attr._replace(dx=0)
            elif node.op == "const":
                attr = repr(attr)
        if column is not None:
            offset[id(node)] = column
        key = (node.op, node.dtype.name, attr, *[number[id(a)] for a in node.args])
        own = number[id(node)] = known.setdefault(key, len(known))
        parts.setdefault(own, [number[id(a)] for a in node.args])
        if column is not None and node.dtype == F32:  # what rows can be made of
            occurs.setdefault(own, {})[int(column)] = node
    several = [f for f in joined if len(occurs.get(f, ())) >= MIN_OFFSETS]
    operations = _count_operations(several, parts)
    again = min((len(occurs[f]) for f in several), default=1) - 1
    worth = operations * again >= MIN_SAVED * len(several)
    return [occurs[f] for f in several] if worth else []


def _count_operations(functions: Sequence[int], parts: Mapping[int, Sequence[int]]) -> int:
    """How many operations some functions are, each counted once."""
    seen: set[int] = set()
    stack = [*functions]
    while stack:
        function = stack.pop()
        if function not in seen:
            seen.add(function)
            stack += parts[function]
    return sum(1 for f in seen if parts[f])
