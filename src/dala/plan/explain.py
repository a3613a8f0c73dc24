"""A Plan in words, with the reason for every cut."""

from __future__ import annotations

from collections.abc import Sequence

from dala.ir.arrays import ArrayType
from dala.ir.graph import accesses
from dala.ir.library import OwnCall
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan
from dala.plan.whole import WholePass


def explain_plan(plan: Plan, device: str) -> str:
    """What runs, in which order, and why it was not fused further."""
    lines = [explain_head(plan, device)]
    number = part = 0
    for index, work in enumerate(plan.passes):
        number, part = (number, part + 1) if index in plan.parts else (number + 1, 1)
        if index:
            lines.append(f"  cut: {plan.reasons[index]}")
        title = f"pass {number}" if part == 1 else f"part {part} of pass {number}"
        if isinstance(work, FusedPass):
            what, *details = _explain_fused(plan, index, work)
        else:
            what, *details = _explain_whole(work, device)
        lines += [f"{title}: {what}", *details]
    if plan.temps:
        lines.append(f"  through {_explain_temporaries(plan.temps)}")
    if plan.dropped:
        lines.append(f"  dropped, because nobody reads the result: {', '.join(plan.dropped)}")
    return "\n".join(lines)


def explain_head(plan: Plan, device: str) -> str:
    """How many passes there are."""
    parts = f", cut into {len(plan.passes)}" if plan.parts else ""
    passes = _count(len(plan.passes) - len(plan.parts), "pass", "passes")
    return f"{_count(plan.stages, 'stage', 'stages')} → {passes} on {device}{parts}"


def _explain_fused(plan: Plan, index: int, work: FusedPass) -> list[str]:
    size = "×".join(str(n) for n in work.shape)
    moved = sum(a.type.nbytes for a in (*work.reads, *work.writes)) / 2**20
    lines = [
        " → ".join(plan.labels_of(index)),
        f"    {work.domain} of {size}; reads {len(work.reads)}, writes {len(work.writes)} arrays "
        f"({moved:.1f} MiB in all)",
    ]
    if work.inlined and index not in plan.parts:
        lines.append(f"    inlined into what follows: {', '.join(work.inlined)}")
    if plan.can.tiled:
        kept = [b.label for b in work.bodies if b.buffered]
        return [*lines, f"    kept in tiles, never an image: {', '.join(kept)}"] if kept else lines
    for number, body in enumerate(work.bodies):
        if body.buffered:
            source = len(work.reads) + number
            offsets = [a.dy for b in work.bodies for a in accesses(b.roots) if a.source == source]
            rows = max(offsets, default=0) - min(offsets, default=0) + 1
            where = "written, and ring-buffered" if body.stores else "ring-buffered, never an image"
            lines.append(f"    {where}: {body.label} ({_count(rows, 'row', 'rows')})")
    return lines


def _explain_temporaries(arrays: Sequence[ArrayType]) -> str:
    size = sum(t.nbytes for t in arrays) / 2**20
    return f"{_count(len(arrays), 'temporary array', 'temporary arrays')} ({size:.1f} MiB in all)"


def _explain_whole(work: WholePass, device: str) -> list[str]:
    source = " and ".join("×".join(map(str, a.type.shape)) for a in work.reads)
    launches, steps = work.launches, []
    if launches is not None and len(launches) != 1:
        steps = [f"    runs as {_count(len(launches), 'step', 'steps')}"]
    if isinstance(work.work, OwnCall):  # which tells of its layers
        own = work.work.body.explain(device).splitlines()
        return [f"{work.labels[0]} of {source}", *(f"    {line}" for line in own), *steps]
    if launches and steps:
        steps[0] += f": {', '.join(launch.label for launch in launches)}"
    return [f"{work.labels[0]} of {source}, whole", *steps]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
