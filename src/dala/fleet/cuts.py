"""Where a video may be cut: at key frames after which nothing refers to what comes before.

Cuts depend on the file and on ``seconds`` alone, never on the number of workers: whoever does the work,
the parts are the same, and so is the file that is made of them.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from dala.video.library import as_fraction, ffmpeg_errors
from dala.video.places import place_of
from dala.video.source import Source

# after so many a mask that was begun anew, and is unsure everywhere, is as it was to a tenth of a level
LEAD = 24
SHARES = 32  # no segment is more than so much of what is left …
SHRINKING = 4  # … but none is less than so much of what was asked for,
SHORTEST_S = 2  # or than two seconds: each takes a decoder, an encoder and their first frames


@dataclass(frozen=True)
class Segment:
    """Frames from ``begin`` on and before ``end``, in seconds since the first frame."""

    number: int
    begin: Fraction | None  # None: from the first frame on
    end: Fraction | None  # None: to the last one
    frames: int  # packets of them, which tells how much work it is
    shown: Fraction  # its first frame is then, by the file's own clock
    before: int = 0  # frames of all segments before it
    lead: int = 0  # the last of them, which filters see first that remember what they saw
    warm: Fraction | None = None  # from when on those are shown


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
    """Segments of at least so many seconds; towards the end shorter ones, so that workers end together."""
    if not scanned.can_be_cut:
        return [Segment(0, None, None, len(scanned.times), Fraction(0))]
    times = sorted(t for t in scanned.times if t is not None)
    stored = [t for t in scanned.times if t is not None]
    clean = _clean_keys(stored, scanned.keys)
    usual = Fraction(str(seconds)) / scanned.time_base  # 0.4 is two fifths
    shortest = min(usual, max(usual / SHRINKING, SHORTEST_S / scanned.time_base))
    cuts: list[int] = []
    last = times[0]
    for key in clean:
        if key - last >= max(shortest, min(usual, Fraction(times[-1] - last, SHARES))):
            cuts.append(key)
            last = key
    edges = [0, *(bisect_left(times, t) for t in cuts), len(times)]
    return [_segment(scanned.time_base, times, n, part) for n, part in enumerate(pairwise(edges))]


def _segment(
    time_base: Fraction, times: Sequence[int], number: int, part: tuple[int, int]
) -> Segment:
    """Of the frames from one to another, in the order in which they are shown."""
    first, last = part
    lead = min(first, LEAD)
    begin = (times[first] - times[0]) * time_base if first else None
    end = (times[last] - times[0]) * time_base if last < len(times) else None
    warm = (times[first - lead] - times[0]) * time_base if lead else None
    shown = times[first] * time_base
    return Segment(number, begin, end, last - first, shown, first, lead, warm)


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
