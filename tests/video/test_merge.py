"""Several videos in one picture."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clips import Sound, frame_times, packets_of, real_clip, write_clip

from dala import video
from dala.errors import ParameterError, VideoError
from dala.video import merge
from dala.video.pictures import planes_of


def flat(path: Path, level: int, *, size: tuple[int, int] = (96, 64), frames: int = 10) -> Path:
    with video.Writer(path, fps=25, crf=1) as writer:
        for _ in range(frames):
            writer.write(np.full((size[1], size[0], 3), level, np.uint8))
    return path


def pixels(path: Path, number: int = 0) -> Any:
    with video.Reader(path) as reader:
        return [f.rgb for f in reader][number].astype(int)


def near(pixel: Any, level: int) -> bool:
    return bool(np.abs(pixel - level).max() <= 4)


@pytest.fixture
def clips(tmp_path: Path) -> list[Path]:
    return [flat(tmp_path / f"{n}.mp4", level) for n, level in enumerate((60, 120, 180))]


def test_side_by_side(clips: list[Path], tmp_path: Path) -> None:
    high = flat(tmp_path / "high.mp4", 200, size=(64, 128))
    video.side_by_side(clips[0], high, tmp_path / "out.mp4", gap=8, background="white")
    seen = pixels(tmp_path / "out.mp4")
    assert seen.shape == (64, 96 + 8 + 32, 3)
    assert near(seen[10:50, 10:80], 60) and near(seen[10:50, 108:130], 200)
    assert near(seen[10:50, 98:102], 255)


def test_grid(clips: list[Path], tmp_path: Path) -> None:
    video.grid(clips, tmp_path / "out.mp4", cell=(96, 96), gap=4, background=(255, 0, 0))
    seen = pixels(tmp_path / "out.mp4")
    assert seen.shape == (196, 196, 3)
    for (top, left), level in zip([(20, 10), (20, 110), (120, 10)], (60, 120, 180), strict=True):
        assert near(seen[top : top + 40, left : left + 70], level)
    assert near(seen[120:180, 110:180, 0], 255) and near(seen[120:180, 110:180, 1:], 0)
    assert near(seen[4:12, 10:80, 0], 255)  # the bar above the first


def test_letterbox_keeps_proportions_and_sound(tmp_path: Path) -> None:
    before = write_clip(tmp_path / "a.mp4", size=(64, 128), sounds=[Sound()])
    video.letterbox(before, tmp_path / "out.mp4", width=256, height=128)
    seen = pixels(tmp_path / "out.mp4")
    assert seen.shape == (128, 256, 3)
    assert near(seen[:, :92], 0) and near(seen[:, -92:], 0)
    assert np.abs(seen[:, 96:160] - pixels(before)).mean() < 6
    assert packets_of(tmp_path / "out.mp4", "audio") == packets_of(before, "audio")
    assert frame_times(tmp_path / "out.mp4") == frame_times(before)


@pytest.mark.parametrize(
    ("position", "corner"),
    [("top-left", (4, 4)), ("top-right", (4, 68)), ("bottom-left", (44, 4)),
     ("bottom-right", (44, 68)), ("center", (24, 36))],
)  # fmt: skip
def test_picture_in_picture(
    position: Any, corner: tuple[int, int], clips: list[Path], tmp_path: Path
) -> None:
    video.picture_in_picture(clips[0], clips[2], tmp_path / "out.mp4", position=position, margin=4)
    seen = pixels(tmp_path / "out.mp4")
    inset = np.zeros(seen.shape[:2], bool)
    inset[corner[0] + 3 : corner[0] + 13, corner[1] + 3 : corner[1] + 21] = True
    assert near(seen[inset], 180)
    away = np.ones(seen.shape[:2], bool)
    away[max(0, corner[0] - 3) : corner[0] + 19, max(0, corner[1] - 3) : corner[1] + 27] = False
    assert near(seen[away], 60)


def planar(path: Path, number: int = 3) -> Any:
    with video.Reader(path) as reader:
        frame = [frame.planar.copy() for frame in reader][number]
    return [plane.astype(int) for plane in planes_of(frame)]


def test_what_an_inset_does_not_touch_is_copied(tmp_path: Path) -> None:
    """To the byte, chroma as well; the inset is what it was as a pass over the whole picture."""
    main = write_clip(tmp_path / "main.mkv", frames=6, size=(160, 96), codec="ffv1")
    inset = write_clip(tmp_path / "inset.mkv", frames=6, size=(120, 80), codec="ffv1")
    words: Any = {"width": 48, "margin": 8, "codec": "ffv1", "device": "cpu"}
    report = video.picture_in_picture(main, inset, tmp_path / "out.mkv", **words)
    assert "frames go to the encoder as they are" in report.plan
    made, own = planar(tmp_path / "out.mkv"), planar(main)
    for plane, whole, scale in zip(made, own, (1, 2, 2), strict=True):
        inside = np.zeros(plane.shape, bool)
        inside[8 // scale : 40 // scale, 104 // scale : 152 // scale] = True
        assert np.array_equal(plane[~inside], whole[~inside])
        assert not np.array_equal(plane[inside], whole[inside])


@pytest.mark.parametrize("recipe", ["pip", "side by side", "grid", "letterbox"])
def test_parts_by_themselves_are_those_of_one_pass(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the chroma at edges, which one pass over RGBA mixes with what is beside."""
    one, other = (
        write_clip(tmp_path / f"{n}.mkv", frames=6, size=size, codec="ffv1")
        for n, size in enumerate([(160, 96), (120, 80)])
    )

    def make(path: Path) -> video.Report:
        words: Any = {"codec": "ffv1", "device": "cpu"}
        if recipe == "pip":
            return video.picture_in_picture(one, other, path, width=48, margin=8, **words)
        if recipe == "side by side":
            return video.side_by_side(
                one, other, path, height=80, gap=6, background="teal", **words
            )
        if recipe == "grid":
            return video.grid([one, other, one], path, cell=(96, 64), background="gold", **words)
        return video.letterbox(one, path, width=96, height=96, background="red", **words)

    parts = make(tmp_path / "parts.mkv")
    monkeypatch.setattr(merge, "suits", lambda *given: False)
    whole = make(tmp_path / "whole.mkv")
    assert (parts.frames, parts.size, parts.duration) == (whole.frames, whole.size, whole.duration)
    made, before = planar(tmp_path / "parts.mkv"), planar(tmp_path / "whole.mkv")
    for plane, wanted in zip(made, before, strict=True):
        away = np.abs(plane - wanted)
        assert np.median(away) <= 1 and (away <= 3).mean() > 0.9, (recipe, away.mean())


def test_odd_parts_and_deep_pictures_go_one_way(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mkv", frames=3, size=(160, 96), codec="ffv1")
    for width, margin in ((47, 8), (48, 7)):
        report = video.picture_in_picture(
            clip, clip, tmp_path / "out.mkv", width=width, margin=margin, device="cpu"
        )
        assert (report.frames, report.size) == (3, (160, 96)) and "into" not in report.plan
    deep = write_clip(
        tmp_path / "deep.mkv", frames=3, size=(160, 96), codec="ffv1", pixel_format="yuv420p10le"
    )
    assert video.side_by_side(deep, clip, tmp_path / "out.mkv", device="cpu").size == (320, 96)


def test_each_shows_what_is_current(tmp_path: Path) -> None:
    """10 frames per second beside 25: of the slow one every picture is shown until the next."""
    for name, fps, frames in (("fast", 25, 25), ("slow", 10, 10)):
        with video.Writer(tmp_path / f"{name}.mp4", fps=fps, crf=1) as writer:
            for number in range(frames):
                writer.write(np.full((64, 64, 3), number * 250 // frames, np.uint8))
    video.side_by_side(tmp_path / "fast.mp4", tmp_path / "slow.mp4", tmp_path / "out.mp4", crf=1)
    with video.Reader(tmp_path / "out.mp4") as reader:
        frames = [(f.time, f.rgb.astype(int)) for f in reader]
    assert [t for t, _ in frames] == [Fraction(n, 25) for n in range(25)]
    for number, (time, seen) in enumerate(frames):
        assert near(seen[20, 20], number * 10)
        assert near(seen[20, 100], int(time * 10) * 25)


@pytest.mark.parametrize(("until", "count"), [("first", 10), ("shortest", 5), ("longest", 20)])
def test_ends(until: Any, count: int, tmp_path: Path) -> None:
    paths = [flat(tmp_path / f"{n}.mp4", 100, frames=n) for n in (10, 5, 20)]
    report = video.grid(paths, tmp_path / "out.mp4", until=until)
    assert report.frames == count
    assert frame_times(tmp_path / "out.mp4") == [Fraction(n, 25) for n in range(count)]


@pytest.mark.parametrize("speaker", [0, 1])
def test_whose_sound(speaker: int, tmp_path: Path) -> None:
    first = write_clip(tmp_path / "a.mp4", frames=25, sounds=[Sound(seconds=1)])
    second = write_clip(tmp_path / "b.mp4", frames=50, sounds=[Sound(seconds=2)])
    video.picture_in_picture(first, second, tmp_path / "out.mp4", margin=2, speaker=speaker)
    heard = packets_of(tmp_path / "out.mp4", "audio")
    whole = packets_of((first, second)[speaker], "audio")[0]
    assert heard[0] == whole[: len(heard[0])]
    assert len(heard[0]) == (len(whole) if speaker == 0 else sum(t < 1 for _, t, _ in whole))


def test_ways_of_sound(tmp_path: Path) -> None:
    """The same words as in transcode."""
    loud = write_clip(tmp_path / "a.mp4", frames=25, sounds=[Sound(seconds=1)])
    video.side_by_side(loud, loud, tmp_path / "quiet.mp4", audio="none")
    assert packets_of(tmp_path / "quiet.mp4", "audio") == []
    video.grid([loud, loud], tmp_path / "anew.webm", audio="encode", speaker=1)
    assert video.probe(tmp_path / "anew.webm").audio[0].codec == "opus"
    video.letterbox(loud, tmp_path / "quiet.mp4", width=96, height=96, audio="none")
    assert packets_of(tmp_path / "quiet.mp4", "audio") == []


def test_real_clips_together(tmp_path: Path) -> None:
    names = ["bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4", "carphone_distorted.mp4"]
    report = video.grid([real_clip(n) for n in names], tmp_path / "out.mp4", cell=(160, 90))
    assert report.frames == 250  # bikes is the longest
    assert video.probe(tmp_path / "out.mp4").audio[0].codec == "aac"


def test_refusals(clips: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.mp4"
    with pytest.raises(ParameterError, match=r"speaker is the number of an input, 0\.\.1; got 2"):
        video.side_by_side(clips[0], clips[1], out, speaker=2)
    with pytest.raises(ParameterError, match="audio is one of copy, encode, none, got 0"):
        video.side_by_side(clips[0], clips[1], out, audio=0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="until is one of first, shortest, longest, got 'end'"):
        video.side_by_side(clips[0], clips[1], out, until="end")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="position is one of top-left"):
        video.picture_in_picture(clips[0], clips[1], out, position="left")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="does not fit into 96 × 64"):
        video.picture_in_picture(clips[0], clips[1], out, width=90)
    with pytest.raises(ParameterError, match="height must be a whole number from 1 up, got 0"):
        video.letterbox(clips[0], out, width=10, height=0)
    with pytest.raises(ParameterError, match="expected a list of videos"):
        video.grid([], out)
    with pytest.raises(VideoError, match="there is no such file"):
        video.side_by_side(clips[0], tmp_path / "none.mp4", out)
    with pytest.raises(VideoError, match="the input itself"):
        video.side_by_side(clips[0], clips[1], clips[1])
    assert not out.exists()
