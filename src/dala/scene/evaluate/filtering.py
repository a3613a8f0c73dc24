"""Effects as filters: those on a node at a time, and those that will soon stand in their place.

A filter with another compile-time value (a blur's radius) is other code. The tracks of a description say
which values come: so they are named before they are seen, and a painter compiles them meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dala.errors import DalaError
from dala.media.chain import Chain, Filter
from dala.scene.description import Description
from dala.scene.nodes.media import Params, filter_of
from dala.scene.nodes.node import Node

HORIZON = Fraction(1)  # seconds
MOST_AHEAD = 12  # changes; a pipeline keeps 32 chains
STEPS_AT_ONCE = 16  # frames that are looked at for one: what is left comes with the next one


def filter_from(values: Mapping[str, Any], strength: float = 1.0) -> Filter:
    """An effect as a filter."""
    found = filter_of(values["filter"])
    filter_: Filter = (found, values["params"]) if values["params"] else found
    return Chain.of([filter_]).at(strength) if strength < 1 else filter_


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
            strength = 1.0 if effect.input is None else values["opacity"]  # on all below: a layer's
            found.append(filter_from(values, strength))
    return tuple(found), first


Filtering = tuple[tuple[Filter, ...], Params]  # as ``filters_at`` gives them


@dataclass
class _Seen:
    """How far the values of some effects are known."""

    version: int
    time: Fraction
    until: Fraction
    last: tuple[Any, ...]
    ahead: deque[tuple[Fraction, Filtering]] = field(default_factory=deque)  # after ``time``


class Lookahead:
    """The filters of the coming second whose compile-time values differ from those before them."""

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

    def ahead(
        self, description: Description, key: int, effects: Sequence[Node], time: Fraction,
        step: Fraction,
    ) -> list[Filtering]:  # fmt: skip
        """What the coming frames need that have other code than the one before them.

        ``key`` is what the effects are on: how far they are known is kept for that, so that every frame is
        looked at once. All that is still ahead is told each time: not every frame is painted.
        """
        now = _static(description, effects, time)
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
        while seen.ahead and seen.ahead[0][0] <= time:
            seen.ahead.popleft()
        for _ in range(STEPS_AT_ONCE):
            if seen.until + step > time + HORIZON or len(seen.ahead) >= MOST_AHEAD:
                break
            seen.until += step
            values = _static(description, effects, seen.until)
            if values != seen.last:
                seen.last = values
                try:
                    found = filters_at(description, effects, seen.until)
                except DalaError:
                    continue  # it is that frame's, which says so when its time has come
                if found[0]:
                    seen.ahead.append((seen.until, found))
        return [found for _, found in seen.ahead]


def _static(description: Description, effects: Sequence[Node], time: Fraction) -> tuple[Any, ...]:
    return tuple(description.static_values(effect, time) for effect in effects)
