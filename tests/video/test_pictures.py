"""What frames look like: colours, turns, odd sizes, formats."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from clips import picture, real_clip, write_clip

import dala
from dala import video
from dala.errors import ParameterError, VideoError
from dala.video.pictures import Turn, planes_of

LOSSLESS = {"codec": "ffv1"}
REAL = ["bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4"]
BILINEAR, POINT, AREA, ACCURATE = 0x2, 0x10, 0x20, 0x40000  # swscale's numbers
FULL_CHROMA, FULL_CHROMA_INPUT = 0x2000, 0x4000
SWS = {"bt601": 5, "bt709": 1, "bt2020": 9}


def levels_apart(a: Any, b: Any) -> Any:
    return np.abs(np.asarray(a).astype(int) - np.asarray(b).astype(int))


def by_swscale(frame: video.Frame, matrix: str, range_: str, *, exact: bool = True) -> Any:
    """FFmpeg's conversion. Its accurate one smooths chroma, unless there is a value for each pixel."""
    stored = frame.picture
    way = BILINEAR
    if exact:
        luma, blue, red = planes_of(frame.planar)
        whole = np.stack([luma, *(c.repeat(2, 0).repeat(2, 1) for c in (blue, red))])
        stored = av.VideoFrame.from_ndarray(whole, format="yuv444p")
        way = POINT | ACCURATE | FULL_CHROMA
    stored.colorspace, stored.color_range = SWS[matrix], 2 if range_ == "full" else 1
    return stored.reformat(format="rgba", interpolation=way).to_ndarray()


@pytest.mark.parametrize("range_", ["limited", "full"])
@pytest.mark.parametrize("matrix", list(SWS))
@pytest.mark.parametrize("name", REAL)
def test_to_rgba_as_ffmpeg(name: str, matrix: Any, range_: Any) -> None:
    with video.Reader(real_clip(name), matrix=matrix, range=range_) as reader:
        frame = [next(reader) for _ in range(12)][-1]
    apart = levels_apart(frame.rgba, by_swscale(frame, matrix, range_))
    assert apart.max() <= 2 and (apart > 1).mean() < 0.001
    # what FFmpeg does by default is quick, and itself up to three levels from the exact value
    quick = levels_apart(frame.rgba, by_swscale(frame, matrix, range_, exact=False))
    assert quick.max() <= 4 and (quick > 2).mean() < 0.05


@pytest.mark.parametrize("matrix", ["bt601", "bt709"])
def test_to_yuv_as_ffmpeg(matrix: Any, tmp_path: Path) -> None:
    with video.Reader(real_clip("bigbuckbunny.mp4")) as reader:
        pixels = next(reader).rgb
    with video.Writer(tmp_path / "a.mkv", codec="ffv1", matrix=matrix) as writer:
        writer.write(pixels)
    with video.Reader(tmp_path / "a.mkv") as reader:
        ours = next(reader).planar
    source = av.VideoFrame.from_ndarray(pixels, format="rgb24")
    theirs = source.reformat(
        format="yuv420p",
        dst_colorspace=SWS[matrix],
        interpolation=AREA | ACCURATE | FULL_CHROMA_INPUT,
    ).to_ndarray()
    apart = levels_apart(ours, theirs)
    assert apart.max() <= 2 and (apart > 1).mean() < 0.01


def test_unspecified_colours_go_by_size() -> None:
    small, large = video.probe(real_clip("bikes.mp4")), video.probe(real_clip("bigbuckbunny.mp4"))
    assert (small.matrix, small.range, small.primaries) == ("bt601", "limited", None)
    assert (large.matrix, large.range, large.transfer) == ("bt709", "limited", None)


@pytest.mark.parametrize(
    ("matrix", "number", "range_"),
    [("bt709", 1, "limited"), ("bt601", 5, "full"), ("bt601", 6, "limited"), ("bt2020", 9, "full")],
)
def test_tags_are_honoured_and_kept(matrix: str, number: int, range_: str, tmp_path: Path) -> None:
    tags = {"colorspace": number, "color_range": 2 if range_ == "full" else 1,
            "color_primaries": 9, "color_trc": 16}  # fmt: skip
    before = write_clip(tmp_path / "before.mp4", tags=tags, frames=3)
    video.transcode(before, tmp_path / "after.mp4", crf=1)
    for path in (before, tmp_path / "after.mp4"):
        info = video.probe(path)
        assert (info.matrix, info.range) == (matrix, range_)
        assert (info.primaries, info.transfer) == ("bt2020", "smpte2084")
        with av.open(str(path)) as container:
            assert next(container.decode(video=0)).colorspace == number
    with video.Reader(before) as a, video.Reader(tmp_path / "after.mp4") as b:
        one, other = next(a), next(b)
        assert levels_apart(one.rgba, other.rgba).mean() < 2
        apart = levels_apart(one.rgba, by_swscale(one, matrix, range_))
        assert apart.max() <= 2


def test_a_matrix_nobody_knows_is_refused(tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mp4", tags={"colorspace": 8}, frames=2)
    with pytest.raises(VideoError, match=r"number 8; expected one of bt601.*say matrix='bt709'"):
        video.transcode(before, tmp_path / "after.mp4")
    assert video.transcode(before, tmp_path / "after.mp4", matrix="bt709").frames == 2


def test_wrong_colour_names() -> None:
    with pytest.raises(ParameterError, match="matrix is one of bt601, bt709, bt2020, got 'bt'"):
        video.Reader("x.mp4", matrix="bt")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="range is 'limited' or 'full', got 'tv'"):
        video.Writer("x.mp4", range="tv")  # type: ignore[arg-type]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("hflip", [False, True])
def test_turned_pictures(rotation: int, hflip: bool, tmp_path: Path) -> None:
    """As a phone stores them; FFmpeg's own way to show them is the yardstick."""
    before = write_clip(
        tmp_path / "before.mp4", frames=2, rotation=rotation, hflip=hflip, options={"crf": "1"}
    )
    with video.Reader(before) as reader:
        frame = next(reader)
        info = reader.info
    stored = picture(0, 96, 64)
    turned = Turn(rotation // 90).apply(stored)
    turned = turned[:, ::-1] if hflip else turned
    assert frame.rgba.shape[:2] == turned.shape[:2] == (info.height, info.width)
    assert levels_apart(frame.rgb, turned).mean() < 4
    video.transcode(before, tmp_path / "after.mp4", crf=1)
    after = video.probe(tmp_path / "after.mp4")
    assert (after.rotation, after.width, after.height) == (0, info.width, info.height)
    with video.Reader(tmp_path / "after.mp4") as reader:
        assert levels_apart(next(reader).rgb, turned).mean() < 5


@pytest.mark.parametrize("size", [(95, 64), (96, 63), (95, 63), (96, 62), (94, 66), (1, 1), (3, 2)])
def test_odd_sizes(size: tuple[int, int], tmp_path: Path) -> None:
    width, height = size
    before = write_clip(tmp_path / "before.mkv", size=size, codec="ffv1", frames=3)
    with video.Reader(before) as reader:
        frame = next(reader)
    assert frame.rgba.shape == (height, width, 4)
    even = (height + height % 2, width + width % 2)
    assert frame.planar.shape == (even[0] * 3 // 2, even[1])
    report = video.transcode(before, tmp_path / "after.mkv", ["grayscale"], codec="ffv1")
    info = video.probe(tmp_path / "after.mkv")
    assert report.frames == 3 and (info.height, info.width) == even
    with video.Reader(tmp_path / "after.mkv") as reader:
        result = next(reader).rgb
    grey = dala.media.grayscale(frame.rgb)
    assert levels_apart(result[:height, :width], grey).max() <= 3
    assert levels_apart(result[:, -1], result[:, width - 1]).max() == 0
    assert levels_apart(result[-1], result[height - 1]).max() == 0


@pytest.mark.parametrize(
    "pixel_format",
    ["yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "gray", "bgr0", "gbrp10le", "yuva420p"],
)
def test_other_pixel_formats(pixel_format: str, tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mkv", codec="ffv1", pixel_format=pixel_format, frames=3)
    with video.Reader(before) as reader:
        first = next(reader)
    expected = picture(0, 96, 64)
    if pixel_format == "gray":
        expected = dala.media.grayscale(expected)
    assert levels_apart(first.rgb, expected).mean() < 4
    report = video.transcode(before, tmp_path / "after.mkv", ["invert"], codec="ffv1")
    assert report.frames == 3
    with video.Reader(tmp_path / "after.mkv") as reader:
        assert levels_apart(next(reader).rgb, 255 - expected).mean() < 4


@pytest.mark.parametrize("pixel_format", ["yuvj420p", "yuvj444p"])
def test_full_range_by_format(pixel_format: str, tmp_path: Path) -> None:
    before = write_clip(
        tmp_path / "before.mkv", codec="mjpeg", pixel_format=pixel_format, frames=2,
        options={"qmin": "1", "qscale": "1"},
    )  # fmt: skip
    assert video.probe(before).range == "full"
    with video.Reader(before) as reader:
        assert levels_apart(next(reader).rgb, picture(0, 96, 64)).mean() < 5


def test_bottom_up_pictures(tmp_path: Path) -> None:
    """Raw AVI stores the last row first."""
    path = tmp_path / "raw.avi"
    write_clip(path, codec="rawvideo", pixel_format="bgr24", frames=2)
    with video.Reader(path) as reader:
        assert levels_apart(next(reader).rgb, picture(0, 96, 64)).max() == 0


def test_the_test_pattern() -> None:
    with video.Reader("testsrc=size=64x48:rate=25") as reader:
        frames = [next(reader) for _ in range(3)]
    assert [f.time for f in frames] == [Fraction(n, 25) for n in range(3)]
    assert frames[0].kind == "rgba" and frames[0].rgba.shape == (48, 64, 4)
    assert np.asarray(frames[1]).shape == (48, 64, 4)
    back = frames[2].planar
    assert back.shape == (72, 64) and back[:48].std() > 20
    assert repr(frames[2]) == "<dala frame 2 at 0.080 s, 64 × 48 rgba>"
