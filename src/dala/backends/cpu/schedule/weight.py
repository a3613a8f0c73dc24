"""How much work a pass is, roughly: is it worth waking other threads?

In vector operations per element, an addition being one. The weights are fitted to measured kernels (an
AVX-512 machine, images that fit its caches); most come out within a third of the time they take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dala.backends.cpu.analysis.separable import find_separable
from dala.backends.cpu.arithmetic.ways import (
    CHOICE,
    DOT,
    EXTREMA,
    FIXED,
    GAIN,
    REPEATED,
    RESAMPLED,
    SAMPLED,
)
from dala.backends.cpu.emit.gathers import is_piece_of_row
from dala.backends.cpu.emit.lanes import UNIFORM, image_rates
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.graph import Node, walk
from dala.plan.fuse import FusedPass

WEIGHTS = {
    "load": 3, "gather": 24, "level": 2, "level16": 3,
    **dict.fromkeys(("div", "sqrt", "mod", "floordiv"), 4),
    **dict.fromkeys(("exp", "log", "sin", "cos", "tanh", "atan2", "pow"), 16),
}  # fmt: skip
STORE = 2  # per channel
# narrower numbers: a vector holds more of them; rows that are those of the row before cost nothing
SHARES = {**dict.fromkeys((FIXED, GAIN, *DOT, CHOICE, EXTREMA), 0.5), SAMPLED: 0.33, REPEATED: 0.25}
TAP, TAP_OF_LINE = 5, 19  # of a resampled row, and of each line that is mixed for it
TRAFFIC = 1.25  # per byte read or written: no pass is faster than memory


def weigh_pass(work: FusedPass, computed: Sequence[RowBody], lanes: int) -> float:
    """Vector operations per element; ``computed`` are the bodies that are more than a look-up."""
    elements = math.prod(work.shape[:2] if work.domain == "image" else work.shape)
    moved = sum(a.type.nbytes for a in (*work.reads, *work.writes)) / elements
    weights = [
        _weigh_resampled(work, b) if b.way == RESAMPLED else _weigh_body(b) for b in computed
    ]
    return max(sum(weights), moved * TRAFFIC) / lanes


def weigh_curve(roots: Sequence[Node]) -> float:
    """Vector operations per element of a function of nothing but the element, computed in f32."""
    nodes = walk(roots)
    return float(sum(WEIGHTS.get(n.op, 1) for n in nodes if n.args) + (STORE + 3) * len(roots))


def _weigh_resampled(work: FusedPass, body: RowBody) -> float:
    """A row of the source is mixed once, if several rows need it."""
    values = body.held or body.stores[0].values
    found = find_separable(tuple(root.args[0] for root in values))
    assert found is not None
    taps = len(found.rows.weights)
    lines = 2.0  # of an image of twice the size
    if found.rows.base:
        lines = min(taps, work.reads[found.source].type.shape[0] / work.shape[0] * (1 << body.grid))
    return taps * (TAP + TAP_OF_LINE * lines) / (1 << 2 * body.grid)


def _weigh_body(body: RowBody) -> float:
    weight = float(STORE * sum(len(s.values) for s in body.stores))
    rates = image_rates(body.roots)
    for node in body.nodes:
        if node.op == "gather" and len(node.args) == 2 and is_piece_of_row(node, rates):
            weight += WEIGHTS["load"]
        elif node.op == "level" and node.args[0].op in ("load", "gather"):
            pass  # a byte that only passes through
        elif rates[id(node)] > UNIFORM:
            weight += WEIGHTS.get(node.op, 1)
    return weight * SHARES.get(body.way, 1.0) / (1 << 2 * body.grid)
