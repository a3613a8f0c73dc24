"""What an animation changes: a property, one of its numbers (``position.x``), a filter's parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dala.errors import ParameterError
from dala.language.parameter import Param
from dala.scene.nodes import kinds
from dala.scene.nodes.kinds import Kind
from dala.scene.nodes.media import Params, parameter_of
from dala.scene.nodes.node import Node

_PARTS = {"x": 0, "y": 1, "width": 0, "height": 1}


@dataclass(frozen=True, eq=False)
class Target:
    """A place in a node's properties, and of which kind its values are."""

    path: str  # "position", "position.x", "params.radius"
    name: str  # the property
    part: int | str | None
    kind: Kind
    default: Any = None
    static: bool = False  # a filter's compile-time parameter

    def get(self, props: Mapping[str, Any]) -> Any:
        """Its value without any track."""
        value = props[self.name]
        if self.part is None:
            return value
        if isinstance(self.part, int):
            return value[self.part]
        return value.get(self.part, self.default)

    def put(self, values: Mapping[str, Any], value: Any) -> Any:
        """The whole property with this value in it."""
        if self.part is None:
            return value
        whole = values[self.name]
        if isinstance(self.part, int):
            return tuple(value if n == self.part else old for n, old in enumerate(whole))
        return Params({**whole, self.part: value})


def target_of(node: Node, path: str, who: str = "animate") -> Target:
    """What a path means for a node; ParameterError says what there is."""
    table = node.table.properties
    if path in table:
        found = table[path]
        if found.structural or path == "params":
            raise ParameterError(
                f"{who}: {path} says where or when a node is; change it with update_node"
                if found.structural
                else f"{who}: name the parameter: 'params.radius'"
            )
        return Target(path, path, None, found.kind)
    name, _, part = path.partition(".")
    if part in _PARTS and name in table and table[name].kind.way == "numbers":
        whole, value = table[name].kind, node.props[name]
        if value is not None and len(value) == 2:
            return Target(path, name, _PARTS[part], kinds.number(whole.low, whole.high))
    if node.type == "effect":
        wanted = part if name == "params" and part else path
        declared = parameter_of(node.filter, wanted)
        if declared is not None:
            kind = _kind_of(declared)
            return Target(
                f"params.{wanted}", "params", wanted, kind, declared.default, declared.static
            )
    node.table.property(path, who)
    raise AssertionError("a known property is found above")


def _kind_of(param: Param) -> Kind:
    """A kernel's parameter as a kind: numbers move, all else switches."""
    low = -1e30 if param.min is None else float(param.min)
    high = 1e30 if param.max is None else float(param.max)
    if param.length and param.type in ("float", "int"):
        return kinds.numbers(param.length, param.name, low, high)
    if param.type == "int":
        return kinds.whole(int(low), int(high))
    if param.type == "float":
        return kinds.number(low, high)
    return Kind(f"a value of {param.name}", lambda value, who: value, {})
