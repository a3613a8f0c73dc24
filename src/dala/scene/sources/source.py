"""What every source can do, and what all sources of a scene share."""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from dala import locks
from dala.errors import ParameterError
from dala.scene.layers import Planes, Rgba

Content: TypeAlias = Planes | Rgba
MEMORY = 512 << 20  # bytes of frames that are decoded ahead, all sources together
MOST_OPEN = 24  # files with a decoder at once; others wait closed until they are asked again
MOST_REPORTS = 1000

_numbers = itertools.count(1)


def new_key() -> Hashable:
    """What stands for one source in the versions of its pictures."""
    return next(_numbers)


@runtime_checkable
class Source(Protocol):
    """Something that has a picture at any time. Times count from its first picture."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""

    @property
    def duration(self) -> Fraction | None:
        """Seconds; None: it has no end of its own."""

    def frame_at(self, time: Fraction) -> Content:
        """The picture shown then: before the first it is the first, after the last it is the last."""

    def close(self) -> None:
        """Give back files, threads and memory. Twice does nothing."""


@dataclass(frozen=True)
class Report:
    """What happened to a source while the scene went on."""

    source: str
    what: str
    at: float  # seconds since the epoch


class _Parked(Protocol):
    def park(self) -> None:
        """Close the file; the next picture opens it again."""


class Supply:
    """What all sources of a scene share: memory for frames ahead, open files, and who is told of trouble.

    >>> from dala.scene.sources import Supply
    >>> supply = Supply(memory=1000)
    >>> supply.take(800), supply.take(800), supply.used
    (True, False, 800)
    """

    def __init__(
        self,
        *,
        memory: int = MEMORY,
        most_open: int = MOST_OPEN,
        on_report: Callable[[Report], None] | None = None,
    ) -> None:
        if memory < 0 or most_open < 1:
            raise ParameterError(
                f"memory is bytes from 0 up, most_open from 1 up; got {memory}, {most_open}"
            )
        self.memory = memory
        self.on_report = on_report
        self._live: list[Callable[[Report], None]] = []
        self.reports: deque[Report] = deque(maxlen=MOST_REPORTS)
        self._most_open = most_open
        self._used = 0
        self._lock = locks.lock()
        self._open: OrderedDict[int, _Parked] = OrderedDict()

    @property
    def forgiving(self) -> bool:
        """Whether the scene is live: a film that fails shows its last frame, and is reported."""
        return bool(self._live)

    @contextmanager
    def live(self, on_report: Callable[[Report], None]) -> Iterator[None]:
        """Someone sends the scene out live, and is told of trouble; there may be several at once."""
        with self._lock:
            self._live = [*self._live, on_report]
        try:
            yield
        finally:
            with self._lock:
                others = list(self._live)
                others.remove(on_report)
                self._live = others

    @property
    def used(self) -> int:
        """Bytes of frames that are held now."""
        return self._used

    def take(self, count: int, *, anyway: bool = False) -> bool:
        """Room for so many bytes; ``anyway`` for the few frames without which nothing moves."""
        with self._lock:
            if not anyway and self._used + count > self.memory:
                return False
            self._used += count
            return True

    def give_back(self, count: int) -> None:
        """Room that is free again."""
        with self._lock:
            self._used -= count

    def touch(self, source: _Parked) -> None:
        """A source is in use; where too many are open, the one unused for longest is parked."""
        oldest: _Parked | None = None
        with self._lock:
            self._open[id(source)] = source
            self._open.move_to_end(id(source))
            if len(self._open) > self._most_open:
                _, oldest = self._open.popitem(last=False)
        if oldest is not None:
            oldest.park()

    def forget(self, source: _Parked) -> None:
        """A source is closed."""
        with self._lock:
            self._open.pop(id(source), None)

    def report(self, source: str, what: str) -> None:
        """Something happened that the scene survives."""
        told = Report(source, what, time.time())
        self.reports.append(told)
        if self.on_report is not None:
            self.on_report(told)
        for tell in self._live:
            tell(told)
