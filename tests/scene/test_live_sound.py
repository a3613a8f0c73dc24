"""Sound that comes when it comes: heard at our pace, whatever its clock, its network or its decoder do."""

from __future__ import annotations

import sys
import threading
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import av
import numpy as np
import pytest
from clips import write_clip
from in_threads import wait_until as wait_for
from tracks import RATE, samples, write_counted

from dala import scene, video
from dala.errors import VideoError
from dala.scene import Canvas, Scene
from dala.scene.out import waiting
from dala.scene.sound.broadcast import BroadcastSound
from dala.scene.sound.files import SoundFile
from dala.scene.sound.live import MOST_WAITING, WAITING, Listener, LiveSound
from dala.scene.sources import LiveSource
from dala.scene.sources.ahead import Ahead
from dala.video.hearing import Hearing
from dala.video.samples import Samples

PACKET = 1_024


def tone(begin: int, count: int) -> Any:
    wave = 0.5 * np.sin(2 * np.pi * 440 * np.arange(begin, begin + count) / RATE)
    return np.stack([wave, wave], 1).astype(np.float32)


def numbered(begin: int, count: int) -> Any:
    """Sample n is n / 2²⁴: exact in 24 bits."""
    wave = np.arange(begin, begin + count) / (1 << 24)
    return np.stack([wave, wave], 1).astype(np.float32)


def run(listener: Listener, seconds: float, clock: float, make: Any = tone, fps: int = 30) -> Any:
    """What is heard while packets come by a clock that is so much faster than ours."""
    sent, heard, waited = 0, [], []
    for number in range(int(seconds * fps)):
        due = (number + 1) / fps * RATE * clock
        while sent + PACKET <= due:
            listener.push(make(sent, PACKET))
            sent += PACKET
        heard.append(listener.read(RATE // fps))
        waited.append(listener.stats.waiting_ms)
    return np.concatenate(heard), waited


def test_with_one_clock_every_sample_is_heard_as_it_came() -> None:
    listener = Listener("camera")
    heard, waited = run(listener, 20, 1.0, numbered)
    begins = int(np.flatnonzero(heard[:, 0])[0])
    assert begins < 2 * WAITING
    assert np.array_equal(np.diff(heard[begins:, 0] * (1 << 24)), np.ones(len(heard) - begins - 1))
    stats = listener.stats
    assert (stats.source, stats.drift, stats.dropped_ms) == ("camera", 0.0, 0.0)
    assert 50 < min(waited[30:]) <= max(waited) < 200


@pytest.mark.parametrize("clock", [0.97, 0.995, 0.9999, 1.0001, 1.005, 1.03])
def test_a_clock_that_differs_is_followed_without_a_click(clock: float) -> None:
    listener = Listener("camera")
    heard, waited = run(listener, 60, clock)
    stats = listener.stats
    assert abs(stats.drift - (clock - 1)) < 0.1 * abs(clock - 1) + 0.0002
    assert stats.dropped_ms == 0
    assert 10 < min(waited[60:]) <= max(waited) < 200
    begins = int(np.flatnonzero(heard[:, 0])[0])
    assert stats.silent_ms <= begins / RATE * 1000 + 1  # none after it began
    bend = np.abs(np.diff(heard[begins + RATE :, 0], 2)).max()
    smooth = 0.5 * (2 * np.pi * 440 * 1.05 / RATE) ** 2
    assert bend < 1.5 * smooth


def test_what_stalls_is_silent_and_what_is_too_much_is_passed_over() -> None:
    listener = Listener("camera")
    assert not listener.read(PACKET).any() and listener.stats.silent_ms == 0  # it has not begun
    listener.push(tone(0, 2 * WAITING))
    assert listener.read(WAITING).any()
    for _ in range(20):
        last = listener.read(PACKET)
    assert not last.any() and listener.stats.silent_ms > 100
    listener.push(tone(0, 4 * RATE))
    assert listener.read(PACKET).any()
    assert (
        MOST_WAITING < RATE and listener.stats.dropped_ms > 2000 and listener.stats.waiting_ms < 110
    )


def test_all_who_listen_hear_it_at_their_own_pace() -> None:
    sound = LiveSound("camera")
    assert not sound.wanted
    sound.take(tone(0, PACKET))
    one, other = sound.listen(), sound.listen()
    assert sound.wanted
    sound.take(tone(0, 2 * WAITING))
    one.read(WAITING)
    assert np.array_equal(other.read(WAITING), tone(0, WAITING))
    del one, other
    assert not sound.wanted


@pytest.mark.parametrize("what", ["take", "begin_anew"])
def test_another_thread_may_listen_while_it_comes(what: str) -> None:
    """Somebody does at every line that is run, as another thread may."""
    sound = LiveSound("camera")
    held = [sound.listen()]
    before = sys.gettrace()

    def interrupt(frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            held.append(sound.listen())
        return interrupt

    sys.settrace(interrupt)
    try:
        if what == "take":
            sound.take(tone(0, 2 * WAITING))
        else:
            sound.begin_anew()
    finally:
        sys.settrace(before)
    assert len(held) > 2 and sound.wanted
    if what == "take":
        assert np.array_equal(held[0].read(WAITING), tone(0, WAITING))
    later = tone(WAITING, 2 * WAITING)
    sound.take(later)
    assert np.array_equal(held[-1].read(WAITING), later[:WAITING])


def test_a_connection_that_cannot_be_heard_is_closed() -> None:
    """It is lost, and opened again."""
    opened: list[Any] = []
    closed = threading.Event()

    class Deaf:
        def __init__(self) -> None:
            opened.append(self)

        def hear(self, ear: Any) -> None:
            raise VideoError("camera: its sound cannot be had")

        def close(self) -> None:
            closed.set()

    source = LiveSource(Deaf, "camera", pauses_s=(0.001,))  # type: ignore[arg-type]
    try:
        wait_for(lambda: len(opened) > 1)
        assert closed.is_set()
    finally:
        source.close()


# -- as it is decoded ------------------------------------------------------------------------------------


class Track:
    """A source with one track of sound, which is decoded already: a packet is its frames."""

    def __init__(self) -> None:
        context = SimpleNamespace(decode=lambda frames: frames)
        audio = [SimpleNamespace(codec_context=context)]
        self.container = SimpleNamespace(streams=SimpleNamespace(audio=audio))


class Ear:
    wanted = True

    def __init__(self) -> None:
        self.pieces: list[Any] = []
        self.told: list[str] = []

    def take(self, waves: Any) -> None:
        self.pieces.append(waves)

    def tell(self, what: str) -> None:
        self.told.append(what)


Form = tuple[str, str, int]  # of samples, of channels, how many a second


def second(form: Form, level: float) -> list[av.AudioFrame]:
    """One of it, in ten frames."""
    kind, layout, rate = form
    channels = 1 if layout == "mono" else 2
    shape = (channels, rate // 10) if kind == "fltp" else (1, channels * rate // 10)
    frames = []
    for _ in range(10):
        frame = av.AudioFrame.from_ndarray(np.full(shape, level, np.float32), kind, layout)
        frame.sample_rate = rate
        frames.append(frame)
    return frames


def resampled(frames: list[av.AudioFrame]) -> Any:
    """All of them, to the last sample."""
    resampler = av.AudioResampler("flt", "stereo", RATE)
    pieces = [piece for frame in [*frames, None] for piece in resampler.resample(frame)]
    return np.concatenate([piece.to_ndarray().reshape(-1, 2) for piece in pieces])


STEREO: list[Form] = [("fltp", "stereo", RATE), ("flt", "stereo", RATE), ("fltp", "stereo", 44_100)]
OTHERS: list[Form] = [("fltp", "mono", RATE), ("flt", "mono", RATE), ("fltp", "stereo", 32_000)]


@pytest.mark.parametrize("after", OTHERS, ids=str)
@pytest.mark.parametrize("before", STEREO, ids=str)
def test_a_track_that_changes_its_format_is_heard_on(before: Form, after: Form) -> None:
    """As in a programme whose film is followed by the news; not a sample of it is lost."""
    ear = Ear()
    hearing = Hearing(cast("Any", Track()), ear)
    hearing.hear([second(before, 0.25), second(after, 0.5), second(before, 0.25)])
    heard = np.concatenate(ear.pieces)
    first_two = np.concatenate([resampled(second(before, 0.25)), resampled(second(after, 0.5))])
    assert ear.told == [] and len(heard) > len(first_two) > 1.99 * RATE
    assert np.array_equal(heard[: len(first_two)], first_two)


# -- in a scene ------------------------------------------------------------------------------------------


class Camera:
    """A live source made by hand: a picture that stands, and its sound."""

    size, duration = (8, 8), None

    def __init__(self) -> None:
        self.sound = LiveSound("camera")
        self._picture = scene.Scene(8, 8, background="red").render(0.0).to_array()

    def frame_at(self, time: Fraction) -> Any:
        from dala.scene.layers import Rgba

        return Rgba(self._picture, True, "camera")

    def close(self) -> None:
        pass


def constant(level: float, count: int = RATE) -> Any:
    return np.full((count, 2), level, np.float32)


def test_a_live_source_is_mixed_as_its_node_says() -> None:
    told: list[Any] = []
    camera = Camera()
    with Scene(8, 8) as stage:
        node = stage.add_video(camera, volume=0.5, pan=1, start=1.0, end=2.0)
        sound = BroadcastSound(stage, lambda *said: told.append(said))
        assert not sound.mix(0, PACKET).any()
        assert camera.sound.wanted and len(sound.stats) == 1
        camera.sound.take(constant(0.5, RATE // 2))
        heard = sound.mix(RATE - 480, RATE + 480)
        assert not heard[:480].any()
        assert np.allclose(heard[480:, 1], 0.25 * np.sqrt(2), atol=1e-6)
        assert np.abs(heard[480:, 0]).max() < 1e-6
        stage.update_node(node, mute=True)
        assert not sound.mix(RATE + 480, RATE + 960).any()
        stage.update_node(node, mute=False, volume=8, pan=0)
        camera.sound.take(constant(0.5, RATE // 4))
        loud = sound.mix(RATE + 960, RATE + 1_440)
        assert np.abs(loud).max() <= 1.0 and np.abs(loud).max() > 0.9  # the limiter
        stage.remove_node(node)
        assert not sound.mix(RATE + 1_440, RATE + 1_920).any() and sound.stats == ()
        assert not camera.sound.wanted
        sound.close()
    assert told == []


def test_what_was_heard_live_is_not_after_closing() -> None:
    """How it went is known still."""
    camera = Camera()
    with Scene(8, 8) as stage:
        stage.add_video(camera)
        sound = BroadcastSound(stage, lambda *said: None)
        sound.mix(0, PACKET)
        camera.sound.take(constant(0.5, RATE // 2))
        sound.mix(PACKET, 2 * PACKET)
        before = sound.stats
        sound.close()
        assert not camera.sound.wanted
        sound.close()
    assert sound.stats == before and before[0].waiting_ms > 0


def test_who_speaks_live_turns_the_others_down_and_up_again() -> None:
    camera = Camera()
    with Scene(8, 8) as stage:
        stage.add_video(camera, duck=0.75)
        stage.add_audio(constant(0.5, 5 * RATE))
        sound = BroadcastSound(stage, lambda *said: None)
        assert np.allclose(sound.mix(0, 1_600), 0.5)
        camera.sound.take(constant(0.25, RATE * 3 // 10))
        heard = np.concatenate([sound.mix(n * 1_600, (n + 1) * 1_600) for n in range(1, 60)])
        camera.sound.take(constant(0.0, RATE * 3 // 10))
        after = np.concatenate([sound.mix(n * 1_600, (n + 1) * 1_600) for n in range(60, 90)])
        sound.close()
    assert np.isclose(heard[12_000, 0], 0.25 + 0.125)  # the music at a quarter below the voice
    assert np.isclose(after[-1, 0], 0.5)
    assert np.abs(np.diff(heard[:12_000, 0])).max() < 0.3  # it is the voice that begins at once


def test_a_stream_is_heard_in_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures and sound of one connection; when it ends it is opened again."""
    film = write_counted(tmp_path / "film.mkv", frames=20)
    loud = threading.Event()
    write = Samples.write

    def listening(track: Samples, waves: Any, rate: object) -> None:
        if np.abs(waves).max(initial=0.0) > 0.1:
            loud.set()
        write(track, waves, rate)

    monkeypatch.setattr(Samples, "write", listening)
    out = tmp_path / "record.mkv"
    source = LiveSource(lambda: video.Reader(film), "camera", pauses_s=(0.05,))
    with Scene(32, 16, target_fps=25) as stage:
        stage.add_video(source, size=(32, 16))
        live = scene.stream(stage, out, block=False, audio_codec="flac", preset="ultrafast")
        try:
            wait_for(loud.is_set)
        finally:
            live.close()
        (stats,) = live.stats.sounds
        assert stats.source == "camera"
        assert not source.sound.wanted
    source.close()
    heard = samples(out)
    begins = int(np.flatnonzero(np.abs(heard) > 3_000)[0])
    steps = np.diff(
        heard[begins : begins + 400]
    )  # they come too fast, and are played a little faster
    assert set(steps) <= {1, 2} and steps.mean() < 1.05


def test_sound_that_cannot_be_decoded_is_silent_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pictures of the same connection go on."""
    film = write_counted(tmp_path / "film.mkv", frames=20)

    def broken(hearing: Hearing, frame: Any) -> None:
        raise av.error.InvalidDataError(1, "no sound of this world")

    monkeypatch.setattr(Hearing, "_hand_over", broken)
    source = LiveSource(lambda: video.Reader(film), "camera", pauses_s=(0.05,))
    told: list[Any] = []
    with Scene(32, 16, target_fps=25) as stage:
        stage.add_video(source, size=(32, 16))
        live = scene.stream(
            stage, tmp_path / "live.m3u8", block=False, preset="ultrafast", on_report=told.append
        )
        said = source._state._supply.reports
        wait_for(lambda: any("a part of its sound cannot be decoded" in one.what for one in said))
        before = source.frames, live.stats.frames
        wait_for(lambda: source.frames > before[0] and live.stats.frames > before[1] + 3)
        live.close()
        live.wait()  # nothing ended it
    source.close()


@pytest.mark.parametrize("when", ["opening", "reading"])
def test_a_sound_that_fails_does_not_end_the_broadcast(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is silent and told once; what else there is to hear goes on."""
    film = write_counted(tmp_path / "film.mkv", frames=200)
    broken = threading.Event()
    given = SoundFile.samples

    def failing(sound: SoundFile, begin: int, end: int) -> Any:
        if broken.is_set():
            raise VideoError("film.mkv: the disk is gone")
        return given(sound, begin, end)

    monkeypatch.setattr(SoundFile, "samples", failing)
    told: list[Any] = []
    with Scene(32, 16, target_fps=25) as stage:
        if when == "opening":
            stage.add_audio(str(tmp_path / "missing.wav"), name="music")
        else:
            stage.add_audio(str(film), name="music")
        stage.add_audio(constant(0.25, 500 * RATE))
        live = scene.stream(
            stage, tmp_path / "record.mkv", block=False, preset="ultrafast", audio_codec="flac",
            on_report=told.append,
        )  # fmt: skip
        wait_for(lambda: live.stats.frames > 3)
        broken.set()
        wait_for(lambda: told)
        before = live.stats.frames
        wait_for(lambda: live.stats.frames > before + 10)
        live.close()
        live.wait()
    assert [(report.source) for report in told] == ["music"]
    assert ("the disk is gone" in told[0].what) == (when == "reading")
    assert abs(samples(tmp_path / "record.mkv")[-100:] - 8_192).max() <= 1


def test_a_canvas_forgives_what_its_scene_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = threading.Event()
    frame_at = Ahead.frame_at

    def failing(ahead: Ahead, at: Fraction) -> Any:
        if broken.is_set():
            raise VideoError("clip.mp4: the disk is gone")
        return frame_at(ahead, at)

    monkeypatch.setattr(Ahead, "frame_at", failing)
    monkeypatch.setattr(waiting, "MOST_PICTURES", 10_000)
    told: list[Any] = []
    with Scene(64, 48, target_fps=25) as stage:
        stage.add_video(write_clip(tmp_path / "clip.mp4", frames=500), size=(32, 48))
        stage.animate(
            stage.add_shape(size=(8, 8)), "position", to=(56, 40), duration_ms=20_000, at=0.0
        )
        live = scene.stream(
            Canvas(stage, 48, 64), tmp_path / "live.m3u8", block=False, preset="ultrafast",
            on_report=told.append,
        )  # fmt: skip
        wait_for(lambda: live.stats.frames > 3)
        broken.set()
        wait_for(lambda: told)
        painted = live._painter.repeated
        before = live.stats.frames
        wait_for(lambda: live.stats.frames > before + 5)
        assert live._painter.repeated == painted  # the rest of the scene moves on
        live.close()
        live.wait()
    assert [report.what for report in told] == ["clip.mp4: the disk is gone"]
    assert live.reports[0].what == "clip.mp4: the disk is gone"
