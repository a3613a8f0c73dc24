"""Which steps can run as one pass over memory, and the reason for every cut."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dala.ir.graph import Node, accesses, code_length, gathered_sources
from dala.ir.planes import shrink
from dala.plan.steps import Barrier, Lowered, Step, Value, makers_of

MAX_LENGTH = 8_000  # instructions; a fused pass beyond this compiles too slowly to be worth it
MAX_HALO_ROWS = 160  # rows computed twice at each border between two bands


@dataclass(slots=True)
class Group:
    """Steps that will be one pass; ``reason`` says why it does not join the pass before."""

    steps: list[Step] = field(default_factory=list)
    reason: str = ""
    length: int = 0  # in instructions
    halo: int = 0
    stencil: bool = False
    gathered: set[int] = field(default_factory=set)  # values read at computed positions
    reads: set[int] = field(default_factory=set)  # values from memory
    makes: set[int] = field(default_factory=set)  # values computed inside
    mips: dict[int, int] = field(
        default_factory=dict
    )  # levels of all of these; 0 is the first output's
    sizes: dict[int, tuple[int, ...]] = field(default_factory=dict)  # of the images of a mip level


def group_steps(lowered: Lowered) -> list[Group]:
    """Greedy, in order: what comes next joins the open group unless there is a reason not to."""
    groups: list[Group] = []
    reason = ""
    open_group: Group | None = None
    for unit in _units(lowered.steps):
        step = unit[0]
        if isinstance(step.work, Barrier):
            open_group, reason = None, "a barrier was asked for"
            continue
        if not isinstance(step.work, tuple):
            why = reason or f"{step.label} works on whole arrays"
            groups.append(Group([step], why if groups else ""))
            open_group, reason = None, f"{step.label} works on whole arrays"
            continue
        why = reason or _why_not(open_group, unit, lowered.values)
        if open_group is None or why:
            open_group = Group(reason=why if groups else "")
            groups.append(open_group)
        for step in unit:
            _join(open_group, step, lowered.values)
        reason = ""
    _mark_stored(groups, lowered.values)
    return groups


def _units(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Steps that no cut may part: what one stage with a body of its own hands to the next has a form of its
    own, and the planes of a frame are written together."""
    for (_, joined), listed in itertools.groupby(steps, lambda s: (s.call, s.inseparable)):
        together = list(listed)
        yield from [together] if joined else ([step] for step in together)


def _why_not(group: Group | None, unit: Sequence[Step], values: list[Value]) -> str:
    if group is None:
        return ""
    first, step = group.steps[0], unit[0]
    if step.domain != first.domain:
        kinds = {"image": "an image kernel", "tensor": "a tensor kernel"}
        return f"{step.label} is {kinds[step.domain]}, {first.label} {kinds[first.domain]}"
    if _shift(group, step) is None:
        shape, open_shape = values[step.output].type.shape, values[first.output].type.shape
        return f"{step.label} writes {shape}, the pass so far {open_shape}"
    for step in unit:
        for source in gathered_sources(_body(step)):
            if source in group.makes:
                return f"{step.label} reads {values[source].label} at computed positions"
        for source in step.inputs:
            if source not in group.makes and makers_of(source, group.makes, values) & group.makes:
                return (
                    f"{step.label} reads {values[source].label} in other planes than it is written"
                )
    if group.length + sum(map(_length, unit)) > MAX_LENGTH:
        return f"the pass would grow past {MAX_LENGTH} instructions"
    if group.halo + sum(_reach(s) for s in unit) > MAX_HALO_ROWS:
        return f"the stencils together would reach past {MAX_HALO_ROWS} rows"
    return _why_not_in_place(group, unit, values)


def _why_not_in_place(group: Group, unit: Sequence[Step], values: list[Value]) -> str:
    """A pass must not overwrite a buffer that another row of it still has to read."""
    reads = {values[v].slot for v in group.reads.union(*(s.inputs for s in unit)) - group.makes}
    writes = {values[v].slot for v in group.makes.union(s.output for s in unit)}
    both = (reads & writes) - {None}
    gathered = group.gathered.union(*(gathered_sources(_body(s)) for s in unit))
    in_order = _runs_in_order((*group.steps, *unit))
    stencil = group.stencil or not in_order or any(map(_is_stencil, unit))
    if not both or not (stencil or both & {values[v].slot for v in gathered}):
        return ""
    if values[unit[-1].output].slot in both:
        return f"{unit[-1].label} would overwrite a buffer that the pass still reads"
    return f"{group.steps[-1].label} overwrites a buffer that the pass still reads"


def _runs_in_order(steps: Sequence[Step]) -> bool:
    """Whether results are computed in the order of the steps: if all are in one body, or all have bodies of
    their own and each reads the one before. Else those that share a body come last, whatever their order
    was."""
    own = [s.arithmetic.own_body for s in steps]
    chained = all(a.output in b.inputs for a, b in itertools.pairwise(steps))
    return not any(own) or (all(own) and chained)


def _shift(group: Group, step: Step) -> int | None:
    """What to add to the mip levels of a step to make them those of the group; None if their images do not
    fit."""
    if step.domain == "tensor":
        return 0 if step.picture == group.sizes[0] else None
    inside = {group.mips[v] - step.mips[v] for v in step.inputs if v in group.makes}
    for shift in inside or (0, 1, -1):
        known = group.sizes.get(shift)
        if known is None:  # a size that the group does not have yet: it must lead to one it has
            finer, coarser = group.sizes.get(shift + 1), group.sizes.get(shift - 1)
            up = finer is None or _shrunk(step.picture, 1) == finer[:2]
            down = coarser is None or _shrunk(coarser, 1) == step.picture[:2]
            fits = up and down and not (finer is None and coarser is None)
        else:
            fits = known[:2] == step.picture[:2]
        if fits and len(inside) < 2:
            return shift
    return None


def _shrunk(size: tuple[int, ...], mip: int) -> tuple[int, ...]:
    return tuple(shrink(extent, mip) for extent in size[:2])


def _join(group: Group, step: Step, values: list[Value]) -> None:
    if not group.steps:
        group.sizes[0] = step.picture
    shift = _shift(group, step)
    assert shift is not None
    group.steps.append(step)
    group.length += _length(step)
    group.halo += _reach(step)
    group.stencil = group.stencil or _is_stencil(step)
    group.gathered |= gathered_sources(_body(step))
    group.reads |= {v for v in step.inputs if v not in group.makes}
    group.makes.add(step.output)
    group.sizes.setdefault(shift, step.picture)
    group.mips[step.output] = step.mip + shift
    for value in (step.output, *{a.source for a in accesses(_body(step))}):
        mip = group.mips.setdefault(value, step.mips.get(value, 0) + shift)
        group.sizes.setdefault(mip, values[value].type.shape)


def _mark_stored(groups: list[Group], values: list[Value]) -> None:
    """What a later pass reads must be in memory."""
    home = {step.output: number for number, g in enumerate(groups) for step in g.steps}
    for number, group in enumerate(groups):
        for step in group.steps:
            for source in step.inputs:
                for part in makers_of(source, home, values):
                    if home.get(part, number) != number:
                        values[part].stored = True


def _body(step: Step) -> tuple[Node, ...]:
    assert isinstance(step.work, tuple)
    return step.work


def _length(step: Step) -> int:
    return code_length(_body(step))


def _reach(step: Step) -> int:
    """In rows of the picture."""
    found = accesses(_body(step))
    return max((abs(a.dy) << max(0, step.mips[a.source]) for a in found), default=0)


def _is_stencil(step: Step) -> bool:
    """Whether the step reads other rows than the one it writes, at a fixed distance."""
    found = accesses(_body(step))
    return any(a.dx or a.dy or step.mips[a.source] != step.mip for a in found)


def works_in_place(group: Group, values: list[Value]) -> bool:
    """Whether a buffer is both read and written."""
    return bool(_slots(group.reads, values) & _written(group, values))


def overwrites_its_input(group: Group, values: list[Value]) -> bool:
    """One step or unit left alone that still reads, at other positions, the buffer it writes."""
    if group.stencil:
        return works_in_place(group, values)
    return bool(_slots(group.gathered, values) & _written(group, values))


def _written(group: Group, values: list[Value]) -> set[int]:
    return _slots({v for v in group.makes if values[v].stored}, values)


def _slots(chosen: set[int], values: list[Value]) -> set[int]:
    """The buffers of some values, of those that have one."""
    return {slot for v in chosen if (slot := values[v].slot) is not None}
