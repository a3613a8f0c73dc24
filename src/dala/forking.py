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
    leave_garbage The same for native objects that nobody can name (of GPUs' drivers): once there may be
                  some, a child collects nothing that was made before the fork.
"""

from __future__ import annotations

import gc
import logging  # noqa: F401  (before the registration below, see there)
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import get_ident
from typing import Any

from dala import locks

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_held: list[AbstractContextManager[Any]] = []
_taken: list[AbstractContextManager[Any]] = []  # by the thread that is forking
_beginnings: list[Callable[[], None]] = []
_outliving: list[Callable[[], object]] = []
# By the thread that is forking. A signal's exception may end what is done before the fork, and Python forks
# all the same: nothing needs to have been noted here.
_collecting: dict[int, bool] = {}  # whether garbage was, before the fork
_outlived: dict[int, object] = {}
_kept: list[object] = []  # in a child, for good
_leaves_garbage = False


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


def hold(section: AbstractContextManager[Any], *, outermost: bool = False) -> None:
    """Have nobody in this section while the process is forked. Sections are entered in the order in
    which they were given here: an outer one comes first."""
    _held.insert(0 if outermost else len(_held), section)


def in_child(begin: Callable[[], None]) -> None:
    """Call this in every forked process, in the order of registration."""
    _beginnings.append(begin)


def outlive(living: Callable[[], object]) -> None:
    """What this returns before a fork is never freed in the child."""
    _outliving.append(living)


def leave_garbage() -> None:
    """From now on a child leaves alone what was garbage before the fork."""
    global _leaves_garbage
    _leaves_garbage = True


def _before() -> None:
    for section in _held:  # it may grow while an outer one is waited for
        section.__enter__()
        _taken.append(section)
    me = get_ident()
    _outlived[me] = [living() for living in _outliving]
    _collecting[me] = gc.isenabled()
    gc.disable()


def _collect_again() -> None:
    if _collecting.pop(get_ident(), False):
        gc.enable()


def _go_on_in_parent() -> None:
    _let_go()
    _outlived.pop(get_ident(), None)
    _collect_again()


def _let_go() -> None:
    while _taken:
        _taken.pop().__exit__(None, None, None)


def _begin_in_child() -> None:
    if _leaves_garbage:
        gc.freeze()
    _kept.append(_outlived.pop(get_ident(), None))
    _let_go()
    for each in tuple(_locks):
        each._at_fork_reinit()  # as the standard library does with its own
    for begin in tuple(_beginnings):
        begin()
    _collect_again()


# Who registers last takes its locks first. logging takes its own at a fork as well, and whoever is inside
# one of the sections may be about to log: so logging must have registered before.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_go_on_in_parent, after_in_child=_begin_in_child
    )
