"""Clocks: what time it is in a scene. The machine's time, a hand's, or that of the sound being played."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from dala.closing import Closing
from dala.errors import ArgumentError, ParameterError, SceneError
from dala.locks import Condition
from dala.scene.times import Time, exact

Mode: TypeAlias = Literal["real", "manual", "audio"]
Tick: TypeAlias = Callable[[Fraction], None]


class ClockStats(NamedTuple):
    """What a clock has done.

    >>> from dala import scene
    >>> scene.Clock("manual").stats.ticks
    0
    """

    ticks: int
    dropped: int
    late_ms: float  # the latest tick so far
    drift_ms: float


class Clock(Closing):
    """The time of a scene in seconds, as a fraction.

    ``"real"`` follows the machine; ``"manual"`` stands still until ``advance`` or ``seek``; ``"audio"``
    follows the position that a sound device reports, and runs on by itself between two reports.

    >>> from dala import scene
    >>> clock = scene.Clock("manual")
    >>> clock.advance(0.25)
    >>> clock.now
    Fraction(1, 4)
    """

    def __init__(
        self, mode: Mode = "real", *, nanoseconds: Callable[[], int] = time.monotonic_ns
    ) -> None:
        if mode not in ("real", "manual", "audio"):
            raise ParameterError(f"Clock: expected real, manual or audio, got {mode!r}")
        self.mode = mode
        self._read = nanoseconds
        self._changed = Condition()
        self._base = Fraction(0)  # the scene's time at ...
        self._since: int | None = None  # ... this reading of the machine's clock; None: it stands
        self._first: tuple[Fraction, int] | None = None  # the first report of a sound device
        self._latest = Fraction(0)
        self._tickers: list[_Ticker] = []
        self._closed = False

    @property
    def now(self) -> Fraction:
        """The time; it never goes back but by ``seek``."""
        with self._changed:
            return self._now()

    def _now(self) -> Fraction:
        if self._since is None or self.mode == "manual":
            return self._base
        found = self._base + Fraction(self._read() - self._since, 1_000_000_000)
        self._latest = max(self._latest, found)
        return self._latest

    @property
    def is_running(self) -> bool:
        """Whether time passes; of a manual clock: whether anybody has moved it."""
        return self._since is not None

    def start(self) -> None:
        """Let time pass, from where it stands."""
        with self._changed:
            self._check()
            if self._since is None:
                self._since = self._read()
                self._changed.notify_all()

    def pause(self) -> None:
        """Let it stand where it is."""
        with self._changed:
            self._base = self._now()
            self._since = None
            self._changed.notify_all()

    def seek(self, time: Time) -> None:
        """Go to a time, also backwards."""
        moment = exact(time, "seek")
        with self._changed:
            self._check()
            self._base = self._latest = moment
            self._first = None
            if self._since is not None or self.mode == "manual":
                self._since = self._read()
            for ticker in self._tickers:
                ticker.restart(moment)
            self._changed.notify_all()

    def advance(self, by: Time) -> None:
        """Move a manual clock on; those who subscribed are called for every time of theirs on the way."""
        step = exact(by, "advance")
        if self.mode != "manual":
            raise SceneError(
                f"advance: only a manual clock is moved by hand; this one is {self.mode!r}"
            )
        if step < 0:
            raise ParameterError(f"advance: time goes on, got {by!r}; seek goes back")
        with self._changed:
            self._check()
            self._base += step
            self._since = self._read()
            due = [
                (moment, n, ticker)
                for n, ticker in enumerate(self._tickers)
                for moment in ticker.due(self._base)
            ]
        for moment, _, ticker in sorted(due, key=lambda row: row[:2]):
            ticker.call(moment)

    def report(self, position: Time) -> None:
        """What a sound device has played by now: an audio clock is there from now on, and never behind."""
        if self.mode != "audio":
            raise SceneError(
                f"report: only an audio clock follows a sound; this one is {self.mode!r}"
            )
        moment = exact(position, "report")
        with self._changed:
            self._check()
            read = self._read()
            if self._first is None:
                self._first = (moment, read)
            self._base, self._since = moment, read
            self._latest = max(self._latest, moment)
            self._changed.notify_all()

    @property
    def drift(self) -> float:
        """Seconds that an audio clock is ahead of the machine's since its first report; else 0."""
        with self._changed:
            if self.mode != "audio" or self._first is None or self._since is None:
                return 0.0
            first, read = self._first
            return float((self._base - first) - Fraction(self._since - read, 1_000_000_000))

    @property
    def dropped(self) -> int:
        """Ticks that came so late that the next one was due already."""
        with self._changed:
            return sum(ticker.dropped for ticker in self._tickers)

    @property
    def stats(self) -> ClockStats:
        """Ticks, dropped ones, the latest, the drift."""
        with self._changed:
            ticks = sum(ticker.ticks for ticker in self._tickers)
            late = max((ticker.late for ticker in self._tickers), default=0.0)
            return ClockStats(ticks, self.dropped, late * 1000, self.drift * 1000)

    def subscribe(self, tick: Tick, fps: float | Fraction = 60) -> Callable[[], None]:
        """Have a function called at every frame's time; the result ends that. A manual clock calls from
        ``advance``, the others from a thread; a call that takes longer than a frame drops some."""
        if not callable(tick):
            raise ArgumentError(f"subscribe: expected a function of the time, got {tick!r}")
        rate = (
            fps
            if isinstance(fps, Fraction)
            else Fraction(repr(fps) if isinstance(fps, float) else fps)
        )
        if not 0 < rate <= 1000:
            raise ParameterError(f"subscribe: fps is above 0, up to 1000, got {fps!r}")
        with self._changed:
            self._check()
            ticker = _Ticker(self, tick, rate)
            self._tickers.append(ticker)
            ticker.restart(self._now())
            if self.mode != "manual":
                ticker.thread = threading.Thread(target=ticker.run, name="dala-clock", daemon=True)
                ticker.thread.start()
        return lambda: self._end(ticker)

    def _end(self, ticker: _Ticker) -> None:
        with self._changed:
            ticker.ended = True
            self._changed.notify_all()
        if ticker.thread is not None and ticker.thread is not threading.current_thread():
            ticker.thread.join()

    def close(self) -> None:
        """End all subscriptions; the time stands."""
        with self._changed:
            if self._closed:
                return
            self.pause()
            self._closed = True
        for ticker in self._tickers:
            self._end(ticker)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def _check(self) -> None:
        if self._closed:
            raise SceneError("the clock is closed")


class _Ticker:
    """One subscription: which frame is due next."""

    def __init__(self, clock: Clock, tick: Tick, fps: Fraction) -> None:
        self._clock, self._tick, self._fps = clock, tick, fps
        self._next = Fraction(0)
        self.ticks = self.dropped = 0
        self.late = 0.0
        self.ended = False
        self.thread: threading.Thread | None = None

    def restart(self, moment: Fraction) -> None:
        """The next frame is the first one not before a moment."""
        self._next = Fraction(math.ceil(moment * self._fps))

    def due(self, now: Fraction) -> list[Fraction]:
        """All frames up to now."""
        found = []
        while not self.ended and self._next / self._fps <= now:
            found.append(self._next / self._fps)
            self._next += 1
        return found

    def call(self, moment: Fraction) -> None:
        if not self.ended:
            self.ticks += 1
            self._tick(moment)

    def run(self) -> None:
        """Wait for each frame and call; what is over when a call returns is dropped."""
        while True:
            with self._clock._changed:
                behind = self._wait_until_due()
                if behind is None:
                    return
                moments = self.due(self._clock._now())
                self.dropped += len(moments) - 1
                self.late = max(self.late, behind)
            self.call(moments[-1])

    def _wait_until_due(self) -> float | None:
        """Seconds that the next frame is late by; None at the end."""
        while not self.ended:
            left = float(self._next / self._fps - self._clock._now())
            runs = self._clock._since is not None
            if runs and left <= 0:
                return -left
            self._clock._changed.wait(left if runs else None)
        return None
