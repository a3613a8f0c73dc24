"""Models as users hold them: loaded, asked, awaited, freed; on networks whose answers are known."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_models import constant_net, made_model
from onnx_files import block, small_net

import dala
from dala import ml
from dala.errors import (
    ArgumentError,
    ModelError,
    ModelNotFoundError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from dala.ml import model as model_module

Array = np.ndarray[Any, Any]
PHOTO = np.random.default_rng(5).integers(0, 256, (60, 90, 3), np.uint8)


def metadata(key: str, text: str) -> bytes:
    return block(14, block(1, key) + block(2, text))


@pytest.fixture
def classifier() -> ml.Model:
    scores = np.zeros((1, 1001), np.uint8)
    scores[0, [0, 5, 9]] = 200, 50, 5
    return made_model(
        "mobilenet_v2", [scores], ["background", *(f"thing {i}" for i in range(1000))]
    )


def test_classes_without_the_background(classifier: ml.Model) -> None:
    found = ml.predict_frame(classifier, PHOTO, top=2)
    assert isinstance(found, ml.Classes)
    assert [(c.index, c.name) for c in found] == [(4, "thing 4"), (8, "thing 8")]
    assert found[0].score == pytest.approx(50 / 255)
    tensor = ml.preprocess(PHOTO)  # floats of 0..1, for a network of bytes
    output = ml.predict(classifier, tensor)
    assert isinstance(output, np.ndarray) and output.shape == (1, 1000)
    assert [i for _, i in ml.top_k(output, 2)] == [4, 8]
    assert classifier.labels[4] == "thing 4"


def test_floats_become_the_bytes_they_stand_for(tmp_path: Path) -> None:
    from onnx_files import Net, value

    net = Net()
    made = net.add("Identity", net.input("image", (1, 2, 2, 3), "uint8"))
    net.outputs.append(value(made, (1, 2, 2, 3), "uint8"))
    path = tmp_path / "same.onnx"
    path.write_bytes(net.bytes())
    with ml.load_model(path, device="cpu") as model:
        given = np.array([0, 0.5, 1.0, -1, 2, 100 / 255] * 2, np.float32).reshape(1, 2, 2, 3)
        assert np.array_equal(np.ravel(model.predict(given))[:6], [0, 128, 255, 0, 255, 100])
        with pytest.raises(ShapeError, match="has 1 inputs, got 2 tensors"):
            model.predict(given, given)


def test_detections_faces_poses_and_segmentations_have_their_types() -> None:
    scores, boxes = np.zeros((1, 1917, 90), np.float32), np.zeros((1, 1917, 1, 4), np.float32)
    scores[0, 3, 0], boxes[0, 3, 0] = 0.9, (0.25, 0.25, 0.75, 0.75)
    (person,) = ml.predict_frame(made_model("yolo_v5", [scores, boxes]), PHOTO)
    assert person == ml.Detection((22.5, 15.0, 67.5, 45.0), pytest.approx(0.9), 1, "person")
    empty = [np.full((1, 896, 1), -50, np.float32), np.zeros((1, 896, 16), np.float32)]
    assert ml.predict_frame(made_model("blazeface", empty[::-1]), PHOTO) == ml.Faces()
    split = [a[:, s] for a in empty for s in (slice(512), slice(512, None))]
    assert ml.predict_frame(made_model("blazeface_back", split), PHOTO) == ml.Faces()
    fields = [np.full((1, 17, 17, n), -9, np.float32) for n in (17, 34, 32, 32)]
    assert ml.predict_frame(made_model("posenet", fields), PHOTO) == ml.Poses()


def test_a_segmentation_leaves_out_what_was_beside_the_picture() -> None:
    classes = np.zeros((1, 513, 513), np.int64)
    classes[0, :, 256:] = 15
    classes[0, 400:] = 7  # below a picture of 3 : 2
    found = ml.predict_frame(made_model("deeplab", [classes]), PHOTO)
    assert isinstance(found, ml.Segmentation)
    assert found.classes.shape == (60, 90) and found.present == ["person", "background"]
    assert found.share("person") == pytest.approx(0.5, abs=0.01)
    mask = found.mask("person")
    assert mask.shape == (60, 90) and mask[:, :43].max() == 0 and mask[:, 48:].min() == 255


def test_people_have_soft_masks() -> None:
    soft = np.zeros((1, 256, 256, 1), np.float32)
    soft[0, :, 128:], soft[0, :, 120:128] = 1.0, 0.4
    found = ml.predict_frame(made_model("selfie", [soft]), PHOTO)
    assert isinstance(found, ml.Segmentation)
    assert found.share("person") == 0.5
    assert np.unique(found.small_mask()).tolist() == [0, 102, 255]
    assert found.mask("background")[0, 0] == 255
    assert found.to_arrays()["classes"].shape == (60, 90)
    wide = ml.predict_frame(made_model("selfie", [soft]), PHOTO, threshold=0.3)
    assert isinstance(wide, ml.Segmentation) and wide.share("person") > 0.5
    with pytest.raises(ParameterError, match="there is no class 'persn'; did you mean 'person'"):
        found.mask("persn")


def test_options_are_checked(classifier: ml.Model) -> None:
    with pytest.raises(ParameterError, match="there is no option 'tops'; did you mean 'top'"):
        ml.predict_frame(classifier, PHOTO, tops=3)
    with pytest.raises(ParameterError, match="top is a whole number from 1 up, got 0"):
        ml.predict_frame(classifier, PHOTO, top=0)
    soft = made_model("selfie", [np.zeros((1, 256, 256, 1), np.float32)])
    with pytest.raises(ParameterError, match=r"threshold is a number of 0\.\.1, got 2"):
        ml.predict_frame(soft, PHOTO, threshold=2)


def test_awaited_and_in_batches(classifier: ml.Model) -> None:
    expected = ml.predict_frame(classifier, PHOTO)

    async def ask() -> object:
        return await ml.predict_async(classifier, PHOTO)

    assert asyncio.run(ask()) == expected
    assert ml.predict_async(classifier, PHOTO).wait(timeout=300) == expected
    assert ml.predict_batch(classifier, (PHOTO for _ in range(5))) == [expected] * 5
    failing = ml.predict_async(classifier, "no such picture.png")
    with pytest.raises(dala.errors.MediaError, match=r"no such picture\.png"):
        failing.wait(timeout=300)
    assert failing.done and failing.error is not None


def test_a_freed_model_says_so(classifier: ml.Model) -> None:
    ml.free_model(classifier)
    ml.free_model(classifier)
    assert classifier.closed and "closed" in repr(classifier)
    with pytest.raises(ModelError, match="mobilenet_v2 has been closed; load it again"):
        ml.predict_frame(classifier, PHOTO)


# -- files of one's own ------------------------------------------------------------------------


def own(tmp_path: Path, data: bytes, **how: Any) -> ml.Model:
    path = tmp_path / "own.onnx"
    path.write_bytes(data)
    return ml.load_model(path, device="cpu", **how)


def test_a_yolo_file_is_recognised_and_named_by_its_metadata(tmp_path: Path) -> None:
    rows = np.zeros((1, 40, 7), np.float32)
    rows[0, 3] = 32, 32, 16, 16, 1, 0.1, 0.9
    names = metadata("names", "{0: 'left', 1: \"rock 'n' roll\"}")
    model = own(tmp_path, constant_net([rows], (1, 3, 64, 64), extra=names))
    (found,) = model.predict_frame(np.zeros((128, 128, 3), np.uint8))
    assert isinstance(found, ml.Detection)
    assert (found.name, found.class_id, found.box) == ("rock 'n' roll", 1, (48, 48, 80, 80))
    model = own(tmp_path, constant_net([rows], (1, 3, 64, 64)), labels=["a", "b"])
    assert model.predict_frame(PHOTO)[0].name == "b"  # type: ignore[index,union-attr]


def test_a_classifier_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("cat\ndog\ncow\n")
    logits = np.array([[0.0, 5.0, 1.0]], np.float32)
    data = constant_net([logits], (1, 3, 32, 32))
    model = own(tmp_path, data, labels=tmp_path / "labels.txt", mean=(0.5,) * 3, std=(0.5,) * 3)
    found = model.predict_frame(PHOTO, top=1)
    assert isinstance(found, ml.Classes)
    assert found[0].name == "dog" and found[0].score == pytest.approx(0.976, abs=1e-3)
    assert model.task is not None
    assert model.task.form.bias == (-1.0,) * 3 and model.task.form.layout == "nchw"


def test_what_is_not_known_can_still_be_asked(tmp_path: Path) -> None:
    odd = constant_net([np.zeros((1, 2, 2, 2), np.float32)], (1, 3, 8, 8))
    model = own(tmp_path, odd)
    output = model.predict(np.zeros((1, 3, 8, 8), np.float32))
    assert isinstance(output, np.ndarray) and output.shape == (1, 2, 2, 2)
    with pytest.raises(
        UnsupportedError, match="what its outputs mean is not known; predict gives them"
    ):
        model.predict_frame(PHOTO)
    with pytest.raises(
        ParameterError, match="decode is one of yolo_v5, yolo_v8, classes, got 'yolo'"
    ):
        own(tmp_path, odd, decode="yolo")
    bytes_in = constant_net([np.zeros((1, 3), np.float32)], (1, 8, 8, 3), "uint8")
    with pytest.raises(ParameterError, match="takes bytes, which have no mean and std"):
        own(tmp_path, bytes_in, mean=(0.5,) * 3)
    with pytest.raises(
        UnsupportedError, match=r"is no picture of \(1, 3, H, W\) or \(1, H, W, 3\)"
    ):
        own(tmp_path, constant_net([np.zeros((1, 3), np.float32)], (1, 8, 8, 7)))
    with pytest.raises(ModelError, match=r"labels: .* cannot be read"):
        own(tmp_path, bytes_in, labels="none.txt")


def test_a_small_net_sees_a_picture(tmp_path: Path) -> None:
    model = own(tmp_path, small_net(), decode="classes")
    found = model.predict_frame(PHOTO, top=7)
    assert isinstance(found, ml.Classes)
    assert sum(c.score for c in found) == pytest.approx(1, abs=1e-4)
    assert model.explain()


# -- names -------------------------------------------------------------------------------------


def test_names_and_what_is_known_of_them() -> None:
    assert ml.available_models() == [
        "mobilenet_v2",
        "yolo_v5",
        "blazeface",
        "posenet",
        "deeplab",
        "selfie",
    ]
    for name in (*ml.available_models(), "blazeface_back", "selfie_landscape"):
        info = ml.model_info(name)
        assert info.licence and info.source and len(info.sha256) == 64 and info.weights.bytes
    assert "AGPL" in ml.model_info("yolo_v5").note
    assert ml.model_info("ssdlite") is ml.model_info("yolo_v5")
    with pytest.raises(
        ModelNotFoundError, match="no model is named 'blazface'; did you mean 'blazeface'"
    ):
        ml.model_info("blazface")
    with pytest.raises(ArgumentError, match="load_model: a name or a path, got int"):
        ml.load_model(3)  # type: ignore[arg-type]


def test_a_stand_in_says_so_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_module, "_said", set())
    with caplog.at_level(logging.WARNING, "dala.ml"):
        model_module._say_once(ml.model_info("yolo_v5").note)
        model_module._say_once(ml.model_info("yolo_v5").note)
    assert [r.message.count("SSDLite") for r in caplog.records] == [1]
