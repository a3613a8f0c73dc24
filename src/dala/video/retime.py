"""A source's frames as moments of the output: all of them, a part, at another speed or rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from dala.errors import VideoError
from dala.video.inputs import Input
from dala.video.production import Moment
from dala.video.span import TOLERANCE, Span

TICKS = 90_000  # at least so many in a second, so that any time is near one
BEHIND_S = 10  # so far after the end sound is still looked for that belongs before it


class _Shown(NamedTuple):
    """A picture, and from when to when the input shows it; counted from its first frame."""

    picture: Any
    begin: Fraction
    end: Fraction
    packets: list[Any]
    written: bool = True


def time_base_of(source: Input, span: Span) -> Fraction:
    """In which the output counts: the input's own where that is exact."""
    if span.fps is not None:
        return Fraction(1, span.fps.numerator * -(-TICKS // span.fps.numerator))
    own = source.clock.time_base
    return own if span.is_whole or own <= Fraction(1, 10_000) else Fraction(1, TICKS)


def moments_of(source: Input, span: Span, time_base: Fraction) -> Iterator[Moment]:
    """What is written when."""
    if span.is_whole and span.fps is None:
        return _as_they_are(source)
    shown = _some(_within(source, span), source, span)
    return _at_rate(shown, span, time_base) if span.fps else _in_time(shown, span, time_base)


def _as_they_are(source: Input) -> Iterator[Moment]:
    for picture, packets in source.items():
        if picture is None:
            yield Moment((), 0, 0, packets)
        else:
            pts, duration = source.clock.stamp(picture)
            yield Moment((picture,), pts, duration or source.usual_duration, packets)


def _within(source: Input, span: Span) -> Iterator[_Shown]:
    """The frames that are shown between start and end, cut to that; then the packets that are left."""
    packets: list[Any] = []
    for item in source.items():
        packets += item.packets
        if item.picture is None:
            continue
        pts, duration = source.clock.stamp(item.picture)
        base = source.clock.time_base
        begin = pts * base - source.begin
        end = begin + (duration or source.usual_duration) * base
        if span.end is not None and begin >= span.end - TOLERANCE:
            yield _Shown(None, begin, end, packets)
            packets = []
            if _all_heard(source, span.end) or begin > span.end + BEHIND_S:
                break
            continue
        if end <= span.start + TOLERANCE:
            if span.warm is not None and begin >= span.warm - TOLERANCE:
                yield _Shown(item.picture, begin, end, [], written=False)
            continue  # its packets may hold what is heard later
        last = end if span.end is None else min(end, span.end)
        yield _Shown(item.picture, max(begin, span.start), last, packets)
        packets = []
    if source.is_still and span.end is not None:
        yield _Shown(None, span.end, span.end, packets)
    elif packets:
        yield _Shown(None, Fraction(0), Fraction(0), packets)


def _some(shown: Iterator[_Shown], source: Input, span: Span) -> Iterator[_Shown]:
    """The same, if there is a single frame among it."""
    found, end = False, Fraction(0)
    for one in shown:
        found = found or (one.picture is not None and one.written)
        yield one
    if not found:
        end = max((t - source.begin for t in source.source.read_until.values()), default=end)
        raise VideoError(
            f"{source.name}: nothing is shown from {float(span.start):g} s on; it ends at {float(end):g} s"
        )


def _all_heard(source: Input, end: Fraction) -> bool:
    """Whether every stream that comes along has been read up to there."""
    heard = source.source.read_until
    return all(heard.get(s.index, Fraction(0)) - source.begin >= end for s in source.voices)


def _in_time(shown: Iterator[_Shown], span: Span, time_base: Fraction) -> Iterator[Moment]:
    for picture, begin, end, packets, written in shown:
        if picture is None:
            yield Moment((), 0, 0, packets)
            continue
        pts = round(span.out(begin) / time_base)
        duration = max(1, round(span.out(end) / time_base) - pts)
        yield Moment((picture,), pts, duration, packets, written=written)


def _at_rate(shown: Iterator[_Shown], span: Span, time_base: Fraction) -> Iterator[Moment]:
    """A frame at every 1/fps: the one that the input shows by then."""
    assert span.fps is not None
    step = round(1 / span.fps / time_base)
    number, held, until = 0, None, Fraction(0)
    slack = TOLERANCE / span.speed

    def due(time: Fraction) -> bool:
        return number / span.fps < time - slack  # type: ignore[operator]

    for picture, begin, end, packets, _ in shown:
        carried = packets
        if picture is None and not end:
            yield Moment((), 0, 0, packets)
            continue
        while held is not None and due(min(span.out(begin), span.out(span.end or begin))):
            yield Moment((held,), number * step, step, carried)
            number, carried = number + 1, []
        if carried:
            yield Moment((), 0, 0, carried)
        if picture is not None:
            held, until = picture, span.out(end)
    while held is not None and due(until):
        yield Moment((held,), number * step, step, [])
        number += 1
