"""Minima and maxima of levels on the bytes themselves: medians, dilations, erosions of u8 images.

The smaller of two pixels is the one with the smaller level, and storing it gives that level back: minima
and maxima commute with the way to 0..1 and with the rounding at the end. So a body of nothing else is
computed on bytes as they lie in memory, channels interleaved, 64 of them at a time on AVX-512, and the
result is the same to the last bit.

Every channel must be a function of its own channel. Where those functions differ (a median that keeps
alpha), each is computed for all bytes, and a constant mask chooses.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from dala.backends.cpu.arithmetic.ways import EXTREMA
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import in_exchanges
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.text import Type
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Access, Node, accesses, const, walk
from dala.ir.ops import OPS
from dala.ir.rewrite import is_whole_level

SPELLED = {"min": "umin", "max": "umax"}


def are_extrema(values: Sequence[Node]) -> bool:
    """Whether each channel is made of minima and maxima of the same channel, and of nothing else."""
    return all(_is_extremum(node, channel) for channel, node in enumerate(values))


def _is_extremum(root: Node, channel: int) -> bool:
    for node in walk([root]):
        match node.op:
            case "min" | "max" | "level":
                continue
            case "load" if isinstance(node.attr, Access) and node.attr.channel == channel:
                continue
            case "const" if isinstance(node.attr, float) and not math.isnan(node.attr):
                continue
            case "mul" if is_whole_level(node):
                continue
        return False
    return True


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


def extrema_of(context: PassContext, body: RowBody) -> int:
    """The channels of a body that is nothing but minima and maxima of bytes, or 0."""
    if not context.writes_bytes(body):
        return 0
    return find_extrema(body, context.channels_of_bytes(body.grid))


def find_extrema(body: RowBody, channels_of_bytes: dict[int, int]) -> int:
    """The channels of a body that is nothing but extrema, or 0; sources of bytes and theirs are given."""
    if body.way == EXTREMA:
        return body.channels
    if body.way.alone or (body.ring is not None and body.ring.form != "u8"):
        return 0
    results = [s.values for s in body.stores] + ([body.held] if body.ring is not None else [])
    channels = len(results[0])
    if any(channels_of_bytes.get(a.source) != channels for a in accesses(body.roots)):
        return 0
    if any(len(values) != channels for values in results):
        return 0
    return channels if all(are_extrema(values) for values in results) else 0


def write_extrema(body: BodyContext, channels: int) -> None:
    """Compute a vector of bytes for every result, then hold and store them."""
    held, code = body.body.held if body.body.ring is not None else (), body.lane
    writer = _ByteWriter(body, channels)
    vector = writer.vector
    # everything is computed before anything is written: an output may be an input, too
    images = [writer.write(held[k : k + channels]) for k in range(0, len(held), channels)]
    results = [writer.write(s.values) for s in body.body.stores]
    for plane, image in enumerate(images):
        code.line(f"store {vector} {image}, ptr {body.own_place(plane)}, align 1")
    for store, result in zip(body.body.stores, results, strict=True):
        place = body.store_place(store.write, channels)
        code.line(f"store {vector} {result}, ptr {place}, align 1")


class _ByteWriter:
    """The expressions of a body on vectors of bytes.

    Channels are not told apart, so those with the same function have the same text, and that is
    written once (see Code).
    """

    def __init__(self, body: BodyContext, channels: int) -> None:
        self.body, self.channels = body, channels
        self.vector = Type(U8, body.lanes * channels)
        self.names: dict[int, str] = {}
        self.loaded: dict[tuple[int, int, int, int], str] = {}

    def write(self, values: Sequence[Node]) -> str:
        """One vector for the channels of a result: each byte from its own channel's function."""
        for node in in_exchanges(values):
            if id(node) not in self.names:
                self.names[id(node)] = self._name(node)
        # a constant that is a result is a level already
        names = [self._level(n) if n.op == "const" else self.names[id(n)] for n in values]
        result = names[0]
        for name in dict.fromkeys(names[1:]):
            if name != names[0]:
                result = self._choose([n == name for n in names], name, result)
        return result

    def _name(self, node: Node) -> str:
        if node.op in SPELLED:
            args = [self.names[id(a)] for a in node.args]
            return self.body.lane.intrinsic(SPELLED[node.op], self.vector, args)
        if node.op == "const":
            meaning = OPS["level"].numpy
            assert meaning is not None
            return self._level(const(meaning(node.dtype.numpy.type(node.attr)).item(), F32))
        if isinstance(node.attr, Access):
            return self._load(node.attr)
        return self.names[id(node.args[0])]  # the level of bytes, or what a reader sees of it

    def _load(self, access: Access) -> str:
        plane = access.channel // self.channels
        key = (access.source, plane, access.dx, access.dy)
        if key not in self.loaded:
            place = self.body.place_of(access, plane)
            self.loaded[key] = self.body.lane.op(f"load {self.vector}, ptr {place}, align 1")
        return self.loaded[key]

    def _level(self, node: Node) -> str:
        assert isinstance(node.attr, float)
        return self.body.lane.constant(self.vector, node.attr)

    def _choose(self, mask: Sequence[bool], yes: str, no: str) -> str:
        lanes = self.vector.lanes
        chosen = ", ".join(f"i1 {str(mask[i % self.channels]).lower()}" for i in range(lanes))
        return self.body.lane.select(self.vector, f"<{chosen}>", yes, no)
