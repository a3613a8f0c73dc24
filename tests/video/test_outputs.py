"""GIFs, numbered pictures, stills, pipes, and several videos as one."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from clips import frame_times, write_clip
from PIL import Image
from tracks import LOSSLESS, RATE, STEP, levels, samples, write_counted

from dala import video
from dala.errors import ParameterError, ShapeError, VideoError
from dala.video.library import as_video_error


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_counted(tmp_path_factory.mktemp("counted") / "counted.mkv", frames=20)


def test_numbered_pictures_and_back(counted: Path, tmp_path: Path) -> None:
    pattern = str(tmp_path / "frame %03d.png")
    report = video.transcode(counted, pattern)
    assert report.frames == 20 and report.dropped == ()
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [f"frame {n:03}.png" for n in range(1, 21)]
    assert np.asarray(Image.open(tmp_path / names[3]))[0, 0].tolist() == [3 * STEP] * 3
    for spec in (pattern, str(tmp_path / "frame *.png"), [tmp_path / n for n in names]):
        video.transcode(spec, tmp_path / "back.mkv", fps=10, encoding=LOSSLESS)
        assert levels(tmp_path / "back.mkv") == [n * STEP for n in range(20)]
        assert frame_times(tmp_path / "back.mkv")[1] == Fraction(1, 10)
    with pytest.raises(VideoError, match="there are no such pictures"):
        video.Reader(str(tmp_path / "none%d.png"))


def test_an_error_leaves_no_pictures(counted: Path, tmp_path: Path) -> None:
    def fail(frame: video.Frame) -> None:
        if frame.number == 5:
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        video.transcode(counted, tmp_path / "%03d.png", on_frame=fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".webp", ".bmp"])
def test_a_still(counted: Path, tmp_path: Path, suffix: str) -> None:
    still = tmp_path / f"still{suffix}"
    video.transcode(counted, still, start=0.2)
    with Image.open(still) as picture:
        found = np.asarray(picture.convert("RGB")).astype(int)
    assert found.shape == (16, 32, 3)
    assert np.abs(found - 5 * STEP).max() <= 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_still_that_lasts(tmp_path: Path) -> None:
    Image.new("RGB", (32, 16), (200, 30, 30)).save(tmp_path / "red.png")
    report = video.transcode(tmp_path / "red.png", tmp_path / "red.mkv", end=2, codec="ffv1")
    assert (report.frames, report.duration) == (50, 2)


def test_a_gif_and_back(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", frames=10, fps=10, size=(64, 48))
    report = video.transcode(clip, tmp_path / "clip.gif")
    assert report.frames == 10
    with Image.open(tmp_path / "clip.gif") as gif:
        assert (gif.n_frames, gif.info["duration"]) == (10, 100)
        first = np.asarray(gif.convert("RGB")).astype(int)
    with video.Reader(clip) as reader:
        assert np.abs(first - next(reader).rgb.astype(int)).mean() < 8
    again = video.transcode(tmp_path / "clip.gif", tmp_path / "again.mp4")
    assert (again.frames, again.notes) == (10, ())


def test_pipes(counted: Path, tmp_path: Path) -> None:
    """One process writes to stdout what another reads from stdin."""
    program = (
        "import sys, dala; from dala import video; dala.use('cpu'); "
        "video.transcode(sys.argv[1], sys.argv[2], encoding=video.Encoding('ffv1', audio_codec='flac'))"
    )
    run = [sys.executable, "-c", program]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    out = tmp_path / "out.mkv"
    with subprocess.Popen([*run, str(counted), "-"], stdout=subprocess.PIPE, env=env) as first:
        subprocess.run([*run, "-", str(out)], stdin=first.stdout, env=env, check=True, timeout=300)
        assert first.wait(300) == 0
    assert levels(out) == [n * STEP for n in range(20)]
    assert np.array_equal(samples(out), np.arange(20 * RATE // 25) % 30_000)


# -- sound of one's own ------------------------------------------------------------------------


def test_a_writer_with_sound_that_comes_first(tmp_path: Path) -> None:
    tone = np.sin(np.arange(44_100) / 44_100 * 440 * 2 * np.pi)
    with video.Writer(tmp_path / "a.mkv", encoding=LOSSLESS, fps=25, audio=True) as writer:
        writer.write_audio(tone * 0.5, 44_100)
        for _ in range(25):
            writer.write(np.zeros((16, 16, 3), np.uint8))
    heard = samples(tmp_path / "a.mkv")
    assert abs(len(heard) - RATE) <= 2
    assert abs(np.argmax(np.abs(np.fft.rfft(heard))) - 440) <= 1


def test_sound_that_a_writer_refuses(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="gif holds no sound"):
        video.Writer(tmp_path / "a.gif", audio=True)
    with pytest.raises(ParameterError, match="audio is True, or samples per second"):
        video.Writer(tmp_path / "a.mp4", audio=7)
    with pytest.raises(
        VideoError, match=r"no track for sound; make it with Writer\(…, audio=True\)"
    ):
        video.Writer(tmp_path / "a.mp4").write_audio(np.zeros(4), 48_000)
    writer = video.Writer(tmp_path / "a.mp4", audio=True)
    for samples_, rate, error, told in (
        (np.zeros((2, 2, 2)), RATE, ShapeError, r"\(count,\) or \(count, channels\)"),
        (np.zeros(4, np.uint8), RATE, ParameterError, "floats in -1..1"),
        (np.zeros(4), 0.5, ParameterError, "rate is samples per second"),
    ):
        with pytest.raises(error, match=told):
            writer.write_audio(samples_, rate)  # type: ignore[arg-type]
    writer.discard()
    assert not list(tmp_path.iterdir())


# -- one after the other -----------------------------------------------------------------------


def test_concat_keeps_pictures_and_sound_in_step(counted: Path, tmp_path: Path) -> None:
    silent = write_counted(tmp_path / "silent.mkv", frames=5, fps=25, sound=False)
    out = tmp_path / "out.mkv"
    report = video.concat([counted, silent, counted], out, encoding=LOSSLESS)
    assert report.duration == Fraction(45, 25)
    numbers = [*range(20), *range(5), *range(20)]
    assert levels(out) == [n * STEP for n in numbers]
    count = np.arange(20 * RATE // 25) % 30_000
    wanted = np.concatenate([count, np.zeros(RATE // 5, int), count])
    assert np.array_equal(samples(out), wanted)


def test_concat_of_other_sizes_and_rates(counted: Path, tmp_path: Path) -> None:
    tall = write_counted(tmp_path / "tall.mkv", frames=6, fps=10, size=(16, 32))
    out = tmp_path / "out.mkv"
    report = video.concat([counted, tall], out, encoding=LOSSLESS)
    assert report.size == (32, 16) and report.duration == Fraction(20, 25) + Fraction(6, 10)
    with video.Reader(out) as reader:
        frames = list(reader)
    assert [float(f.time) for f in frames[19:22]] == [0.76, 0.8, 0.9]
    last = frames[-1].rgba[..., 0].astype(int)
    assert (
        np.abs(last[:, 12:20] - 5 * STEP).max() <= 1 and last[:, :10].max() <= 1
    )  # bars beside it
    video.concat([counted, tall], out, audio="none", encoding=LOSSLESS)
    assert video.probe(out).audio == ()


def write_programme(path: Path, begin: int, layout: str) -> Path:
    """A second of a broadcast that began ``begin`` seconds ago: grey, and a loud tone."""
    with av.open(str(path), "w", format="mpegts") as out:
        pictures = out.add_stream("mpeg2video", rate=25)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = out.add_stream("mp2", rate=RATE)
        sound.layout = layout
        for number in range(25):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 128, np.uint8), "rgb24")
            frame = frame.reformat(format="yuv420p")
            frame.pts, frame.time_base = begin * 25 + number, Fraction(1, 25)
            out.mux(pictures.encode(frame))
            at = np.arange(number * 1920, (number + 1) * 1920)
            tone = (np.sin(at * (440 * 2 * np.pi / RATE)) * 20_000).astype(np.int16)
            waves = np.repeat(tone, 2 if layout == "stereo" else 1)[None]
            heard = av.AudioFrame.from_ndarray(waves, "s16", layout)
            heard.sample_rate, heard.time_base = RATE, Fraction(1, RATE)
            heard.pts = begin * RATE + number * 1920
            out.mux(sound.encode(heard))
        out.mux(pictures.encode(None))
        out.mux(sound.encode(None))
    return path


@pytest.mark.parametrize("layouts", [("mono", "stereo"), ("stereo", "mono")])
def test_concat_of_a_programme_that_changes_its_sound(
    layouts: tuple[str, str], tmp_path: Path
) -> None:
    parts = [
        write_programme(tmp_path / f"{n}.ts", n, layout).read_bytes()
        for n, layout in enumerate(layouts)
    ]
    both = tmp_path / "both.ts"
    both.write_bytes(b"".join(parts))
    video.concat([both, both], tmp_path / "out.mkv", encoding=LOSSLESS, on_damage="conceal")
    heard = np.abs(samples(tmp_path / "out.mkv"))
    seconds = [heard[n * RATE + 6000 : (n + 1) * RATE - 6000] for n in range(4)]
    assert [second.mean() > 8000 for second in seconds] == [True] * 4


def test_concat_refuses(counted: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="expected a list of videos"):
        video.concat("a.mp4", tmp_path / "out.mkv")  # type: ignore[arg-type]
    with pytest.raises(VideoError, match="this is the input itself"):
        video.concat([counted, counted], counted)
    with pytest.raises(VideoError, match="no such file"):
        video.concat([counted, tmp_path / "none.mp4"], tmp_path / "out.mkv")
    assert not list(tmp_path.iterdir())


def test_stdout_that_is_a_terminal_is_refused(
    counted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    with pytest.raises(VideoError, match="stdout is a terminal; send it on"):
        video.transcode(counted, "-")


def test_interlaced_pictures_become_whole(tmp_path: Path) -> None:
    """Two half pictures of a moving edge make a comb; afterwards there is none."""
    comb = tmp_path / "comb.mkv"
    with av.open(str(comb), "w") as out:
        stream = out.add_stream(
            "mpeg2video", rate=25, options={"flags": "+ildct+ilme", "qscale": "1"}
        )
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        marking = av.filter.Graph()
        size = {"width": 64, "height": 32, "format": "yuv420p", "time_base": Fraction(1, 25)}
        marking.link_nodes(
            marking.add_buffer(**size),
            marking.add("setfield", "tff"),
            marking.add("buffersink"),
        ).configure()
        for number in range(8):
            grey = np.full((48, 64), 128, np.uint8)
            for half in (0, 1):
                edge = 4 * (2 * number + half)
                grey[half:32:2] = np.where(np.arange(64) < edge, 235, 16)
            frame = av.VideoFrame.from_ndarray(grey, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            marking.vpush(frame)
            for packet in stream.encode(marking.vpull()):
                out.mux(packet)
        for packet in stream.encode(None):
            out.mux(packet)
    with av.open(str(comb)) as opened:
        assert next(opened.decode(video=0)).interlaced_frame
    video.transcode(comb, tmp_path / "whole.mkv", codec="ffv1")
    for path, combed in ((comb, True), (tmp_path / "whole.mkv", False)):
        with av.open(str(path)) as opened:
            grey = [f.to_ndarray()[:32].astype(int) for f in opened.decode(video=0)]
        assert len(grey) == 8
        teeth = np.abs(np.diff(grey[4], axis=0)).max()
        assert bool(teeth > 150) is combed, teeth


def test_a_protocol_that_ffmpeg_lacks_is_named_with_what_helps() -> None:
    lacking = av.error.ProtocolNotFoundError(1330794744, "Protocol not found", "srt://host:9000")
    found = as_video_error(lacking, "srt://host:9000", "opening")
    assert isinstance(found, VideoError)
    assert "was built without srt://; rtmp://, udp:// and HLS are in every build" in str(found)


def test_a_wav_beside_an_mp4_is_encoded_and_in_a_mov_stays(counted: Path, tmp_path: Path) -> None:
    with av.open(tmp_path / "music.wav", "w") as music:
        stream = music.add_stream("pcm_s16le", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, RATE), np.int16), "s16", "mono")
        frame.sample_rate, frame.pts = RATE, 0
        music.mux(stream.encode(frame))
    for name, codec in (("made.mp4", "aac"), ("made.mov", "pcm_s16le")):
        video.transcode(counted, tmp_path / name, audio=tmp_path / "music.wav")
        with av.open(tmp_path / name) as made:
            assert made.streams.audio[0].codec_context.codec.canonical_name == codec
