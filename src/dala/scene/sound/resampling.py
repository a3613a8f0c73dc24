"""Other rates → 48 kHz by FFmpeg's swresample, other speeds by a windowed sinc; both at exact positions.

A second of any rate is 48,000 samples, so swresample is given one second at a time, with some before and
after for its filter: every second begins at its own sample, and none depends on another.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dala import locks
from dala.scene.sound.sounds import RATE, Waves
from dala.video.library import load_av

KEPT = 8  # seconds of a resampled sound
MARGIN = 256  # samples at least before and after a second, for the filter
HALF = 16  # samples on each side that a speed's filter weighs
WIDEST = 256


class Native(Protocol):
    """Samples at their own rate."""

    @property
    def length(self) -> int | None: ...
    def samples(self, begin: int, end: int) -> Waves: ...
    def close(self) -> None: ...


class Resampled:
    """A sound of another rate at 48 kHz: sample n is its sound at n / 48,000 seconds."""

    def __init__(self, native: Native, rate: int) -> None:
        self._native = native
        self._rate = rate
        period = rate // math.gcd(rate, RATE)
        self._margin = period * -(-MARGIN // period)  # a whole number of samples at both rates
        self._kept: OrderedDict[int, Waves] = OrderedDict()
        self._lock = locks.lock()

    @property
    def length(self) -> int | None:
        """At 48 kHz."""
        own = self._native.length
        return None if own is None else -(-own * RATE // self._rate)

    def samples(self, begin: int, end: int) -> Waves:
        """At 48 kHz."""
        out = np.empty((end - begin, 2), np.float32)
        place = begin
        while place < end:
            second, within = divmod(place, RATE)
            stop = min(end, (second + 1) * RATE)
            out[place - begin : stop - begin] = self._second(second)[within : within + stop - place]
            place = stop
        return out

    def close(self) -> None:
        """Close what it reads."""
        self._native.close()

    def _second(self, number: int) -> Waves:
        with self._lock:
            found = self._kept.get(number)
            if found is None:
                found = self._kept[number] = self._resample(number)
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(number)
            return found

    def _resample(self, number: int) -> Waves:
        begin = number * self._rate - self._margin
        given = self._native.samples(begin, begin + self._rate + 2 * self._margin)
        if not given.any():
            return np.zeros((RATE, 2), np.float32)
        made = resample(given, self._rate)
        first = self._margin * RATE // self._rate
        return made[first : first + RATE]


def resample(waves: Waves, rate: int) -> Waves:
    """All of it at 48 kHz, by swresample; the first sample stays where it is."""
    av = load_av()
    resampler = av.AudioResampler("fltp", "stereo", RATE)
    frame: Any = av.AudioFrame.from_ndarray(np.ascontiguousarray(waves.T), "fltp", "stereo")
    frame.sample_rate, frame.time_base, frame.pts = rate, Fraction(1, rate), 0
    pieces = [*resampler.resample(frame), *resampler.resample(None)]
    made = np.concatenate([piece.to_ndarray() for piece in pieces], axis=1).T
    wanted = -(-len(waves) * RATE // rate)
    if len(made) < wanted:
        made = np.concatenate([made, np.zeros((wanted - len(made), 2), np.float32)])
    return np.ascontiguousarray(made, np.float32)


def at_speed(
    sound: Native, first: Fraction, speed: Fraction, count: int
) -> npt.NDArray[np.float32]:
    """``count`` samples: sample n is the sound at position ``first + n · speed``; its pitch changes too.

    Positions are exact fractions, so that nothing drifts.
    """
    base = math.floor(first)
    numerator, denominator = speed.numerator, speed.denominator
    offset = first - base
    # positions as whole parts and remainders over one denominator: exact for any number of samples
    common = denominator * offset.denominator
    step, begin = numerator * offset.denominator, offset.numerator * denominator
    ticks = (
        begin + np.arange(count, dtype=object) * step
        if common * count * step > 2**62
        else (begin + np.arange(count, dtype=np.int64) * step)
    )
    whole = np.asarray(ticks // common, np.int64)
    part = np.asarray((ticks % common) / common, np.float64)
    width = max(1.0, float(speed))
    half = min(math.ceil(HALF * width), WIDEST)
    low = int(whole[0]) - half + 1
    given = sound.samples(base + low, base + int(whole[-1]) + half + 1)
    taps = np.arange(-half + 1, half + 1)
    away = taps[None, :] - part[:, None]
    weights = np.sinc(away / width) * np.cos(np.pi / 2 * np.clip(away / half, -1, 1)) ** 2
    weights /= weights.sum(axis=1, keepdims=True)  # a constant stays what it is
    index = (whole - low)[:, None] + taps[None, :]
    return np.asarray(np.einsum("nt,ntc->nc", weights, given[index]), np.float32)
