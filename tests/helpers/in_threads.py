"""Work done by several threads at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

PATIENCE_S = 300.0  # far more than anything takes


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """``work`` with 0 … count-1, each in a thread, all begun together; what one raises is a failure.

    Python changes threads as often as it can meanwhile, so that a race has its chance.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        _run_together(count, work)
    finally:
        sys.setswitchinterval(usual)


def _run_together(count: int, work: Callable[[int], None]) -> None:
    errors: list[BaseException] = []
    gate = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            gate.wait(PATIENCE_S)
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


def wait_until(
    condition: Callable[[], object], told: Callable[[], str] = lambda: "it never came to that"
) -> None:
    """Come back when it is so; that it never is is a failure, which is told."""
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < limit, told()
        time.sleep(0.002)
