"""Damaged and wrong input: one clear error, nothing left behind, the input untouched."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import av
import pytest
from clips import Sound, encode_sine, real_clip, write_clip
from processes import environment

from dala import video
from dala.errors import DalaError, DamagedVideoError, VideoError, VideoFileError

CHAIN = [("blur", {"radius": 1})]


def transcode_fails(src: Any, folder: Path, kind: type[DalaError], match: str) -> None:
    """The error is as it should be; the target does not exist, the source is as it was."""
    before = Path(src).read_bytes() if Path(src).is_file() else None
    names = sorted(os.listdir(folder))
    with pytest.raises(kind, match=match):
        video.transcode(src, folder / "out.mp4", CHAIN)
    assert sorted(os.listdir(folder)) == names
    assert before is None or Path(src).read_bytes() == before


def test_no_video_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("this is no video\n" * 500)
    (tmp_path / "dir.mp4").mkdir()
    write_sound(tmp_path / "sound.m4a")
    for name, kind, match in [
        ("none.mp4", VideoFileError, r"none\.mp4: there is no such file"),
        ("empty.mp4", VideoError, r"empty\.mp4: the file is empty"),
        ("text.mp4", VideoError, r"text\.mp4: opening: this is no video, or it is damaged"),
        ("dir.mp4", VideoFileError, r"dir\.mp4: a directory, expected a video file"),
        ("sound.m4a", VideoError, r"sound\.m4a: no video in it; it holds audio"),
    ]:
        transcode_fails(tmp_path / name, tmp_path, kind, match)
    with pytest.raises(VideoFileError) as caught:
        video.probe(tmp_path / "none.mp4")
    assert caught.value.errno == 2 and isinstance(caught.value, OSError)


def write_sound(path: Path) -> None:
    with av.open(str(path), "w") as out:
        stream = out.add_stream("aac", rate=48_000)
        stream.layout = "mono"
        for packet in encode_sine(stream, Sound()):
            out.mux(packet)


def test_a_wrong_suffix_is_no_matter(tmp_path: Path) -> None:
    """What is in a file decides, not what it is called."""
    odd = tmp_path / "clip.avi"
    odd.write_bytes(real_clip("carphone_pristine.mp4").read_bytes())
    assert video.transcode(odd, tmp_path / "out.mp4", CHAIN).frames == 120


def test_the_input_itself_is_no_target(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", frames=3)
    before = path.read_bytes()
    os.symlink(path, tmp_path / "b.mp4")
    for target in ("a.mp4", "b.mp4"):
        with pytest.raises(VideoError, match="the input itself"):
            video.transcode(path, tmp_path / target, CHAIN)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_truncated(suffix: str, tmp_path: Path) -> None:
    whole = write_clip(
        tmp_path / f"whole{suffix}", frames=60, sounds=[Sound(seconds=2.4)], options={"crf": "5"}
    )
    if suffix == ".mp4":  # its index in front, so that the rest can be read without the end
        video.transcode(whole, tmp_path / "front.mp4")
        whole = tmp_path / "front.mp4"
    data = whole.read_bytes()
    for share in (0.3, 0.6, 0.8):
        cut = tmp_path / f"cut{suffix}"
        cut.write_bytes(data[: int(len(data) * share)])
        transcode_fails(cut, tmp_path, DamagedVideoError, "on_damage='conceal'")
        with pytest.raises(DamagedVideoError) as caught:
            video.transcode(cut, tmp_path / "out.mp4", CHAIN)
        assert 0 < caught.value.frames < 60
        report = video.transcode(cut, tmp_path / "kept.mp4", CHAIN, on_damage="conceal")
        assert 0 < report.frames < 60 and report.damaged > 0
        assert video.probe(tmp_path / "kept.mp4").frames == report.frames


@pytest.mark.parametrize("head", [b"\xff" * 30, bytes(30), b"\x01" + b"\xff" * 29])
def test_a_head_that_no_decoder_takes(head: bytes, tmp_path: Path) -> None:
    """The decoder never opens: there are no frames before the damage to wait for."""
    clip = write_clip(tmp_path / "clip.mp4", frames=5)
    data = bytearray(clip.read_bytes())
    begin = data.index(b"avcC") + 4
    data[begin : begin + len(head)] = head
    clip.write_bytes(bytes(data))
    with pytest.raises(DamagedVideoError, match="damaged after frame 0") as caught:
        video.transcode(clip, tmp_path / "out.mp4")
    assert caught.value.frames == 0
    assert not (tmp_path / "out.mp4").exists()


def test_truncated_before_the_index(tmp_path: Path) -> None:
    data = real_clip("bikes.mp4").read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) // 2])
    transcode_fails(
        tmp_path / "cut.mp4", tmp_path, VideoError, "this is no video, or it is damaged"
    )


def test_flipped_bits(tmp_path: Path) -> None:
    data = bytearray(real_clip("bikes.mp4").read_bytes())
    for place in range(100_000, 104_000, 50):
        data[place] ^= 0x10
    (tmp_path / "flipped.mp4").write_bytes(data)
    with pytest.raises(DamagedVideoError, match=r"flipped\.mp4: damaged after frame \d+") as caught:
        video.transcode(tmp_path / "flipped.mp4", tmp_path / "out.mp4", CHAIN)
    assert 0 < caught.value.frames < 250
    assert os.listdir(tmp_path) == ["flipped.mp4"]
    report = video.transcode(
        tmp_path / "flipped.mp4", tmp_path / "out.mp4", CHAIN, on_damage="conceal"
    )
    assert report.frames >= 245


def test_a_picture_that_changes_its_size(tmp_path: Path) -> None:
    small = write_clip(tmp_path / "a.ts", frames=10, options={"bf": "0"})
    large = write_clip(tmp_path / "b.ts", frames=10, size=(128, 96), options={"bf": "0"})
    (tmp_path / "both.ts").write_bytes(small.read_bytes() + large.read_bytes())
    with pytest.raises(VideoError, match=r"changes to 128 × 96 yuv420p in mid-stream"):
        video.transcode(tmp_path / "both.ts", tmp_path / "out.mp4", CHAIN, on_damage="conceal")
    assert not (tmp_path / "out.mp4").exists()


NO_PERMISSION = """
    import os, pwd, sys
    from dala import video
    secret, open_, first, second = sys.argv[1:]
    video.transcode(open_, first)  # all libraries are loaded while that is permitted
    os.remove(first)
    if os.getuid() == 0:
        os.setuid(pwd.getpwnam("nobody").pw_uid)
    for call in (lambda: video.probe(secret), lambda: video.transcode(secret, first),
                 lambda: video.transcode(open_, second)):
        try:
            call()
        except video.reader.VideoError as error:
            print(type(error).__name__, error.errno, str(error).rsplit("/", 1)[-1])
"""


@pytest.mark.skipif(os.name != "posix", reason="users of Unix")
def test_no_permission() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        secret = write_clip(folder / "secret.mp4", frames=2)
        secret.chmod(0)
        free = write_clip(folder / "open.mp4", frames=2)
        (folder / "closed").mkdir(mode=0o555)
        places = [secret, free, folder / "o.mp4", folder / "closed" / "p.mp4"]
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(NO_PERMISSION), *map(str, places)],
            env=environment(DALA_DEVICE="cpu"),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout.splitlines() == [
            "VideoFileError 13 secret.mp4: no permission",
            "VideoFileError 13 secret.mp4: no permission",
            "VideoFileError 13 p.mp4: no permission",
        ], done.stderr
        assert sorted(os.listdir(folder)) == ["closed", "open.mp4", "secret.mp4"]


# -- fuzz --------------------------------------------------------------------------------------

FRAMES = 12


def survive(path: Path, folder: Path, **options: Any) -> str:
    """Whatever comes of it: a file of a few frames, or one of our errors, and nothing else left."""
    target = folder / "out.mp4"
    try:
        report = video.transcode(path, target, device="cpu", preset="ultrafast", **options)
        outcome = "done"
        assert report.frames <= 2 * FRAMES  # no damage makes it go on and on
    except DalaError as error:
        outcome = type(error).__name__
        assert not target.exists()
    target.unlink(missing_ok=True)
    assert sorted(os.listdir(folder)) == [path.name]
    return outcome


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".ts", ".webm"])
@pytest.mark.parametrize("on_damage", ["error", "conceal"])
def test_fuzz(suffix: str, on_damage: str, tmp_path: Path) -> None:
    """Bits flipped and ends cut off all over the file."""
    codec, sound = ("libvpx-vp9", "libopus") if suffix == ".webm" else ("libx264", "aac")
    options = {"cpu-used": "8", "deadline": "realtime"} if suffix == ".webm" else {"g": "6"}
    clip = write_clip(
        tmp_path / f"clip{suffix}", size=(64, 48), frames=FRAMES, codec=codec, options=options,
        sounds=[Sound(sound, 0.5)],
    )  # fmt: skip
    data = clip.read_bytes()
    chance = random.Random(f"{suffix}{on_damage}")
    outcomes = []
    for case in range(24):
        if case % 3 == 0:
            damaged = bytearray(data[: chance.randrange(1, len(data))])
        else:
            damaged = bytearray(data)
            for _ in range(chance.choice((1, 3, 30))):
                damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        clip.write_bytes(damaged)
        outcomes.append(survive(clip, tmp_path, on_damage=on_damage))
    assert len(set(outcomes)) > 1
