"""From a node's time to its source's: trims, speed, loops and pauses, in exact fractions."""

from __future__ import annotations

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
    length: Fraction


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
        last = ZERO
        for pause in self.pauses:
            if pause.at < last or pause.length < 0:
                raise ParameterError(f"pauses come in order and apart, got {self.pauses}")
            last = pause.at + pause.length

    @property
    def is_plain(self) -> bool:
        """Whether the source's time is the node's, from its first picture to its last."""
        return self == TimeMap()

    @property
    def length(self) -> Fraction | None:
        """How long the node has something new to show; None: for ever, or as long as the source."""
        if self.loop or self.end is None:
            return None
        return (self.end - self.start) / self.speed + sum((p.length for p in self.pauses), ZERO)

    def at(self, local: Fraction) -> Fraction:
        """The source's time; at and after its end just that."""
        return self._source_time(self._running(max(local, ZERO)))

    def is_over(self, local: Fraction) -> bool:
        """Whether the source has nothing new from then on."""
        return self.length is not None and local >= self.length

    def segments(self, begin: Fraction, end: Fraction) -> Iterator[Segment]:
        """The even stretches of a part of the node's time, in order; what is silent is left out."""
        place = max(begin, ZERO)
        while place < end:
            pause = next((p for p in self.pauses if p.at <= place < p.at + p.length), None)
            if pause is not None:
                place = pause.at + pause.length
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
        stood = ZERO
        for pause in self.pauses:
            if local <= pause.at:
                break
            stood += min(local - pause.at, pause.length)
        return local - stood

    def _source_time(self, running: Fraction) -> Fraction:
        time = running * self.speed
        if self.end is None:
            return self.start + time
        length = self.end - self.start
        return self.start + (time % length if self.loop else min(time, length))
