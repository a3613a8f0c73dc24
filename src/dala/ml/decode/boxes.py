"""Boxes as (N, 4) arrays of x0, y0, x1, y1: how much they overlap, and which of them say the same."""

from __future__ import annotations

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


def merge_weighted(boxes: Array, scores: Array, points: Array, threshold: float) -> Array:
    """Boxes that overlap the surest one become their mean with it, weighted by score; and so on with the
    rest. ``points`` (N, K) are averaged alike: rows of score and K means. (A small net's boxes tremble
    from frame to frame; their mean does so less than the best of them.)"""
    order = np.argsort(-scores, kind="stable")
    merged = []
    while order.size:
        same = overlaps(boxes[order[:1]], boxes[order])[0] > threshold
        same[0] = True  # an empty box does not even overlap itself
        members = order[same]
        weights = scores[members]
        mean = (points[members] * weights[:, None]).sum(0) / weights.sum()
        merged.append(np.concatenate([scores[order[:1]], mean]))
        order = order[~same]
    return np.array(merged).reshape(len(merged), points.shape[1] + 1)
