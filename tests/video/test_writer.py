"""Writing: codecs, kinds of pictures, times, and files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from clips import frame_times, picture, real_clip
from processes import environment

from dala import compute, video
from dala.errors import ParameterError, ShapeError, VideoError, VideoFileError


def write(path: Path, count: int = 5, size: tuple[int, int] = (96, 64), **options: Any) -> Path:
    with video.Writer(path, **options) as writer:
        for number in range(count):
            writer.write(picture(number, *size))
    return path


@pytest.mark.parametrize(
    ("name", "options", "codec", "pixels"),
    [
        ("a.mp4", {}, "h264", "yuv420p"),
        ("a.mov", {"codec": "prores"}, "prores", "yuv422p10le"),
        ("a.mkv", {"codec": "hevc"}, "hevc", "yuv420p"),
        ("b.mp4", {"codec": "hevc"}, "hevc", "yuv420p"),
        ("a.webm", {}, "vp9", "yuv420p"),
        ("c.mp4", {"codec": "av1"}, "av1", "yuv420p"),
        ("a.ts", {}, "h264", "yuv420p"),
        ("d.mp4", {"pixel_format": "yuv444p"}, "h264", "yuv444p"),
        ("b.mkv", {"codec": "ffv1"}, "ffv1", "yuv420p"),
        ("e.mp4", {"bit_rate": 400_000}, "h264", "yuv420p"),
        ("f.mp4", {"preset": "ultrafast", "crf": 30}, "h264", "yuv420p"),
    ],
)
def test_codecs(
    name: str, options: dict[str, Any], codec: str, pixels: str, tmp_path: Path
) -> None:
    path = write(tmp_path / name, size=(192, 128), fps=30, **options)
    info = video.probe(path)
    assert (info.codec, info.pixel_format, info.width, info.height) == (codec, pixels, 192, 128)
    assert (info.matrix, info.range) == ("bt601", "limited")
    assert (info.primaries, info.transfer) == ("smpte170m", "smpte170m")
    with video.Reader(path) as reader:
        frames = list(reader)
    assert len(frames) == 5
    apart = np.abs(frames[-1].rgb.astype(int) - picture(4, 192, 128))
    assert apart.mean() < 8
    assert os.listdir(tmp_path) == [name]


def test_large_pictures_are_bt709(tmp_path: Path) -> None:
    info = video.probe(write(tmp_path / "a.mp4", 1, (1280, 720)))
    assert (info.matrix, info.primaries, info.transfer) == ("bt709", "bt709", "bt709")
    info = video.probe(write(tmp_path / "b.mp4", 1, matrix="bt2020", range="full"))
    assert (info.matrix, info.range, info.primaries) == ("bt2020", "full", "bt2020")


def test_hevc_in_mp4_is_tagged_for_apple(tmp_path: Path) -> None:
    with av.open(str(write(tmp_path / "a.mp4", codec="hevc"))) as container:
        assert container.streams.video[0].codec_context.codec_tag == "hvc1"


def test_mp4_begins_with_its_index(tmp_path: Path) -> None:
    data = write(tmp_path / "a.mp4").read_bytes()
    assert 0 < data.find(b"moov") < data.find(b"mdat")


@pytest.mark.parametrize("fps", [25, 29.97, 23.976, 59.94, 12.5, Fraction(30000, 1001), 1000])
def test_rates(fps: Any, tmp_path: Path) -> None:
    exact = {29.97: Fraction(30000, 1001), 23.976: Fraction(24000, 1001),
             59.94: Fraction(60000, 1001)}.get(fps, Fraction(fps))  # fmt: skip
    path = write(tmp_path / "a.mp4", fps=fps)
    assert frame_times(path) == [n / exact for n in range(5)]
    assert video.probe(path).duration == 5 / exact


def test_times_of_ones_own(tmp_path: Path) -> None:
    times = [Fraction(0), Fraction(1, 10), Fraction(1, 9), Fraction(1, 2), Fraction(2)]
    with video.Writer(tmp_path / "a.mp4", fps=30) as writer:
        for number, time in enumerate(times):
            writer.write(picture(number, 96, 64), time=time)
        writer.write(picture(9, 96, 64))  # 1/30 after the last
    got = frame_times(tmp_path / "a.mp4")
    wanted = [*times, Fraction(2) + Fraction(1, 30)]
    assert max(abs(a - b) for a, b in zip(got, wanted, strict=True)) <= Fraction(1, 90_000)


def test_kinds_of_pictures(tmp_path: Path) -> None:
    from PIL import Image

    rgb = picture(3, 96, 64)
    rgba = np.dstack([rgb, np.full((64, 96), 255, np.uint8)])
    kinds: dict[str, tuple[object, dict[str, Any]]] = {
        "rgb": (rgb, {}),
        "rgba": (rgba, {}),
        "bgr": (np.ascontiguousarray(rgb[..., ::-1]), {"channels": "bgr"}),
        "floats": (rgb.astype(np.float32) / 255, {}),
        "pil": (Image.fromarray(rgb), {}),
        "buffer": (compute.from_array(rgba), {}),
    }
    seen = {}
    for name, (image, options) in kinds.items():
        with video.Writer(tmp_path / f"{name}.mkv", codec="ffv1", **options) as writer:
            writer.write(image)
        with video.Reader(tmp_path / f"{name}.mkv") as reader:
            seen[name] = next(reader).planar
    for name, planar in seen.items():
        assert np.array_equal(planar, seen["rgb"]), name
    with video.Writer(tmp_path / "grey.mkv", codec="ffv1") as writer:
        writer.write(rgb[..., 0])
    with video.Reader(tmp_path / "grey.mkv") as reader:
        assert np.abs(next(reader).rgb.astype(int) - rgb[..., :1]).max() <= 2


def test_frames_of_a_reader_go_through_untouched(tmp_path: Path) -> None:
    with (
        video.Reader(real_clip("carphone_pristine.mp4")) as reader,
        video.Writer(tmp_path / "a.mkv", codec="ffv1", fps=reader.fps or 30) as writer,
    ):
        planes = []
        for frame in reader:
            writer.write(frame, time=frame.time)
            planes.append(frame.planar)
    with video.Reader(tmp_path / "a.mkv") as reader:
        assert all(np.array_equal(f.planar, p) for f, p in zip(reader, planes, strict=True))


def test_results_do_not_change_later(tmp_path: Path) -> None:
    """Arrays that were handed out stay as they are, even if only a part of one is kept."""
    with video.Reader(real_clip("carphone_pristine.mp4")) as reader:
        kept = [(f.rgba[10:20, ::2, :3], f) for f in reader]
    for part, frame in kept:
        assert np.array_equal(part, frame.rgba[10:20, ::2, :3])


# -- what goes wrong ---------------------------------------------------------------------------


def test_an_exception_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with video.Writer(tmp_path / "a.mp4") as writer:
            writer.write(picture(0, 96, 64))
            assert len(os.listdir(tmp_path)) == 1  # the temporary one
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        fail()
    assert os.listdir(tmp_path) == []


def test_an_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with video.Writer(path) as writer:
        writer.write(picture(0, 96, 64))
        assert path.read_bytes() == b"old"
    assert video.probe(path).frames == 1
    fresh = write(tmp_path / "b.mp4")
    if os.name != "posix":
        return  # it has no such modes
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~mask


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(
        VideoError, match=r"ends in \.mp4.*, got|expected a name that ends in \.mp4"
    ):
        video.Writer(tmp_path / "a.xyz")
    with pytest.raises(VideoError, match=r"no encoder for 'h266'.*'h264'.*it has h264, hevc"):
        video.Writer(tmp_path / "a.mp4", codec="h266")
    with pytest.raises(ParameterError, match="fps must be above 0, got 0"):
        video.Writer(tmp_path / "a.mp4", fps=0)
    with pytest.raises(VideoError, match="no frame was written"), video.Writer(tmp_path / "a.mp4"):
        pass
    with video.Writer(tmp_path / "a.mp4") as writer:
        writer.write(picture(0, 96, 64))
        with pytest.raises(ShapeError, match="the frames of this file are 96 × 64, got 64 × 64"):
            writer.write(picture(0, 64, 64))
    with pytest.raises(VideoError, match="has been closed"):
        writer.write(picture(0, 96, 64))
    with (
        pytest.raises(VideoError, match=r"a\.webm: encoding with libx264.*webm"),
        video.Writer(tmp_path / "a.webm", codec="h264") as writer,
    ):
        writer.write(picture(0, 96, 64))
    with (
        pytest.raises(VideoError, match=r"b\.mp4: encoding with libx264"),
        video.Writer(tmp_path / "b.mp4", pixel_format="rgb48le") as writer,
    ):
        writer.write(picture(0, 96, 64))
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_places_one_cannot_write_to(tmp_path: Path) -> None:
    (tmp_path / "dir.mp4").mkdir()
    places = [
        (tmp_path / "dir.mp4", "a directory"),
        (tmp_path / "none" / "a.mp4", "there is no folder"),
    ]
    if sys.platform == "linux":  # where even root may not
        places.append((Path("/sys/kernel/a.mp4"), "no permission"))
    for place, reason in places:
        with pytest.raises(VideoFileError, match=reason), video.Writer(place) as writer:
            writer.write(picture(0, 96, 64))
    assert os.listdir(tmp_path) == ["dir.mp4"]


FULL_DISK = """
    import resource, sys
    from dala import video
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        if sys.argv[1] == "writer":
            import numpy as np
            noise = np.random.default_rng(0)
            with video.Writer(sys.argv[3], crf=1) as writer:
                for _ in range(30):
                    writer.write(noise.integers(0, 256, (240, 320, 3), np.uint8))
        else:
            video.transcode(sys.argv[2], sys.argv[3], crf=1)
    except video.reader.VideoError as error:
        print(type(error).__name__, error.errno, str(error).rsplit("/", 1)[-1])
        sys.exit(3)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of Unix")
@pytest.mark.parametrize("way", ["writer", "transcode"])
def test_no_room_left(way: str, tmp_path: Path) -> None:
    """A limit of the file's size stands for a full disk: writing fails in the middle."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL_DISK), way,
         str(real_clip("bigbuckbunny.mp4")), str(tmp_path / "out.mp4")],
        env=environment(DALA_DEVICE="cpu"),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert done.stdout.strip() == (
        "VideoFileError 27 out.mp4: the file grew beyond what the system allows"
    )
    assert done.stderr == ""
    assert os.listdir(tmp_path) == []
