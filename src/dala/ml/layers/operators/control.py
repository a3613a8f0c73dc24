"""Loops and branches that are decided before anything runs: they are written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dala.errors import ModelError
from dala.ml.layers.builder import Builder, Ref
from dala.ml.layers.operators.attributes import Lower, Refs, given, needed
from dala.ml.layers.operators.shaping import as_plain
from dala.ml.onnx.graph import Graph, Node

MOST_TURNS = 64
LowerNodes = Callable[[Builder, Graph], None]


def control(lower_nodes: LowerNodes) -> dict[str, Lower]:
    """The rows; ``lower_nodes`` lowers the nodes of an inner graph."""

    def inner(b: Builder, graph: Graph, values: list[Ref]) -> list[Ref]:
        b.scopes.append({spec.name: ref for spec, ref in zip(graph.inputs, values, strict=True)})
        try:
            b.enter_constants(graph)
            lower_nodes(b, graph)
            return [needed([b.find(spec.name)], 0) for spec in graph.outputs]
        finally:
            b.scopes.pop()

    def loop(b: Builder, node: Node, refs: Refs) -> list[Ref]:
        body = node.attributes.get("body")
        carried = [needed(refs, k) for k in range(2, len(refs))]
        if not isinstance(body, Graph) or len(body.inputs) != 2 + len(carried):
            raise ModelError("its body does not take what it is given")
        most = given(refs, 0)
        turns = (
            MOST_TURNS + 1 if most is None else int(b.require(most, "how often it turns").item())
        )
        start = given(refs, 1)
        going = start is None or bool(b.require(start, "whether it turns").item())
        rows: list[list[Ref]] = [[] for _ in body.outputs[1 + len(carried) :]]
        turn = 0
        while going and turn < turns:
            if turn == MOST_TURNS:
                raise ModelError(f"it turns more than {MOST_TURNS} times")
            counter, still = b.constant(np.array(turn, np.int64)), b.constant(np.array(True))
            found = inner(b, body, [counter, still, *carried])
            going = bool(b.require(found[0], "whether it turns again").item())
            carried = found[1 : 1 + len(carried)]
            for row, ref in zip(rows, found[1 + len(carried) :], strict=True):
                row.append(ref)
            turn += 1
        return [*carried, *(_stacked(b, row) for row in rows)]

    def branch(b: Builder, node: Node, refs: Refs) -> list[Ref]:
        chosen = bool(b.require(needed(refs, 0), "which branch is taken").item())
        graph = node.attributes.get("then_branch" if chosen else "else_branch")
        if not isinstance(graph, Graph):
            raise ModelError("a branch is missing")
        return inner(b, graph, [])

    return {"Loop": loop, "If": branch}


def _stacked(b: Builder, row: list[Ref]) -> Ref:
    """What every turn gave, one behind the other."""
    if not row:
        raise ModelError("a loop without a turn gives nothing")
    parts = [as_plain(b, ref, (1, *b.shape(ref))) for ref in row]
    if len(parts) == 1:
        return parts[0]
    return Ref(b.emit("concat", [p.value for p in parts], {"axis": 0}), parts[0].order)
