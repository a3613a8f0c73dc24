"""A node: a frozen description. A change makes another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from dala.errors import ParameterError, suggest
from dala.scene.nodes.property import NodeType
from dala.scene.nodes.tables import TYPES


@dataclass(frozen=True)
class Node:
    """A node of a scene, as it was when it was asked for. Its properties are its attributes.

    >>> from dala import scene
    >>> stage = scene.Scene(640, 360)
    >>> stage.node(stage.add_text("Hello", position=(20, 10))).position
    (20.0, 10.0)
    """

    id: int
    type: str
    props: MappingProxyType[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["props"][name]
        except KeyError:
            raise AttributeError(
                f"a node of type {self.__dict__.get('type')!r} has no {name!r}"
            ) from None

    @property
    def table(self) -> NodeType:
        """Its row in the table of types."""
        return TYPES[self.type]

    def changed(self, changes: Mapping[str, Any]) -> Node:
        """The same node with other values, which are canonical already."""
        return replace(self, props=MappingProxyType({**self.props, **changes}))

    def __repr__(self) -> str:
        defaults = self.table.defaults
        own = ", ".join(f"{k}={v!r}" for k, v in self.props.items() if v != defaults[k])
        return f"<node {self.id}: {self.type} {own}>"


def type_of(name: object, who: str) -> NodeType:
    """A type of nodes by its name."""
    if isinstance(name, str) and name in TYPES:
        return TYPES[name]
    raise ParameterError(
        f"{who}: there is no type of node {name!r}{suggest(str(name), TYPES)}; "
        f"there are {', '.join(TYPES)}"
    )


def make_node(number: int, kind: NodeType, given: Mapping[str, Any], who: str) -> Node:
    """A node from what a caller gave; the rest is as the table says."""
    return node_of(number, kind, kind.read(given, who), who)


def node_of(number: int, kind: NodeType, read: Mapping[str, Any], who: str) -> Node:
    """A node from values that are canonical already."""
    for name, found in kind.properties.items():
        if found.required and name not in read:
            raise ParameterError(f"{who}: {name} is missing: {found.help}")
    return Node(number, kind.name, MappingProxyType({**kind.defaults, **read}))
