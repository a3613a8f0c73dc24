"""Sections of code that nothing may disturb: inside GLFW, and inside a driver that draws into a window.

Python runs there, too, called back by GLFW: whatever closes a window then frees what GLFW goes on with, and
an exception is lost, or leaves a driver with a texture that nobody presents. Signals' handlers may do both
between any two lines on the main thread. So in such a section

    signals     are noted, and raised again when it is left
    closings    wait for its end (``at_the_end``)
    users' functions are called behind it (``behind``), when everything is allowed again
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

# What programs handle in Python; others end the process, or nobody's handler closes a window there.
NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK", "SIGALRM", "SIGUSR1", "SIGUSR2")
SIGNALS = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))


class Undisturbed(threading.local):
    """``with undisturbed:`` is such a section, each thread's own; it may be nested."""

    def __init__(self) -> None:
        self._depth = 0
        self._handlers: dict[signal.Signals, Any] = {}  # as they were
        self._noted: dict[int, None] = {}
        self._closings: list[Callable[[], object]] = []
        self._behind: list[Callable[[], object]] = []

    @property
    def entered(self) -> bool:
        """Whether somebody is inside."""
        return self._depth > 0

    def at_the_end(self, closing: Callable[[], object]) -> None:
        """Call this as the last thing of the section; at once, if nobody is inside."""
        if self._depth:
            self._closings.append(closing)
        else:
            closing()

    def behind(self, function: Callable[[], object]) -> None:
        """Call this when the section is left; at once, if nobody is inside."""
        if self._depth:
            self._behind.append(function)
        else:
            function()

    def __enter__(self) -> None:
        if not self._depth and threading.current_thread() is threading.main_thread():
            try:
                self._hold_signals()
            except BaseException:  # a handler's own, before it was held
                self._surely_let_go()
                raise
        self._depth += 1

    def __exit__(self, *_raised: object) -> None:
        if self._depth > 1:
            self._depth -= 1
            return
        try:
            self._close_all()
        finally:
            behind, self._behind = self._behind, []
            noted, self._noted = self._noted, {}
            self._depth = 0
            self._leave(behind, noted)

    def _close_all(self) -> None:
        while self._closings:
            self._closings.pop(0)()

    def _leave(self, behind: list[Callable[[], object]], noted: dict[int, None]) -> None:
        try:
            self._surely_let_go()
            for function in behind:
                function()
        finally:
            for number in noted:
                signal.raise_signal(number)

    def _hold_signals(self) -> None:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self._noted[number] = None

    def _surely_let_go(self) -> None:
        """A handler may raise between any two of these lines: what is left is done nevertheless."""
        try:
            self._let_go()
        except BaseException:
            self._let_go()
            raise

    def _let_go(self) -> None:
        while self._handlers:
            number, handler = next(iter(self._handlers.items()))
            signal.signal(number, handler)
            self._handlers.pop(number, None)


undisturbed = Undisturbed()
