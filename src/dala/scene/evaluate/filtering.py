"""Effects as filters: those on a node at a time, and those that will soon stand in their place.

A filter with another compile-time value (a blur's radius) is other code. The tracks of a description say
which values come: so they are named before they are seen, each once, and a painter compiles them meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dala.media.chain import Chain, Filter
from dala.scene.description import Description
from dala.scene.nodes.media import Params, filter_of
from dala.scene.nodes.node import Node

HORIZON = Fraction(1)  # seconds
MOST_AHEAD = 12  # changes; a pipeline keeps 32 chains
STEPS_AT_ONCE = 16  # frames that are looked at for one: what is left comes with the next one


def filter_at(description: Description, effect: Node, time: Fraction, *, mixed: bool) -> Filter:
    """An effect as a filter; ``mixed``: its opacity is part of it."""
    values = description.values(effect, time)
    found = filter_of(values["filter"])
    filter_: Filter = (found, values["params"]) if values["params"] else found
    if mixed and values["opacity"] < 1:
        return Chain.of([filter_]).at(values["opacity"])
    return filter_


def filters_at(
    description: Description, effects: Sequence[Node], time: Fraction
) -> tuple[tuple[Filter, ...], Params]:
    """Those of the effects that are there and do something, and the first one's parameters."""
    found: list[Filter] = []
    first = Params()
    for effect in effects:
        start, end = effect.props["start"], effect.props["end"]
        if (start is not None and time < start) or (end is not None and time >= end):
            continue
        values = description.values(effect, time)
        if values["visible"] and values["opacity"] > 0:
            first = first if found else values["params"]
            found.append(filter_at(description, effect, time, mixed=True))
    return tuple(found), first


@dataclass
class _Seen:
    """How far the values of some effects are known."""

    version: int
    time: Fraction
    until: Fraction
    last: tuple[Any, ...]
    changes: deque[Fraction] = field(default_factory=deque)  # after ``time``


class Lookahead:
    """When the compile-time values of a scene's effects change, as far as nobody was told yet."""

    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        self._closed = False

    def is_over(self) -> bool:
        """Whether the scene is closed."""
        return self._closed

    def close(self) -> None:
        """Nothing is ahead any more."""
        self._closed = True
        self._seen.clear()

    def changes(
        self, description: Description, key: int, effects: Sequence[Node], time: Fraction,
        step: Fraction,
    ) -> list[Fraction]:  # fmt: skip
        """The times of the coming frames that need other code than the one before, each told once.

        ``key`` is what the effects are on: how far they are known is kept for that.
        """

        def static(at: Fraction) -> tuple[Any, ...]:
            return tuple(description.static_values(effect, at) for effect in effects)

        now = static(time)
        if not any(now):
            return []
        seen = self._seen.get(key)
        if (
            seen is None
            or seen.version != description.version
            or not seen.time <= time <= seen.until
        ):
            seen = self._seen[key] = _Seen(description.version, time, time, now)
        seen.time = time
        while seen.changes and seen.changes[0] <= time:
            seen.changes.popleft()
        fresh = []
        for _ in range(STEPS_AT_ONCE):
            if seen.until + step > time + HORIZON or len(seen.changes) >= MOST_AHEAD:
                break
            seen.until += step
            values = static(seen.until)
            if values != seen.last:
                fresh.append(seen.until)
                seen.changes.append(seen.until)
                seen.last = values
        return fresh
