"""Keypoints and skeletons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dala.colors import Color
from dala.media.annotate.canvas import Canvas, drawing_on
from dala.media.annotate.palette import RGB, RIM, chosen
from dala.media.annotate.reading import Array, as_list, points_of, read_points
from dala.media.pictures import Channels

# COCO's seventeen joints, and which of them are joined
JOINTS = (
    "nose", "left_eye", "right_eye", "left_ear", "right_ear", "left_shoulder", "right_shoulder",
    "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip", "right_hip", "left_knee",
    "right_knee", "left_ankle", "right_ankle",
)  # fmt: skip
BONES = (
    ("left_ankle", "left_knee"), ("left_knee", "left_hip"), ("right_ankle", "right_knee"),
    ("right_knee", "right_hip"), ("left_hip", "right_hip"), ("left_shoulder", "left_hip"),
    ("right_shoulder", "right_hip"), ("left_shoulder", "right_shoulder"),
    ("left_shoulder", "left_elbow"), ("right_shoulder", "right_elbow"), ("left_elbow", "left_wrist"),
    ("right_elbow", "right_wrist"), ("left_eye", "right_eye"), ("nose", "left_eye"),
    ("nose", "right_eye"), ("left_eye", "left_ear"), ("right_eye", "right_ear"),
)  # fmt: skip


def keypoints(
    image: Any,
    points: Any,
    *,
    min_score: float = 0.3,
    radius: float | None = None,
    color: Color | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Points: arrays (N, 2), (N, 3) with scores or (M, N, 2..3), faces (``keypoints``), poses (``joints``).

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> shown = annotate.keypoints(np.zeros((60, 80, 3), np.uint8), np.array([[40, 30]]), color="red")
    >>> shown[29, 39].tolist()
    [255, 0, 0]
    """
    groups = read_points(points, "keypoints")
    with drawing_on(image, width, height, channels, "keypoints") as canvas:
        for number, group in enumerate(groups):
            _dots(canvas, group, min_score, radius, chosen(color, number))
    return canvas.result


def _dots(
    canvas: Canvas, points: Array, min_score: float, radius: float | None, color: RGB
) -> None:
    seen = points[points[:, 2] >= min_score]
    size = canvas.line * 1.6 if radius is None else radius
    discs = np.concatenate([seen[:, :2], np.full((len(seen), 1), size)], 1)
    rims = np.array([0, 0, max(1.0, size / 3)])
    canvas.surface.fill_discs(discs + rims, RIM)
    canvas.surface.fill_discs(discs, color)


def skeletons(
    image: Any,
    poses: Any,
    *,
    bones: Sequence[tuple[Any, Any]] | None = None,
    min_score: float = 0.3,
    line: float | None = None,
    color: Color | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Poses as lines between joints: objects with ``joints`` (name → x, y, score), or arrays (17, 3) or
    (M, 17, 3) in COCO's order. ``bones`` are pairs of names, or of numbers.

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> pose = {"left_shoulder": (20, 20, 1.0), "right_shoulder": (60, 20, 0.9)}
    >>> shown = annotate.skeletons(np.zeros((60, 80, 3), np.uint8), [pose], color="lime")
    >>> int(shown[20, 40, 1]) > 200
    True
    """
    found = _read_poses(poses)
    with drawing_on(image, width, height, channels, "skeletons") as canvas:
        thick = canvas.line * 1.5 if line is None else line
        for number, (names, points) in enumerate(found):
            shade = chosen(color, number)
            lines = _lines(names, points, bones, min_score)
            canvas.surface.stroke_lines(lines, RIM, thick + max(1.0, thick / 2), "round")
            canvas.surface.stroke_lines(lines, shade, thick, "round")
            _dots(canvas, points, min_score, thick, shade)
    return canvas.result


def _read_poses(poses: Any) -> list[tuple[list[Any], Array]]:
    """Names (or numbers) of joints, and their points, for each pose."""
    if isinstance(poses, np.ndarray):
        items: list[Any] = [poses] if poses.ndim == 2 else list(poses)
    else:
        items = [poses] if isinstance(poses, Mapping) else as_list(poses, "joints")
    found = []
    for item in items:
        joints = getattr(item, "joints", item)
        points = points_of(joints, "skeletons")
        if isinstance(joints, Mapping):
            names = list(joints)
        else:
            names = list(JOINTS) if len(points) == len(JOINTS) else list(range(len(points)))
        found.append((names, points))
    return found


def _lines(
    names: list[Any], points: Array, bones: Sequence[tuple[Any, Any]] | None, min_score: float
) -> Array:
    number = {name: i for i, name in enumerate(names)}
    number.update({i: i for i in range(len(names))})
    pairs = [(number[a], number[b]) for a, b in bones or BONES if a in number and b in number]
    kept = [(a, b) for a, b in pairs if min(points[a, 2], points[b, 2]) >= min_score]
    return np.array([[*points[a, :2], *points[b, :2]] for a, b in kept]).reshape(-1, 4)
