"""Parts → one file while later parts are still under way: what is finished is joined at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from dala.errors import DalaError, FleetError
from dala.fleet.addresses import deliver
from dala.fleet.parts import lines_about, require_all
from dala.fleet.running import Engine, OnProgress, Report, Task, run_tasks
from dala.locks import Condition, Event
from dala.video.parts.joint import Part
from dala.video.parts.journal import Journal, is_url, name_of

Join = Callable[[Iterable[Part]], list[str]]  # parts → the file; what it does not hold


def run_and_join(
    whole: str,
    target: Path,
    journal: Journal,
    engine: Engine,
    tasks: Sequence[Task],
    parts: Sequence[Part],
    join: Join,
    progress: OnProgress | None,
) -> Report:
    """Make the parts that are missing, join them meanwhile into ``target``, and bring that to its place."""
    named = {task.key: part for task, part in zip(tasks, parts, strict=True)}
    journal.check({key: Path(part.path) for key, part in named.items()})
    with Joint(whole, journal, named, join) as joint:
        report = run_tasks(
            engine, tasks, journal,
            progress=progress, stop_at_failure=True, on_finished=joint.take,
        )  # fmt: skip
        require_all(report, whole, journal)
        lost = joint.finish()
    notes = [*journal.notes(named), *lost]
    if is_url(whole):
        deliver(target, whole)
    journal.remove()
    return replace(report, notes=lines_about(name_of(whole), notes))


class _Left(Exception):
    """Raised on the thread of a joint that nobody waits for any more."""


class Joint:
    """Joins the parts of a job in their order, on a thread of its own; a context manager.

    A job's file stands in its folder until it is complete. One that is left before leaves nothing.
    """

    def __init__(
        self,
        whole: str,
        journal: Journal,
        parts: Mapping[str, Part],
        join: Join,
    ) -> None:
        self._whole = whole
        self._journal = journal
        self._parts = parts
        self._join = join
        self._notes: list[str] = []
        self._error: BaseException | None = None
        self._left = False
        self._changed = Condition()
        self._over = Event()  # a Ctrl-C while a Thread is joined makes Python forget that it lives
        self._finished = {key for key in parts if key in journal.finished}
        self._thread = threading.Thread(target=self._run, name="dala-joint", daemon=True)

    def __enter__(self) -> Joint:
        _remove_left(self._journal.folder, PurePath(name_of(self._whole)))
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        with self._changed:
            self._left = True
            self._changed.notify_all()
        self._over.wait()

    def take(self, key: str) -> None:
        """That part is finished; FleetError if those before it cannot be joined."""
        with self._changed:
            self._finished.add(key)
            self._changed.notify_all()
        self._check()

    def finish(self) -> list[str]:
        """Wait for the file; what of the source it does not hold."""
        self._over.wait()
        self._check()
        return self._notes

    def _run(self) -> None:
        try:
            self._notes = self._join(self._as_they_come())
        except _Left:
            return
        except BaseException as error:
            self._error = error
        finally:
            self._over.set()

    def _as_they_come(self) -> Iterator[Part]:
        for key, part in self._parts.items():
            self._wait_for(key)
            yield part
        self._go_on()

    def _wait_for(self, key: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._left or key in self._finished)
        self._go_on()

    def _go_on(self) -> None:
        if self._left:
            raise _Left

    def _check(self) -> None:
        if isinstance(self._error, DalaError):
            done = f"{len(self._journal.finished)} of {len(self._parts)} parts"
            raise FleetError(
                f"{self._whole}: its parts cannot be joined: {self._error}; {done} are finished and will "
                "not be done again"
            ) from self._error
        if self._error is not None:
            raise self._error


def _remove_left(folder: Path, whole: PurePath) -> None:
    """What a driver that was killed had joined so far."""
    for path in folder.iterdir():
        if path.name.startswith(f".{whole.stem}-") and path.name.endswith(f".part{whole.suffix}"):
            path.unlink(missing_ok=True)
