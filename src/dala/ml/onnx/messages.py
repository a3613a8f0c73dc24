"""ONNX's messages: attributes, nodes, graphs. Numbers of fields are those of onnx.proto."""

from __future__ import annotations

from typing import Any

import numpy as np

from dala.ml.onnx.graph import Attribute, Graph, Node, TensorSpec
from dala.ml.onnx.order import check_names, in_order
from dala.ml.onnx.tensors import element_type, read_tensor
from dala.ml.onnx.wire import Message

MOST_NODES = 100_000
MOST_NUMBERS = 1 << 20  # in an attribute
DEEPEST = 4  # graphs within graphs


def read_graph(message: Message, outer: frozenset[str] = frozenset(), depth: int = 0) -> Graph:
    """A graph, checked: every value is known and made once, and the nodes are in order.

    ``outer`` are the values of the graphs around it.
    """
    if depth > DEEPEST:
        raise message.error(f"graphs are nested deeper than {DEEPEST}")
    name = ""
    nodes: list[Message] = []
    constants: dict[str, Any] = {}
    inputs: list[TensorSpec] = []
    outputs: list[TensorSpec] = []
    for field in message.fields():
        number = field.number
        if number == 1:
            nodes.append(message.message(field, f"node {len(nodes)}"))
            if len(nodes) > MOST_NODES:
                raise message.error(f"more than {MOST_NODES} nodes", field.offset)
        elif number == 2:
            name = message.text(field)
        elif number == 5:
            inner = message.message(field, f"constant {len(constants)}")
            key, array = read_tensor(inner)
            if not key or key in constants:
                raise inner.error(f"a constant's name {key!r} is empty or taken")
            constants[key] = array
        elif number == 15:
            raise message.error("sparse constants are not supported", field.offset)
        elif number == 11:
            inputs.append(_value(message.message(field, f"input {len(inputs)}")))
        elif number == 12:
            outputs.append(
                _value(message.message(field, f"output {len(outputs)}"), loose=depth > 0)
            )
    taken = [s for s in inputs if s.name not in constants]  # older files list those as well
    known = outer.union(constants, (s.name for s in taken))
    heads = [read_head(m) for m in nodes]
    inside = known.union(o for h in heads for o in h[3])
    read = [_node(h, inside, depth) for h in heads]
    check_names(message, read, constants, taken, outputs, known)
    return Graph(name, in_order(message, read, known), tuple(taken), tuple(outputs), constants)


Head = tuple[Message, str, tuple[str, ...], tuple[str, ...], str, str, list[Message]]


def read_head(message: Message) -> Head:
    """A node without its attributes: those may hold graphs that read its neighbours' values."""
    texts: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: [], 7: []}
    attributes: list[Message] = []
    for field in message.fields():
        if field.number in texts:
            texts[field.number].append(message.text(field))
        elif field.number == 5:
            attributes.append(message.message(field, f"{message.what}, an attribute"))
    op, name = "".join(texts[4][-1:]), "".join(texts[3][-1:])
    what = f"{message.what} ({op} {name!r})" if op else message.what
    named = Message(message.data, message.offset, what)
    if not op:
        raise named.error("has no operator")
    if not any(texts[2]):
        raise named.error("has no output")
    domain = "".join(texts[7][-1:])
    return named, op, tuple(texts[1]), tuple(texts[2]), name, domain, attributes


def _node(head: Head, inside: frozenset[str], depth: int) -> Node:
    message, op, inputs, outputs, name, domain, raw = head
    attributes: dict[str, Attribute] = {}
    for part in raw:
        inner = Message(part.data, part.offset, f"{message.what}, an attribute")
        key, value = _attribute(inner, inside, depth)
        if key in attributes:
            raise message.error(f"has attribute {key!r} twice")
        attributes[key] = value
    return Node(op, name, inputs, outputs, attributes, "" if domain == "ai.onnx" else domain)


def _attribute(message: Message, inside: frozenset[str], depth: int) -> tuple[str, Attribute]:
    name = ""
    single: list[Attribute] = []
    whole: list[int] = []
    reals: list[float] = []
    texts: list[str] = []
    kind = 0
    for field in message.fields():
        number = field.number
        if number == 1:
            name = message.text(field)
        elif number == 2:
            single.append(message.real(field))
        elif number == 3:
            single.append(message.number(field))
        elif number == 4:
            single.append(message.text(field))
        elif number == 5:
            single.append(read_tensor(message.message(field, f"{message.what}'s tensor"))[1])
        elif number == 6:
            single.append(
                read_graph(message.message(field, f"{message.what}'s graph"), inside, depth + 1)
            )
        elif number == 7:
            reals += message.reals(field)
        elif number == 8:
            whole += message.numbers(field, MOST_NUMBERS)
        elif number == 9:
            texts.append(message.text(field))
        elif number == 20:
            kind = message.number(field)
        elif number in (10, 11, 14, 15, 21, 22, 23):
            raise message.error(f"attributes of field {number} are not supported", field.offset)
    lists: dict[int, Attribute] = {6: tuple(reals), 7: tuple(whole), 8: tuple(texts)}
    if not name:
        raise message.error("has no name")
    if kind in lists:
        return name, lists[kind]
    if len(single) == 1:
        return name, single[0]
    filled = [v for v in lists.values() if isinstance(v, tuple) and v]
    if not single and len(filled) == 1:
        return name, filled[0]
    if not single and not filled and kind in (0, 1, 2, 3):  # proto3 leaves zeros out
        return name, ("" if kind == 3 else 0.0 if kind == 1 else 0)
    raise message.error(f"{name!r} has no value, or several")


def _value(message: Message, *, loose: bool = False) -> TensorSpec:
    """An input or output; within a graph of a graph (``loose``) its type may be left out."""
    name, kind = "", 0
    shape: list[int | None] | None = None
    for field in message.fields():
        if field.number == 1:
            name = message.text(field)
        elif field.number == 2:
            type_ = message.message(field, message.what)
            for inner in type_.fields():
                if inner.number != 1:
                    raise type_.error("is no tensor; sequences and maps are not supported")
                kind, shape = _tensor_type(type_.message(inner, message.what))
    if not name:
        raise message.error("has no name")
    named = Message(message.data, message.offset, f"{message.what} ({name!r})")
    if kind == 0 and loose:
        return TensorSpec(name, (), np.dtype("f4"))
    if shape is None and not loose:
        raise named.error("has no shape")
    return TensorSpec(name, tuple(shape or ()), element_type(kind, named))


def _tensor_type(message: Message) -> tuple[int, list[int | None] | None]:
    kind = 0
    shape: list[int | None] | None = None
    for field in message.fields():
        if field.number == 1:
            kind = message.number(field)
        elif field.number == 2:
            shape = []
            whole = message.message(field, message.what)
            for axis in whole.fields():
                if axis.number == 1:
                    shape.append(_length(whole.message(axis, message.what)))
    if shape is not None and len(shape) > 8:
        raise message.error(f"{len(shape)} axes; 8 are allowed")
    return kind, shape


def _length(message: Message) -> int | None:
    for field in message.fields():
        if field.number == 1:
            length = message.number(field)
            if not -1 <= length < 1 << 31:
                raise message.error(f"an axis of length {length}", field.offset)
            return length if length > 0 else None
    return None
