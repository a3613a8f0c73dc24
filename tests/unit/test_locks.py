"""Ctrl-C leaves no lock locked, wherever in ``with`` it comes."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from dala import locks

ROUNDS = 400


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("make", [locks.lock, locks.rlock], ids=["lock", "rlock"])
def test_an_interrupt_leaves_it_open(make: Callable[[], Any]) -> None:
    lock = make()

    def enter() -> None:
        with lock:
            pass

    def enter_until(later: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, later)
        while True:
            enter()

    def is_open() -> bool:
        """Asked from another thread, as its owner may always take an RLock again."""
        answers: list[bool] = []

        def ask() -> None:
            answers.append(lock.acquire(blocking=False))
            if answers[0]:
                lock.release()

        other = threading.Thread(target=ask)
        other.start()
        other.join()
        return answers[0]

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    chance = random.Random(0)
    try:
        for _ in range(ROUNDS):
            with pytest.raises(KeyboardInterrupt):
                enter_until(chance.uniform(1e-5, 2e-4))
            assert is_open()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_it_keeps_others_out_and_wakes_them() -> None:
    lock, inside, order = locks.lock(), threading.Event(), []

    def other() -> None:
        inside.set()
        with lock:
            order.append("other")

    thread = threading.Thread(target=other)
    with lock:
        thread.start()
        assert inside.wait(300)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]


def test_a_condition_of_it_waits_and_is_told() -> None:
    changed, seen = locks.Condition(), []

    def tell() -> None:
        with changed:
            seen.append(1)
            changed.notify_all()

    thread = threading.Thread(target=tell)
    with changed:
        thread.start()
        assert changed.wait_for(lambda: seen, timeout=300)
    thread.join()


def test_what_is_raised_inside_opens_it() -> None:
    lock = locks.lock()
    with pytest.raises(ValueError, match="inside"), lock:
        raise ValueError("inside")
    assert lock.acquire(blocking=False)
    lock.release()
