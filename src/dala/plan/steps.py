"""Calls on buffers become steps on values.

Every write to a buffer makes a new value, so a step names exactly what it reads. The last value of
a user's buffer must be stored; earlier ones, and those of scratch buffers, exist only if needed.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32
from dala.ir.graph import PLAIN, Access, Arithmetic, Extent, Gather, Node, Program, map_nodes
from dala.ir.library import LibraryCall
from dala.ir.planes import Plane, picture_size, shrink


@dataclass(frozen=True, slots=True)
class Slot:
    """A buffer of the pipeline, by number; a scratch slot may never exist."""

    type: ArrayType
    scratch: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes from one buffer to another of the same size."""


@dataclass(frozen=True, slots=True)
class Barrier:
    """A cut the user asked for."""


@dataclass(frozen=True, slots=True)
class Call:
    """One stage of a pipeline: the work, and the slots it reads and writes."""

    work: Program | LibraryCall | Copy | Barrier
    inputs: tuple[int, ...] = ()
    output: int = -1


@dataclass(slots=True)
class Value:
    """One version of a buffer's content, a plane of it, or an image inside a multi-pass kernel."""

    number: int
    type: ArrayType
    slot: int | None  # the user's buffer whose content it is; None for an intermediate or scratch
    label: str
    stored: bool = False  # must be in memory once its pass is over
    readers: list[Step] = field(default_factory=list)
    whole: int | None = None  # the value that this one is a plane of …
    offset: int = 0  # … and where in it, in bytes
    planes: dict[Plane, int] = field(default_factory=dict)  # its planes, as values


@dataclass(slots=True)
class Step:
    """One image or tensor to compute, reading values by number."""

    label: str
    work: tuple[Node, ...] | LibraryCall | Copy | Barrier
    domain: str
    inputs: tuple[int, ...]  # values
    output: int  # value
    call: int  # which stage of the pipeline it belongs to
    arithmetic: Arithmetic = PLAIN
    mip: int = 0  # mip level of its output, relative to the picture of its call …
    mips: dict[int, int] = field(default_factory=dict)  # … and of the values it reads
    picture: tuple[int, ...] = ()  # the size of the images of mip level 0
    inseparable: bool = False  # from the other such steps of its call
    margin: int = 0


@dataclass(slots=True)
class Lowered:
    """All steps and values of a pipeline."""

    steps: list[Step]
    values: list[Value]
    dropped: list[str]


def lower_calls(calls: Sequence[Call], slots: Sequence[Slot]) -> Lowered:
    """Number the values, renumber parameters into one vector, drop what nobody needs."""
    values = [Value(i, slot.type, i, f"buffer {i}") for i, slot in enumerate(slots)]
    current = list(range(len(slots)))
    steps: list[Step] = []
    first_param = 0

    def new_value(type_: ArrayType, slot: int | None, label: str) -> int:
        if slot is not None and slots[slot].scratch:  # each content is a temporary of its own
            slot = None
        values.append(Value(len(values), type_, slot, label))
        return values[-1].number

    def plane_of(whole: Value, plane: Plane) -> int:
        """The value that a plane of another is, made on first use."""
        if plane not in whole.planes:
            offset = plane.offset_in(whole.type)
            part = new_value(plane.type_in(whole.type), whole.slot, f"{whole.label}.{plane.name}")
            values[part].whole, values[part].offset = whole.number, offset
            whole.planes[plane] = part
        return whole.planes[plane]

    def source_value(program: Program, call: Call, source: int) -> int:
        view = program.view_of(source)
        whole = current[call.inputs[view.array]]
        return whole if view.plane is None else plane_of(values[whole], view.plane)

    for number, call in enumerate(calls):
        if isinstance(call.work, Program):
            program = call.work
            sources = [source_value(program, call, k) for k in range(program.inputs)]
            target = slots[call.output].type
            picture = _picture(program, [values[s].type for s in sources], target)
            written = new_value(target, call.output, program.kernel)
            joined = bool(program.planes) or any(s.margin for s in program.stages)
            for k, stage in enumerate(program.stages):
                label = program.kernel if len(program.stages) == 1 else f"{program.kernel}.{k + 1}"
                if k < program.first_result:
                    size = tuple(shrink(extent, stage.mip) for extent in picture[:2])
                    output = new_value(ArrayType((*size, len(stage.body)), F32), None, label)
                elif program.planes:
                    output = plane_of(values[written], program.planes[k - program.first_result])
                else:
                    output = written
                    values[written].label = label
                body = _renumber_params(stage.body, first_param)
                mips = {v: program.mip_of(s) for s, v in enumerate(sources)}
                steps.append(
                    Step(
                        label, body, program.domain, tuple(sources), output, number, stage.arithmetic,
                        stage.mip, mips, picture, joined or stage.arithmetic.own_body, stage.margin,
                    )
                )  # fmt: skip
                sources.append(output)
            first_param += len(program.params)
            current[call.output] = written
        elif isinstance(call.work, Barrier):
            steps.append(Step("barrier", call.work, "", (), -1, number))
        else:
            label = call.work.kernel if isinstance(call.work, LibraryCall) else "copy_buffer"
            output = new_value(slots[call.output].type, call.output, label)
            inputs = tuple(current[slot] for slot in call.inputs)
            steps.append(Step(label, call.work, "", inputs, output, number))
            current[call.output] = output

    for slot_number, slot in enumerate(slots):
        written = current[slot_number] != slot_number
        values[current[slot_number]].stored = written and not slot.scratch
    return _drop_dead(steps, values)


def _picture(program: Program, sources: Sequence[ArrayType], target: ArrayType) -> tuple[int, ...]:
    """The size of the images of mip level 0: an output's or a source's that has it."""
    last = program.stages[-1]
    if program.domain == "tensor" or not (program.planes or last.mip):
        return target.shape
    if program.planes:
        return picture_size(target)
    return next(s.shape for k, s in enumerate(sources) if program.mip_of(k) == 0)


def _drop_dead(steps: list[Step], values: list[Value]) -> Lowered:
    for value in values:
        for part in value.planes.values():
            values[part].stored = value.stored
    needed = {v.number for v in values if v.stored}
    made = {step.output for step in steps}
    live: list[Step] = []
    dropped: list[str] = []
    for step in reversed(steps):
        step.inputs, step.work = _used_inputs(step)
        if step.output < 0 or step.output in needed:
            live.append(step)
            needed.update(*(makers_of(v, made, values) for v in step.inputs))
        else:
            dropped.append(step.label)
    live.reverse()
    for step in live:
        for number in step.inputs:
            values[number].readers.append(step)
    return Lowered(live, values, dropped)


def makers_of(number: int, made: Container[int], values: Sequence[Value]) -> set[int]:
    """The values that must be computed before a value can be read: itself, or the whole that it is a plane
    of, and the other planes of that."""
    if number in made:
        return {number}
    whole = values[number].whole
    home = values[number if whole is None else whole]
    return {number, home.number, *home.planes.values()}


def _used_inputs(
    step: Step,
) -> tuple[tuple[int, ...], tuple[Node, ...] | LibraryCall | Copy | Barrier]:
    """Point the loads of a body straight at value numbers."""
    if not isinstance(step.work, tuple):
        return step.inputs, step.work
    inputs = step.inputs
    used: dict[int, None] = {}

    def point(node: Node) -> Node:
        attr = node.attr
        if isinstance(attr, Access | Gather | Extent) and attr.source >= 0:
            used[inputs[attr.source]] = None
            moved = attr._replace(source=inputs[attr.source])
            return Node(node.op, node.dtype, node.args, moved)
        return node

    body = map_nodes(step.work, point)
    return tuple(used), body


def _renumber_params(body: tuple[Node, ...], first: int) -> tuple[Node, ...]:
    if first == 0:
        return body

    def shift(node: Node) -> Node:
        if node.op != "param":
            return node
        assert isinstance(node.attr, int)
        return replace(node, attr=node.attr + first)

    return map_nodes(body, shift)
