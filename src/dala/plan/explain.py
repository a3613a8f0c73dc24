"""A Plan in words, with the reason for every cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dala.ir.arrays import ArrayType
from dala.ir.graph import accesses
from dala.ir.library import OwnCall
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan, WholePass


class Launched(NamedTuple):
    """How a device runs one pass of a plan: in so many dispatches, through these temporary arrays."""

    dispatches: int
    temporaries: tuple[ArrayType, ...]


def explain_plan(plan: Plan, device: str, launched: Sequence[Launched] | None = None) -> str:
    """What runs, in which order, and why it was not fused further.

    ``launched`` has an entry for each pass where the device runs them in its own way; None: as they stand.
    """
    passes = _count(len(plan.passes), "pass", "passes")
    lines = [f"{_count(plan.stages, 'stage', 'stages')} → {passes} on {device}"]
    for number, work in enumerate(plan.passes):
        reason = plan.reasons[number]
        if number:
            lines.append(f"  cut: {reason}")
        how = None if launched is None else launched[number]
        lines += (
            _explain_fused(number, work, how)
            if isinstance(work, FusedPass)
            else _explain_whole(number, work, how, device)
        )
    if plan.dropped:
        lines.append(f"  dropped, because nobody reads the result: {', '.join(plan.dropped)}")
    return "\n".join(lines)


def _explain_fused(number: int, work: FusedPass, how: Launched | None) -> list[str]:
    size = "×".join(str(n) for n in work.shape)
    moved = sum(a.type.nbytes for a in (*work.reads, *work.writes)) / 2**20
    lines = [
        f"pass {number + 1}: {' → '.join(work.labels)}",
        f"    {work.domain} of {size}; reads {len(work.reads)}, writes {len(work.writes)} arrays "
        f"({moved:.1f} MiB in all)",
    ]
    if work.inlined:
        lines.append(f"    inlined into what follows: {', '.join(work.inlined)}")
    if how is not None:
        return [*lines, *_explain_launched(work, how)]
    for index, body in enumerate(work.bodies):
        if body.held:
            source = len(work.reads) + index
            offsets = [a.dy for b in work.bodies for a in accesses(b.roots) if a.source == source]
            rows = max(offsets, default=0) - min(offsets, default=0) + 1
            where = "written, and held as rows" if body.stores else "held as rows, never an image"
            lines.append(f"    {where}: {body.label} ({_count(rows, 'row', 'rows')})")
    return lines


def _explain_launched(work: FusedPass, how: Launched) -> list[str]:
    """On a GPU a stage is kept in tiles of workgroup memory, or as an image between two dispatches."""
    kept = [b.label for b in work.bodies if b.held]
    if how.dispatches == 1 and not how.temporaries:
        return [f"    kept in tiles, never an image: {', '.join(kept)}"] if kept else []
    return _explain_cut(how, "image")


def _explain_cut(how: Launched, what: str) -> list[str]:
    dispatches = _count(how.dispatches, "dispatch", "dispatches")
    if not how.temporaries:
        return [f"    runs as {dispatches}"]
    between = _count(len(how.temporaries), f"temporary {what}", f"temporary {what}s")
    size = sum(t.nbytes for t in how.temporaries) / 2**20
    return [f"    runs as {dispatches} through {between} ({size:.1f} MiB in all)"]


def _explain_whole(number: int, work: WholePass, how: Launched | None, device: str) -> list[str]:
    source = " and ".join("×".join(map(str, a.type.shape)) for a in work.reads)
    if isinstance(work.work, OwnCall):
        lines = work.work.body.explain(device).splitlines()
        return [
            f"pass {number + 1}: {work.labels[0]} of {source}",
            *(f"    {line}" for line in lines),
        ]
    line = f"pass {number + 1}: {work.labels[0]} of {source}, whole"
    return [line] if how is None or how.dispatches == 1 else [line, *_explain_cut(how, "array")]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
