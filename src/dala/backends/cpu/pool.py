"""Threads that help with native work, and never touch Python.

A run is a native function that several threads call at once: it takes its pieces of work from an atomic
counter of its own (``void work(ptr block, ptr scratch)``) and returns when there are none left. The caller
always works. Helpers that are free join it; one that comes late finds no ticket, and is not waited for.

    caller   claim a slot · write down what to do · hand out tickets · wake a few helpers
             work · take the tickets back · wait for the helpers that have begun
    helper   look for a ticket · wake a few more · work · look again · spin a little · sleep

The helpers are threads of Python's only at their birth: their first call is ``serve``, which does not
return until the interpreter leaves. They are woken as a tree (each one that finds work wakes
the next four), as waking is what takes the time: one call of the system for each thread.

What they do is written in pool_code.py. How many join a run follows from its work and from how long waking
takes here, which is measured once.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import time
from array import array

from dala import forking, leaving
from dala.backends.cpu import cores
from dala.backends.cpu.pool_code import LIMIT, PARKING, SERVING, SPIN_NS, pool_code
from dala.errors import OutOfMemoryError
from dala.once import once_per_process

MEASUREMENTS = 7
LONGEST_BIRTH_S = 0.1  # of waiting for all helpers before measuring
LATEST = 1.5  # times the time it takes to come must have passed when all is done
LEAST_WORK_NS = 10_000  # no thread is woken for less, however fast that is
LONGEST_WAKE_NS = 400_000  # who measures how long waking takes does not wait longer
LONGEST_MEASURING_S = 0.02  # of trying again where nobody comes in that time


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
        self._most = 1 << 14  # that can be
        self._lock = forking.lock()
        self._process = os.getpid()
        leaving.at_leave(self._close)

    def run(self, work: int, block: int, scratch: int, need: int, helpers: int) -> None:
        """Have up to so many helpers join a call of ``work(block, scratch)``; ``need`` is how many bytes
        of scratch memory each of them gets for itself. All are addresses; their owner holds on to them."""
        threads = cores.thread_count()
        self._limit.value = threads
        helpers = min(helpers, threads - 1)
        if helpers > self._helpers:
            self.start(helpers)
        self._code.run(self.address, work, block, scratch, need, helpers)

    def start(self, count: int) -> None:
        """Have so many helpers."""
        with self._lock:
            while self._helpers < min(count, self._most) and not leaving.has_begun():
                self._helpers += 1  # before: should a signal come between, there is one less
                try:
                    _thread.start_new_thread(self._code.serve, (self.address,))
                except RuntimeError:  # the system gives no more: fewer will do
                    self._most = self._helpers = self._helpers - 1

    def _close(self) -> None:
        if os.getpid() == self._process:  # forked: the helpers are the parent's
            self._code.close(self.address)

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


@once_per_process
def _arrivals() -> list[int]:
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
    while measured < MEASUREMENTS or (
        fastest[most // 2] == LONGEST_WAKE_NS and time.monotonic() < until
    ):
        time.sleep(2e-9 * SPIN_NS)  # until they sleep
        fastest = list(map(min, fastest, pool().measure_arrivals(most)))
        measured += 1
    return fastest


def useful_helpers(work_ns: float) -> int:
    """How many helpers make a piece of work faster that takes one thread so long.

    Until the end at t all together have worked for t + Σ (t - when each came): the last one is worth waking
    if it comes well before that.
    """
    if cores.machine_threads() == 1 or work_ns < LEAST_WORK_NS:
        return 0
    late = 0
    for useful, comes in enumerate(_arrivals()):
        late += comes
        if LATEST * comes > (work_ns + late) / (useful + 2):
            return useful
    return cores.machine_threads() - 1
