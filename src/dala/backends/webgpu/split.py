"""A FusedPass as passes that fit: into workgroup memory, and into the number of arrays a shader may bind.

The contract lets a device launch one pass as several: what a later part reads of an earlier one goes
through a temporary, u8 levels as bytes and everything else as f32, so no value changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dala.backends.webgpu.shader import Shader, emit_pass
from dala.backends.webgpu.tiles import Tuning, merge_bodies
from dala.errors import UnsupportedError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Access, Extent, Gather, Node, accesses, gathered_sources, map_nodes, walk
from dala.plan.fuse import Body, FusedPass, PassArray, Place, Store

CHEAP_CUT = 4  # bytes of a pixel
NewTemp = Callable[[ArrayType], Place]


def emit_split(
    work: FusedPass, tuning: Tuning, most_bytes: int, most_arrays: int, new_temp: NewTemp
) -> list[Shader]:
    """The shaders of a pass, in order."""
    shaders: list[Shader] = []
    waiting = [work]
    while waiting:
        merged = merge_bodies(waiting.pop())
        fits = len(set(_places(merged))) <= most_arrays and not _has_one_alone(merged)
        shader = None
        if fits and not _worth_cutting(merged):
            shader = emit_pass(merged, tuning, most_bytes)
        if shader is not None:
            shaders.append(shader)
            continue
        parts = cut_pass(merged, new_temp)
        if parts is None:
            raise UnsupportedError(
                f"{merged.labels[-1]}: a pass over {len(set(_places(merged)))} arrays; "
                f"this device binds {most_arrays} at most"
            )
        waiting += reversed(parts)
    return shaders


def _places(work: FusedPass) -> list[Place]:
    return [a.place for a in (*work.reads, *work.writes)]


def cut_pass(work: FusedPass, new_temp: NewTemp) -> tuple[FusedPass, FusedPass] | None:
    """The pass in two: its first bodies, and the rest; None if there is nothing to cut."""
    bodies = list(work.bodies)
    if len(bodies) == 1:
        return _cut_stores(work)
    first = len(work.reads)
    at = _before_or_behind_alone(bodies) or min(
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
    tail = _compact(replace(work, reads=reads, bodies=tuple(_moved(b, moved) for b in bodies[at:])))
    return head, tail


def _has_one_alone(work: FusedPass) -> bool:
    """Whether a body that must be a pass of its own is not one yet."""
    return len(work.bodies) > 1 and any(b.arithmetic.alone for b in work.bodies)


def _before_or_behind_alone(bodies: Sequence[Body]) -> int:
    """Where to cut so that a body is alone; 0 if none wants to be."""
    number = next((i for i, b in enumerate(bodies) if b.arithmetic.alone), None)
    return 0 if number is None else number or 1


def _crossing(work: FusedPass, at: int) -> list[int]:
    """The bodies before a cut that are read behind it."""
    first = len(work.reads)
    read = {a.source - first for b in work.bodies[at:] for a in accesses(b.roots)}
    return sorted(read & set(range(at)))


def _bytes_across(work: FusedPass, at: int) -> int:
    """What a pixel costs in memory if the pass is cut there."""
    bodies = [work.bodies[n] for n in _crossing(work, at)]
    return sum(len(b.held) * (1 if len(b.levels) == len(b.held) else 4) for b in bodies)


def _worth_cutting(work: FusedPass) -> bool:
    """Whether two passes through an image of bytes beat one in which tiles hold values twice.

    A tile that is filled twice before it is read has margins around margins and little room; on an H200
    the way through memory is the shorter one.
    """
    if sum(1 for b in work.bodies if b.held) < 2:
        return False
    return min(_bytes_across(work, k) for k in range(1, len(work.bodies))) <= CHEAP_CUT


def _cut_stores(work: FusedPass) -> tuple[FusedPass, FusedPass] | None:
    """One body that writes several arrays, as two that write some of them each."""
    (body,) = work.bodies
    if len(body.stores) < 2 or {r.place for r in work.reads} & {w.place for w in work.writes}:
        return None
    half = len(body.stores) // 2
    parts = (body.stores[:half], body.stores[half:])
    head, tail = (_compact(replace(work, bodies=(replace(body, stores=s),))) for s in parts)
    return head, tail


def _temp_of(work: FusedPass, body: Body, new_temp: NewTemp) -> PassArray:
    levels = len(body.levels) == len(body.held) > 0
    channels = len(body.held)
    shape = (*work.shape[:2], channels) if channels > 1 else work.shape[:2]
    type_ = ArrayType(shape, U8 if levels else F32)
    return PassArray(new_temp(type_), type_)


def _stored(
    work: FusedPass, bodies: Sequence[Body], number: int, temps: dict[int, PassArray], at: int
) -> Body:
    """A body of the first part: it stores what the second part reads, and holds the rest."""
    body = bodies[number]
    inside = any(
        a.source == len(work.reads) + number for b in bodies[:at] for a in accesses(b.roots)
    )
    stores = body.stores
    if number in temps:
        write = len(work.writes) + list(temps).index(number)
        values = body.levels if temps[number].type.dtype == U8 else body.held
        stores = (*stores, Store(write, values))
    if inside:
        return replace(body, stores=stores)
    return replace(body, stores=stores, held=(), levels=())


def _moved(body: Body, numbers: dict[int, int]) -> Body:
    def move(node: Node) -> Node:
        if isinstance(node.attr, Access) and node.attr.source in numbers:
            return replace(node, attr=node.attr._replace(source=numbers[node.attr.source]))
        return node

    return body.map(lambda nodes: map_nodes(nodes, move))


def _compact(work: FusedPass) -> FusedPass:
    """Drop arrays that no body reads or writes any more; sizes of inputs count as reading."""
    read = {a.source for b in work.bodies for a in accesses(b.roots)}
    read |= {s for b in work.bodies for s in gathered_sources(b.roots)}
    read |= {
        n.attr.source for b in work.bodies for n in walk(b.roots) if isinstance(n.attr, Extent)
    }
    kept = [i for i in range(len(work.reads)) if i in read]
    numbers = {old: new for new, old in enumerate(kept)}
    for held in range(len(work.bodies)):
        numbers[len(work.reads) + held] = len(kept) + held
    written = sorted({s.write for b in work.bodies for s in b.stores})

    def move(node: Node) -> Node:
        attr = node.attr
        if isinstance(attr, Access | Gather | Extent) and attr.source in numbers:
            return replace(node, attr=attr._replace(source=numbers[attr.source]))
        return node

    bodies = []
    for body in work.bodies:
        body = body.map(lambda nodes: map_nodes(nodes, move))
        stores = tuple(replace(s, write=written.index(s.write)) for s in body.stores)
        bodies.append(replace(body, stores=stores))
    return replace(
        work,
        reads=tuple(work.reads[i] for i in kept),
        writes=tuple(work.writes[i] for i in written),
        bodies=tuple(bodies),
    )
