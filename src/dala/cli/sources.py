"""Where live pictures come from: a moving test pattern, a camera, a screen, a file, a stream."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import compute
from dala.cli.mistakes import UsageMistake

Array = npt.NDArray[np.uint8]
Pictures = Iterator[Array]  # (height, width, 4), all of one size
TEST, CAMERA, SCREEN = "test", "camera", "screen"
TEST_SIZE = (1280, 720)
TEST_FPS = 60


def open_source(
    spec: str, size: tuple[int, int] | None, device: str, fps: float | None = None
) -> AbstractContextManager[Pictures]:
    """Pictures of a source: ``test``, ``camera``, ``camera:1``, ``screen``, a path or a URL.

    ``size`` and ``fps`` are what a camera or a screen is asked for.
    """
    kind, _, number = spec.partition(":")
    if spec == TEST:
        return nullcontext(_test_pictures(*(size or TEST_SIZE)))
    if kind == CAMERA:
        if number and not number.isdecimal():
            raise UsageMistake(f"--source: a camera is camera or camera:N, got {spec!r}")
        return _Video(int(number or 0), device, live=True, size=size, fps=fps)
    if kind == SCREEN or spec.startswith("/dev/video"):
        return _Video(spec, device, live=True, size=size, fps=fps)
    if size is not None or fps is not None:
        raise UsageMistake(
            "--size and --fps are what the test source, a camera or a screen is asked for; "
            f"{spec} comes as it is"
        )
    return _Video(spec, device, live="://" in spec)


def _test_pictures(width: int, height: int) -> Pictures:
    """dala's test pattern with a disc that wanders over it, at a steady rate."""
    pattern = compute.buffer_zeros((height, width, 4), "u8")
    compute.run_kernel("test_pattern", [], pattern)
    ground: Array = pattern.read()
    radius = max(min(width, height) // 8, 1)
    rows, columns = np.ogrid[-radius:radius, -radius:radius]
    disc = rows * rows + columns * columns < radius * radius
    started = time.perf_counter()
    number = 0
    while True:
        seconds = number / TEST_FPS
        time.sleep(max(0.0, started + seconds - time.perf_counter()))
        picture = ground.copy()
        x = int((math.sin(seconds * 1.1) * 0.5 + 0.5) * max(width - 2 * radius, 0))
        y = int((math.cos(seconds * 0.7) * 0.5 + 0.5) * max(height - 2 * radius, 0))
        spot = picture[y : y + 2 * radius, x : x + 2 * radius]
        spot[disc[: spot.shape[0], : spot.shape[1]]] = (255, 170, 40, 255)
        yield picture
        number = max(number + 1, int((time.perf_counter() - started) * TEST_FPS))


class _Video(AbstractContextManager[Pictures]):
    """A reader's frames: live ones as they come, those of a file at its own pace."""

    def __init__(
        self,
        source: str | int,
        device: str,
        *,
        live: bool,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
    ) -> None:
        from dala import video

        self._live = live
        self._reader: Any = video.Reader(source, latest=live, device=device, size=size, fps=fps)

    def __enter__(self) -> Pictures:
        return self._pictures()

    def __exit__(self, *exc: object) -> None:
        self._reader.close()

    def _pictures(self) -> Pictures:
        clock = Clock()
        for frame in self._reader:
            if self._live or clock.wait_for(float(frame.time)):
                yield frame.rgba


class Clock:
    """Holds frames of a file back until it is their time; what is a little late is passed over, and after a
    longer break (a pause, a window that opens) time goes on from where it was."""

    LATE_S, BREAK_S = 0.1, 0.5

    def __init__(self) -> None:
        self._begin: float | None = None  # when the frame at 0 was due

    def wait_for(self, seconds: float) -> bool:
        """Sleep until that time of the file; False if it is over already."""
        now = time.perf_counter()
        late = 0.0 if self._begin is None else now - self._begin - seconds
        if self._begin is None or late > self.BREAK_S:
            self._begin, late = now - seconds, 0.0
        if late > self.LATE_S:
            return False
        time.sleep(max(0.0, -late))
        return True
