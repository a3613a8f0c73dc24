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

from dala.ml.decode import boxes
from dala.ml.decode.boxes import merge_weighted
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


@functools.lru_cache(8)
def _centres(size: int, strides: tuple[int, ...]) -> list[tuple[float, float]]:
    """The same in pixels of the input, as numbers of Python's: few of them are looked at."""
    return [(x, y) for x, y in (anchors(size, strides) * size).tolist()]


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
    input, from the anchor's centre.

    Most anchors see no face, which one look at their logits tells. A handful does: for those a loop of
    Python's takes less time than a call of NumPy.
    """
    numbers, centres = regressors.reshape(-1, 16), _centres(size, tuple(strides))
    found = []
    for k in (logits.reshape(-1) >= _least_logit(score)).nonzero()[0].tolist():
        sure = _sigmoid(logits.item(k))
        if sure >= score:
            found.append((sure, _placed(numbers[k].tolist(), *centres[k])))
    merged = merge_weighted(found, overlap, limit)
    return Faces([_in_picture(sure, row, view) for sure, row in merged])


@functools.lru_cache(8)
def _least_logit(score: float) -> float:
    """Where the sigmoid is so large, or a little less."""
    least = math.log(score / (1 - score)) if 0 < score < 1 else (score - 0.5) * math.inf
    return -math.inf if least <= -MOST_LOGIT else min(least - NARROWLY, CERTAIN)


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-min(max(logit, -MOST_LOGIT), MOST_LOGIT)))


def _placed(numbers: list[float], x: float, y: float) -> list[float]:
    """Corners and points of an anchor whose centre is there."""
    across, down, width, height, *points = numbers
    across, down, wide, high = across + x, down + y, width / 2, height / 2
    corners = [across - wide, down - high, across + wide, down + high]
    return corners + [p + centre for p, centre in zip(points, (x, y) * 6, strict=True)]


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
    found = max(near, key=lambda other: boxes.overlap(face.box, other.box), default=None)
    if found is None or boxes.overlap(face.box, found.box) < SAME_FACE:
        return face
    return replace(found, score=max(face.score, found.score))


def _in_picture(score: float, row: Sequence[float], view: View) -> Face:
    upper, lower, *points = view.places_in_picture(row)
    return Face(view.within(upper, lower), score, named(FACE_KEYPOINTS, points))
