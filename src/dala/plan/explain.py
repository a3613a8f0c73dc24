"""A Plan in words, with the reason for every cut."""

from __future__ import annotations

from dala.ir.graph import accesses
from dala.ir.library import OwnCall
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan, WholePass


def explain_plan(plan: Plan, device: str) -> str:
    """What runs, in which order, and why it was not fused further."""
    passes = _count(len(plan.passes), "pass", "passes")
    lines = [f"{_count(plan.stages, 'stage', 'stages')} → {passes} on {device}"]
    for number, work in enumerate(plan.passes):
        reason = plan.reasons[number]
        if number:
            lines.append(f"  cut: {reason}")
        lines += (
            _explain_fused(number, work)
            if isinstance(work, FusedPass)
            else _explain_whole(number, work, device)
        )
    if plan.dropped:
        lines.append(f"  dropped, because nobody reads the result: {', '.join(plan.dropped)}")
    return "\n".join(lines)


def _explain_fused(number: int, work: FusedPass) -> list[str]:
    size = "×".join(str(n) for n in work.shape)
    moved = sum(a.type.nbytes for a in (*work.reads, *work.writes)) / 2**20
    lines = [
        f"pass {number + 1}: {' → '.join(work.labels)}",
        f"    {work.domain} of {size}; reads {len(work.reads)}, writes {len(work.writes)} arrays "
        f"({moved:.1f} MiB in all)",
    ]
    if work.inlined:
        lines.append(f"    inlined into what follows: {', '.join(work.inlined)}")
    for index, body in enumerate(work.bodies):
        if body.held:
            source = len(work.reads) + index
            offsets = [a.dy for b in work.bodies for a in accesses(b.roots) if a.source == source]
            rows = max(offsets, default=0) - min(offsets, default=0) + 1
            how = "written, and held as rows" if body.stores else "held as rows, never an image"
            lines.append(f"    {how}: {body.label} ({_count(rows, 'row', 'rows')})")
    return lines


def _explain_whole(number: int, work: WholePass, device: str) -> list[str]:
    source = " and ".join("×".join(map(str, a.type.shape)) for a in work.reads)
    if isinstance(work.work, OwnCall):
        lines = work.work.body.explain(device).splitlines()
        return [
            f"pass {number + 1}: {work.labels[0]} of {source}",
            *(f"    {line}" for line in lines),
        ]
    return [f"pass {number + 1}: {work.labels[0]} of {source}, whole"]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
