"""Export: every frame and every sample at its place; nothing half-written under the final name."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clips import Sound, frame_times, packets_of, write_clip
from searching import first_seed
from tracks import LOSSLESS, STEP, levels, samples, write_counted

from dala import scene, video
from dala.errors import ArgumentError, ParameterError
from dala.scene.frame import Bytes, FrameMemory
from dala.scene.out.frames import UNDER_WAY

RATES = [Fraction(24_000, 1001), Fraction(25), Fraction(30_000, 1001), Fraction(43), Fraction(60)]


def random_scene(seed: int) -> tuple[scene.Scene, Fraction]:
    random_ = random.Random(seed)
    stage = scene.Scene(32, 16, background="navy")
    for _ in range(random_.randrange(1, 4)):
        node = stage.add_shape(
            position=(random_.randrange(32), random_.randrange(16)), size=(9, 7), fill="gold"
        )
        stage.animate(node, "position", to=(0, 0), duration_ms=random_.randrange(50, 900))
    return stage, Fraction(random_.randrange(1, 1500), random_.choice([1000, 1001, 997]))


def check_frames(seed: int, fps: Fraction, path: Path) -> None:
    """As many frames as begin before the end, each at its own time."""
    stage, end = random_scene(seed)
    with stage:
        report = scene.export(stage, path, fps=fps, end=end, preset="ultrafast")
    count = sum(1 for n in range(2000) if n / fps < end)
    assert report.frames == count, (seed, fps)
    assert frame_times(path) == [n / fps for n in range(count)], (seed, fps)


@pytest.mark.parametrize("fps", RATES, ids=str)
def test_frame_counts_and_times_are_exact(fps: Fraction, tmp_path: Path) -> None:
    """Of 100 scenes; at every rate another fifth of them."""
    for seed in range(RATES.index(fps), 100, len(RATES)):
        check_frames(seed, fps, tmp_path / "out.mp4")


@pytest.mark.fuzz
@pytest.mark.parametrize("fps", RATES, ids=str)
def test_frame_counts_and_times_of_a_hundred_scenes(fps: Fraction, tmp_path: Path) -> None:
    for seed in range(first_seed(), first_seed() + 100):
        check_frames(seed, fps, tmp_path / "out.mp4")


def test_what_is_written_is_what_is_rendered(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=20, sound=False)
    with scene.Scene(32, 16) as stage:
        stage.add_video(str(film), size=(32, 16), start=0.2)
        report = scene.export(stage, tmp_path / "out.mkv", fps=25, video=LOSSLESS)
        assert report.duration == Fraction(1)
        shown = levels(tmp_path / "out.mkv")
        assert shown[:5] == [0] * 5  # transparent is black in what holds no alpha
        assert all(abs(s - n * STEP) <= 2 for n, s in enumerate(shown[5:]))
        part = scene.export(
            stage, tmp_path / "part.mkv", fps=25, start=0.6, end=0.8, video=LOSSLESS
        )
    assert part.frames == 5 and levels(tmp_path / "part.mkv") == shown[15:20]


def test_sound_is_mixed_to_the_sample(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=25)
    with scene.Scene(32, 16) as stage:
        stage.add_video(str(film), size=(32, 16), start=0.5)
        scene.export(stage, tmp_path / "out.mkv", fps=25, video=LOSSLESS)
    heard = samples(tmp_path / "out.mkv")
    assert len(heard) == 72_000
    assert not heard[:24_000].any()
    assert np.array_equal(heard[24_000:], np.arange(48_000) % 30_000)


def test_a_sound_alone_is_copied(tmp_path: Path) -> None:
    film = write_clip(tmp_path / "film.mp4", frames=25, sounds=[Sound(seconds=1)])
    with scene.Scene(96, 64) as stage:
        node = stage.add_video(str(film), size=(96, 64))
        scene.export(stage, tmp_path / "copied.mp4", fps=25)
        stage.update_node(node, volume=0.5)
        scene.export(stage, tmp_path / "mixed.mp4", fps=25)
        scene.export(stage, tmp_path / "none.mp4", fps=25, audio="none")
    before, copied, mixed = (
        [[data for data, _, _ in track] for track in packets_of(tmp_path / f"{name}.mp4", "audio")]
        for name in ("film", "copied", "mixed")
    )
    assert copied == before != mixed
    assert packets_of(tmp_path / "none.mp4", "audio") == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_nothing_is_left_by_errors(error: type[BaseException], tmp_path: Path) -> None:
    (tmp_path / "out.mp4").write_bytes(b"before")

    def stop(progress: video.Progress) -> None:
        if progress.frames > 2:
            raise error

    with scene.Scene(32, 16, background="red") as stage, pytest.raises(error):
        scene.export(stage, tmp_path / "out.mp4", fps=25, end=400.0, progress=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["out.mp4"]
    assert (tmp_path / "out.mp4").read_bytes() == b"before"


def test_progress_and_errors(tmp_path: Path) -> None:
    told: list[video.Progress] = []
    with scene.Scene(32, 16) as stage:
        with pytest.raises(ParameterError, match="nothing in this scene ends"):
            scene.export(stage, tmp_path / "out.mp4")
        with pytest.raises(ParameterError, match="an end after it"):
            scene.export(stage, tmp_path / "out.mp4", start=2.0, end=1.0)
        scene.export(stage, tmp_path / "out.mp4", fps=25, end=1.0, progress=told.append)
    assert (told[-1].frames, told[-1].total_frames, told[-1].fraction) == (25, 25, 1.0)
    with pytest.raises(ArgumentError, match="expected a scene"):
        scene.export("scene", tmp_path / "x.mp4")  # type: ignore[arg-type]


def test_canvases_of_one_scene(tmp_path: Path) -> None:
    with scene.Scene(64, 36, background="navy") as stage:
        stage.add_shape(position=(24, 10), size=(16, 16), fill="gold")
        tall = scene.Canvas(stage, 36, 64)
        pixels = tall.render(0.0).to_array()
        assert pixels.shape == (64, 36, 4)
        assert pixels[32, 18].tolist() == [255, 215, 0, 255]
        small = scene.Canvas(stage, 32, 32, fit="contain")
        assert small.render(0.0).to_array()[9:22, 12:20].mean() > 100
        scene.export(
            stage, tmp_path / "wide.mp4", fps=25, end=0.2, also={tmp_path / "tall.mp4": tall}
        )
        with pytest.raises(ParameterError, match="fit is"):
            scene.Canvas(stage, 9, 9, fit="fill")  # type: ignore[arg-type]
    wide, high = video.probe(tmp_path / "wide.mp4"), video.probe(tmp_path / "tall.mp4")
    assert (wide.width, wide.height, wide.frames) == (64, 36, 5)
    assert (high.width, high.height, high.frames) == (36, 64, 5)


def test_a_video_through_a_scene(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=20, fps=10)
    with scene.Scene(32, 16) as stage:
        stage.add_video(np.zeros((16, 32, 3), np.uint8), name="input", size=(32, 16))
        before = stage.node("input").stream
        report = video.transcode(film, tmp_path / "out.mkv", scene=stage, encoding=LOSSLESS)
        assert stage.node("input").stream == before
        with pytest.raises(ParameterError, match="nodes of the scene"):
            video.transcode(film, tmp_path / "x.mkv", ["invert"], scene=stage)
    assert (report.frames, report.duration) == (20, Fraction(2))
    assert all(abs(s - n * STEP) <= 2 for n, s in enumerate(levels(tmp_path / "out.mkv")))
    assert np.array_equal(samples(tmp_path / "out.mkv")[:96_000], np.arange(96_000) % 30_000)
    with scene.Scene(8, 8) as empty, pytest.raises(ParameterError, match="named 'input'"):
        video.transcode(film, tmp_path / "x.mkv", scene=empty)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("out.mov", {"codec": "qtrle", "pixel_format": "argb"}),
        ("out.mov", {"codec": "prores", "pixel_format": "yuva444p10le"}),
        ("out.webm", {"pixel_format": "yuva420p"}),
        ("out.webp", {}),
        ("out.gif", {}),
    ],
)
def test_alpha_is_kept_where_the_file_holds_it(name: str, encoding: Any, tmp_path: Path) -> None:
    with scene.Scene(32, 16) as stage:
        stage.add_shape(size=(16, 16), fill="red")
        scene.export(stage, tmp_path / name, fps=25, end=0.12, **encoding)
    with video.Reader(tmp_path / name) as reader:
        picture = next(reader).rgba
    assert np.allclose(picture[8, 4], [255, 0, 0, 255], atol=12) and picture[8, 24, 3] == 0


def test_frames_are_painted_into_memory_that_is_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the film: as many arrays as can be on their way."""
    taken: list[int] = []
    take = FrameMemory.take

    def noted(self: FrameMemory) -> Bytes:
        array = take(self)
        taken.append(int(array.ctypes.data))
        return array

    monkeypatch.setattr(FrameMemory, "take", noted)
    with scene.Scene(64, 48, target_fps=25, background="navy") as stage:
        box = stage.add_shape(size=(16, 16), fill="gold")
        stage.animate(box, "position", to=(48, 32), duration_ms=4000)
        scene.export(stage, tmp_path / "out.mp4", end=4.0, preset="ultrafast")
    assert len(taken) > 90 and len(set(taken)) <= UNDER_WAY
