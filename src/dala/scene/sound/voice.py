"""A voice: a sound at its place in a scene, with its loudness."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dala import locks
from dala.scene.sound.gains import Level, fade, levels, pan_gains
from dala.scene.sound.resampling import at_speed
from dala.scene.sound.sounds import RATE, Sound, Waves, silence
from dala.scene.sources.timemap import TimeMap

BLOCK = 4_800  # samples: a tenth of a second
KEPT = 24  # blocks


@dataclass(frozen=True)
class Gain:
    """How loud a voice is, and where; numbers or functions of the scene's time.

    >>> from dala.scene.sound import Gain
    >>> Gain(volume=0.5, pan=-1).is_unity
    False
    """

    volume: Level = 1.0
    pan: Level = 0.0
    fade_in: Fraction = Fraction(0)
    fade_out: Fraction = Fraction(0)

    @property
    def is_unity(self) -> bool:
        """Whether it changes nothing."""
        return self == Gain()


WHOLE, UNITY = TimeMap(), Gain()


class Voice:
    """What is heard of a sound from ``start`` until before ``end`` of the scene's time."""

    def __init__(
        self,
        sound: Sound,
        *,
        start: Fraction = Fraction(0),
        end: Fraction | None = None,
        times: TimeMap = WHOLE,
        gain: Gain = UNITY,
        duck: float = 0.0,
        name: str = "",
    ) -> None:
        self.sound = sound
        self.start = start
        self.end = end
        self.times = times
        self.gain = gain
        self.duck = duck
        self.name = name
        self._kept: OrderedDict[int, Waves | None] = OrderedDict()
        self._lock = locks.lock()

    @property
    def last(self) -> Fraction | None:
        """When it is over, by its own end or its source's; None: never."""
        length = self.times.length
        if self.times.end is None and self.sound.length is not None:
            length = self.times.length_to(Fraction(self.sound.length, RATE))
        ends = [
            e for e in (self.end, None if length is None else self.start + length) if e is not None
        ]
        return min(ends, default=None)

    def block(self, number: int) -> Waves | None:
        """A block of its samples, which nobody changes; None: nothing is heard."""
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
            made = self._kept[number] = self._make(number * BLOCK)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return made

    def _make(self, begin: int) -> Waves | None:
        waves = self._source(begin, begin + BLOCK)
        if waves is None or not waves.any():
            return None
        return self._with_gain(waves, begin)

    def _source(self, begin: int, end: int) -> Waves | None:
        """The source's samples at their places in the scene."""
        first = max(begin, _sample(self.start))
        last = end if self.end is None else min(end, _sample(self.end))
        if first >= last:
            return None
        local = Fraction(first, RATE) - self.start, Fraction(last, RATE) - self.start
        out: Waves | None = None
        for segment in self.times.segments(*local):
            a = max(_sample(self.start + segment.begin), first)
            b = min(_sample(self.start + segment.end), last)
            if a >= b:
                continue
            since = Fraction(a, RATE) - self.start - segment.begin
            place = (segment.source + since * segment.speed) * RATE
            out = silence(end - begin) if out is None else out
            out[a - begin : b - begin] = self._play(place, segment.speed, b - a)
        return out

    def _play(self, place: Fraction, speed: Fraction, count: int) -> Waves:
        if speed == 1:
            first = math.floor(place + Fraction(1, 2))
            return self.sound.samples(first, first + count)
        return at_speed(self.sound, place, speed, count)

    def _with_gain(self, waves: Waves, begin: int) -> Waves:
        return with_gain(waves, begin, self.gain, self.start, self.last)


def with_gain(
    waves: Waves, begin: int, gain: Gain, start: Fraction, last: Fraction | None
) -> Waves:
    """Samples of the scene from ``begin`` on as loud as they are to be."""
    if gain.is_unity:
        return waves
    end = begin + len(waves)
    level: object = levels(gain.volume, begin, end)
    fades = [fade(begin, end, start, gain.fade_in, out=False)]
    if last is not None:
        fades.append(fade(begin, end, last - gain.fade_out, gain.fade_out, out=True))
    for part in fades:
        if part is not None:
            level = level * part  # type: ignore[operator]
    left, right = pan_gains(levels(gain.pan, begin, end))
    out = np.empty_like(waves)
    np.multiply(waves[:, 0], level * left, out=out[:, 0], casting="unsafe")  # type: ignore[operator]
    np.multiply(waves[:, 1], level * right, out=out[:, 1], casting="unsafe")  # type: ignore[operator]
    return out


def _sample(time: Fraction) -> int:
    """The first sample that is not before a time."""
    return math.ceil(time * RATE)
