"""``dala live``: a source, filters that keys turn on and off, a window.

    source → frame pipeline (the filters that are on, fused) → surface → window

``Desk`` is all that keys change and knows no window; ``LiveWindow`` is the window.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from dala import gpu
from dala.cli.knobs import knobs_of, shown, turned
from dala.cli.mistakes import Failed
from dala.cli.overlay import draw_lines
from dala.cli.recording import Recorder, recording
from dala.cli.screen import say
from dala.cli.sources import Array, Pictures, open_source
from dala.errors import UnsupportedError
from dala.gpu.picture_file import save_picture
from dala.media import Chain, FramePipeline, Step, start_pipeline
from dala.media.timed import chain_at

OVERLAY = 1  # the surface's number for the picture of the help
TITLE_S, PAUSED_S = 0.5, 0.02  # between new titles; between looks at the keys
STARTERS = ("blur", "sharpen", "grayscale", "sepia", "edge_detect", "pixelate", "posterize", "vignette", "invert")  # fmt: skip  # noqa: E501
KEYS = (
    ("1-9", "a filter on or off"),
    ("0", "all of them off"),
    ("tab", "the next value"),
    ("up/down", "turn it"),
    ("space", "pause"),
    ("s", "save a still"),
    ("h", "this help"),
    ("q", "quit"),
)


class Desk:
    """What the keys have set."""

    def __init__(self, steps: Sequence[Step], *, all_on: bool, stills: Path) -> None:
        self.steps = list(steps)
        self.on = [all_on] * len(self.steps)
        self.paused = False
        self.helping = False
        self.quitting = False
        self.interrupted = False
        self.stills = stills
        self.saving = False
        self.turning = 0  # which of the values the arrows change

    @property
    def chain(self) -> Chain:
        """The filters that are on, in order."""
        return Chain([s for s, on in zip(self.steps, self.on, strict=True) if on])

    def press(self, key: str) -> None:
        """A key was pressed; unknown ones do nothing."""
        if key.isdecimal() and len(key) == 1:
            number = int(key)
            if number == 0:
                self.on = [False] * len(self.on)
            elif number <= len(self.on):
                self.on[number - 1] = not self.on[number - 1]
        elif key in ("Tab", "ArrowUp", "ArrowDown", "+", "=", "-"):
            self._turn(key)
        elif key == " ":
            self.paused = not self.paused
        elif key in ("h", "H", "?"):
            self.helping = not self.helping
        elif key in ("s", "S"):
            self.saving = True
        elif key in ("q", "Q", "Escape"):
            self.quitting = True

    def _turn(self, key: str) -> None:
        knobs = knobs_of(self.steps)
        if not knobs:
            return
        if key == "Tab":
            self.turning = (self.turning + 1) % len(knobs)
            return
        number, param = knobs[self.turning % len(knobs)]
        by = 1 if key in ("ArrowUp", "+", "=") else -1
        self.steps[number] = turned(self.steps[number], param, by)
        self.on[number] = True

    @property
    def value(self) -> str:
        """The value under the arrows: ``blur radius=3``; empty if there is none."""
        knobs = knobs_of(self.steps)
        if not knobs:
            return ""
        number, param = knobs[self.turning % len(knobs)]
        return shown(self.steps[number], param)

    def title(self, source: str, fps: float) -> str:
        """For the window."""
        names = " → ".join(s.name for s in self.chain.steps) or "no filter"
        state = "paused" if self.paused else f"{fps:.0f} fps"
        value = f"{self.value} — " if self.value else ""
        return f"dala live — {source} — {names} — {value}{state} — h for help"

    def help_lines(self) -> list[tuple[str, str, bool]]:
        """Key, meaning, and whether it is on: the overlay."""
        filters = [
            (str(n), repr(s), on)
            for n, (s, on) in enumerate(zip(self.steps, self.on, strict=True), 1)
            if n <= 9
        ]
        keys = [
            (key, f"{meaning}: {self.value}" if key == "up/down" else meaning)
            for key, meaning in KEYS
        ]
        return [*filters, *((key, meaning, False) for key, meaning in keys[1:])]

    def save_still(self, picture: Array) -> Path:
        """Write the picture under the next free name."""
        self.saving = False
        self.stills.mkdir(parents=True, exist_ok=True)
        number = 1
        while (path := self.stills / f"dala_still_{number:03}.png").exists():
            number += 1
        save_picture(picture, path, 95)
        return path


class Pace:
    """Frames per second over the last second."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self._started = time.perf_counter()
        self.frames = 0

    @property
    def average(self) -> float:
        """Since the beginning."""
        return self.frames / max(time.perf_counter() - self._started, 1e-9)

    def tick(self) -> None:
        """A frame was shown."""
        now = time.perf_counter()
        self.frames += 1
        self._times.append(now)
        while self._times[0] < now - 1:
            self._times.popleft()

    @property
    def fps(self) -> float:
        """Measured, 0 at the beginning."""
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(self._times[-1] - self._times[0], 1e-9)


def run_live(
    source: str,
    size: tuple[int, int] | None,
    steps: Sequence[Step],
    *,
    frames: int | None,
    stills: Path,
    device: str,
    fps: float | None = None,
    outputs: Sequence[str] = (),
    window: bool = True,
) -> None:
    """Show the source until the window is closed, the source ends, or ``frames`` are shown.

    ``outputs`` are files and servers that get what is shown; without a ``window`` nothing else does.
    """
    if window:
        _require_screen()
    filters = list(steps) or [s for name in STARTERS for s in Chain.of(name).steps]
    desk = Desk(filters, all_on=bool(steps), stills=stills)
    asked = open_source(source, size, device, fps)
    with asked as pictures, _asking_to_stop(desk), recording(outputs, fps or 30) as recorder:
        first = next(pictures, None)
        if first is None:
            raise Failed(f"{source} has no picture")
        height, width, _ = first.shape
        with gpu.create_surface(width, height) as surface:
            stage = (LiveWindow if window else Unseen)(surface, desk, source)
            keys = "; keys: " + ", ".join(f"{k} {m}" for k, m in KEYS)
            say(f"{source}, {width}×{height}{keys if window else ''}")
            try:
                _play(stage, itertools.chain([first], pictures), frames, recorder)
            finally:
                stage.close()
            say(f"{stage.pace.frames} frames, {stage.pace.average:.1f} fps")
    if desk.interrupted:
        raise KeyboardInterrupt


class LiveWindow:
    """The window: what is on it, and its title."""

    def __init__(self, surface: gpu.Surface, desk: Desk, source: str) -> None:
        self.surface = surface
        self.desk = desk
        self.source = source
        self.pace = Pace()
        self._titled = 0.0
        self._overlay: Array | None = None  # as the surface has it
        handlers = {"key_down": lambda event: desk.press(str(event["key"]))}
        try:
            title = desk.title(source, 0)
            self.window: Any = surface.show(title, block=False, on=handlers, vsync=False)
        except UnsupportedError as error:
            raise UnsupportedError(str(error).removeprefix("show: ")) from error

    def close(self) -> None:
        """The window goes."""
        self.window.close()

    def show(self, picture: Array) -> bool:
        """Bring a picture to the screen; whether the window is still open."""
        height, width, _ = picture.shape
        if (self.surface.width, self.surface.height) != (width, height):
            self.surface.resize(width, height)  # a filter has changed the size
        self.surface.set_pixels(picture)
        if self.desk.helping:
            self._draw_help(width, height)
        self.surface.present()
        if not self.window.poll():
            return False
        self.pace.tick()
        if time.perf_counter() - self._titled > TITLE_S:
            self._titled = time.perf_counter()
            self.window.canvas.set_title(self.desk.title(self.source, self.pace.fps))
        return True

    def _draw_help(self, width: int, height: int) -> None:
        lines = draw_lines(self.desk.help_lines(), width, height)
        if lines is not self._overlay:
            self.surface.load_image(OVERLAY, lines)
            self._overlay = lines
        self.surface.draw_image(OVERLAY, 0, 0, lines.shape[1], lines.shape[0])


class Unseen(LiveWindow):
    """No window: what comes is filtered and recorded."""

    def __init__(self, surface: gpu.Surface, desk: Desk, source: str) -> None:
        self.surface, self.desk, self.source = surface, desk, source
        self.pace = Pace()

    def show(self, picture: Array) -> bool:
        """It is counted."""
        self.pace.tick()
        return True

    def close(self) -> None:
        """There is nothing to close."""


def _play(stage: LiveWindow, pictures: Pictures, frames: int | None, recorder: Recorder) -> None:
    picture = next(pictures, None)
    if picture is None:
        return
    with start_pipeline(picture.shape[1], picture.shape[0], background=True) as pipeline:
        _play_through(pipeline, picture, stage, pictures, frames, recorder)


def _play_through(
    pipeline: FramePipeline,
    picture: Array | None,
    stage: LiveWindow,
    pictures: Pictures,
    frames: int | None,
    recorder: Recorder,
) -> None:
    desk, began = stage.desk, time.perf_counter()
    while picture is not None and not desk.quitting:
        chain = chain_at(desk.chain, stage.pace.frames, time.perf_counter() - began)
        result: Array = pipeline.process(picture, chain)
        recorder.write(result)
        if desk.saving:
            say(f"saved {desk.save_still(result)}")
        if not stage.show(result) or (frames is not None and stage.pace.frames >= frames):
            return
        if desk.paused:
            time.sleep(PAUSED_S)
        else:
            picture = next(pictures, None)


def _require_screen() -> None:
    """On Linux a window needs a display server; GLFW says so in its own way only."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        raise UnsupportedError(
            "there is no screen (DISPLAY and WAYLAND_DISPLAY are not set); over ssh use ssh -X, or "
            "xvfb-run for a virtual one"
        )


@contextlib.contextmanager
def _asking_to_stop(desk: Desk) -> Iterator[None]:
    """Ctrl-C ends the loop instead of whatever is running: GLFW's callbacks would swallow an exception.
    A second one is an exception all the same, should the source be stuck."""

    def ask(number: int, frame: FrameType | None) -> None:
        desk.interrupted = desk.quitting = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
