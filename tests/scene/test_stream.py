"""Streams: a scene goes out live, whatever happens to its sources and servers."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from clips import frame_times, write_clip

from dala import scene, video
from dala.errors import ParameterError, VideoError
from dala.scene.sources import LiveSource, Supply


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
