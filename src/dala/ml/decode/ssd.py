"""SSD: for every anchor a score of every class and a box; what says the same twice is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.ml.decode.boxes import suppress
from dala.ml.results import Detection, Detections
from dala.ml.view import View

Array = npt.NDArray[Any]
MOST_CANDIDATES = 400  # before doubles are dropped, the surest


def read_ssd(
    scores: Array,
    boxes: Array,
    names: Mapping[int, str],
    view: View,
    *,
    score: float = 0.5,
    overlap: float = 0.5,
    limit: int = 100,
) -> Detections:
    """``scores`` (anchors, classes), class k is id k + 1; ``boxes`` (anchors, 4): y, x, y, x of 0..1."""
    best = scores.argmax(axis=1)
    sure = scores[np.arange(len(best)), best]
    fractions = boxes[:, [1, 0, 3, 2]] * np.array([view.width, view.height] * 2, np.float32)
    return keep_detections(
        view.boxes_in_picture(fractions), sure, best + 1, names, score, overlap, limit
    )


def keep_detections(
    boxes: Array,
    scores: Array,
    class_ids: Array,
    names: Mapping[int, str],
    score: float,
    overlap: float,
    limit: int,
) -> Detections:
    """What is sure enough, once each; boxes are in the picture already."""
    chosen = np.flatnonzero(scores >= score)
    chosen = chosen[np.argsort(-scores[chosen], kind="stable")[:MOST_CANDIDATES]]
    kept = chosen[suppress(boxes[chosen], scores[chosen], class_ids[chosen], overlap)][:limit]
    return Detections(
        Detection(
            tuple(boxes[i].tolist()),
            float(scores[i]),
            int(class_ids[i]),
            names.get(int(class_ids[i]), f"class {int(class_ids[i])}"),
        )
        for i in kept
    )
