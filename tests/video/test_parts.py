"""Parts of videos: exact to the frame, their sound to the sample; other speeds and rates."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clips import Sound, frame_times, write_clip
from made_models import made_model
from tracks import LOSSLESS, RATE, STEP, levels, samples, write_counted

from dala import video
from dala.errors import ParameterError, ShapeError, VideoError
from dala.media.chain import Chain
from dala.media.masks import has_masks
from dala.video.span import Span
from dala.video.transcode import transcode_span


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_counted(tmp_path_factory.mktemp("counted") / "counted.mkv")


@pytest.mark.parametrize(
    ("start", "end", "first", "count"),
    [(0.4, 1.2, 10, 20), ("0:01", None, 25, 25), (None, "0.04", 0, 1), (1.96, 99, 49, 1)],
)
def test_a_part(
    counted: Path, tmp_path: Path, start: object, end: object, first: int, count: int
) -> None:
    out = tmp_path / "part.mkv"
    report = video.transcode(counted, out, start=start, end=end, encoding=LOSSLESS)  # type: ignore[arg-type]
    assert levels(out) == [n * STEP % 256 for n in range(first, first + count)]
    assert frame_times(out)[0] == 0 and report.duration == Fraction(count, 25)
    heard = samples(out)
    wanted = np.arange(first * RATE // 25, (first + count) * RATE // 25) % 30_000
    assert np.array_equal(heard, wanted)  # to the sample


def test_a_cut_between_two_frames_shows_what_was_shown_then(counted: Path, tmp_path: Path) -> None:
    out = tmp_path / "part.mkv"
    video.transcode(counted, out, start=0.05, end=0.11, encoding=LOSSLESS)
    assert levels(out) == [STEP, 2 * STEP]  # frame 1 for 30 ms, frame 2 for 30
    assert frame_times(out) == [0, Fraction(3, 100)]
    assert np.array_equal(samples(out), np.arange(2400, 5280))


def test_a_part_of_what_needs_seeking(tmp_path: Path) -> None:
    long = write_clip(tmp_path / "long.mp4", frames=100, fps=25, sounds=[Sound("aac", 4.0)])
    video.transcode(long, tmp_path / "part.mkv", start=3, end=3.2, codec="ffv1")
    video.transcode(long, tmp_path / "whole.mkv", codec="ffv1")
    with video.Reader(tmp_path / "whole.mkv") as reader:
        wanted = [f.rgba for f in reader][75:80]
    with video.Reader(tmp_path / "part.mkv") as reader:
        found = [f.rgba for f in reader]
    assert len(found) == 5
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
    assert 9500 <= len(samples(tmp_path / "part.mkv")) <= 9700 + 1024  # 0.2 s, and AAC's padding


def test_masks_of_a_part_go_on_from_the_frames_before_it(tmp_path: Path) -> None:
    """A model that is half sure of a flickering picture: its steadied mask depends on what it saw."""
    model = made_model("selfie", [np.ones((1, 256, 256, 1), np.float32)])

    class Unsure:
        """The surer the brighter the picture is, and never quite."""

        def __getattr__(self, name: str) -> object:
            return getattr(network, name)

        def run_on(self, tensor: Any, *_shape: object) -> tuple[Any, ...]:
            share = 0.35 + 0.3 * float(np.mean(np.asarray(tensor)))
            return (np.full((1, 256, 256, 1), share, np.float32),)

    network, model.network = model.network, Unsure()  # type: ignore[assignment]
    clip = tmp_path / "clip.mkv"
    with video.Writer(clip, fps=25, encoding=LOSSLESS, range="full") as writer:
        for number in range(50):
            level = 40 if number % 7 < 3 or number < 12 else 230
            writer.write(np.full((48, 64, 3), level, np.uint8))
    black = np.zeros((4, 4, 3), np.uint8)
    chain = Chain.of([("background_replace", {"mask": model, "background": black})])
    assert has_masks(chain) and not has_masks(Chain.of(["invert"]))

    def made(name: str, span: Span) -> list[int]:
        out = tmp_path / name
        transcode_span(clip, out, chain, span, LOSSLESS, audio="none", device="cpu")
        return levels(out)

    whole = made("whole.mkv", Span())
    cut, warm = Fraction(34, 25), Fraction(10, 25)
    anew = made("anew.mkv", Span(cut))
    goes_on = made("on.mkv", Span(cut, before=10, warm=warm))
    assert len(goes_on) == 16 and frame_times(tmp_path / "on.mkv")[0] == 0
    assert goes_on == whole[34:] != anew


def test_pictures_alone_are_read_from_their_own_key_frame_on(tmp_path: Path) -> None:
    """The group before it may even be broken."""
    import av

    clip = tmp_path / "clip.mp4"
    with video.Writer(clip, fps=25, options={"g": "25", "sc_threshold": "0"}) as writer:
        for picture in np.random.default_rng(0).integers(0, 256, (75, 48, 64, 3), np.uint8):
            writer.write(picture)
    with av.open(clip) as container:
        broken = [(p.pos, p.size) for p in container.demux(video=0) if p.size][40]
    raw = bytearray(clip.read_bytes())
    raw[broken[0] + 40 : sum(broken)] = bytes(broken[1] - 40)
    clip.write_bytes(raw)
    asked: dict[str, Any] = {"start": 2, "end": 2.4, "encoding": LOSSLESS, "audio": "none"}
    assert video.transcode(clip, tmp_path / "part.mkv", **asked, subtitles="none").frames == 10
    with pytest.raises(VideoError, match="damaged"):
        video.transcode(clip, tmp_path / "whole.mkv", encoding=LOSSLESS)


def test_twice_as_fast(counted: Path, tmp_path: Path) -> None:
    out = tmp_path / "fast.mkv"
    report = video.transcode(counted, out, speed=2, end=1, encoding=LOSSLESS)
    assert report.duration == Fraction(1, 2) and report.frames == 25
    assert abs(len(samples(out)) - RATE // 2) < RATE // 50
    assert frame_times(out)[1] == Fraction(1, 50)


@pytest.mark.parametrize(
    ("fps", "numbers"), [(5, [0, 5, 10, 15]), (50, [n // 2 for n in range(40)])]
)
def test_another_rate(counted: Path, tmp_path: Path, fps: int, numbers: list[int]) -> None:
    out = tmp_path / "rate.mkv"
    report = video.transcode(counted, out, end=0.8, fps=fps, encoding=LOSSLESS)
    assert levels(out) == [n * STEP % 256 for n in numbers]
    assert report.duration == Fraction(4, 5)
    assert np.array_equal(samples(out), np.arange(0.8 * RATE) % 30_000)


def test_a_rate_alone_leaves_the_sound_as_it_is(tmp_path: Path) -> None:
    loud = write_clip(tmp_path / "loud.mp4", frames=24, fps=24, sounds=[Sound("aac", 1.0)])
    report = video.transcode(loud, tmp_path / "out.mp4", fps=12)
    assert report.frames == 12 and report.notes == ()
    with video.Reader(tmp_path / "out.mp4") as reader:
        assert reader.fps == 12


def test_parts_that_make_no_sense(counted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.mkv"
    for words, told in (
        ({"start": 2, "end": 1}, "start is not before end: 2 and 1 seconds"),
        (
            {"start": "soon"},
            "start is a time in seconds from 0 up, or written like 1:02.5; got 'soon'",
        ),
        ({"end": -1}, "end is a time"),
        ({"speed": 0}, "speed is a number in 0.01..100"),
        ({"fps": "fast"}, "fps is a number, got 'fast'"),
    ):
        with pytest.raises(ParameterError) as caught:
            video.transcode(counted, out, **words)  # type: ignore[arg-type]
        assert told in str(caught.value)
    with pytest.raises(VideoError, match=r"nothing is shown from 9 s on; it ends at 2 s"):
        video.transcode(counted, out, start=9)
    assert not list(tmp_path.iterdir())


def test_subtitles_and_chapters_of_a_part(tmp_path: Path) -> None:
    titled = write_clip(tmp_path / "titled.mkv", frames=50, fps=25, subtitles=True)
    video.transcode(titled, tmp_path / "part.mkv", start=0.2, end=0.45)
    from clips import packets_of

    (lines,) = packets_of(tmp_path / "part.mkv", "subtitle")
    found = [(text, time, length) for text, time, length in lines]
    assert found == [
        (b"line 0", Fraction(0), Fraction(1, 10)),  # seen from 0.1 to 0.3 of the whole
        (b"line 1", Fraction(1, 5), Fraction(1, 20)),
    ]


def test_other_sound(counted: Path, tmp_path: Path) -> None:
    other = write_counted(tmp_path / "other.mkv", frames=10)
    out = tmp_path / "out.mkv"
    video.transcode(counted, out, end=0.2, audio=other, encoding=LOSSLESS)
    heard = samples(out)
    assert np.array_equal(heard[: RATE // 5], np.arange(RATE // 5))
    assert len(heard) < RATE // 5 + 5000  # as long as the pictures, up to a packet
    silent = write_clip(tmp_path / "silent.mp4")
    with pytest.raises(VideoError, match=r"silent.mp4: there is no sound in it"):
        video.transcode(counted, out, audio=silent)


def test_a_function_over_every_frame(counted: Path, tmp_path: Path) -> None:
    seen = []

    def mark(frame: video.Frame) -> object:
        seen.append((frame.number, frame.time))
        if frame.number % 2:
            return None
        picture = frame.rgba.copy()
        picture[:, :8] = 255
        return picture

    out = tmp_path / "out.mkv"
    video.transcode(counted, out, ["invert"], end=0.16, on_frame=mark, encoding=LOSSLESS)
    assert seen == [(n, Fraction(n, 25)) for n in range(4)]
    with video.Reader(out) as reader:
        rows = [f.rgba[0, :, 0] for f in reader]
    assert [int(r[0]) for r in rows] == [0, 255 - STEP, 0, 255 - 3 * STEP]  # before the filters
    assert [int(r[-1]) for r in rows] == [255 - n * STEP for n in range(4)]
    assert np.array_equal(samples(out), np.arange(0.16 * RATE))
    with pytest.raises(ShapeError, match=r"on_frame: expected a picture of 32 × 16.*got 8 × 8"):
        video.transcode(counted, out, on_frame=lambda frame: np.zeros((8, 8, 3), np.uint8))
