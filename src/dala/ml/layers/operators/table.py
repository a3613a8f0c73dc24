"""All operators, and the walk over a graph's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from dala.errors import ModelError, UnknownOperatorError
from dala.ml.layers.builder import Builder, Ref
from dala.ml.layers.operators.arithmetic import ARITHMETIC
from dala.ml.layers.operators.attributes import Lower
from dala.ml.layers.operators.control import control
from dala.ml.layers.operators.pictures import PICTURES
from dala.ml.layers.operators.shaping import SHAPING
from dala.ml.layers.operators.whole import WHOLE
from dala.ml.onnx.graph import Graph


def lower_nodes(b: Builder, graph: Graph) -> None:
    """All nodes of a graph, in order; an error names the node."""
    for node in graph.nodes:
        try:
            b.begin(node)
            made = OPERATORS[node.op](b, node, b.inputs(node))
        except ModelError as error:
            if str(error).startswith("at "):
                raise
            raise ModelError(f"at {node}: {error}") from None
        results = [made] if isinstance(made, Ref) else made
        for name, ref in zip(node.outputs, results, strict=False):
            if name:
                b.name(name, ref)


OPERATORS: dict[str, Lower] = {
    **ARITHMETIC, **PICTURES, **SHAPING, **WHOLE, **control(lower_nodes),
}  # fmt: skip


def check_operators(graph: Graph, name: str) -> None:
    """Refuse a graph with operators that are not in the table; all of them are named."""
    unknown: dict[str, int] = {}
    for op in _operators(graph):
        if op not in OPERATORS:
            unknown[op] = unknown.get(op, 0) + 1
    if unknown:
        listed = ", ".join(f"{op} ({n}×)" if n > 1 else op for op, n in sorted(unknown.items()))
        raise UnknownOperatorError(
            f"{name}: operators that are not known: {listed}; device='cpu' runs what ONNX Runtime knows",
            operators=tuple(sorted(unknown)),
        )


def _operators(graph: Graph) -> Iterator[str]:
    for node in graph.nodes:
        yield f"{node.domain}.{node.op}" if node.domain else node.op
        for value in node.attributes.values():
            if isinstance(value, Graph):
                yield from _operators(value)
