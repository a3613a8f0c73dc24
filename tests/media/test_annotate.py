"""What is drawn on pictures: where it should be, of the caller's kind, seen on any background."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dala import compute, gpu
from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.media import annotate

BOX = np.array([[20, 30, 90, 100]])


def black(height: int = 120, width: int = 160, channels: int = 3) -> np.ndarray[Any, Any]:
    return np.zeros((height, width, channels), np.uint8)


def test_the_kind_of_picture_stays() -> None:
    photo = black()
    shown = annotate.boxes(photo, BOX)
    assert shown.shape == photo.shape and shown.dtype == np.uint8 and not photo.any()
    assert isinstance(annotate.boxes(Image.fromarray(photo), BOX), Image.Image)
    assert isinstance(annotate.boxes(photo.tobytes(), BOX, width=160, height=120), bytes)
    assert annotate.boxes(photo[..., 0], BOX).shape == (120, 160)
    floats = annotate.boxes(photo.astype(np.float32), BOX, color="white", labels=False)
    assert floats.dtype == np.float32 and floats[30, 55].tolist() == [1, 1, 1]
    buffer = compute.buffer(np.zeros((120, 160, 4), np.uint8))
    assert annotate.boxes(buffer, BOX).read().any() and not buffer.read().any()


def test_a_surface_is_drawn_on() -> None:
    with gpu.create_surface(160, 120, device="cpu") as surface:
        assert annotate.boxes(surface, np.array([[20, 30, 90, 100, 0.5]]), color="red") is surface
        pixels = surface.read_pixels(0, 0, 160, 120)
    assert pixels[60, 20].tolist() == [255, 0, 0, 255]
    assert (pixels[:30] == (255, 0, 0, 255)).all(-1).sum() > 100  # the label's box


def test_blue_first() -> None:
    shown = annotate.boxes(black(), BOX, color="red", labels=False, channels="bgr")
    assert shown[30, 55].tolist() == [0, 0, 255]


def test_results_as_objects() -> None:
    found = [
        SimpleNamespace(box=(20, 30, 90, 100), score=0.9, class_id=1, name="cat", track_id=None),
        SimpleNamespace(box=(100, 30, 140, 100), score=0.8, class_id=1, name="cat", track_id=None),
    ]
    shown = annotate.boxes(black(), found)
    first, second = shown[60, 20], shown[60, 100]
    assert first.any() and (first == second).all()  # one class, one colour
    others = [SimpleNamespace(box=f.box, track_id=i) for i, f in enumerate(found)]
    tracked = annotate.boxes(black(), others, labels=False)
    assert (tracked[60, 20] != tracked[60, 100]).any()
    face = SimpleNamespace(box=(0, 0, 9, 9), score=1, keypoints=[(40, 50), (60, 50)])
    assert annotate.keypoints(black(), [face], color="red")[49, 39].tolist() == [255, 0, 0]


@pytest.mark.parametrize("level", [0, 128, 255])
def test_lines_are_seen_on_any_background(level: int) -> None:
    photo = np.full((120, 160, 3), level, np.uint8)
    shown = annotate.boxes(photo, BOX, color=(level, level, level), labels=False).astype(int)
    rim = np.abs(shown - level).max()
    assert rim > 60 or level == 0  # the dark rim; on black the line itself is the caller's
    assert np.abs(annotate.boxes(photo, BOX, labels=False).astype(int) - level).max() > 60


def test_sizes_follow_the_picture() -> None:
    small = annotate.boxes(black(100, 100), np.array([[20, 20, 80, 80]]), color="red", labels=False)
    large = annotate.boxes(
        black(1000, 1000), np.array([[200, 200, 800, 800]]), color="red", labels=False
    )
    widths = [(p[p.shape[0] // 2, :, 0] > 128).sum() / 2 for p in (small, large)]
    assert widths[1] >= 3 * widths[0]


def test_skeletons() -> None:
    joints = {
        "left_hip": (20.0, 20.0, 0.9),
        "right_hip": (80.0, 20.0, 0.9),
        "nose": (50.0, 90.0, 0.1),
    }
    pose = SimpleNamespace(score=0.9, joints=joints)
    shown = annotate.skeletons(black(), [pose], color="lime")
    assert shown[20, 50, 1] > 200 and not shown[90, 50].any()
    table = np.zeros((17, 3))
    table[11], table[12] = (20, 20, 1), (80, 20, 1)
    assert (annotate.skeletons(black(), table, color="lime") == shown).all()
    own = annotate.skeletons(black(), np.array([[20, 20], [80, 20]]), bones=[(0, 1)], color="lime")
    assert (own == shown).all()


def test_masks_of_classes_and_other_sizes() -> None:
    classes = np.zeros((60, 80), int)
    classes[20:40, 20:60] = 15
    segmentation = SimpleNamespace(classes=classes, names={15: "person"})
    shown = annotate.masks(black(), segmentation, outline=False, color="red")
    assert shown[60, 80].tolist() == [128, 0, 0] and not shown[10, 10].any()
    outlined = annotate.masks(black(), classes > 0, color="red")
    assert (outlined[:, 80, 0] == 255).sum() >= 2


def test_heat_is_clear_where_it_is_cold() -> None:
    photo = np.full((40, 60, 3), 90, np.uint8)
    values = np.zeros((4, 6))
    values[2, 3] = 1
    shown = annotate.heatmap(photo, values)
    assert (shown[0, 0] == 90).all() and int(shown[25, 35, 0]) > int(shown[25, 35, 2])
    assert (annotate.heatmap(photo, np.full((4, 6), np.nan)) == photo).all()


def test_traces_fade() -> None:
    shown = annotate.traces(black(), [[(10, 60), (50, 60), (90, 60), (150, 60)]], color="white")
    assert 0 < shown[60, 20].max() < shown[60, 140].max()
    assert not annotate.traces(black(), {}).any()
    newest = annotate.traces(black(), [[(10, 60), (150, 60)]], color="white")
    assert newest[60, 60].min() == 255  # what is newest does not fade, also where nothing is older


def test_a_heat_map_of_numbers_out_of_bounds() -> None:
    for far in (np.inf, 1e308):
        values = np.array([[-far, 0, far]])
        shown = annotate.heatmap(black(), values)
        assert not shown[:, 0].any() and shown[60, 80].any() and shown[60, 159, 0] > 100


def test_labels_stay_inside() -> None:
    shown = annotate.labels(black(), ["far away"], [(150, 110)], color="gold")
    gold = (shown == (255, 215, 0)).all(-1)
    assert gold.any() and gold[:, -1].any() and gold[-2:].any()
    corner = annotate.labels(black(), [SimpleNamespace(name="cat", score=0.5)])
    assert corner[:40, :60].any() and not corner[60:].any()


def test_refusals() -> None:
    with pytest.raises(ShapeError, match=r"boxes: expected boxes \(N, 4..6\)"):
        annotate.boxes(black(), np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="finite"):
        annotate.boxes(black(), np.array([[0, 0, np.nan, 1]]))
    with pytest.raises(ShapeError, match="masks"):
        annotate.masks(black(), np.zeros(4))
    with pytest.raises(ParameterError, match="opacity"):
        annotate.heatmap(black(), np.zeros((2, 2)), opacity=2)
    with pytest.raises(ShapeError, match="1 texts and 2 points"):
        annotate.labels(black(), ["a"], [(1, 2), (3, 4)])
    with pytest.raises(ArgumentError, match="expected a picture"):
        annotate.boxes(3, BOX)
