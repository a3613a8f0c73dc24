"""What of a canvas has to be painted again when one composition follows another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from dala.scene.layers import Adjustment, Composition, Entry, Layer
from dala.scene.paint.placing import place

Box: TypeAlias = tuple[int, int, int, int]  # left, top, right, bottom
MOST = 8  # boxes; more become one


def changed_boxes(before: Composition, now: Composition) -> list[Box]:
    """Boxes that hold all pixels in which two compositions of one size may differ; they do not overlap."""
    whole = [(0, 0, now.width, now.height)]
    if before.key == now.key:
        return []
    if before.background != now.background:
        return whole
    if any(isinstance(layer, Adjustment) for layer in (*before.layers, *now.layers)):
        return whole  # a filter of everything below may carry a change anywhere
    boxes = []
    for layer in _changed_layers(before.layers, now.layers):
        assert isinstance(layer, Layer)
        placed = place(layer, now.width, now.height)
        if placed is not None:
            boxes.append((placed.left, placed.top, placed.right, placed.bottom))
            if boxes[-1] == whole[0]:
                return whole
    return _apart(boxes)


def _changed_layers(before: tuple[Entry, ...], now: tuple[Entry, ...]) -> Iterable[Entry]:
    """Of both; those that stay where they are in the order do not count."""
    if len(before) == len(now):
        for a, b in zip(before, now, strict=True):
            if a.key != b.key:
                yield from (a, b)
        return
    first = 0
    while first < min(len(before), len(now)) and before[first].key == now[first].key:
        first += 1
    last = 0
    while last < min(len(before), len(now)) - first and before[-1 - last].key == now[-1 - last].key:
        last += 1
    yield from before[first : len(before) - last]
    yield from now[first : len(now) - last]


def _apart(boxes: list[Box]) -> list[Box]:
    """Boxes that overlap become one, and so do all if they are many."""
    done: list[Box] = []
    for box in boxes:
        while (other := _to_join(box, done)) is not None:
            done.remove(other)
            box = _union(box, other)
        done.append(box)
    return done


def _to_join(box: Box, done: list[Box]) -> Box | None:
    left, top, right, bottom = box
    for other in done:
        if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
            return other
    return done[-1] if len(done) >= MOST else None


def _union(a: Box, b: Box) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
