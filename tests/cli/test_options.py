"""The options of every day for videos, as one types them."""

from __future__ import annotations

import json
import wave
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from kinds import BT709, PQ, Kind, make
from PIL import Image
from tracks import STEP, levels, write_counted

import dala
from dala import video
from dala.cli import main
from dala.cli.mistakes import UsageMistake
from dala.cli.running import _in_our_words
from dala.cli.videos import read_bits, respell


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with dala.use("cpu"):
        return write_counted(tmp_path_factory.mktemp("counted") / "counted.mkv", frames=50)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: object) -> int:
    with dala.use("cpu"):
        return main([str(a) for a in arguments])


def test_a_part_at_another_speed_and_rate(counted: Path) -> None:
    lossless = ("--codec", "ffv1", "--quiet")
    assert run("filter", counted, "part.mkv", "--from", "0.4", "--to", "0:01.2", *lossless) == 0
    assert levels(Path("part.mkv")) == [n * STEP % 256 for n in range(10, 30)]
    assert run("filter", counted, "fast.mkv", "--speed", "2", "--fps", "25", *lossless) == 0
    assert levels(Path("fast.mkv")) == [n * STEP % 256 for n in range(0, 50, 2)]


def test_how_it_is_encoded(counted: Path) -> None:
    words = ("--preset", "ultrafast", "--bitrate", "200k", "--pixel-format", "yuv444p", "--quiet")
    assert run("filter", counted, "out.mp4", *words, "--audio", "none") == 0
    facts = video.probe("out.mp4")
    assert (facts.codec, facts.pixel_format, facts.audio) == ("h264", "yuvj444p", ())
    assert run("filter", counted, "crf.mp4", "--codec", "hevc", "--crf", "30", "--quiet") == 0
    assert video.probe("crf.mp4").codec == "hevc"
    assert run("filter", "crf.mp4", "other.webm", "--audio", counted, "--quiet") == 0
    assert [t.codec for t in video.probe("other.webm").audio] == ["opus"]


def test_a_small_gif(counted: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("filter", counted, "wide.mkv", "--resize", "width=640", "height=320", "--quiet") == 0
    assert run("filter", "wide.mkv", "small.gif", "--gif", "--to", "0.4") == 0
    said = capfd.readouterr()
    assert "small.gif  480×240, 6 frames" in said.out
    assert said.err == "note: small.gif does not hold its sound (flac)\n"
    with Image.open("small.gif") as gif:
        assert (gif.size, gif.n_frames) == ((480, 240), 6)
    assert run("filter", "wide.mkv", "small.mp4", "--gif") == 2
    assert "--gif writes a name that ends in .gif" in capfd.readouterr().err


def test_pictures_become_a_video_and_the_other_way_round(counted: Path) -> None:
    assert run("filter", counted, "frames/%03d.png", "--to", "0.2", "--quiet") == 0
    assert sorted(p.name for p in Path("frames").iterdir()) == [f"00{n}.png" for n in range(1, 6)]
    for source in ("frames/%03d.png", "frames/*.png"):
        assert run("filter", source, "film.mkv", "--fps", "5", "--codec", "ffv1", "--quiet") == 0
        assert levels(Path("film.mkv")) == [n * STEP for n in range(5)]
        assert video.probe("film.mkv").duration == 1
        Path("film.mkv").unlink()
    assert run("filter", counted, "still.png", "--from", "0.2", "--quiet") == 0
    assert np.asarray(Image.open("still.png"))[0, 0, 0] == 5 * STEP
    assert run("filter", "still.png", "still.mp4", "--to", "2", "--quiet") == 0
    assert video.probe("still.mp4").duration == 2


def test_what_cannot_be_kept_is_said_once(counted: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("filter", counted, "a.mp4", "--to", "0.2", "--codec", "h264", "--quiet") == 0
    assert run("filter", "a.mp4", "a.webm", "--json") == 0
    (told,) = json.loads(capfd.readouterr().out)["files"]
    assert told["notes"] == ["flac sound (encoded anew with libopus)"]
    assert run("filter", "a.mp4", "b.webm") == 0
    lines = capfd.readouterr().err.splitlines()
    assert lines == ["note: b.webm does not hold flac sound (encoded anew with libopus)"]
    assert run("filter", "a.mp4", "c.webm", "--strict") == 1
    assert "c.webm does not hold flac sound" in capfd.readouterr().err
    assert not Path("c.webm").exists()


def test_rates_as_editors_write_them(counted: Path) -> None:
    for text in ("29.97", "30000/1001"):
        assert run("filter", counted, "out.mp4", "--fps", text, "--quiet", "--overwrite") == 0
        assert video.probe("out.mp4").fps == Fraction(30000, 1001)
    assert run("filter", counted, "out.mp4", "--codec", "h265", "--quiet", "--overwrite") == 0
    assert video.probe("out.mp4").codec == "hevc"


def test_what_is_no_video_is_named(counted: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("notes.mp4").write_text("hello")
    with wave.open("tone.wav", "wb") as tone:
        tone.setparams((1, 2, 8000, 0, "NONE", ""))
        tone.writeframes(bytes(800))
    Path("tone.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    for name, what in (("notes.mp4", "a text file"), ("tone.wav", "a sound file")):
        assert run("filter", name, "out.mp4") == 1
        assert f"{name} is {what}, neither" in capfd.readouterr().err
    assert run("filter", counted, "out.mp4", "--audio", "tone.srt") == 1
    assert "tone.srt: this is no file with sound" in capfd.readouterr().err
    assert not Path("out.mp4").exists()


def test_a_dark_video_is_no_text(counted: Path) -> None:
    frame = b"FRAME\n" + b"@" * (64 * 96) + b"A" * (64 * 48)
    head = b"YUV4MPEG2 W64 H96 F25:1 Ip A1:1 C420jpeg\n"
    Path("dark.y4m").write_bytes(head + frame * 5)
    assert run("filter", "dark.y4m", "out.mp4", "--invert", "--quiet") == 0
    assert video.probe("out.mp4").frames == 5


def test_a_part_of_a_gif(counted: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A GIF is a picture, and with words about time a film."""
    assert run("filter", counted, "whole.gif", "--audio", "none") == 0
    assert run("filter", "whole.gif", "part.gif", "--from", "0.2", "--to", "0.4", "--invert") == 0
    assert "part.gif  32×16, 5 frames" in capfd.readouterr().out
    assert run("filter", "whole.gif", "still.png", "--from", "0.2", "--quiet") == 0
    with Image.open("whole.gif") as whole, Image.open("part.gif") as part:
        assert part.n_frames == 5
        whole.seek(5)
        wanted = 255 - np.asarray(whole.convert("RGB")).astype(int)
        assert np.abs(wanted - np.asarray(part.convert("RGB"))).max() < 12


def test_what_an_animated_webp_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    frames = [Image.new("RGB", (16, 16), (n * 60, 0, 0)) for n in range(3)]
    frames[0].save("a.webp", save_all=True, append_images=frames[1:], duration=80)
    assert run("filter", "a.webp", "a.mp4") == 1
    assert "an animated WebP, which FFmpeg does not read; make an .apng" in capfd.readouterr().err
    assert run("filter", "a.webp", "b.webp", "--from", "0.1") == 1
    assert "--speed take videos and GIFs; make an .apng of it first" in capfd.readouterr().err
    assert run("filter", "a.webp", "a.jpg") == 1
    assert ".webp and videos have room for all" in capfd.readouterr().err
    assert run("filter", "a.webp", "a.apng") == run("filter", "a.apng", "a.mp4") == 0
    assert video.probe("a.mp4").frames == 3


def test_concat_of_hdr_and_sdr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(Kind("hdr.mkv", "ffv1", "yuv420p10le", PQ), tmp_path)
    make(Kind("sdr.mkv", "ffv1", "yuv420p", BT709), tmp_path)
    names = [str(tmp_path / "hdr.mkv"), str(tmp_path / "sdr.mkv")]
    assert run("concat", *names, "both.mkv") == 1
    told = capfd.readouterr().err
    assert "hdr.mkv is HDR (PQ)" in told and "--tonemap makes SDR of all" in told
    assert not Path("both.mkv").exists()
    assert run("concat", *names, "both.mkv", "--tonemap") == 0


def test_concat(counted: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("concat", counted, counted, "both.mkv", "--codec", "ffv1") == 0
    assert "2 videos → both.mkv  32×16, 100 frames, 4.00 s" in capfd.readouterr().out
    assert levels(Path("both.mkv")) == [n * STEP % 256 for n in range(50)] * 2
    assert run("concat", counted, counted, "both.mkv") == 1
    assert "both.mkv exists; --overwrite replaces it" in capfd.readouterr().err
    assert run("concat", counted, "both.mkv") == 2
    assert run("concat", counted, "nothing.mp4", "new.mkv") == 1
    assert "no file 'nothing.mp4'" in capfd.readouterr().err
    assert not Path("new.mkv").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--from", "3", "--to", "1"), "--from is not before --to: 3 and 1 seconds"),
        (
            ("--from", "soon"),
            "--from is a time in seconds from 0 up, or written like 1:02.5; got 'soon'",
        ),
        (("--speed", "0"), "--speed is a number in 0.01..100"),
        (("--bitrate", "much"), "--bitrate is written as 4M or 800k"),
        (
            ("--audio", "loud"),
            "--audio is one of copy, encode, none, or a file with sound; got 'loud'",
        ),
        (("--audio", "no.wav"), "--audio: no file 'no.wav'"),
        (("--fps", "lots"), "--fps is frames a second: 25, 29.97 or 30000/1001, got 'lots'"),
        (("--fps", "0"), "--fps is frames a second"),
        (("--crf", "99"), "--crf must be at most 63"),
        (("--crf", "good"), "--crf must be a number"),
        (("--preset", "slwo"), "--preset is one of ultrafast"),
    ],
)
def test_mistakes(
    counted: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    assert run("filter", counted, "out.mp4", *words) == 2
    said = capfd.readouterr().err
    assert told in said and said.count("\n") == 1
    assert not list(Path().iterdir())


def test_bits_and_words() -> None:
    assert [read_bits(t) for t in (None, "4M", "800k", "1500000", "1.5m")] == [
        None, 4_000_000, 800_000, 1_500_000, 1_500_000,
    ]  # fmt: skip
    with pytest.raises(UsageMistake):
        read_bits("0")
    assert (
        respell("on_damage='conceal' takes what can be shown")
        == "--conceal takes what can be shown"
    )
    assert respell("the start of it") == "the start of it"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Input should be less than or equal to 63", "must be at most 63"),
        ("Input should be greater than or equal to 0.01", "must be at least 0.01"),
        ("Input should be a valid integer, unable to parse", "must be a whole number"),
        ("Input should be a valid number, unable to parse", "must be a number"),
        ("99.0 is not in the range 0<=x<=63.", "must be at most 63"),
        ("-1 is not in the range 0<=x<=63.", "must be at least 0"),
        ("-1 is not in the range x>=1.", "must be at least 1"),
        ("7 is not in the range x<=5.", "must be at most 5"),
        ("'good' is not a valid float range.", "must be a number"),
        ("'good' is not a valid integer.", "must be a whole number"),
        ("'x' is not one of 'a', 'b'.", "invalid value for '--crf': 'x' is not one of 'a', 'b'"),
    ],
)
def test_every_version_of_typer_is_put_into_our_words(theirs: str, ours: str) -> None:
    class BadParameter(Exception):
        def format_message(self) -> str:
            return f"Invalid value for '--crf': {theirs}"

    said = _in_our_words(BadParameter())
    assert said == (ours if ours.startswith("invalid") else f"--crf {ours}")
