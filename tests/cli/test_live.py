"""Live: what keys do, and that it comes to a real screen."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_clock import FakeClock
from processes import end_by, environment
from screen import SCREEN, virtual_screen

import dala
from dala import video
from dala.cli import live, main, sources
from dala.cli.live import STARTERS, Desk, Pace
from dala.cli.mistakes import UsageMistake
from dala.cli.overlay import draw_lines
from dala.cli.recording import recording
from dala.cli.sources import Clock, open_source
from dala.errors import ParameterError
from dala.media import Chain
from dala.video.library import load_av
from dala.video.opening import has_format
from dala.video.places import place_of

screen = pytest.fixture(virtual_screen)


def desk(tmp_path: Path) -> Desk:
    return Desk(Chain.of(["blur", "invert", "sepia"]).steps, all_on=True, stills=tmp_path / "s")


def names(desk: Desk) -> list[str]:
    return [step.name for step in desk.chain.steps]


def test_numbers_turn_filters_on_and_off(tmp_path: Path) -> None:
    d = desk(tmp_path)
    assert names(d) == ["blur", "invert", "sepia"]
    d.press("2")
    assert names(d) == ["blur", "sepia"]
    d.press("2")
    assert names(d) == ["blur", "invert", "sepia"]  # in its own place again
    d.press("0")
    assert names(d) == []
    d.press("9")  # there are only three
    d.press("F5")
    d.press("Shift")
    assert names(d) == []


def test_other_keys(tmp_path: Path) -> None:
    d = desk(tmp_path)
    for key, state in ((" ", "paused"), ("h", "helping"), ("s", "saving"), ("q", "quitting")):
        assert not getattr(d, state)
        d.press(key)
        assert getattr(d, state)
    d.press(" ")
    assert not d.paused
    assert "paused" not in d.title("test", 59.7)
    assert "60 fps" in d.title("test", 59.7)


def test_stills_never_replace_one_another(tmp_path: Path) -> None:
    d = desk(tmp_path)
    picture = np.full((4, 6, 4), 200, np.uint8)
    paths = [d.save_still(picture) for _ in range(3)]
    assert [p.name for p in paths] == [f"dala_still_00{n}.png" for n in (1, 2, 3)]
    assert not d.saving


def test_the_help_lists_what_is_on(tmp_path: Path) -> None:
    d = desk(tmp_path)
    d.press("2")
    lines = d.help_lines()
    assert lines[:3] == [("1", "blur", True), ("2", "invert", False), ("3", "sepia", True)]
    panel = draw_lines(lines, 640, 480)
    assert panel.shape[0] <= 480 and panel.shape[1] <= 640 and panel.shape[2] == 4
    assert (panel[..., :3].max(axis=(1, 2)) > 200).any()  # letters
    assert draw_lines(lines, 640, 480) is panel  # drawn once
    assert draw_lines(lines, 60, 40).shape[0] <= 40


def test_starters_are_filters_of_one_key_each() -> None:
    assert len(STARTERS) == 9
    assert [s.name for name in STARTERS for s in Chain.of(name).steps] == list(STARTERS)


def test_the_test_source_moves_at_its_own_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock().put_into(monkeypatch, sources)
    began = clock.now
    with dala.use("cpu"), open_source("test", (160, 90), "cpu") as pictures:
        seen = [p.copy() for p in itertools.islice(pictures, 13)]
        assert clock.now - began == pytest.approx(12 / 60)
        clock.now += 1  # whoever looks away misses what would have been shown
        late = next(pictures)
    assert seen[0].shape == (90, 160, 4)
    assert (seen[0] != seen[12]).any()
    assert (seen[12] != late).any()
    assert clock.now - began == pytest.approx(12 / 60 + 1)


def test_files_are_played_at_their_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    time = FakeClock().put_into(monkeypatch, sources)
    began = time.now
    clock = Clock()
    assert clock.wait_for(10.0)  # wherever a file begins
    assert time.now == began
    assert clock.wait_for(10.1)
    assert time.now == pytest.approx(began + 0.1)
    time.now += 0.25
    assert not clock.wait_for(10.14)  # 0.2 s late: passed over
    assert clock.wait_for(10.4)
    assert time.now == pytest.approx(began + 0.4)
    time.now += 0.7
    assert clock.wait_for(10.44)  # a pause: it goes on from there
    assert clock.wait_for(10.48)
    assert time.now == pytest.approx(began + 0.4 + 0.7 + 0.04)


def test_cameras_are_numbered() -> None:
    with pytest.raises(UsageMistake, match="a camera is camera or camera:N, got 'camera:front'"):
        open_source("camera:front", (8, 8), "cpu")


def test_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock().put_into(monkeypatch, live)
    pace = Pace()
    assert pace.fps == 0
    for _ in range(3):
        pace.tick()
        clock.now += 0.01
    assert pace.fps == pytest.approx(100)
    assert pace.frames == 3
    clock.now += 5
    for _ in range(3):
        pace.tick()
        clock.now += 0.1
    assert pace.fps == pytest.approx(10)  # of the last second alone
    assert pace.average == pytest.approx(6 / 5.33)


# -- on a screen ---------------------------------------------------------------------------------------


@pytest.mark.flaky(reruns=1)  # another process, which nobody here can hurry, looks after the screen
def test_it_comes_to_the_screen(screen: dict[str, str], tmp_path: Path) -> None:
    """Keys sent to the window, a still, a screenshot; then the window is told to quit."""
    script = """
        import itertools, os, sys, time
        from pathlib import Path
        import numpy as np
        import dala
        from dala.cli import live
        from screen import screenshot

        dala.use("cpu")
        shown = live.LiveWindow.show
        counts, limit = itertools.count(), time.monotonic() + 250
        keys = {5: "h", 6: "3"}

        def looks_right(shot):
            "Another process looks after the screen, in its own time."
            corner, rest = shot[:60, :60].astype(int), shot[100:250, 250:480].astype(int)
            letters = corner.max() > 200 and np.median(corner) < 100
            return letters and np.ptp(rest, axis=2).max() <= 2 and np.ptp(rest) > 100

        def show(stage, picture):
            number = next(counts)
            if number > 6 and len(keys) == 2:
                shot = screenshot(Path(os.environ["SCREEN_FILE"]))
                if looks_right(shot) or time.monotonic() > limit:
                    np.save(Path(sys.argv[1], "shot.npy"), shot)
                    keys.update({number + 3: "s", number + 9: "q"})
            if number in keys:
                event = {"event_type": "key_down", "key": keys[number], "modifiers": ()}
                stage.window.canvas.submit_event(event)
            return shown(stage, picture)

        live.LiveWindow.show = show
        live.run_live("test", (480, 270), [], frames=10**6, stills=Path(sys.argv[1]), device="cpu")
        print("it was told to quit")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
        env=environment(**screen), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "it was told to quit"
    assert (tmp_path / "dala_still_001.png").exists()
    shot = np.load(tmp_path / "shot.npy")[:270, :480].astype(int)
    corner, rest = shot[:60, :60], shot[100:250, 250:]
    assert corner.max() > 200 and np.median(corner) < 100  # light letters on a dark panel
    assert np.ptp(rest, axis=2).max() <= 2  # key 3: grayscale
    assert np.ptp(rest) > 100  # and yet a picture
    assert SCREEN[0] >= 480


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_ctrl_c_closes_the_window(screen: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "dala", "live", "--size", "320x180", "--device", "cpu"],
        env=environment(**screen), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()  # it runs, and would for ever
    _, errors = end_by(process, signal.SIGINT)
    assert process.returncode == 130
    assert errors == "dala: interrupted\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a screen")
def test_without_a_screen_one_line_says_so() -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-m", "dala", "live", "--frames", "3"],
        env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("dala live: there is no screen")
    assert done.stderr.count("\n") == 1


# -- values under keys, recordings, screens as sources ---------------------------------------------------


def test_keys_turn_the_values_of_every_filter(tmp_path: Path) -> None:
    d = Desk(
        Chain.of([("blur", {"radius": 3}), "invert", ("brightness", {"value": 0.0})]).steps,
        all_on=False,
        stills=tmp_path,
    )
    assert d.value == "blur radius=3"
    d.press("ArrowUp")
    assert d.steps[0].values["radius"] == 4
    assert d.on == [True, False, False]  # what is turned is seen
    for _ in range(9):
        d.press("-")
    assert d.steps[0].values["radius"] == 0  # its least
    d.press("Tab")
    assert d.value.startswith("brightness value=0")
    d.press("+")
    assert d.steps[2].values["value"] == pytest.approx(0.1)
    assert "brightness value=0.1" in d.title("test", 30)
    assert ("up/down", "turn it: brightness value=0.1", False) in d.help_lines()
    nothing = Desk(Chain.of(["invert"]).steps, all_on=True, stills=tmp_path)
    nothing.press("Tab")
    nothing.press("ArrowUp")
    assert nothing.value == ""


def test_what_is_shown_is_recorded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.mkv"
    with dala.use("cpu"):
        assert main(
            ["live", "--no-window", "--size", "64x48", "--frames", "5", "--record", str(target), "--invert"]
        ) == 0  # fmt: skip
    assert f"recorded {target}: 5 frames" in capfd.readouterr().out
    with video.Reader(target) as reader:
        frames = list(reader)
    assert len(frames) == 5 and (frames[0].width, frames[0].height) == (64, 48)
    times = [f.time for f in frames]
    assert times[0] == 0 and times == sorted(set(times))


def test_what_is_shown_is_sent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A server on this machine gets a stream that can be played."""
    got = tmp_path / "got.ts"
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            connection, _ = server.accept()
            with connection, got.open("wb") as file:
                while data := connection.recv(65536):
                    file.write(data)

        taking = threading.Thread(target=take)
        taking.start()
        url = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with dala.use("cpu"):
            arguments = ["live", "--no-window", "--size", "64x48", "--frames", "6", "--to", url]
            assert main(arguments) == 0
        taking.join(300)
        assert not taking.is_alive()
    assert f"sent to {url}: 6 frames" in capfd.readouterr().out
    with video.Reader(got) as reader:
        assert len(list(reader)) == 6


def test_a_recording_ends_where_the_size_changes(tmp_path: Path) -> None:
    target = tmp_path / "out.mkv"
    with recording([str(target)], 30) as recorder:
        recorder.write(np.zeros((16, 16, 4), np.uint8))
        recorder.write(np.zeros((16, 32, 4), np.uint8))
        recorder.write(np.zeros((16, 16, 4), np.uint8))
    with video.Reader(target) as reader:
        assert len(list(reader)) == 1

    def fail() -> None:
        with recording([str(tmp_path / "no.mkv")], 30) as recorder:
            recorder.write(np.zeros((16, 16, 4), np.uint8))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["out.mkv"]


def test_a_screen_is_a_source(screen: dict[str, str], tmp_path: Path) -> None:
    program = (
        "import dala; from dala import video; dala.use('cpu')\n"
        "with video.Reader('screen', size=(64, 32), fps=20) as reader:\n"
        "    frame = next(reader); print(frame.rgba.shape, reader.fps)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=screen, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout == "(32, 64, 4) 20\n", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="cameras of Linux are files")
def test_a_camera_is_asked_for_and_missed() -> None:
    """Its format has two names, and both mean it."""
    assert has_format("v4l2") and has_format("video4linux2") and not has_format("v4l")
    with pytest.raises(video.VideoError, match="there is no camera at /dev/video97; dala doctor"):
        video.Reader(97, size=(640, 480), fps=30)
    place = place_of(97, size=(640, 480), fps=29.97)
    assert place.options == {"video_size": "640x480", "framerate": "30000/1001"}
    with pytest.raises(ParameterError, match="size is what a camera or a screen is asked for"):
        video.Reader("clip.mp4", size=(640, 480))
    with pytest.raises(UsageMistake, match=r"clip.mp4 comes as it is"):
        open_source("clip.mp4", (8, 8), "cpu")


@pytest.fixture
def camera(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    """A camera that Video4Linux would open, with FFmpeg's test pattern before it; what it was asked for."""
    av, there = load_av(), os.path.exists
    really, asked = av.open, []

    def open_(what: Any, *args: Any, **words: Any) -> Any:
        if words.get("format") != "v4l2":
            return really(what, *args, **words)
        asked.append((what, words["options"]))
        size = words["options"].get("video_size", "48x32")
        return really(f"testsrc=size={size}:rate=30,realtime", format="lavfi")

    monkeypatch.setattr(av, "open", open_)
    monkeypatch.setattr(os.path, "exists", lambda p: str(p).startswith("/dev/video") or there(p))
    return asked


@pytest.mark.skipif(sys.platform != "linux", reason="cameras of Linux are files")
def test_a_camera_is_filtered_recorded_and_sent(
    camera: list[Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept, sent = tmp_path / "me.mp4", tmp_path / "sent.m3u8"
    words = ["live", "--source", "camera:1", "--size", "64x48", "--fps", "25", "--frames", "6"]
    with dala.use("cpu"):
        assert (
            main([*words, "--no-window", "--record", str(kept), "--to", str(sent), "--invert"]) == 0
        )
    assert camera == [("/dev/video1", {"video_size": "64x48", "framerate": "25/1"})]
    for made in (kept, next(tmp_path.glob("*.ts"))):
        with video.Reader(made, on_damage="conceal") as reader:
            frames = list(reader)
        assert len(frames) == 6 and (frames[0].width, frames[0].height) == (64, 48)
    said = capfd.readouterr().out
    assert f"recorded {kept}: 6 frames" in said and f"recorded {sent}: 6 frames" in said
    with video.Reader("testsrc=size=64x48:rate=30") as reader, video.Reader(kept) as shown:
        assert np.abs(255 - next(reader).rgb.astype(int) - next(shown).rgb).mean() < 12


@pytest.mark.skipif(sys.platform != "linux", reason="cameras of Linux are files")
@pytest.mark.parametrize("name", [0, "camera", "camera:0", "/dev/video0"])
def test_names_of_a_camera(name: Any, camera: list[Any]) -> None:
    with video.Reader(name, latest=True) as reader:
        assert next(reader).rgba.shape == (32, 48, 4)
    assert camera == [("/dev/video0", {})]
