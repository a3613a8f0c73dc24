"""What a caller gets for work that is done later."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dala import leaving, locks
from dala.compute.handle import Handle
from dala.errors import CommandTimeoutError, SurfaceError


class Receipt(Handle[None]):
    """Work under way on a surface: wait for it, await it, or ask.

    ``frame`` is the number of the frame that is presented last by this work; ``reads`` are the regions it
    asked for, once done; ``errors`` say what failed, ``error`` what failed first. A frame with failed
    commands is presented all the same.

    >>> from dala import gpu
    >>> with gpu.create_surface(4, 4) as surface:
    ...     receipt = surface.present()
    ...     receipt.wait()
    ...     receipt.frame, receipt.done
    (1, True)
    """

    __slots__ = ("_callbacks", "_done", "_gate", "_lock", "_process", "errors", "frame", "reads")

    def __init__(self, frame: int) -> None:
        self.frame = frame
        self._done = False
        self.errors: Sequence[Exception] = ()
        self.reads: Sequence[npt.NDArray[np.uint8]] = ()
        self._gate = threading.Lock()
        self._gate.acquire()
        self._lock = locks.lock()
        self._process = os.getpid()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def done(self) -> bool:
        """Whether the work has ended, well or not."""
        return self._done

    @property
    def error(self) -> BaseException | None:
        """The first error of a command that failed."""
        return self.errors[0] if self.errors else None

    def __repr__(self) -> str:
        state = (
            "pending" if not self.done else f"{len(self.errors)} errors" if self.errors else "done"
        )
        return f"<dala receipt of frame {self.frame}: {state}>"

    def await_done(self, timeout: float | None = None) -> None:
        """Block until it is done, whatever became of it."""
        if not self._wait_until_done(timeout):
            raise CommandTimeoutError(f"{self._title} is not done after {timeout:g} s")

    @property
    def _title(self) -> str:
        return f"frame {self.frame}"

    def _result(self) -> None:
        """What was drawn is on the surface, what was read in ``reads``."""

    def _wait_until_done(self, timeout: float | None) -> bool:
        if not self._done:
            self._check_process()
            limit = -1 if timeout is None else max(0.0, min(timeout, threading.TIMEOUT_MAX))
            if not self._gate.acquire(timeout=limit):
                return False
            self._gate.release()
            leaving.check()
        return True

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise SurfaceError(
                f"frame {self.frame} is drawn by the process this one was forked from: "
                "nobody here will ever say that it is done"
            )

    def _when_done(self, callback: Callable[[], None]) -> None:
        if not self._done:
            self._check_process()
        with self._lock:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def settle(self, reads: Sequence[npt.NDArray[np.uint8]], errors: Sequence[Exception]) -> None:
        """Say that it is done; for whoever does the work."""
        with self._lock:
            if self._done:
                return
            self.reads, self.errors = tuple(reads), tuple(errors)
            self._done = True
            callbacks, self._callbacks = self._callbacks, []
        self._gate.release()
        for callback in callbacks:
            callback()
