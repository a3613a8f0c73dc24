"""How much work a pass is, roughly: is it worth waking other threads?

In vector operations per element, an addition being one. The weights are fitted to measured kernels (an
AVX-512 machine, images that fit its caches); most come out within a third of the time they take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dala.backends.cpu.rows import RowBody
from dala.backends.cpu.ways import DOT, EXTREMA, FIXED
from dala.plan.melt import FusedPass

UNIFORM = frozenset(
    {"const", "param", "extent"}
)  # the same for all elements, as what is made of them
WEIGHTS = {
    "load": 3, "gather": 24, "level": 2,
    **dict.fromkeys(("div", "sqrt", "mod", "floordiv"), 4),
    **dict.fromkeys(("exp", "log", "sin", "cos", "tanh", "atan2", "pow"), 16),
}  # fmt: skip
STORE = 2  # per channel
SHARES = {FIXED: 0.5, DOT: 0.5, EXTREMA: 0.5}  # narrower numbers: a vector holds more of them
TRAFFIC = 1.25  # per byte read or written: no pass is faster than memory


def weigh_pass(work: FusedPass, computed: Sequence[RowBody], lanes: int) -> float:
    """Vector operations per element; ``computed`` are the bodies that are more than a look-up."""
    elements = math.prod(work.shape[:2] if work.domain == "image" else work.shape)
    moved = sum(a.type.nbytes for a in (*work.reads, *work.writes)) / elements
    return max(sum(map(_weigh_body, computed)), moved * TRAFFIC) / lanes


def _weigh_body(body: RowBody) -> float:
    uniform: set[int] = set()
    weight = float(STORE * sum(len(s.values) for s in body.stores))
    for node in body.nodes:
        if node.op in UNIFORM or (node.args and all(id(a) in uniform for a in node.args)):
            uniform.add(id(node))
        else:
            weight += WEIGHTS.get(node.op, 1)
    return weight * SHARES.get(body.way, 1.0) / (1 << 2 * body.grid)
