"""What a caller gets for work that is done later."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Generator, Sequence

import numpy as np
import numpy.typing as npt

from dala import leaving
from dala.compute.failures import renewed
from dala.errors import CommandTimeoutError, SurfaceError


class Receipt:
    """Work under way on a surface: wait for it, await it, or ask.

    ``frame`` is the number of the frame that is presented last by this work; ``reads`` are the regions it
    asked for, once done; ``errors`` say what failed. A frame with failed commands is presented all the
    same.

    >>> from dala import gpu
    >>> with gpu.create_surface(4, 4) as surface:
    ...     receipt = surface.present()
    ...     receipt.wait()
    ...     receipt.frame, receipt.done
    (1, True)
    """

    __slots__ = ("_callbacks", "_gate", "_lock", "_process", "done", "errors", "frame", "reads")

    def __init__(self, frame: int) -> None:
        self.frame = frame
        self.done = False
        self.errors: Sequence[Exception] = ()
        self.reads: Sequence[npt.NDArray[np.uint8]] = ()
        self._gate = threading.Lock()
        self._gate.acquire()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._callbacks: list[asyncio.Future[None]] = []

    def __repr__(self) -> str:
        state = (
            "pending" if not self.done else f"{len(self.errors)} errors" if self.errors else "done"
        )
        return f"<dala receipt of frame {self.frame}: {state}>"

    def wait(self, timeout: float | None = None) -> None:
        """Block until it is done; raises the first error of a command that failed."""
        self.await_done(timeout)
        self._raise()

    def await_done(self, timeout: float | None = None) -> None:
        """Block until it is done, whatever became of it."""
        if not self.done:
            self._check_process()
            limit = -1 if timeout is None else max(0.0, min(timeout, threading.TIMEOUT_MAX))
            if not self._gate.acquire(timeout=limit):
                raise CommandTimeoutError(f"frame {self.frame} is not done after {timeout:g} s")
            self._gate.release()
            leaving.check()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise SurfaceError(
                f"frame {self.frame} is drawn by the process this one was forked from: "
                "nobody here will ever say that it is done"
            )

    def _raise(self) -> None:
        if self.errors:
            raise renewed(self.errors[0])

    def __await__(self) -> Generator[object, None, None]:
        if not self.done:
            self._check_process()
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            waiting = not self.done
            if waiting:
                self._callbacks.append(future)
        if waiting:
            yield from future.__await__()
        self._raise()

    def settle(self, reads: Sequence[npt.NDArray[np.uint8]], errors: Sequence[Exception]) -> None:
        """Say that it is done; for whoever does the work."""
        with self._lock:
            if self.done:
                return
            self.reads, self.errors = tuple(reads), tuple(errors)
            self.done = True
            callbacks, self._callbacks = self._callbacks, []
        self._gate.release()
        for future in callbacks:
            try:
                future.get_loop().call_soon_threadsafe(_wake, future)
            except RuntimeError:  # the loop was closed meanwhile: nobody is waiting any more
                continue


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():  # the awaiting task may have been cancelled
        future.set_result(None)
