"""The nodes of a scene while they are edited. A call that fails changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dala import forking
from dala.errors import ArgumentError, NodeNotFoundError, ParameterError, SceneError, suggest
from dala.scene.description import Departure, Description
from dala.scene.evaluate.resources import read_picture
from dala.scene.evaluate.streams import Streams
from dala.scene.nodes.looks import Gradient
from dala.scene.nodes.media import Held, check_filter, filter_of, is_scene
from dala.scene.nodes.node import Node, make_node, node_of, type_of
from dala.scene.nodes.tables import CONTAINERS, LAYOUTS
from dala.scene.nodes.targets import target_of

MOST_NODES = 100_000
MOST_MEMBERS = 1000  # of a layout
DEEPEST = 16
NodeRef = int | str | Node


class Nodes:
    """Nodes by number, and what must hold between them."""

    def __init__(self, width: int, height: int, background: tuple[int, int, int, int]) -> None:
        self.width, self.height = width, height
        self.background = background
        self._nodes: dict[int, Node] = {}
        self._names: dict[str, int] = {}
        self._departures: dict[int, tuple[Departure, ...]] = {}
        self._next = 1
        self._version = 0
        self._described: Description | None = None
        self.lock = forking.rlock()

    # -- looking -----------------------------------------------------------------------------------

    def describe(self) -> Description:
        """All of it as it is now, as a value that does not change."""
        described = self._described
        if described is not None and described.version == self._version:
            return described
        with self.lock:
            self._described = Description(
                self.width, self.height, self.background, dict(self._nodes),
                dict(self._departures), self._version,
            )  # fmt: skip
            return self._described

    def find(self, ref: object, who: str) -> Node:
        """A node by its number, its name, or as it was once."""
        number = ref.id if isinstance(ref, Node) else ref
        with self.lock:
            if isinstance(number, str) and number in self._names:
                number = self._names[number]
            if not isinstance(number, bool) and isinstance(number, int) and number in self._nodes:
                return self._nodes[number]
            if isinstance(number, str):
                raise NodeNotFoundError(
                    f"{who}: no node is named {number!r}{suggest(number, self._names)}"
                )
            if isinstance(number, bool) or not isinstance(number, int):
                raise ArgumentError(f"{who}: expected a node's number or name, got {ref!r}")
            there = f"there are {len(self._nodes)}" if self._nodes else "there is none yet"
            raise NodeNotFoundError(f"{who}: no node has the number {number}; {there}")

    # -- changing ----------------------------------------------------------------------------------

    def add(
        self,
        kind: object,
        given: Mapping[str, Any],
        who: str,
        streams: Streams,
        *,
        is_read: bool = False,
    ) -> int:
        """A node more; its number. ``is_read``: its values are canonical already."""
        table = type_of(kind, who)
        with self.lock:
            if len(self._nodes) >= MOST_NODES:
                raise SceneError(f"{who}: a scene has at most {MOST_NODES} nodes")
            make = node_of if is_read else make_node
            node = make(self._next, table, given, who)
            node = self._settled(node, who, streams)
            self._enter(node)
            self._next += 1
            return node.id

    def change(self, ref: object, changes: Mapping[str, Any], who: str, streams: Streams) -> None:
        """Other values for some properties of a node."""
        with self.lock:
            node = self.find(ref, who)
            read = node.table.read(changes, who)
            changed = self._settled(node.changed(read), who, streams, before=node)
            if node.props["name"] is not None:
                del self._names[node.props["name"]]
            self._enter(changed)

    def _enter(self, node: Node) -> None:
        self._nodes[node.id] = node
        if node.props["name"] is not None:
            self._names[node.props["name"]] = node.id
        self._version += 1

    def set_background(self, color: tuple[int, int, int, int]) -> None:
        """Another colour behind everything."""
        with self.lock:
            self.background = color
            self._version += 1

    def remove(self, ref: object, who: str, left_at: Fraction | None = None) -> set[int]:
        """Take a node out, and what depends on it; the numbers of all that are gone."""
        with self.lock:
            node = self.find(ref, who)
            gone = self._with_dependents(node)
            if left_at is not None:
                self._note_departure(node, left_at)
            for number in gone:
                self._forget(number)
            self._version += 1
            return gone

    def _with_dependents(self, node: Node) -> set[int]:
        gone = {node.id}
        grew = True
        while grew:
            more = {n.id for n in self._nodes.values() if n.id not in gone and _needs(n, gone)}
            gone |= more
            grew = bool(more)
        return gone

    def _forget(self, number: int) -> None:
        name = self._nodes.pop(number).props["name"]
        if name is not None:
            del self._names[name]
        self._departures.pop(number, None)

    def _note_departure(self, node: Node, at: Fraction) -> None:
        """Those who stay in a layout close the gap; what left long ago is forgotten."""
        parent = self._nodes.get(node.props.get("parent") or 0)
        if parent is None or parent.type not in LAYOUTS or node.type == "effect":
            return
        recent = [
            d for d in self._departures.get(parent.id, ()) if at - d.end < 2 * parent.move_ms + 1
        ]
        left = Departure(node.id, node.props["size"], node.weight, node.start, at)
        self._departures[parent.id] = (*recent[-MOST_MEMBERS:], left)

    # -- what must hold ----------------------------------------------------------------------------

    def _settled(self, node: Node, who: str, streams: Streams, before: Node | None = None) -> Node:
        """A node with its references as numbers and its media checked."""
        props = dict(node.props)
        name = props["name"]
        if name is not None and self._names.get(name, node.id) != node.id:
            raise ParameterError(f"{who}: another node is named {name!r} already")
        for key in ("parent", "input", "target", "a", "b"):
            if props.get(key) is not None:
                props[key] = self.find(props[key], f"{who}: {key}").id
        node = node.changed(props)
        self._check_interval(node, who)
        if props.get("parent") is not None:
            self._check_parent(node, who, before)
        check = _CHECKS.get(node.type)
        return check(self, node, who, streams) if check else node

    def _check_interval(self, node: Node, who: str) -> None:
        start, end = node.props.get("start"), node.props.get("end")
        if start is not None and end is not None and end <= start:
            raise ParameterError(
                f"{who}: it ends at {float(end):g} s and starts at {float(start):g} s: never there"
            )

    def _check_parent(self, node: Node, who: str, before: Node | None) -> None:
        parent = self._nodes[node.props["parent"]]
        if parent.type not in CONTAINERS:
            raise ParameterError(
                f"{who}: parent: node {parent.id} is of type {parent.type!r}; a parent is one of "
                f"{', '.join(CONTAINERS)}"
            )
        above: Node | None = parent
        depth = 0
        while above is not None:
            depth += 1
            if above.id == node.id or depth > DEEPEST:
                raise ParameterError(
                    f"{who}: parent: a group cannot be within itself, nor more than {DEEPEST} deep"
                )
            outer = above.props["parent"]
            above = None if outer is None else self._nodes[outer]
        if parent.type in LAYOUTS and (before is None or before.props["parent"] != parent.id):
            members = sum(1 for n in self._nodes.values() if n.props.get("parent") == parent.id)
            if members >= MOST_MEMBERS:
                raise SceneError(f"{who}: a layout has at most {MOST_MEMBERS} members")

    def _settle_picture(self, node: Node, who: str, streams: Streams) -> Node:
        image = node.image
        if isinstance(image, Held) and not hasattr(image.of, "version"):
            return node.changed({"image": Held(read_picture(image.of))})
        streams.resources.picture(image)  # what cannot be read is said now
        return node

    def _settle_video(self, node: Node, who: str, streams: Streams) -> Node:
        if node.pip and node.pip_position is None:
            x = float(self.width - node.pip_size[0] - 20)
            node = node.changed({"pip_position": (x, 20.0)})
        if not is_scene(node.stream):
            streams.source(node)  # what cannot be opened is said now
        return node

    def _settle_text(self, node: Node, who: str, streams: Streams) -> Node:
        if isinstance(node.color, Gradient) and node.color.way != "linear":
            raise ParameterError(
                f"{who}: color: a text has a linear gradient, got {node.color.way}"
            )
        return node

    def _settle_subtitles(self, node: Node, who: str, streams: Streams) -> Node:
        streams.resources.cues(node.subtitles)  # what cannot be read is said now
        return node

    def _settle_shape(self, node: Node, who: str, streams: Streams) -> Node:
        from dala.gpu import Path

        if node.shape == "path":
            Path(node.path)  # an error says what is wrong with it
        return node

    def _settle_effect(self, node: Node, who: str, streams: Streams) -> Node:
        check_filter(node.filter, node.params)
        if node.input is not None and "position" not in self._nodes[node.input].props:
            raise ParameterError(
                f"{who}: input: a node of type {self._nodes[node.input].type!r} shows nothing to filter"
            )
        return node

    def _settle_animation(self, node: Node, who: str, streams: Streams) -> Node:
        target = target_of(self._nodes[node.target], node.property, who)
        read = target.kind.read
        changes: dict[str, Any] = {}
        if node.keyframes is not None:
            changes["keyframes"] = tuple(
                (at, read(value, f"{who}: keyframes at {float(at):g} s"), easing)
                for at, value, easing in node.keyframes
            )
        else:
            if (
                node.to is None
                and target.kind.read is not None
                and "nothing" not in target.kind.says
            ):
                raise ParameterError(f"{who}: to is missing: the value at the end")
            changes["to"] = read(node.to, f"{who}: to")
            if node.from_ is not None:
                changes["from_"] = read(node.from_, f"{who}: from_")
        return node.changed(changes)

    def _settle_transition(self, node: Node, who: str, streams: Streams) -> Node:
        first, second = self._nodes[node.a], self._nodes[node.b]
        if first.id == second.id:
            raise ParameterError(f"{who}: a transition leads from one node to another")
        for one in (first, second):
            if "position" not in one.props:
                raise ParameterError(f"{who}: a node of type {one.type!r} is not seen")
        if first.props["parent"] != second.props["parent"]:
            raise ParameterError(f"{who}: nodes {first.id} and {second.id} are in different groups")
        if node.duration_ms <= 0:
            raise ParameterError(f"{who}: a transition takes some time, got 0 ms")
        check_transition(node.props["kind"], node.params, who)
        return node

    def _settle_scene(self, node: Node, who: str, streams: Streams) -> Node:
        held = node.props["scene"] if node.type == "scene" else node.stream
        if is_scene(held) and _holds(held.of, self, 0):
            raise ParameterError(f"{who}: a scene cannot be within itself")
        return self._settle_video(node, who, streams) if node.type == "video" else node


def check_transition(kind: Any, params: Mapping[str, Any], who: str) -> None:
    """Refuse what no transition is named."""
    from dala.scene.transitions import names

    if isinstance(kind, str) and not kind.lstrip().startswith("def ") and kind not in names():
        raise ParameterError(f"{who}: there is no transition {kind!r}{suggest(kind, names())}")
    filter_of(kind)


def _holds(outer: Any, wanted: Nodes, depth: int) -> bool:
    """Whether a scene has another one in it, however deep."""
    if outer.holds_nodes(wanted) or depth > DEEPEST:
        return True
    description = outer.evaluated[0]
    inner = [
        value.of
        for node in description.nodes.values()
        for value in (node.props.get("scene"), node.props.get("stream"))
        if is_scene(value)
    ]
    return any(_holds(scene, wanted, depth + 1) for scene in inner)


def _needs(node: Node, gone: set[int]) -> bool:
    props = node.props
    return any(props.get(key) in gone for key in ("parent", "input", "target", "a", "b"))


_CHECKS: dict[str, Any] = {
    "image": Nodes._settle_picture,
    "overlay": Nodes._settle_picture,
    "video": Nodes._settle_scene,
    "scene": Nodes._settle_scene,
    "text": Nodes._settle_text,
    "subtitles": Nodes._settle_subtitles,
    "shape": Nodes._settle_shape,
    "effect": Nodes._settle_effect,
    "animation": Nodes._settle_animation,
    "transition": Nodes._settle_transition,
}
