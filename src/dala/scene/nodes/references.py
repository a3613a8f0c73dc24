"""Kinds of values that point at something else: another node, or a value of another property."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dala.errors import ArgumentError, ParameterError
from dala.scene.animation.easing import Easing, read_easing
from dala.scene.nodes.kinds import TIME, Kind
from dala.scene.sources import Pause, TimeMap
from dala.scene.times import exact, planned, seconds_of, written

MOST_KEYS = 100_000
MOST_PAUSES = 1000


def _read_node(value: Any, who: str) -> int | str:
    """A node's number or name; whether there is one the scene knows."""
    number = getattr(value, "id", value)
    if isinstance(number, bool) or not isinstance(number, int | str):
        raise ArgumentError(f"{who}: expected a node's number or name, got {value!r}")
    return number


NODE = Kind("a node's number or name", _read_node, {"type": "string", "minLength": 1})
VALUE = Kind("a value of the property", lambda value, who: _frozen(value), {})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _read_keys(value: Any, who: str) -> tuple[tuple[Fraction, Any, Easing | None], ...]:
    """``{time: value}``; a value may be followed by how the way to the next one is taken."""
    if isinstance(value, tuple) and all(isinstance(key, tuple) and len(key) == 3 for key in value):
        return _checked(value, who)
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{who}: expected {{time: value}}, got {value!r}")
    keys = [(planned(time, who), _frozen(v), None) for time, v in value.items()]
    return _checked(keys, who)


def _load_keys(value: Any, who: str) -> tuple[tuple[Fraction, Any, Easing | None], ...]:
    """``[[time, value], [time, value, easing]]``: JSON's keys are text."""
    if not isinstance(value, list):
        raise ArgumentError(f"{who}: expected [[time, value], …], got {value!r}")
    keys = []
    for n, key in enumerate(value):
        if not isinstance(key, list) or len(key) not in (2, 3):
            raise ArgumentError(f"{who}[{n}]: expected [time, value] or [time, value, easing]")
        easing = read_easing(key[2]) if len(key) == 3 else None
        keys.append((seconds_of(key[0], f"{who}[{n}]"), _frozen(key[1]), easing))
    return _checked(keys, who)


def _checked(keys: Any, who: str) -> tuple[tuple[Fraction, Any, Easing | None], ...]:
    if not 1 <= len(keys) <= MOST_KEYS:
        raise ParameterError(f"{who}: expected 1 to {MOST_KEYS} keys, got {len(keys)}")
    found = tuple(sorted(keys, key=lambda key: key[0]))
    if any(a[0] == b[0] for a, b in itertools.pairwise(found)):
        raise ParameterError(f"{who}: two keys have the same time")
    return found


def _write_keys(keys: tuple[tuple[Fraction, Any, Easing | None], ...]) -> list[Any]:
    return [[written(t), v, *([e.name] if e else [])] for t, v, e in keys]


KEYFRAMES = Kind(
    "values at times",
    _read_keys,
    {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_KEYS,
        "items": {"type": "array", "minItems": 2, "maxItems": 3},
    },
    write=_write_keys,
    of_file=_load_keys,
)


def _pauses(value: Any, who: str, read: Callable[[Any, str], Fraction]) -> tuple[Pause, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_PAUSES:
        raise ArgumentError(f"{who}: expected at most {MOST_PAUSES} pauses [[at, length], …]")
    found = []
    for n, row in enumerate(value):
        if not isinstance(row, list | tuple) or len(row) != 2:
            raise ArgumentError(f"{who}[{n}]: expected a pause [at, length], got {row!r}")
        begin = read(row[0], f"{who}[{n}]")
        found.append(Pause(begin, None if row[1] is None else read(row[1], f"{who}[{n}]")))
    return TimeMap(pauses=tuple(found)).pauses  # an error if they overlap


PAUSES = Kind(
    "pauses [[at, length], …]",
    lambda value, who: _pauses(value, who, exact),
    {
        "type": "array",
        "maxItems": MOST_PAUSES,
        "items": {
            "type": "array",
            "prefixItems": [TIME.schema, {"anyOf": [TIME.schema, {"type": "null"}]}],
            "minItems": 2,
            "maxItems": 2,
        },
    },
    write=lambda pauses: [
        [written(at), None if length is None else written(length)] for at, length in pauses
    ],
    of_file=lambda value, who: _pauses(value, who, seconds_of),
)
