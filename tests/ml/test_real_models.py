"""The real weights on real photos, where DALA_MODELS names a folder of them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage import data

import dala
from dala import ml

pytestmark = pytest.mark.skipif(
    not os.environ.get("DALA_MODELS"), reason="DALA_MODELS names no folder with the models' weights"
)
Array = np.ndarray[Any, Any]


def load(name: str) -> ml.Model:
    return ml.load_model(name, device="cpu")


@pytest.mark.parametrize(
    ("photo", "names"),
    [("chelsea", ("Egyptian cat", "tabby", "tiger cat")), ("coffee", ("espresso", "cup"))],
)
def test_photos_are_what_they_show(photo: str, names: tuple[str, ...]) -> None:
    found = load("mobilenet_v2").predict_frame(getattr(data, photo)())
    assert isinstance(found, ml.Classes)
    assert found[0].name.startswith(names) and found[0].score > 0.5


@pytest.mark.parametrize(
    ("photo", "name"), [("chelsea", "cat"), ("coffee", "cup"), ("astronaut", "person")]
)
def test_things_are_found(photo: str, name: str) -> None:
    found = load("yolo_v5").predict_frame(getattr(data, photo)())
    assert isinstance(found, ml.Detections)
    assert found[0].name == name and found[0].score > 0.6


@pytest.mark.parametrize("name", ["blazeface", "blazeface_back"])
def test_one_face_with_eyes_where_they_are(name: str) -> None:
    (face,) = load(name).predict_frame(data.astronaut())
    assert isinstance(face, ml.Face)
    assert np.hypot(*np.subtract(face.keypoints["right_eye"], (203.0, 101.5))) < 3
    assert np.hypot(*np.subtract(face.keypoints["left_eye"], (246.5, 103.5))) < 3
    overlap = (min(face.box[2], 273) - max(face.box[0], 179)) / 94
    assert overlap > 0.9 and face.score > 0.85


def test_one_person_stands_there_without_a_ghost() -> None:
    (pose,) = load("posenet").predict_frame(data.astronaut())
    assert isinstance(pose, ml.Pose)
    nose, left = pose.joints["nose"], pose.joints["left_shoulder"]
    assert np.hypot(nose[0] - 223, nose[1] - 126) < 8 and nose[2] > 0.9
    assert left[0] > pose.joints["right_shoulder"][0]  # the person's left is our right


@pytest.mark.parametrize(
    ("photo", "name", "share"), [("astronaut", "person", 0.42), ("chelsea", "cat", 0.79)]
)
def test_pixels_have_their_class(photo: str, name: str, share: float) -> None:
    picture = getattr(data, photo)()
    found = load("deeplab").predict_frame(picture)
    assert isinstance(found, ml.Segmentation)
    assert found.classes.shape == picture.shape[:2]
    assert found.share(name) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("name", ["selfie", "selfie_landscape"])
def test_people_are_told_from_what_is_behind_them(name: str) -> None:
    found = load(name).predict_frame(data.astronaut())
    assert isinstance(found, ml.Segmentation)
    mask = found.mask()
    assert mask[95:150, 195:250].min() > 230  # the face
    assert mask[:40, :20].max() < 40  # a flag


def test_the_picture_may_be_large_or_turned() -> None:
    photo = data.astronaut()
    large = np.repeat(np.repeat(photo, 3, axis=0), 3, axis=1)
    faces = load("blazeface").predict_frame(large)
    assert isinstance(faces, ml.Faces)
    assert np.hypot(*np.subtract(faces[0].keypoints["right_eye"], (609, 305))) < 9
    bgr = load("mobilenet_v2").predict_frame(data.chelsea()[..., ::-1], channels="bgr")
    assert bgr == load("mobilenet_v2").predict_frame(data.chelsea())


def test_the_page_of_the_models_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "models.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    known: dict[str, Any] = {}
    with dala.use("cpu"):
        for block in blocks:
            exec(compile(block, str(page), "exec"), known)  # the page is ours
    known["model"].close()
    assert known["best"] == 286 and known["things"][0].name == "person"
