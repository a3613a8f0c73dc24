"""Signals at every place where they can come, one after another, on the main thread.

Behind each instruction in turn a signal has just arrived. CPython calls its handler where it looks for
signals and nowhere else, and the handler raises. Nothing here depends on time.

Whatever makes a signal arrive is C and called without a look behind it, or the handler would run here.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any


class Interrupted(BaseException):
    """What the handlers raise."""


def _as_trace_function(name: str) -> Any:
    """A function of Python's C API. It takes no notice of what it is given."""
    function = ctypes.pythonapi[name]
    function.argtypes, function.restype = [ctypes.py_object] * 3, None
    return function


_interrupt = _as_trace_function("PyErr_SetInterrupt")
_pass = _as_trace_function("Py_GetVersion")


class _Second:
    """``-_Second()`` makes SIGTERM arrive."""

    __neg__ = staticmethod(functools.partial(_thread.interrupt_main, signal.SIGTERM))


def interrupt_everywhere(
    work: Callable[[], object], check: Callable[[], object], signals: int = 1
) -> int:
    """Do it as often as it has instructions, interrupted behind another one each time, and ``check`` after
    each; how often it was interrupted. If two signals arrive, the second one is seen where CPython looks
    next."""
    arrivals = [_Arrival(number, signals > 1) for number in range(_instructions(work))]
    for arrival in arrivals:
        arrival.during(work)
        check()
    return sum(arrival.came for arrival in arrivals)


def _instructions(work: Callable[[], object]) -> int:
    never = 1 << 60
    for _ in range(2):  # the first time something may be made that is kept
        arrival = _Arrival(never, False)
        arrival.during(work)
    return never - arrival.left


class _Arrival:
    """Of a signal behind the instruction of that number."""

    def __init__(self, number: int, second: bool) -> None:
        self.left = number
        self.came = False
        self._second = second

    def during(self, work: Callable[[], object]) -> None:
        before = sys.gettrace()
        handlers = [(n, signal.signal(n, self._handle)) for n in (signal.SIGINT, signal.SIGTERM)]
        try:
            try:
                self._trace(work)
            finally:
                time.sleep(0)  # behind this call the second one is seen at the latest
        except Interrupted:
            pass
        sys.settrace(before)
        for number, handler in handlers:
            signal.signal(number, handler)

    def _trace(self, work: Callable[[], object]) -> None:
        sys.settrace(self._look)
        work()
        sys.settrace(None)

    def _look(self, frame: FrameType, event: str, _given: object) -> Any:
        if frame.f_globals is globals():
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            self.left -= 1
            if self.left == -1:
                self._interrupt_behind(frame)
        return frame.f_trace or self._look

    def _interrupt_behind(self, last: FrameType) -> None:
        """From now on nothing of Python's is called here, or the handler would be."""
        sys.settrace(_pass)
        last.f_trace = _interrupt
        outer = last.f_back
        while outer is not None:
            if outer.f_trace is not None:
                outer.f_trace = _interrupt
            outer = outer.f_back

    def _handle(self, number: int, frame: FrameType | None) -> None:
        sys.settrace(None)
        self.came = True
        if frame is not None:
            frame.f_trace = None
        if number == signal.SIGINT and self._second:
            -_Second()  # type: ignore[operator]
        raise Interrupted
