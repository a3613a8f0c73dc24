"""Sources: the picture at any time is one and the same, in whatever order it is asked for."""

from __future__ import annotations

import gc
import random
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from clips import Sound, picture, write_clip, write_interlaced
from tracks import write_counted

from dala import video
from dala.errors import ParameterError, VideoError, VideoFileError
from dala.scene.layers import Planes, Rgba
from dala.scene.sources import (
    CallSource,
    Feed,
    FilmSource,
    ImageSource,
    LiveSource,
    Pause,
    Supply,
    TimeMap,
    open_media,
)


def data_of(content: Planes | Rgba) -> bytes:
    if isinstance(content, Rgba):
        return content.pixels.tobytes()
    return content.y.tobytes() + content.u.tobytes() + content.v.tobytes()


def in_sequence(path: Path) -> list[tuple[Fraction, bytes]]:
    """What FFmpeg gives from the first frame to the last, with times counted from the first."""
    found: list[tuple[Fraction, bytes]] = []
    with video.Reader(path) as reader:
        for frame in reader:
            found.append((frame.time, frame.planar.tobytes()))
    zero = found[0][0]
    return [(t - zero, data) for t, data in found]


def check_exact(path: Path, seed: int = 1, asked: int = 40) -> None:
    """Random order equals sequence, at the frames' own times and between them."""
    frames = in_sequence(path)
    film = open_media(path)
    try:
        random_ = random.Random(seed)
        wanted = [random_.randrange(len(frames)) for _ in range(asked)]
        for number in wanted:
            begin, data = frames[number]
            end = frames[number + 1][0] if number + 1 < len(frames) else begin + Fraction(1, 10)
            at = begin + (end - begin) * Fraction(random_.randrange(4), 4)
            content = film.frame_at(at)
            assert data_of(content) == data, (number, float(at))
    finally:
        film.close()


CASES: dict[str, dict[str, Any]] = {
    "b-frames": {"options": {"bf": "3", "g": "12"}},
    "open gops": {"options": {"x264-params": "open-gop=1:bframes=3:keyint=10:min-keyint=10"}},
    "one key frame": {"options": {"g": "1000"}},
    "intra refresh": {"options": {"x264-params": "intra-refresh=1:keyint=20:bframes=0"}},
    "vfr": {
        "times": [Fraction(n * n + n, 500) for n in range(40)],
        "options": {"bf": "2", "g": "9"},
    },
    "late start": {"times": [Fraction(7, 3) + Fraction(n, 25) for n in range(40)]},
}


@pytest.mark.parametrize("case", CASES)
def test_random_order_equals_sequence(case: str, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", frames=48, **CASES[case])
    check_exact(path)


@pytest.mark.parametrize(
    ("name", "codec"),
    [("clip.mkv", "libx264"), ("clip.ts", "libx264"), ("clip.avi", "mpeg4"), ("clip.webm", "libvpx-vp9"),
     ("clip.mp4", "libx265"), ("clip.mpg", "mpeg2video"), ("clip.h264", "libx264")],
)  # fmt: skip
def test_containers_and_codecs(name: str, codec: str, tmp_path: Path) -> None:
    options = {"g": "10", "bf": "2"} if codec in ("libx264", "mpeg2video", "mpeg4") else {"g": "10"}
    if codec == "libx265":
        options = {"x265-params": "keyint=10:open-gop=1:bframes=3:log-level=none"}
    if name == "clip.avi":
        options = {"g": "10"}
    base = Fraction(1, 25) if codec in ("mpeg4", "mpeg2video") else None
    path = write_clip(tmp_path / name, frames=40, codec=codec, options=options, time_base=base)
    check_exact(path, asked=25)


X264 = {"x264-params": "tff=1:keyint=10:min-keyint=10:bframes=3:open-gop=1", "preset": "veryfast"}
INTERLACED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mpeg2": ("a.mkv", "mpeg2video", {"options": {"g": "8", "bf": "2", "qscale": "2"}}),
    "mpeg2 in ts": ("a.ts", "mpeg2video", {"options": {"g": "8", "bf": "2", "qscale": "2"}}),
    "the lower half first": ("a.mkv", "mpeg2video", {"options": {"g": "6"}, "fields": ["bff"]}),
    "open gops": ("a.mp4", "libx264", {"options": X264}),
    "one key frame": ("a.mp4", "libx264", {"options": {**X264, "x264-params": "tff=1:keyint=500"}}),
    "some frames are whole": (
        "a.mkv", "mpeg2video",
        {"options": {"g": "6", "bf": "2"}, "fields": ["prog"] * 7 + ["tff"] * 6, "frames": 52},
    ),
    "no times": ("a.mpg", "mpeg2video", {"options": {"g": "8"}}),
}  # fmt: skip


@pytest.mark.parametrize("case", INTERLACED)
def test_interlaced_frames_are_woven_alike_wherever_one_begins(case: str, tmp_path: Path) -> None:
    """A whole picture leans on the frames around it, those before a start among them."""
    name, codec, words = INTERLACED[case]
    path = write_interlaced(tmp_path / name, codec, **words)
    with av.open(str(path)) as container:
        assert any(frame.interlaced_frame for frame in container.decode(video=0))
    for seed in range(3):
        check_exact(path, seed=seed, asked=30)


def test_rotated_and_mirrored(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", frames=10, rotation=90)
    film = open_media(path)
    content = film.frame_at(Fraction(0))
    assert film.size == (64, 96) and isinstance(content, Planes)
    check_exact(path, asked=8)
    film.close()


def test_before_and_after(tmp_path: Path) -> None:
    film = open_media(write_clip(tmp_path / "clip.mp4", frames=10))
    first, last = film.frame_at(Fraction(0)), film.frame_at(Fraction(9, 25))
    assert data_of(film.frame_at(Fraction(-5))) == data_of(first)
    assert data_of(film.frame_at(Fraction(1000))) == data_of(last)
    assert data_of(film.frame_at(Fraction(9999, 10000) * Fraction(1, 25))) == data_of(first)
    assert film.duration == Fraction(10, 25)
    film.close()
    with pytest.raises(VideoError, match="has been closed"):
        film.frame_at(Fraction(0))


def test_a_gif_and_one_with_alpha(tmp_path: Path) -> None:
    path = tmp_path / "moves.gif"
    with video.Writer(path, fps=10) as writer:
        for level in (0, 80, 160, 240):
            writer.write(np.full((16, 16, 3), level, np.uint8))
    film = open_media(path)
    for number in (3, 0, 2, 1, 3):
        content = film.frame_at(Fraction(number, 10))
        assert isinstance(content, Rgba) and content.opaque
        assert abs(int(content.pixels[4, 4, 0]) - number * 80) < 8
    film.close()


def test_pictures_and_arrays(tmp_path: Path) -> None:
    with video.Writer(tmp_path / "%03d.png", fps=25) as writer:
        for number in range(5):
            writer.write(picture(number, 32, 16))
    film = open_media(str(tmp_path / "%03d.png"), fps=10)
    assert (film.size, film.duration) == ((32, 16), Fraction(1, 2))
    for number in (4, 0, 3):
        content = film.frame_at(Fraction(number, 10))
        assert isinstance(content, Rgba)
        assert np.array_equal(content.pixels[..., :3], picture(number, 32, 16))
    film.close()
    still = open_media(tmp_path / "001.png")
    assert isinstance(still, ImageSource) and still.size == (32, 16)
    assert open_media(np.zeros((16, 32), np.uint8)).size == (32, 16)


def test_versions_stand_for_pixels(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", frames=20)
    one, two = open_media(path), open_media(path)
    a, b = one.frame_at(Fraction(1, 50)), one.frame_at(Fraction(1, 40))
    assert a.version == b.version
    assert a.version != one.frame_at(Fraction(1, 25)).version
    assert a.version != two.frame_at(Fraction(1, 50)).version
    one.close(), two.close()  # type: ignore[func-returns-value]


def test_damage_is_an_error_or_concealed(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", frames=100, size=(320, 240), options={"g": "10"})
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3000] = random.Random(1).randbytes(3000)
    path.write_bytes(data)
    film = open_media(path)
    with pytest.raises(VideoError):
        [film.frame_at(Fraction(number, 25)) for number in range(100)]
    film.frame_at(Fraction(0))  # what is whole can still be seen
    film.close()
    patient = open_media(path, on_damage="conceal")
    for number in range(0, 100, 7):
        patient.frame_at(Fraction(number, 25))
    patient.close()


def test_missing_files_say_so(tmp_path: Path) -> None:
    with pytest.raises(VideoFileError, match="no such file"):
        open_media(tmp_path / "missing.mp4")
    (tmp_path / "empty.mp4").touch()
    with pytest.raises(VideoError, match="empty"):
        open_media(tmp_path / "empty.mp4")


def test_memory_is_shared_and_given_back(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", frames=60)
    frame = 96 * 64 * 3 // 2
    supply = Supply(memory=10 * frame)
    films = [FilmSource(video.Reader(path).place, supply) for _ in range(3)]
    for number in range(50):
        for film in films:
            film.frame_at(Fraction(number, 25))
        assert supply.used <= (10 + 3 * 6) * frame
    for film in films:
        film.close()
    assert supply.used == 0


def test_many_films_share_few_open_files(tmp_path: Path) -> None:
    path = write_counted(tmp_path / "clip.mkv", frames=20, sound=False)
    supply = Supply(most_open=2)
    films = [open_media(path, supply) for _ in range(5)]
    threads = threading.active_count()
    for number in (3, 12, 7):
        levels = {int(f.frame_at(Fraction(number, 25)).y[0, 0]) for f in films}  # type: ignore[union-attr]
        assert levels == {number * 7}
    assert threading.active_count() <= threads + 2
    for film in films:
        film.close()


def test_a_forgotten_film_ends_its_thread(tmp_path: Path) -> None:
    supply = Supply()
    film = open_media(write_clip(tmp_path / "clip.mp4", frames=60), supply)
    film.frame_at(Fraction(1))
    supply.forget(film)  # type: ignore[arg-type]
    del film
    gc.collect()
    deadline = time.monotonic() + 60
    while supply.used and time.monotonic() < deadline:
        time.sleep(0.01)
    assert supply.used == 0


def test_several_threads_may_ask(tmp_path: Path) -> None:
    path = write_counted(tmp_path / "clip.mkv", frames=30, sound=False)
    film = open_media(path)
    wrong: list[object] = []

    def ask(seed: int) -> None:
        random_ = random.Random(seed)
        for _ in range(40):
            number = random_.randrange(30)
            content = film.frame_at(Fraction(number, 25))
            if int(content.y[0, 0]) != number * 7:  # type: ignore[union-attr]
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    film.close()
    assert wrong == []


# -- functions, feeds, live ----------------------------------------------------------------------------


def test_functions_are_asked_once_a_time() -> None:
    asked: list[Fraction] = []

    def make(at: Fraction) -> object:
        asked.append(at)
        return np.full((4, 4, 4), int(at), np.uint8)

    source = CallSource(make)
    one, again = source.frame_at(Fraction(3)), source.frame_at(Fraction(3))
    assert one is again and asked == [0, 3]
    assert not one.opaque


def test_a_feed_shows_the_newest() -> None:
    feed = Feed(8, 4)
    before = feed.frame_at(Fraction(0))
    pushed = np.full((4, 8, 3), 9, np.uint8)
    feed.push(pushed)
    pushed[:] = 0  # the caller's own again
    after = feed.frame_at(Fraction(0))
    assert after.version != before.version and int(after.pixels[0, 0, 0]) == 9


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert condition()


class Camera:
    """A reader whose device can be pulled out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened = 0
        self.pulled = False

    def __call__(self) -> video.Reader:
        if self.pulled:
            raise VideoError("camera 7: there is no camera")
        self.opened += 1
        return video.Reader(self.path)


def test_a_live_source_survives_what_happens_to_it(tmp_path: Path) -> None:
    small = write_clip(tmp_path / "small.mp4", frames=5)
    large = write_clip(tmp_path / "large.mp4", frames=5, size=(128, 96))
    camera = Camera(small)
    camera.pulled = True
    supply = Supply()
    live = LiveSource(camera, "camera 7", supply, pauses_s=(0.01,))
    placeholder = live.frame_at(Fraction(0))
    assert live.state in ("waiting", "lost") and (placeholder.width, placeholder.height) == (
        640,
        360,
    )
    wait_for(lambda: supply.reports)
    camera.pulled = False
    wait_for(lambda: live.frames >= 5)
    assert live.size == (96, 64)
    camera.path = large
    wait_for(lambda: live.size == (128, 96))
    camera.pulled = True
    wait_for(lambda: live.state == "lost")
    assert live.frame_at(Fraction(9)).width == 128  # the last frame stays
    live.close()
    told = [report.what for report in supply.reports]
    assert any("there is no camera" in what for what in told)
    assert any("128 × 96 now" in what for what in told)


# -- times ---------------------------------------------------------------------------------------------


def test_time_maps() -> None:
    half = Fraction(1, 2)
    cut = TimeMap(start=Fraction(2), end=Fraction(4), speed=half)
    assert (cut.length, cut.at(Fraction(1)), cut.at(Fraction(9))) == (4, Fraction(5, 2), 4)
    paused = TimeMap(pauses=(Pause(Fraction(1), Fraction(2)), Pause(Fraction(5), Fraction(1))))
    assert [paused.at(Fraction(t)) for t in (0, 1, 2, 3, 4, 5, 6, 7)] == [0, 1, 1, 1, 2, 3, 3, 4]
    segments = list(paused.segments(Fraction(0), Fraction(7)))
    assert [(s.begin, s.end, s.source) for s in segments] == [(0, 1, 0), (3, 5, 1), (6, 7, 3)]
    loop = TimeMap(end=Fraction(3, 2), loop=True)
    assert [(s.begin, s.source) for s in loop.segments(Fraction(1), Fraction(4))] == [
        (1, 1), (Fraction(3, 2), 0), (3, 0),
    ]  # fmt: skip
    assert list(cut.segments(Fraction(4), Fraction(9))) == []
    for wrong in (
        {"speed": Fraction(0)},
        {"loop": True},
        {"start": Fraction(2), "end": Fraction(1)},
    ):
        with pytest.raises(ParameterError):
            TimeMap(**wrong)  # type: ignore[arg-type]


def test_segments_and_at_say_the_same() -> None:
    random_ = random.Random(5)
    for _ in range(50):
        pauses = (Pause(Fraction(random_.randrange(4)), Fraction(random_.randrange(3))),)
        map_ = TimeMap(
            Fraction(random_.randrange(3)), Fraction(random_.randrange(4, 7)),
            Fraction(random_.randrange(1, 5), 2), random_.random() < 0.5, pauses,
        )  # fmt: skip
        for segment in map_.segments(Fraction(0), Fraction(12)):
            middle = (segment.begin + segment.end) / 2
            expected = segment.source + (middle - segment.begin) * segment.speed
            assert map_.at(middle) == expected


def test_a_file_with_sound_begins_with_its_first_frame(tmp_path: Path) -> None:
    path = write_clip(
        tmp_path / "clip.mkv",
        times=[Fraction(1, 2) + Fraction(n, 25) for n in range(20)],
        sounds=[Sound(seconds=1.0)],
    )
    with av.open(str(path)) as container:
        first = next(container.decode(video=0))
        start = first.pts * first.time_base
    film = FilmSource(video.Reader(path).place)
    assert film.zero == start > 0
    film.close()


def test_frames_are_free_again_without_the_collector(tmp_path: Path) -> None:
    """Else the decoder takes fresh memory for each of them."""
    path = write_clip(tmp_path / "film.mp4", frames=60, size=(64, 48))
    film = open_media(path)
    gc.collect()
    gc.disable()
    try:
        for number in range(60):
            film.frame_at(Fraction(number, 25))
        alive = sum(isinstance(thing, av.VideoFrame) for thing in gc.get_objects())
    finally:
        gc.enable()
        film.close()
    assert alive < 25
