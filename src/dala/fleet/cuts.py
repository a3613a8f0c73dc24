"""Where a video may be cut: at key frames after which nothing refers to what comes before.

Cuts depend on the file and on ``seconds`` alone, never on the number of workers: whoever does the work,
the parts are the same, and so is the file that is made of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from dala.video.library import as_fraction, ffmpeg_errors
from dala.video.places import place_of
from dala.video.source import Source


@dataclass(frozen=True)
class Segment:
    """Frames from ``begin`` on and before ``end``, in seconds since the first frame."""

    number: int
    begin: Fraction | None  # None: from the first frame on
    end: Fraction | None  # None: to the last one
    frames: int  # packets of them, which tells how much work it is
    shown: Fraction  # its first frame is then, by the file's own clock
    before: int = 0  # frames of all segments before it


@dataclass(frozen=True)
class Scan:
    """The times of a video's packets, in the order in which they are stored."""

    time_base: Fraction
    times: Sequence[int | None]
    keys: Sequence[bool]
    pixels: int = 0  # of a frame

    @property
    def can_be_cut(self) -> bool:
        """Whether every packet says when it is shown."""
        return bool(self.times) and None not in self.times


def scan(path: str | os.PathLike[str]) -> Scan:
    """Read all packets of the video, undecoded."""
    source = Source(place_of(path), timeout=10)
    try:
        times, keys = _read_packets(source)
        size = source.context.width * source.context.height
        return Scan(as_fraction(source.stream.time_base), times, keys, size)
    finally:
        source.close()


def _read_packets(source: Source) -> tuple[list[int | None], list[bool]]:
    """When each is shown, and whether it is a key frame."""
    times: list[int | None] = []
    keys: list[bool] = []
    with ffmpeg_errors(source.place.name, "reading"):
        for packet in source.container.demux(source.stream):
            if packet.size:
                times.append(packet.pts)
                keys.append(bool(packet.is_keyframe))
    return times, keys


def cut(scanned: Scan, seconds: float) -> list[Segment]:
    """Segments of at least so many seconds, but for the last."""
    if not scanned.can_be_cut:
        return [Segment(0, None, None, len(scanned.times), Fraction(0))]
    times = [t for t in scanned.times if t is not None]
    clean = _clean_keys(times, scanned.keys)
    least = Fraction(str(seconds)) / scanned.time_base  # 0.4 is two fifths
    cuts: list[int] = []
    last = min(times)
    for key in clean:
        if key - last >= least:
            cuts.append(key)
            last = key
    made: list[Segment] = []
    for number, (begin, end) in enumerate(zip([None, *cuts], [*cuts, None], strict=True)):
        before = made[-1].before + made[-1].frames if made else 0
        made.append(_segment(scanned.time_base, times, number, (begin, end), before))
    return made


def _segment(
    time_base: Fraction,
    times: Sequence[int],
    number: int,
    span: tuple[int | None, int | None],
    before: int,
) -> Segment:
    begin, end = span
    within = [t for t in times if (begin is None or t >= begin) and (end is None or t < end)]
    first = min(times)
    begins, ends = (None if t is None else (t - first) * time_base for t in (begin, end))
    return Segment(number, begins, ends, len(within), min(within) * time_base, before)


def _clean_keys(times: Sequence[int], keys: Sequence[bool]) -> list[int]:
    """Times of key frames before which nothing is shown that is stored after them.

    Pictures that are (the leading ones of an open group) need the group before, too.
    """
    earliest_from = list(accumulate(reversed(times), min))[::-1]
    return [
        t
        for t, key, earliest in zip(times, keys, earliest_from, strict=True)
        if key and earliest == t
    ]
