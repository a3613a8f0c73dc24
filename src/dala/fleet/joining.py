"""Parts → one file while later parts are still under way: what is finished is joined at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from dala.errors import DalaError, FleetError
from dala.locks import Condition, Event
from dala.video.parts.joint import Part
from dala.video.parts.journal import Journal, name_of


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
        join: Callable[[Iterable[Part]], list[str]],
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
