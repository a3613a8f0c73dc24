"""What models say of a picture: frozen records, in the pixels of the picture that was given.

Classes, Detections, Faces and Poses are sequences of records, the best first; ``to_arrays()`` gives the
same as NumPy arrays. Boxes are ``(x0, y0, x1, y1)``; (0, 0) is the upper left corner of the picture.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from dala.ml.labels import FACE_KEYPOINTS, JOINTS

Array = npt.NDArray[Any]
Box = tuple[float, float, float, float]
Record = TypeVar("Record")
Point = TypeVar("Point")
Same = TypeVar("Same", bound="Results[Any]")


@dataclass(frozen=True, slots=True)
class Class:
    """What a whole picture shows.

    >>> from dala import ml
    >>> ml.Class(281, "tabby", 0.8)
    Class(index=281, name='tabby', score=0.8)
    """

    index: int
    name: str
    score: float  # 0..1


@dataclass(frozen=True, slots=True)
class Detection:
    """A thing and where it is; ``track_id`` is what a Tracker calls it from frame to frame.

    >>> from dala import ml
    >>> ml.Detection((10, 20, 110, 220), 0.9, 17, "cat").name
    'cat'
    """

    box: Box
    score: float
    class_id: int
    name: str
    track_id: int | None = None


@dataclass(frozen=True, slots=True)
class Face:
    """A face; keypoints by name, right and left as the person has them.

    >>> from dala import ml
    >>> ml.Face((0, 0, 90, 90), 0.9, {"right_eye": (30, 30), "left_eye": (60, 30)}).keypoints["left_eye"]
    (60, 30)
    """

    box: Box
    score: float
    keypoints: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Pose:
    """A person's joints, each ``(x, y, score)``.

    >>> from dala import ml
    >>> ml.Pose(0.8, {"left_shoulder": (120.0, 80.0, 0.9)}).joints["left_shoulder"]
    (120.0, 80.0, 0.9)
    """

    score: float
    joints: Mapping[str, tuple[float, float, float]]


class Results(Sequence[Record], Generic[Record]):
    """Records in order; like a tuple of them, with ``to_arrays()``."""

    __slots__ = ("_records",)

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records: tuple[Record, ...] = tuple(records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self: Same, index: slice) -> Same: ...
    def __getitem__(self, index: int | slice) -> object:
        found = self._records[index]
        return type(self)(found) if isinstance(index, slice) else found  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._records)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._records == other._records

    def __hash__(self) -> int:
        return hash((type(self), self._records))

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{', '.join(map(repr, self._records))}])"

    @abstractmethod
    def to_arrays(self) -> dict[str, Array]:
        """The same as arrays, by name."""


class Classes(Results[Class]):
    """The classes of a picture, the most probable first.

    >>> from dala import ml
    >>> ml.Classes([ml.Class(281, "tabby", 0.75)]).to_arrays()["scores"]
    array([0.75], dtype=float32)
    """

    __slots__ = ()

    def to_arrays(self) -> dict[str, Array]:
        """``indices`` (N,), ``scores`` (N,), ``names`` (N,)."""
        return {
            "indices": np.array([c.index for c in self], np.int64),
            "scores": np.array([c.score for c in self], np.float32),
            "names": np.array([c.name for c in self], np.str_),
        }


class Detections(Results[Detection]):
    """Things in a picture, the surest first.

    >>> from dala import ml
    >>> found = ml.Detections([ml.Detection((10, 20, 110, 220), 0.9, 17, "cat")])
    >>> found.to_arrays()["boxes"]
    array([[ 10.,  20., 110., 220.]], dtype=float32)
    """

    __slots__ = ()

    def to_arrays(self) -> dict[str, Array]:
        """``boxes`` (N, 4), ``scores``, ``class_ids``, ``names``, ``track_ids`` (-1: none), (N,) each."""
        return {
            **_boxes_and_scores(self),
            "class_ids": np.array([d.class_id for d in self], np.int64),
            "names": np.array([d.name for d in self], np.str_),
            "track_ids": np.array(
                [-1 if d.track_id is None else d.track_id for d in self], np.int64
            ),
        }


class Faces(Results[Face]):
    """Faces in a picture, the surest first.

    >>> from dala import ml
    >>> ml.Faces().to_arrays()["keypoints"].shape
    (0, 6, 2)
    """

    __slots__ = ()

    def to_arrays(self) -> dict[str, Array]:
        """``boxes`` (N, 4), ``scores`` (N,), ``keypoints`` (N, 6, 2) in the order of ``FACE_KEYPOINTS``."""
        missing = (np.nan, np.nan)
        points = [[f.keypoints.get(name, missing) for name in FACE_KEYPOINTS] for f in self]
        shaped = np.array(points, np.float32).reshape(len(self), len(FACE_KEYPOINTS), 2)
        return {**_boxes_and_scores(self), "keypoints": shaped}


class Poses(Results[Pose]):
    """People in a picture, the surest first.

    >>> from dala import ml
    >>> ml.Poses().to_arrays()["joints"].shape
    (0, 17, 3)
    """

    __slots__ = ()

    def to_arrays(self) -> dict[str, Array]:
        """``scores`` (N,), ``joints`` (N, 17, 3): x, y and score of each, in the order of ``JOINTS``."""
        missing = (np.nan, np.nan, 0.0)
        joints = [[p.joints.get(name, missing) for name in JOINTS] for p in self]
        return {
            "scores": np.array([p.score for p in self], np.float32),
            "joints": np.array(joints, np.float32).reshape(len(self), len(JOINTS), 3),
        }


def _boxes_and_scores(found: Results[Any]) -> dict[str, Array]:
    return {
        "boxes": np.array([d.box for d in found], np.float32).reshape(len(found), 4),
        "scores": np.array([d.score for d in found], np.float32),
    }


def named(names: Sequence[str], points: Iterable[Point]) -> Mapping[str, Point]:
    """Points by their names; it cannot be changed."""
    return MappingProxyType(dict(zip(names, points, strict=True)))
