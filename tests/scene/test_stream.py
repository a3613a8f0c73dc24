"""Streams: a scene goes out live, whatever happens to its sources and servers."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest
from clips import frame_times, write_clip

from dala import scene, video
from dala.errors import ParameterError, VideoError
from dala.scene.out import broadcast, waiting
from dala.scene.out.frames import FramePainter
from dala.scene.sources import LiveSource, Supply
from dala.scene.sources.ahead import Ahead
from dala.scene.sources.source import Report
from dala.video.codecs import choose_encoder
from dala.video.color import usual_color
from dala.video.encoder import Encoder
from dala.video.samples import Samples
from dala.video.targets import LISTED


def moving_scene() -> scene.Scene:
    stage = scene.Scene(64, 48, background="navy", target_fps=25)
    node = stage.add_shape(size=(16, 16), fill="gold")
    stage.animate(node, "position", to=(40, 30), duration_ms=2000)
    return stage


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert condition()


def test_hls_into_a_folder_and_a_recording(tmp_path: Path) -> None:
    with moving_scene() as stage:
        live = scene.stream(
            stage,
            tmp_path / "live.m3u8",
            record=tmp_path / "record.mp4",
            end=1.0,
            preset="ultrafast",
        )
    stats = live.stats
    assert stats.frames + stats.left_out == 25
    playlist = (tmp_path / "live.m3u8").read_text()
    assert "#EXTM3U" in playlist and list(tmp_path.glob("*.ts"))
    times = frame_times(tmp_path / "record.mp4")
    assert len(times) == stats.frames and set(times) <= {Fraction(n, 25) for n in range(25)}
    with av.open(str(tmp_path / "record.mp4")) as container:
        assert [s.type for s in container.streams] == ["video", "audio"]


def test_time_begins_with_the_first_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it compiles takes seconds: those are not left out."""
    now, paint, calls = [100.0], FramePainter.paint, 0

    def slow(self: FramePainter, composition: Any) -> Any:
        nonlocal calls
        now[0] += 0.0 if calls else 7.0
        calls += 1
        return paint(self, composition)

    def wait(self: Any, due: float) -> None:
        now[0] = max(now[0], due)

    monkeypatch.setattr(broadcast, "machine", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(broadcast.Broadcast, "_wait_until", wait)
    monkeypatch.setattr(FramePainter, "paint", slow)
    with moving_scene() as stage:
        live = scene.stream(stage, tmp_path / "live.m3u8", end=0.4, preset="ultrafast")
    stats = live.stats
    assert (stats.frames, stats.left_out, stats.late, stats.worst_ms) == (10, 0, 0, 0.0)


def test_who_gets_a_turn_some_milliseconds_late_is_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread of Python's keeps the interpreter for 5 ms; what comes later than that is counted."""
    now, hinders = [100.0], [0.005] * 9 + [0.009]

    def wait(self: Any, due: float) -> None:
        now[0] = max(now[0], due) + hinders.pop(0)

    monkeypatch.setattr(broadcast, "machine", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(broadcast.Broadcast, "_wait_until", wait)
    with moving_scene() as stage:
        live = scene.stream(stage, tmp_path / "live.m3u8", end=0.4, preset="ultrafast")
    stats = live.stats
    assert (stats.frames, stats.left_out, stats.late) == (10, 0, 1)
    assert stats.worst_ms == pytest.approx(9.0 - 1000 * broadcast.LEAD_S)


@pytest.mark.parametrize("keep", [False, True])
def test_a_list_of_hls_is_live_or_keeps_all(keep: bool, tmp_path: Path) -> None:
    with moving_scene() as stage:
        scene.stream(
            stage, tmp_path / "live.m3u8", record=tmp_path / "all.m3u8", end=0.2,
            preset="ultrafast", keep_segments=keep,
        )  # fmt: skip
    assert ("PLAYLIST-TYPE:EVENT" in (tmp_path / "live.m3u8").read_text()) is keep
    assert "PLAYLIST-TYPE:EVENT" in (tmp_path / "all.m3u8").read_text()


@pytest.mark.parametrize("rolling", [False, True])
def test_old_segments_of_a_live_list_are_deleted(rolling: bool, tmp_path: Path) -> None:
    """A minute and a half in segments of two seconds, as fast as it can be written."""
    settings = choose_encoder(
        tmp_path / "live.m3u8", video.Encoding(preset="ultrafast", options={"g": "2"})
    )
    settings = replace(settings, target=replace(settings.target, rolling=rolling))
    second = Fraction(1)
    encoder = Encoder(
        settings, width=64, height=48, color=usual_color(64, 48), time_base=second, fps=second
    )
    encoder.sink.container.start_encoding()
    with encoder.sink.writing:
        for number in range(90):
            encoder.encode(np.full((72, 64), number, np.uint8), number, 1)
        encoder.finish()
    told = (tmp_path / "live.m3u8").read_text()
    listed = re.findall(r"live\d+\.ts", told)
    seconds = sum(map(float, re.findall(r"#EXTINF:([\d.]+)", told)))
    there = sorted(path.name for path in tmp_path.glob("*.ts"))
    if rolling:
        assert len(listed) == LISTED and LISTED < len(there) <= 2 * LISTED + 1
        assert set(listed) <= set(there) and seconds == 2 * LISTED
    else:
        assert sorted(listed) == there and seconds == 90


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


SERVER = """
import sys, av
with av.open(sys.argv[1], options={"listen": "1"}, timeout=60) as container:
    seen = 0
    try:
        for _ in container.decode(video=0):
            seen += 1
    except OSError:  # the client has gone: so ends a listening server of FFmpeg's
        pass
    print(seen)
"""


def test_rtmp_to_a_server() -> None:
    """FFmpeg as a server that listens, in a process of its own: it counts the frames that come."""
    url = f"rtmp://127.0.0.1:{free_port()}/live/test"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, url], stdout=subprocess.PIPE, text=True
    )
    try:
        with moving_scene() as stage:
            deadline = time.monotonic() + 60
            while True:  # the server listens a moment after its process began
                try:
                    live = scene.stream(stage, url, end=2.0, block=False, preset="ultrafast")
                    break
                except VideoError:
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
            live.wait()
            stats = live.stats
        seen, _ = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert stats.unsent == 0
    assert int(seen) >= stats.frames - 2 > 0


def test_the_scene_goes_on_when_a_source_is_pulled_out(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", frames=5)
    pulled: list[bool] = []

    def camera() -> video.Reader:
        if pulled:
            raise VideoError("camera 7: there is no camera")
        return video.Reader(clip)

    supply = Supply()
    source = LiveSource(camera, "camera 7", supply, pauses_s=(0.01,))
    with moving_scene() as stage:
        stage.add_video(source, size=(32, 24))
        live = scene.stream(stage, tmp_path / "live.m3u8", block=False, preset="ultrafast")
        wait_for(lambda: live.stats.frames > 3 and source.frames > 3)
        pulled.append(True)
        wait_for(lambda: any("no camera" in report.what for report in supply.reports))
        before = live.stats.frames
        node = stage.add_text("still here", font_size=10)
        wait_for(lambda: live.stats.frames > before + 3)
        stage.remove_node(node)
        live.close()
        live.close()
    source.close()
    assert live.closed and live.stats.unsent == 0


EVERY = 4_800  # samples from click to click; click n, counted from 1, is n / 1000 loud


def clicks(count: int) -> Any:
    waves = np.zeros((count * EVERY, 2), np.float32)
    waves[::EVERY] = np.arange(1, count + 1)[:, None] / 1000
    return waves


def clicks_in(path: Path) -> dict[int, int]:
    """The clicks of a file: sample → number."""
    found = {}
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            assert frame.pts is not None and frame.time_base is not None
            left = frame.to_ndarray().reshape(-1, 2)[:, 0] / 32768
            first = round(frame.pts * frame.time_base * 48_000)
            found.update({first + int(n): round(left[n] * 1000) for n in left.nonzero()[0]})
    return found


@pytest.mark.parametrize("room", [60 * 48_000, 2 * EVERY], ids=["much room", "little room"])
def test_sound_stands_at_its_time_when_pictures_are_dropped(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output takes its first picture only when many behind it were dropped."""
    monkeypatch.setattr(waiting, "MOST_PICTURES", 3)
    monkeypatch.setattr(waiting, "MOST_SAMPLES", room)
    dropped = threading.Event()
    encode, write = Encoder.encode, Samples.write
    loudest = [0.0]

    def slow(encoder: Encoder, *given: Any) -> None:
        assert dropped.wait(60)
        encode(encoder, *given)

    def listening(track: Samples, waves: Any, rate: object) -> None:
        write(track, waves, rate)
        loudest.append(waves.max(initial=0.0) * 1000)

    monkeypatch.setattr(Encoder, "encode", slow)
    monkeypatch.setattr(Samples, "write", listening)
    path = tmp_path / "record.mkv"
    with moving_scene() as stage:
        stage.add_audio(clicks(2_000))
        live = scene.stream(stage, path, block=False, audio_codec="flac", preset="ultrafast")
        try:
            wait_for(lambda: live.stats.unsent > 20)
            dropped.set()
            passed = live.stats.frames + live.stats.left_out
            later = passed * 1_920 // EVERY + 3  # a click that does not wait by now
            wait_for(lambda: max(loudest) > later)
        finally:
            dropped.set()
            live.close()
    stats, heard = live.stats, clicks_in(path)
    assert len(frame_times(path)) == stats.frames - stats.unsent
    assert heard == {(number - 1) * EVERY: number for number in heard.values()}
    missing = set(range(1, max(heard.values()) + 1)) - set(heard.values())
    assert bool(missing) == (room == 2 * EVERY)
    assert max(heard.values()) > later


def test_errors_come_at_once(tmp_path: Path) -> None:
    with moving_scene() as stage:
        with pytest.raises(VideoError):
            scene.stream(stage, f"rtmp://127.0.0.1:{free_port()}/live/none", end=1.0)
        with pytest.raises(VideoError):
            scene.stream(stage, tmp_path / "missing" / "record.mp4", end=1.0)
        with pytest.raises(ParameterError, match="an end after it"):
            scene.stream(stage, tmp_path / "x.m3u8", end=0)
        with pytest.raises(ParameterError, match="audio is"):
            scene.stream(stage, tmp_path / "x.m3u8", audio="loud")  # type: ignore[arg-type]


def test_a_scene_that_fails_keeps_its_last_frame(tmp_path: Path) -> None:
    """A scene that fails goes on with its last frame and says so."""
    broken: list[bool] = []

    def make(at: Fraction) -> object:
        if broken:
            raise VideoError("the function failed")
        return np.zeros((8, 8, 3), np.uint8)

    with moving_scene() as stage:
        stage.add_video(make, size=(8, 8))
        live = scene.stream(stage, tmp_path / "live.m3u8", block=False, preset="ultrafast")
        wait_for(lambda: live.stats.frames > 2)
        broken.append(True)
        wait_for(lambda: live.reports)
        before = live.stats.frames
        wait_for(lambda: live.stats.frames > before + 2)
        live.close()
    assert "the function failed" in live.reports[0].what


def test_a_film_that_fails_keeps_its_last_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The film stands still, the rest of the scene goes on, and all who send it out are told once."""
    broken = threading.Event()
    frame_at = Ahead.frame_at

    def failing(ahead: Ahead, at: Fraction) -> Any:
        if broken.is_set():
            raise VideoError("clip.mp4: the disk is gone")
        return frame_at(ahead, at)

    monkeypatch.setattr(Ahead, "frame_at", failing)
    monkeypatch.setattr(waiting, "MOST_PICTURES", 10_000)  # a busy machine drops none
    clip, path = write_clip(tmp_path / "clip.mp4", frames=50), tmp_path / "record.mkv"
    told: list[Report] = []
    with scene.Scene(64, 48, target_fps=25) as stage:
        stage.add_video(clip, size=(32, 48))
        stage.add_video(
            lambda at: np.full((8, 8, 3), int(at * 25) % 256, np.uint8),
            size=(8, 8),
            position=(48, 0),
        )
        short = scene.stream(stage, tmp_path / "short.mkv", block=False, preset="ultrafast")
        live = scene.stream(
            stage, path, block=False, crf=0, preset="ultrafast", on_report=told.append
        )
        wait_for(lambda: live.stats.frames > 5 and short.stats.frames > 0)
        short.close()  # the other is live still
        broken.set()
        wait_for(lambda: told)
        before = live.stats.frames
        wait_for(lambda: live.stats.frames > before + 5)
        live.close()
        live.wait()
    assert [report.what for report in told] == ["clip.mp4: the disk is gone"]
    assert told == [report for report in live.reports if report.source == told[0].source]
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    first, earlier, last = frames[0], frames[-5], frames[-1]
    assert np.array_equal(earlier[:, :32], last[:, :32])
    assert not np.array_equal(first[:, :32], last[:, :32])
    assert not np.array_equal(earlier[:8, 48:56], last[:8, 48:56])
