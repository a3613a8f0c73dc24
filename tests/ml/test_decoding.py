"""What decoders find in outputs whose meaning is known, and against slow, obvious versions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dala import ml
from dala.errors import ParameterError, ShapeError
from dala.ml.decode.boxes import merge_weighted, overlap, overlaps, suppress
from dala.ml.decode.classes import read_classes, softmax
from dala.ml.decode.faces import anchors, look_closer, read_faces
from dala.ml.decode.poses import EDGES, Fields, read_poses
from dala.ml.decode.ssd import read_ssd
from dala.ml.decode.yolo import read_yolo, version_of
from dala.ml.labels import COCO_80, COCO_IDS, FACE_KEYPOINTS, JOINTS
from dala.ml.tasks import known_task
from dala.ml.view import View, view_of

Array = np.ndarray[Any, Any]


# -- overlaps and doubles ----------------------------------------------------------------------


def slow_overlap(a: Array, b: Array) -> float:
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    area = [max(0.0, x[2] - x[0]) * max(0.0, x[3] - x[1]) for x in (a, b)]
    union = sum(area) - wide * high
    return wide * high / union if union > 0 else 0.0


def some_boxes(seed: int, count: int) -> Array:
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 60, (count, 2))
    return np.concatenate([corner, corner + rng.uniform(-2, 40, (count, 2))], axis=1)


def test_overlaps_are_those_of_the_definition() -> None:
    one, other = some_boxes(1, 30), some_boxes(2, 25)
    expected = [[slow_overlap(a, b) for b in other] for a in one]
    np.testing.assert_allclose(overlaps(one, other), expected, atol=1e-12)
    alone = [[overlap(a, b) for b in other.tolist()] for a in one.tolist()]
    assert np.array_equal(alone, overlaps(one, other))


@pytest.mark.parametrize("seed", range(4))
def test_suppression_keeps_what_a_slow_one_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes, scores = some_boxes(seed, 60), rng.uniform(0, 1, 60)
    groups = rng.integers(0, 3, 60)
    kept: list[int] = []
    for i in sorted(range(60), key=lambda i: -scores[i]):
        same = [k for k in kept if groups[k] == groups[i]]
        if all(slow_overlap(boxes[k], boxes[i]) <= 0.4 for k in same):
            kept.append(i)
    assert suppress(boxes, scores, groups, 0.4).tolist() == kept


def test_weighted_boxes_are_means_of_those_that_overlap() -> None:
    found = [
        (0.6, [0.0, 0, 10, 10, 5]), (0.9, [1.0, 0, 11, 10, 10]), (0.7, [50.0, 50, 60, 60, 1])
    ]  # fmt: skip
    (one, mean), (other, alone) = merge_weighted(found, 0.3, 9)
    assert (one, other, alone) == (0.9, 0.7, pytest.approx([50, 50, 60, 60, 1]))
    assert mean == pytest.approx([0.6, 0, 10.6, 10, 8])
    assert merge_weighted(found, 0.3, 1) == [(one, mean)]
    assert merge_weighted([], 0.3, 9) == []


def test_an_empty_box_ends_the_merging_too() -> None:
    flat = [0.0] * 4
    assert len(merge_weighted([(0.9, flat), (0.8, flat)], 0.3, 9)) == 2


# -- classes -----------------------------------------------------------------------------------


def test_the_best_come_first_and_of_equals_the_first() -> None:
    assert ml.top_k(np.array([[3, 9, 9, 1]], np.uint8), 3) == [(9, 1), (9, 2), (3, 0)]
    assert ml.top_k([0.5], k=5) == [(0.5, 0)]
    assert ml.top_k(np.array([np.nan, 1.0, 2.0]), 2) == [(2.0, 2), (1.0, 1)]


def test_top_k_refuses_what_is_no_list_of_scores() -> None:
    with pytest.raises(ShapeError, match=r"\(N,\) or \(1, N\), got \(2, 3\)"):
        ml.top_k(np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="k is a whole number from 1 up, got 0"):
        ml.top_k([1.0], 0)


def test_the_background_is_no_class() -> None:
    task = known_task(ml.model_info("mobilenet_v2"), ["nothing", "cat", "dog"])
    levels = np.array([[200, 51, 102]], np.uint8)
    found = task.read([levels], WIDE, top=2)
    assert [(c.index, c.name) for c in found] == [(1, "dog"), (0, "cat")]
    assert [c.score for c in found] == [float(np.float32(n) / np.float32(255)) for n in (102, 51)]
    assert read_classes(np.array([0.1, 0.9]), ["cat"], top=1)[0].name == "class 1"


def test_softmax_of_large_numbers() -> None:
    np.testing.assert_allclose(softmax(np.array([1000.0, 1000.0])), [0.5, 0.5])


# -- detections --------------------------------------------------------------------------------

WIDE = view_of((600, 300), (300, 300), "stretch")


def test_ssd_boxes_are_in_the_picture_and_once_each() -> None:
    scores, boxes = np.zeros((4, 90), np.float32), np.zeros((4, 4), np.float32)
    scores[0, 16], boxes[0] = 0.9, (0.1, 0.2, 0.5, 0.6)  # y, x, y, x: a cat
    scores[1, 16], boxes[1] = 0.8, (0.1, 0.21, 0.5, 0.61)  # the same cat
    scores[2, 0], boxes[2] = 0.7, (0.1, 0.2, 0.5, 0.6)  # a person there
    scores[3, 0], boxes[3] = 0.4, (0.5, 0.5, 0.9, 0.9)  # too unsure
    found = read_ssd(scores, boxes, COCO_IDS, WIDE)
    assert [(d.name, d.class_id) for d in found] == [("cat", 17), ("person", 1)]
    np.testing.assert_allclose(found[0].box, (120, 30, 360, 150), rtol=1e-5)
    assert len(read_ssd(scores, boxes, COCO_IDS, WIDE, score=0.3)) == 3
    assert len(read_ssd(scores, boxes, COCO_IDS, WIDE, score=0.3, limit=1)) == 1


def test_yolo_is_known_by_its_shape() -> None:
    assert version_of((1, 25200, 85)) == "yolo_v5"
    assert version_of((1, 84, 8400)) == "yolo_v8"
    assert version_of((1, 1000)) is None
    assert version_of((1, 3, 3)) is None


@pytest.mark.parametrize("version", ["yolo_v5", "yolo_v8"])
def test_yolo_boxes_come_out_of_the_letterbox(version: Any) -> None:
    view = view_of((1280, 640), (640, 640), "letterbox")  # 160 rows of grey above and below
    rows = np.zeros((30, 85 if version == "yolo_v5" else 84), np.float32)
    rows[7, :4] = 100, 260, 40, 20  # centre and size
    rows[7, -80 + 2] = 0.8  # a car
    if version == "yolo_v5":
        rows[7, 4] = 0.5
    names = dict(enumerate(COCO_80))
    output = rows if version == "yolo_v5" else rows.T
    (found,) = read_yolo(output, version, names, view)
    assert (found.name, found.class_id) == ("car", 2)
    assert found.score == pytest.approx(0.4 if version == "yolo_v5" else 0.8)
    np.testing.assert_allclose(found.box, (160, 180, 240, 220), rtol=1e-5)


# -- faces -------------------------------------------------------------------------------------


def test_anchors_are_where_mediapipe_has_them() -> None:
    found = anchors(128, (8, 16, 16, 16))
    assert found.shape == (896, 2)
    np.testing.assert_allclose(found[[0, 1, 2]], [[0.03125, 0.03125]] * 2 + [[0.09375, 0.03125]])
    np.testing.assert_allclose(found[[512, 517, 518]], [[0.0625, 0.0625]] * 2 + [[0.1875, 0.0625]])
    assert anchors(256, (16, 32, 32, 32)).shape == (896, 2)


def test_a_face_is_found_where_it_was_put() -> None:
    logits, regressors = np.full(896, -50.0, np.float32), np.zeros((896, 16), np.float32)
    centre = anchors(128, (8, 16, 16, 16)) * 128
    middle = np.array([60.0, 40.0])
    points = np.array([[50, 36], [70, 36], [60, 44], [60, 52], [44, 38], [76, 38]], float)
    for number in np.argsort(np.abs(centre - middle).sum(1))[:4]:  # several anchors see it
        logits[number] = 3.0
        regressors[number, :2] = middle - centre[number]
        regressors[number, 2:4] = 32
        regressors[number, 4:] = (points - centre[number]).reshape(-1)
    view = view_of((1280, 640), (128, 128), "letterbox")  # 10 pixels of the picture in one
    (face,) = read_faces(logits, regressors, 128, (8, 16, 16, 16), view)
    assert face.score == pytest.approx(1 / (1 + math.exp(-3)))
    np.testing.assert_allclose(face.box, (440, 0, 760, 240), atol=1e-3)
    expected = (points - (0, 32)) * 10
    np.testing.assert_allclose([face.keypoints[n] for n in FACE_KEYPOINTS], expected, atol=1e-3)


def test_no_face_and_wild_logits() -> None:
    wild = np.full(896, -1e30, np.float32)
    view = view_of((128, 128), (128, 128), "letterbox")
    assert len(read_faces(wild, np.zeros((896, 16)), 128, (8, 16, 16, 16), view)) == 0
    sure = read_faces(-wild, np.zeros((896, 16)), 128, (8, 16, 16, 16), view, limit=3)
    assert len(sure) == 3 and sure[0].score == 1


def test_small_faces_are_looked_at_from_nearer() -> None:
    named = dict.fromkeys(FACE_KEYPOINTS, (0.0, 0.0))
    small = ml.Face((100, 100, 150, 150), 0.9, named)
    large = ml.Face((0, 0, 500, 500), 0.8, named)
    better = ml.Face((104, 100, 152, 150), 0.95, dict.fromkeys(FACE_KEYPOINTS, (1.0, 1.0)))
    windows = []

    def look(window: tuple[float, ...]) -> ml.Faces:
        windows.append(window)
        return ml.Faces([better])

    assert look_closer(ml.Faces([small, large]), look, (1000, 1000)) == ml.Faces([better, large])
    assert windows == [(50, 50, 200, 200)]
    nobody = look_closer(ml.Faces([small]), lambda window: ml.Faces(), (1000, 1000))
    assert nobody == ml.Faces([small])


# -- poses -------------------------------------------------------------------------------------


def painted(people: list[Array], rows: int = 17, columns: int = 17) -> Fields:
    """The fields that a perfect network would give for people whose joints are (17, 2) of y and x."""
    heat = np.full((rows, columns, 17), -9.0)
    offsets = np.zeros((rows, columns, 17, 2))
    ways = {way: np.zeros((rows, columns, 16, 2)) for way in ("forward", "backward")}
    nearest = np.full((rows, columns, 17), np.inf)
    for joints in people:
        for row in range(rows):
            for column in range(columns):
                cell = np.array([row * 16.0, column * 16.0])
                for joint, place in enumerate(joints):
                    far = float(np.abs(place - cell).max())
                    if far < nearest[row, column, joint] and far < 40:
                        nearest[row, column, joint] = far
                        heat[row, column, joint] = 4 - far / 4
                        offsets[row, column, joint] = place - cell
                        for edge, (parent, child) in enumerate(EDGES):
                            if parent == joint:
                                ways["forward"][row, column, edge] = joints[child] - place
                            if child == joint:
                                ways["backward"][row, column, edge] = joints[parent] - place

    def flat(pairs: Array) -> Array:
        return pairs.swapaxes(2, 3).reshape(rows, columns, -1)

    return Fields(heat, flat(offsets), flat(ways["forward"]), flat(ways["backward"]))


def a_person(y: float, x: float, size: float) -> Array:
    rng = np.random.default_rng(int(x))
    shape = rng.uniform(-0.5, 0.5, (17, 2))
    shape[:, 0] = np.linspace(-0.5, 0.5, 17)  # joints do not lie on each other
    return np.array([y, x]) + size * shape


def test_two_people_are_found_whole() -> None:
    people = [a_person(120, 60, 100), a_person(130, 190, 110)]
    view = view_of((514, 514), (257, 257), "letterbox")
    found = read_poses(painted(people), view)
    assert len(found) == 2
    arrays = found.to_arrays()["joints"]
    order = np.argsort(arrays[:, :, 0].mean(axis=1))
    for number, person in zip(order, people, strict=True):
        np.testing.assert_allclose(arrays[number, :, :2], person[:, ::-1] * 2, atol=0.5)
    assert found[0].joints["left_shoulder"][2] > 0.5
    assert list(found[0].joints) == list(JOINTS)


def test_nobody_and_ghosts() -> None:
    view = view_of((257, 257), (257, 257), "letterbox")
    assert len(read_poses(painted([]), view)) == 0
    person = painted([a_person(120, 120, 150)])
    person.scores[:, :, 1:] *= 0.01  # a nose alone is no person
    assert len(read_poses(person, view)) == 0
    assert len(read_poses(person, view, score=0.01)) == 1


# -- views -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["stretch", "letterbox", "corner"])
@pytest.mark.parametrize("picture", [(640, 480), (480, 640), (31, 77)])
def test_a_picture_fills_its_view(fit: Any, picture: tuple[int, int]) -> None:
    view = view_of(picture, (256, 192), fit)
    corners = np.array([[0.0, 0.0], picture])
    inside = corners / (view.across, view.down) + (view.left, view.top)
    np.testing.assert_allclose(view.points_in_picture(inside), corners, atol=1e-9)
    assert inside.min() >= -1e-9 and (inside[1] <= np.array([256, 192]) + 1e-9).all()
    np.testing.assert_allclose(
        view.boxes_in_picture(np.array([[-9.0, -9, 999, 999]])), [[0, 0, *picture]]
    )


def test_a_window_is_a_part_of_the_picture() -> None:
    view = view_of((1000, 500), (100, 100), "letterbox", (200, 100, 400, 300))
    assert isinstance(view, View)
    np.testing.assert_allclose(
        view.points_in_picture(np.array([[0, 0], [100, 50]])), [[200, 100], [400, 200]]
    )
