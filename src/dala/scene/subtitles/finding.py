"""Which cue is shown when."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from dala.errors import ArgumentError, ParameterError
from dala.scene.subtitles.cue import Cue, Cues


def active_cue(cues: Iterable[Cue], time_us: int) -> Cue | None:
    """The cue that is shown at a time in microseconds; of several the one that began last.

    >>> from dala.scene.subtitles import active_cue, parse_srt
    >>> cues = parse_srt("1\\n00:00:01,000 --> 00:00:02,000\\nHello")
    >>> active_cue(cues, 1_000_000).text, active_cue(cues, 2_000_000)
    ('Hello', None)
    """
    found: Cue | None = None
    for cue in _shown(_as_cues(cues), _time(time_us), _time(time_us) + 1):
        found = cue  # they come in the order of their starts
    return found


def cues_in_range(cues: Iterable[Cue], start_us: int, end_us: int) -> list[Cue]:
    """The cues that are shown at some time from ``start_us`` until before ``end_us``, in order.

    >>> from dala.scene.subtitles import cues_in_range, parse_srt
    >>> cues = parse_srt("1\\n00:00:01,000 --> 00:00:02,000\\nA\\n\\n2\\n00:00:02,000 --> 00:00:03,000\\nB")
    >>> [cue.text for cue in cues_in_range(cues, 0, 2_000_000)]
    ['A']
    """
    if _time(end_us) < _time(start_us):
        raise ParameterError(f"a range ends after its start, got {start_us}..{end_us}")
    return list(_shown(_as_cues(cues), start_us, end_us))


def _as_cues(cues: Iterable[Cue]) -> Cues:
    if isinstance(cues, Cues):
        return cues
    given = list(cues)
    for cue in given:
        if not isinstance(cue, Cue):
            raise ArgumentError(f"expected cues, as parse_srt gives them, got {cue!r}")
    return Cues(given)


def _shown(cues: Cues, start_us: int, end_us: int) -> Iterator[Cue]:
    """Those that begin before the end and end after the start; the first of them is looked up."""
    last = bisect_left(cues.starts, end_us) if end_us > start_us else 0
    first = bisect_right(cues.latest_ends, start_us)  # all before it are over
    return (cue for cue in cues[first:last] if cue.end_us > start_us)


def _time(time_us: int) -> int:
    if isinstance(time_us, bool) or not hasattr(time_us, "__index__"):
        raise ArgumentError(f"a time is a whole number of microseconds, got {time_us!r}")
    return time_us.__index__()
