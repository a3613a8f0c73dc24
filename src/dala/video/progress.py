"""How far a transcode is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dala.video.encoder import Encoder
from dala.video.source import Source


@dataclass(frozen=True)
class Progress:
    """What a progress callback gets.

    >>> from dala import video
    >>> video.Progress(frames=30, total_frames=120, seconds=1.0, duration=4.0, fps=60.0).fraction
    0.25
    """

    frames: int  # written so far
    total_frames: int | None
    seconds: float  # of the video, written so far
    duration: float | None
    fps: float  # frames per second of real time

    @property
    def fraction(self) -> float | None:
        """Between 0 and 1, where the length is known."""
        if self.total_frames:
            return min(1.0, self.frames / self.total_frames)
        return min(1.0, self.seconds / self.duration) if self.duration else None


OnProgress: TypeAlias = Callable[[Progress], None]


class Watch:
    """Calls a progress callback whenever there is something new."""

    def __init__(self, callback: OnProgress | None, encoder: Encoder, source: Source) -> None:
        self._callback = callback
        self._encoder = encoder
        self._total, self._duration = _length(source)
        self._begin = source.begin
        self._seen = -1
        self.started = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return max(time.perf_counter() - self.started, 1e-9)

    def __call__(self) -> None:
        frames = self._encoder.frames
        if self._callback is None or frames == self._seen:
            return
        self._seen = frames
        seconds = float(max(self._encoder.end - self._begin, Fraction(0)))
        fps = frames / self.elapsed
        self._callback(Progress(frames, self._total, seconds, self._duration, fps))


def _length(source: Source) -> tuple[int | None, float | None]:
    stream, container = source.stream, source.container
    if stream.duration:
        duration = float(stream.duration * source.time_base)
    elif container.duration:
        duration = container.duration / 1e6
    else:
        return stream.frames or None, None
    rate = source.rate
    return stream.frames or (round(duration * rate) if rate else None), duration
