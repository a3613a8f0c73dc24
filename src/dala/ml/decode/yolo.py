"""YOLO as Ultralytics exports it: boxes as centre and size in pixels of the input.

v5: (N, 5 + classes), rows of box, objectness and class scores
v8: (4 + classes, N), columns of box and class scores; there is no objectness
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dala.ml.decode.ssd import keep_detections
from dala.ml.results import Detections
from dala.ml.view import View

Array = npt.NDArray[Any]
Version = Literal["yolo_v5", "yolo_v8"]


def version_of(shape: tuple[int, ...]) -> Version | None:
    """Which of the two puts out arrays of that shape; there are always many more boxes than classes."""
    if len(shape) != 3 or shape[0] != 1 or min(shape[1:]) < 5:
        return None
    if shape[1] > shape[2]:
        return "yolo_v5" if shape[2] > 5 else None
    return "yolo_v8" if shape[1] < shape[2] else None


def read_yolo(
    output: Array,
    version: Version,
    names: Mapping[int, str],
    view: View,
    *,
    score: float = 0.25,
    overlap: float = 0.45,
    limit: int = 300,
) -> Detections:
    """``output`` without the batch axis."""
    rows = output if version == "yolo_v5" else output.T
    first = 5 if version == "yolo_v5" else 4
    sure = rows[:, first:]
    best = sure.argmax(axis=1)
    scores = sure[np.arange(len(best)), best]
    if version == "yolo_v5":
        scores = scores * rows[:, 4]
    half = rows[:, 2:4] / 2
    corners = np.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)
    return keep_detections(
        view.boxes_in_picture(corners), scores, best, names, score, overlap, limit
    )
