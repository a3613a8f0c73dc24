"""Boxes as (N, 4) arrays of x0, y0, x1, y1: how much they overlap, and which of them say the same."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def areas(boxes: Array) -> Array:
    """Of each box; of one that is turned inside out, 0."""
    sides = np.maximum(boxes[..., 2:] - boxes[..., :2], 0)
    product: Array = sides[..., 0] * sides[..., 1]
    return product


def overlaps(one: Array, other: Array) -> Array:
    """Intersection over union of every box of one with every box of the other: (N, M)."""
    sides = np.minimum(one[:, None, 2:], other[None, :, 2:])
    sides -= np.maximum(one[:, None, :2], other[None, :, :2])
    np.maximum(sides, 0, out=sides)
    shared = sides[..., 0] * sides[..., 1]
    union = areas(one)[:, None] + areas(other)[None] - shared
    result: Array = np.divide(shared, union, out=np.zeros(shared.shape), where=union > 0)
    return result


def suppress(boxes: Array, scores: Array, groups: Array, threshold: float) -> Array:
    """The numbers of the boxes that stay, the surest first: a box falls that overlaps a surer one of its
    group by more than the threshold."""
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    while order.size:
        best, rest = order[0], order[1:]
        kept.append(int(best))
        same = overlaps(boxes[best : best + 1], boxes[rest])[0] > threshold
        order = rest[~(same & (groups[rest] == groups[best]))]
    return np.array(kept, np.int64)


def overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union of two boxes."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or high <= 0:
        return 0.0
    shared = wide * high
    return shared / (_area(one) + _area(other) - shared)


def _area(box: Sequence[float]) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def merge_weighted(
    found: Iterable[tuple[float, list[float]]], threshold: float, limit: int
) -> list[tuple[float, list[float]]]:
    """Scores, and rows that begin with a box. Boxes that overlap the surest one become their mean with it,
    weighted by score, and so do the numbers behind them; and so on with the rest. (A small net's boxes
    tremble from frame to frame; their mean does so less than the best of them.)"""
    rest = sorted(found, key=operator.itemgetter(0), reverse=True)
    merged: list[tuple[float, list[float]]] = []
    while rest and len(merged) < limit:
        best, others = rest[0], rest[1:]
        same, rest = [best], []  # an empty box does not even overlap itself
        for other in others:
            (same if overlap(best[1], other[1]) > threshold else rest).append(other)
        merged.append((best[0], _weighted_mean(same)))
    return merged


def _weighted_mean(members: Sequence[tuple[float, list[float]]]) -> list[float]:
    total, sums = 0.0, [0.0] * len(members[0][1])
    for weight, row in members:
        total += weight
        sums = [before + weight * value for before, value in zip(sums, row, strict=True)]
    return [value / total for value in sums]
