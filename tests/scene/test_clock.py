"""Clocks: real, by hand, by the sound; and the pool of textures."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from dala.errors import ParameterError, PoolExhaustedError, SceneError
from dala.scene import Clock, TexturePool

PATIENCE = 60.0


class Machine:
    """Nanoseconds that go on when told to."""

    def __init__(self) -> None:
        self.ns = 5_000_000_000

    def __call__(self) -> int:
        return self.ns


def test_a_real_clock_follows_the_machine() -> None:
    machine = Machine()
    clock = Clock("real", nanoseconds=machine)
    machine.ns += 10**9
    assert clock.now == 0 and not clock.is_running
    clock.start()
    machine.ns += 1_500_000_000
    assert clock.now == Fraction(3, 2)
    clock.pause()
    machine.ns += 10**9
    assert clock.now == Fraction(3, 2)
    clock.start()
    machine.ns += 10**9
    assert clock.now == Fraction(5, 2)
    clock.seek(1.0)
    assert clock.now == 1
    assert clock.drift == 0.0


def test_a_manual_clock_calls_for_every_frame_on_the_way() -> None:
    clock = Clock("manual")
    seen: list[Fraction] = []
    end = clock.subscribe(seen.append, fps=Fraction(30000, 1001))
    clock.advance(0.1)
    assert seen == [Fraction(1001, 30000) * n for n in range(3)]
    assert clock.stats.ticks == 3 and clock.dropped == 0
    end()
    clock.advance(1.0)
    assert len(seen) == 3
    with pytest.raises(ParameterError, match="seek goes back"):
        clock.advance(-1.0)
    with pytest.raises(SceneError, match="only a manual clock"):
        Clock("real").advance(1.0)


def test_an_audio_clock_follows_the_sound_and_never_goes_back() -> None:
    machine = Machine()
    clock = Clock("audio", nanoseconds=machine)
    clock.report(Fraction(0))
    machine.ns += 10**9
    assert clock.now == 1
    clock.report(Fraction(99, 100))  # the sound card is a hundredth slow
    assert clock.now == 1 and clock.drift == pytest.approx(-0.01)
    machine.ns += 10**9
    assert clock.now == Fraction(199, 100)
    clock.report(Fraction(21, 10))
    assert clock.now == Fraction(21, 10)
    with pytest.raises(SceneError, match="only an audio clock"):
        Clock("real").report(Fraction(1))


def test_ticks_come_from_a_thread_that_ends() -> None:
    clock = Clock("real")
    seen: list[Fraction] = []
    enough = threading.Event()

    def tick(moment: Fraction) -> None:
        seen.append(moment)
        if len(seen) >= 5:
            enough.set()

    before = threading.active_count()
    clock.subscribe(tick, fps=200)
    clock.start()
    assert enough.wait(PATIENCE)
    clock.close()
    assert threading.active_count() == before
    assert seen == sorted(set(seen)) and all((moment * 200).denominator == 1 for moment in seen)
    with pytest.raises(SceneError, match="closed"):
        clock.start()


def test_a_slow_listener_drops_frames_and_they_are_counted() -> None:
    machine = Machine()
    clock = Clock("real", nanoseconds=machine)
    seen: list[Fraction] = []
    called = threading.Semaphore(0)

    def tick(moment: Fraction) -> None:
        seen.append(moment)
        if len(seen) == 1:
            machine.ns += 10**9  # it takes a second
        called.release()

    clock.subscribe(tick, fps=10)
    clock.start()
    for _ in range(2):
        assert called.acquire(timeout=PATIENCE)
    clock.close()
    assert seen[:2] == [Fraction(0), Fraction(1)] and clock.dropped == 9


def test_the_pool_is_balanced() -> None:
    pool = TexturePool(4, 2, count=2)
    first, second = pool.acquire(), pool.acquire()
    assert first.pixels.shape == (2, 4, 4) and pool.stats == (0, 2, 2)
    with pytest.raises(PoolExhaustedError, match="all 2 textures are in use"):
        pool.acquire(timeout=0)
    threading.Timer(0.01, second.release).start()
    with pool.acquire(timeout=PATIENCE) as third:
        assert third.pixels is second.pixels
    pool.release(first)
    with pytest.raises(SceneError, match="back already"):
        pool.release(first)
    assert pool.stats == (2, 0, 2)
    pool.close()
    with pytest.raises(SceneError, match="closed"):
        pool.acquire()
    with pytest.raises(ParameterError, match="count is 1 to"):
        TexturePool(4, 4, count=0)
