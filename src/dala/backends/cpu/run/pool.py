"""Threads that help with native work, and never touch Python.

A run is a native function that several threads call at once: it takes its pieces of work from an atomic
counter of its own (``void work(ptr block, ptr scratch)``) and returns when there are none left. The caller
always works. Helpers that are free join it; one that comes late finds no ticket, and is not waited for.

    caller   claim a slot · write down what to do · hand out tickets · wake a few helpers
             work · take the tickets back · wait for the helpers that have begun
    helper   look for a ticket · wake a few more · work · look again · spin a little · sleep

The helpers are native threads, which serve until the interpreter leaves. They are woken as a tree (each one
that finds work wakes the next four), as waking is what takes the time: one call of the system for each.

What they do is written in pool_code.py. How many join a run follows from its work and from how long waking
takes here, which is measured once.
"""

from __future__ import annotations

import ctypes
import math
import os
import time
from array import array
from collections.abc import Sequence
from typing import TypeAlias

from dala import forking, leaving
from dala.backends.cpu.run import cores, native_threads
from dala.backends.cpu.run.pool_code import LIMIT, PARKING, SERVING, SPIN_NS, pool_code
from dala.errors import OutOfMemoryError
from dala.once import once_per_process

MEASUREMENTS = 7
LONGEST_BIRTH_S = 0.1  # of waiting for all helpers before measuring
LATEST = 1.5  # times the time it takes to come must have passed when all is done
LEAST_WORK_NS = 10_000  # no thread is woken for less, however fast that is
LONGEST_WAKE_NS = 400_000  # who measures how long waking takes does not wait longer
LONGEST_MEASURING_S = 0.02  # of trying again where nobody comes in that time
FIRST_PAUSE_S = 1.0  # before a machine that was busy is measured again

_NOBODY: list[int] = []
Run: TypeAlias = "tuple[int, int, int, int, int]"  # the arguments of Pool.run


class Pool:
    """This process's helpers. They are started when the first run needs them."""

    def __init__(self) -> None:
        self._code = pool_code()
        self.address = self._code.new()
        if not self.address:
            raise OutOfMemoryError("no memory for the threads that help the CPU")
        self._limit = ctypes.c_int32.from_address(self.address + LIMIT)
        self._code.prepare(self.address + PARKING)
        self._helpers = 0  # that were started
        self._threads: list[int] = []  # to be joined
        self._most = 1 << 14  # that can be
        self._lock = forking.lock()
        self._process = os.getpid()
        leaving.at_leave(self._close)

    def run(self, work: int, block: int, scratch: int, need: int, helpers: int) -> None:
        """Have up to so many helpers join a call of ``work(block, scratch)``; ``need`` is how many bytes
        of scratch memory each of them gets for itself. All are addresses; their owner holds on to them."""
        self._code.run(self.address, work, block, scratch, need, self._at_most(helpers))

    def run_each(self, runs: Sequence[Run]) -> None:
        """One run after the other, in a single native call: nobody else takes the GIL in between."""
        words = array("q")
        for work, block, scratch, need, helpers in runs:
            words.extend((work, block, scratch, need, self._at_most(helpers)))
        self._code.run_each(self.address, words.buffer_info()[0], len(runs))

    def _at_most(self, helpers: int) -> int:
        """So many helpers, if there are as many; those who are missing are started."""
        threads = cores.thread_count()
        self._limit.value = threads
        helpers = min(helpers, threads - 1)
        if helpers > self._helpers:
            self.start(helpers)
        return helpers

    def start(self, count: int) -> None:
        """Have so many helpers."""
        with self._lock:
            self._start_helpers(count)

    def _start_helpers(self, count: int) -> None:
        while self._helpers < min(count, self._most) and not leaving.has_begun():
            self._helpers += 1  # before: should a signal come between, there is one less
            thread = native_threads.start(self._code.serve, self.address)
            if thread is None:  # the system gives no more: fewer will do
                self._most = self._helpers = self._helpers - 1
            else:
                self._threads.append(thread)

    def _close(self) -> None:
        if os.getpid() != self._process:  # forked: the helpers are the parent's
            return
        self._code.close(self.address)
        while self._threads:  # their last instructions are code that may be freed after this
            native_threads.join(self._threads.pop())

    @property
    def serving(self) -> int:
        """How many helpers have begun to serve, and not ended."""
        return ctypes.c_int32.from_address(self.address + SERVING).value

    def measure_arrivals(self, helpers: int) -> list[int]:
        """After how many nanoseconds the first of them, the second … is at work.

        All of them are called, however few threads are wanted at the moment.
        """
        self.start(helpers)
        self._limit.value = helpers + 1
        begun = int(self._code.now())
        block = array("q", [0, helpers + 1, begun + LONGEST_WAKE_NS] + [0] * (helpers + 1))
        self._code.run(self.address, self._code.meet, block.buffer_info()[0], None, 0, helpers)
        come = sorted(t - begun for t in block[3:] if t)[1:]  # the first one is the caller
        return [*come, *[LONGEST_WAKE_NS] * (helpers - len(come))]


@once_per_process
def pool() -> Pool:
    """The pool of this process."""
    return Pool()


class Waking:
    """How long it takes helpers to come, measured when that is first asked for.

    A machine that was busy then is asked again, a second later, two, four …: it would otherwise do with few
    threads as long as the process lives.
    """

    def __init__(self) -> None:
        self._lock = forking.lock()
        self._pause_s = FIRST_PAUSE_S
        self.arrivals = _measure_arrivals()
        self._due = self._next_time()

    def ask_again(self) -> list[int]:
        """When the first helper, the second … comes. Another list each time it was measured."""
        if time.monotonic() > self._due and self._lock.acquire(blocking=False):
            try:
                self.arrivals = _measure_arrivals()
                self._due = self._next_time()
            finally:
                self._lock.release()
        return self.arrivals

    def _next_time(self) -> float:
        if not _nobody_came(self.arrivals):
            return math.inf
        self._pause_s *= 2
        return time.monotonic() + self._pause_s / 2


@once_per_process
def waking() -> Waking:
    """How long waking takes in this process."""
    return Waking()


def _measure_arrivals() -> list[int]:
    """When the first helper, the second … comes, if all are called at once.

    The fastest of a few times. One core may be busy elsewhere: then its helper comes late, if at all, and
    that says nothing of the others.
    """
    most = cores.machine_threads() - 1
    pool().start(most)
    patience = time.monotonic() + LONGEST_BIRTH_S
    while pool().serving < most and time.monotonic() < patience:
        time.sleep(1e-4)
    fastest = [LONGEST_WAKE_NS] * most
    measured, until = 0, time.monotonic() + LONGEST_MEASURING_S
    while measured < MEASUREMENTS or (_nobody_came(fastest) and time.monotonic() < until):
        time.sleep(2e-9 * SPIN_NS)  # until they sleep
        fastest = list(map(min, fastest, pool().measure_arrivals(most)))
        measured += 1
    return fastest


def _nobody_came(arrivals: list[int]) -> bool:
    """Or so few that the machine must have been busy."""
    return arrivals[len(arrivals) // 2] == LONGEST_WAKE_NS


def useful_helpers(work_ns: float) -> int:
    """How many helpers make a piece of work faster that takes one thread so long.

    Until the end at t all together have worked for t + Σ (t - when each came): the last one is worth waking
    if it comes well before that.
    """
    late = 0
    arrivals = latest_arrivals(work_ns)
    for useful, comes in enumerate(arrivals):
        late += comes
        if LATEST * comes > (work_ns + late) / (useful + 2):
            return useful
    return len(arrivals)


def latest_arrivals(work_ns: float) -> list[int]:
    """When helpers come to a piece of work that takes one thread so long: the same list as before unless it
    was measured again. Nobody comes to short ones."""
    if cores.machine_threads() == 1 or work_ns < LEAST_WORK_NS:
        return _NOBODY
    return waking().ask_again()
