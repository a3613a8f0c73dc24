"""An exception of a signal's handler leaves no lock locked.

CPython looks for signals where a function of Python's begins: here each of those raises, one after another.
(It also does where one of C has returned, and where a loop begins anew: see ``tests/meta/test_locks.py``.)
"""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from signals_anywhere import interrupt_everywhere

from dala import leaving, locks
from dala.backends.webgpu.faults import mapped
from dala.locks import Condition, Event


class Interrupted(BaseException):
    """What the handler raises."""


def interruptions(work: Callable[[], None]) -> int:
    """Do it again and again, interrupted a call later each time, until it is not; how often it was."""
    for count in range(1000):
        if _is_done(work, count):
            return count
    raise AssertionError("it never ends")


def _is_done(work: Callable[[], None], calls: int) -> bool:
    def look(_frame: FrameType, _event: str, _given: object) -> None:
        nonlocal calls
        calls -= 1
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


def is_free(lock: Any) -> bool:
    """For another thread."""
    taken: list[bool] = []

    def take() -> None:
        taken.append(lock.acquire(blocking=False))
        if taken[0]:
            lock.release()

    thread = threading.Thread(target=take)
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
    assert all(is_free(c) for c in conditions)


def test_an_event_can_be_set_and_waited_for_again() -> None:
    events: list[Event] = []

    def work() -> None:
        event = Event()
        events.append(event)
        event.set()
        event.wait(0)

    assert interruptions(work) > 10
    assert all(is_free(e._changed) for e in events)


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("name", ["native", "lock", "rlock", "mapped"])
def test_a_signal_anywhere_leaves_it_open(name: str, signals: int) -> None:
    """Whoever was inside native code is outside again, or a fork on another thread would wait for good."""
    if signals == 2 and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 looks for signals before the first step of any __exit__")
    lock = {"lock": locks.lock(), "rlock": locks.rlock()}.get(name, leaving._own.gate)

    def work() -> None:
        if name == "mapped":
            with mapped("nothing"), leaving.native:
                int("1")
        else:
            with leaving.native if name == "native" else lock:
                int("1")

    def check() -> None:
        assert is_free(lock)

    assert interrupt_everywhere(work, check, signals) > 10


def test_who_maps_errors_is_inside_native_code() -> None:
    """They are two, as only what leaves in C leaves whatever signals come."""
    backends = Path(leaving.__file__).parent
    alone = re.compile(r"with \(?\s*(faults\.)?mapped\((?!.*\bnative\b)", re.S)
    for path in backends.rglob("*.py"):
        statements = (
            ast.unparse(n) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.With)
        )
        for head in (text.partition("\n")[0] for text in statements):
            assert not alone.match(head), f"{path}: {head}"
