"""Which buffered images lie plane by plane: channels that nobody reads cost nothing.

Bytes are buffered as they lie in memory, four channels to a pixel. For what comes from memory so, that is
best. But a frame of video comes from planes and goes to planes, and nobody reads its alpha. A blur, a
sharpening and a table treat channels alike: each is a function of its own channel, all the same one. Such
images can be buffered as planes, only those that are read; the body that computes them is the text of one
grey image, run for one plane after the other.

Such a body reads and buffers the same layout, so the images that such bodies connect get one layout:
planes, if none of these images is in memory and some channel is not read. Bodies that mix channels stand
between; they read and buffer either form.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.cpu.arithmetic.base import arithmetic_of
from dala.ir.channels import are_alike
from dala.ir.graph import accesses
from dala.plan.fuse import Body


def choose_planar(
    bodies: Sequence[Body], forms: Sequence[str], order: Sequence[int], channels: Sequence[int]
) -> frozenset[int]:
    """The bodies whose rows are buffered as planes; ``channels`` are those of the images in memory."""
    inputs = len(channels)
    buffered = {n for n, b in enumerate(bodies) if b.buffered and forms[n] != "f32"}
    between = _between_planes(bodies, buffered, channels)
    if not between and not any(arithmetic_of(bodies[n]).alike for n in buffered):
        return frozenset()
    parts = _linked(bodies, buffered, inputs)
    parts = [p for p in parts if p <= between or any(arithmetic_of(bodies[n]).alike for n in p)]
    planar = frozenset[int]().union(*parts)
    while parts:  # what is not dropped after all may read what then is not dropped either
        used = used_channels(bodies, order, inputs, planar)
        parts = [part for part in parts if _gains(bodies, part, used)]
        if planar == (planar := frozenset[int]().union(*parts)):
            break
    return planar


def _between_planes(
    bodies: Sequence[Body], buffered: set[int], channels: Sequence[int]
) -> set[int]:
    """The dot products of planes that only dot products read."""
    inputs = len(channels)
    others = [b for b in bodies if not arithmetic_of(b).fast_on_planes]
    read_otherwise = {a.source - inputs for b in others for a in accesses(b.roots)}
    return {
        n
        for n in buffered - read_otherwise
        if arithmetic_of(bodies[n]).fast_on_planes
        and all(a.source < inputs and channels[a.source] < 4 for a in accesses(bodies[n].buffered))
    }


def _linked(bodies: Sequence[Body], buffered: set[int], inputs: int) -> list[frozenset[int]]:
    """The buffered images whose layouts must be the same, in groups, without those that lie as in
    memory."""
    group = {n: frozenset({n}) for n in buffered}
    fixed: set[int] = set()
    for number, body in enumerate(bodies):
        touched = {a.source - inputs for a in accesses(body.roots)} | {number}
        if arithmetic_of(body).alike:
            linked = frozenset[int]().union(*(group.get(n, ()) for n in touched))
            group |= dict.fromkeys(linked, linked)
        if not _suits_planes(body, closed=touched <= buffered):
            fixed |= touched
    return [part for part in dict.fromkeys(group.values()) if not part & fixed]


def _suits_planes(body: Body, *, closed: bool) -> bool:
    """Whether a body may read and buffer planes. ``closed``: all that it reads and writes are buffered rows
    of levels."""
    if body.margin or body.images > 1:
        return False
    arithmetic = arithmetic_of(body)
    if arithmetic.mixes:
        return not _is_copy(body)
    return closed and arithmetic.suits_planes(body)


def _is_copy(body: Body) -> bool:
    """Whether a body buffers pixels that it reads, unchanged."""
    return all(n.op == "level" and n.args[0].op == "load" for n in body.buffered) and bool(
        body.buffered
    )


def _gains(bodies: Sequence[Body], part: frozenset[int], used: Sequence[Sequence[int]]) -> bool:
    """Whether planes of these images would leave out a channel, the same of all of them."""
    spared = all(len(used[n]) < len(bodies[n].buffered) for n in part)
    same = len({tuple(used[n]) for n in part}) == 1
    return spared and same and all(_can_drop(bodies[n], used[n]) for n in part)


def _can_drop(body: Body, used: Sequence[int]) -> bool:
    """Whether the used channels can be computed without the others."""
    return arithmetic_of(body).mixes or are_alike([body.buffered[c] for c in used], used)


def used_channels(
    bodies: Sequence[Body], order: Sequence[int], inputs: int, planar: frozenset[int]
) -> list[list[int]]:
    """The channels of each body that a reader needs; of planes, only those that a needed channel is made
    of."""
    read: set[tuple[int, int]] = set()
    used: list[list[int]] = [[] for _ in bodies]
    for number in reversed(order):
        body, everything = bodies[number], range(len(bodies[number].buffered))
        used[number] = [c for c in everything if (inputs + number, c) in read] or [*everything[:1]]
        needed = used[number] if number in planar else everything
        roots = [body.buffered[c] for c in needed] + [n for s in body.stores for n in s.values]
        read |= {(a.source, a.channel) for a in accesses(roots)}
    return used
