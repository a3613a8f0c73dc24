"""What a fork leaves behind, put right.

A forked process has one thread, the one that forked. A lock that another thread held stays locked for
good, and native code that another thread was in stays where it was. So there are three kinds of things:

    lock, rlock   Python's own structures. The interpreter forks between two steps of Python, so they are
                  whole; their locks are simply open again in the child.
    hold          Native code with a state of its own (a compiler). Whoever forks takes its lock first, so
                  that nobody is inside, and gives it back in both processes.
    in_child      What must begin anew (threads), after the locks are right.
    outlive       Native objects that wait for threads of their own when they are freed. Those threads
                  stayed in the parent, and the child would wait for good: there, none of them is freed.
    leave_drivers_alone
                  The same for native objects that nobody can name (of GPUs' drivers): once there may be
                  some, a child collects nothing that was made before the fork, and ends behind Python
                  without what they have C do at the exit of a process.

A signal's exception in here is ignored by Python, which forks all the same. So everything is done again
behind it, and by what is so, not by what was noted: a lock is given back if this thread has it.
"""

from __future__ import annotations

import gc
import logging  # noqa: F401  (before the registration below, see there)
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from threading import get_ident
from typing import Any

from dala import locks

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_held: list[Callable[[], Iterable[Any]]] = []
_beginnings: list[Callable[[], None]] = []
_outliving: list[Callable[[], object]] = []
_ending: list[Callable[[], object]] = []
# By the thread that is forking.
_taken: dict[int, list[Any]] = {}  # the locks that were held for it alone
_collecting: dict[int, bool] = {}  # whether garbage was, before the fork
_outlived: dict[int, object] = {}
_kept: list[object] = []  # in a child, for good


def lock() -> threading.Lock:
    """A lock that is open in a forked process."""
    fresh = locks.lock()
    _locks.add(fresh)
    return fresh


def rlock() -> threading.RLock:
    """The same for a lock that its holder may take again."""
    fresh = locks.rlock()
    _locks.add(fresh)
    return fresh


def hold(locks_of: Callable[[], Iterable[Any]], *, outermost: bool = False) -> None:
    """Take these locks (RLocks: they know whose they are) while the process is forked, in the order in
    which they were given here; outermost ones come first."""
    _held.insert(0 if outermost else len(_held), locks_of)


def in_child(begin: Callable[[], None]) -> None:
    """Call this in every forked process, in the order of registration."""
    _beginnings.append(begin)


def outlive(living: Callable[[], object]) -> None:
    """What this returns before a fork is never freed in the child."""
    _outliving.append(living)


def leave_drivers_alone() -> None:
    """From now on a child leaves alone what was garbage before the fork, and C's handlers at its exit."""
    if not _ending and hasattr(os, "fork"):  # Windows has neither it nor a C library without a name
        _ending.append(_make_ending())


def _make_ending() -> Callable[[], object]:
    """What makes C's exit end the process before it comes to the handlers registered so far.

    Mesa's join threads, which are the parent's: the child would crash. The last one registered is called
    first, with the exit status. Only glibc has such handlers; and only there GPUs' drivers are seen that
    live in a child.
    """
    import ctypes  # here: ``import dala`` stays light

    libc = ctypes.CDLL(None)
    if not hasattr(libc, "on_exit"):
        return lambda: None
    flush, end = (ctypes.cast(f, ctypes.c_void_p) for f in (libc.fcloseall, libc._exit))
    return lambda: (libc.on_exit(end, None), libc.on_exit(flush, None))


def _surely(work: Callable[[], None]) -> None:
    try:
        work()
    except BaseException:
        work()
        raise


def _prepare() -> None:
    me = get_ident()
    for locks_of in _held:  # it may grow while an outer one is waited for
        for each in locks_of():
            _take(each, _taken.setdefault(me, []))
    _outlived[me] = [living() for living in _outliving]
    _collecting.setdefault(me, gc.isenabled())
    gc.disable()


def _take(held: Any, taken: list[Any]) -> None:
    if not held._is_owned():  # or whoever forks is inside, and stays there
        taken.append(held)
        held.acquire()


def _let_go() -> None:
    taken = _taken.get(get_ident(), [])
    while taken:
        if taken[-1]._is_owned():
            taken[-1].release()
        taken.pop()
    _taken.pop(get_ident(), None)


def _collect_again() -> None:
    if _collecting.get(get_ident()):
        gc.enable()
    _collecting.pop(get_ident(), None)


def _go_on_in_parent() -> None:
    """The locks last: behind them another thread may fork."""
    _outlived.pop(get_ident(), None)
    _collect_again()
    _let_go()


def _begin_in_child() -> None:
    if _ending:
        gc.freeze()
        _ending[0]()
    _kept.append(_outlived.get(get_ident()))
    _let_go()
    for each in tuple(_locks):
        each._at_fork_reinit()  # as the standard library does with its own
    for begin in tuple(_beginnings):
        begin()
    _collect_again()


# Who registers last takes its locks first. logging takes its own at a fork as well, and whoever is inside
# one of the sections may be about to log: so logging must have registered before.
# Twice: a signal that comes at the first line of the one leaves the other.
if hasattr(os, "register_at_fork"):
    for _ in range(2):
        os.register_at_fork(
            before=partial(_surely, _prepare),
            after_in_parent=partial(_surely, _go_on_in_parent),
            after_in_child=partial(_surely, _begin_in_child),
        )
