"""Several graphs of one form laid over each other."""

from __future__ import annotations

from collections.abc import Callable

from dala.ir.graph import Node

Layers = tuple[Node, ...]  # the nodes that lie over each other, one of each graph
Meet = Callable[[Layers], "Node | Layers | None"]
Merged = dict[tuple[int, ...], "Node | None"]  # by the ids of the layers


def merge_layers(layers: Layers, meet: Meet, known: Merged) -> Node | None:
    """One node for all of the layers, or None where they are not alike.

    ``meet`` says what layers become: one node, or nothing, or layers of one op whose arguments are to
    be merged in turn. What is ``known`` is not asked again; without that, a graph that shares its
    nodes would be walked once for each way that leads to them.
    """
    opened: dict[tuple[int, ...], Layers] = {}
    stack = [layers]
    while stack:  # graphs may be deeper than Python's stack
        here = stack[-1]
        key = _key(here)
        if key in known:
            stack.pop()
            continue
        if key not in opened:
            found = meet(here)
            if not isinstance(found, tuple):
                known[key] = found
                continue
            opened[key] = found
        first = opened[key][0]
        below: list[Layers] = list(zip(*(n.args for n in opened[key]), strict=True))
        missing = [a for a in below if _key(a) not in known]
        if missing:
            stack += reversed(missing)
            continue
        args = [known[_key(a)] for a in below]
        whole = tuple(a for a in args if a is not None)
        alike = len(whole) == len(args)
        known[key] = Node(first.op, first.dtype, whole, first.attr) if alike else None
    return known[_key(layers)]


def _key(layers: Layers) -> tuple[int, ...]:
    return tuple(map(id, layers))
