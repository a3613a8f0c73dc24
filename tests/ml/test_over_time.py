"""Trackers and smoothers: the same thing keeps its number, what trembles becomes steady."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dala import ml
from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.ml.labels import FACE_KEYPOINTS, JOINTS

Array = np.ndarray[Any, Any]


def seen(*boxes: tuple[float, ...], name: str = "car", score: float = 0.9) -> ml.Detections:
    return ml.Detections(ml.Detection(b, score, len(name), name) for b in boxes)  # type: ignore[arg-type]


def numbers(found: ml.Detections) -> list[int | None]:
    return [d.track_id for d in found]


def test_things_that_pass_each_other_keep_their_numbers() -> None:
    tracker = ml.Tracker()
    first: list[int | None] = []
    for frame in range(40):
        right = (10.0 * frame, 0, 10.0 * frame + 60, 40)
        left = (400 - 10.0 * frame, 10, 460 - 10.0 * frame, 60)
        found = numbers(tracker.update(seen(right, left)))
        first = first or found
        assert found == first == [1, 2]


def test_a_thing_that_was_hidden_is_the_same_and_later_another() -> None:
    tracker = ml.Tracker(patience=5)
    for frame in range(6):
        tracker.update(seen((10.0 * frame, 0, 10.0 * frame + 60, 40)))
    for _ in range(3):
        tracker.update(ml.Detections())
    assert numbers(tracker.update(seen((90, 0, 150, 40)))) == [1]
    for _ in range(6):
        tracker.update(ml.Detections())
    assert numbers(tracker.update(seen((90, 0, 150, 40)))) == [2]


def test_an_unsure_detection_goes_on_with_a_track_and_begins_none() -> None:
    tracker = ml.Tracker()
    assert numbers(tracker.update(seen((0, 0, 50, 50), score=0.3))) == [None]
    assert numbers(tracker.update(seen((0, 0, 50, 50)))) == [1]
    assert numbers(tracker.update(seen((1, 0, 51, 50), score=0.3))) == [1]
    assert numbers(tracker.update(seen((1, 0, 51, 50), name="person"))) == [2]
    tracker.reset()
    assert numbers(tracker.update(seen((1, 0, 51, 50)))) == [3]


def test_trackers_check_what_they_are_given() -> None:
    with pytest.raises(ParameterError, match=r"overlap is a number of 0\.\.1, got 2"):
        ml.Tracker(overlap=2)
    with pytest.raises(ParameterError, match="patience is a number of frames, got -1"):
        ml.Tracker(patience=-1)
    with pytest.raises(ArgumentError, match="a tracker follows Detections, got Faces"):
        ml.Tracker().update(ml.Faces())  # type: ignore[arg-type]


def test_a_mask_follows_where_it_is_sure_and_waits_where_it_is_not() -> None:
    smoother = ml.Smoother(ratio=0.7)
    one = np.array([[0.0, 1.0, 0.6]], np.float32)
    two = np.array([[1.0, 0.0, 0.5]], np.float32)
    np.testing.assert_array_equal(smoother.update(one), one)
    np.testing.assert_allclose(smoother.update(two), [[1.0, 0.0, 0.57]], atol=1e-6)
    smoother.reset()
    np.testing.assert_array_equal(smoother.update(two), two)
    with pytest.raises(ShapeError, match=r"was \(1, 3\), this one is \(2, 2\); reset"):
        smoother.update(np.zeros((2, 2), np.float32))


def test_masks_of_bytes_and_segmentations() -> None:
    levels = [np.full((2, 2), level, np.uint8) for level in (255, 128)]
    smoother = ml.Smoother(ratio=1.0)
    assert [int(smoother.update(mask)[0, 0]) for mask in levels] == [255, 255]
    smoother = ml.Smoother()
    flicker = [np.full((4, 4), share, np.float32) for share in (0.55, 0.45, 0.55, 0.45)]
    people = [
        ml.Segmentation((s > 0.5).astype(np.uint8), ("background", "person"), soft=s, size=(8, 8))
        for s in flicker
    ]
    assert [smoother.update(p).soft.round(2)[0, 0] for p in people][1:] == pytest.approx(  # type: ignore[union-attr]
        [0.52, 0.53, 0.5], abs=0.011
    )
    plain = ml.Segmentation(np.zeros((2, 2), np.uint8), ("background", "person"))
    with pytest.raises(ArgumentError, match="has classes and no soft mask"):
        ml.Smoother().update(plain)
    with pytest.raises(ArgumentError, match=r"a mask is u8, or of 0..1 in floats, got int64"):
        ml.Smoother().update(np.zeros((2, 2), np.int64))
    with pytest.raises(ArgumentError, match=r"a smoother takes .*, got Detections"):
        ml.Smoother().update(ml.Detections())  # type: ignore[type-var]


def poses(*places: Array) -> ml.Poses:
    return ml.Poses(
        ml.Pose(0.9, {n: (float(x), float(y), 0.8) for n, (x, y) in zip(JOINTS, p, strict=True)})
        for p in places
    )


def test_joints_that_tremble_become_steady_and_those_that_move_do_not_lag() -> None:
    rng = np.random.default_rng(1)
    shape = np.stack([np.linspace(100, 200, 17), np.linspace(50, 350, 17)], axis=1)
    smoother = ml.Smoother()
    noisy = [shape + rng.normal(0, 2, shape.shape) for _ in range(60)]
    smooth = [smoother.update(poses(p)).to_arrays()["joints"][0, :, :2] for p in noisy]
    before, after = np.std(noisy[20:], axis=0).mean(), np.std(smooth[20:], axis=0).mean()
    assert after < before / 2
    smoother.reset()
    for frame in range(30):
        moved = shape + (20.0 * frame, 0)
        last = smoother.update(poses(moved)).to_arrays()["joints"][0, :, :2]
    assert np.abs(last - moved).max() < 15  # less than a frame's way behind


def test_people_do_not_mix() -> None:
    shape = np.stack([np.linspace(0, 100, 17), np.linspace(0, 300, 17)], axis=1)
    smoother = ml.Smoother()
    for order in (0, 1, 0):
        both = [shape, shape + (400, 0)]
        found = smoother.update(poses(*(both if order else both[::-1]))).to_arrays()["joints"]
        expected = np.array(both if order else both[::-1])
        np.testing.assert_allclose(found[..., :2], expected, atol=1e-3)
    assert smoother.update(ml.Poses()) == ml.Poses()


def test_faces_are_smoothed_with_their_boxes() -> None:
    def face(dx: float) -> ml.Faces:
        points = {n: (50.0 + i * 5 + dx, 60.0) for i, n in enumerate(FACE_KEYPOINTS)}
        return ml.Faces([ml.Face((40 + dx, 40, 90 + dx, 90), 0.9, points)])

    smoother = ml.Smoother()
    assert smoother.update(face(0)) == face(0)
    (moved,) = smoother.update(face(1))
    assert 40 < moved.box[0] < 41 and 50 < moved.keypoints["right_eye"][0] < 51
    assert moved.score == 0.9


def test_smoothers_check_their_numbers() -> None:
    for name, value in (("ratio", 2.0), ("cutoff_hz", 0.0), ("fps", 0.0), ("beta", -1.0)):
        with pytest.raises(ParameterError, match=f"Smoother: {name} is"):
            ml.Smoother(**{name: value})


# -- records -----------------------------------------------------------------------------------


def test_results_are_sequences_that_cannot_change() -> None:
    found = seen((0, 0, 1, 1), (2, 2, 3, 3))
    assert len(found) == 2 and found[1].box == (2, 2, 3, 3) and list(found[:1]) == [found[0]]
    assert isinstance(found[:1], ml.Detections) and hash(found) == hash(found[:])
    assert found != ml.Faces() and "Detection(box=" in repr(found)
    with pytest.raises(AttributeError):
        found[0].score = 1  # type: ignore[misc]
    arrays = found.to_arrays()
    assert arrays["boxes"].shape == (2, 4) and arrays["track_ids"].tolist() == [-1, -1]
    assert ml.Detections().to_arrays()["boxes"].shape == (0, 4)
    assert ml.Classes([ml.Class(3, "cat", 0.5)]).to_arrays()["names"].tolist() == ["cat"]
    lone = ml.Poses([ml.Pose(0.5, {"nose": (1, 2, 0.9)})]).to_arrays()["joints"]
    assert lone[0, 0].tolist() == pytest.approx([1, 2, 0.9]) and np.isnan(lone[0, 1, 0])


def test_segmentations_check_their_arrays() -> None:
    with pytest.raises(ShapeError, match=r"classes are whole numbers of \(H, W\), got \(2,\)"):
        ml.Segmentation(np.zeros(2, np.uint8), ("a",))
    with pytest.raises(ShapeError, match="soft must be as large as classes"):
        ml.Segmentation(np.zeros((2, 2), np.uint8), ("a", "b"), soft=np.zeros((3, 3)))
    small = ml.Segmentation(np.array([[0, 1]]), ("a", "b"), size=(4, 2))
    assert small.classes.tolist() == [[0, 0, 1, 1]] * 2
    assert repr(small) == "<dala segmentation 4 × 2: a 50%, b 50%>"
