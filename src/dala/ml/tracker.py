"""Detections over frames: the same thing keeps its number.

Every track foretells where its box is next (place and size go on as they did); detections are given to the
tracks they overlap most, the sure ones first, so that one that is half hidden still finds its own (as in
ByteTrack). A track that is not seen for a while is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ArgumentError, ParameterError
from dala.ml.decode.boxes import overlaps
from dala.ml.results import Detection, Detections

Array = npt.NDArray[Any]
GAIN, SPEED_GAIN = 0.8, 0.4  # how much of a surprise goes into a track's place, and into its speed


@dataclass(slots=True)
class _Track:
    number: int
    class_id: int
    box: Array  # centre x, y, width, height
    speed: Array  # of all four, per frame
    unseen: int = 0

    def foretell(self) -> None:
        self.box = self.box + self.speed
        self.box[2:] = np.maximum(self.box[2:], 1e-3)

    def correct(self, box: Array) -> None:
        surprise = box - self.box
        self.box = self.box + GAIN * surprise
        self.speed = self.speed + SPEED_GAIN * surprise
        self.unseen = 0


class Tracker:
    """Numbers for things, from frame to frame.

    ``overlap`` (0..1) is how much a detection and where its track should be must have in common;
    ``patience`` is how many frames a thing may be out of sight; from ``start`` on a score begins a track.

    >>> from dala import ml
    >>> tracker = ml.Tracker()
    >>> for x in (0, 10, 20):  # a cat that walks
    ...     seen = ml.Detections([ml.Detection((x, 0, x + 50, 40), 0.9, 17, "cat")])
    ...     found = tracker.update(seen)
    >>> found[0].track_id, found[0].box
    (1, (20, 0, 70, 40))
    """

    def __init__(self, *, overlap: float = 0.2, patience: int = 30, start: float = 0.5) -> None:
        for name, value in (("overlap", overlap), ("start", start)):
            if not 0 <= value <= 1:
                raise ParameterError(f"Tracker: {name} is a number of 0..1, got {value!r}")
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 0:
            raise ParameterError(f"Tracker: patience is a number of frames, got {patience!r}")
        self.overlap = overlap
        self.patience = patience
        self.start = start
        self._tracks: list[_Track] = []
        self._last = 0

    def update(self, detections: Detections) -> Detections:
        """The detections of the next frame, each with the number of its track; one too unsure to begin a
        track has none."""
        if not isinstance(detections, Detections):
            raise ArgumentError(f"a tracker follows Detections, got {type(detections).__name__}")
        boxes = np.array([_centred(d) for d in detections]).reshape(-1, 4)
        for track in self._tracks:
            track.foretell()
            track.unseen += 1
        numbers: dict[int, int] = {}
        sure = [i for i, d in enumerate(detections) if d.score >= self.start]
        unsure = [i for i, d in enumerate(detections) if d.score < self.start]
        for chosen in (sure, unsure):
            free = [t for t in self._tracks if t.unseen]
            for i, track in self._pairs(chosen, boxes, detections, free):
                track.correct(boxes[i])
                numbers[i] = track.number
        for i in sure:
            if i not in numbers:
                numbers[i] = self._begin(boxes[i], detections[i].class_id)
        self._tracks = [t for t in self._tracks if t.unseen <= self.patience]
        return Detections(replace(d, track_id=numbers.get(i)) for i, d in enumerate(detections))

    def reset(self) -> None:
        """Forget all tracks, at a cut; numbers go on."""
        self._tracks = []

    def _begin(self, box: Array, class_id: int) -> int:
        self._last += 1
        self._tracks.append(_Track(self._last, class_id, box.copy(), np.zeros(4)))
        return self._last

    def _pairs(
        self, chosen: list[int], boxes: Array, detections: Detections, tracks: list[_Track]
    ) -> list[tuple[int, _Track]]:
        """Detections and tracks of a class that overlap enough, those that overlap most first."""
        if not chosen or not tracks:
            return []
        shared = overlaps(_corners(boxes[chosen]), _corners(np.array([t.box for t in tracks])))
        alike = np.array([[detections[i].class_id == t.class_id for t in tracks] for i in chosen])
        shared = np.where(alike, shared, -1.0)
        pairs = []
        while shared.size and shared.max() > self.overlap:
            row, column = np.unravel_index(int(shared.argmax()), shared.shape)
            pairs.append((chosen[row], tracks[column]))
            shared[row], shared[:, column] = -1.0, -1.0
        return pairs


def _centred(detection: Detection) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = detection.box
    return (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0


def _corners(boxes: Array) -> Array:
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
