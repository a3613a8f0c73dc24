"""Masks that a model makes of every picture: photos, frames, videos, the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_models import made_model
from onnx_files import Net, value
from PIL import Image

import dala
from dala import compute, media, ml, video
from dala.cli import main
from dala.errors import ArgumentError
from dala.media import further
from dala.ml.catalogue import model_info
from dala.ml.network import open_network
from dala.ml.tasks import known_task

Array = np.ndarray[Any, Any]
BLACK = np.zeros((4, 4, 3), np.uint8)


@pytest.fixture
def red() -> ml.Model:
    """A model for which people are what is red: it sees the picture, its place and its channels."""
    net = Net()
    image = net.input("image", (1, 256, 256, 3))
    first = [net.constant([n], "i8") for n in (0, 1, 3)]
    soft = net.add("Slice", image, *first)
    net.outputs.append(value(soft, (1, 256, 256, 1), "float32"))
    info = model_info("selfie")
    network = open_network(net.bytes(), device="cpu")
    return ml.Model("selfie", network, known_task(info), info)


def half_red(height: int = 48, width: int = 64) -> Array:
    """Red at the left, blue at the right, some green everywhere."""
    photo = np.full((height, width, 3), 60, np.uint8)
    photo[:, : width // 2] = 255, 60, 0
    photo[:, width // 2 :] = 0, 60, 255
    return photo


def test_who_is_in_front_stays_and_the_rest_is_replaced(red: ml.Model, device: str) -> None:
    photo = half_red()
    result = media.background_replace(photo, red, BLACK)
    np.testing.assert_allclose(result[:, :28], photo[:, :28], atol=1)
    assert result[:, 36:].max() <= 1


def test_bgr_grey_and_rgba_are_seen_as_they_are(red: ml.Model) -> None:
    photo = half_red()
    expected = media.background_replace(photo, red, BLACK)
    bgr = np.ascontiguousarray(photo[..., ::-1])
    found = media.background_replace(bgr, red, BLACK, channels="bgr")
    np.testing.assert_array_equal(found[..., ::-1], expected)
    rgba = np.dstack([photo, np.full(photo.shape[:2], 255, np.uint8)])
    np.testing.assert_array_equal(media.background_replace(rgba, red, BLACK)[..., :3], expected)
    grey = np.where(np.arange(64) < 32, 255, 0).astype(np.uint8)[None].repeat(48, axis=0)
    cut = media.background_replace(grey, red, np.full((48, 64), 99, np.uint8))
    assert cut[0, 5] == 255 and cut[0, 60] == 99
    buffer = media.background_replace(compute.from_array(rgba), red, BLACK)
    np.testing.assert_array_equal(buffer.read()[..., :3], expected)


def test_the_model_sees_what_comes_before_its_filter(red: ml.Model) -> None:
    photo = half_red()
    blurred = ("background_blur", {"mask": red, "radius": 3})
    flipped = media.apply_filters(photo, ["flip", blurred])
    expected = media.apply_filters(np.ascontiguousarray(photo[:, ::-1]), [blurred])
    np.testing.assert_array_equal(flipped, expected)
    smaller = media.apply_filters(photo, [("crop", {"x": 16, "width": 40}), blurred])
    np.testing.assert_array_equal(
        smaller, media.apply_filters(np.ascontiguousarray(photo[:, 16:56]), [blurred])
    )


def test_segmentation_cuts_out(red: ml.Model) -> None:
    alpha = media.segmentation(half_red(), red)[..., 3]
    assert alpha[:, :28].min() == 255 and alpha[:, 36:].max() == 0


def test_frames_are_steadied_and_every_pipeline_begins_anew() -> None:
    soft = [np.full((1, 256, 256, 1), share, np.float32) for share in (1.0,)]
    model = made_model("selfie", soft)
    answers = iter([1.0, 0.5, 0.5])

    class Unsteady:
        """The network of a model that changes its mind."""

        def __getattr__(self, name: str) -> object:
            return getattr(network, name)

        def run_on(self, *tensor: object) -> tuple[Array, ...]:
            return (np.full((1, 256, 256, 1), next(answers), np.float32),)

    network, model.network = model.network, Unsteady()  # type: ignore[assignment]
    white = np.full((8, 8, 3), 255, np.uint8)
    chain = media.Chain.of([("background_replace", {"mask": model, "background": BLACK})])
    with media.start_pipeline(8, 8) as frames:
        assert frames.process(white, chain)[0, 0, 0] == 255
        second = int(frames.process(white, chain)[0, 0, 0])
    assert 210 < second < 225  # 0.5 + 0.5 · 0.7
    with media.start_pipeline(8, 8) as frames:
        assert abs(int(frames.process(white, chain)[0, 0, 0]) - 128) <= 1


def test_frames_under_way_have_their_own_masks(red: ml.Model) -> None:
    chain = media.Chain.of(
        [("brightness", {"value": 0.0}), ("background_replace", {"mask": red, "background": BLACK})]
    )
    photos = [half_red(), np.ascontiguousarray(half_red()[:, ::-1])] * 3
    with media.start_pipeline(64, 48) as frames:
        found = list(frames.map(photos, chain))
        darker = media.Chain.of([("brightness", {"value": -1.0}), chain.steps[1]])
        dark = frames.process(photos[0], darker)
    for photo, result in zip(photos, found, strict=True):
        red_side = slice(0, 28) if photo[0, 0, 0] == 255 else slice(36, 64)
        assert result[:, red_side, 0].min() > 250
    assert dark.max() == 0  # the model saw black


@pytest.mark.parametrize("size", [(48, 64), (47, 63)], ids=["even", "odd"])
def test_a_video_is_masked_frame_by_frame(
    red: ml.Model, size: tuple[int, int], tmp_path: Path, device: str
) -> None:
    source, target = tmp_path / "in.mp4", tmp_path / "out.mp4"
    with video.Writer(source, fps=25, crf=1) as writer:
        for shift in (0, 16, 32):
            writer.write(np.roll(half_red(*size), shift, axis=1))
    filters = [("background_replace", {"mask": red, "background": np.full((4, 4), 255, np.uint8)})]
    assert video.transcode(source, target, filters, crf=1).frames == 3
    with video.Reader(target) as reader:
        for shift, frame in zip((0, 16, 32), reader, strict=True):
            row = frame.rgb[20, :, 2].astype(int)  # blue: 0 in front, 255 behind
            in_front = np.roll(row, -shift)[6:26]
            behind = np.roll(row, -shift)[38:58]
            assert in_front.max() < 60 and behind.min() > 200


def test_names_are_models_unless_they_are_files(
    red: ml.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(further, "_model_by_name", lambda name: red)
    photo = half_red()
    expected = media.background_blur(photo, red, 5)
    np.testing.assert_array_equal(media.background_blur(photo, "selfie", 5), expected)
    Path("people.look").write_text("background_blur mask=selfie radius=5\n")
    np.testing.assert_array_equal(media.apply_filters(photo, "people.look"), expected)
    Image.fromarray(np.full((4, 4), 255, np.uint8)).save("mask.png")
    Path("mask.png").rename("selfie")
    np.testing.assert_array_equal(media.background_blur(photo, "selfie", 5), photo)


def test_models_that_find_no_people_are_refused() -> None:
    faces = made_model(
        "blazeface", [np.zeros((1, 896, 16), np.float32), np.zeros((1, 896, 1), np.float32)]
    )
    with pytest.raises(
        ArgumentError, match=r"background_blur: mask: a mask is made by a model that finds people"
    ):
        media.background_blur(half_red(), faces)


def test_people_on_the_command_line(
    red: ml.Model,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(further, "_model_by_name", lambda name: red)
    monkeypatch.delenv("DALA_DEVICE", raising=False)
    Image.fromarray(half_red()).save("in.png")
    Image.fromarray(BLACK).save("black.png")

    def filtered(*words: str) -> Array:
        with dala.use("cpu"):
            assert (
                main(["filter", "in.png", "out.png", "--overwrite", "--device", "cpu", *words]) == 0
            )
        return np.asarray(Image.open("out.png"))

    photo = half_red()
    blurred = filtered("--background-blur", "radius=5", "--people")
    np.testing.assert_array_equal(blurred[..., :3], media.background_blur(photo, red, 5))
    assert filtered("--background-replace", "black.png", "--people")[:, 36:, :3].max() <= 1
    assert filtered("--segmentation", "--people")[0, 60, 3] == 0
    with dala.use("cpu"):
        assert main(["filter", "in.png", "out.png", "--background-blur", "radius=5"]) == 2
    assert "--background-blur: give mask=FILE, or --people" in capfd.readouterr().err
