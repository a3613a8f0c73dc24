"""Templates: a document says which parameters it has, and ``{"$param": "title"}`` stands where one is used.

"parameters": {"title": {"type": "text", "default": "Hello", "help": "What the card says."}}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dala.errors import ColorError, ParameterError, suggest
from dala.scene.files.places import Problems, place
from dala.scene.nodes.kinds import read_color

TYPES = ("text", "number", "flag", "color", "file", "choice")
KEYS = ("type", "default", "help", "choices", "min", "max")
MOST = 1000
RESERVED = ("path", "sources")  # of load and check themselves


def declared(document: Mapping[str, Any], problems: Problems) -> dict[str, dict[str, Any]]:
    """The parameters that a document declares."""
    given = document.get("parameters", {})
    if not isinstance(given, dict) or len(given) > MOST:
        problems.add(f"expected an object of at most {MOST} parameters", "/parameters")
        return {}
    found = {}
    for name, one in given.items():
        where = place("/parameters", name)
        if name in RESERVED:
            problems.add(f"a parameter cannot be called {name!r}; choose another name", where)
            continue
        if not isinstance(one, dict) or one.get("type") not in TYPES:
            problems.add(f"expected {{'type': one of {', '.join(TYPES)}, …}}, got {one!r}", where)
            continue
        for key in one:
            if key not in KEYS:
                problems.add(f"a parameter has no {key!r}{suggest(key, KEYS)}", place(where, key))
        if "default" in one:
            with problems.at(place(where, "default")):
                checked(name, one, one["default"])
        found[name] = one
    return found


def chosen(
    parameters: Mapping[str, dict[str, Any]], given: Mapping[str, Any], problems: Problems
) -> dict[str, Any]:
    """A value for each parameter: the one that is given, else its default."""
    for name in given:
        if name not in parameters:
            known = f"; there are {', '.join(parameters)}" if parameters else "; it has none"
            raise ParameterError(
                f"the scene has no parameter {name!r}{suggest(name, parameters)}{known}"
            )
    found = {}
    for name, one in parameters.items():
        if name in given:
            found[name] = checked(name, one, given[name])
        elif "default" in one:
            found[name] = one["default"]
        else:
            problems.add("has no default, and no value was given", place("/parameters", name))
    return found


def checked(name: str, one: Mapping[str, Any], value: Any) -> Any:
    """A value for a parameter; text, as it comes from a command line, is read as what is wanted."""
    kind = one["type"]
    if kind == "number":
        return _number(name, one, value)
    if kind == "flag":
        words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
        found = words.get(value.lower(), value) if isinstance(value, str) else value
        if isinstance(found, bool):
            return found
        raise ParameterError(f"{name}: expected true or false, got {value!r}")
    if not isinstance(value, str):
        raise ParameterError(f"{name}: expected text, got {value!r}")
    if kind == "color":
        try:
            read_color(value, name)
        except ColorError as error:
            raise ParameterError(f"{name}: {error}") from None
    if kind == "choice" and value not in one.get("choices", ()):
        choices = [str(choice) for choice in one.get("choices", ())]
        raise ParameterError(
            f"{name}: expected one of {', '.join(choices)}; got {value!r}{suggest(value, choices)}"
        )
    return value


def _number(name: str, one: Mapping[str, Any], value: Any) -> float:
    try:
        found = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    low, high = one.get("min", -math.inf), one.get("max", math.inf)
    if isinstance(value, bool) or not math.isfinite(found) or not low <= found <= high:
        raise ParameterError(f"{name}: expected a number from {low:g} to {high:g}, got {value!r}")
    return int(found) if found == int(found) else found


def filled(
    value: Any, values: Mapping[str, Any], where: str, problems: Problems, used: dict[str, str]
) -> Any:
    """A part of a document with values where parameters stand; ``used`` learns which one stands where."""
    if isinstance(value, dict):
        if "$param" in value:
            name = value["$param"]
            if len(value) > 1 or not isinstance(name, str):
                problems.add('expected {"$param": "a name"} and nothing beside it', where)
                return None
            if name not in values:
                problems.add(f"no parameter is named {name!r}{suggest(name, values)}", where)
                return None
            used[where] = name
            return values[name]
        return {k: filled(v, values, place(where, k), problems, used) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(v, values, place(where, n), problems, used) for n, v in enumerate(value)]
    return value
