"""Exports that go on where they were left: what is complete is not made again, and the file is the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from processes import environment
from tracks import LOSSLESS, levels, samples, write_counted

import dala
from dala import cli, fleet, scene, video
from dala.compute.default import default_name
from dala.errors import FleetError, ParameterError, SceneError, SceneFileError
from dala.scene import Canvas, Scene
from dala.scene.files.shown import files_shown
from dala.scene.out import parts
from dala.video.parts import folder_of, status

END = 2.0


@pytest.fixture(autouse=True)
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_S", 0.5)


def make(film: Path) -> Scene:
    stage = Scene(32, 16, target_fps=25, background="navy")
    stage.add_video(str(film), size=(32, 16), start=0.3)
    stage.add_audio(str(film), volume=0.5)
    return stage


def stop_at(frames: int) -> Any:
    def progress(now: video.Progress) -> None:
        assert now.total_frames == 50
        if now.frames >= frames:
            raise KeyboardInterrupt

    return progress


def test_an_export_goes_on_where_it_was_left(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=40)
    one, out = tmp_path / "one.mkv", tmp_path / "out.mkv"
    seen: list[int] = []
    with make(film) as stage:
        scene.export(stage, one, end=END, video=LOSSLESS)
        with pytest.raises(KeyboardInterrupt):
            scene.export(
                stage, out, end=END, video=LOSSLESS, resume=True, progress=stop_at(13 + 13 + 5)
            )
        assert not out.exists()
        left = status(out)
        assert (left.kind, left.finished, left.total, left.frames) == ("scene.export", 2, 4, 26)
        with pytest.raises(FleetError, match=r"scene\.export\(…, resume=True\)"):
            fleet.resume(out)
        before = stage.frame_count
        report = scene.export(
            stage, out, end=END, video=LOSSLESS, resume=True,
            progress=lambda now: seen.append(now.frames),
        )  # fmt: skip
        assert stage.frame_count == before
    assert (
        min(seen) > 26 and max(seen) == 50
    )  # parts that were there are counted, and not made again
    assert (report.frames, float(report.duration), report.size) == (50, 2.0, (32, 16))
    assert report.plan == "4 parts, 2 of them were there"
    assert levels(out) == levels(one)
    assert np.array_equal(samples(out), samples(one))
    assert sorted(os.listdir(tmp_path)) == ["film.mkv", "one.mkv", "out.mkv"]


def test_what_is_asked_for_otherwise_begins_anew(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=40, sound=False)
    out = tmp_path / "out.mp4"
    with make(write_counted(tmp_path / "sound.mkv", frames=40)) as stage:
        node = stage.add_video(str(film), size=(16, 16))

        def left(**words: Any) -> int:
            with pytest.raises(KeyboardInterrupt):
                scene.export(
                    stage,
                    out,
                    end=END,
                    resume=True,
                    preset="ultrafast",
                    progress=stop_at(29),
                    **words,
                )
            return status(out).finished

        assert left() == 2
        folder = folder_of(out)
        part = next(folder.glob("part-00000*"))
        first = part.stat().st_mtime_ns
        assert left() == 2 and part.stat().st_mtime_ns == first  # the same: it is kept
        stage.update_node(node, opacity=0.5)
        assert left() == 2 and part.stat().st_mtime_ns != first
        first = part.stat().st_mtime_ns
        write_counted(film, frames=30, sound=False)  # what it shows is another film now
        assert left() == 2 and part.stat().st_mtime_ns != first
        first = part.stat().st_mtime_ns
        assert left(crf=40) == 2 and part.stat().st_mtime_ns != first
        os.truncate(part, 0)  # as a disk may that lost its power
        report = scene.export(stage, out, end=END, resume=True, preset="ultrafast", crf=40)
        assert report.plan == "4 parts, 1 of them were there"
    assert video.probe(out).frames == 50 and not folder.exists()


KILLED = """
import sys, time
from dala import scene, video
from dala.scene.out import parts
parts.PART_S = 0.5
stage = scene.load(sys.argv[1])
def wait(now):
    if now.frames > 30:
        print("now", flush=True)
        time.sleep(600)
how = video.Encoding("ffv1", audio_codec="flac")
scene.export(stage, sys.argv[2], end=2.0, video=how, resume=True, progress=wait)
"""


def test_an_export_that_was_killed_goes_on(tmp_path: Path) -> None:
    """In another process, by the same file of a scene."""
    film = write_counted(tmp_path / "film.mkv", frames=40)
    out = tmp_path / "out.mkv"
    with make(film) as stage:
        path = scene.save(stage, tmp_path / "scene.json")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), str(out)],
        env=environment(DALA_DEVICE=default_name()),  # parts are for one default device
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "now\n"
    finally:
        process.send_signal(signal.SIGKILL) if os.name != "nt" else process.kill()
        process.communicate()
    assert not out.exists() and status(out).finished == 2
    with scene.load(path) as stage:
        report = scene.export(stage, out, end=END, video=LOSSLESS, resume=True)
        scene.export(stage, tmp_path / "one.mkv", end=END, video=LOSSLESS)
    assert report.plan == "4 parts, 2 of them were there"
    assert levels(out) == levels(tmp_path / "one.mkv")
    assert np.array_equal(samples(out), samples(tmp_path / "one.mkv"))


def test_canvases_go_on_too(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=40)
    with make(film) as stage:
        out = tmp_path / "tall.mkv"
        with pytest.raises(KeyboardInterrupt):
            scene.export(Canvas(stage, 16, 32), out, end=END, resume=True, progress=stop_at(29))
        scene.export(Canvas(stage, 16, 32), out, end=END, resume=True)
        assert len(levels(out)) == 50
        with pytest.raises(KeyboardInterrupt):
            scene.export(Canvas(stage, 16, 32), out, end=END, resume=True, progress=stop_at(29))
        other = Canvas(stage, 16, 32, focus=(0.0, 0.5))
        assert scene.export(other, out, end=END, resume=True).plan.startswith("4 parts, 0 ")


def test_what_cannot_go_on_is_refused(tmp_path: Path) -> None:
    with Scene(8, 8, target_fps=25) as stage:
        node = stage.add_video(np.zeros((50, 8, 8, 3), np.uint8))
        with pytest.raises(SceneFileError, match=r"/nodes/0/stream: .*save it and give its path"):
            scene.export(stage, tmp_path / "out.mp4", end=1.0, resume=True)
        stage.remove_node(node)
        node = stage.add_image(image_id=stage.load_image(np.zeros((8, 8, 3), np.uint8)))
        with pytest.raises(SceneError, match="export: resume: image of node 2"):
            scene.export(stage, tmp_path / "out.mp4", end=1.0, resume=True)
        stage.remove_node(node)
        with pytest.raises(ParameterError, match="resume makes one file"):
            scene.export(
                stage, tmp_path / "a.mp4", end=1.0, resume=True, also={tmp_path / "b.mp4": stage}
            )
        with pytest.raises(ParameterError, match="parts become one video file"):
            scene.export(stage, tmp_path / "a.gif", end=1.0, resume=True)
    assert os.listdir(tmp_path) == []


def test_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card = tmp_path / "card.json"
    shape = {"type": "shape", "size": [32, 16], "end": 2}
    size = {"width": 32, "height": 16, "fps": 25}
    card.write_text(json.dumps({"format": "dala.scene", "version": 1, **size, "nodes": [shape]}))
    out = tmp_path / "card.mp4"
    words = ["render", str(card), "-o", str(out), "--resume", "-q"]
    export = scene.export

    def interrupted(*given: Any, **words: Any) -> Any:
        return export(*given, **{**words, "progress": stop_at(29)})

    monkeypatch.setattr(scene, "export", interrupted)
    assert cli.main(words) != 0
    assert status(out).finished == 2 and not out.exists()
    monkeypatch.setattr(scene, "export", export)
    assert cli.main(words) == 0
    assert video.probe(out).frames == 50
    assert sorted(os.listdir(tmp_path)) == ["card.json", "card.mp4"]
    assert cli.main(["render", str(card), "-o", str(tmp_path / "a.png"), "--resume"]) == 2
    assert "is a picture" in " ".join(capsys.readouterr().err.split())


def test_a_text_may_be_called_like_the_result(tmp_path: Path) -> None:
    out = tmp_path / "out.mp4"
    with Scene(32, 16, target_fps=25) as stage:
        stage.add_text("out.mp4", end=1.0)
        stage.add_text(str(out), end=1.0)
        for _ in range(2):
            assert scene.export(stage, out, end=1.0, resume=True).frames == 25
        stage.add_video(str(out))
        with pytest.raises(ParameterError, match="the scene shows it"):
            scene.export(stage, out, end=1.0, resume=True)


def test_every_file_that_is_shown_counts(tmp_path: Path) -> None:
    """Pictures of a sequence, inputs of looks and of filters, files of scenes within scenes."""

    def picture(name: str) -> str:
        Image.new("RGB", (8, 8), "red").save(tmp_path / name)
        return str(tmp_path / name)

    for number in range(3):
        picture(f"im{number:03}.png")
    look = tmp_path / "my.look"
    look.write_text("blend top=below.png\n")
    font, later, table = tmp_path / "own.ttf", tmp_path / "later.ttf", tmp_path / "t.cube"
    for path in (font, later):
        shutil.copy(Path(dala.__file__).parent / "text" / "fonts" / "NotoSans-Bold.ttf", path)
    corners = [f"{r} {g} {b}" for b in (0, 1) for g in (0, 1) for r in (0, 1)]
    table.write_text("\n".join(["LUT_3D_SIZE 2", *corners]))
    text = tmp_path / "said.srt"
    text.write_text("1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    above, over, inside = picture("above.png"), picture("over.png"), picture("inside.png")
    picture("below.png")
    picture("a word.png")
    with Scene(8, 8) as inner:
        inner.add_image(inside)
        path = scene.save(inner, tmp_path / "inner.json")
    with Scene(8, 8) as stage, scene.load(path) as loaded:
        stage.add_video(str(tmp_path / "im%03d.png"))
        node = stage.add_image(over)
        stage.add_effect(str(look), input=node)
        stage.add_effect("blend", input=node, top=above)
        stage.add_scene(loaded)
        stage.add_subtitles(str(text))
        stage.add_text(str(tmp_path / "a word.png"))
        stage.add_text([["a", {"font": str(font)}], ["b", {}]])
        title = stage.add_text("c")
        stage.keyframes(title, "text", {0.0: "d", 1.0: [["e", {"font": str(later)}]]})
        stage.keyframes(title, "opacity", {0.0: 1, 1.0: 0})
        stage.add_effect("lut", lut=str(table))
        names = {os.path.relpath(file, os.path.realpath(tmp_path)) for file in files_shown(stage)}
    pictures = {
        "im000.png",
        "im001.png",
        "im002.png",
        "below.png",
        "above.png",
        "over.png",
        "inside.png",
    }
    assert names == pictures | {"my.look", "said.srt", "own.ttf", "later.ttf", "t.cube"}


@pytest.mark.parametrize("letters", ["text", "in a scene", "none"])
def test_another_font_of_the_machine_begins_anew(
    letters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A family is found by its name, and a character that a font lacks in any other."""
    folder = tmp_path / "fonts" / "own"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")  # where fonts lie is asked of the system
    out = tmp_path / "out.mp4"

    def export(**words: Any) -> video.Report:
        with Scene(32, 16, target_fps=25) as inner, Scene(32, 16, target_fps=25) as stage:
            stage.add_shape(size=(8, 8), fill="red")
            if letters != "none":
                (inner if letters == "in a scene" else stage).add_text("a", font_size=8)
            stage.add_scene(inner)
            return scene.export(stage, out, end=END, resume=True, **words)

    with pytest.raises(KeyboardInterrupt):
        export(progress=stop_at(29))
    shutil.copy(Path(dala.__file__).parent / "text/fonts/NotoSans-Bold.ttf", folder / "new.ttf")
    there = "0" if letters != "none" else "2"
    assert export().plan == f"4 parts, {there} of them were there"


@pytest.mark.parametrize("changed", ["picture", "device", "default"])
def test_what_changes_pixels_begins_anew(changed: str, tmp_path: Path) -> None:
    out = tmp_path / "out.mp4"
    for number in range(3):
        Image.new("RGB", (32, 16), "red").save(tmp_path / f"im{number}.png")

    def export(device: str | None, **words: Any) -> video.Report:
        with Scene(32, 16, target_fps=25, device=device) as stage:
            stage.add_video(str(tmp_path / "im%d.png"), size=(32, 16))
            return scene.export(stage, out, end=END, resume=True, **words)

    with pytest.raises(KeyboardInterrupt), dala.use("cpu"):
        export(None, progress=stop_at(29))
    if changed == "picture":
        Image.new("RGB", (32, 16), "blue").save(tmp_path / "im1.png")
    with dala.use("reference" if changed == "default" else "cpu"):
        report = export("cpu" if changed == "device" else None)
    assert report.plan == "4 parts, 0 of them were there"
