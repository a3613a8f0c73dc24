"""Work under way, as its caller holds it: the one form of commands, frames and receipts."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import Generic, TypeVar

import numpy as np

from dala import leaving
from dala.compute.failures import renewed
from dala.errors import ArgumentError, CommandTimeoutError

Result_co = TypeVar("Result_co", covariant=True)


def check_timeout(timeout: object) -> float:
    """A number of seconds, or an error that says so."""
    number = isinstance(timeout, int | float | np.integer | np.floating)
    if not number or isinstance(timeout, bool) or timeout != timeout:
        raise ArgumentError(f"a timeout is a number of seconds or None, got {timeout!r}")
    return float(timeout)  # type: ignore[arg-type]


class Handle(Generic[Result_co]):
    """Work under way: wait for it, await it, or ask.

    Whatever is done later gives one: a kernel that runs asynchronously, a frame of a pipeline, drawing.

    >>> from dala import compute
    >>> a = compute.buffer([-1.0, 2.0])
    >>> work = compute.run_kernel_async("relu", [a], a)
    >>> isinstance(work, compute.Handle)
    True
    >>> work.wait(timeout=60)
    >>> work.done, work.error
    (True, None)
    """

    __slots__ = ()

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether it has ended, well or not; never waits."""

    @property
    @abstractmethod
    def error(self) -> BaseException | None:
        """What went wrong, once it is done; None if nothing did."""

    def wait(self, timeout: float | None = None) -> Result_co:
        """Block until it is done, for at most ``timeout`` seconds; raises its error if it failed."""
        if timeout is not None:
            timeout = check_timeout(timeout)
        if not self._wait_until_done(timeout):
            raise CommandTimeoutError(f"{self._title} is not done after {timeout:g} s")
        return self._outcome()

    def __await__(self) -> Generator[object, None, Result_co]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not future.done():  # the awaiting task may have been cancelled
                future.set_result(None)

        def wake() -> None:
            try:
                loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the loop was closed meanwhile: nobody is waiting any more
                return

        self._when_done(wake)
        yield from future.__await__()
        return self._outcome()

    def _outcome(self) -> Result_co:
        error = self.error
        if error is not None:
            leaving.check()  # what failed because the interpreter leaves is no news to its threads
            raise renewed(error)
        return self._result()

    # -- what each kind of work does in its own way --------------------------------------------

    @property
    @abstractmethod
    def _title(self) -> str:
        """What it is called in messages."""

    @abstractmethod
    def _wait_until_done(self, timeout: float | None) -> bool:
        """Block, for so many seconds at most; whether it is done."""

    @abstractmethod
    def _when_done(self, callback: Callable[[], None]) -> None:
        """Call back once it is done, on any thread; at once if it is."""

    @abstractmethod
    def _result(self) -> Result_co:
        """What there is when all went well."""


class ResultHandle(Handle[Result_co]):
    """Of a command that makes something: done with it, and what it left in a list is the result."""

    def __init__(self, command: Handle[None], results: Sequence[Result_co]) -> None:
        self._command, self._results = command, results

    @property
    def done(self) -> bool:
        """Whether the result is there, or it has failed."""
        return self._command.done

    @property
    def error(self) -> BaseException | None:
        """What went wrong, if it has failed."""
        return self._command.error

    def _wait_until_done(self, timeout: float | None) -> bool:
        return self._command._wait_until_done(timeout)

    def _when_done(self, callback: Callable[[], None]) -> None:
        self._command._when_done(callback)

    def _result(self) -> Result_co:
        return self._results[0]
