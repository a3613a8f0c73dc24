"""When a node plays its source, and where in it: the same map for its picture and its sound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dala.scene.nodes.node import Node
from dala.scene.sources import TimeMap


def map_of(props: Mapping[str, Any], duration: Fraction | None) -> TimeMap | None:
    """From a node's time to that of its source, which lasts ``duration`` (None: without end). None: there
    is nothing of it to play."""
    begin: Fraction = props["source_start"]
    end: Fraction | None = props["source_end"]
    if duration is not None:
        end = duration if end is None else min(end, duration)
    if end is not None and end <= begin:
        return None
    speed = Fraction(repr(props["speed"]))
    return TimeMap(begin, end, speed, props["loop"] and end is not None, props["pauses"])


def source_time(node: Node, time: Fraction, duration: Fraction | None) -> Fraction | None:
    """The time within a source at a time of the scene; None: it is over. The node keeps its map: it is
    asked for every frame.

    >>> from fractions import Fraction as F
    >>> from dala.scene.nodes.node import make_node, type_of
    >>> given = {"stream": "a.mp4", "start": 10.0, "source_start": 2.0, "speed": 2.0, "loop": True}
    >>> source_time(make_node(1, type_of("video", ""), given, ""), F(13), F(7))
    Fraction(3, 1)
    """
    kept: tuple[Fraction | None, TimeMap | None] | None = node.__dict__.get("_play")
    if kept is None or kept[0] != duration:
        kept = node.__dict__["_play"] = duration, map_of(node.props, duration)
    play, start = kept[1], node.props["start"]
    local = time - start if start else time
    return None if play is None or play.is_over(local) else play.at(local)


def last_moment(props: Mapping[str, Any], duration: Fraction | None) -> Fraction | None:
    """When a node is over: by its own end, or by its source's; None: never."""
    start: Fraction = props["start"] or Fraction(0)
    end: Fraction | None = props["end"]
    play = map_of(props, duration)
    if play is None:
        return start
    if play.length is None:
        return end
    over = start + play.length
    return over if end is None else min(end, over)
