"""A video in parts: the frames, times and sound of one run, whoever is lost on the way."""

from __future__ import annotations

import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest
from fleet_workers import worker_pids

from dala import fleet, video
from dala.errors import FleetError, ParameterError
from dala.fleet.journal import folder_of

CHAIN = [("brightness", {"value": 0.1}), ("blur", {"radius": 1})]
LOSSLESS = video.Encoding("ffv1")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 frames in groups of 10, with B-frames, and a second and a half of sound with clicks."""
    path = tmp_path_factory.mktemp("fleet") / "clip.mp4"
    with av.open(path, "w") as container:
        container.metadata["title"] = "Blocks"
        pictures = container.add_stream(
            "libx264", rate=25, options={"g": "10", "sc_threshold": "0"}
        )
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("aac", rate=48_000, layout="mono")
        random = np.random.default_rng(3)
        for number in range(60):
            picture = random.integers(0, 256, (6, 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)
            frame = av.VideoFrame.from_ndarray(picture)
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(pictures.encode(frame))
            click = np.zeros((1, 1920), np.float32)
            click[0, number % 7 * 100] = 0.8
            heard = av.AudioFrame.from_ndarray(click, "fltp", "mono")
            heard.pts, heard.sample_rate, heard.time_base = (
                number * 1920,
                48_000,
                Fraction(1, 48_000),
            )
            container.mux(sound.encode(heard))
        container.mux(pictures.encode(None))
        container.mux(sound.encode(None))
    return path


def frames_of(path: Path) -> tuple[list[Fraction], list[npt.NDArray[np.uint8]]]:
    """Times and pictures of a video, as FFmpeg decodes them."""
    times, pictures = [], []
    with av.open(path) as container:
        for frame in container.decode(video=0):
            times.append(frame.pts * Fraction(frame.time_base))
            pictures.append(frame.to_ndarray())
    return times, pictures


def sound_of(path: Path) -> list[tuple[int | None, bytes]]:
    """The packets of the sound."""
    with av.open(path) as container:
        return [(p.pts, bytes(p)) for p in container.demux(container.streams.audio[0]) if p.size]


def assert_same_video(made: Path, wanted: Path) -> None:
    (times, pictures), (wanted_times, wanted_pictures) = frames_of(made), frames_of(wanted)
    assert times == wanted_times
    for number, (picture, wanted_picture) in enumerate(zip(pictures, wanted_pictures, strict=True)):
        assert np.array_equal(picture, wanted_picture), number
    assert sound_of(made) == sound_of(wanted)


def test_parts_are_the_frames_of_one_run(clip: Path, tmp_path: Path) -> None:
    video.transcode(clip, tmp_path / "one.mp4", CHAIN, encoding=LOSSLESS, device="cpu")
    report = fleet.transcode(
        clip,
        tmp_path / "parts.mp4",
        CHAIN,
        encoding=LOSSLESS,
        workers=2,
        segment_s=0.4,
        device="cpu",
    )
    assert (report.tasks, report.frames, report.lost, report.failures) == (6, 60, 0, ())
    assert_same_video(tmp_path / "parts.mp4", tmp_path / "one.mp4")
    assert sorted(os.listdir(tmp_path)) == ["one.mp4", "parts.mp4"]
    with av.open(tmp_path / "parts.mp4") as container:
        assert container.metadata["title"] == "Blocks"


def test_however_many_workers(clip: Path, tmp_path: Path) -> None:
    """Encoded with B-frames: the same parts by one worker and by three."""
    for workers in (1, 3):
        fleet.transcode(
            clip,
            tmp_path / f"{workers}.mp4",
            CHAIN,
            workers=workers,
            threads=1,
            segment_s=0.8,
            device="cpu",
        )
    assert_same_video(tmp_path / "1.mp4", tmp_path / "3.mp4")
    times, _ = frames_of(tmp_path / "1.mp4")
    assert times == [Fraction(n, 25) for n in range(60)]


def test_workers_that_are_killed_are_replaced(clip: Path, tmp_path: Path) -> None:
    """A third of the tasks loses its worker; every part is there once."""
    fleet.transcode(
        clip,
        tmp_path / "quiet.mp4",
        CHAIN,
        encoding=LOSSLESS,
        workers=2,
        segment_s=0.4,
        device="cpu",
    )
    killed = 0

    def kill(progress: fleet.Progress) -> None:
        nonlocal killed
        if killed < 3 and progress.finished >= killed and (pids := worker_pids()):
            os.kill(pids[0], signal.SIGKILL)
            killed += 1

    report = fleet.transcode(
        clip, tmp_path / "parts.mp4", CHAIN, encoding=LOSSLESS, workers=2, segment_s=0.4, device="cpu",
        progress=kill,
    )  # fmt: skip
    assert killed == 3
    assert report.failures == ()
    assert_same_video(tmp_path / "parts.mp4", tmp_path / "quiet.mp4")
    assert sorted(os.listdir(tmp_path)) == ["parts.mp4", "quiet.mp4"]


class _Enough(Exception):
    pass


def stop_after(count: int) -> Any:
    def stop(progress: fleet.Progress) -> None:
        if progress.finished >= count:
            raise _Enough

    return stop


def test_what_is_finished_is_not_done_again(clip: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    asked: dict[str, Any] = {"encoding": LOSSLESS, "workers": 1, "segment_s": 0.4, "device": "cpu"}
    with pytest.raises(_Enough):
        fleet.transcode(clip, target, CHAIN, progress=stop_after(2), **asked)
    assert os.listdir(tmp_path) == [folder_of(target).name]
    left = fleet.status(target)
    assert 2 <= left.finished < left.total == 6
    report = fleet.resume(target, workers=1)
    assert report.resumed == left.finished
    assert report.frames == 60 - left.frames
    fleet.transcode(clip, tmp_path / "whole.mp4", CHAIN, **asked)
    assert_same_video(target, tmp_path / "whole.mp4")
    assert sorted(os.listdir(tmp_path)) == ["out.mp4", "whole.mp4"]


def test_another_chain_begins_anew(clip: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    asked: dict[str, Any] = {"encoding": LOSSLESS, "workers": 1, "segment_s": 0.4, "device": "cpu"}
    with pytest.raises(_Enough):
        fleet.transcode(clip, target, CHAIN, progress=stop_after(1), **asked)
    report = fleet.transcode(clip, target, ["invert"], **asked)
    assert (report.resumed, report.frames) == (0, 60)


def test_a_damaged_source_is_named(clip: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.mp4"
    raw = bytearray(clip.read_bytes())
    middle = raw.index(b"mdat") + 4 + (len(raw) // 2)
    raw[middle : middle + 400] = bytes(400)
    damaged.write_bytes(raw)
    with pytest.raises(FleetError, match=r"part-0000\d: .*damaged.mp4.* parts are finished"):
        fleet.transcode(
            damaged, tmp_path / "out.mp4", CHAIN, workers=1, segment_s=0.4, device="cpu"
        )
    assert not (tmp_path / "out.mp4").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"workers": 0}, "workers is 'auto' or a whole number"),
        ({"threads": 0}, "threads is a whole number"),
        ({"segment_s": 0}, "segment_s is a number of seconds"),
        ({"engine": "spark"}, "engine is one of local, ray"),
        ({"address": "host:6379"}, "address belongs to engine='ray'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_words(words: dict[str, Any], message: str, clip: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=message):
        fleet.transcode(clip, tmp_path / "out.mp4", **words)
    assert not (tmp_path / "out.mp4").exists()
