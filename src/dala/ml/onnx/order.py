"""Names and order: each value is made once, by a node that comes before those who read it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from dala.ml.onnx.graph import Graph, Node, TensorSpec
from dala.ml.onnx.wire import Message


def check_names(
    message: Message,
    nodes: Sequence[Node],
    constants: Mapping[str, object],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    known: frozenset[str],
) -> None:
    """Refuse values that nobody makes, or two."""
    made = set(constants) | {s.name for s in inputs}
    if len(made) != len(constants) + len(inputs):
        raise message.error("two inputs have the same name")
    for node in nodes:
        for name in node.outputs:
            if name and name in made:
                raise message.error(f"{node}: {name!r} is made twice")
            made.add(name)
    everything = made | known
    for node in nodes:
        for name in node.inputs:
            if name and name not in everything:
                raise message.error(f"{node} reads {name!r}, which nothing makes")
    for spec in outputs:
        if spec.name not in everything:
            raise message.error(f"output {spec.name!r} is made by nothing")
    if not outputs:
        raise message.error("has no outputs")


def reads(node: Node) -> Iterable[str]:
    """The values a node needs, those that its inner graphs take from outside included."""
    yield from (name for name in node.inputs if name)
    for value in node.attributes.values():
        if isinstance(value, Graph):
            inner = {s.name for s in value.inputs} | {o for n in value.nodes for o in n.outputs}
            inner |= set(value.constants)
            for node_inside in value.nodes:
                yield from (name for name in reads(node_inside) if name not in inner)
            yield from (s.name for s in value.outputs if s.name not in inner)


def in_order(message: Message, nodes: Sequence[Node], known: frozenset[str]) -> tuple[Node, ...]:
    """Each node after those whose values it reads; a cycle is refused and named."""
    maker = {name: node for node in nodes for name in node.outputs if name}
    waits: dict[Node, int] = {}
    readers: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        needed = {maker[name] for name in reads(node) if name in maker and name not in known}
        waits[node] = len(needed)
        for other in needed:
            readers[other].append(node)
    ready = deque(node for node in nodes if not waits[node])
    found: list[Node] = []
    while ready:
        node = ready.popleft()
        found.append(node)
        for reader in readers[node]:
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    if len(found) < len(nodes):
        stuck = next(node for node in nodes if waits[node])
        raise message.error(f"{stuck} waits for its own result: the graph has a cycle")
    return tuple(found)
