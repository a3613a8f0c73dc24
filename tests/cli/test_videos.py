"""Video files through the command line: exit codes, progress, Ctrl-C, damage, and the demo."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from in_threads import wait_until
from PIL import Image
from terminal import DALA, in_terminal, plain

import dala
from dala import compute, video
from dala.cli import demo, main

FRAMES = 24
posix = pytest.mark.skipif(os.name != "posix", reason="terminals and signals of Unix")


def make_clip(path: Path, frames: int = FRAMES, size: tuple[int, int] = (96, 64)) -> Path:
    y, x = np.mgrid[: size[1], : size[0] * 2]
    waves = np.stack([np.sin((x + y * k) / 9) * 90 + 128 for k in range(3)], -1).astype(np.uint8)
    with dala.use("cpu"), video.Writer(path, fps=24, preset="ultrafast") as writer:
        for number in range(frames):
            left = number * 3 % size[0]
            writer.write(waves[:, left : left + size[0]].copy())
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mp4")


@pytest.fixture(scope="module")
def long_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("long") / "long.mp4", 250, (640, 360))


def run(*arguments: object) -> int:
    with dala.use("cpu"):
        return main([str(a) for a in arguments])


def test_a_video(clip: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.mp4"
    assert run("filter", clip, target, "--grayscale", "--resize", "width=48", "--json") == 0
    (told,) = json.loads(capfd.readouterr().out)["files"]
    assert (told["kind"], told["frames"]) == ("video", FRAMES)
    assert (told["width"], told["height"], told["error"]) == (48, 32, None)
    facts = video.probe(target)
    assert (facts.width, facts.height, facts.codec) == (48, 32, "h264")
    with video.Reader(target) as reader:
        assert np.ptp(next(reader).rgb.astype(int), axis=2).max() <= 2  # it is grey
    assert run("filter", clip, tmp_path / "plain.mp4", "--blur", "2") == 0
    line = rf"plain\.mp4  96×64, {FRAMES} frames, \d+ fps, \d+\.\d s\n"
    assert re.search(line, capfd.readouterr().out)


def test_codec_and_quality(clip: Path, tmp_path: Path) -> None:
    for crf in (10, 45):
        assert run("filter", clip, tmp_path / f"{crf}.mp4", "--crf", crf, "-q") == 0
    small, large = (tmp_path / f"{crf}.mp4" for crf in (45, 10))
    assert small.stat().st_size < large.stat().st_size
    assert run("filter", clip, tmp_path / "x.mkv", "--codec", "hevc", "-q") == 0
    assert video.probe(tmp_path / "x.mkv").codec == "hevc"


def test_pictures_and_videos_in_one_go(clip: Path, tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    Image.new("RGB", (8, 8)).save(picture)
    assert run("filter", picture, clip, tmp_path / "out" / "{name}_new{ext}", "--invert") == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a_new.png", "clip_new.mp4"]


# -- what goes wrong -----------------------------------------------------------------------------------


def damage(name: str, good: bytes) -> bytes:
    if name == "truncated":
        return good[: len(good) // 2]
    if name == "empty":
        return b""
    if name == "text":
        return b"This is no video.\n" * 50
    flipped = bytearray(good)  # the pictures, not the index at the beginning
    for place in np.random.default_rng(1).integers(len(good) // 2, len(good), 200):
        flipped[place] ^= 0xFF
    return bytes(flipped)


@pytest.mark.parametrize("name", ["truncated", "empty", "text", "flipped"])
def test_damaged_input(
    name: str, clip: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "bad.mp4"
    source.write_bytes(damage(name, clip.read_bytes()))
    before = source.read_bytes()
    capfd.readouterr()
    assert run("filter", source, tmp_path / "out.mp4", "--blur") == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("dala filter: ") and "bad.mp4" in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == ["bad.mp4"]
    assert source.read_bytes() == before


def test_damage_is_concealed_if_asked(
    clip: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "bad.mp4"
    source.write_bytes(damage("flipped", clip.read_bytes()))
    assert run("filter", source, tmp_path / "out.mp4", "--blur") == 1
    assert "--conceal takes what can be shown" in capfd.readouterr().err
    assert run("filter", source, tmp_path / "out.mp4", "--blur", "--conceal") == 0
    assert (tmp_path / "out.mp4").exists()


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("out.xyz", 1, "expected a name that ends in .mp4"),
        ("no/folder/out.mp4", 1, "no folder"),
    ],
)
def test_wrong_targets(
    target: str,
    code: int,
    words: str,
    clip: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run("filter", clip, tmp_path / target, "--blur") == code
    err = capfd.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_wrong_settings(clip: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for wrong, code in ((["--codec", "h2645"], 1), (["--crf", "-3"], 2), (["--crf", "999"], 2)):
        assert run("filter", clip, tmp_path / "out.mp4", *wrong) == code
        assert capfd.readouterr().err.count("\n") == 1
        assert os.listdir(tmp_path) == []


# -- in a terminal ---------------------------------------------------------------------------------------


@posix
def test_a_bar_with_fps_and_time_left(long_clip: Path, tmp_path: Path) -> None:
    code, text = in_terminal(
        ["filter", str(long_clip), f"{tmp_path}/out.mp4", "--median", "2", "--device", "cpu"]
    )
    assert code == 0
    seen = plain(text)
    assert re.search(r"long\.mp4 +━+.* \d+/250 +\d+ fps +\d+:\d\d left", seen), seen[-2000:]
    assert re.search(r"out\.mp4 +640×360, 250 frames, \d+ fps", seen)


@posix
def test_ctrl_c_in_a_terminal(long_clip: Path, tmp_path: Path) -> None:
    arguments = ["filter", str(long_clip), f"{tmp_path}/out.mp4", "--median", "3", "--denoise"]
    code, text = in_terminal([*arguments, "--device", "cpu"], interrupt_at=" fps")
    assert code == 130
    seen = plain(text)
    assert seen.strip().endswith("dala: interrupted")
    assert "Traceback" not in text
    assert os.listdir(tmp_path) == []
    done = [int(count) for count in re.findall(r"(\d+)/250", seen)]
    assert done and max(done) < 250  # it did not go on to the end


@posix
def test_ctrl_c_in_a_pipe(long_clip: Path, tmp_path: Path) -> None:
    """The process is told as a shell tells it."""
    out = tmp_path / "out.mp4"
    process = subprocess.Popen(
        [*DALA, "filter", str(long_clip), str(out), "--median", "3", "--denoise", "--device", "cpu"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: os.listdir(tmp_path))  # it has begun to write
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert (said, errors) == ("", "dala: interrupted\n")
    assert os.listdir(tmp_path) == []


# -- the demo --------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(demo, "SIZE", (160, 90))
    monkeypatch.setattr(demo, "SECONDS", 1)
    return tmp_path / "demo"


def look(folder: Path) -> Image.Image:
    with Image.open(folder / "contact_sheet.png") as opened:
        return opened.convert("RGB")


def test_the_demo_draws_its_own_clip(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--out", small, "--device", "cpu") == 0
    said = capfd.readouterr().out
    assert "drawn by a kernel" in said
    assert not any("dusk" in name for name in compute.kernels())  # its kernel stays its own
    assert "1 pass on cpu" in said
    assert "the same result" in said
    assert re.search(r"30 frames decoded, filtered and encoded in .* fps", said)
    names = sorted(p.name for p in small.iterdir())
    assert names == ["after.mp4", "before.mp4", "before_after.mp4", "contact_sheet.png"]
    both = video.probe(small / "before_after.mp4")
    assert (both.width, both.height) == (320, 90)
    sheet = look(small)
    assert sheet.width > 1000
    assert len(sheet.getcolors(1 << 24) or []) > 1000


def test_the_demo_takes_a_photo_or_a_clip(
    small: Path, clip: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    photo = tmp_path / "photo.jpg"
    Image.effect_mandelbrot((200, 150), (-2, -1, 1, 1), 50).convert("RGB").save(photo)
    assert run("demo", photo, "--out", small, "--device", "cpu", "--invert") == 0
    assert "a flight over photo.jpg" in capfd.readouterr().out
    assert run("demo", clip, "--out", tmp_path / "other", "--device", "cpu", "--look", "noir") == 0
    assert "as given" in capfd.readouterr().out
    assert not (tmp_path / "other" / "before.mp4").exists()
    with video.Reader(small / "before.mp4") as old, video.Reader(small / "after.mp4") as new:
        before, after = next(old).rgb.astype(int), next(new).rgb.astype(int)
    assert np.abs(255 - before - after).mean() < 8  # inverted


def test_the_demo_says_what_it_lacks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("demo", tmp_path / "no.mp4", "--out", tmp_path / "x") == 1
    assert "no file" in capfd.readouterr().err
