"""Which steps can run as one pass over memory, and the reason for every cut."""

from __future__ import annotations

from dataclasses import dataclass, field

from dala.ir.graph import accesses, gathered_sources, walk
from dala.plan.steps import Barrier, Lowered, Step, Value

MAX_NODES = 8_000  # a fused pass beyond this compiles too slowly to be worth it
MAX_HALO_ROWS = 160  # rows computed twice at each border between two bands


@dataclass(slots=True)
class Group:
    """Steps that will be one pass; ``reason`` says why it does not join the pass before."""

    steps: list[Step] = field(default_factory=list)
    reason: str = ""
    nodes: int = 0
    halo: int = 0
    stencil: bool = False
    reads: set[int] = field(default_factory=set)  # values from memory
    makes: set[int] = field(default_factory=set)  # values computed inside


def group_steps(lowered: Lowered) -> list[Group]:
    """Greedy, in order: a step joins the open group unless there is a reason not to."""
    groups: list[Group] = []
    reason = ""
    open_group: Group | None = None
    for step in lowered.steps:
        if isinstance(step.work, Barrier):
            open_group, reason = None, "a barrier was asked for"
            continue
        if not isinstance(step.work, tuple):
            why = reason or f"{step.label} works on whole arrays"
            groups.append(Group([step], why if groups else ""))
            open_group, reason = None, f"{step.label} works on whole arrays"
            continue
        why = reason or _why_not(open_group, step, lowered.values)
        if open_group is None or why:
            open_group = Group(reason=why if groups else "")
            groups.append(open_group)
        _join(open_group, step, lowered.values)
        reason = ""
    _mark_stored(groups, lowered.values)
    return groups


def _why_not(group: Group | None, step: Step, values: list[Value]) -> str:
    if group is None:
        return ""
    assert isinstance(step.work, tuple)
    first = group.steps[0]
    shape, open_shape = values[step.output].type.shape, values[first.output].type.shape
    if step.domain != first.domain:
        kinds = {"image": "an image kernel", "tensor": "a tensor kernel"}
        return f"{step.label} is {kinds[step.domain]}, {first.label} {kinds[first.domain]}"
    same = shape[:2] == open_shape[:2] if step.domain == "image" else shape == open_shape
    if not same:
        return f"{step.label} writes {shape}, the pass so far {open_shape}"
    for source in gathered_sources(step.work):
        if source in group.makes:
            return f"{step.label} reads {values[source].label} at computed positions"
    nodes = sum(1 for _ in walk(step.work))
    if group.nodes + nodes > MAX_NODES:
        return f"the pass would grow past {MAX_NODES} operations"
    if group.halo + _reach(step) > MAX_HALO_ROWS:
        return f"the stencils together would reach past {MAX_HALO_ROWS} rows"
    return _why_not_in_place(group, step, values)


def _why_not_in_place(group: Group, step: Step, values: list[Value]) -> str:
    """A pass must not overwrite a buffer that another row of it still has to read."""
    reads = {values[v].slot for v in group.reads}
    reads |= {values[v].slot for v in step.inputs if v not in group.makes}
    writes = {values[v].slot for v in group.makes} | {values[step.output].slot}
    both = (reads & writes) - {None}
    if not both or not (group.stencil or _is_stencil(step)):
        return ""
    if values[step.output].slot in both:
        return f"{step.label} would overwrite a buffer that the pass still reads"
    return f"{group.steps[-1].label} overwrites a buffer that the pass still reads"


def _join(group: Group, step: Step, values: list[Value]) -> None:
    assert isinstance(step.work, tuple)
    group.steps.append(step)
    group.nodes += sum(1 for _ in walk(step.work))
    group.halo += _reach(step)
    group.stencil = group.stencil or _is_stencil(step)
    group.reads |= {v for v in step.inputs if v not in group.makes}
    group.makes.add(step.output)


def _mark_stored(groups: list[Group], values: list[Value]) -> None:
    """What a later pass reads must be in memory."""
    home = {step.output: number for number, g in enumerate(groups) for step in g.steps}
    for number, group in enumerate(groups):
        for step in group.steps:
            for source in step.inputs:
                if home.get(source, number) != number:
                    values[source].stored = True


def _reach(step: Step) -> int:
    assert isinstance(step.work, tuple)
    return max((abs(a.dy) for a in accesses(step.work)), default=0)


def _is_stencil(step: Step) -> bool:
    assert isinstance(step.work, tuple)
    moved = any(a.dx or a.dy for a in accesses(step.work))
    return moved or bool(gathered_sources(step.work))


def overwrites_its_input(group: Group, values: list[Value]) -> bool:
    """One step left alone that still reads, at other positions, the buffer it writes."""
    slots = {values[v].slot for v in group.reads} - {None}
    return group.stencil and any(values[v].slot in slots for v in group.makes if values[v].stored)
