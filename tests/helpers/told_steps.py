"""How many steps a GPU takes, by an explanation and by a plan."""

from __future__ import annotations

import re

from dala.plan.planner import Plan
from dala.plan.whole import WholePass


def steps_told(text: str) -> int:
    """How many steps an explanation tells of: one for each pass that says nothing else."""
    passes = re.split(r"^(?:part \d+ of )?pass \d+: ", text, flags=re.MULTILINE)[1:]
    said = [re.search(r"runs as (\d+) step", one) for one in passes]
    return sum(int(found[1]) if found else 1 for found in said)


def steps_planned(plan: Plan) -> int:
    """How many steps a plan has: a dispatch for what is fused, and what is listed for whole arrays."""
    whole = [work.launches for work in plan.passes if isinstance(work, WholePass)]
    return len(plan.passes) - len(whole) + sum(len(launches or ()) for launches in whole)
