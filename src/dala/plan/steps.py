"""Calls on buffers become steps on values.

Every write to a buffer makes a new value, so a step names exactly what it reads. The last value of
a user's buffer must be stored; earlier ones, and those of scratch buffers, exist only if needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32
from dala.ir.graph import Access, Extent, Gather, Melts, Node, Program, map_nodes
from dala.ir.library import LibraryCall


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
    """One version of a buffer's content, or an image inside a multi-pass kernel."""

    number: int
    type: ArrayType
    slot: int | None  # the user's buffer whose content it is; None for an intermediate or scratch
    label: str
    stored: bool = False  # must be in memory once its pass is over
    readers: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Step:
    """One image or tensor to compute, reading values by number."""

    label: str
    work: tuple[Node, ...] | LibraryCall | Copy | Barrier
    domain: str
    inputs: tuple[int, ...]  # values
    output: int  # value
    call: int  # which stage of the pipeline it belongs to
    melts: Melts = "any"


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

    for number, call in enumerate(calls):
        sources = [current[slot] for slot in call.inputs]
        if isinstance(call.work, Program):
            program = call.work
            for k, stage in enumerate(program.stages):
                last = k == len(program.stages) - 1
                label = program.kernel if len(program.stages) == 1 else f"{program.kernel}.{k + 1}"
                shape = slots[call.output].type.shape
                type_ = slots[call.output].type
                if not last:
                    type_ = ArrayType((*shape[:2], len(stage.body)), F32)
                body = _renumber_params(stage.body, first_param)
                output = new_value(type_, call.output if last else None, label)
                step = Step(
                    label, body, program.domain, tuple(sources), output, number, stage.melts
                )
                steps.append(step)
                sources.append(output)
            first_param += len(program.params)
            current[call.output] = output
        elif isinstance(call.work, Barrier):
            steps.append(Step("barrier", call.work, "", (), -1, number))
        else:
            label = call.work.kernel if isinstance(call.work, LibraryCall) else "copy_buffer"
            output = new_value(slots[call.output].type, call.output, label)
            steps.append(Step(label, call.work, "", tuple(sources), output, number))
            current[call.output] = output

    for slot_number, slot in enumerate(slots):
        written = current[slot_number] != slot_number
        values[current[slot_number]].stored = written and not slot.scratch
    return _drop_dead(steps, values)


def _drop_dead(steps: list[Step], values: list[Value]) -> Lowered:
    needed = {v.number for v in values if v.stored}
    live: list[Step] = []
    dropped: list[str] = []
    for step in reversed(steps):
        if step.output < 0 or step.output in needed:
            live.append(step)
            needed.update(step.inputs)
        else:
            dropped.append(step.label)
    live.reverse()
    for step in live:
        step.inputs, step.work = _used_inputs(step)
        for number in step.inputs:
            values[number].readers.append(step)
    return Lowered(live, values, dropped)


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
