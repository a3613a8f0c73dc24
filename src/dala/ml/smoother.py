"""Against flicker: masks and landmarks that tremble from frame to frame become steady, without lagging.

A mask is mixed with the one before where it is unsure, and only there (as MediaPipe does). Landmarks go
through a low-pass whose cutoff rises with their speed (the One Euro filter of Casiez, Roussel and Vogel):
what stands still is steady, what moves is where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.ml.decode.boxes import overlaps
from dala.ml.labels import FACE_KEYPOINTS, JOINTS
from dala.ml.results import Faces, Poses, named
from dala.ml.segmentation import Segmentation

Array = npt.NDArray[Any]
Smoothed = TypeVar("Smoothed", bound="Segmentation | Faces | Poses | npt.NDArray[Any]")
SAME = 0.2  # overlap of a person's box with that of the frame before
SPEED_CUTOFF_HZ = 1.0


class Smoother:
    """Steadies Segmentations and masks (arrays of u8 or of 0..1), Faces and Poses, frame after frame.

    ``ratio`` is how much of the mask before is mixed in where the new one is quite unsure; ``cutoff_hz``
    steadies landmarks that stand still (less is steadier), ``beta`` lets those that move follow at once.
    One Smoother is for one kind of result of one video.

    >>> import numpy as np
    >>> from dala import ml
    >>> smoother = ml.Smoother(ratio=0.5)
    >>> masks = [np.full((1, 1), share, np.float32) for share in (0.9, 0.5)]
    >>> [round(float(smoother.update(mask)[0, 0]), 2) for mask in masks]
    [0.9, 0.7]
    """

    def __init__(
        self, *, ratio: float = 0.7, cutoff_hz: float = 1.0, beta: float = 10.0, fps: float = 30.0
    ) -> None:
        if not 0 <= ratio <= 1:
            raise ParameterError(f"Smoother: ratio is a number of 0..1, got {ratio!r}")
        for name, value in (("cutoff_hz", cutoff_hz), ("fps", fps)):
            if not value > 0:
                raise ParameterError(f"Smoother: {name} is above 0, got {value!r}")
        if beta < 0:
            raise ParameterError(f"Smoother: beta is 0 or more, got {beta!r}")
        self.ratio = ratio
        self.cutoff_hz = cutoff_hz
        self.beta = beta
        self.fps = fps
        self._mask: Array | None = None
        self._people: list[_Person] = []

    def update(self, result: Smoothed) -> Smoothed:
        """The result of the next frame, steadied; of the same kind."""
        if isinstance(result, Segmentation):
            return self._segmentation(result)  # type: ignore[return-value]
        if isinstance(result, Faces):
            return self._faces(result)  # type: ignore[return-value]
        if isinstance(result, Poses):
            return self._poses(result)  # type: ignore[return-value]
        if isinstance(result, np.ndarray):
            return self._array(result)  # type: ignore[return-value]
        raise ArgumentError(
            f"a smoother takes a Segmentation, Faces, Poses or a mask, got {type(result).__name__}"
        )

    def reset(self) -> None:
        """Forget the frames before, at a cut."""
        self._mask, self._people = None, []

    # -- masks ---------------------------------------------------------------------------------

    def _segmentation(self, result: Segmentation) -> Segmentation:
        if result.soft is None:
            raise ArgumentError(
                "this segmentation has classes and no soft mask; smooth result.mask(name) instead"
            )
        soft = self._mix(result.soft)
        return Segmentation(
            (soft >= 0.5).astype(np.uint8), result.names, soft=soft, size=result.size
        )

    def _array(self, mask: Array) -> Array:
        if mask.dtype == np.uint8:
            mixed = self._mix(mask.astype(np.float32) / 255)
            levels: Array = np.rint(mixed * 255).astype(np.uint8)
            return levels
        if mask.dtype.kind != "f":
            raise ArgumentError(f"a mask is u8, or of 0..1 in floats, got {mask.dtype}")
        return self._mix(mask)

    def _mix(self, new: Array) -> Array:
        before = self._mask
        if before is not None and before.shape != new.shape:
            raise ShapeError(
                f"the mask before was {before.shape}, this one is {new.shape}; reset() begins anew"
            )
        if before is not None:
            doubt = 4 * new * (1 - new)  # 1 at ½, 0 where it is sure
            new = new + (before - new) * (doubt * np.float32(self.ratio))
        self._mask = new
        return new

    # -- landmarks -----------------------------------------------------------------------------

    def _faces(self, faces: Faces) -> Faces:
        # the box's corners are smoothed as two points more
        points = np.array(
            [[*(f.keypoints[name] for name in FACE_KEYPOINTS), f.box[:2], f.box[2:]] for f in faces]
        ).reshape(len(faces), len(FACE_KEYPOINTS) + 2, 2)
        smooth = self._steady(points)
        return Faces(
            replace(
                face,
                box=tuple(p[-2:].reshape(4).tolist()),
                keypoints=named(FACE_KEYPOINTS, [(x, y) for x, y in p[:-2].tolist()]),
            )
            for face, p in zip(faces, smooth, strict=True)
        )

    def _poses(self, poses: Poses) -> Poses:
        joints = np.array([[p.joints[name] for name in JOINTS] for p in poses])
        joints = joints.reshape(len(poses), len(JOINTS), 3)
        smooth = self._steady(joints[..., :2])
        return Poses(
            replace(
                pose,
                joints=named(
                    JOINTS,
                    [
                        (x, y, pose.joints[n][2])
                        for n, (x, y) in zip(JOINTS, p.tolist(), strict=True)
                    ],
                ),
            )
            for pose, p in zip(poses, smooth, strict=True)
        )

    def _steady(self, points: Array) -> Array:
        """(people, points, 2), each person filtered with whom they were in the frame before."""
        boxes = np.concatenate([points.min(1, initial=np.inf), points.max(1, initial=-np.inf)], -1)
        shared = overlaps(boxes, np.array([p.box for p in self._people]).reshape(-1, 4))
        people: list[_Person] = []
        for number, box in enumerate(boxes):
            found = int(shared[number].argmax()) if shared.shape[1] else -1
            if found >= 0 and shared[number, found] > SAME:
                shared[:, found] = -1.0  # nobody else
                person = self._people[found]
                person.move(points[number], box, self)
            else:
                person = _Person(points[number].copy(), np.zeros_like(points[number]), box)
            people.append(person)
        self._people = people
        return np.array([p.points for p in people]).reshape(points.shape)


@dataclass(slots=True)
class _Person:
    points: Array
    speed: Array  # per second
    box: Array

    def move(self, points: Array, box: Array, how: Smoother) -> None:
        scale = max(float(np.mean(box[2:] - box[:2])), 1e-6)  # speeds are in sizes of the person
        measured = (points - self.points) * how.fps
        self.speed = self.speed + _share(SPEED_CUTOFF_HZ, how.fps) * (measured - self.speed)
        pace = np.linalg.norm(self.speed, axis=-1, keepdims=True) / scale
        share = _share(how.cutoff_hz + how.beta * pace, how.fps)
        self.points = self.points + share * (points - self.points)
        self.box = box


def _share(cutoff_hz: Any, fps: float) -> Any:
    """How much of a new value a low-pass of first order takes over in a frame."""
    return 1 / (1 + fps / (2 * np.pi * cutoff_hz))
