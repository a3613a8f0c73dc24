"""Waiting for the GPU without standing in anybody's way.

wgpu's blocking poll holds a lock that every submit needs: while one thread waits in it no other thread can
hand work to the GPU (beside a product of 5 ms a submit took 3.7 ms, on an H200). So whoever waits asks
again and again instead: at once for as long as short work takes, then with pauses that grow with the wait.
The thread in which wgpu-py looks after mapped buffers blocks likewise, and is made to ask, too.

A wait ends when the work does. Whether a GPU is lost is the driver's word alone: the status it gives to
the work, or what another call was told meanwhile. It takes as long as it takes (a driver may compile a
shader for a minute), and after a while the log says what is waited for.

All of it needs parts of wgpu-py that are not public; where they are missing, ``Waiter`` serves.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import sys
import time
from collections.abc import Callable
from threading import get_ident
from typing import Any, Literal

import numpy as np

from dala import leaving
from dala.backends.webgpu.wgpu_private import (
    begin_to_map,
    handle_of,
    load_library,
    mapped_address,
    mapped_content,
    note_mapped,
    replace_poll,
    wait_inside,
)
from dala.leaving import native
from dala.once import once

# asked about without a pause: the shortest that Linux makes takes 60 µs, an eighth of this
BRIEF_S = 500e-6
LONGEST_PAUSE_S = 0.5e-3
IDLE_PAUSE_S = 2e-3  # of wgpu-py's thread: it matters only to what does not wait here
PAUSE_PART = 8  # a pause is this part of the wait so far
TELL_S = 5.0  # of waiting before the log says so; and again whenever it has taken twice as long
SLEEPS_SHORTLY = sys.platform != "win32" or sys.version_info >= (3, 11)
Mode = Literal["READ", "WRITE"]
MODES: dict[Mode, int] = {"READ": 1, "WRITE": 2}  # WebGPU's numbers
SUCCESS = 1  # webgpu.h's number, of finished work as of mapped buffers
log = logging.getLogger("dala.webgpu")


class Submitted:
    """What was submitted so far, and whether the GPU has done it."""

    def __init__(self, finish: Callable[[str], None]) -> None:
        self._finish = finish

    def is_done(self) -> bool:
        """Whether ``finish`` need not be put off: it is done, or nobody can ask without waiting."""
        return True

    def finish(self, what: str) -> None:
        """Return when it is done; raises what went wrong. ``what`` is for the log."""
        self._finish(what)


class Waiter:
    """Waits in wgpu itself."""

    lost = False  # the driver said so, to whoever talked to it

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def map(self, buffer: Any, mode: Mode) -> Submitted:
        """Have the host reach the whole of a buffer, once what was submitted before has done with it."""
        promise = buffer.map_async("READ_NOSYNC" if mode == "READ" else mode, 0, buffer.size)
        return Submitted(lambda _what: promise.sync_wait())

    def address(self, buffer: Any) -> int:
        """Where the host reaches the whole of a mapped buffer."""
        reached = buffer._experimental_get_mapped_range(0, buffer.size)
        return int(np.frombuffer(reached, np.uint8).ctypes.data)

    def content(self, buffer: Any, size: int) -> bytearray:
        """The first bytes of a mapped buffer, copied."""
        return bytearray(buffer._experimental_get_mapped_range(0, buffer.size)[:size])

    def until_done(self, what: str) -> None:
        """Return when the GPU has done what was submitted before."""
        self.submitted().finish(what)

    def submitted(self) -> Submitted:
        """What was submitted before, to be waited for later."""
        return Submitted(self._wait)

    def _wait(self, _what: str) -> None:
        with native:
            wait_inside(self._gpu)


class AskingWaiter(Waiter):
    """Asks until it is so."""

    def __init__(self, gpu: Any) -> None:
        super().__init__(gpu)
        self._lib, self._ffi = load_library()
        self._device, self._queue = handle_of(gpu), handle_of(gpu.queue)
        replace_poll(gpu, _asking)
        # It works, or an AttributeError says which part is missing.
        self.until_done("a new device")
        self._try_to_map()

    def submitted(self) -> Submitted:
        asked = _Asked(self)
        info = self._asking("WGPUQueueWorkDoneCallbackInfo *", _work_done(), asked)
        with native:
            self._lib.wgpuQueueOnSubmittedWorkDone(self._queue, info[0])
        return asked

    def map(self, buffer: Any, mode: Mode) -> Submitted:
        """As wgpu-py's ``map_async``, in whose own callback an exception of a signal's handler is lost, and
        with it the word that the buffer is mapped."""
        mapping = _Mapping(self, buffer, MODES[mode])
        info = self._asking("WGPUBufferMapCallbackInfo *", _mapped(), mapping)
        with native:
            begin_to_map(buffer, MODES[mode], info)
        return mapping

    def address(self, buffer: Any) -> int:
        return mapped_address(buffer)

    def content(self, buffer: Any, size: int) -> bytearray:
        return mapped_content(buffer, size)

    def _asking(self, kind: str, callback: Any, asked: _Asked) -> Any:
        info = self._ffi.new(kind)
        info.mode = self._lib.WGPUCallbackMode_AllowProcessEvents
        info.callback = callback
        info.userdata1 = self._ffi.cast("void *", asked.number)
        return info

    def _try_to_map(self) -> None:
        buffer = self._gpu.create_buffer(size=4, usage="MAP_READ|COPY_DST")
        self.map(buffer, "READ").finish("a new device")
        try:
            buffer.read_mapped(0, 4)
            self.address(buffer)
            self.content(buffer, 4)
        except (RuntimeError, ValueError) as error:
            raise AttributeError("wgpu-py notes in other places what is mapped") from error

    def finish(self, wait: _Wait, what: str) -> None:
        """Return when one of those is done."""
        with native:
            self._ask_while(lambda: wait.status == 0, what)
        if wait.status != SUCCESS:
            raise RuntimeError(f"the GPU did not finish (status {wait.status}): {wait.message}")

    def is_done(self, wait: _Wait) -> bool:
        """Whether there is nothing to wait for any more."""
        if wait.status == 0:
            with native:
                self._poll()
        return wait.status != 0 or self.lost

    def _ask_while(self, unfinished: Callable[[], bool], what: str) -> None:
        begun = time.perf_counter()
        tell = begun + TELL_S
        while unfinished():
            self._poll()
            if self.lost and unfinished():
                raise RuntimeError("the GPU was lost while it was waited for")
            now = time.perf_counter()
            if now >= tell and unfinished():
                self._tell(what, now - begun)
                tell = now + (now - begun)
            if now - begun > BRIEF_S and unfinished():
                time.sleep(min((now - begun) / PAUSE_PART, LONGEST_PAUSE_S))

    def _poll(self) -> None:
        """Let wgpu see what is done. It also returns whether the GPU is idle, which tells nothing: another
        thread may have been told that the work is done, and not have come to say so yet.
        """
        leaving.check()  # a long wait ends with the interpreter
        self._lib.wgpuDevicePoll(self._device, False, self._ffi.NULL)
        if _interruptions and (error := _interruptions.pop(get_ident(), None)) is not None:
            raise error

    def _tell(self, what: str, seconds: float) -> None:
        """Log what is waited for, and have the driver refuse a call if it has given up."""
        log.warning("%s: waiting for the GPU, for %.0f s so far", what, seconds)
        self._gpu.create_buffer(
            size=16, usage="COPY_DST"
        )  # (a command buffer would have to be submitted)


class _Wait:
    """What became of the work, once the driver has said so."""

    __slots__ = ("message", "status")

    def __init__(self) -> None:
        self.status = 0  # no status of wgpu's
        self.message = ""


_numbers = itertools.count(1)
_interruptions: dict[int, BaseException] = {}  # by the thread whose poll was under way
# under way; putting in and taking out are single steps of the interpreter
_waits: dict[int, _Wait] = {}


class _Asked(Submitted):
    """The same, for one who can ask."""

    number = 0  # nobody's: should an exception of a signal's handler come before it has its own

    def __init__(self, waiter: AskingWaiter) -> None:
        self._waiter, self._wait, self.number = waiter, _Wait(), next(_numbers)
        _waits[self.number] = self._wait

    def __del__(self, forget: Callable[..., object] = _waits.pop) -> None:
        """Nobody waits any more. (At the end of the interpreter this module's names are gone.)"""
        forget(self.number, None)

    def is_done(self) -> bool:
        return self._waiter.is_done(self._wait)

    def finish(self, what: str) -> None:
        self._waiter.finish(self._wait, what)


class _Mapping(_Asked):
    """Of a buffer. wgpu-py is told as its own callback would tell it."""

    def __init__(self, waiter: AskingWaiter, buffer: Any, mode: int) -> None:
        super().__init__(waiter)
        self._buffer, self._mode = buffer, mode

    def finish(self, what: str) -> None:
        super().finish(what)
        note_mapped(self._buffer, self._mode)


@once
def _work_done() -> Any:
    return _callback("WGPUQueueWorkDoneCallback")


@once
def _mapped() -> Any:
    return _callback("WGPUBufferMapCallback")


def _callback(name: str) -> Any:
    """What wgpu calls when something is done: one for all, and for good, as nobody can say when the last
    call comes. That may be at the very end: a buffer that was about to be mapped says so when it is freed,
    and what a program still holds is freed after this module. So Python must never free the callback."""
    _, ffi = load_library()
    modules_are_gone = sys.is_finalizing

    def note(status: int, message: Any, number: Any) -> None:
        if modules_are_gone():
            return
        wait = _waits.get(int(ffi.cast("intptr_t", number)))
        if wait is None:  # nobody waits any more
            return
        if message is not None and message.data:
            wait.message = ffi.unpack(message.data, message.length).decode(errors="replace")
        wait.status = status  # last: the waiting thread looks at it

    def interrupted(_kind: object, error: BaseException, trace: Any) -> None:
        """A signal handler's exception (Ctrl-C) fell into the callback: it is raised behind the poll, and
        the work that was reported is done all the same."""
        given = trace.tb_frame.f_locals
        note(given["status"], given.get("message"), given["number"])
        _interruptions[get_ident()] = error

    def done(status: int, message: Any, number: Any, _nothing: Any) -> None:
        note(status, message, number)

    def done_without_words(status: int, number: Any, _nothing: Any) -> None:
        note(status, None, number)

    kind = ffi.typeof(name)
    # of work wgpu-py 0.31, the last one for Python 3.10, passes no message
    called = done if len(kind.args) == 4 else done_without_words
    callback = ffi.callback(kind, called, onerror=interrupted)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback


def _asking(poll: Callable[[bool], None]) -> Callable[[bool], None]:
    """What lets wgpu-py's thread ask as well. It must not hold a reference to the device."""

    def ask(block: bool) -> None:
        with native:
            poll(False)
        if block:
            time.sleep(IDLE_PAUSE_S)

    return ask


def make_waiter(gpu: Any) -> Waiter:
    """The one that leaves others alone, where this version of wgpu-py allows it."""
    if SLEEPS_SHORTLY:
        try:
            return AskingWaiter(gpu)
        except (ImportError, AttributeError):
            pass
    return Waiter(gpu)
