"""A video in parts: the frames, times and sound of one run, whoever is lost on the way."""

from __future__ import annotations

import importlib
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from clips import enclosed_in, with_enclosed
from fleet_workers import assert_same_video, frames_of
from kinds import PQ, Kind, make, with_timecode
from made_models import made_model

from dala import fleet, media, video
from dala.errors import DalaError, FleetError, ParameterError, VideoFileError
from dala.fleet.cuts import Segment
from dala.fleet.hashing import Hashing
from dala.media.chain import Chain
from dala.video.parts.journal import folder_of, hash_file

CHAIN = [("brightness", {"value": 0.1}), ("blur", {"radius": 1})]
LOSSLESS = video.Encoding("ffv1")


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
    with av.open(tmp_path / "parts.mp4") as container, av.open(clip) as source:
        assert container.metadata["title"] == "Blocks"
        titles = [chapter["metadata"]["title"] for chapter in container.chapters()]
        assert titles == ["Chapter 0", "Chapter 1", "Chapter 2"]
        times = [[(c["start"] * c["time_base"], c["end"] * c["time_base"]) for c in file.chapters()]
                 for file in (container, source)]  # fmt: skip
        assert times[0] == times[1]


def test_filters_that_count_frames_go_on(clip: Path, tmp_path: Path) -> None:
    """Grain that lives: its frames are those of one run in every part."""
    video.transcode(clip, tmp_path / "one.mp4", ["grain"], encoding=LOSSLESS, device="cpu")
    asked: dict[str, Any] = {"encoding": LOSSLESS, "segment_s": 0.4, "device": "cpu"}
    fleet.transcode(clip, tmp_path / "parts.mp4", ["grain"], workers=1, **asked)
    assert_same_video(tmp_path / "parts.mp4", tmp_path / "one.mp4")


def test_parts_whose_masks_a_model_makes_begin_with_frames_before_them(tmp_path: Path) -> None:
    model = made_model("selfie", [np.ones((1, 256, 256, 1), np.float32)])
    black = np.zeros((4, 4, 3), np.uint8)
    masked = Chain.of([("background_replace", {"mask": model, "background": black})])
    segment = Segment(1, Fraction(1), None, 25, Fraction(1), 25, lead=24, warm=Fraction(1, 25))
    asked = {
        "source": "a",
        "encoding": {},
        "on_damage": "error",
        "device": "cpu",
        "part_suffix": ".mp4",
    }
    make_task = importlib.import_module("dala.fleet.transcode")._task
    for chain, before, warm in ((masked, 1, "1/25"), (Chain.of(["invert"]), 25, None)):
        facts = make_task(segment, tmp_path, tmp_path / "chain.look", chain, asked).facts
        assert (facts["before"], facts["warm"]) == (before, warm)


@pytest.mark.parametrize("audio", ["copy", "encode"])
def test_clicks_at_the_joints_are_where_they_were(audio: Any, tmp_path: Path) -> None:
    """To the sample: one just before and one just after every joint, and a train of them between."""
    clip = tmp_path / "clicks.mkv"
    heard = np.zeros((1, 72_000), np.int16)
    heard[0, ::480] = 8000
    for joint in range(19_200, 72_000, 19_200):
        heard[0, joint - 1 : joint + 1] = (-20_000, 30_000)
    with av.open(clip, "w") as container:
        pictures = container.add_stream(
            "libx264", rate=25, options={"g": "10", "sc_threshold": "0"}
        )
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("flac", rate=48_000, layout="mono")
        for number in range(38):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), number * 6, np.uint8))
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(pictures.encode(frame))
        for start in range(0, 72_000, 1920):
            piece = av.AudioFrame.from_ndarray(heard[:, start : start + 1920], "s16", "mono")
            piece.pts, piece.sample_rate, piece.time_base = start, 48_000, Fraction(1, 48_000)
            container.mux(sound.encode(piece))
        container.mux(pictures.encode(None))
        container.mux(sound.encode(None))
    target = tmp_path / "out.mkv"
    report = fleet.transcode(
        clip, target, ["invert"], workers=2, segment_s=0.4, device="cpu", audio=audio,
        audio_codec="flac",
    )  # fmt: skip
    assert report.tasks > 2
    with av.open(target) as container:
        pieces = [f.to_ndarray().reshape(-1) for f in container.decode(audio=0)]
    assert np.array_equal(np.concatenate(pieces), heard[0])


@pytest.mark.parametrize(("workers", "threads"), [(3, 1), (1, 7)])
def test_parts_do_not_depend_on_cores(
    workers: int, threads: int, tmp_path: Path, by_one: Path, moving: Path
) -> None:
    """Encoded with loss and B-frames."""
    out = tmp_path / "out.mp4"
    fleet.transcode(
        moving, out, CHAIN, workers=workers, threads=threads, segment_s=0.8, device="cpu"
    )
    assert_same_video(out, by_one)
    assert frames_of(out)[0] == [Fraction(n, 25) for n in range(60)]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's way to fill memory")
def test_parts_do_not_depend_on_what_memory_holds(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for filled in ("90", "165"):
        monkeypatch.setenv("MALLOC_PERTURB_", filled)
        out = tmp_path / f"{filled}.mp4"
        fleet.transcode(clip, out, CHAIN, workers=1, threads=1, segment_s=0.8, device="cpu")
    assert_same_video(tmp_path / "90.mp4", tmp_path / "165.mp4")


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Blocks that move far in a frame: farther than each of many threads of an encoder looks."""
    path = tmp_path_factory.mktemp("moving") / "moving.mp4"
    blocks = np.random.default_rng(1).integers(0, 256, (120, 10, 3), np.uint8)
    blocks = blocks.repeat(16, 0).repeat(16, 1)
    with video.Writer(path, fps=25, options={"g": "10", "sc_threshold": "0"}) as writer:
        for number in range(60):
            writer.write(blocks[number * 24 : number * 24 + 480])
    return path


@pytest.fixture(scope="module")
def by_one(moving: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by one worker of one thread."""
    path = tmp_path_factory.mktemp("one") / "one.mp4"
    fleet.transcode(moving, path, CHAIN, workers=1, threads=1, segment_s=0.8, device="cpu")
    return path


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
    os.truncate(
        next(folder_of(target).glob("part-00000.*")), 0
    )  # as a disk may that lost its power
    report = fleet.resume(target, workers=1)
    assert report.resumed == left.finished - 1
    assert report.frames == 60 - left.frames + 10
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


def test_another_picture_in_a_chain_begins_anew(clip: Path, tmp_path: Path) -> None:
    target, logo = tmp_path / "out.mp4", tmp_path / "logo.png"
    asked: dict[str, Any] = {"encoding": LOSSLESS, "workers": 1, "segment_s": 0.4, "device": "cpu"}
    chain = [("blend", {"top": str(logo), "alpha": 1.0})]
    media.save(np.full((8, 8, 3), 40, np.uint8), logo)
    with pytest.raises(_Enough):
        fleet.transcode(clip, target, chain, progress=stop_after(1), **asked)
    media.save(np.full((8, 8, 3), 200, np.uint8), logo)
    report = fleet.transcode(clip, target, chain, **asked)
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


@pytest.mark.parametrize("name", ["%04d.png", "pipe.mp4", "folder.mp4"])
def test_what_is_no_file_is_refused(name: str, tmp_path: Path) -> None:
    """A pipe would be waited for, and pictures have no packets."""
    for number in range(2):
        media.save(np.zeros((8, 8, 3), np.uint8), tmp_path / f"{number:04}.png")
    (tmp_path / "folder.mp4").mkdir()
    if name == "pipe.mp4":
        getattr(os, "mkfifo", lambda _path: pytest.skip("there are no pipes"))(tmp_path / name)
    with pytest.raises(FleetError, match=r"is no file of its own.*video\.transcode"):
        fleet.transcode(tmp_path / name, tmp_path / "out.mp4", ["invert"])
    with pytest.raises(VideoFileError, match=r"nothing\.mp4"):
        fleet.transcode(tmp_path / "nothing.mp4", tmp_path / "out.mp4", ["invert"])


def test_a_hash_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    long = tmp_path / "long.mp4"
    long.touch()
    os.truncate(long, 1 << 40)  # of holes; hashing it would take half an hour
    with pytest.raises(DalaError), Hashing(str(long)):
        video.probe(long)
    (tmp_path / "short").write_bytes(b"Dear Ada")
    with Hashing(str(tmp_path / "short")) as content:
        assert content.result() == hash_file(tmp_path / "short")
    with pytest.raises(FileNotFoundError), Hashing(str(tmp_path / "no")) as content:
        content.result()


def test_parts_have_the_codec_of_the_whole_file(clip: Path, tmp_path: Path) -> None:
    fleet.transcode(clip, tmp_path / "out.webm", workers=2, segment_s=1.2, preset=8)
    assert video.probe(tmp_path / "out.webm").codec == "vp9"
    assert len(frames_of(tmp_path / "out.webm")[0]) == 60


def test_parts_have_the_codec_that_what_they_show_needs(tmp_path: Path) -> None:
    """Nobody named one: HDR is HEVC, alpha in a .mov is ProRes, as in one run."""
    hdr = Kind("hdr.mkv", "ffv1", "yuv420p10le", PQ)
    alpha = Kind("alpha.mkv", "ffv1", "bgra")
    for kind, target, codec in ((hdr, "o.mp4", "hevc"), (alpha, "o.mov", "prores")):
        fleet.transcode(make(kind, tmp_path), tmp_path / target, ["sepia"], workers=1, device="cpu")
        made = video.probe(tmp_path / target)
        video.transcode(tmp_path / kind.name, tmp_path / f"one_{target}", ["sepia"], device="cpu")
        one = video.probe(tmp_path / f"one_{target}")
        assert made.codec == one.codec == codec
        assert (made.pixel_format, made.transfer) == (one.pixel_format, one.transfer)


def test_what_the_result_does_not_hold_is_said_once(tmp_path: Path) -> None:
    """By its parts, also those of a run before."""
    source, target = (
        make(Kind("in.mkv", "ffv1", "yuv422p"), tmp_path, frames=15),
        tmp_path / "o.mp4",
    )
    asked: dict[str, Any] = {"workers": 1, "segment_s": 0.2, "device": "cpu"}
    with pytest.raises(_Enough):
        fleet.transcode(source, target, ["sepia"], progress=stop_after(1), **asked)
    report = fleet.transcode(source, target, ["sepia"], **asked)
    assert report.resumed == 1 < report.tasks
    assert report.notes == ("o.mp4 does not hold 4:2:2 colour (4:2:0 is kept)",)


def test_what_results_of_many_files_do_not_hold(tmp_path: Path) -> None:
    sources = [tmp_path / "deep.png", make(Kind("a.mkv", "ffv1", "yuv422p"), tmp_path)]
    media.save(np.full((8, 8, 3), 4000, np.uint16), sources[0])
    report = fleet.map(sources[:1], tmp_path, names="{name}.jpg", workers=1, device="cpu")
    assert report.notes == (f"{tmp_path / 'deep.jpg'} does not hold 16 bits (8 bits are kept)",)
    report = fleet.map(sources[1:], tmp_path, names="{name}.mp4", workers=1, device="cpu")
    assert report.notes == (f"{tmp_path / 'a.mp4'} does not hold 4:2:2 colour (4:2:0 is kept)",)


def test_timecode_is_said_to_be_left_out(tmp_path: Path) -> None:
    """A track of it needs a rate of frames, and FFmpeg refused the whole file."""
    source = with_timecode(tmp_path / "in.mkv", "10:00:59:20", Fraction(25))
    report = fleet.transcode(source, tmp_path / "out.mov", ["sepia"], workers=1, device="cpu")
    assert (report.frames, report.notes) == (90, ("out.mov does not hold its timecode",))


def test_covers_come_along(clip: Path, tmp_path: Path) -> None:
    covered = with_enclosed(clip, tmp_path / "covered.mp4")
    for name, notes in (("o.mp4", ()), ("o.mov", ("o.mov does not hold its cover picture",))):
        report = fleet.transcode(covered, tmp_path / name, CHAIN, workers=1, device="cpu")
        assert tuple(n.removeprefix(f"{tmp_path}{os.sep}") for n in report.notes) == notes
    assert enclosed_in(tmp_path / "o.mp4") == enclosed_in(covered) != []


def test_parts_hold_pictures_alone(clip: Path, tmp_path: Path) -> None:
    """A cover, chapters and words about it are the whole file's."""
    covered, target = with_enclosed(clip, tmp_path / "covered.mp4"), tmp_path / "out.mp4"
    held: list[tuple[object, ...]] = []

    def look(_progress: fleet.Progress) -> None:
        for part in folder_of(target).glob("part-*.mp4"):
            with av.open(part) as opened:
                held.append((len(opened.streams), opened.chapters(), opened.metadata.get("title")))

    fleet.transcode(covered, target, CHAIN, workers=1, segment_s=0.8, device="cpu", progress=look)
    assert set(map(repr, held)) == {repr((1, [], None))}
    assert enclosed_in(target) == enclosed_in(covered)
