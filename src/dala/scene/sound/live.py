"""The sound of live sources: it comes when it comes, and is heard at our pace.

    network or device ─ push ─ a tenth of a second waits ─ read, a little faster or slower ─ mix

Two clocks never agree. How much waits says how they differ: while it is more or less than in the first
second, the sound is played up to 4 % faster or slower, by a windowed sinc; within 2 ms of it nothing is
changed, and the samples are those that came. Where nothing waits there is silence, where too much waits
it is passed over; both are counted.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dala import locks
from dala.scene.sound.resampling import HALF, at_speed
from dala.scene.sound.sounds import RATE, Waves, cut, silence

WAITING = RATE // 10  # samples that wait, when all is well
MOST_WAITING = RATE * 2 // 5  # more is passed over: the pictures do not wait
DEAD_BAND = 96  # samples: 2 ms
MOST_CHANGE = 0.04
SETTLING_S = 1.5  # in which a difference is made up for
LEARNING_S = 6.0  # in which it is taken for the clocks'
AVERAGED_S = 0.5  # over which what waits is averaged: packets come in lumps
KNOWN_AFTER = RATE  # samples, after which it is known how much waits in the mean
FINENESS = 1 << 16  # steps of a speed
_TAPS = 2 * HALF + 2  # samples around a place that a speed other than 1 weighs


@dataclass(frozen=True)
class LiveSoundStats:
    """How the sound of a live source goes.

    >>> from dala.scene import LiveSoundStats
    >>> LiveSoundStats("camera", waiting_ms=98.0, drift=0.0002, silent_ms=0.0, dropped_ms=0.0).drift
    0.0002
    """

    source: str
    waiting_ms: float  # between its arrival and its being heard
    drift: float  # how much faster its clock is than ours: 0.001 is a thousandth
    silent_ms: float  # that nothing was there to be heard, since its first sound
    dropped_ms: float  # passed over because too much waited


class LiveSound:
    """What comes of a live source's sound, for all who listen.

    >>> import numpy as np
    >>> from dala.scene.sound.live import LiveSound
    >>> sound = LiveSound("camera")
    >>> listener = sound.listen()
    >>> sound.take(np.full((9600, 2), 0.5, np.float32))
    >>> listener.read(2)[:, 0].tolist(), listener.stats.silent_ms
    ([0.5, 0.5], 0.0)
    """

    def __init__(self, name: str, tell: Callable[[str], None] = lambda what: None) -> None:
        self.name = name
        self.tell = tell
        self._adding = locks.lock()
        # Replaced, never changed: the thread that reads goes over it while the one that mixes adds to it.
        self._listeners: tuple[weakref.ref[Listener], ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether anybody listens: else it need not be decoded."""
        return bool(self._held())

    def listen(self) -> Listener:
        """Hear it from now on, at a pace of one's own, as long as the listener is held."""
        made = Listener(self.name)
        with self._adding:
            self._listeners = (*map(weakref.ref, self._held()), weakref.ref(made))
        return made

    def take(self, waves: Waves) -> None:
        """What came, (count, 2) at 48 kHz; its owner does not change it any more."""
        for listener in self._held():
            listener.push(waves)

    def begin_anew(self) -> None:
        """Another connection: what came before is over."""
        for listener in self._held():
            listener.begin_anew()

    def _held(self) -> list[Listener]:
        """Those who listen still."""
        return [one for one in (known() for known in self._listeners) if one is not None]


class Listener:
    """Samples between the thread they come from and the one that mixes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = locks.lock()
        self._pieces: deque[tuple[int, Waves]] = deque()  # with the number of their first sample
        self._end = 0
        self._place = Fraction(0)  # the sample that is heard next
        self._runs = False  # enough waits
        self._average = self._usual = 0.0  # of what waits, now and when all is well
        self._known = 0  # samples that were heard since it runs
        self._speed = Fraction(1)
        self._drift = 0.0
        self._silent = self._dropped = 0

    @property
    def stats(self) -> LiveSoundStats:
        """What waits, how the clocks differ, what was silent or passed over."""
        with self._lock:
            waiting = float(self._end - self._place)
            per_ms = RATE / 1000
            return LiveSoundStats(
                self.name,
                waiting / per_ms,
                self._drift,
                self._silent / per_ms,
                self._dropped / per_ms,
            )

    def push(self, waves: Waves) -> None:
        """What came; its owner does not change it any more."""
        with self._lock:
            self._pieces.append((self._end, waves))
            self._end += len(waves)
            if self._end - self._place > 2 * MOST_WAITING:  # nobody reads
                self._pass_over()

    def begin_anew(self) -> None:
        """Another connection: what came before is over."""
        with self._lock:
            self._pieces.clear()
            self._place = Fraction(self._end)
            self._runs = False

    def read(self, count: int) -> Waves:
        """The next samples at our pace; silence while too few wait."""
        with self._lock:
            if self._end - self._place > MOST_WAITING:
                self._pass_over()
            if not self._runs and self._end - self._place >= WAITING:
                self._runs, self._known = True, 0
            if not self._runs:
                self._silent += count if self._end else 0
                return silence(count)
            self._follow(count)
            needed = count * self._speed + (0 if self._is_whole else _TAPS)
            if self._end - self._place < needed:
                self._runs = False
                self._silent += count
                return silence(count)
            waves = self._play(count)
            self._place += count * self._speed
            self._forget()
            return waves

    def _follow(self, count: int) -> None:
        """Choose the speed by how much more or less waits than in the first second."""
        waits = float(self._end - self._place)
        if self._known < KNOWN_AFTER:
            self._usual += (waits - self._usual) * count / (self._known + count)
            self._average = self._usual
            self._known += count
            return
        self._average += (waits - self._average) * min(count / (RATE * AVERAGED_S), 1.0)
        over = self._average - self._usual
        over = math.copysign(max(abs(over) - DEAD_BAND, 0.0), over) / RATE
        self._drift = _bounded(self._drift + over / (SETTLING_S * LEARNING_S) * count / RATE)
        change = _bounded(self._drift + over / SETTLING_S)
        self._speed = 1 + Fraction(round(change * FINENESS), FINENESS)

    @property
    def _is_whole(self) -> bool:
        """Whether it plays samples as they came."""
        return self._speed == 1 and self._place.denominator == 1

    def _play(self, count: int) -> Waves:
        if self._is_whole:
            first = int(self._place)
            return self.samples(first, first + count)
        return at_speed(self, self._place, self._speed, count)

    # -- what is kept, under the lock ----------------------------------------------------------------

    @property
    def length(self) -> None:
        """It has no end."""
        return

    def samples(self, begin: int, end: int) -> Waves:
        """What came, by the number of its samples."""
        out = silence(end - begin)
        for at, waves in self._pieces:
            if at < end and at + len(waves) > begin:
                out += cut(waves, begin, end, at)
        return out

    def close(self) -> None:
        """Nothing is open."""

    def _pass_over(self) -> None:
        over = int(self._end - self._place) - WAITING
        self._place += over
        self._dropped += over
        self._average = self._usual
        self._forget()

    def _forget(self) -> None:
        """What lies behind, but for what a speed looks back at."""
        while self._pieces and self._pieces[0][0] + len(self._pieces[0][1]) < self._place - _TAPS:
            self._pieces.popleft()


def _bounded(change: float) -> float:
    return min(max(change, -MOST_CHANGE), MOST_CHANGE)


class LiveLimiter:
    """A sum that never goes above full scale, without looking ahead: down at once, up in half a second.

    >>> import numpy as np
    >>> limiter = LiveLimiter()
    >>> [round(float(limiter.limit(np.full((4800, 2), x, np.float32)).max()), 2) for x in (0.5, 2, 0.5)]
    [0.5, 1.0, 0.35]
    """

    def __init__(self) -> None:
        self._gain = 1.0

    def limit(self, waves: Waves) -> Waves:
        """The next samples."""
        peak = float(np.abs(waves).max(initial=0.0))
        wanted = 1.0 if peak <= 1 else 1 / peak
        before = min(self._gain, wanted)
        self._gain = min(before + len(waves) / (RATE / 2), wanted)
        if before == self._gain == 1.0:
            return waves
        ramp = np.linspace(before, self._gain, len(waves), dtype=np.float32)
        return np.asarray(waves * ramp[:, None], np.float32)
