"""A track: keys in time for one property. Its value needs the track, the time and what lies below it."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dala.scene.animation.easing import Easing
from dala.scene.animation.mixing import Way, mix


class _Below:
    """Stands for the value that the property has without this track when the track begins."""

    def __repr__(self) -> str:
        return "BELOW"


BELOW: Final = _Below()


@dataclass(frozen=True)
class Key:
    """A value at a time after the track's beginning, and how the way to the next key is taken."""

    offset: Fraction
    value: Any
    easing: Easing


@dataclass(frozen=True)
class Track:
    """Keys from ``begin`` on; the last value stays. ``repeat`` is a count, or None for ever."""

    begin: Fraction
    keys: tuple[Key, ...]
    repeat: int | None = 1
    alternate: bool = False
    stop: Fraction | None = None  # cancelled then: the value of that moment stays

    @property
    def length(self) -> Fraction:
        """Of one turn."""
        return self.keys[-1].offset

    @functools.cached_property
    def end(self) -> Fraction | None:
        """From then on nothing changes; None: never."""
        if self.length == 0:
            last: Fraction | None = self.begin
        else:
            last = None if self.repeat is None else self.begin + self.length * self.repeat
        if self.stop is None:
            return last
        return self.stop if last is None else min(last, self.stop)

    def value(self, time: Fraction, way: Way, below: Any) -> Any:
        """The property at a time from ``begin`` on; ``below`` is what it was then without this track."""
        if self.stop is not None:
            time = min(time, self.stop)
        if self._times is not None:
            first, second = self.keys
            a = below if first.value is BELOW else first.value
            b = below if second.value is BELOW else second.value
            part = self._part(time, *self._times)
            return b if part is None else mix(way, a, b, first.easing(part))
        place = self._place(time - self.begin)
        after = bisect_right(self.keys, place, key=lambda key: key.offset)
        first = self.keys[max(after - 1, 0)]
        if after == len(self.keys):
            return below if first.value is BELOW else first.value
        second = self.keys[after]
        part = float((place - first.offset) / (second.offset - first.offset))
        a, b = (below if key.value is BELOW else key.value for key in (first, second))
        return mix(way, a, b, first.easing(part))

    @functools.cached_property
    def _times(self) -> tuple[int, int, int, int] | None:
        """Of two keys, the first at the beginning: numerators and denominators of begin and length."""
        if len(self.keys) != 2 or self.keys[0].offset or not self.length:
            return None
        return *self.begin.as_integer_ratio(), *self.length.as_integer_ratio()

    def _part(self, time: Fraction, begin: int, of: int, length: int, over: int) -> float | None:
        """How much of the way is over; None: all of it. The same as ``value`` does, in whole numbers:
        they are a tenth of the work."""
        number, unit = time.as_integer_ratio()
        whole = unit * of * length
        turn, rest = divmod((number * of - begin * unit) * over, whole)
        if self.repeat is not None and turn >= self.repeat:
            turn, rest = self.repeat - 1, whole
        if self.alternate and turn % 2:
            rest = whole - rest
        return None if rest == whole else rest / whole

    def _place(self, since: Fraction) -> Fraction:
        """Where within one turn."""
        length = self.length
        if length == 0:
            return length
        turn, place = divmod(since, length)
        if self.repeat is not None and turn >= self.repeat:
            turn, place = self.repeat - 1, length
        return length - place if self.alternate and turn % 2 else place


class PropertyTracks:
    """All tracks of one property, the earliest first. Each begins where those before it are then."""

    def __init__(self, tracks: Sequence[Track], way: Way, base: Any) -> None:
        kept = [track for track in tracks if track.stop is None or track.stop >= track.begin]
        self._tracks = sorted(
            kept, key=lambda track: track.begin
        )  # of equal ones the last given holds
        self._begins = [track.begin for track in self._tracks]
        self._way, self._base = way, base
        self._starts: list[Any] = []
        for track in self._tracks:
            self._starts.append(self._before(len(self._starts), track.begin))

    def _before(self, count: int, time: Fraction) -> Any:
        """What those before the one of this number say."""
        if count == 0:
            return self._base
        return self._tracks[count - 1].value(time, self._way, self._starts[count - 1])

    def value(self, time: Fraction) -> Any:
        """What the last one that has begun says."""
        return self._before(bisect_right(self._begins, time), time)

    def at(self, time: Fraction) -> tuple[Any, Fraction | None]:
        """The value, and until when it stays so; None: for good. ``time`` itself: it moves now."""
        begun = bisect_right(self._begins, time)
        value = self._before(begun, time)
        if begun:
            end = self._tracks[begun - 1].end
            if end is None or time < end:
                return value, time
        return value, self._begins[begun] if begun < len(self._begins) else None
