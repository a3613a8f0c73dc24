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
from collections.abc import Sequence
from dataclasses import dataclass

from dala.backends.cpu.arithmetic.base import CpuArithmetic, Subject, Values, write_bytes
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import in_exchanges
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.text import Type
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.channels import interleave
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Access, Node, accesses, const, walk
from dala.ir.ops import OPS
from dala.ir.patterns import on_levels
from dala.ir.rewrite import is_whole_level
from dala.plan.fuse import Body, FusedPass

SPELLED = {"min": "umin", "max": "umax"}


@dataclass(frozen=True)
class ExtremaArithmetic(CpuArithmetic):
    """Stages of minima and maxima of several pixels; and after fusion, any body of nothing else."""

    def match(self, subject: Subject) -> dict[int, Values]:
        program = subject.program
        if not program.has_one_size:
            return {}
        stencils = {
            number
            for number, stage in enumerate(program.stages)
            if any(a.dx or a.dy for a in accesses(stage.body)) and are_extrema(stage.body)
        }
        found = on_levels(program, subject.inputs, stencils, len(program.stages))
        return {number: program.stages[number].body for number in found}

    def suits(self, context: PassContext, body: RowBody) -> bool:
        if body.arithmetic.own_body or not context.writes_bytes(body):
            return False
        if body.ring is not None and body.ring.form != "u8":
            return False
        sources = context.channels_of_bytes(body.mip)
        if any(sources.get(a.source) != body.channels for a in accesses(body.roots)):
            return False
        results = [s.values for s in body.stores] + (
            [body.buffered] if body.ring is not None else []
        )
        return all(len(r) == body.channels and are_extrema(r) for r in results)

    def arrange(self, body: Body) -> Body:
        return body.map(interleave)

    def lanes(self, body: BodyContext) -> int:
        return body.owner.vector_bytes // body.body.channels

    def cost(self, work: FusedPass, body: RowBody) -> float:
        found_after_fusion = body.arithmetic != self  # of single pixels: memory is slower
        return 0.0 if found_after_fusion else super().cost(work, body)

    def write(self, body: BodyContext) -> None:
        channels = body.body.channels
        writer = _ByteWriter(body, channels)

        def images(values: Values) -> list[str]:
            starts = range(0, len(values), channels)
            return [writer.write(values[k : k + channels]) for k in starts]

        write_bytes(body, writer.write, images)


EXTREMA = ExtremaArithmetic("extrema", own_body=True, relative_cost=0.5, shares_columns=True)


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
        """One vector for the channels of a result, with its type: each byte from its own channel's
        function."""
        for node in in_exchanges(values):
            if id(node) not in self.names:
                self.names[id(node)] = self._name(node)
        # a constant that is a result is a level already
        names = [self._level(n) if n.op == "const" else self.names[id(n)] for n in values]
        result = names[0]
        for name in dict.fromkeys(names[1:]):
            if name != names[0]:
                result = self._choose([n == name for n in names], name, result)
        return f"{self.vector} {result}"

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
            address = self.body.address_of(access, plane)
            self.loaded[key] = self.body.lane.op(f"load {self.vector}, ptr {address}, align 1")
        return self.loaded[key]

    def _level(self, node: Node) -> str:
        assert isinstance(node.attr, float)
        return self.body.lane.constant(self.vector, node.attr)

    def _choose(self, mask: Sequence[bool], yes: str, no: str) -> str:
        chosen = [mask[i % self.channels] for i in range(self.vector.lanes)]
        return self.body.lane.blend(self.vector, chosen, yes, no)
