"""Ctrl-C at moments that nobody chose, again and again. Runs in a process of its own."""

from __future__ import annotations

import faulthandler
import random
import signal
import sys
from collections.abc import Callable

from processes import HANGS_S


def interrupt_often(
    times: int, work: Callable[[], object], check: Callable[[], object], *also: type[Exception]
) -> None:
    """Interrupt ``work`` so many times, each somewhere else, and ``check`` after each that all is well.

    ``also`` is what an interrupt may become. A timer fires once, so none is under way while checking.
    """
    faulthandler.dump_traceback_later(HANGS_S - 10, exit=True)  # says where it hangs
    sys.unraisablehook = lambda _: None  # one that hits a finalizer is lost
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    chance = random.Random(0)
    for _ in range(times):
        try:
            while True:
                # again, should the last one have been lost
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 3e-3))
                for _ in range(20):
                    work()
        except (KeyboardInterrupt, *also):
            pass
        try:  # noqa: SIM105 (suppress() is Python, and could itself be interrupted)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass  # it was under way still, and is over now
        check()
    faulthandler.cancel_dump_traceback_later()
