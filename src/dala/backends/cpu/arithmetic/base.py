"""What an arithmetic is: one class, one instance, one line in the catalogue.

``match`` looks at a kernel's program before it is fused and says which stages it computes, and writes down
what it has found: as a node for each channel, so that sources and parameters can be renumbered as in any
other expression, and nobody looks for it again. ``suits`` takes a body after fusion, for arithmetics that
give the same bits as f32. The rest is asked of the arithmetic that a body has: how rows are buffered, how
many pixels a vector has, how much work it is, and its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.channels import alike_planes
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.schedule.cost import cost_of_body
from dala.backends.cpu.schedule.sweep import Form, RowBody
from dala.ir.arrays import ArrayType
from dala.ir.channels import reads_own_channels
from dala.ir.dtypes import U8
from dala.ir.graph import Arithmetic, Node, Program, Stage, accesses, walk
from dala.plan.fuse import Body, FusedPass

PIXEL = 4  # channels of a picture

Values = tuple[Node, ...]


@dataclass(frozen=True)
class Subject:
    """A kernel's program for arrays of some kinds, which writes a u8 image."""

    program: Program
    inputs: Sequence[ArrayType]
    least_table: float  # operations from which a curve is a look-up table, see Host
    found: set[int] = field(default_factory=set)  # stages that an arithmetic was found for

    @property
    def results(self) -> Mapping[int, Stage]:
        """The stages that are written to memory and still in f32."""
        stages, first = self.program.stages, self.program.first_result
        return {k: stages[k] for k in range(first, len(stages)) if k not in self.found}

    def reads_bytes(self, values: Values) -> bool:
        """Whether all that is read, without computing where, are u8 images in memory."""
        sources = {a.source for a in accesses(values)}
        if any(s >= self.program.inputs for s in sources):
            return False
        return all(self.inputs[self.program.view_of(s).array].dtype == U8 for s in sources)

    def is_picture(self, source: int, channels: int = PIXEL) -> bool:
        """Whether a source is an image of bytes in memory, RGBA or of another number of channels."""
        program = self.program
        if source >= program.inputs or program.view_of(source).plane is not None:
            return False
        array = self.inputs[program.view_of(source).array]
        return array.dtype == U8 and array.channels == channels

    @cached_property
    def maps_bytes(self) -> bool:
        """Whether each channel written is a function of the same channel of one pixel of bytes."""
        if len(self.program.stages) > 1:
            return False
        values = self.program.stages[0].body
        if any(n.op == "coord" for n in walk(values)):
            return False
        found = {(a.source, a.dx, a.dy) for a in accesses(values)}
        if len(found) != 1 or next(iter(found))[1:] != (0, 0):
            return False
        source = self.inputs[next(iter(found))[0]]
        whole = source.dtype == U8 and source.channels == len(values)
        return whole and reads_own_channels(values)


@dataclass(frozen=True)
class CpuArithmetic(Arithmetic):
    """An arithmetic of the CPU; as it is, f32.

    The facts below are for those who arrange bodies. ``relative_cost`` is its cost by that in f32.
    """

    relative_cost: float = 1.0
    tentative: bool = False  # a mark for fusion; whether it computes a body is asked after that
    light: bool = False  # a few instructions for a vector
    contracts: bool = False  # what it leaves in f32 is rewritten and contracted, as f32 is
    alike: bool = False  # channels are treated alike, but for some that pass through
    mixes: bool = False  # it reads and buffers pixels, or planes, as they come
    shares_columns: bool = False  # what neighbours need of a column may be computed once
    borrows: bool = False  # it reads a vector at a time, so inputs may be foreign memory
    stays_inside: bool = False  # it reads no column beyond the border
    fast_on_planes: bool = False  # it is as fast from planes to planes as on pixels

    # -- before fusion -----------------------------------------------------------------------------

    def match(self, subject: Subject) -> dict[int, Values]:
        """The stages that it computes: by their numbers, what was found, written down."""
        found = {k: self.match_stage(subject, stage) for k, stage in subject.results.items()}
        return {k: values for k, values in found.items() if values is not None}

    def match_stage(self, subject: Subject, stage: Stage) -> Values | None:
        """The same for a stage that is written to memory."""
        return None

    # -- after fusion ------------------------------------------------------------------------------

    def suits(self, context: PassContext, body: RowBody) -> bool:
        """Whether it takes a body that no arithmetic was found for: the bits must be those of f32."""
        return False

    def arrange(self, body: Body) -> Body:
        """The body as it is scheduled."""
        return body

    def form(self, body: Body, bytes_wanted: bool) -> Form:
        """What buffered rows are made of. ``bytes_wanted``: some reader computes on bytes."""
        if self.own_body:
            return "u8"
        return "u8" if body.levels and bytes_wanted else "f32"

    def suits_planes(self, body: Body) -> bool:
        """Whether buffered rows may lie plane by plane, if nothing else speaks against it."""
        return self.alike

    def find_pairs(self, bodies: Sequence[Body], planar: frozenset[int]) -> set[int]:
        """The bodies of this arithmetic whose even and odd columns are buffered apart."""
        return set()

    # -- its text ----------------------------------------------------------------------------------

    def lanes(self, body: BodyContext) -> int:
        """How many pixels a vector has."""
        return body.owner.lanes

    def cost(self, work: FusedPass, body: RowBody) -> float:
        """Vector operations per element of the pass."""
        return cost_of_body(body) * self.relative_cost

    def write(self, body: BodyContext) -> None:
        """Write what computes a vector of the body, buffers it and stores it."""
        body.write_values()


@dataclass(frozen=True)
class PlainArithmetic(CpuArithmetic):
    """Whatever it is, in f32."""

    def lanes(self, body: BodyContext) -> int:
        """Two vectors of planes of 16 bits: a loop has few instructions on pixels, and as many around them.
        (Pictures of f32 wait for memory; before a row there is room for a margin of one vector.)"""
        plain = body.owner.sweep.deep and not body.body.margin
        body.two_vectors = plain and alike_planes(body) is not None
        return body.owner.lanes * (2 if body.two_vectors else 1)


IN_F32 = PlainArithmetic("plain", mixes=True, contracts=True, shares_columns=True, borrows=True)


def arithmetic_of(body: Body | RowBody) -> CpuArithmetic:
    """How a body is computed; f32 if nothing else was found for it."""
    found = body.arithmetic
    return found if isinstance(found, CpuArithmetic) else IN_F32


def write_bytes(
    body: BodyContext,
    compute: Callable[[Values], str],
    compute_planes: Callable[[Values], Sequence[str]] | None = None,
) -> None:
    """Compute every result as a vector of bytes, given with its type (what is buffered, as planes if they
    can be computed); then buffer and store them. Not before: an output may be an input, too."""
    row, code, planes = body.body, body.lane, list[str]()
    if row.ring is not None:
        planes = [*compute_planes(row.buffered)] if compute_planes else [compute(row.buffered)]
    stored = [compute(store.values) for store in row.stores]
    for number, plane in enumerate(planes):
        code.line(f"store {plane}, ptr {body.own_address(number)}, align 1")
    for store, pixels in zip(row.stores, stored, strict=True):
        address = body.store_address(store.write, len(store.values))
        code.line(f"store {pixels}, ptr {address}, align 1")


def written_down(body: BodyContext) -> Values:
    """What was found of each channel of the body's one result: the nodes under its levels."""
    row = body.body
    values = row.buffered if row.ring is not None else row.stores[0].values
    assert all(root.op == "level" for root in values), "a u8 image stores levels"
    return tuple(root.args[0] for root in values)
