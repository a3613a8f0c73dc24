"""A pass as passes that a device can run: of one size each, with room for what they buffer, and no more
arrays than it can bind.

What a later part reads of an earlier one goes through a temporary, u8 levels as bytes and everything else
as f32, so no value changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dala.errors import UnsupportedError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Extent, accesses, gathered_sources, walk
from dala.plan.capabilities import Capabilities
from dala.plan.fuse import Body, FusedPass, Location, PassArray, Store
from dala.plan.join import merge_bodies, renumber
from dala.plan.sizes import NewTemp, passes_of_one_size

CHEAP_CUT = 4  # bytes of a pixel


class Part(NamedTuple):
    """A pass instead of a larger one, and why it does not join the part before."""

    work: FusedPass
    reason: str = ""


def cut_to_fit(work: FusedPass, can: Capabilities, new_temp: NewTemp) -> list[Part]:
    """The passes that a device of tiles runs for this one, in order."""
    parts: list[Part] = []
    sizes = passes_of_one_size(work, new_temp)
    waiting = [Part(one, "a pass has images of one size here") for one in reversed(sizes)]
    while waiting:
        wanted, reason = waiting.pop()
        merged = merge_bodies(wanted)
        why = _why_cut(merged, can)
        if not why:
            parts.append(Part(merged, reason))
            continue
        halves = cut_pass(merged, new_temp)
        if halves is None:
            raise UnsupportedError(f"{merged.labels[-1]}: {why}")
        waiting += [Part(halves[1], why), Part(halves[0], reason)]
    return parts


def _why_cut(work: FusedPass, can: Capabilities) -> str:
    """Why a pass cannot run as it is; "" if it can."""
    arrays = len(set(_locations(work)))
    if arrays > can.most_arrays:
        return f"a pass over {arrays} arrays; this device binds {can.most_arrays} at most"
    if _needs_own_pass(work):
        return "one of the stages is computed by itself"
    if _worth_cutting(work):
        return "through an image of bytes it is shorter than by tiles within tiles"
    return "" if can.has_room_for(work) else "there is no room for both in a tile"


def _locations(work: FusedPass) -> list[Location]:
    return [a.location for a in (*work.reads, *work.writes)]


def cut_pass(work: FusedPass, new_temp: NewTemp) -> tuple[FusedPass, FusedPass] | None:
    """The pass in two: its first bodies, and the rest; None if there is nothing to cut."""
    bodies = list(work.bodies)
    if len(bodies) == 1:
        return _cut_stores(work)
    first = len(work.reads)
    at = _around_own_pass(bodies) or min(
        range(1, len(bodies)),
        key=lambda k: (_bytes_across(work, k), abs(2 * k - len(bodies))),
    )
    crossing = _crossing(work, at)
    temps = {number: _temp_of(work, bodies[number], new_temp) for number in crossing}
    upper = [_stored(work, bodies, i, temps, at) for i in range(at)]
    head = _compact(replace(work, bodies=tuple(upper), writes=(*work.writes, *temps.values())))
    reads = (*work.reads, *temps.values())
    moved = {first + n: first + k for k, n in enumerate(temps)}
    moved |= {first + n: len(reads) + n - at for n in range(at, len(bodies))}
    tail = _compact(replace(work, reads=reads, bodies=tuple(renumber(bodies[at:], moved))))
    return head, tail


def _needs_own_pass(work: FusedPass) -> bool:
    """Whether a body that must be a pass of its own is not one yet."""
    return len(work.bodies) > 1 and any(b.arithmetic.own_body for b in work.bodies)


def _around_own_pass(bodies: Sequence[Body]) -> int:
    """Where to cut so that a body has a pass of its own; 0 if none needs one."""
    number = next((i for i, b in enumerate(bodies) if b.arithmetic.own_body), None)
    return 0 if number is None else number or 1


def _crossing(work: FusedPass, at: int) -> list[int]:
    """The bodies before a cut that are read behind it."""
    first = len(work.reads)
    read = {a.source - first for b in work.bodies[at:] for a in accesses(b.roots)}
    return sorted(read & set(range(at)))


def _bytes_across(work: FusedPass, at: int) -> int:
    """What a pixel costs in memory if the pass is cut there."""
    bodies = [work.bodies[n] for n in _crossing(work, at)]
    return sum(len(b.buffered) * (1 if len(b.levels) == len(b.buffered) else 4) for b in bodies)


def _worth_cutting(work: FusedPass) -> bool:
    """Whether two passes through an image of bytes beat one in which tiles are filled twice.

    A tile that is filled twice before it is read has margins around margins and little room; on an H200
    the way through memory is the shorter one.
    """
    if sum(1 for b in work.bodies if b.buffered) < 2:
        return False
    return min(_bytes_across(work, k) for k in range(1, len(work.bodies))) <= CHEAP_CUT


def _cut_stores(work: FusedPass) -> tuple[FusedPass, FusedPass] | None:
    """One body that writes several arrays, as two that write some of them each."""
    (body,) = work.bodies
    if len(body.stores) < 2 or {r.location for r in work.reads} & {w.location for w in work.writes}:
        return None
    half = len(body.stores) // 2
    parts = (body.stores[:half], body.stores[half:])
    head, tail = (_compact(replace(work, bodies=(replace(body, stores=s),))) for s in parts)
    return head, tail


def _temp_of(work: FusedPass, body: Body, new_temp: NewTemp) -> PassArray:
    levels = len(body.levels) == len(body.buffered) > 0
    channels = len(body.buffered)
    shape = (*work.shape[:2], channels) if channels > 1 else work.shape[:2]
    type_ = ArrayType(shape, U8 if levels else F32)
    return PassArray(new_temp(type_), type_)


def _stored(
    work: FusedPass, bodies: Sequence[Body], number: int, temps: dict[int, PassArray], at: int
) -> Body:
    """A body of the first part: it stores what the second part reads, and buffers the rest."""
    body = bodies[number]
    inside = any(
        a.source == len(work.reads) + number for b in bodies[:at] for a in accesses(b.roots)
    )
    stores = body.stores
    if number in temps:
        write = len(work.writes) + list(temps).index(number)
        values = body.levels if temps[number].type.dtype == U8 else body.buffered
        stores = (*stores, Store(write, values))
    if inside:
        return replace(body, stores=stores)
    return replace(body, stores=stores, buffered=(), levels=())


def _compact(work: FusedPass) -> FusedPass:
    """Drop arrays that no body reads or writes any more; sizes of inputs count as reading."""
    read = {a.source for b in work.bodies for a in accesses(b.roots)}
    read |= {s for b in work.bodies for s in gathered_sources(b.roots)}
    read |= {
        n.attr.source for b in work.bodies for n in walk(b.roots) if isinstance(n.attr, Extent)
    }
    kept = [i for i in range(len(work.reads)) if i in read]
    numbers = {old: new for new, old in enumerate(kept)}
    for number in range(len(work.bodies)):
        numbers[len(work.reads) + number] = len(kept) + number
    written = sorted({s.write for b in work.bodies for s in b.stores})

    bodies = []
    for body in renumber(work.bodies, numbers):
        stores = tuple(replace(s, write=written.index(s.write)) for s in body.stores)
        bodies.append(replace(body, stores=stores))
    return replace(
        work,
        reads=tuple(work.reads[i] for i in kept),
        writes=tuple(work.writes[i] for i in written),
        bodies=tuple(bodies),
    )
