"""Several inputs on one timeline: that of the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

from dala.video.inputs import Input
from dala.video.library import as_fraction
from dala.video.production import Moment

Until = Literal["first", "shortest", "longest"]


class _Follower:
    """An input whose current picture can be asked for, at times that never go back."""

    def __init__(self, source: Input) -> None:
        self.source = source
        self.packets: list[Any] = []  # to be passed on
        self.current: Any | None = None
        self.end = Fraction(0)  # of the current picture, counted from the input's first one
        self._items = source.items()
        self._next: tuple[Any, int, int] | None = self._read()

    def take(self) -> tuple[Any, int, int] | None:
        """The next picture, its pts and duration."""
        taken, self._next = self._next, self._read() if self._next is not None else None
        if taken is not None:
            self.current = taken[0]
            self.end = self._since_begin(taken[1] + taken[2])
        return taken

    def at(self, time: Fraction) -> Any:
        """The picture shown at that time: the first before its beginning, the last after its end."""
        while self.current is None or (
            self._next is not None and self._since_begin(self._next[1]) <= time
        ):
            self.take()
        return self.current

    def over(self, time: Fraction) -> bool:
        """Whether the last picture has been shown by then."""
        return self._next is None and self.end <= time

    def close(self) -> None:
        self._items.close()  # type: ignore[attr-defined]

    def read_on(self) -> bool:
        """Take further packets without looking at pictures; whether there were any items left."""
        item = next(self._items, None)
        if item is not None:
            self.packets += item.packets
        return item is not None

    def _since_begin(self, pts: int) -> Fraction:
        return pts * self.source.clock.time_base - self.source.begin

    def _read(self) -> tuple[Any, int, int] | None:
        for item in self._items:
            self.packets += item.packets
            if item.picture is not None:
                pts, duration = self.source.clock.stamp(item.picture)
                return item.picture, pts, duration or self.source.usual_duration
        return None


def moments(inputs: Sequence[Input], speaker: int | None, until: Until) -> Iterator[Moment]:
    """What is shown when; the packets are those of the ``speaker``, moved onto the first one's clock."""
    followers = [_Follower(i) for i in inputs]
    try:
        yield from _moments(followers, speaker, until)
    finally:
        for follower in followers:
            follower.close()


def _moments(followers: Sequence[_Follower], speaker: int | None, until: Until) -> Iterator[Moment]:
    lead, others = followers[0], followers[1:]
    voice = None if speaker is None else followers[speaker]
    pts = duration = 0
    while True:
        taken = lead.take()
        if taken is not None:
            _, pts, duration = taken
        else:
            pts, duration = pts + duration, lead.source.usual_duration
        time = pts * lead.source.clock.time_base - lead.source.begin
        over = [f.over(time) for f in followers]
        if all(over) or (until == "first" and taken is None) or (until == "shortest" and any(over)):
            break
        pictures = lead.current, *(f.at(time) for f in others)
        shown_until = time + duration * lead.source.clock.time_base
        yield Moment(pictures, pts, duration, _spoken(voice, lead, shown_until))
    if voice is None:
        return
    end = None if until == "longest" or voice is lead else time
    while True:
        yield Moment((), 0, 0, _spoken(voice, lead, end))
        if voice.packets or not voice.read_on():  # what is left comes after the end
            return


def _spoken(voice: _Follower | None, lead: _Follower, end: Fraction | None) -> list[Any]:
    """The packets that have come, on the first input's clock; those from ``end`` on stay for later."""
    if voice is None:
        return []
    shift = lead.source.begin - voice.source.begin
    kept, later = [], []
    for packet in voice.packets:
        time = (packet.pts if packet.pts is not None else packet.dts) * as_fraction(
            packet.time_base
        )
        if end is not None and time - voice.source.begin >= end:
            later.append(packet)
            continue
        if shift:
            ticks = round(shift / as_fraction(packet.time_base))
            packet.pts = None if packet.pts is None else packet.pts + ticks
            packet.dts += ticks
        kept.append(packet)
    voice.packets = later
    return kept
