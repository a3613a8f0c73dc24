"""What a stage is, as far as devices with several arithmetics care."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.ir.graph import Access, Node, Program, accesses, gathered_sources, map_nodes, walk
from dala.ir.ops import split_average


def drop_halves(program: Program) -> Program:
    """The program in full precision: ``half`` is leave to do less, not an order."""

    def drop(node: Node) -> Node:
        return node.args[0] if node.op == "half" else node

    stages = (replace(s, body=map_nodes(s.body, drop)) for s in program.stages)
    return replace(program, stages=tuple(stages))


def on_levels(
    program: Program, inputs: Sequence[ArrayType], chosen: set[int], most_passes: int
) -> set[int]:
    """Those of the chosen stages that read levels, and hand them only to each other or to the output."""
    last = len(program.stages) - 1
    while True:
        passes = _passes(program, chosen)
        kept = {
            i
            for i in chosen
            if reads_levels(program, i, chosen, inputs)
            and passes[i] <= most_passes
            and (i == last or _only_read_by(program, i, chosen))
        }
        if kept == chosen:
            return chosen
        chosen = kept


def is_plain_average(body: tuple[Node, ...]) -> bool:
    """Every channel the same average of its own channel, with weights that are the same everywhere."""
    shapes = set()
    for channel, node in enumerate(body):
        if node.op != "average":
            return False
        values, weights = split_average(node.args)
        taps = [v.attr for v in values if v.op == "load" and isinstance(v.attr, Access)]
        if len(taps) != len(values) or any(t.channel != channel for t in taps):
            return False
        if any(n.op in ("load", "gather", "coord") for n in walk(weights)):
            return False
        shapes.add((tuple((t.source, t.dx, t.dy) for t in taps), tuple(map(id, weights))))
    return len(shapes) == 1


def reads_levels(
    program: Program, number: int, chosen: set[int], inputs: Sequence[ArrayType]
) -> bool:
    body = program.stages[number].body
    for access in accesses(body):
        if access.source >= program.inputs:
            stage = access.source - program.inputs
            if stage not in chosen or len(program.stages[stage].body) != len(body):
                return False
        elif inputs[access.source].dtype != U8 or inputs[access.source].channels != len(body):
            return False
    return True


def _passes(program: Program, chosen: set[int]) -> dict[int, int]:
    """How many of the chosen stages in a row end in each of them."""
    passes: dict[int, int] = {}
    for number in sorted(chosen):  # a stage reads those before it
        sources = {a.source - program.inputs for a in accesses(program.stages[number].body)}
        passes[number] = 1 + max((passes[s] for s in sources if s in chosen), default=0)
    return passes


def _only_read_by(program: Program, number: int, chosen: set[int]) -> bool:
    source = program.inputs + number
    for other, stage in enumerate(program.stages):
        reads = {a.source for a in accesses(stage.body)} | gathered_sources(stage.body)
        if source in reads and other not in chosen:
            return False
    return True
