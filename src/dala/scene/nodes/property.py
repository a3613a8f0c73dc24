"""A property of a node, and a type of nodes: rows of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dala.errors import ParameterError, suggest
from dala.scene.nodes.kinds import Kind


@dataclass(frozen=True)
class Property:
    """What a node has by a name."""

    kind: Kind
    default: Any
    help: str
    required: bool = False
    structural: bool = False  # where a node belongs, when it is there: not a thing to animate
    in_files: bool = True


@dataclass(frozen=True)
class NodeType:
    """A type of nodes."""

    name: str
    help: str
    properties: Mapping[str, Property] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "defaults", {name: found.default for name, found in self.properties.items()}
        )

    defaults: Mapping[str, Any] = field(init=False, repr=False, compare=False)

    def property(self, name: object, who: str) -> Property:
        """A property by name; ParameterError names the nearest."""
        if isinstance(name, str) and name in self.properties:
            return self.properties[name]
        hint = suggest(str(name), self.properties) or f"; it has {', '.join(self.properties)}"
        raise ParameterError(f"{who}: a node of type {self.name!r} has no property {name!r}{hint}")

    def read(self, given: Mapping[str, Any], who: str) -> dict[str, Any]:
        """What a caller gave, checked; nothing is added."""
        return {
            name: self.property(name, who).kind.read(value, f"{who}: {name}")
            for name, value in given.items()
        }
