"""BlazeFace: boxes and six keypoints beside anchors of fixed places, and the weighted mean of those that
say the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.ml.decode.boxes import merge_weighted, overlaps
from dala.ml.labels import FACE_KEYPOINTS
from dala.ml.results import Face, Faces, named
from dala.ml.view import View, Window

Array = npt.NDArray[Any]
SAME_FACE = 0.4  # overlap of the two looks at it
MOST_LOGIT = 100.0  # beyond, a sigmoid is 0 or 1
CERTAIN = 30.0  # from here on it is nearly 1
NARROWLY = 1e-3  # so close, the sigmoid itself decides


@functools.lru_cache(8)
def anchors(size: int, strides: tuple[int, ...]) -> Array:
    """The centres of all anchors, x and y in 0..1: two for each layer, at every cell of its grid; layers
    of one stride share a grid."""
    centres = []
    number = 0
    while number < len(strides):
        stride = strides[number]
        layers = 1
        while number + layers < len(strides) and strides[number + layers] == stride:
            layers += 1
        cells = -(-size // stride)
        places = (np.arange(cells) + 0.5) / cells
        grid = np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2)
        centres.append(np.repeat(grid, 2 * layers, axis=0))
        number += layers
    found: Array = np.concatenate(centres).astype(np.float32)
    found.setflags(write=False)
    return found


def read_faces(
    logits: Array,
    regressors: Array,
    size: int,
    strides: Sequence[int],
    view: View,
    *,
    score: float = 0.5,
    overlap: float = 0.3,
    limit: int = 50,
) -> Faces:
    """``logits`` (anchors,), ``regressors`` (anchors, 16): centre, size and six points, in pixels of the
    input, from the anchor's centre."""
    chosen, scores = _sure_ones(logits.reshape(-1), score)
    if not chosen.size:
        return Faces()
    numbers = regressors.reshape(-1, 16)[chosen].astype(np.float64)
    centres = anchors(size, tuple(strides))[chosen] * size
    middle, half = numbers[:, :2] + centres, numbers[:, 2:4] / 2
    points = (numbers[:, 4:].reshape(-1, 6, 2) + centres[:, None]).reshape(-1, 12)
    corners = np.concatenate([middle - half, middle + half], axis=1)
    merged = merge_weighted(corners, scores, np.concatenate([corners, points], axis=1), overlap)
    return Faces(_in_picture(merged[:limit], view))


def _sure_ones(logits: Array, score: float) -> tuple[Array, Array]:
    """The numbers of those whose sigmoid is so large, and their sigmoids. Most anchors see no face: a look
    at their logits is enough for that."""
    least = math.log(score / (1 - score)) if 0 < score < 1 else (score - 0.5) * math.inf
    least = -math.inf if least <= -MOST_LOGIT else min(least - NARROWLY, CERTAIN)
    chosen = np.flatnonzero(logits >= least)
    clipped = logits[chosen].astype(np.float64).clip(-MOST_LOGIT, MOST_LOGIT)
    scores = 1 / (1 + np.exp(-clipped))
    enough = scores >= score
    return (chosen, scores) if enough.all() else (chosen[enough], scores[enough])


CLOSER = 3.0  # a window of so many times a face's size
NEAR = 0.25  # a face that fills so much of what was looked at needs no closer look
LOOKS = 4  # at the surest faces


def look_closer(faces: Faces, look: Callable[[Window], Faces], size: tuple[int, int]) -> Faces:
    """Small faces again, from nearer: the net's keypoints are good to a pixel of its small input alone."""
    done = [
        _seen_closer(face, look, size) if number < LOOKS else face
        for number, face in enumerate(faces)
    ]
    return Faces(done)


def _seen_closer(face: Face, look: Callable[[Window], Faces], size: tuple[int, int]) -> Face:
    x0, y0, x1, y1 = face.box
    side = max(x1 - x0, y1 - y0)
    if side <= 0 or side > NEAR * max(size):
        return face
    x, y, reach = (x0 + x1) / 2, (y0 + y1) / 2, side * CLOSER / 2
    near = look((x - reach, y - reach, x + reach, y + reach))
    shared = overlaps(np.array([face.box]), np.array([n.box for n in near]).reshape(-1, 4))[0]
    if not len(near) or shared.max() < SAME_FACE:
        return face
    found = near[int(shared.argmax())]
    return replace(found, score=max(face.score, found.score))


def _in_picture(rows: Array, view: View) -> list[Face]:
    scores = rows[:, 0].tolist()
    boxes = view.boxes_in_picture(rows[:, 1:5]).tolist()
    points = view.points_in_picture(rows[:, 5:].reshape(-1, 6, 2)).tolist()
    return [
        Face((x0, y0, x1, y1), score, named(FACE_KEYPOINTS, [(x, y) for x, y in places]))
        for score, (x0, y0, x1, y1), places in zip(scores, boxes, points, strict=True)
    ]
