"""Which bodies work on pixels as they lie in memory: colours of 16 bits whose channels are treated alike.

In f32 the channels of a pixel are taken apart when they are read and put together when they are written. A
blur, a sharpening or a curve does the same to each of them, so they may stay side by side: the body is then
that of a grey image of four times the width. Rows that such a body reads from another one are buffered
as whole pixels, and every other reader of those rows works on whole pixels, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.cpu.arithmetic.base import IN_F32, PIXEL, arithmetic_of
from dala.ir.channels import interleave, reads_own_channels
from dala.ir.dtypes import U16
from dala.ir.graph import Node, accesses, in_order
from dala.plan.fuse import Body, FusedPass

FEW = 3  # operations of a channel that passes through, with its rounding
MOST = 40  # operations that may be done to such a channel for nothing
FUNCTIONS = frozenset({"exp", "log", "sin", "cos", "tanh", "atan2", "pow"})  # take many each


def choose_interleaved(work: FusedPass, bodies: Sequence[Body]) -> frozenset[int]:
    """The numbers of the bodies that work on whole pixels."""
    inputs = len(work.reads)
    if work.domain != "image" or len({a.mip for a in work.reads} | {b.mip for b in bodies}) > 1:
        return frozenset()
    read = [{a.source - inputs for a in accesses(b.roots)} for b in bodies]
    chosen = {n for n, body in enumerate(bodies) if _is_alike(work, body)}
    while True:
        others = set(range(len(bodies))) - chosen
        mixed = {n for n in chosen if read[n] & others}  # somebody buffers channels apart, or takes
        mixed |= chosen & set[int]().union(*(read[n] for n in others))
        if not mixed:
            return frozenset(chosen)
        chosen -= mixed


def _is_alike(work: FusedPass, body: Body) -> bool:
    """Whether nothing in the body itself speaks against working on whole pixels."""
    results = [r for r in (body.buffered, *(s.values for s in body.stores)) if r]
    if arithmetic_of(body) != IN_F32 or body.margin or body.images > 1:
        return False
    read = {a.source for a in accesses(body.roots) if a.source < len(work.reads)}
    types = [work.writes[s.write].type for s in body.stores] + [work.reads[k].type for k in read]
    if any(t.dtype != U16 or t.channels != PIXEL for t in types):
        return False
    if any(n.op in ("coord", "gather") for n in in_order(body.roots)):
        return False
    return all(map(_has_one_function, results))


def _has_one_function(values: Sequence[Node]) -> bool:
    """Whether every channel is the same function of its own channel, except those that pass through."""
    if len(values) != PIXEL or not reads_own_channels(values):
        return False
    sizes = [_count(function) for function in dict.fromkeys(interleave(values))]
    large = [size for size in sizes if size > FEW]
    return len(large) <= 1 and (len(sizes) == 1 or sum(large) <= MOST)


def _count(function: Node) -> int:
    operations = [n.op for n in in_order((function,)) if n.args]
    return sum(MOST if op in FUNCTIONS else 1 for op in operations)
