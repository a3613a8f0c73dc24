"""A stand-in before every launch, and short ways to start a command."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dala import compute
from dala.backends.base import Executable
from dala.compute import Buffer, Command

PATIENCE_S = 300.0  # far more than anything here takes, on a busy machine too


class Launches:
    """Stands before every launch: holds a kernel's until it is let go, or makes it fail."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self._held: dict[str, threading.Event] = {}
        self._started: dict[str, threading.Event] = {}
        self._failing: dict[str, BaseException] = {}

    def hold(self, kernel: str) -> None:
        self._held[kernel] = threading.Event()
        self._started[kernel] = threading.Event()

    def let_go(self, kernel: str) -> None:
        self._held[kernel].set()

    def let_all_go(self) -> None:
        for event in self._held.values():
            event.set()

    def wait_until_started(self, kernel: str) -> None:
        assert self._started[kernel].wait(PATIENCE_S)

    def fail(self, kernel: str, error: BaseException) -> None:
        self._failing[kernel] = error

    def repair(self, kernel: str) -> None:
        del self._failing[kernel]

    def before(self, executable: Executable) -> None:
        for work in executable.plan.passes:
            for label in work.labels:
                self.log.append(label)
                if label in self._held:
                    self._started[label].set()
                    assert self._held[label].wait(PATIENCE_S)
                if label in self._failing:
                    raise self._failing[label]

    def around(self, original: Callable[..., None]) -> Callable[..., None]:
        def launch(executable: Executable, *args: Any, **options: Any) -> None:
            self.before(executable)
            original(executable, *args, **options)

        return launch


def numbers(*values: float) -> Buffer:
    return compute.buffer(list(values))


def start(kernel: str, source: Buffer, target: Buffer, **params: object) -> Command:
    return compute.run_kernel_async(kernel, [source], target, params)
