"""An exception of a signal's handler leaves no lock locked, wherever it comes."""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from signals_anywhere import interrupt_everywhere

import dala
from dala import leaving, locks
from dala.backends.webgpu.faults import mapped
from dala.once import once


def enter(section: Any) -> None:
    with section:
        int("1")


def enter_mapped() -> None:
    with mapped("nothing"), leaving.native:
        int("1")


def be_told(condition: locks.Condition) -> None:
    with condition:
        condition.notify_all()
        condition.wait_for(lambda: True)


def be_over(event: locks.Event) -> None:
    event.set()
    event.wait(0)


def make_again(made: once[int]) -> None:
    made._made.clear()
    made()


def cases() -> dict[str, tuple[Any, Callable[[], None]]]:
    """What is to be open again, and what takes it."""
    lock, nested, plain = locks.lock(), locks.rlock(), locks.Condition(locks.lock())
    condition, event, made = locks.Condition(), locks.Event(), once(lambda: int("1"))
    return {
        "lock": (lock, lambda: enter(lock)),
        "rlock": (nested, lambda: enter(nested)),
        "native": (leaving._own.gate, lambda: enter(leaving.native)),
        "mapped": (leaving._own.gate, enter_mapped),
        "condition": (condition, lambda: be_told(condition)),
        "plain condition": (plain, lambda: be_told(plain)),
        "event": (event._changed, lambda: be_over(event)),
        "once": (made._lock, lambda: make_again(made)),
    }


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


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("name", cases())
def test_it_is_open_again(name: str, signals: int) -> None:
    """Or a fork on another thread would wait for good, where it is native code that was left."""
    if signals == 2 and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 looks for signals before the first step of any __exit__")
    lock, work = cases()[name]

    def check() -> None:
        assert is_free(lock)

    assert interrupt_everywhere(work, check, signals) > 5


def test_who_maps_errors_is_inside_native_code() -> None:
    """They are two, as only what leaves in C leaves whatever signals come."""
    alone = re.compile(r"with (faults\.)?mapped\((?!.*\bnative\b)")
    for path in Path(dala.__file__).parent.rglob("*.py"):
        for statement in ast.walk(ast.parse(path.read_text())):
            if isinstance(statement, ast.With):
                head = ast.unparse(statement).partition("\n")[0]
                assert not alone.match(head), f"{path}: {head}"
