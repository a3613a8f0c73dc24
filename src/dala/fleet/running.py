"""Tasks → outcomes: what an engine is, how far a job is, what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from dala.fleet.placement import Placement
from dala.video.parts.journal import Journal, Record

EngineName = Literal["local", "ray"]
ATTEMPTS = 8  # of a task whose worker is lost each time; after that the task itself is to blame


@dataclass(frozen=True)
class Task:
    """A piece of work, in values that JSON can hold."""

    key: str  # names it among those of its job, in messages too
    action: str  # of tasks.ACTIONS
    facts: Record
    frames: int = 1  # how much work it is

    def on(self, device: str | None) -> Task:
        """The same on a device; None: on its own."""
        return self if device is None else replace(self, facts={**self.facts, "device": device})


@dataclass(frozen=True)
class Event:
    """What an engine tells of a task."""

    kind: Literal["advanced", "finished", "failed", "lost"]
    key: str
    record: Record = field(default_factory=dict)  # of a finished task
    frames: int = 0  # done so far, of one that has advanced
    reason: str = ""  # of one that failed, or whose worker was lost


class Engine(Protocol):
    """Runs tasks somewhere. Each ends in one ``finished`` or ``failed``; a lost one is tried again."""

    placement: Placement  # of its workers, once it runs

    def run(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """What happens to them, until all have ended; closing the iterator ends what is under way."""
        ...


@dataclass(frozen=True)
class Failure:
    """A task that could not be done.

    >>> from dala import fleet
    >>> fleet.Failure("b.mp4", "frame 12: the file breaks off").reason
    'frame 12: the file breaks off'
    """

    name: str
    reason: str


@dataclass(frozen=True)
class Progress:
    """How far a job is; ``frames`` are those of a video, or the files of ``map``.

    >>> from dala import fleet
    >>> so_far = fleet.Progress(1, 4, 0, 100, 400, begun_with=0, lost=0, elapsed=2.0)
    >>> so_far.fps, so_far.seconds_left
    (50.0, 6.0)
    """

    finished: int  # tasks
    total: int
    failed: int
    frames: int
    total_frames: int
    begun_with: int  # frames that an earlier run had done
    lost: int  # workers that had to be replaced
    elapsed: float

    @property
    def fps(self) -> float:
        """Frames per second so far."""
        return (self.frames - self.begun_with) / self.elapsed if self.elapsed else 0.0

    @property
    def seconds_left(self) -> float | None:
        """If it goes on like this."""
        return (self.total_frames - self.frames) / self.fps if self.fps else None


@dataclass(frozen=True)
class Report:
    """What became of a job.

    >>> from dala.fleet import Report
    >>> Report(tasks=3, resumed=1, frames=50, lost=0, failures=(), seconds=0.5, placement="2 × 1").fps
    100.0
    """

    tasks: int
    resumed: int  # that an earlier run had finished
    frames: int  # done by this run
    lost: int
    failures: tuple[Failure, ...]
    seconds: float
    placement: str
    notes: tuple[str, ...] = ()  # what of a source its result does not hold, a line for each

    @property
    def fps(self) -> float:
        """Frames per second of real time."""
        return self.frames / self.seconds if self.seconds else 0.0


OnProgress = Callable[[Progress], None]


def run_tasks(
    engine: Engine,
    tasks: Sequence[Task],
    journal: Journal,
    *,
    progress: OnProgress | None,
    stop_at_failure: bool,
    on_finished: Callable[[str], None] | None = None,
) -> Report:
    """Run what the journal does not have yet, and note what is finished.

    ``on_finished`` gets the key of each task that this run has done.
    """
    state = _State(tasks, journal)
    events: Any = engine.run([t for t in tasks if t.key not in journal.finished])
    try:
        state.follow(events, progress, stop_at_failure, on_finished)
    finally:
        events.close()
    return Report(
        tasks=len(tasks),
        resumed=state.resumed,
        frames=state.done_here,
        lost=state.lost,
        failures=tuple(state.failures),
        seconds=time.perf_counter() - state.started,
        placement=f"{engine.placement.workers} × {engine.placement.threads}",
    )


class _State:
    """What is known of a job under way."""

    def __init__(self, tasks: Sequence[Task], journal: Journal) -> None:
        self.tasks = {task.key: task for task in tasks}
        self.journal = journal
        self.resumed = sum(task.key in journal.finished for task in tasks)
        self._finished = self.resumed
        self.failures: list[Failure] = []
        self.lost = 0
        self.done_here = 0
        self.started = time.perf_counter()
        self._total = sum(task.frames for task in tasks)
        self._begun_with = sum(task.frames for task in tasks if task.key in journal.finished)
        self._done = self._begun_with
        self._under_way: dict[str, int] = {}  # frames so far

    def follow(
        self,
        events: Iterable[Event],
        progress: OnProgress | None,
        stop_at_failure: bool,
        on_finished: Callable[[str], None] | None,
    ) -> None:
        for event in events:
            self.take(event)
            if on_finished is not None and event.kind == "finished":
                on_finished(event.key)
            if progress is not None:
                progress(self.progress())
            if stop_at_failure and self.failures:
                return

    def take(self, event: Event) -> None:
        weight = self.tasks[event.key].frames
        if event.kind == "advanced":
            self._under_way[event.key] = min(event.frames, weight)
            return
        self._under_way.pop(event.key, None)
        if event.kind == "finished":
            self.journal.note(event.key, event.record)
            self._finished += 1
            self._done += weight
            self.done_here += int(event.record.get("frames", 1))
        elif event.kind == "failed":
            self.failures.append(Failure(event.key, event.reason))
        else:
            self.lost += 1

    def progress(self) -> Progress:
        return Progress(
            finished=self._finished,
            total=len(self.tasks),
            failed=len(self.failures),
            frames=self._done + sum(self._under_way.values()),
            total_frames=self._total,
            begun_with=self._begun_with,
            lost=self.lost,
            elapsed=time.perf_counter() - self.started,
        )
