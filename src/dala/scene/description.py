"""A description: all nodes of a scene at one moment of its editing, and what any property is at any time.

It never changes, so one thread can paint it while another edits the scene. What follows from the nodes (who
is in which group, which tracks a property has) is worked out once, when it is first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dala.scene.animation.easing import EASINGS
from dala.scene.animation.track import BELOW, Key, PropertyTracks, Track
from dala.scene.nodes.node import Node
from dala.scene.nodes.targets import Target, target_of

Rgba = tuple[int, int, int, int]


@dataclass(frozen=True)
class Departure:
    """A member that left a layout while the scene ran: the others close the gap from then on."""

    order: int
    size: tuple[float, float]
    weight: float
    start: Fraction | None
    end: Fraction


@dataclass(frozen=True, eq=False)
class Description:
    """The nodes of a scene, in the order they were added."""

    width: int
    height: int
    background: Rgba
    nodes: Mapping[int, Node]
    departures: Mapping[int, tuple[Departure, ...]] = field(default_factory=dict)
    version: int = 0

    @functools.cached_property
    def children(self) -> dict[int | None, list[Node]]:
        """What is seen, by the group that it is in; effects on everything below are among them."""
        found: dict[int | None, list[Node]] = {}
        for node in self.nodes.values():
            if "z_index" in node.props and not (node.type == "effect" and node.input is not None):
                found.setdefault(node.props["parent"], []).append(node)
        return found

    @functools.cached_property
    def effects(self) -> dict[int, list[Node]]:
        """Effects on a node, in order."""
        found: dict[int, list[Node]] = {}
        for node in self.nodes.values():
            if node.type == "effect" and node.input is not None:
                found.setdefault(node.input, []).append(node)
        return {k: sorted(v, key=lambda n: (n.z_index, n.id)) for k, v in found.items()}

    @functools.cached_property
    def transitions(self) -> list[Node]:
        """In the order they begin."""
        found = [node for node in self.nodes.values() if node.type == "transition"]
        return sorted(found, key=lambda n: (n.at, n.id))

    @functools.cached_property
    def tracks(self) -> dict[int, list[tuple[Target, PropertyTracks]]]:
        """Every animated property, by node."""
        found: dict[int, dict[str, tuple[Target, list[Track]]]] = {}
        for node in self.nodes.values():
            if node.type == "animation":
                target = target_of(self.nodes[node.target], node.property)
                of_node = found.setdefault(node.target, {})
                of_node.setdefault(target.path, (target, []))[1].append(track_of(node))
        return {
            number: [
                (
                    target,
                    PropertyTracks(rows, target.kind.way, target.get(self.nodes[number].props)),
                )
                for target, rows in sorted(of_node.values(), key=lambda pair: pair[0].path)
            ]
            for number, of_node in found.items()
        }

    def static_values(self, node: Node, time: Fraction) -> tuple[Any, ...]:
        """Those of an effect's animated parameters that its code is compiled for, at a time."""
        return tuple(
            target.kind.clamp(tracks.value(time))
            for target, tracks in self.tracks.get(node.id, ())
            if target.static
        )

    def values(self, node: Node, time: Fraction) -> Mapping[str, Any]:
        """All properties of a node at a time."""
        return self.values_until(node, time)[0]

    def values_until(self, node: Node, time: Fraction) -> tuple[Mapping[str, Any], Fraction | None]:
        """All properties of a node at a time, and until when no track of it moves any of them; None: for
        good. ``time`` itself: something moves now."""
        animated = self.tracks.get(node.id)
        if not animated:
            return node.props, None
        values, earliest = node.props | {}, None
        for target, tracks in animated:
            value, until = tracks.at(time)
            values[target.name] = target.put(values, target.kind.clamp(value))
            if until is not None and (earliest is None or until < earliest):
                earliest = until
        return values, earliest

    def value(self, node: Node, name: str, time: Fraction) -> Any:
        """One property at a time: what a mixer asks for again and again."""
        value = node.props[name]
        for target, tracks in self.tracks.get(node.id, ()):
            if target.name == name:
                value = target.put({name: value}, target.kind.clamp(tracks.value(time)))
        return value


@functools.lru_cache(4096)
def _keys(
    from_: Any, to: Any, keyframes: Any, duration: Fraction, easing: Any
) -> tuple[Fraction, tuple[Key, ...]]:
    if keyframes is None:
        first = BELOW if from_ is None else from_
        linear = EASINGS["linear"]
        if duration == 0:
            return Fraction(0), (Key(Fraction(0), to, linear),)
        return Fraction(0), (Key(Fraction(0), first, easing), Key(duration, to, linear))
    begin = keyframes[0][0]
    return begin, tuple(Key(at - begin, value, own or easing) for at, value, own in keyframes)


def track_of(node: Node) -> Track:
    """An animation node as a track."""
    props = node.props
    first, keys = _keys_of(props)
    begin = props["at"] + props["delay_ms"] + first
    return Track(begin, keys, props["repeat"], props["alternate"], props["cancelled"])


def _keys_of(props: Mapping[str, Any]) -> tuple[Fraction, tuple[Key, ...]]:
    given = (props["from_"], props["to"], props["keyframes"], props["duration_ms"], props["easing"])
    try:
        return _keys(*given)
    except TypeError:  # a value that cannot be hashed
        return _keys.__wrapped__(*given)
