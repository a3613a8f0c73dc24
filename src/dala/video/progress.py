"""How far a transcode is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dala.video.encoder import Encoder
from dala.video.source import PictureList, Source
from dala.video.span import WHOLE, Span


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

    def __init__(
        self,
        callback: OnProgress | None,
        encoder: Encoder,
        sources: Sequence[Source],
        span: Span = WHOLE,
    ) -> None:
        self._callback = callback
        self._encoder = encoder
        self._total, self._duration = _length_of_all(sources)
        self._begin = sources[0].begin if len(sources) == 1 else Fraction(0)
        if not span.is_whole or span.fps is not None:
            self._begin = Fraction(0)
            self._total, self._duration = _length_of_part(self._duration, sources[0], span)
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


def _length_of_all(sources: Sequence[Source]) -> tuple[int | None, float | None]:
    lengths = [_length(source) for source in sources]
    frames, seconds = [n for n, _ in lengths if n], [s for _, s in lengths if s]
    every = len(lengths)
    return (
        sum(frames) if len(frames) == every else None,
        sum(seconds) if len(seconds) == every else None,
    )


def _length_of_part(
    duration: float | None, source: Source, span: Span
) -> tuple[int | None, float | None]:
    last = duration if span.end is None else float(span.end)
    if last is None:
        return None, None
    if duration is not None and not isinstance(source, PictureList):
        last = min(last, duration)
    seconds = max(0.0, last - float(span.start)) / float(span.speed)
    rate = span.fps or (source.rate or Fraction(25)) * span.speed
    return round(seconds * rate), seconds


def _length(source: Source) -> tuple[int | None, float | None]:
    stream, container = source.stream, source.container
    if isinstance(source, PictureList):
        return source.length, float(source.length / source.place.fps)
    if stream.duration:
        duration = float(stream.duration * source.time_base)
    elif container.duration:
        duration = container.duration / 1e6
    else:
        return stream.frames or None, None
    rate = source.rate
    return stream.frames or (round(duration * rate) if rate else None), duration
