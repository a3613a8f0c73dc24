"""Nodes → layers: who is there at a time, in which order, where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dala.errors import ParameterError
from dala.media.chain import Filter
from dala.scene.description import Description
from dala.scene.evaluate import contents, dressing
from dala.scene.evaluate.captions import captions, cue_time
from dala.scene.evaluate.contents import Shown, margin_for, show_still, with_margin
from dala.scene.evaluate.filtering import filter_from, filters_at
from dala.scene.evaluate.geometry import (
    IDENTITY,
    Matrix,
    Rectangle,
    bounds,
    fitted,
    magnification,
    placed,
    scaled,
    times,
)
from dala.scene.evaluate.isolating import box_of, grouped, isolated
from dala.scene.evaluate.lettering import step_for
from dala.scene.evaluate.playing import source_time
from dala.scene.evaluate.streams import Streams
from dala.scene.layers import (
    Adjustment,
    Composition,
    Content,
    Entry,
    Group,
    Layer,
    Mixed,
    Solid,
    Upcoming,
)
from dala.scene.layout.arrange import Member, Rule
from dala.scene.layout.moves import Guest, Placed, places_at
from dala.scene.nodes.media import filter_of, is_scene
from dala.scene.nodes.node import Node
from dala.scene.nodes.tables import CONTAINERS, LAYOUTS

DEEPEST = 16  # groups in groups, scenes in scenes
MOST_LAYERS = 20_000
Values = Mapping[str, Any]
Size = tuple[float, float]


@dataclass(frozen=True)
class Evaluated:
    """A composition, and until when it stays as it is: None for good, its own time if it moves."""

    composition: Composition
    until: Fraction | None


def evaluate(
    description: Description, time: Fraction, streams: Streams, step: Fraction | None = None
) -> Evaluated:
    """What is to be painted at a time. With ``step``, the time from frame to frame, it says which filters
    will soon be needed."""
    composer = Composer(description, time, streams, step)
    entries = composer.all_entries()
    made = Composition(
        description.width, description.height, description.background, tuple(entries)
    )
    return Evaluated(made, composer.until)


class Composer:
    """One evaluation: a description at a time."""

    def __init__(
        self, description: Description, time: Fraction, streams: Streams,
        step: Fraction | None = None, depth: int = 0,
    ) -> None:  # fmt: skip
        if depth > DEEPEST:
            raise ParameterError(f"scenes within scenes: at most {DEEPEST} deep")
        self.description = description
        self.time = time
        self.streams = streams
        self.step = step
        self.resources = streams.resources
        self.until: Fraction | None = None
        self._depth = depth
        self._count = 0

    def changes_at(self, moment: Fraction | None) -> None:
        """The picture is another one from then on."""
        if moment is None or moment is self.until:
            return
        if self.until is None or moment < self.until:
            self.until = moment

    def all_entries(self) -> list[Entry]:
        """All layers of the scene."""
        size = (float(self.description.width), float(self.description.height))
        with self.streams.using:
            self.streams.keep_only(self.description)
            return self.entries(None, IDENTITY, size, (0.0, 0.0, *size))

    # -- who is there ------------------------------------------------------------------------------

    def entries(
        self, parent: int | None, matrix: Matrix, box: Size, canvas: Rectangle, depth: int = 0
    ) -> list[Entry]:
        """The layers of what is in a group, from the lowest to the topmost."""
        if depth > DEEPEST:
            raise ParameterError(f"groups within groups: at most {DEEPEST} deep")
        members = self._members(parent, box)
        mixes, gone = self._transitions({node.id for node, _ in members})
        members.sort(key=lambda pair: (pair[1]["z_index"], pair[0].id))
        values_of = {node.id: (node, values) for node, values in members}
        found: list[Entry] = []
        for node, values in members:
            if node.id in gone:
                continue
            if node.type == "effect":
                found.append(self._adjustment(node, values, _upright(matrix, box, parent)))
            elif node.id in mixes:
                other, mix = mixes[node.id]
                first = values_of.get(other)
                before = self._of_node(*first, matrix, box, canvas, depth) if first else []
                after = self._of_node(node, values, matrix, box, canvas, depth)
                found += self._mixed(before, after, mix, canvas)
            else:
                found += self._of_node(node, values, matrix, box, canvas, depth)
            self._count += 1
            if len(found) > MOST_LAYERS or self._count > MOST_LAYERS:
                raise ParameterError(f"a scene has at most {MOST_LAYERS} layers at a time")
        return found

    def _members(self, parent: int | None, box: Size) -> list[tuple[Node, Values]]:
        """Those who are there and can be seen, with what they are at this time."""
        group = None if parent is None else self.description.nodes[parent]
        places: dict[int, Placed] | None = None
        if group is not None and group.type in LAYOUTS:
            places = self._places(group, box)
        found: list[tuple[Node, Values]] = []
        for node in self.description.children.get(parent, ()):
            if not self._is_there(node):
                continue
            values = self._values(node)
            if not values["visible"] or values["opacity"] <= 0:
                continue
            if places is not None and node.type != "effect":
                if node.id not in places:
                    continue
                assert group is not None
                values = _in_cell(values, places[node.id], self._values(group)["align"])
            found.append((node, values))
        return found

    def _is_there(self, node: Node) -> bool:
        start, end = node.props["start"], node.props["end"]
        if start is not None and self.time < start:
            self.changes_at(start)
            return False
        if end is not None:
            if self.time >= end:
                return False
            self.changes_at(end)
        return True

    def _values(self, node: Node) -> Values:
        values, until = self.description.values_until(node, self.time)
        self.changes_at(until)
        return values

    # -- transitions -------------------------------------------------------------------------------

    def _transitions(self, there: set[int]) -> tuple[dict[int, tuple[int, Node]], set[int]]:
        """Which nodes are mixed with which at this time, and which are not seen because of it."""
        mixes: dict[int, tuple[int, Node]] = {}
        gone: set[int] = set()
        for node in self.description.transitions:
            a, b, begin = node.a, node.b, node.at
            end = begin + node.duration_ms
            if a not in there and b not in there:
                continue
            if self.time < begin:
                gone.add(b)
                self.changes_at(begin)
            elif self.time >= end:
                gone.add(a)
            else:
                self.changes_at(self.time)
                if b in there:
                    mixes[b] = (a, node)
                    gone.add(a)
        for b in mixes:
            gone.discard(b)
        return mixes, gone

    def _mixed(
        self, before: list[Entry], after: list[Entry], node: Node, canvas: Rectangle
    ) -> list[Entry]:
        part = node.easing(float((self.time - node.at) / node.duration_ms))
        progress = min(max(part, 0.0), 1.0)
        box = box_of([*before, *after], canvas)
        if box is None:
            return []
        mixed = Mixed(
            grouped(before, box),
            grouped(after, box),
            filter_of(node.props["kind"]),
            progress,
            node.params,
        )
        return [Layer(mixed, (1.0, 0.0, 0.0, 1.0, float(box[0]), float(box[1])))]

    # -- one node ----------------------------------------------------------------------------------

    def _of_node(
        self, node: Node, values: Values, matrix: Matrix, box: Size, canvas: Rectangle, depth: int
    ) -> list[Entry]:
        if node.type in CONTAINERS or node.type == "subtitles":
            return self._of_group(node, values, matrix, box, canvas, depth)
        if node.type == "video" and values["pip"]:
            values = {**values, "position": values["pip_position"], "size": values["pip_size"]}
        shown = self._show(node, values, matrix)
        if shown.content is None:
            return []
        size = _size_of(values, shown.size) if shown.inner is None else shown.size
        return self._placed(node, values, shown, size, times(matrix, placed(values, size)), canvas)

    def _placed(
        self, node: Node, values: Values, shown: Shown, size: Size, box: Matrix, canvas: Rectangle
    ) -> list[Entry]:
        """A content in its box, with what it wears and what is done to it."""
        assert shown.content is not None
        effects, params = self._effects_on(node)
        room = margin_for(shown.content, params) if effects else 0
        content, margin = with_margin(shown.content, room)
        crop: Rectangle | None
        if shown.inner is None:
            inner, crop = fitted(
                values["fit"], (content.width, content.height), values["crop"], size
            )
        else:
            inner, crop = shown.inner, _part(values["crop"], content)
        if crop is not None and (crop[2] <= crop[0] or crop[3] <= crop[1]):
            return []
        radius = 0.0 if node.type == "text" else values["corner_radius"]
        if node.type == "shape" and shown.inner is not None and not isinstance(content, Solid):
            radius = 0.0  # it is drawn with round corners already
        below, above = self._worn(node, values, shown, size, box, radius)
        alone = not below and not above
        layer = Layer(
            content,
            times(times(box, inner), margin),
            crop,
            values["opacity"] if alone else 1.0,
            values["blend"] if alone else "over",
            radius * magnification(box),
            effects=effects,
            upcoming=self._upcoming(node, self._effects_of(node), shown.content, room),
        )
        if alone:
            return [layer]
        worn = [*below, layer, *above]
        if values["opacity"] == 1 and values["blend"] == "over":
            return worn
        return isolated(worn, canvas, opacity=values["opacity"], blend=values["blend"])

    def _worn(
        self, node: Node, values: Values, shown: Shown, size: Size, box: Matrix, radius: float
    ) -> tuple[list[Entry], list[Entry]]:
        below: list[Entry] = []
        above: list[Entry] = []
        if values["shadow"] is not None and node.type != "text":
            below += dressing.shadow_below(values["shadow"], box, size, radius)
        border = values["border"]
        if border is not None and border.width > 0 and border.color[3]:
            if shown.is_opaque and values["fit"] != "contain" and border.color[3] == 255:
                below += dressing.border_below(border, box, size, radius)
            else:
                above += dressing.border_around(border, box, size, radius, self.resources)
        return below, above

    def _show(self, node: Node, values: Values, matrix: Matrix) -> Shown:
        if node.type == "scene":
            return self._show_scene(values["scene"].of, node)
        if node.type != "video":
            sx, sy = values["scale"]
            larger = magnification(matrix) * math.sqrt(abs(sx * sy))
            return show_still(node, values, larger, self.resources)
        if is_scene(values["stream"]):
            return self._show_scene(values["stream"].of, node)
        source = self.streams.source(node)
        place = source_time(node, self.time, source.duration)
        if place is None:
            return contents.NOTHING
        self.changes_at(self.time)
        frame = source.frame_at(place)
        return Shown(frame, (frame.width, frame.height), is_opaque=getattr(frame, "opaque", True))

    def _show_scene(self, inner: Any, node: Node) -> Shown:
        """A scene in a scene: its layers on a canvas of their own."""
        description, streams = inner.evaluated
        place = source_time(node, self.time, inner.duration if node.loop else None)
        if place is None:
            return contents.NOTHING
        composer = Composer(description, place, streams, self.step, self._depth + 1)
        entries = composer.all_entries()
        size = (float(description.width), float(description.height))
        self._count += composer._count
        if composer.until is not None:  # in its own time: looked at anew for every frame
            self.changes_at(self.time)
        background = description.background
        if background[3]:
            entries.insert(0, Layer(Solid(background), scaled(*size)))
        group = Group(tuple(entries), description.width, description.height)
        return Shown(group, size, is_opaque=background[3] == 255)

    # -- groups ------------------------------------------------------------------------------------

    def _of_group(
        self, node: Node, values: Values, matrix: Matrix, box: Size, canvas: Rectangle, depth: int
    ) -> list[Entry]:
        w, h = values["size"]
        if node.type == "subtitles":  # its shadow is that of its letters
            values = {**values, "letter_shadow": values["shadow"], "shadow": None}
        boxed = values["clip"] or any(
            values[name] for name in ("corner_radius", "border", "shadow", "crop")
        )
        if boxed or node.type in LAYOUTS or node.type == "subtitles":
            w, h = w or box[0], h or box[1]
        size = (w, h)
        place = times(matrix, placed(values, size))
        if boxed and w > 0 and h > 0:
            return self._boxed(node, values, size, place, canvas, depth)
        entries = self._within(node, values, place, size, canvas, depth)
        effects, _ = self._effects_on(node)
        if not entries or (values["opacity"] == 1 and values["blend"] == "over" and not effects):
            return entries
        return isolated(
            entries, canvas, opacity=values["opacity"], blend=values["blend"],
            effects=effects, margin=64.0 if effects else 0.0,
            upcoming=self._upcoming(node, self._effects_of(node)),
        )  # fmt: skip

    def _boxed(
        self, node: Node, values: Values, size: Size, place: Matrix, canvas: Rectangle, depth: int
    ) -> list[Entry]:
        """A group on a canvas of its own size, as a picture would be."""
        step = step_for(magnification(place))
        wide, high = math.ceil(size[0] * step), math.ceil(size[1] * step)
        if max(wide, high) > 1 << 14:
            step = min((1 << 14) / max(wide, high), 1.0) * step
            wide, high = math.ceil(size[0] * step), math.ceil(size[1] * step)
        own = (0.0, 0.0, float(wide), float(high))
        entries = self._within(node, values, scaled(step, step), size, own, depth)
        group = Group(tuple(entries), wide, high)
        return self._placed(node, values, Shown(group, size), size, place, canvas)

    def _within(
        self, node: Node, values: Values, matrix: Matrix, size: Size, canvas: Rectangle, depth: int
    ) -> list[Entry]:
        """What a group holds: its members, or the cues of this time."""
        if node.type != "subtitles":
            return self.entries(node.id, matrix, size, canvas, depth + 1)
        cues = self.resources.cues(values["subtitles"])
        place, until = cue_time(node.props, self.time, cues)
        self.changes_at(until)
        if place is None:
            return []
        return [*captions(cues, place, values, size, matrix, self.resources)]

    def _places(self, group: Node, box: Size) -> dict[int, Placed]:
        """Where the members of a layout are."""
        values = self._values(group)
        rule = Rule(
            group.type, *box, values["gap"], values["padding"],
            values.get("columns", 0), values.get("aspect", 1.0),
        )  # fmt: skip
        guests = []
        for node in self.description.children.get(group.id, ()):
            if node.type == "effect":
                continue
            own = self._values(node)
            if own["visible"]:
                member = Member(node.id, own["size"], own["weight"])
                guests.append(Guest(member, own["start"], own["end"]))
        for left in self.description.departures.get(group.id, ()):
            guests.append(Guest(Member(left.order, left.size, left.weight), left.start, left.end))
        guests.sort(key=lambda guest: guest.member.order)
        places, until = places_at(rule, guests, values["move_ms"], values["easing"], self.time)
        self.changes_at(until)
        return places

    # -- effects -----------------------------------------------------------------------------------

    def _effects_of(self, node: Node) -> Sequence[Node]:
        return self.description.effects.get(node.id, ())

    def _effects_on(self, node: Node) -> tuple[tuple[Filter, ...], Values]:
        effects = self._effects_of(node)
        if not effects:
            return (), {}
        for effect in effects:
            if self._is_there(effect):
                self._values(effect)  # says until when it stays so
        return filters_at(self.description, effects, self.time)

    def _adjustment(self, effect: Node, values: Values, clip: Rectangle | None) -> Adjustment:
        upcoming = self._upcoming(effect, (effect,))
        return Adjustment((filter_from(values),), values["opacity"], clip, upcoming)

    def _upcoming(
        self, of: Node, effects: Sequence[Node], content: Content | None = None, margin: int = 0
    ) -> Upcoming | None:
        """The filters that come; the margin around a content may grow with them."""
        if self.step is None or not effects:
            return None
        look = self.streams.lookahead
        soon = []
        for filters, params in look.ahead(self.description, of.id, effects, self.time, self.step):
            more = 0 if content is None else 2 * (margin_for(content, params) - margin)
            soon.append((filters, more))
        return Upcoming(tuple(soon), look.is_over) if soon else None


def _in_cell(values: Values, place: Placed, align: str) -> Values:
    """A member's values with the place that its layout gives it; its own position is added."""
    x, y, w, h = place.cell
    size = (w, h)
    if align != "stretch":
        own = values["size"]
        size = (min(own[0] or w, w), min(own[1] or h, h))
        share = {"start": 0.0, "center": 0.5, "end": 1.0}[align]
        x, y = x + (w - size[0]) * share, y + (h - size[1]) * share
    ax, ay = values["anchor"]
    dx, dy = values["position"]
    return {
        **values,
        "position": (x + dx + ax * size[0], y + dy + ay * size[1]),
        "size": size,
        "opacity": values["opacity"] * place.presence,
        "pip": False,
    }


def _size_of(values: Values, natural: Size) -> Size:
    """A node's size; of what is 0 in it the content decides, in proportion if the other is given."""
    w, h = values["size"]
    if w and h:
        return (w, h)
    if w:
        return (w, w * natural[1] / max(natural[0], 1e-6))
    if h:
        return (h * natural[0] / max(natural[1], 1e-6), h)
    return natural


def _part(crop: Rectangle | None, content: Any) -> Rectangle | None:
    if crop is None:
        return None
    w, h = content.width, content.height
    return (crop[0] * w, crop[1] * h, crop[2] * w, crop[3] * h)


def _upright(matrix: Matrix, box: Size, parent: int | None) -> Rectangle | None:
    """An effect on everything below is seen within its group's box, if that has one."""
    if parent is None or not box[0] or not box[1]:
        return None
    return bounds(matrix, (0.0, 0.0, *box))
