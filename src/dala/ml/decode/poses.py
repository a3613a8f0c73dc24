"""PoseNet for several people: from the strongest peaks of the heatmaps along the tree of joints.

Every cell of the grid has, for each joint, a logit and an offset to the very place; and for each edge of
the tree a displacement to the joint at its other end, forward and backward. A peak that lies on a person
found before is not another person.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.ml.labels import JOINTS
from dala.ml.results import Pose, Poses, named
from dala.ml.view import View

Array = npt.NDArray[Any]
Place = tuple[float, float]  # y, x in pixels of the input
STRIDE = 16
SAME_PERSON_PX = 20.0  # joints so near each other are the same one
REFINEMENTS = 2  # after a displacement, the offset there tells the place better
MOST_ROOTS = 500
_TREE = (
    ("nose", "left_eye"), ("left_eye", "left_ear"), ("nose", "right_eye"), ("right_eye", "right_ear"),
    ("nose", "left_shoulder"), ("left_shoulder", "left_elbow"), ("left_elbow", "left_wrist"),
    ("left_shoulder", "left_hip"), ("left_hip", "left_knee"), ("left_knee", "left_ankle"),
    ("nose", "right_shoulder"), ("right_shoulder", "right_elbow"), ("right_elbow", "right_wrist"),
    ("right_shoulder", "right_hip"), ("right_hip", "right_knee"), ("right_knee", "right_ankle"),
)  # fmt: skip
EDGES = tuple((JOINTS.index(a), JOINTS.index(b)) for a, b in _TREE)


class Fields:
    """The four outputs of the network, as (rows, columns, …)."""

    def __init__(self, heatmap: Array, offsets: Array, forward: Array, backward: Array) -> None:
        self.scores: Array = 1 / (1 + np.exp(-heatmap.astype(np.float64)))
        self.rows, self.columns = heatmap.shape[:2]
        # the first half of the channels is y, the second x
        self.offsets = _pairs(offsets, len(JOINTS))
        self.forward = _pairs(forward, len(EDGES))
        self.backward = _pairs(backward, len(EDGES))

    def cell(self, place: Place) -> tuple[int, int]:
        """The cell of the grid nearest to a place."""
        row, column = (math.floor(p / STRIDE + 0.5) for p in place)
        return min(max(row, 0), self.rows - 1), min(max(column, 0), self.columns - 1)

    def place_of(self, cell: tuple[int, int], joint: int) -> Place:
        """The very place of a joint, from one of its cells."""
        row, column = cell
        dy, dx = self.offsets[row, column, joint]
        return row * STRIDE + float(dy), column * STRIDE + float(dx)

    def follow(self, place: Place, displacements: Array, edge: int, to: int) -> Place:
        """From a joint along an edge to the next."""
        dy, dx = displacements[(*self.cell(place), edge)]
        target = place[0] + float(dy), place[1] + float(dx)
        for _ in range(REFINEMENTS):
            target = self.place_of(self.cell(target), to)
        return target


def _pairs(field: Array, count: int) -> Array:
    """(rows, columns, 2 · count) as (rows, columns, count, 2)."""
    rows, columns = field.shape[:2]
    return field.reshape(rows, columns, 2, count).swapaxes(2, 3)


def read_poses(
    fields: Fields,
    view: View,
    *,
    score: float = 0.25,
    peak: float = 0.5,
    limit: int = 20,
) -> Poses:
    """People whose mean score over the joints is ``score`` or more; ``peak`` is how sure a joint must be
    to begin from. Joints that lie on a person found before do not add to a score."""
    found: list[tuple[float, list[Place], list[float]]] = []
    for root_score, row, column, joint in _roots(fields.scores, peak):
        place = fields.place_of((row, column), joint)
        if _is_taken(place, joint, found):
            continue
        places, scores = _trace(fields, joint, place, root_score)
        new = [s for j, s in enumerate(scores) if not _is_taken(places[j], j, found)]
        instance = sum(new) / len(JOINTS)
        if instance >= score:
            found.append((instance, places, scores))
        if len(found) == limit:
            break
    found.sort(key=lambda pose: -pose[0])
    return Poses(_pose(instance, places, scores, view) for instance, places, scores in found)


def _roots(scores: Array, peak: float) -> list[tuple[float, int, int, int]]:
    """Peaks of the heatmaps: largest among their 3 × 3 neighbours; the strongest first."""
    padded = np.pad(scores, ((1, 1), (1, 1), (0, 0)), constant_values=-1)
    rows, columns, _ = scores.shape
    around = [padded[y : y + rows, x : x + columns] for y in range(3) for x in range(3)]
    peaks = (scores >= np.max(around, axis=0)) & (scores >= peak)
    places = np.argwhere(peaks)
    strengths = scores[peaks]
    order = np.argsort(-strengths, kind="stable")[:MOST_ROOTS]
    return [
        (float(s), int(y), int(x), int(j))
        for s, (y, x, j) in zip(strengths[order], places[order], strict=True)
    ]


def _is_taken(
    place: Place, joint: int, found: list[tuple[float, list[Place], list[float]]]
) -> bool:
    return any(
        (places[joint][0] - place[0]) ** 2 + (places[joint][1] - place[1]) ** 2 <= SAME_PERSON_PX**2
        for _, places, _ in found
    )


def _trace(
    fields: Fields, root: int, place: Place, root_score: float
) -> tuple[list[Place], list[float]]:
    """All joints of the person that one of them belongs to."""
    places: list[Place | None] = [None] * len(JOINTS)
    scores = [0.0] * len(JOINTS)
    places[root], scores[root] = place, root_score

    def step(source: int, target: int, displacements: Array, edge: int) -> None:
        origin = places[source]
        if origin is not None and places[target] is None:
            places[target] = there = fields.follow(origin, displacements, edge, target)
            scores[target] = float(fields.scores[(*fields.cell(there), target)])

    for edge in reversed(range(len(EDGES))):  # towards the nose
        parent, child = EDGES[edge]
        step(child, parent, fields.backward, edge)
    for edge, (parent, child) in enumerate(EDGES):  # and from there to everything else
        step(parent, child, fields.forward, edge)
    complete = [p for p in places if p is not None]
    assert len(complete) == len(JOINTS)  # the tree connects all of them
    return complete, scores


def _pose(instance: float, places: list[Place], scores: list[float], view: View) -> Pose:
    points = view.points_in_picture(np.array([(x, y) for y, x in places]))
    joints = [(float(x), float(y), s) for (x, y), s in zip(points, scores, strict=True)]
    return Pose(instance, named(JOINTS, joints))
