"""A pass for those who write its text: the machine, the sweep, arguments and scratch memory, as names.

Constants and sizes are loaded once per call, tables are filled before the first band.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.llvm.text import Code, Names, Type, literal_text
from dala.backends.cpu.schedule.sweep import RowBody, Sweep
from dala.ir.dtypes import U8
from dala.ir.graph import OUTPUT, Extent
from dala.plan.fuse import FusedPass, PassArray

TAIL_BYTES = 1024  # for one vector of the widest pixel
# Scratch memory along an axis is for whole vectors, and for an odd number of these blocks: rows of it do
# not all fall onto the same cache sets.
SCRATCH_BLOCK = 64
NEXT_BAND, BANDS, BAND_ROWS, ROWS, COLUMNS, LAST_COLUMNS, SCRATCH, HEADER = range(8)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each argument stands in the argument block, in 8-byte words."""

    shape: int  # the output's extents
    reads: tuple[int, ...]  # pointer, row stride, extents
    writes: tuple[int, ...]  # pointer, row stride
    rings: tuple[int, ...]  # offset in scratch, row stride, channel stride
    params: int


def extents_of(array: PassArray, image: bool) -> tuple[int, ...]:
    """The sizes a kernel can ask for: (height, width) of an image, every axis of a tensor."""
    shape = array.type.shape
    return shape[:2] if image else shape


class PassContext:
    """What the bodies of a pass have in common."""

    def __init__(self, work: FusedPass, host: Host, sweep: Sweep) -> None:
        self.work = work
        self.vector_bytes = host.vector_bytes
        self.host = host
        self.image = work.domain == "image"
        self.sweep = sweep
        self.bodies = self.sweep.bodies
        self.lanes = self._choose_lanes()
        self.names = Names(host.fma, host.x86)
        self.uniform = Code(self.names)
        self.prelude = Code(self.names)  # fills the tables, after the uniform values
        self.tables: dict[Hashable, str] = {}  # what is in a table → where it is
        self.layout = self._lay_out()
        self.by_rows = self.image or any(n.op == "coord" for b in self.bodies for n in b.nodes)
        self.tails = 0
        self.scratch_per_line, self.scratch_end = [0, 0], ""

    @staticmethod
    def rows_of(mip: int, last: bool = False) -> str:
        """How many rows the images of a mip level have; or the number of the last one."""
        name = "%H1" if last else "%H"
        return f"{name}.grid{mip}" if mip else name

    @staticmethod
    def size_of(mip: int, axis: int) -> str:
        """How many rows or columns the images of a mip level have."""
        name = "%W" if axis else "%H"
        return f"{name}.grid{mip}" if mip else name

    # -- arguments and scratch -------------------------------------------------------------------

    def table(self, key: Hashable, size: int, fill: Callable[[Code, str], None]) -> str:
        """Where a table of so many bytes is; ``fill`` writes what fills it before the first band."""
        if key not in self.tables:
            self.tables[key] = self.scratch(size)
            fill(self.prelude, self.tables[key])
        return self.tables[key]

    def constants(self, element: Type, values: Sequence[float]) -> str:
        """Where an array of constants is."""
        listed = ", ".join(f"{element} {literal_text(element.dtype, v)}" for v in values)
        array = f"private constant [{len(values)} x {element}] [{listed}], align 64"
        name = f"@constants{len(self.names.functions)}"
        text = self.names.functions.setdefault(array, f"{name} = {array}")
        return text.split(" ", 1)[0]

    def writes_bytes(self, body: RowBody) -> bool:
        """Whether all that a body stores are images of bytes."""
        types = [self.work.writes[s.write].type for s in body.stores]
        return self.image and all(t.dtype == U8 for t in types)

    def channels_of_bytes(self, mip: int) -> dict[int, int]:
        """The sources of a size that are rows of bytes, and the channels of their pixels."""
        inputs = len(self.work.reads)
        channels = {k: a.type.channels for k, a in enumerate(self.work.reads) if a.type.dtype == U8}
        for number, other in enumerate(self.bodies):
            if other.ring is not None and other.ring.form == "u8":
                channels[inputs + number] = other.ring.pixel_bytes
        return {k: c for k, c in channels.items() if self.sweep.mips[k] == mip}

    def scratch(self, size: int = TAIL_BYTES) -> str:
        """Scratch memory of so many bytes; as it is, for the partial vector at the end of a row."""
        offset = self.tails * TAIL_BYTES
        self.tails += -(-size // TAIL_BYTES)
        return self.uniform.op(f"getelementptr i8, ptr %scratch, i64 {offset}")

    def scratch_along(self, axis: int, size: int) -> str:
        """Scratch memory of so many bytes per row (axis 0) or column (1)."""
        begin = self.scratch_end or self.word(SCRATCH, "i64")
        self.scratch_end = self.uniform.op(f"add i64 {begin}, {self.bytes_along(axis, size)}")
        self.scratch_per_line[axis] += size
        return self.uniform.op(f"getelementptr i8, ptr %scratch, i64 {begin}")

    def bytes_along(self, axis: int, size: int) -> str:
        """How much scratch memory so many bytes per row or column take."""
        up = self.uniform.op(f"add i64 {'%W' if axis else '%H'}, {SCRATCH_BLOCK - 1}")
        whole = self.uniform.op(f"and i64 {up}, {-SCRATCH_BLOCK}")
        odd = self.uniform.op(f"or i64 {whole}, {SCRATCH_BLOCK}")
        return self.uniform.op(f"mul i64 {odd}, {size}")

    def ring_start(self, number: int) -> str:
        """Where the buffered rows of a body begin."""
        offset = self.word(self.layout.rings[number], "i64")
        return self.uniform.op(f"getelementptr i8, ptr %scratch, i64 {offset}")

    def extent(self, extent: Extent) -> str:
        """The i64 name of a size."""
        output = extent.source == OUTPUT
        first = self.layout.shape if output else self.layout.reads[extent.source] + 2
        size = self.word(first + extent.axis, "i64")
        if not extent.mip:
            return size
        up = self.uniform.op(f"add i64 {size}, {(1 << extent.mip) - 1}")
        return self.uniform.op(f"lshr i64 {up}, {extent.mip}")

    def word(self, index: int, type_: str) -> str:
        """One word of the argument block, loaded once."""
        address = self.uniform.op(f"getelementptr i64, ptr %args, i64 {index}")
        return self.uniform.op(f"load {type_}, ptr {address}, align 8")

    def _lay_out(self) -> Layout:
        word = HEADER + len(self.work.shape[:2] if self.image else self.work.shape)
        reads = []
        for array in self.work.reads:
            reads.append(word)
            word += 2 + len(extents_of(array, self.image))
        writes = [word + 2 * i for i in range(len(self.work.writes))]
        word += 2 * len(self.work.writes)
        rings = [word + 3 * i for i in range(len(self.bodies))]
        word += 3 * len(self.bodies)
        return Layout(HEADER, tuple(reads), tuple(writes), tuple(rings), word)

    def _choose_lanes(self) -> int:
        if self.image:
            return self.vector_bytes // 4
        nodes = [n for b in self.bodies for n in b.nodes]
        widest = max((n.dtype.bytes for n in nodes if n.dtype.kind != "b"), default=1)
        if any(n.op == "gather" for n in nodes):
            widest = 8  # positions are computed in 64 bits
        return self.vector_bytes // widest
