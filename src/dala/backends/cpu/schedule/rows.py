"""Which rows each body computes when, how many of them are buffered, and in which form.

A pass sweeps its rows once. Body b runs ``lead`` rows ahead of the last body, so that the rows its
readers ask for are there; it keeps ``depth`` rows in a ring. An image of bytes that is read at
several offsets gets a body of its own that converts each row once ("load").

Where images of several sizes meet (see FusedPass), the sweep counts rows of the largest one, and leads
are in those rows: a body of mip level g computes one row in 2ᵍ steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from dala.backends.cpu.arithmetic.base import arithmetic_of
from dala.backends.cpu.schedule.columns import share_columns
from dala.backends.cpu.schedule.deep import buffer_levels, is_deep
from dala.backends.cpu.schedule.interleave import choose_interleaved
from dala.backends.cpu.schedule.planes import choose_planar, used_channels
from dala.backends.cpu.schedule.repeats import buffer_repeated
from dala.backends.cpu.schedule.sweep import Form, Ring, RowBody, Sweep
from dala.ir.dtypes import F32
from dala.ir.graph import PLAIN, Access, Node, accesses, in_order, make, map_accesses
from dala.ir.rewrite import normalized_level
from dala.plan.fuse import Body, FusedPass

MANY_ROWS = 3  # a source read at so many rows is converted once instead of at every read


@dataclass(slots=True)
class Made:
    """The bodies so far, what they buffer, and the order they are computed in.

    A body keeps its number, so that an inserted one changes only those who read it.
    """

    bodies: list[Body]
    forms: list[Form]
    order: list[int]

    def insert(self, body: Body, form: Form, before: int) -> int:
        """Add a body that is computed before another one; its number."""
        number = len(self.bodies)
        self.bodies.append(body)
        self.forms.append(form)
        self.order.insert(self.order.index(before), number)
        return number


def schedule_rows(work: FusedPass) -> Sweep:
    """Loaders added, forms chosen, unused channels dropped, leads and depths computed."""
    inputs = len(work.reads)
    bodies = [arithmetic_of(b).arrange(b) for b in work.bodies]
    made = Made(*_choose_forms(bodies, inputs), list(range(len(bodies))))
    deep = is_deep(work)
    _share_parts(work, made)
    _add_loaders(work, made, choose_interleaved(work, made.bodies) if deep else frozenset())
    channels = [a.type.channels for a in work.reads]
    planar = choose_planar(made.bodies, made.forms, made.order, channels)
    whole = choose_interleaved(work, made.bodies) if deep else frozenset[int]()
    bodies = _drop_unused_channels(made, inputs, planar, whole)
    if deep:
        bodies, words = buffer_levels(work, bodies, whole)
        made.forms = ["level16" if n in words else form for n, form in enumerate(made.forms)]
    finest = min(b.mip for b in bodies)  # a loader may be finer than what the pass computes
    shape = work.shape
    if finest < 0:
        shape = next(a.type.shape for a in work.reads if a.mip == finest)
        bodies = [replace(b, mip=b.mip - finest) for b in bodies]
    mips = (*(a.mip - finest for a in work.reads), *(b.mip for b in bodies))
    return Sweep(
        _lead_and_depth(bodies, made, mips, inputs, planar, whole, deep),
        tuple(made.order),
        mips,
        shape,
        deep,
    )


def _choose_forms(bodies: list[Body], inputs: int) -> tuple[list[Body], list[Form]]:
    """What rows are made of: bytes or fixed point, where an arithmetic reads or buffers them, else f32."""
    wanted = {source for b in bodies if b.arithmetic != PLAIN for source in _sources(b)}
    forms = [
        arithmetic_of(body).form(body, inputs + number in wanted)
        for number, body in enumerate(bodies)
    ]
    chosen = [
        replace(b, buffered=_levels(b) if form == "u8" else b.buffered, levels=())
        for b, form in zip(bodies, forms, strict=True)
    ]
    return chosen, forms


def _levels(body: Body) -> tuple[Node, ...]:
    """What is buffered, as levels; extrema of levels are levels, even where no image is stored."""
    return body.levels or tuple(make("level", n) for n in body.buffered)


def _share_parts(work: FusedPass, made: Made) -> None:
    """Before a body that computes the same of several columns or rows, one that does it once."""
    inputs = len(work.reads)
    one_size = len({a.mip for a in work.reads} | {b.mip for b in made.bodies}) == 1
    for number in made.order[:]:
        body, holder = made.bodies[number], inputs + len(made.bodies)
        parts: tuple[Body, Body] | None = None
        if not arithmetic_of(body).shares_columns:
            pass  # its arithmetic wants the whole sum, not what columns have in common
        elif one_size or {_mip_of(work, made, s) for s in _sources(body)} == {body.mip}:
            channels = body.channels if body.arithmetic.own_body else 0
            parts = share_columns(body, holder, channels)
        parts = parts or buffer_repeated(body, holder)
        if parts:
            form = arithmetic_of(parts[0]).form(parts[0], bytes_wanted=False)
            made.insert(parts[0], form, before=number)
            made.bodies[number] = parts[1]


def _reads(nodes: Iterable[Node]) -> set[Access]:
    return {n.attr for n in nodes if n.op == "load" and isinstance(n.attr, Access)}


def _mip_of(work: FusedPass, made: Made, source: int) -> int:
    inside = source - len(work.reads)
    return work.reads[source].mip if inside < 0 else made.bodies[inside].mip


def _sources(body: Body) -> set[int]:
    return {a.source for a in accesses(body.roots)}


def _add_loaders(work: FusedPass, made: Made, interleaved: frozenset[int]) -> None:
    """Insert a converting body before the first one that reads a source at several offsets."""
    if work.domain == "tensor":
        return
    inputs = len(work.reads)
    loaders: dict[tuple[int, Form], int] = {}  # (source, form) → its number as a source

    def channels(source: int) -> int:
        if source < inputs:
            return work.reads[source].type.channels
        return len(made.bodies[source - inputs].buffered)

    def loader(source: int, form: Form, reader: int) -> int:
        if (source, form) not in loaders:
            values = [Node("load", F32, (), Access(source, c)) for c in range(channels(source))]
            if form == "u8":
                values = [normalized_level(v).args[0] for v in values]
            mip = _mip_of(work, made, source)
            body = Body(f"load {source}", tuple(values), (), mip=mip)
            loaders[source, form] = inputs + made.insert(body, form, before=reader)
        return loaders[source, form]

    for number in made.order[:]:
        body = made.bodies[number]
        targets: dict[int, int] = {}
        nodes = in_order(body.roots)
        averages = [n for n in nodes if n.op == "average"]
        averaged = {a.source for a in accesses(averages)}  # loops over taps read buffered rows
        reads = _reads(nodes)
        for source in sorted({a.source for a in reads}):
            offsets = {(a.dx, a.dy) for a in reads if a.source == source}
            inside = _columns_inside(work, source, body.mip - _mip_of(work, made, source))
            sideways = body.margin > 0 or any(dx not in inside for dx, _ in offsets)
            several = sideways or len({dy for _, dy in offsets}) >= MANY_ROWS
            in_bytes = source < inputs or made.forms[source - inputs] == "u8"
            if arithmetic_of(body).stays_inside:
                continue
            if body.arithmetic.own_body and source < inputs and sideways:
                targets[source] = loader(source, "u8", number)
            elif number in interleaved and source < inputs and not sideways | (source in averaged):
                pass  # faster than rows of f32, which lie in the second cache
            elif not body.arithmetic.own_body and in_bytes and (several or source in averaged):
                targets[source] = loader(source, "f32", number)
        if targets:
            made.bodies[number] = body.map(
                partial(map_accesses, change=partial(_redirect, targets))
            )


def _redirect(targets: dict[int, int], access: Access) -> Access:
    """The same of what is read instead of its source."""
    return access._replace(source=targets.get(access.source, access.source))


def _columns_inside(work: FusedPass, source: int, step: int) -> range:
    """The column offsets that never leave the row: all columns of a block, if blocks are whole."""
    if step < 1:
        return range(1)
    in_memory = source < len(work.reads)
    whole = in_memory and work.reads[source].type.shape[1] % 2 == 0
    return range(2 if whole else 1)


def _drop_unused_channels(
    made: Made, inputs: int, planar: frozenset[int], interleaved: frozenset[int]
) -> list[Body]:
    """Buffer only the channels of planes and of f32 that somebody reads (alpha often is constant)."""
    bodies = made.bodies
    kept: list[dict[int, int]] = []
    for number, used in enumerate(used_channels(bodies, made.order, inputs, planar)):
        whole = (made.forms[number] != "f32" and number not in planar) or number in interleaved
        channels = range(len(bodies[number].buffered)) if whole else used
        kept.append({channel: index for index, channel in enumerate(channels)})

    if all(len(kept[number]) == len(body.buffered) for number, body in enumerate(bodies)):
        return bodies

    def renumber(access: Access) -> Access:
        if access.source < inputs:
            return access
        return access._replace(channel=kept[access.source - inputs][access.channel])

    slim = [
        replace(b, buffered=tuple(n for c, n in enumerate(b.buffered) if c in kept[number]))
        for number, b in enumerate(bodies)
    ]
    if all(channel == index for channels in kept for channel, index in channels.items()):
        return slim
    return [b.map(partial(map_accesses, change=renumber)) for b in slim]


def _lead_and_depth(
    bodies: list[Body],
    made: Made,
    mips: tuple[int, ...],
    inputs: int,
    planar: frozenset[int],
    interleaved: frozenset[int],
    deep: bool,
) -> tuple[RowBody, ...]:
    forms = made.forms
    found = {arithmetic_of(b) for b in bodies}
    pairs = set[int]().union(*(a.find_pairs(bodies, planar) for a in found))
    lead = [0] * len(bodies)
    first = [0] * len(bodies)
    rings: list[Ring | None] = [None] * len(bodies)
    nodes = [in_order(b.roots) for b in bodies]
    readers: dict[int, list[tuple[int, Access]]] = {}  # source → who reads it where, in any channel
    for reader, listed in enumerate(nodes):
        for a in {Access(a.source, 0, a.dx, a.dy) for a in _reads(listed)}:
            readers.setdefault(a.source, []).append((reader, a))
    for number in reversed(made.order):
        reads = readers.get(inputs + number)
        if reads is None:
            continue
        mip = mips[inputs + number]
        coarser = {r: bodies[r].mip > mip for r, _ in reads}
        # a reader with a margin begins above our first row, which stands for what is above it
        early = {
            r: (bodies[r].margin << bodies[r].mip) - (bodies[number].margin << mip)
            for r, _ in reads
        }
        lead[number] = max(lead[r] + max(a.dy << mip, early[r], 0) for r, a in reads)
        back = {
            r: max((1 << bodies[r].mip) - (1 << mip), 0) for r, _ in reads
        }  # to its block's first
        first[number] = min(first[r] + (min(a.dy, 0) << mip) - back[r] for r, a in reads)
        depth = max(-(-(lead[number] - lead[r]) >> mip) - min(a.dy, 0) for r, a in reads) + 1
        around = {r: bodies[r].margin << coarser[r] for r, _ in reads}  # columns that a margin adds
        left = max(0, -min(a.dx - (a.dx & 1) * coarser[r] - around[r] for r, a in reads))
        right = max(0, max(a.dx + coarser[r] + around[r] for r, a in reads))
        apart = any(bodies[r].mip != mip for r, _ in reads) or bodies[number].margin > 0
        channels = len(bodies[number].buffered)
        whole = number in interleaved
        planes, pixel_bytes = _lay_planes(
            bodies[number],
            forms[number],
            planar=number in planar,
            pairs=number in pairs,
            whole=whole,
        )
        rings[number] = Ring(
            depth=depth,
            channels=channels,
            pad_left=left,
            pad_right=right,
            form=forms[number],
            blocked=forms[number] == "f32" and left + right == 0 and not apart and not deep,
            planes=planes,
            pixel_bytes=pixel_bytes,
            planar=number in planar or (forms[number] == "level16" and not whole),
        )
    return tuple(
        RowBody(
            b.label,
            b.buffered,
            b.stores,
            lead[i],
            first[i],
            rings[i],
            b.arithmetic,
            b.channels,
            nodes[i],
            b.mip,
            b.margin,
            turns=len(b.buffered) if i in planar and arithmetic_of(b).alike else 1,
            pairs=i in pairs,
            interleaved=i in interleaved,
        )
        for i, b in enumerate(bodies)
    )


def _lay_planes(
    body: Body, form: Form, *, planar: bool, pairs: bool, whole: bool
) -> tuple[int, int]:
    """Planes of a buffered row, and bytes of a pixel in one of them."""
    channels = len(body.buffered)
    if form == "f32":
        return (1, 4 * channels) if whole else (channels, 4)
    if form == "level16":
        return (1, 2 * channels) if whole else (channels, 2)
    if form == "u8":
        return (channels, 1) if planar else (body.images, channels // body.images)
    if pairs:
        return 2 * channels, 1
    if planar:
        return channels, 2
    return (2, 4) if channels == 4 else (1, 2 * channels)
