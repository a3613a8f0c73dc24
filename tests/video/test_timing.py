"""Durations, frame counts, times and packets of sound before and after a transcode."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from clips import (
    Sound,
    durations,
    enclosed_in,
    frame_times,
    packets_of,
    real_clip,
    with_enclosed,
    write_clip,
)
from kinds import with_timecode

from dala import video
from dala.errors import LossError, ParameterError, VideoError
from dala.video.timecode import later

CHAIN = [("blur", {"radius": 2}), ("contrast", {"value": 0.1})]
VFR = [Fraction(n, 1000) for n in (0, 20, 21, 100, 133, 400, 401, 900, 1500, 1517)]


def check_same(before: Path, after: Path) -> None:
    """All that a transcode must keep."""
    assert frame_times(after) == frame_times(before)
    assert packets_of(after, "audio") == packets_of(before, "audio")
    assert durations(after) == durations(before)


@pytest.mark.parametrize("name", ["bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4"])
def test_real_clips(name: str, tmp_path: Path) -> None:
    before, after = real_clip(name), tmp_path / "after.mp4"
    report = video.transcode(before, after, CHAIN)
    check_same(before, after)
    assert report.frames == len(frame_times(before))
    assert report.duration == video.probe(before).duration
    assert report.dropped == () and report.damaged == 0


@pytest.mark.parametrize("b_frames", ["0", "3"])
def test_b_frames(b_frames: str, tmp_path: Path) -> None:
    options = {"bf": b_frames, "b-adapt": "0", "preset": "medium"}
    before = write_clip(tmp_path / "before.mp4", frames=40, options=options, sounds=[Sound()])
    with av.open(str(before)) as container:
        dts = [p.pts - p.dts for p in container.demux(video=0) if p.size]
    assert (len(set(dts)) > 1) == (b_frames != "0")
    report = video.transcode(before, tmp_path / "after.mp4", CHAIN, options=options)
    check_same(before, tmp_path / "after.mp4")
    assert report.frames == 40


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".mov"])
def test_variable_frame_rate(suffix: str, tmp_path: Path) -> None:
    before = write_clip(tmp_path / f"before{suffix}", times=VFR, time_base=Fraction(1, 1000))
    after = tmp_path / f"after{suffix}"
    video.transcode(before, after, CHAIN)
    assert frame_times(after) == VFR
    check_same(before, after)


def test_a_first_frame_that_comes_late(tmp_path: Path) -> None:
    times = [Fraction(n, 25) for n in range(10, 30)]
    before = write_clip(tmp_path / "before.mkv", times=times, sounds=[Sound(seconds=1.5)])
    video.transcode(before, tmp_path / "after.mkv", CHAIN)
    check_same(before, tmp_path / "after.mkv")
    assert frame_times(before)[0] >= Fraction(2, 5)


def test_sound_that_goes_on(tmp_path: Path) -> None:
    """Minutes of sound after the last frame: all of it comes along."""
    sound = Sound(seconds=60.0)
    before = write_clip(tmp_path / "before.mp4", frames=5, sounds=[sound])
    video.transcode(before, tmp_path / "after.mp4", CHAIN)
    check_same(before, tmp_path / "after.mp4")
    assert len(packets_of(before, "audio")[0]) > 2500


def test_several_sounds(tmp_path: Path) -> None:
    sounds = [Sound(), Sound("libmp3lame", 0.7, language="deu"), Sound("aac", 0.4, 0.3, "fra")]
    before = write_clip(tmp_path / "before.mkv", sounds=sounds)
    video.transcode(before, tmp_path / "after.mkv", CHAIN)
    check_same(before, tmp_path / "after.mkv")
    tracks = video.probe(tmp_path / "after.mkv").audio
    assert [(t.codec, t.language) for t in tracks] == [
        ("aac", "eng"),
        ("mp3", "deu"),
        ("aac", "fra"),
    ]


def test_no_sound_and_sound_left_out(tmp_path: Path) -> None:
    silent = write_clip(tmp_path / "silent.mp4")
    video.transcode(silent, tmp_path / "a.mp4", CHAIN)
    check_same(silent, tmp_path / "a.mp4")
    assert video.probe(tmp_path / "a.mp4").audio == ()
    loud = write_clip(tmp_path / "loud.mp4", sounds=[Sound()])
    video.transcode(loud, tmp_path / "b.mp4", CHAIN, audio="none")
    assert video.probe(tmp_path / "b.mp4").audio == ()
    assert frame_times(tmp_path / "b.mp4") == frame_times(loud)


def test_sound_that_does_not_fit(tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mp4", sounds=[Sound("aac")])
    after = tmp_path / "after.webm"
    with pytest.raises(
        LossError, match=r"after.webm does not hold aac sound \(encoded anew with libopus"
    ):
        video.transcode(before, after, CHAIN, strict=True)
    assert [p.name for p in tmp_path.iterdir()] == ["before.mp4"]
    report = video.transcode(before, after, CHAIN)
    assert report.notes == ("aac sound (encoded anew with libopus)",)
    assert [t.codec for t in video.probe(after).audio] == ["opus"]
    with pytest.raises(
        ParameterError, match=r"audio is one of copy, encode, none, or a file.*'drop'"
    ):
        video.transcode(before, tmp_path / "after.webm", audio="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("audio_codec", "suffix", "codec"),
    [("mp3", ".mp4", "mp3"), ("flac", ".mkv", "flac"), ("opus", ".mp4", "opus")],
)
def test_sound_in_another_codec(audio_codec: str, suffix: str, codec: str, tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mkv", sounds=[Sound("aac", 1.0)])
    after, encoding = tmp_path / f"after{suffix}", video.Encoding(audio_codec=audio_codec)
    video.transcode(before, after, audio="encode", encoding=encoding)
    assert [t.codec for t in video.probe(after).audio] == [codec]
    with pytest.raises(VideoError, match=r"no encoder for 'aax' \(audio\).*'aac'.*it has aac"):
        video.transcode(before, after, audio="encode", audio_codec="aax")


@pytest.mark.parametrize(("suffix", "codec"), [(".webm", "opus"), (".mp4", "aac")])
def test_sound_encoded_anew(suffix: str, codec: str, tmp_path: Path) -> None:
    before = write_clip(
        tmp_path / "before.mkv", sounds=[Sound("libmp3lame", 2.0), Sound("aac", 1.0)]
    )
    after = tmp_path / f"after{suffix}"
    video.transcode(before, after, CHAIN, audio="encode")
    info = video.probe(after)
    assert [t.codec for t in info.audio] == [codec, codec]
    assert [t.language for t in info.audio] == ["eng", "eng"]
    for seconds, packets in zip((2.0, 1.0), packets_of(after, "audio"), strict=True):
        begin, end = packets[0][1], packets[-1][1] + packets[-1][2]
        assert abs(float(begin)) < 0.05 and abs(float(end) - seconds) < 0.1
    # the tone is still there
    with av.open(str(after)) as container:
        wave = np.concatenate([f.to_ndarray()[0] for f in container.decode(audio=0)]).astype(float)
    middle = wave[20_000:68_000]
    assert abs(np.argmax(np.abs(np.fft.rfft(middle))) - 440) <= 1


def test_subtitles_and_metadata(tmp_path: Path) -> None:
    before = write_clip(
        tmp_path / "before.mkv", subtitles=True, sounds=[Sound()], metadata={"title": "A day"}
    )
    report = video.transcode(before, tmp_path / "after.mkv", CHAIN)
    assert packets_of(tmp_path / "after.mkv", "subtitle") == packets_of(before, "subtitle")
    assert len(packets_of(before, "subtitle")[0]) == 2
    assert video.probe(tmp_path / "after.mkv").metadata["title"] == "A day"
    assert report.dropped == ()
    report = video.transcode(before, tmp_path / "after.mp4", CHAIN)
    assert report.dropped == ("its subtitles (subrip)",)
    assert packets_of(tmp_path / "after.mp4", "audio")[0] != []


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    """A second video stream, say a small picture for a list of files."""
    first = write_clip(tmp_path / "first.mkv", frames=5)
    with av.open(str(first)) as source, av.open(str(tmp_path / "two.mkv"), "w") as out:
        template = source.streams.video[0]
        streams = [out.add_stream_from_template(template, opaque=True) for _ in range(2)]
        for packet in [p for p in source.demux(video=0) if p.size]:
            for stream in streams:
                twin = av.Packet(bytes(packet))
                twin.pts, twin.dts, twin.time_base = packet.pts, packet.dts, packet.time_base
                twin.is_keyframe, twin.stream = packet.is_keyframe, stream
                out.mux(twin)
    report = video.transcode(tmp_path / "two.mkv", tmp_path / "after.mkv", CHAIN)
    assert report.dropped == ("video 1",) and report.frames == 5


@pytest.mark.parametrize("into", [".mp4", ".mkv", ".mov", ".webm"])
@pytest.mark.parametrize("of", [".mp4", ".mkv"])
def test_covers_and_fonts_come_along(of: str, into: str, tmp_path: Path) -> None:
    before = with_enclosed(write_clip(tmp_path / "clip.mkv", frames=5), tmp_path / f"before{of}")
    there = enclosed_in(before)
    assert [kind for kind, _ in there] == (["attached"] if of == ".mkv" else []) + ["cover"]
    for words in ({}, {"start": 0.08}):
        report = video.transcode(before, tmp_path / f"after{into}", CHAIN, **words)  # type: ignore[arg-type]
        kept = {".mkv": ("attached", "cover"), ".mp4": ("cover",)}.get(into, ())
        assert enclosed_in(tmp_path / f"after{into}") == [e for e in there if e[0] in kept]
        lost = {"attached": "an attachment (sans.ttf)", "cover": "its cover picture"}
        assert sorted(report.dropped) == sorted(lost[k] for k, _ in there if k not in kept)
        assert report.frames == (5 if not words else 3)
    twice = video.concat([before, before], tmp_path / "twice.mp4")
    assert sorted(twice.dropped) == sorted(lost[kind] for kind, _ in there)


def test_chapters(tmp_path: Path) -> None:
    before = tmp_path / "before.mkv"
    write_clip(before)
    with av.open(str(before)) as source, av.open(str(tmp_path / "c.mkv"), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0], opaque=True)
        chapter = {"id": 1, "start": 0, "end": 500, "time_base": Fraction(1, 1000)}
        out.set_chapters([{**chapter, "metadata": {"title": "one"}}])
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                out.mux(packet)
    video.transcode(tmp_path / "c.mkv", tmp_path / "after.mkv")
    with av.open(str(tmp_path / "after.mkv")) as container:
        assert [c["metadata"]["title"] for c in container.chapters()] == ["one"]


@pytest.mark.parametrize("suffix", [".mkv", ".ts", ".mov"])
def test_from_one_container_to_another(suffix: str, tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mp4", sounds=[Sound()], options={"bf": "2"})
    after = tmp_path / f"after{suffix}"
    video.transcode(before, after, CHAIN)
    start = frame_times(after)[0] - frame_times(before)[0]
    apart = [
        abs(b - a - start) for a, b in zip(frame_times(before), frame_times(after), strict=True)
    ]
    assert max(apart) <= Fraction(1, 1000)  # matroska counts in milliseconds
    sent, got = packets_of(before, "audio")[0], packets_of(after, "audio")[0]
    payload = [b[7:] if suffix == ".ts" else b for b, _, _ in got]  # TS puts a header on each
    assert payload == [b for b, _, _ in sent]
    video.transcode(after, tmp_path / "back.mp4", CHAIN)
    assert [b for b, _, _ in packets_of(tmp_path / "back.mp4", "audio")[0]] == [
        b for b, _, _ in sent
    ]


def test_progress_tells_how_far(tmp_path: Path) -> None:
    seen: list[video.Progress] = []
    before = real_clip("bikes.mp4")
    video.transcode(before, tmp_path / "after.mp4", CHAIN, progress=seen.append)
    counts = [p.frames for p in seen]
    assert counts == sorted(set(counts)) and counts[-1] == 250
    assert all(p.total_frames == 250 and p.duration == 10.0 for p in seen)
    assert seen[-1].fraction == 1.0 and seen[-1].seconds == 10.0 and seen[-1].fps > 0


def timecode_in(path: Path) -> str | None:
    with av.open(str(path)) as made:
        said = {**made.metadata, **made.streams.video[0].metadata}
        return next((v for k, v in said.items() if k.lower() == "timecode"), None)


@pytest.mark.parametrize("source", ["in.mov", "in.mkv"])
def test_timecode_goes_on_from_where_a_part_begins(source: str, tmp_path: Path) -> None:
    path = with_timecode(tmp_path / source, "10:00:59:20", Fraction(25))
    for name in ("a.mov", "a.mp4", "a.mkv"):
        report = video.transcode(path, tmp_path / name)
        assert (report.dropped, timecode_in(tmp_path / name)) == ((), "10:00:59:20")
        video.transcode(path, tmp_path / name, start=1)
        assert timecode_in(tmp_path / name) == "10:01:00:20"
    for words in ({"speed": 2}, {"fps": 10}):
        report = video.transcode(path, tmp_path / "b.mov", **words)  # type: ignore[arg-type]
        assert (report.dropped, timecode_in(tmp_path / "b.mov")) == (("its timecode",), None)
    assert video.transcode(path, tmp_path / "c.ts").dropped == ("its timecode",)


def test_timecode_that_leaves_numbers_out() -> None:
    ntsc = Fraction(30000, 1001)
    assert later("00:00:59;29", 1 / ntsc, ntsc) == "00:01:00;02"
    assert later("00:09:59;29", 1 / ntsc, ntsc) == "00:10:00;00"
    assert later("00:00:00;00", 17982 / ntsc, ntsc) == "00:10:00;00"
    assert later("00:59:59;29", 1 / ntsc, ntsc) == "01:00:00;00"
    assert later("00:00:59;59", 1 / (2 * ntsc), 2 * ntsc) == "00:01:00;04"
    assert later("23:59:59:24", Fraction(1, 25), Fraction(25)) == "00:00:00:00"
    assert later("nonsense", Fraction(1), Fraction(25)) is None
    assert later("10:00:00:00", Fraction(5), Fraction(1, 5)) is None  # it has no frames to count


def test_timecode_of_frames_that_last_seconds(tmp_path: Path) -> None:
    path = with_timecode(tmp_path / "in.mkv", "10:00:59:20", Fraction(1, 5))
    report = video.transcode(path, tmp_path / "out.mkv")
    assert (report.dropped, timecode_in(tmp_path / "out.mkv")) == (("its timecode",), None)


def test_of_a_still_nobody_expects_timecode(tmp_path: Path) -> None:
    path = with_timecode(tmp_path / "in.mkv", "10:00:59:20", Fraction(25))
    for name in ("still.png", "all-%03d.png"):
        assert video.transcode(path, tmp_path / name, [], end=0.04, strict=True).dropped == ()
