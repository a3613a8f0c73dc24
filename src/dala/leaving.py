"""The end of the interpreter, beside threads that go on.

Nobody waits for daemon threads: they run while the interpreter is taken down, and are cut off where they
next need it. In a GPU driver or a compiler that is a crash (a callback that never returns to Rust aborts
the process, a compiler runs into its own destructors) or a hang (whoever is cut off in there keeps its
locks).
So when the main thread is done

1. daemon threads are turned away: in ``native`` and in ``check`` they get a SystemExit, which gives back
   what they hold on its way out, and ends a thread without a word; threads that serve others are let in;
2. those that are inside ``native`` are waited for;
3. what was registered with ``at_leave`` is done, the last first.

The main thread is never turned away: functions registered with atexit can use all of dala.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import get_ident
from typing import Any

from dala import forking, locks

TELL_S = 5.0  # of waiting for native code before the log says so

_leaver = 0  # the thread that takes the interpreter down
_serving: set[int] = set()  # threads that finish what others asked for
_registry = locks.rlock()  # whoever forks holds it: see _all_gates
_gates: weakref.WeakSet[Any] = weakref.WeakSet()  # one for each thread that was ever inside
_last_things: list[Callable[[], None]] = []


class _Own(threading.local):
    """A thread's own lock, which it holds while it is inside."""

    def __init__(self) -> None:
        self.gate = threading.RLock()
        with _registry:
            _gates.add(self.gate)


_own = _Own()


class _Native:
    """See ``native``."""

    def __enter__(self) -> None:
        gate = _own.gate
        try:
            gate.acquire()
            if _leaver and _is_turned_away():
                raise _end()
        except BaseException:  # a signal's, too, which may come behind any call
            try:  # noqa: SIM105 (no call before it: behind that another signal may come)
                gate.release()
            except RuntimeError:  # it was not taken yet
                pass
            raise

    # The gate's own, called in C: at the first line of a function of ours Ctrl-C would leave it locked.
    __exit__ = property(lambda _self: _own.gate.__exit__)


native = (
    _Native()
)  # ``with native:`` around code in which a thread must not be cut off; may be nested


def check() -> None:
    """End this thread if the interpreter is leaving without it."""
    if _leaver and _is_turned_away():
        raise _end()


def has_begun() -> bool:
    """Whether the interpreter is leaving."""
    return _leaver != 0


def is_waited_for() -> bool:
    """Whether the interpreter stays until what this thread has asked for is done."""
    return get_ident() in _serving or not threading.current_thread().daemon


@contextmanager
def serving() -> Iterator[None]:
    """For a thread that something registered with ``at_leave`` tells to end, and waits for. That may have
    begun before the thread comes here: what it was given to do is done nevertheless."""
    me = get_ident()
    _serving.add(me)
    try:
        yield
    finally:
        _serving.discard(me)


def at_leave(last: Callable[[], None]) -> Callable[[], None]:
    """Do this when the interpreter leaves and daemon threads are turned away; the last one first."""
    _last_things.append(last)
    return last


def _is_turned_away() -> bool:
    me = get_ident()
    return me != _leaver and me not in _serving


def _end() -> SystemExit:
    return SystemExit("the interpreter is leaving")


@atexit.register
def _leave() -> None:
    global _leaver
    _leaver = get_ident()
    with _registry:
        gates = list(_gates)
    for gate in gates:
        while not gate.acquire(timeout=TELL_S):
            _tell()
        gate.release()
    with ExitStack() as stack:  # all of them, whatever one of them raises
        for last in _last_things:
            stack.callback(last)


def _tell() -> None:
    import logging  # here: ``import dala`` stays light

    log = logging.getLogger("dala.leaving")
    log.warning("leaving: waiting for a thread that is inside a driver or a compiler")


def _begin_in_child() -> None:
    """The other threads, and whatever they were inside of, stayed in the parent."""
    global _leaver
    _leaver = 0
    _serving.clear()
    _gates.clear()
    _gates.add(_own.gate)


def _all_gates() -> Iterator[Any]:
    """With these nobody is inside ``native``, and nobody comes in."""
    yield _registry  # no thread gets a gate of its own meanwhile
    yield from list(_gates)


# A driver's locks are as they were when the process was forked, and what the parent's threads held is let
# go in the child: their GPU objects would wait for locks that nobody opens.
forking.hold(_all_gates)
forking.in_child(_begin_in_child)
