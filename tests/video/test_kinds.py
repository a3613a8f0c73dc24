"""A table of what videos people have: what is kept on the way, and the words for what is not.

Each goes through no filter and through a look, into the file that people ask for. PyAV says what came out,
and so does ffprobe where there is one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
import pytest
from kinds import BT601, BT709, FULL, HLG, MASTERED, PQ, SIZE, Kind, make

import dala
from dala import video
from dala.errors import LossError, LossWarning, VideoError
from dala.video.pixels import pixels_of

X265 = {"x265-params": "log-level=none"}
ALPHA = "alpha (seen on black; .webm, and prores or qtrle in .mov, hold it)"
LOOK = [("exposure", {"stops": 0.5}), ("saturation", {"value": 0.2})]


class Row(NamedTuple):
    """A kind of video, what it shall become, the pixels that has, and what is said to be lost."""

    kind: Kind
    target: str
    codec: str | None
    pixels: str
    lost: tuple[str, ...] = ()


TABLE = [
    # 8 bits
    Row(Kind("a.mp4", "libx264", "yuv420p", BT709), "o.mp4", None, "yuv420p"),
    Row(Kind("a.mkv", "libx264", "yuv420p", BT601), "o.mkv", "hevc", "yuv420p"),
    Row(Kind("a.mov", "libx264", "yuvj420p", FULL), "o.mp4", None, "yuvj420p"),
    Row(Kind("b.mkv", "ffv1", "yuv420p", BT709), "o.webm", None, "yuv420p"),
    Row(Kind("c.mkv", "ffv1", "yuv420p"), "o.mp4", "av1", "yuv420p"),
    Row(Kind("a.avi", "mpeg4", "yuv420p"), "o.mp4", None, "yuv420p"),
    Row(Kind("mpeg2.mkv", "mpeg2video", "yuv420p"), "o.mp4", None, "yuv420p"),
    Row(Kind("m.mov", "mjpeg", "yuvj420p"), "o.mp4", None, "yuvj420p"),
    Row(Kind("d.mkv", "ffv1", "yuv422p", BT709), "o.mp4", None, "yuv420p",
        ("4:2:2 colour (4:2:0 is kept)",)),
    Row(Kind("e.mkv", "ffv1", "yuv444p", BT709), "o.mp4", None, "yuv420p",
        ("4:4:4 colour (4:2:0 is kept)",)),
    Row(Kind("f.mkv", "ffv1", "bgr0"), "o.mp4", None, "yuv420p"),
    Row(Kind("g.gif", "gif", "rgb8"), "o.mp4", None, "yuv420p"),
    # 10 bits and more
    Row(Kind("h.mp4", "libx264", "yuv420p10le", BT709), "o.mp4", None, "yuv420p10le"),
    Row(Kind("i.mp4", "libx265", "yuv420p10le", BT709, X265), "o.mkv", "hevc", "yuv420p10le"),
    Row(Kind("j.mkv", "ffv1", "yuv420p10le", BT709), "o.mp4", "av1", "yuv420p10le"),
    Row(Kind("k.mkv", "ffv1", "yuv420p10le", BT709), "o.webm", None, "yuv420p", ("10 bits (8 are kept)",)),
    Row(Kind("l.mkv", "ffv1", "yuv420p12le"), "o.mp4", None, "yuv420p10le", ("12 bits (10 are kept)",)),
    Row(Kind("n.mkv", "ffv1", "yuv420p12le"), "o.mkv", "ffv1", "yuv420p12le"),
    Row(Kind("oo.mov", "prores_ks", "yuv422p10le", BT709), "o.mov", "prores", "yuv422p10le",
        ("4:2:2 colour (4:2:0 is kept)",)),
    # HDR
    Row(Kind("p.mp4", "libx265", "yuv420p10le", PQ, X265), "o.mp4", "hevc", "yuv420p10le"),
    Row(Kind("q.mkv", "libx265", "yuv420p10le", HLG, X265), "o.mp4", None, "yuv420p10le"),
    Row(Kind("q.mkv", "libx265", "yuv420p10le", HLG, X265), "o.mkv", "h264", "yuv420p10le"),
    Row(Kind("r.mkv", "ffv1", "yuv420p10le", PQ), "o.webm", None, "yuv420p",
        ("10 bits (8 are kept; too few for HDR, tonemap makes SDR of it)",)),
    # alpha
    Row(Kind("s.mov", "qtrle", "argb"), "o.mov", "qtrle", "argb"),
    Row(Kind("t.mov", "qtrle", "argb"), "o.webm", None, "yuva420p"),
    Row(Kind("ss.mov", "qtrle", "argb"), "o.mov", None, "argb"),
    Row(Kind("vv.mkv", "ffv1", "gbrap12le"), "o.mov", None, "yuva444p12le", ("12 bits (10 are kept)",)),
    Row(Kind("u.mov", "qtrle", "argb"), "o.mov", "prores", "yuva444p12le"),
    Row(Kind("v.mov", "prores_ks", "yuva444p10le", BT709, {"profile": "4444"}), "o.mov", "prores",
        "yuva444p12le", ("12 bits (10 are kept)",)),  # FFmpeg decodes 4444 to 12 bits and encodes 10
    Row(Kind("w.webm", "libvpx-vp9", "yuva420p"), "o.webm", None, "yuva420p"),
    Row(Kind("x.webm", "libvpx-vp9", "yuva420p"), "%d.png", None, "rgba"),
    Row(Kind("y.mkv", "ffv1", "gbrap16le"), "%d.png", None, "rgba64be"),
    Row(Kind("z.mkv", "ffv1", "bgra"), "o.mkv", "ffv1", "bgra"),
    Row(Kind("z.mov", "qtrle", "argb"), "o.mp4", None, "yuv420p", (ALPHA,)),
    Row(Kind("z.webm", "libvpx-vp9", "yuva420p"), "o.mp4", "av1", "yuv420p", (ALPHA,)),
]  # fmt: skip


def first_frame(path: Path) -> Any:
    with av.open(str(path)) as container:
        return next(container.decode(video=0))


def depth(path: Path) -> np.ndarray:
    """Every level of the first frame's RGB, in 16 bits; and its alpha."""
    with video.Reader(path) as reader:
        picture = next(reader).picture
    return picture.reformat(format="rgba64le").to_ndarray().astype(int)


FFPROBE = shutil.which("ffprobe")
# FFmpeg's names for the numbers of tags, and what ffprobe calls them
NAMES = {
    "colorspace": ("color_space", {1: "bt709", 6: "smpte170m", 9: "bt2020nc"}),
    "color_range": ("color_range", {1: "tv", 2: "pc"}),
    "color_primaries": ("color_primaries", {1: "bt709", 6: "smpte170m", 9: "bt2020"}),
    "color_trc": (
        "color_transfer",
        {1: "bt709", 6: "smpte170m", 16: "smpte2084", 18: "arib-std-b67"},
    ),
}


def assert_ffprobe_agrees(path: Path, row: Row) -> None:
    """Another build of FFmpeg sees the same: size, pixels, tags, and frames."""
    assert FFPROBE is not None
    words = [FFPROBE, "-v", "error", "-of", "json", "-count_frames", "-show_streams", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    (told,) = json.loads(done.stdout)["streams"]
    assert (told["width"], told["height"]) == SIZE
    assert told["nb_read_frames"] == ("1" if "%d" in row.target else "3")
    if (
        row.pixels == "yuva420p"
    ):  # its decoder of VP9 leaves alpha to libvpx, and only says that it is there
        assert (told["pix_fmt"], told["tags"]["ALPHA_MODE".lower()]) == ("yuv420p", "1")
    else:
        assert told["pix_fmt"] == row.pixels
    if "colorspace" in row.kind.tags and not pixels_of(row.pixels).rgb:
        for tag, value in row.kind.tags.items():
            key, names = NAMES[tag]
            assert told.get(key) == names[value], tag


@pytest.mark.parametrize("look", [[], LOOK], ids=["as it is", "a look"])
@pytest.mark.parametrize("row", TABLE, ids=lambda r: f"{r.kind.pixels} {r.kind.name} to {r.target}")
def test_what_is_kept(row: Row, look: list[Any], tmp_path: Path) -> None:
    source = make(row.kind, tmp_path)
    target = tmp_path / row.target
    words = {"preset": 12} if row.codec == "av1" else {}
    report = video.transcode(source, target, look, codec=row.codec, **words)  # type: ignore[arg-type]
    assert report.notes == row.lost
    made = tmp_path / row.target.replace("%d", "1")
    with video.Reader(made) as reader:
        picture = next(reader).picture
    assert picture.format.name == row.pixels
    if "colorspace" in row.kind.tags and not pixels_of(row.pixels).rgb:
        for tag, value in row.kind.tags.items():
            assert int(getattr(picture, tag)) == value, tag
    if FFPROBE:
        assert_ffprobe_agrees(made, row)
    if not look:  # what was there is there
        wanted, found = depth(source), depth(made)
        if ALPHA in row.lost:
            wanted[..., :3] = wanted[..., :3] * wanted[..., 3:] // 65_535
            wanted[..., 3] = 65_535
        assert np.abs(found - wanted).mean() < 5_000
    if row.lost:
        with pytest.raises(LossError, match="does not hold"):
            video.transcode(source, tmp_path / "strict.mkv", codec="libx264", pixel_format="yuv420p",
                            strict=True)  # fmt: skip
        assert not (tmp_path / "strict.mkv").exists()


@pytest.mark.skipif(FFPROBE is None, reason="no ffprobe: nobody else looked at what was made")
def test_ffprobe_sees_the_mastering_display(tmp_path: Path) -> None:
    kind = Kind("m.mkv", "libx265", "yuv420p10le", PQ, {"x265-params": MASTERED})
    video.transcode(make(kind, tmp_path), tmp_path / "o.mp4", LOOK, codec="hevc")
    words = [str(FFPROBE), "-v", "error", "-of", "json", "-show_frames", str(tmp_path / "o.mp4")]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    first = json.loads(done.stdout)["frames"][0]["side_data_list"]
    told = {key: value for part in first for key, value in part.items()}
    assert (told["red_x"], told["max_luminance"]) == ("34000/50000", "10000000/10000")
    assert (told["max_content"], told["max_average"]) == (1000, 400)


@pytest.mark.parametrize(
    ("kind", "target", "words", "codec"),
    [
        (Kind("a.mkv", "ffv1", "yuv420p10le", PQ), "o.mp4", {}, "hevc"),
        (Kind("a.mkv", "ffv1", "yuv420p10le", HLG), "o.mov", {"crf": 30}, "hevc"),
        (Kind("a.mkv", "ffv1", "yuv420p10le", PQ), "o.mp4", {"codec": "h264"}, "h264"),
        (Kind("a.mkv", "ffv1", "yuv420p10le", PQ), "o.mp4", {"tonemap": True}, "h264"),
        (Kind("a.mkv", "ffv1", "yuv420p10le", BT709), "o.mp4", {}, "h264"),
        (Kind("a.mov", "qtrle", "argb"), "o.mov", {}, "qtrle"),
        (Kind("a.mkv", "ffv1", "bgra"), "o.mov", {}, "prores"),
        (Kind("a.mkv", "ffv1", "bgra"), "o.mov", {"crf": 20}, "h264"),
        (Kind("a.mkv", "ffv1", "bgra"), "o.mp4", {}, "h264"),
        (Kind("a.mkv", "ffv1", "yuv420p", BT709), "o.mov", {"codec": "x265"}, "hevc"),
        (
            Kind("a.mkv", "ffv1", "yuv420p10le", PQ),
            "o.mp4",
            {"options": {"tune": "film"}},
            "h264",
        ),  # x265 has none of that name
        (Kind("a.mkv", "ffv1", "bgra"), "o.mov", {"options": {"tune": "film"}}, "h264"),
    ],
)
def test_the_codec_that_nobody_asked_for(
    kind: Kind, target: str, words: dict[str, Any], codec: str, tmp_path: Path
) -> None:
    """HDR in H.264 is shown by no player, and alpha has a place in a .mov."""
    video.transcode(make(kind, tmp_path), tmp_path / target, **words)
    assert video.probe(tmp_path / target).codec == codec


def test_ten_bits_are_ten_bits(tmp_path: Path) -> None:
    """A ramp in single steps of ten bits comes out as it went in, and brighter by as many."""
    path = tmp_path / "ramp.mkv"
    ramp = np.tile(np.arange(100, 228, dtype=np.uint16), (16, 1))
    with av.open(str(path), "w") as out:
        stream = out.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 128, 16, "yuv420p10le"
        frame = av.VideoFrame(128, 16, "yuv420p10le")
        for plane, levels in zip(frame.planes, (ramp, None, None), strict=True):
            rows = np.frombuffer(plane, np.uint16).reshape(plane.height, -1)
            rows[:, : plane.width] = 512 if levels is None else levels
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))

    def luma(of: Path) -> np.ndarray:
        picture = first_frame(of)
        assert picture.format.name == "yuv420p10le"
        plane = picture.planes[0]
        return np.frombuffer(plane, np.uint16).reshape(plane.height, -1)[:, :128].astype(int)

    for chain, shift in ([], 0), ([("brightness", {"value": 100 / 876})], 100):
        for device in ("cpu", "reference"):
            video.transcode(path, tmp_path / "out.mkv", chain, codec="ffv1", device=device)
            assert np.abs(luma(tmp_path / "out.mkv") - ramp - shift).max() <= (1 if shift else 0)


@pytest.mark.parametrize("codec", ["hevc", "h264", "av1"])
def test_mastering_metadata_is_kept(codec: str, tmp_path: Path) -> None:
    kind = Kind("m.mkv", "libx265", "yuv420p10le", PQ, {"x265-params": MASTERED})
    source, target = make(kind, tmp_path), tmp_path / "o.mp4"
    report = video.transcode(
        source, target, LOOK, codec=codec, preset=12 if codec == "av1" else None
    )
    assert report.notes == ()
    picture = first_frame(target)
    display = np.frombuffer(bytes(picture.side_data["MASTERING_DISPLAY_METADATA"]), np.int32)
    red, most = display[0] / display[1], display[18] / display[19]
    assert red == pytest.approx(0.68, abs=1e-3) and most == pytest.approx(1000, rel=1e-3)
    light = np.frombuffer(bytes(picture.side_data["CONTENT_LIGHT_LEVEL"]), np.uint32)
    assert light[:2].tolist() == [1000, 400]
    lossless = video.transcode(source, tmp_path / "o.mkv", codec="ffv1")
    assert lossless.notes == ("the mastering display's metadata",)


@pytest.mark.parametrize(("tags", "white"), [(PQ, 0.5807), (HLG, 0.75)], ids=["pq", "hlg"])
def test_hdr_becomes_sdr(tags: dict[str, int], white: float, tmp_path: Path) -> None:
    """Black stays black, the white of BT.2408 (203 nits) is nearly white, what is brighter is white."""
    path = tmp_path / "hdr.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 48, 16, "yuv420p10le"
        frame = av.VideoFrame(48, 16, "yuv420p10le")
        levels = np.repeat([64, 64 + round(876 * white), 940], 16)
        for number, plane in enumerate(frame.planes):
            rows = np.frombuffer(plane, np.uint16).reshape(plane.height, -1)
            rows[:, : plane.width] = levels if number == 0 else 512
        for tag, value in tags.items():
            setattr(stream.codec_context, tag, value)
            setattr(frame, tag, value)
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    report = video.transcode(path, tmp_path / "sdr.mkv", tonemap=True, codec="ffv1")
    assert report.notes == ()
    info = video.probe(tmp_path / "sdr.mkv")
    assert (info.pixel_format, info.transfer, info.matrix) == ("yuv420p", "bt709", "bt709")
    with video.Reader(tmp_path / "sdr.mkv") as reader:
        grey = next(reader).rgb[8, [8, 24, 40]].astype(int)
    assert np.ptp(grey, axis=1).max() <= 2
    assert grey[0].max() <= 1 and 235 <= grey[1].mean() <= 250 and grey[2].mean() >= 253
    with pytest.raises(VideoError, match=r"tonemap is for HDR \(PQ or HLG\)"):
        video.transcode(tmp_path / "sdr.mkv", tmp_path / "no.mkv", tonemap=True)


RAMP = np.tile(np.linspace(2_000, 60_000, 128).astype(np.uint16)[None, :, None], (16, 1, 3))


@pytest.mark.parametrize(
    ("name", "words", "pixels", "near"),
    [
        ("deep.mkv", {"codec": "ffv1"}, "yuv420p16le", 40),
        ("deep.mp4", {"crf": 1}, "yuv420p10le", 200),
        ("deep.mkv", {"codec": "ffv1", "pixel_format": "yuv420p12le"}, "yuv420p12le", 60),
        ("%d.png", {}, "rgb48be", 2),
    ],
)
def test_sixteen_bits_are_written_and_read(
    name: str, words: dict[str, Any], pixels: str, near: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    with video.Writer(path, **words) as writer:
        writer.write(RAMP)
        writer.write(dala.compute.from_array(np.dstack([RAMP, np.full_like(RAMP[..., :1], 65535)])))
    with video.Reader(tmp_path / name.replace("%d", "1")) as reader:
        frame = next(reader)
    assert frame.picture.format.name == pixels
    assert frame.bits == pixels_of(pixels).bits and frame.rgba.dtype == np.uint8
    found = frame.rgba16
    assert found.dtype == np.uint16 and (found[..., 3] == 65535).all()
    assert np.abs(found[..., :3].astype(int) - RAMP).max() <= near
    assert len(np.unique(found[0, :, 0])) == 128, "in 8 bits, neighbours would be alike"
    with video.Writer(tmp_path / "again.mkv", codec="ffv1") as writer:  # a Frame keeps them, too
        writer.write(frame)
    with video.Reader(tmp_path / "again.mkv") as reader:
        again = next(reader).rgba16
    assert np.abs(again.astype(int) - found).max() <= 80


def test_what_a_file_cannot_hold_of_16_bits_is_a_warning(tmp_path: Path) -> None:
    with (
        pytest.warns(LossWarning, match=r"flat\.webm does not hold 16 bits \(8 are kept\)"),
        video.Writer(tmp_path / "flat.webm") as writer,
    ):
        writer.write(RAMP)
    with video.Reader(tmp_path / "flat.webm") as reader:
        frame = next(reader)
    assert frame.bits == 8
    np.testing.assert_array_equal(frame.rgba16, frame.rgba.astype(np.uint16) * 257)


@pytest.mark.parametrize("gives", ["nothing", "deep", "flat"])
def test_on_frame_keeps_ten_bits(gives: str, tmp_path: Path) -> None:
    source = tmp_path / "deep.mkv"
    with video.Writer(source, codec="ffv1", pixel_format="yuv420p10le") as writer:
        writer.write(RAMP)
    seen = []

    def touch(frame: video.Frame) -> Any:
        seen.append(frame.bits)
        return {"nothing": None, "deep": frame.rgba16, "flat": frame.rgba}[gives]

    report = video.transcode(source, tmp_path / "out.mkv", codec="ffv1", on_frame=touch)
    assert (report.notes, seen) == ((), [10])
    with video.Reader(tmp_path / "out.mkv") as reader:
        frame = next(reader)
    assert frame.picture.format.name == "yuv420p10le"
    steps = len(np.unique(frame.rgba16[0, :, 0]))
    assert steps == 128
    wrong = np.abs(frame.rgba16[..., :3].astype(int) - RAMP).max()
    assert wrong <= (400 if gives == "flat" else 150)


# -- several as one ----------------------------------------------------------------------------


def test_parts_keep_what_the_first_one_is(tmp_path: Path) -> None:
    deep = Kind("a.mkv", "libx265", "yuv420p10le", PQ, {"x265-params": MASTERED})
    first, plain = make(deep, tmp_path), make(Kind("b.mkv", "ffv1", "yuv420p", PQ), tmp_path)
    report = video.concat([first, first, plain], tmp_path / "o.mp4")
    assert report.notes == () and report.frames == 9
    assert video.probe(tmp_path / "o.mp4").codec == "hevc"
    picture = first_frame(tmp_path / "o.mp4")
    assert picture.format.name == "yuv420p10le" and int(picture.color_trc) == PQ["color_trc"]
    assert picture.side_data.get("MASTERING_DISPLAY_METADATA") is not None
    assert np.abs(depth(tmp_path / "o.mp4") - depth(first)).mean() < 2500
    with video.Reader(tmp_path / "o.mp4") as reader:  # eight bits among ten
        last = [f.rgba16.astype(int) for f in reader][6]
    with video.Reader(plain) as reader:
        assert np.abs(last - next(reader).rgba16).mean() < 2500


def test_parts_of_other_sizes_stay_deep(tmp_path: Path) -> None:
    """A ramp in steps of ten bits, in the middle of a wider picture."""
    ramp = np.repeat(np.arange(16, dtype=np.uint16)[:, None] * 64 + 20_000, 8, 1)
    for name, shape in (("wide.mkv", (16, 32)), ("ramp.mkv", (16, 8))):
        with video.Writer(
            tmp_path / name, fps=25, codec="ffv1", pixel_format="yuv420p10le"
        ) as made:
            level = ramp if shape == ramp.shape else np.zeros(shape, np.uint16)
            made.write(np.repeat(level[..., None], 3, 2))
    video.concat([tmp_path / "wide.mkv", tmp_path / "ramp.mkv"], tmp_path / "o.mkv", codec="ffv1")
    with video.Reader(tmp_path / "o.mkv") as reader:
        last = [f.rgba16 for f in reader][1][:, 12:20, 1]
    assert len(np.unique(last)) > 10


def test_alpha_of_parts(tmp_path: Path) -> None:
    clear = make(Kind("a.mov", "qtrle", "argb"), tmp_path)
    report = video.concat([clear, clear], tmp_path / "o.mov")
    assert report.notes == () and (depth(tmp_path / "o.mov") == depth(clear)).all()
    report = video.concat([clear, clear], tmp_path / "o.mkv", codec="ffv1", pixel_format="yuv420p")
    assert report.notes == (ALPHA,)
    wanted = depth(clear)
    found = depth(tmp_path / "o.mkv")[..., :3]
    assert np.abs(found - wanted[..., :3] * wanted[..., 3:] // 65_535).mean() < 5_000


@pytest.mark.parametrize("first", ["pq", "sdr", "hlg"])
def test_light_of_parts_is_of_one_kind(first: str, tmp_path: Path) -> None:
    kinds = {"pq": PQ, "sdr": BT709, "hlg": HLG}
    parts = [
        make(Kind(f"{name}.mkv", "ffv1", "yuv420p10le", tags), tmp_path)
        for name, tags in sorted(kinds.items(), key=lambda pair: pair[0] != first)
    ]
    with pytest.raises(
        VideoError, match=f"{first}.mkv is .* and .*; a file is one of them, tonemap"
    ):
        video.concat(parts, tmp_path / "o.mkv", codec="ffv1")
    report = video.concat(parts, tmp_path / "o.mkv", codec="ffv1", tonemap=True)
    assert report.frames == 9
    picture = first_frame(tmp_path / "o.mkv")
    assert (int(picture.colorspace), int(picture.color_trc)) == (1, 1)
    with video.Reader(tmp_path / "o.mkv") as reader:
        found = [f.rgba16.astype(int) for f in reader][::3]
    for part, made in zip(parts, found, strict=True):
        video.transcode(part, tmp_path / "p.mkv", codec="ffv1", tonemap="sdr" not in part.name)
        with video.Reader(tmp_path / "p.mkv") as reader:
            assert np.abs(made - next(reader).rgba16).mean() < 300
    with pytest.raises(VideoError, match="tonemap is for HDR"):
        video.concat([tmp_path / "sdr.mkv"] * 2, tmp_path / "o.mkv", tonemap=True)


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_hdr_and_alpha_beside_others(device: str, tmp_path: Path) -> None:
    """Several videos in one picture are SDR, and opaque."""
    bright = make(Kind("a.mkv", "ffv1", "yuv420p10le", PQ), tmp_path)
    clear = make(Kind("b.mov", "qtrle", "argb"), tmp_path)
    words: Any = {"codec": "ffv1", "device": device}
    report = video.side_by_side(bright, clear, tmp_path / "o.mkv", **words)
    assert report.notes == (f"HDR of {bright} (it is SDR)", ALPHA)
    video.transcode(bright, tmp_path / "p.mkv", tonemap=True, **words)
    video.transcode(clear, tmp_path / "q.mkv", pixel_format="yuv420p", **words)
    found = depth(tmp_path / "o.mkv")
    for part, columns in (("p.mkv", slice(0, 32)), ("q.mkv", slice(32, 64))):
        assert np.abs(found[:, columns] - depth(tmp_path / part)).mean() < 1200
