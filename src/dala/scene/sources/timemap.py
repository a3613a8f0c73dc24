"""From a node's time to its source's: trims, speed, loops and pauses, in exact fractions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dala.errors import ParameterError

ZERO = Fraction(0)
SHORTEST = Fraction(1, 1000)  # seconds of a loop


class Pause(NamedTuple):
    """The source stands still: from when on the node's clock, and for how long."""

    at: Fraction
    length: Fraction | None  # None: for good

    @property
    def end(self) -> Fraction | None:
        """When it runs on; None: never."""
        return None if self.length is None else self.at + self.length

    def holds(self, time: Fraction) -> bool:
        """Whether it stands still then."""
        return self.at <= time and (self.end is None or time < self.end)


def paused(pauses: tuple[Pause, ...], begin: Fraction, end: Fraction | None) -> tuple[Pause, ...]:
    """With one more, until ``end`` or for good; those that it meets become one with it.

    >>> from fractions import Fraction as F
    >>> [tuple(map(int, pause)) for pause in paused((Pause(F(1), F(2)), Pause(F(9), F(1))), F(2), F(5))]
    [(1, 4), (9, 1)]
    """
    kept = []
    for pause in pauses:
        if (end is not None and pause.at > end) or (pause.end is not None and pause.end < begin):
            kept.append(pause)
            continue
        begin = min(begin, pause.at)
        end = None if end is None or pause.end is None else max(end, pause.end)
    kept.append(Pause(begin, None if end is None else end - begin))
    return tuple(sorted(kept, key=lambda pause: pause.at))


def resumed(pauses: tuple[Pause, ...], at: Fraction) -> tuple[Pause, ...] | None:
    """With the one of that time ending there; None: it does not stand still then.

    >>> from fractions import Fraction as F
    >>> resumed((Pause(F(1), None),), F(4))
    (Pause(at=Fraction(1, 1), length=Fraction(3, 1)),)
    """
    if not any(pause.holds(at) for pause in pauses):
        return None
    cut = (Pause(p.at, at - p.at) if p.holds(at) else p for p in pauses)
    return tuple(pause for pause in cut if pause.length != 0)


class Segment(NamedTuple):
    """A stretch in which the source runs evenly; ``speed`` 0: it stands still."""

    begin: Fraction  # on the node's clock
    end: Fraction
    source: Fraction  # the source's time at ``begin``
    speed: Fraction


@dataclass(frozen=True)
class TimeMap:
    """Which time of its source a node shows: ``start + local · speed``, until ``end``, once or in a loop.

    >>> from fractions import Fraction
    >>> from dala.scene.sources import TimeMap
    >>> twice = TimeMap(start=Fraction(1), end=Fraction(2), speed=Fraction(2), loop=True)
    >>> [float(twice.at(Fraction(n, 4))) for n in range(4)]
    [1.0, 1.5, 1.0, 1.5]
    """

    start: Fraction = ZERO
    end: Fraction | None = None
    speed: Fraction = Fraction(1)
    loop: bool = False
    pauses: tuple[Pause, ...] = ()  # in order, apart from each other

    def __post_init__(self) -> None:
        if self.speed <= 0:
            raise ParameterError(f"speed is above 0, got {self.speed}")
        if self.end is not None and self.end <= self.start:
            raise ParameterError(f"the source ends at {self.end}, before its start {self.start}")
        if self.loop and (self.end is None or self.end - self.start < SHORTEST):
            raise ParameterError(
                "a loop has an end, a thousandth of a second after its start or more"
            )
        last: Fraction | None = ZERO
        for pause in self.pauses:
            if last is None or pause.at < last or (pause.length is not None and pause.length < 0):
                raise ParameterError(f"pauses come in order and apart, got {self.pauses}")
            last = pause.end

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether the source's time is the node's, from its first picture to its last."""
        return self == TimeMap()

    @functools.cached_property
    def length(self) -> Fraction | None:
        """How long the node has something new to show; None: for ever, or as long as the source."""
        return None if self.loop or self.end is None else self.length_to(self.end)

    def length_to(self, source: Fraction) -> Fraction | None:
        """How long the node plays until that time of its source; None: it stands still before, for good."""
        length = max(source - self.start, ZERO) / self.speed
        for pause in self.pauses:
            if pause.at >= length:
                break
            if pause.length is None:
                return None
            length += pause.length
        return length

    def at(self, local: Fraction) -> Fraction:
        """The source's time; at and after its end just that."""
        local = max(local, ZERO)
        return local if self.is_plain else self._source_time(self._running(local))

    def is_over(self, local: Fraction) -> bool:
        """Whether the source has nothing new from then on."""
        return self.length is not None and local >= self.length

    def segments(self, begin: Fraction, end: Fraction) -> Iterator[Segment]:
        """The even stretches of a part of the node's time, in order; what is silent is left out."""
        place = max(begin, ZERO)
        while place < end:
            pause = next((p for p in self.pauses if p.holds(place)), None)
            if pause is not None:
                if pause.end is None:
                    return
                place = pause.end
                continue
            following = min((p.at for p in self.pauses if p.at > place), default=end)
            running = self._running(place)
            source = self._source_time(running)
            if self.end is not None:
                left = (self.end - source) / self.speed
                if left <= 0:
                    return  # over, and no loop
                following = min(following, place + left)
            stop = min(following, end)
            yield Segment(place, stop, source, self.speed)
            place = stop

    def _running(self, local: Fraction) -> Fraction:
        """How long the source has run by then."""
        if not self.pauses:
            return local
        stood = ZERO
        for pause in self.pauses:
            if local <= pause.at:
                break
            since = local - pause.at
            stood += since if pause.length is None else min(since, pause.length)
        return local - stood

    def _source_time(self, running: Fraction) -> Fraction:
        time = running if self.speed == 1 else running * self.speed
        if self.end is None:
            return self.start + time
        length = self.end - self.start
        return self.start + (time % length if self.loop else min(time, length))
