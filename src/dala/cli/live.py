"""``dala live``: a source, filters that keys turn on and off, a window.

    source → frame pipeline (the filters that are on, fused) → surface → window

``Desk`` is all that keys change and knows no window; ``run_live`` brings the three together.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import gpu
from dala.cli.overlay import draw_lines
from dala.cli.screen import say
from dala.cli.sources import Array, Pictures, open_source
from dala.errors import UnsupportedError
from dala.gpu.picture_file import save_picture
from dala.media import Chain, Step, start_pipeline

OVERLAY = 1  # the surface's number for the picture of the help
TITLE_S = 0.5  # between new titles
STARTERS = ("blur", "sharpen", "grayscale", "sepia", "edge_detect", "pixelate", "posterize", "vignette", "invert")  # fmt: skip  # noqa: E501
KEYS = (
    ("1-9", "a filter on or off"),
    ("0", "all of them off"),
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
        self.stills = stills
        self.saving = False

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
        elif key == " ":
            self.paused = not self.paused
        elif key in ("h", "H", "?"):
            self.helping = not self.helping
        elif key in ("s", "S"):
            self.saving = True
        elif key in ("q", "Q", "Escape"):
            self.quitting = True

    def title(self, source: str, fps: float) -> str:
        """For the window."""
        names = " → ".join(s.name for s in self.chain.steps) or "no filter"
        state = "paused" if self.paused else f"{fps:.0f} fps"
        return f"dala live — {source} — {names} — {state} — h for help"

    def help_lines(self) -> list[tuple[str, str, bool]]:
        """Key, meaning, and whether it is on: the overlay."""
        filters = [
            (str(n), repr(s), on)
            for n, (s, on) in enumerate(zip(self.steps, self.on, strict=True), 1)
            if n <= 9
        ]
        return [*filters, *((key, meaning, False) for key, meaning in KEYS[1:])]

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
        self.frames = 0

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
    size: tuple[int, int],
    steps: Sequence[Step],
    *,
    frames: int | None,
    stills: Path,
    device: str,
) -> None:
    """Show the source until the window is closed, the source ends, or ``frames`` are shown."""
    filters = list(steps) or [s for name in STARTERS for s in Chain.of(name).steps]
    desk = Desk(filters, all_on=bool(steps), stills=stills)
    with open_source(source, size, device) as pictures:
        first = next(pictures, None)
        if first is None:
            say(f"{source} has no picture")
            return
        height, width, _ = first.shape
        with gpu.create_surface(width, height) as surface:
            window = _open_window(surface, desk, desk.title(source, 0))
            say(f"{source}, {width}×{height}; keys: " + ", ".join(f"{k} {m}" for k, m in KEYS))
            pace = Pace()
            started = time.perf_counter()
            try:
                _loop(source, first, pictures, desk, surface, window, pace, frames)
            finally:
                window.close()
            spent = time.perf_counter() - started
            say(f"{pace.frames} frames in {spent:.1f} s, {pace.frames / spent:.1f} fps")


def _open_window(surface: gpu.Surface, desk: Desk, title: str) -> Any:
    def pressed(event: dict[str, Any]) -> None:
        desk.press(str(event["key"]))

    try:
        return surface.show(title, block=False, on={"key_down": pressed}, vsync=False)
    except UnsupportedError as error:
        raise UnsupportedError(str(error).removeprefix("show: ")) from error


def _loop(
    source: str,
    first: Array,
    pictures: Pictures,
    desk: Desk,
    surface: gpu.Surface,
    window: Any,
    pace: Pace,
    frames: int | None,
) -> None:
    titled = 0.0
    picture: Array | None = first
    with start_pipeline(first.shape[1], first.shape[0], background=True) as pipeline:
        while picture is not None and not desk.quitting:
            result: npt.NDArray[np.uint8] = pipeline.process(picture, desk.chain)
            if desk.saving:
                say(f"saved {desk.save_still(result)}")
            _show(surface, result, desk)
            if not window.poll():
                return
            pace.tick()
            if frames is not None and pace.frames >= frames:
                return
            if time.perf_counter() - titled > TITLE_S:
                titled = time.perf_counter()
                window.canvas.set_title(desk.title(source, pace.fps))
            if desk.paused:
                time.sleep(0.02)
            else:
                picture = next(pictures, None)


def _show(surface: gpu.Surface, result: Array, desk: Desk) -> None:
    height, width, _ = result.shape
    if (surface.width, surface.height) != (width, height):  # a filter has changed the size
        surface.resize(width, height)
    surface.set_pixels(result)
    if desk.helping:
        lines = draw_lines(desk.help_lines(), width, height)
        surface.load_image(OVERLAY, lines)
        surface.draw_image(OVERLAY, 0, 0, lines.shape[1], lines.shape[0])
    surface.present()
