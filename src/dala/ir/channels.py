"""What channels of an image have in common: functions that are alike but for the channel they read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dala.ir.graph import Access, Node, accesses, walk


def reads_own_channels(values: Sequence[Node], channels: Sequence[int] = ()) -> bool:
    """Whether value k reads nothing but channel k; or all of them nothing but the channel that is named."""
    named = channels or range(len(values))
    return all(a.channel == c for c, v in zip(named, values, strict=True) for a in accesses([v]))


def interleave(values: Sequence[Node]) -> tuple[Node, ...]:
    """The functions of the channels with each channel called 0: equal functions are one node.

    From here on a load means: of whichever channel a byte belongs to.
    """
    known: dict[tuple[Hashable, ...], Node] = {}
    done: dict[int, Node] = {}
    for node in walk(values):
        args = tuple([done[id(a)] for a in node.args])
        attr = node.attr._replace(channel=0) if isinstance(node.attr, Access) else node.attr
        key = (node.op, attr, *map(id, args))
        found = known.get(key)
        if found is None:
            found = known[key] = Node(node.op, node.dtype, args, attr)
        done[id(node)] = found
    return tuple(done[id(n)] for n in values)


def are_alike(values: Sequence[Node], channels: Sequence[int] = ()) -> bool:
    """Whether values are one function, each of its own channel."""
    return reads_own_channels(values, channels) and len(set(interleave(values))) == 1
