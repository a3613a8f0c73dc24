"""Waiting for the GPU without standing in anybody's way.

wgpu's blocking poll holds a lock that every submit needs: while one thread waits in it no other thread can
hand work to the GPU (beside a product of 5 ms a submit took 3.7 ms, on an H200). So whoever waits asks
again and again instead: at once for as long as short work takes, then with pauses that grow with the wait.
The thread in which wgpu-py looks after mapped buffers blocks likewise, and is made to ask, too.

All of it needs parts of wgpu-py that are not public; where they are missing, ``Waiter`` serves.
"""

from __future__ import annotations

import functools
import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

BRIEF_S = 150e-6  # asked about without a pause
LONGEST_PAUSE_S = 0.5e-3
IDLE_PAUSE_S = 2e-3  # of wgpu-py's thread: it matters only to what does not wait here
PAUSE_PART = 8  # a pause is this part of the wait so far
PATIENCE_S = 2.0  # with a GPU that has nothing left to do, and still has not said so
SLEEPS_SHORTLY = sys.platform != "win32" or sys.version_info >= (3, 11)


class Waiter:
    """Waits in wgpu itself."""

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def until_kept(self, promise: Any) -> None:
        """Return when a promise of wgpu-py is kept; raises what went wrong."""
        promise.sync_wait()

    def until_done(self) -> None:
        """Return when the GPU has done what was submitted before."""
        self._gpu._poll_wait()


class AskingWaiter(Waiter):
    """Asks until it is so."""

    def __init__(self, gpu: Any) -> None:
        super().__init__(gpu)
        from wgpu.backends.wgpu_native import _api

        self._lib, self._ffi = _api.lib, _api.ffi
        self._device, self._queue = gpu._internal, gpu.queue._internal
        _make_it_ask(gpu._poller)
        self.until_done()  # it works, or an AttributeError says which part is missing

    def until_kept(self, promise: Any) -> None:
        self._ask_while(lambda: promise._state == "pending")
        promise.sync_wait()

    def until_done(self) -> None:
        number = next(_numbers)
        _under_way.add(number)
        info = self._ffi.new("WGPUQueueWorkDoneCallbackInfo *")
        info.mode = self._lib.WGPUCallbackMode_AllowProcessEvents
        info.callback = _callback()
        info.userdata1 = self._ffi.cast("void *", number)
        self._lib.wgpuQueueOnSubmittedWorkDone(self._queue, info[0])
        self._ask_while(lambda: number in _under_way)

    def _ask_while(self, unfinished: Callable[[], bool]) -> None:
        begun = busy = time.perf_counter()
        while unfinished():
            idle = self._poll()
            now = time.perf_counter()
            if not idle:
                busy = now
            elif now - busy > PATIENCE_S and unfinished():
                raise RuntimeError(
                    "the GPU was lost: it is idle, and what was submitted is not done"
                )
            if now - begun > BRIEF_S and unfinished():
                time.sleep(min((now - begun) / PAUSE_PART, LONGEST_PAUSE_S))

    def _poll(self) -> bool:
        """Let wgpu see what is done; whether the GPU has nothing left to do."""
        return bool(self._lib.wgpuDevicePoll(self._device, False, self._ffi.NULL))


_numbers = itertools.count(1)
_under_way: set[int] = set()  # waits; adding and discarding are single steps of the interpreter


@functools.cache
def _callback() -> Any:
    """What wgpu calls when work is done. It stays for good: nobody can say when the last call comes."""
    from wgpu.backends.wgpu_native import ffi

    @ffi.callback("void(WGPUQueueWorkDoneStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]
    def done(_status: int, _message: Any, number: Any, _nothing: Any) -> None:
        _under_way.discard(int(ffi.cast("intptr_t", number)))

    return done


def _make_it_ask(poller: Any) -> None:
    """Let wgpu-py's thread ask as well. It must not hold a reference to the device."""
    poll: Callable[[bool], None] = poller._poll_func

    def ask(block: bool) -> None:
        poll(False)
        if block:
            time.sleep(IDLE_PAUSE_S)

    poller._poll_func = ask


def make_waiter(gpu: Any) -> Waiter:
    """The one that leaves others alone, where this version of wgpu-py allows it."""
    if SLEEPS_SHORTLY:
        try:
            return AskingWaiter(gpu)
        except (ImportError, AttributeError):
            pass
    return Waiter(gpu)
