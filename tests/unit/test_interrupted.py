"""An exception of a signal's handler leaves no lock locked.

CPython looks for signals where a function of Python's begins: here each of those raises, one after another.
(It also does where one of C has returned, and where a loop begins anew: see ``tests/meta/test_locks.py``.)
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from dala import leaving
from dala.locks import Condition, Event


class Interrupted(BaseException):
    """What the handler raises."""


def interruptions(work: Callable[[], None], within: str = "") -> int:
    """Do it again and again, interrupted a call later each time, until it is not; how often it was. If a
    function is named, only from its call on."""
    for count in range(1000):
        if _is_done(work, within, count):
            return count
    raise AssertionError("it never ends")


def _is_done(work: Callable[[], None], within: str, calls: int) -> bool:
    counts = not within

    def look(frame: FrameType, _event: str, _given: object) -> None:
        nonlocal calls, counts
        counts = counts or frame.f_code.co_name == within
        calls -= counts
        if calls < 0:
            raise Interrupted

    before = sys.gettrace()
    sys.settrace(look)
    try:
        work()
    except Interrupted:
        return False
    finally:
        sys.settrace(before)
    return True


def is_free(take: Callable[[bool], bool]) -> bool:
    """For another thread."""
    taken: list[bool] = []
    thread = threading.Thread(target=lambda: taken.append(take(False)))
    thread.start()
    thread.join()
    return taken[0]


@pytest.mark.parametrize("lock", [None, threading.Lock], ids=["nested", "plain"])
def test_a_condition_is_open_again(lock: Callable[[], Any] | None) -> None:
    conditions: list[Condition] = []

    def work() -> None:
        condition = Condition(lock() if lock else None)
        conditions.append(condition)
        with condition:
            condition.notify_all()

    assert interruptions(work) > 5
    assert all(is_free(c.acquire) for c in conditions)


def test_an_event_can_be_set_and_waited_for_again() -> None:
    events: list[Event] = []

    def work() -> None:
        event = Event()
        events.append(event)
        event.set()
        event.wait(0)

    assert interruptions(work) > 10
    assert all(is_free(e._changed.acquire) for e in events)


def test_whoever_was_inside_native_code_is_outside_again() -> None:
    """Or a fork on another thread would wait for it for good."""
    gates: list[Any] = []

    def enter() -> None:
        gates.append(leaving._own.gate)

    def work() -> None:
        with leaving.native:
            enter()

    thread = threading.Thread(target=interruptions, args=(work, "enter"))
    thread.start()
    thread.join()
    assert gates and all(is_free(gate.acquire) for gate in gates)
