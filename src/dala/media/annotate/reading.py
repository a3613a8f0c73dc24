"""Results as callers have them: arrays, or objects that have the attributes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, ShapeError

Array = npt.NDArray[Any]
MOST = 100_000  # things drawn on one picture


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, what it is called, and what its colour goes by."""

    corners: tuple[float, float, float, float]
    label: str
    key: Hashable


def as_list(results: Any, attribute: str) -> list[Any]:
    """Several results, or one of them."""
    return [results] if hasattr(results, attribute) else list(results)


def read_boxes(detections: Any, names: Any, who: str) -> list[Box]:
    """Objects with ``box``, or rows of x0, y0, x1, y1 and, if there, a score and a class."""
    if isinstance(detections, np.ndarray):
        return _rows(detections, names, who)
    items = as_list(detections, "box")
    if items and not hasattr(items[0], "box"):
        return _rows(_numbers(items, who), names, who)
    _check_count(len(items), who)
    return [_of_object(item, number, names, who) for number, item in enumerate(items)]


def _of_object(item: Any, number: int, names: Any, who: str) -> Box:
    corners = check_numbers(item.box, 4, who)
    track, class_id = getattr(item, "track_id", None), getattr(item, "class_id", None)
    name = getattr(item, "name", None) or name_of(names, class_id)
    label = " ".join(filter(None, [name, f"#{track}" if track is not None else "", score_of(item)]))
    key = next((k for k in (track, class_id, name) if k is not None and k != ""), number)
    return Box((corners[0], corners[1], corners[2], corners[3]), label, key)


def _rows(table: Array, names: Any, who: str) -> list[Box]:
    if table.size == 0:
        return []
    if table.ndim != 2 or not 4 <= table.shape[1] <= 6 or table.dtype.kind not in "iuf":
        raise ShapeError(f"{who}: expected boxes (N, 4..6) of numbers, got {table.shape}")
    _check_count(len(table), who)
    found = []
    for number, row in enumerate(table.tolist()):
        check_numbers(row, len(row), who)
        key = int(row[5]) if len(row) > 5 else number
        name = name_of(names, key if len(row) > 5 else number)
        score = f"{row[4]:.0%}" if len(row) > 4 else ""
        found.append(Box((row[0], row[1], row[2], row[3]), f"{name} {score}".strip(), key))
    return found


def score_of(item: Any) -> str:
    score = getattr(item, "score", None)
    return f"{float(score):.0%}" if score is not None else ""


def name_of(names: Any, number: Any) -> str:
    """From a list or a mapping of names, if there is one."""
    if names is None or number is None:
        return ""
    if isinstance(names, Mapping):
        return str(names.get(number, ""))
    return str(names[number]) if 0 <= int(number) < len(names) else ""


def check_numbers(values: Any, count: int, who: str) -> list[float]:
    """So many finite numbers."""
    try:
        numbers = [float(v) for v in values]
    except (TypeError, ValueError):
        raise ParameterError(f"{who}: expected {count} numbers, got {values!r:.80}") from None
    if len(numbers) != count:
        raise ShapeError(f"{who}: expected {count} numbers, got {len(numbers)}")
    if not np.isfinite(numbers).all():
        raise ParameterError(f"{who}: expected finite numbers, got {numbers}")
    return [min(max(v, -1e6), 1e6) for v in numbers]


def read_points(results: Any, who: str) -> list[Array]:
    """Groups of points (N, 3), each x, y, score: of faces, poses, or arrays (N, 2..3) or (M, N, 2..3)."""
    if isinstance(results, np.ndarray):
        groups = [results] if results.ndim == 2 else list(results)
        return [points_of(group, who) for group in groups]
    for attribute in ("joints", "keypoints"):
        if hasattr(results, attribute):
            return [points_of(getattr(results, attribute), who)]
    items = list(results)
    if items and np.ndim(items[0]) == 1 and not hasattr(items[0], "joints"):
        return [points_of(_numbers(items, who), who)]
    _check_count(len(items), who)
    return [group for item in items for group in _points_in(item, who)]


def _points_in(item: Any, who: str) -> list[Array]:
    for attribute in ("joints", "keypoints"):
        if hasattr(item, attribute):
            return [points_of(getattr(item, attribute), who)]
    return [points_of(item, who)]


def points_of(points: Any, who: str) -> Array:
    """Points (N, 3); a score that is not there is 1."""
    values = list(points.values()) if isinstance(points, Mapping) else points
    table = _numbers(values, who)
    if table.size == 0:
        return np.zeros((0, 3))
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        raise ShapeError(f"{who}: expected points (N, 2) or (N, 3), got {table.shape}")
    _check_count(len(table), who)
    if table.shape[1] == 2:
        table = np.concatenate([table, np.ones((len(table), 1))], 1)
    table = np.where(np.isfinite(table).all(1, keepdims=True), table, (0.0, 0.0, -1.0))
    return np.clip(table, -1e6, 1e6)


def _numbers(values: Any, who: str) -> Array:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{who}: expected rows of numbers: {error}") from error


def _check_count(count: int, who: str) -> None:
    if count > MOST:
        raise ParameterError(f"{who}: {count} things; {MOST} at the most")
