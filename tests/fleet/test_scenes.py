"""A scene in parts: the frames, times and sound of one export, and what no worker can paint is refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleet_workers import assert_same_video, frames_of, sound_of
from PIL import Image

import dala
from dala import fleet, scene, video
from dala.errors import (
    DalaError,
    FleetError,
    ParameterError,
    SceneError,
    SceneFileError,
    SceneSourceError,
)
from dala.video.parts.folder import JOURNAL
from dala.video.parts.journal import folder_of

LOSSLESS = video.Encoding("ffv1", audio_codec="flac")


def make_stage(clip: Path) -> scene.Scene:
    """A film that begins late, below a shape that moves, all of it blurred; two sounds."""
    stage = scene.Scene(64, 48, target_fps=25, background="navy")
    stage.add_video(str(clip), size=(64, 48), start=0.3)
    box = stage.add_shape(position=(4, 4), size=(16, 16), fill="gold")
    stage.animate(box, "position", from_=(4, 4), to=(40, 24), duration_ms=1500)
    stage.add_effect("blur", params={"radius": 1})
    stage.add_audio(str(clip), volume=0.5)
    return stage


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_parts_are_the_frames_of_one_export(clip: Path, tmp_path: Path, suffix: str) -> None:
    one, parts = tmp_path / f"one{suffix}", tmp_path / f"parts{suffix}"
    with make_stage(clip) as stage:
        scene.export(stage, one, start=0.1, end=1.73, video=LOSSLESS, device="cpu")
        report = fleet.export(
            stage, parts, start=0.1, end=1.73, encoding=LOSSLESS, workers=2, segment_s=0.5,
            device="cpu",
        )  # fmt: skip
    assert (report.tasks, report.frames, report.lost, report.failures) == (4, 41, 0, ())
    assert_same_video(parts, one)
    assert sorted(os.listdir(tmp_path)) == sorted([one.name, parts.name])


@pytest.mark.skipif("webgpu" not in dala.devices(), reason="there is no GPU")
def test_effects_are_where_they_are_for_who_asks(clip: Path, tmp_path: Path) -> None:
    """On the default device, wherever layers are painted: a GPU rounds otherwise than a CPU."""
    one, parts = tmp_path / "one.mkv", tmp_path / "parts.mkv"
    with dala.use("webgpu"), make_stage(clip) as stage:
        scene.export(stage, one, end=1.0, video=LOSSLESS, device="cpu")
        asked: Any = {"end": 1.0, "encoding": LOSSLESS, "workers": 1, "segment_s": 0.5}
        fleet.export(stage, parts, device="cpu", **asked)
    assert_same_video(parts, one)


def test_a_video_through_a_scene(clip: Path, tmp_path: Path) -> None:
    """The frames, times and sound of one run, from a scene and from its file; the scene stays as it was."""
    one, parts, again = (tmp_path / f"{name}.mkv" for name in ("one", "parts", "again"))
    asked: Any = {"encoding": LOSSLESS, "segment_s": 0.5, "workers": 1, "device": "cpu"}
    shutil.copy(clip, tmp_path / "placeholder.mp4")
    with scene.Scene(64, 48, target_fps=30) as stage:
        shown = stage.add_video(str(tmp_path / "placeholder.mp4"), size=(64, 48), name="input")
        box = stage.add_shape(position=(4, 4), size=(16, 16), fill="gold")
        stage.animate(box, "position", from_=(4, 4), to=(40, 24), duration_ms=1500)
        path = scene.save(stage, tmp_path / "scene.json")
        before = stage.node(shown).props
        video.transcode(clip, one, scene=stage, encoding=LOSSLESS, device="cpu")
        report = fleet.transcode(clip, parts, scene=stage, **asked)
        assert stage.node(shown).props == before
        with pytest.raises(ParameterError, match="filters are nodes of the scene"):
            fleet.transcode(clip, again, ["invert"], scene=stage, **asked)
        stage.remove_node(shown)
        with pytest.raises(ParameterError, match="a video node named 'input'"):
            fleet.transcode(clip, again, scene=stage, **asked)
    assert (report.tasks, report.frames, report.failures) == (5, 60, ())
    assert_same_video(parts, one)
    fleet.transcode(clip, again, scene=path, **asked)
    assert_same_video(again, one)


def test_a_file_and_the_usual_codecs(clip: Path, tmp_path: Path) -> None:
    """A sound that is heard alone is copied; the parts have the codec of the whole file."""
    own = Path(shutil.copy(clip, tmp_path))
    with scene.Scene(64, 48, target_fps=30, background="red") as stage:
        stage.add_video(str(own), size=(64, 48))
        path = scene.save(stage, tmp_path / "scene.json")
        scene.export(stage, tmp_path / "one.mp4", fps=12.5)
    fleet.export(path, tmp_path / "parts.mp4", fps=12.5, workers=1, segment_s=1)
    assert frames_of(tmp_path / "parts.mp4")[0] == frames_of(tmp_path / "one.mp4")[0]
    assert sound_of(tmp_path / "parts.mp4") == sound_of(clip)
    assert video.probe(tmp_path / "parts.mp4").codec == "h264"
    fleet.export(path, tmp_path / "parts.webm", end=0.2, workers=1)
    assert video.probe(tmp_path / "parts.webm").codec == "vp9"


def test_a_file_names_its_own_folder_alone(clip: Path, tmp_path: Path) -> None:
    with scene.Scene(64, 48, target_fps=30) as stage:
        stage.add_video(str(clip), size=(64, 48))
        path = scene.save(stage, tmp_path / "scene.json")
    with pytest.raises(SceneSourceError, match="/nodes/0/stream"):
        fleet.export(path, tmp_path / "no.mp4", workers=1)
    assert os.listdir(tmp_path) == ["scene.json"]
    with scene.load(path, sources="any") as loaded:
        assert fleet.export(loaded, tmp_path / "all.mp4", end=0.2, workers=1).frames == 6


def test_a_job_that_was_left_goes_on(clip: Path, tmp_path: Path) -> None:
    one, parts = tmp_path / "one.mp4", tmp_path / "parts.mp4"
    asked: Any = {"encoding": LOSSLESS, "workers": 1, "segment_s": 0.5, "device": "cpu"}

    def stop(now: fleet.Progress) -> None:
        if now.finished == 2:
            raise KeyboardInterrupt

    with make_stage(clip) as stage:
        scene.export(stage, one, end=1.5, video=LOSSLESS, device="cpu")
        with pytest.raises(KeyboardInterrupt):
            fleet.export(stage, parts, end=1.5, progress=stop, **asked)
        assert not parts.exists()
        left = fleet.status(parts)
        assert (left.kind, left.finished, left.total) == ("export", 2, 3)
        before = (folder_of(parts) / JOURNAL).read_text().splitlines()[1]
        report = fleet.resume(parts, workers=1)
        assert (report.resumed, report.tasks, report.frames) == (2, 3, 38 - 26)
        assert_same_video(parts, one)
        with pytest.raises(KeyboardInterrupt):
            fleet.export(stage, parts, end=1.5, progress=stop, **asked)
        journal = folder_of(parts) / JOURNAL
        head, *lines = journal.read_text().split("\n", 2)[1:]
        job = json.loads(head)
        del job["job"]["default"]  # as an earlier version has written it
        journal.write_text("\n" + json.dumps(job | {"fingerprint": "of then"}) + "\n" + lines[0])
        assert fleet.resume(parts, workers=1).resumed == 0
        with pytest.raises(KeyboardInterrupt):
            fleet.export(stage, parts, end=1.5, progress=stop, **asked)
        assert (folder_of(parts) / JOURNAL).read_text().splitlines()[1] == before
        stage.set_background("green")  # another scene: nothing of it is of use
        assert fleet.export(stage, parts, end=1.5, **asked).resumed == 0


def test_a_changed_file_begins_anew(tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    parts = tmp_path / "parts.mp4"

    def stop(now: fleet.Progress) -> None:
        if now.finished:
            raise KeyboardInterrupt

    with scene.Scene(32, 32, target_fps=10) as stage:
        Image.new("RGB", (32, 32), "red").save(picture)
        stage.add_image(str(picture), size=(32, 32))
        with pytest.raises(KeyboardInterrupt):
            fleet.export(stage, parts, end=1.0, segment_s=0.5, workers=1, progress=stop)
        Image.new("RGB", (32, 32), "blue").save(picture)
        report = fleet.export(stage, parts, end=1.0, segment_s=0.5, workers=1)
    assert (report.resumed, report.tasks) == (0, 2)


def add_array(stage: scene.Scene) -> None:
    stage.add_video(np.zeros((8, 8, 3), np.uint8))


def add_loaded(stage: scene.Scene) -> None:
    stage.add_image(image_id=stage.load_image(np.zeros((8, 8, 3), np.uint8)))


def add_live(stage: scene.Scene) -> None:
    stage.add_video("rtsp://127.0.0.1:1/nothing")


def add_nested(stage: scene.Scene) -> None:
    inner = scene.Scene(8, 8)
    add_loaded(inner)
    stage.add_scene(inner)


@pytest.mark.parametrize(
    ("add", "error", "words"),
    [
        (add_array, SceneFileError, "ndarray.*save it"),
        (add_loaded, SceneError, "loaded into this process"),
        (add_live, SceneError, "live"),
        (add_nested, SceneError, "loaded into this process"),
    ],
)
def test_what_a_worker_cannot_see_is_refused(
    add: Any, error: type[DalaError], words: str, tmp_path: Path
) -> None:
    with scene.Scene(16, 16) as stage:
        add(stage)
        with pytest.raises(error, match=words):
            fleet.export(stage, tmp_path / "out.mp4", end=1.0)
    assert os.listdir(tmp_path) == []


def test_words_that_make_no_sense(tmp_path: Path) -> None:
    with scene.Scene(16, 16) as stage:
        for words in (
            {"end": 1.0, "segment_s": 0},
            {"end": 1.0, "audio": "loud"},
            {},
            {"end": -1.0},
        ):
            with pytest.raises(ParameterError):
                fleet.export(stage, tmp_path / "out.mp4", **words)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=r"scene\.export writes others"):
            fleet.export(stage, tmp_path / "out.gif", end=1.0)
    with pytest.raises(FleetError, match="no job"):
        fleet.status(tmp_path / "out.mp4")
