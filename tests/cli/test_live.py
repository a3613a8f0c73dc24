"""Live: what keys do, and that it comes to a real screen."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from fake_clock import FakeClock
from processes import end_by, environment
from screen import SCREEN, virtual_screen

import dala
from dala.cli import live, sources
from dala.cli.live import STARTERS, Desk, Pace
from dala.cli.mistakes import UsageMistake
from dala.cli.overlay import draw_lines
from dala.cli.sources import Clock, open_source
from dala.media import Chain

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
        shown = live.Stage.show
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

        live.Stage.show = show
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
