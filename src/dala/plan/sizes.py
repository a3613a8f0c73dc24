"""A pass over images of several sizes, or over planes of frames, as passes of one size each.

A tile has one size. So bodies of one size (and margin) stay together; what another
size reads of them goes through a temporary, and is read there at computed positions. A frame is read as
the grey image that it is in memory; its planes are computed one by one and put together at the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, S32, U8
from dala.ir.graph import OUTPUT, Access, Extent, Gather, Node, accesses, const, make, map_nodes
from dala.ir.planes import shrink
from dala.ir.rewrite import LEVELS
from dala.plan.fuse import Body, FusedPass, Location, PassArray, Store

NewTemp = Callable[[ArrayType], Location]
ROW, COLUMN = (Node("coord", S32, (), axis) for axis in (0, 1))


def passes_of_one_size(work: FusedPass, new_temp: NewTemp) -> list[FusedPass]:
    """The passes to run instead of ``work``, in order."""
    arrays = (*work.reads, *work.writes)
    several = any(a.mip or a.whole for a in arrays) or any(b.mip or b.margin for b in work.bodies)
    if work.domain == "tensor" or not several:
        return [work]
    return _Sizes(work, new_temp).passes()


@dataclass(frozen=True, slots=True)
class Kept:
    """An array in memory with its mip level and margin among the sizes of the pass."""

    array: PassArray
    mip: int
    margin: int = 0


@dataclass
class _Part:
    """A pass of one size being put together: what it reads, and its bodies."""

    mip: int
    margin: int
    reads: list[PassArray] = field(default_factory=list)
    writes: list[PassArray] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)

    def read(self, array: PassArray) -> int:
        """The number of an array among those the part reads."""
        if array not in self.reads:
            self.reads.append(array)
        return self.reads.index(array)


class _Sizes:
    def __init__(self, work: FusedPass, new_temp: NewTemp) -> None:
        self.work, self.new_temp = work, new_temp
        self.first = len(work.reads)
        self.kept: dict[int, Kept] = {
            k: Kept(replace(a, mip=0), a.mip) for k, a in enumerate(work.reads)
        }
        # a frame in memory → its planes: where one begins, its pixels, a temporary per channel
        self.frames: dict[PassArray, list[tuple[PassArray, list[PassArray]]]] = {}

    def passes(self) -> list[FusedPass]:
        numbered = list(enumerate(self.work.bodies))
        parts = []
        for (mip, margin), group in itertools.groupby(
            numbered, lambda item: (item[1].mip, item[1].margin)
        ):
            parts.append(self._part(mip, margin, [number for number, _ in group]))
        return [self._pass(p) for p in parts] + [self._assemble(f) for f in self.frames]

    def _size(self, mip: int, margin: int) -> tuple[int, int]:
        rows, columns = (shrink(n, mip) + 2 * margin for n in self.work.shape[:2])
        return rows, columns

    def _part(self, mip: int, margin: int, numbers: Sequence[int]) -> _Part:
        """Bodies of one size; what others read of them is stored too."""
        part = _Part(mip, margin)
        inside = {self.first + n: k for k, n in enumerate(numbers)}
        bodies = [self.work.bodies[n] for n in numbers]
        moved = [b.map(lambda roots: self._move(roots, part, inside)) for b in bodies]
        for number, body in zip(numbers, moved, strict=True):
            stores = [s for store in body.stores for s in self._stores(part, store)]
            readers = {
                n for n, b in enumerate(self.work.bodies)
                if any(a.source == self.first + number for a in accesses(b.roots))
            }  # fmt: skip
            if readers - set(numbers):
                stores.append(self._keep(part, number, body))
            if not readers & set(numbers):
                body = replace(body, buffered=(), levels=())
            part.bodies.append(replace(body, stores=tuple(stores), mip=0, margin=0))
        return part

    def _keep(self, part: _Part, number: int, body: Body) -> Store:
        """What a later part reads, in a temporary: levels as bytes, everything else as f32."""
        levels = len(body.levels) == len(body.buffered)
        values = body.levels if levels else body.buffered
        if len(values) > 1:  # images in memory have one channel or four
            values = (*values, *[const(0.0, F32)] * (4 - len(values)))
        shape = (*self._size(part.mip, part.margin), len(values))
        array = self._temporary(ArrayType(shape, U8 if levels else F32))
        self.kept[self.first + number] = Kept(array, part.mip, part.margin)
        part.writes.append(array)
        return Store(len(part.writes) - 1, values)

    def _stores(self, part: _Part, store: Store) -> list[Store]:
        """A store as it is, or one for each channel of a plane."""
        array = self.work.writes[store.write]
        if array.whole is None:
            part.writes.append(replace(array, mip=0))
            return [Store(len(part.writes) - 1, store.values)]
        frame = PassArray(array.location, array.whole)
        size = ArrayType(array.type.shape[:2], array.type.dtype)
        channels = [self._temporary(size) for _ in store.values]
        self.frames.setdefault(frame, []).append((array, channels))
        part.writes += channels
        start = len(part.writes) - len(channels)
        return [Store(start + k, (value,)) for k, value in enumerate(store.values)]

    def _temporary(self, type_: ArrayType) -> PassArray:
        return PassArray(self.new_temp(type_), type_)

    def _pass(self, part: _Part) -> FusedPass:
        size = self._size(part.mip, part.margin)
        arrays = len(part.reads)

        def number(
            node: Node,
        ) -> Node:  # bodies come after the arrays, now that these are known
            if isinstance(node.attr, Access) and node.attr.source < 0:
                return replace(node, attr=node.attr._replace(source=arrays - 1 - node.attr.source))
            return node

        bodies = tuple(b.map(lambda roots: map_nodes(roots, number)) for b in part.bodies)
        return replace(
            self.work, shape=size, reads=tuple(part.reads), writes=tuple(part.writes), bodies=bodies
        )

    # -- reading ---------------------------------------------------------------------------------

    def _move(
        self, roots: tuple[Node, ...], part: _Part, inside: dict[int, int]
    ) -> tuple[Node, ...]:
        """Expressions of a body, reading what its part has."""

        def move(node: Node) -> Node:
            match node.attr:
                case Access(source) if source in inside:
                    return replace(node, attr=node.attr._replace(source=-1 - inside[source]))
                case Access():
                    return self._read(node.attr, part)
                case Gather(source):
                    number = part.read(self.kept[source].array)
                    return replace(node, attr=node.attr._replace(source=number))
                case Extent(source, axis, mip):
                    if source != OUTPUT:
                        return replace(node, attr=Extent(part.read(self.kept[source].array), axis))
                    return const(shrink(self.work.shape[axis], mip), S32)
            if node.op == "coord" and part.margin:
                return make("sub", node, const(part.margin, S32))
            return node

        return map_nodes(roots, move)

    def _read(self, access: Access, part: _Part) -> Node:
        kept = self.kept[access.source]
        own = kept.mip == part.mip and not kept.margin and not part.margin
        if own and kept.array.whole is None:
            return Node("load", F32, (), access._replace(source=part.read(kept.array)))
        moves = zip((ROW, COLUMN), (access.dy, access.dx), self._extents(kept), strict=True)
        position = [self._position(part, kept, *move) for move in moves]
        array, channel = kept.array, access.channel
        if array.whole is not None:
            return self._read_frame(array, channel, position, part)
        return Node("gather", F32, tuple(position), Gather(part.read(array), channel))

    @staticmethod
    def _position(part: _Part, kept: Kept, axis: Node, offset: int, extent: int) -> Node:
        """Where along an axis of an array a pixel is read, clamped to its edge."""
        here = make("sub", axis, const(part.margin, S32)) if part.margin else axis
        step = part.mip - kept.mip
        if step:
            here = make("shl" if step > 0 else "shr", here, const(abs(step), S32))
        here = make("add", here, const(offset + kept.margin, S32))
        return make("min", make("max", here, const(0, S32)), const(extent - 1, S32))

    @staticmethod
    def _extents(kept: Kept) -> tuple[int, int]:
        rows, columns = kept.array.type.shape[:2]
        return rows, columns

    def _read_frame(
        self, plane: PassArray, channel: int, position: Sequence[Node], part: _Part
    ) -> Node:
        """A pixel of a plane, in the frame as the grey image that it is."""
        assert plane.whole is not None
        _, columns, channels = plane.type.shape
        across = plane.whole.shape[1]
        pixel = make("add", make("mul", position[0], const(columns, S32)), position[1])
        begin = plane.offset // plane.type.dtype.bytes
        element = make("add", make("mul", pixel, const(channels, S32)), const(channel + begin, S32))
        where = (
            make("floordiv", element, const(across, S32)),
            make("mod", element, const(across, S32)),
        )
        frame = PassArray(plane.location, plane.whole)
        return Node("gather", F32, where, Gather(part.read(frame)))

    # -- frames ----------------------------------------------------------------------------------

    def _assemble(self, frame: PassArray) -> FusedPass:
        """The pass that puts a frame together from its planes."""
        reads: list[PassArray] = []
        across = frame.type.shape[1]
        element = make("add", make("mul", ROW, const(across, S32)), COLUMN)
        result = const(0.0, F32)
        for plane, channels in self.frames[frame]:
            begin = plane.offset // frame.type.dtype.bytes
            inside = make("sub", element, const(begin, S32))
            columns, count = plane.type.shape[1], plane.type.channels
            pixel = make("floordiv", inside, const(count, S32))
            where = (
                make("floordiv", pixel, const(columns, S32)),
                make("mod", pixel, const(columns, S32)),
            )
            value = const(0.0, F32)
            for number, array in enumerate(channels):
                reads.append(array)
                here = Node("gather", F32, where, Gather(len(reads) - 1))
                own = make("eq", make("mod", inside, const(count, S32)), const(number, S32))
                value = make("select", own, here, value)
            begun = make("ge", inside, const(0, S32))
            within = make("and", begun, make("lt", inside, const(plane.type.count, S32)))
            result = make("select", within, value, result)
        level, _ = LEVELS[frame.type.dtype]
        body = Body("frame", (), (Store(0, (make(level, result),)),))
        return replace(
            self.work, shape=frame.type.shape, reads=tuple(reads), writes=(frame,), bodies=(body,)
        )
