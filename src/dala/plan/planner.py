"""The planner: one ordered list from calls to a Plan.

lower_calls → group_steps → fuse_group → cut_to_fit (per group) → share_temporaries → launches → Plan
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dala.ir.arrays import ArrayType
from dala.ir.library import LibraryCall
from dala.plan.capabilities import ANYTHING, Capabilities
from dala.plan.cut import Part, cut_to_fit
from dala.plan.fuse import FusedPass, Location, PassArray, fuse_group
from dala.plan.group import group_steps, overwrites_its_input
from dala.plan.steps import Call, Copy, Slot, Value, lower_calls
from dala.plan.temporaries import share_temporaries
from dala.plan.whole import WholePass


@dataclass(frozen=True, slots=True)
class Plan:
    """Passes as a device runs them, in order, the temporaries they need, and why each pass begins."""

    passes: tuple[FusedPass | WholePass, ...]
    temps: tuple[ArrayType, ...]
    reasons: tuple[str, ...]
    dropped: tuple[str, ...]
    stages: int
    can: Capabilities = ANYTHING  # of the device that it is for

    parts: frozenset[int] = frozenset()  # passes that go on with what the one before began

    @property
    def labels(self) -> list[str]:
        """What runs; a pass that was cut is told once."""
        wholes = (work for k, work in enumerate(self.passes) if k not in self.parts)
        return [label for work in wholes for label in work.labels]

    def labels_of(self, index: int) -> Sequence[str]:
        """What one of the passes runs; a part of a pass, what is in it."""
        work = self.passes[index]
        is_part = index in self.parts or index + 1 in self.parts
        return (
            [b.label for b in work.bodies]
            if is_part and isinstance(work, FusedPass)
            else work.labels
        )


def plan_calls(calls: Sequence[Call], slots: Sequence[Slot], can: Capabilities = ANYTHING) -> Plan:
    """The fused plan for a pipeline's calls, on a device that can do so much."""
    lowered = lower_calls(calls, slots)
    groups = group_steps(lowered)
    temps: list[ArrayType] = []
    homes: dict[int, Location] = {}

    def new_temp(type_: ArrayType) -> Location:
        temps.append(type_)
        return Location("temp", len(temps) - 1)

    def locate(value: Value) -> Location:
        if value.number not in homes:
            assert value.whole is None, "a plane lives where its frame does"
            slot = value.slot
            homes[value.number] = new_temp(value.type) if slot is None else Location("slot", slot)
        return homes[value.number]

    passes: list[FusedPass | WholePass] = []
    reasons: list[str] = []
    continued: set[int] = set()
    for group in groups:
        step = group.steps[0]
        reasons.append(group.reason)
        if isinstance(step.work, LibraryCall | Copy):
            inputs = tuple(
                PassArray(locate(lowered.values[v]), lowered.values[v].type) for v in step.inputs
            )
            output = PassArray(
                locate(lowered.values[step.output]), lowered.values[step.output].type
            )
            passes.append(WholePass(step.work, (step.label,), inputs, (output,)))
            continue
        moved: list[tuple[Location, Location, ArrayType]] = []
        if overwrites_its_input(group, lowered.values):
            moved = _through_temporaries(group.makes, lowered.values, homes, new_temp)
        whole = fuse_group(group, lowered.values, locate)
        parts = cut_to_fit(whole, can, new_temp) if can.tiled else [Part(whole)]
        continued.update(range(len(passes) + 1, len(passes) + len(parts)))
        passes += [part.work for part in parts]
        reasons += [part.reason for part in parts[1:]]
        for source, target, type_ in moved:
            reasons.append("it overwrites its own input, so the result is copied back")
            passes.append(
                WholePass(
                    Copy(), ("copy back",), (PassArray(source, type_),), (PassArray(target, type_),)
                )
            )
    if len(temps) > 1:
        passes, temps = share_temporaries(passes, temps)
    passes = _with_launches(passes, temps, can)
    dropped = tuple(reversed(lowered.dropped))
    return Plan(
        tuple(passes), tuple(temps), tuple(reasons), dropped, len(calls), can, frozenset(continued)
    )


def plan_passes(
    passes: Sequence[FusedPass | WholePass], temps: Sequence[ArrayType], can: Capabilities
) -> Plan:
    """The plan for passes that no pipeline asked for, with so many temporaries of their own."""
    all_temps = [*temps]
    made = _with_launches(passes, all_temps, can)
    return Plan(tuple(made), tuple(all_temps), ("",) * len(made), (), len(made), can)


def _with_launches(
    passes: Sequence[FusedPass | WholePass], temps: list[ArrayType], can: Capabilities
) -> list[FusedPass | WholePass]:
    """The passes with what the device runs for whole arrays; its temporaries are added to the others."""

    def new_temp(type_: ArrayType) -> Location:
        temps.append(type_)
        return Location("temp", len(temps) - 1)

    return [
        replace(work, launches=can.launches(work, new_temp))
        if isinstance(work, WholePass)
        else work
        for work in passes
    ]


def _home(value: Value) -> int:
    """The value whose memory it is: a plane is part of its frame."""
    return value.number if value.whole is None else value.whole


def _through_temporaries(
    made: set[int], values: list[Value], homes: dict[int, Location], new_temp: object
) -> list[tuple[Location, Location, ArrayType]]:
    """Send what the pass stores into temporaries first; a copy then puts it into the buffers."""
    assert callable(new_temp)
    moved = []
    for number in sorted({_home(values[v]) for v in made if values[v].stored}):
        value = values[number]
        if value.slot is not None:
            target = Location("slot", value.slot)
            homes[number] = new_temp(value.type)
            moved.append((homes[number], target, value.type))
    return moved
