"""What a document may be, as JSON schema: made from the tables of nodes, as the reader is."""

from __future__ import annotations

from typing import Any

from dala.scene.files.parameters import KEYS, MOST
from dala.scene.files.parameters import TYPES as PARAMETER_TYPES
from dala.scene.files.reading import MOST_NODES
from dala.scene.files.text import FORMAT, SPELLED, VERSION
from dala.scene.nodes.kinds import DEFINITIONS, TIME
from dala.scene.nodes.property import NodeType
from dala.scene.nodes.tables import CONTAINERS, TYPES

_BACK = {name: word for word, name in SPELLED.items()}


def schema() -> dict[str, Any]:
    """The schema of scene files, as JSON schema 2020-12.

    >>> from dala import scene
    >>> scene.schema()["properties"]["format"]
    {'const': 'dala.scene'}
    """
    definitions: dict[str, Any] = {
        **{name: _or_param(part) for name, part in DEFINITIONS.items()},
        "param": {
            "type": "object",
            "properties": {"$param": {"type": "string"}},
            "required": ["$param"],
            "additionalProperties": False,
        },
        "parameter": {
            "type": "object",
            "properties": {key: {} for key in KEYS} | {"type": {"enum": list(PARAMETER_TYPES)}},
            "required": ["type"],
            "additionalProperties": False,
        },
        "node": {"oneOf": [{"$ref": f"#/$defs/node.{name}"} for name in TYPES]},
        "nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": MOST_NODES},
        **{f"node.{name}": _node(kind) for name, kind in TYPES.items()},
        "animation": _node(TYPES["animation"], within="target"),
        "effect": _node(TYPES["effect"], within="input"),
    }
    size = {"type": "integer", "minimum": 1, "maximum": 16_384}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scene of dala",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "about": {"type": "string"},
            "width": _or_param(size),
            "height": _or_param(size),
            "fps": _or_param(dict(TIME.schema)),
            "background": {"$ref": "#/$defs/color"},
            "parameters": {
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/parameter"},
                "maxProperties": MOST,
            },
            "nodes": {"$ref": "#/$defs/nodes"},
        },
        "required": ["format", "version", "width", "height"],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _or_param(part: dict[str, Any]) -> dict[str, Any]:
    """A value, or a parameter in its place; so are the values within it."""
    return {"anyOf": [_open(part), {"$ref": "#/$defs/param"}]}


def _open(part: dict[str, Any]) -> dict[str, Any]:
    made = dict(part)
    if "items" in made:
        made["items"] = _or_param(made["items"])
    if "properties" in made:
        made["properties"] = {key: _or_param(one) for key, one in made["properties"].items()}
    for key in ("anyOf", "prefixItems"):
        if key in made:
            made[key] = [_open(one) for one in made[key]]
    return made


def _node(kind: NodeType, within: str | None = None) -> dict[str, Any]:
    """A node of a type; ``within`` another one it needs neither a type nor whom it belongs to."""
    properties: dict[str, Any] = {} if within else {"type": {"const": kind.name}}
    required = [] if within else ["type"]
    for name, row in kind.properties.items():
        if not row.in_files or name == within:
            continue
        key = _BACK.get(name, name)
        properties[key] = {**_or_param(dict(row.kind.schema)), "description": row.help}
        if row.required:
            required.append(key)
    if kind.name in CONTAINERS:
        properties["nodes"] = {"$ref": "#/$defs/nodes"}
    if kind.name != "animation":
        properties["animations"] = {"type": "array", "items": {"$ref": "#/$defs/animation"}}
    if "position" in kind.properties:
        properties["effects"] = {"type": "array", "items": {"$ref": "#/$defs/effect"}}
    return {
        "type": "object",
        "description": kind.help,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
