"""Several layers as one picture: what fades, is filtered or changes into another as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dala.media.chain import Filter
from dala.scene.evaluate.geometry import Rectangle, bounds, moved, times
from dala.scene.layers import Adjustment, Entry, Group, Layer, Upcoming

Box = tuple[int, int, int, int]


def box_of(entries: Sequence[Entry], canvas: Rectangle, margin: float = 0.0) -> Box | None:
    """The whole pixels of the canvas that layers touch; nothing if they touch none."""
    found: list[Rectangle] = []
    for entry in entries:
        if isinstance(entry, Adjustment):
            continue  # it changes what is there, and adds nothing
        content = entry.content
        box = entry.crop or (0.0, 0.0, float(content.width), float(content.height))
        left, top, right, bottom = bounds(entry.matrix, box)
        reach = entry.softness + margin
        left, top, right, bottom = left - reach, top - reach, right + reach, bottom + reach
        if entry.clip is not None:
            left, top = max(left, entry.clip[0]), max(top, entry.clip[1])
            right, bottom = min(right, entry.clip[2]), min(bottom, entry.clip[3])
        found.append((left, top, right, bottom))
    if not found:
        return None
    left = max(min(box[0] for box in found), canvas[0])
    top = max(min(box[1] for box in found), canvas[1])
    right = min(max(box[2] for box in found), canvas[2])
    bottom = min(max(box[3] for box in found), canvas[3])
    if right <= left or bottom <= top:
        return None
    return math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom)


def grouped(entries: Sequence[Entry], box: Box) -> Group:
    """Layers on a canvas of their own, which lies at a box of the old one."""
    left, top, right, bottom = box
    return Group(
        tuple(shifted(entry, -left, -top) for entry in entries), right - left, bottom - top
    )


def shifted(entry: Entry, x: float, y: float) -> Entry:
    """The same elsewhere."""
    clip = entry.clip and (
        entry.clip[0] + x, entry.clip[1] + y, entry.clip[2] + x, entry.clip[3] + y,
    )  # fmt: skip
    if isinstance(entry, Adjustment):
        return replace(entry, clip=clip)
    if not x and not y:
        return entry
    return replace(entry, matrix=times(moved(x, y), entry.matrix), clip=clip)


def isolated(
    entries: Sequence[Entry], canvas: Rectangle, *, opacity: float = 1.0, blend: str = "over",
    effects: tuple[Filter, ...] = (), margin: float = 0.0, upcoming: Upcoming | None = None,
) -> list[Entry]:  # fmt: skip
    """Layers as one, with an opacity, a blend and effects of its own."""
    box = box_of(entries, canvas, margin)
    if box is None:
        return []
    place = (1.0, 0.0, 0.0, 1.0, float(box[0]), float(box[1]))
    group = grouped(entries, box)
    return [Layer(group, place, opacity=opacity, blend=blend, effects=effects, upcoming=upcoming)]
