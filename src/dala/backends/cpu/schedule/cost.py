"""How much work a pass is, roughly: is it worth waking other threads?

In vector operations per element, an addition being one. The costs are fitted to measured kernels (an
AVX-512 machine, images that fit its caches); most come out within a third of the time they take.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dala.backends.cpu.emit.gathers import is_piece_of_row
from dala.backends.cpu.emit.lanes import UNIFORM, image_rates
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.graph import Node, in_order, walk
from dala.plan.fuse import FusedPass

COSTS = {
    "load": 3, "gather": 24, "level": 2, "level16": 3,
    **dict.fromkeys(("div", "sqrt", "mod", "floordiv"), 4),
    **dict.fromkeys(("exp", "log", "sin", "cos", "tanh", "atan2", "pow"), 16),
}  # fmt: skip
STORE = 2  # per channel
TRAFFIC = 1.25  # per byte read or written: no pass is faster than memory


@dataclass(frozen=True, slots=True)
class Match:
    """What an arithmetic has found a channel to be: the attribute of the node that stands for it."""

    operations: float  # that the channel would take in f32, besides its loads


def cost_of_pass(work: FusedPass, bodies: Iterable[float], lanes: int) -> float:
    """Vector operations per element, from those of its bodies."""
    elements = math.prod(work.shape[:2] if work.domain == "image" else work.shape)
    moved = sum(a.type.nbytes for a in (*work.reads, *work.writes)) / elements
    return max(sum(bodies), moved * TRAFFIC) / lanes


def cost_of_body(body: RowBody) -> float:
    """A body's operations per element of the pass, as if they were f32."""
    cost = float(STORE * sum(len(s.values) for s in body.stores))
    found = [n for n in body.nodes if isinstance(n.attr, Match)]
    below = {id(a) for n in found for a in n.args if a.op != "load"}
    nodes = walk(body.roots, below) if below else body.nodes
    cost += _cost_of_nodes(nodes, image_rates(body.roots))
    return cost / (1 << 2 * body.mip)


def cost_of_channels(values: Sequence[Node]) -> list[float]:
    """The operations of each channel, without loads; what several channels share counts for the first of
    them."""
    rates, seen, costs = image_rates(tuple(values)), set[int](), []
    for value in values:
        own = [n for n in in_order((value,)) if id(n) not in seen and n.op != "load"]
        costs.append(_cost_of_nodes(own, rates))
        seen.update(map(id, own))
    return costs


def cost_of_curve(roots: Sequence[Node]) -> float:
    """Vector operations per element of a function of nothing but the element, computed in f32."""
    nodes = walk(roots)
    return float(sum(COSTS.get(n.op, 1) for n in nodes if n.args) + (STORE + 3) * len(roots))


def _cost_of_nodes(nodes: Iterable[Node], rates: Mapping[int, int]) -> float:
    cost = 0.0
    for node in nodes:
        if isinstance(node.attr, Match):
            cost += node.attr.operations
        elif node.op == "gather" and len(node.args) == 2 and is_piece_of_row(node, rates):
            cost += COSTS["load"]
        elif node.op == "level" and node.args[0].op in ("load", "gather"):
            pass  # a byte that only passes through
        elif rates[id(node)] > UNIFORM:
            cost += COSTS.get(node.op, 1)
    return cost
