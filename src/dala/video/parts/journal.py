"""What is finished of a job: a folder beside the output, with the parts and a journal of one line each.

    .film.mp4.fleet/
        journal.jsonl    what was asked for, again if later of other files; a line for each finished task
        chain.look       the filters, as every worker reads them; of a scene, scene.json
        source-….mp4     the input, if it came from an address
        part-00000.mp4   finished: it was moved to this name when it was complete

A line that a crash has cut off does not count, nor one that says nothing of this job's tasks; a part whose
file is not as long as was noted is made again. Whoever asks for something else in the same place (another
input, chain, encoding or version) begins anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dala.errors import FleetError
from dala.video.parts.folder import JOURNAL, SOURCE, claim, clear, part_key

_BLOCK = 1 << 20
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

Record = dict[str, Any]


@dataclass(frozen=True)
class Status:
    """How far a job is, by its journal.

    >>> from dala import fleet
    >>> fleet.Status("out.mp4", "transcode", total=4, finished=3, frames=90, asked={}).is_complete
    False
    """

    output: str
    kind: str  # "transcode", "export" or "map"
    total: int
    finished: int
    frames: int
    asked: Mapping[str, Any]  # with what it was asked for

    @property
    def is_complete(self) -> bool:
        """Whether every task is finished."""
        return self.finished == self.total


class Journal:
    """The journal of one job, open for one driver at a time; a context manager."""

    def __init__(
        self,
        output: str | os.PathLike[str],
        asked: Record,
        tasks: int,
        given: Record | None = None,
    ) -> None:
        """``asked`` is what the result depends on, ``given`` what else is needed to ask again."""
        self.folder = folder_of(output)
        self.finished: dict[str, Record] = {}
        self._head: Record = {"job": asked, "given": given or {}, "tasks": tasks}
        self._head["fingerprint"] = fingerprint(asked)
        self._file = self._lock()
        try:
            if not self._resume():
                self._begin_anew()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._file.close()

    def note(self, key: str, record: Record) -> None:
        """A task is finished; that lasts, whatever happens next."""
        self._append({"finished": key, **record})
        self.finished[key] = record

    def forget(self, keys: Iterable[str]) -> None:
        """These are to be done again."""
        for key in keys:
            self.finished.pop(key, None)

    def check(self, parts: Mapping[str, Path]) -> None:
        """Forget the parts whose file is not there, or not as long as it was noted."""
        self.forget(
            key
            for key, part in parts.items()
            if key in self.finished
            and not (part.is_file() and part.stat().st_size == self.finished[key].get("bytes"))
        )

    def remove(self) -> None:
        """The job is done: nothing of it remains but its output. What others have put there stays."""
        self._file.close()
        clear(self.folder)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _lock(self) -> Any:
        claim(self.folder)
        try:
            file = (self.folder / JOURNAL).open("a+b", buffering=0)
        except OSError as error:
            raise FleetError(
                f"{self.folder}: its journal cannot be opened ({error.strerror})"
            ) from error
        try:
            lock_file(file)
        except OSError as error:
            file.close()
            raise FleetError(
                f"{self.folder}: another process works on this job; wait for it, or end it"
            ) from error
        return file

    def notes(self, keys: Iterable[str]) -> list[str]:
        """What finished tasks have said of their results, each line once."""
        records = [self.finished[key] for key in keys if key in self.finished]
        said = [note for record in records for note in _lines(record.get("notes"))]
        return list(dict.fromkeys(said))

    def _resume(self) -> bool:
        self._file.seek(0)
        lines = read_lines(self._file.read())
        head = next(lines, None)
        if head is None or head.get("fingerprint") != self._head["fingerprint"]:
            return False
        head, done = _latest(head, lines)
        self.finished = _finished(done, self._head)
        if head != json.loads(json.dumps(self._head)):  # the same job, of other files
            self._append(self._head)
        return True

    def _begin_anew(self) -> None:
        clear(self.folder, keep=(JOURNAL, SOURCE))
        self._file.truncate(0)
        self._append(self._head)

    def _append(self, line: Record) -> None:
        # a newline first ends a line that a crash has cut off
        text = b"\n" + json.dumps(line).encode() + b"\n"
        try:
            while text:  # a disk that is nearly full takes some of it
                text = text[self._file.write(text) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise FleetError(
                f"{self.folder}: cannot be written to ({error.strerror}); what is noted there stays"
            ) from error


def status(output: str | os.PathLike[str]) -> Status:
    """How far the job for that output is; a job that was finished leaves no journal.

    >>> from dala import fleet
    >>> fleet.status("nothing.mp4")
    Traceback (most recent call last):
    dala.errors.FleetError: nothing.mp4: no job is under way for it, and none was left unfinished
    """
    path = str(output)
    try:
        raw = (folder_of(path) / JOURNAL).read_bytes()
    except OSError as error:
        raise FleetError(
            f"{path}: no job is under way for it, and none was left unfinished"
        ) from error
    lines = read_lines(raw)
    head = next(lines, {})
    if not _is_head(head):
        raise FleetError(
            f"{path}: its journal does not begin as it should; ask for the job with the words of its "
            "first time, and it begins anew"
        )
    head, others = _latest(head, lines)
    done = _finished(others, head)
    return Status(
        output=path,
        kind=str(head["job"].get("kind")),
        total=head["tasks"],
        finished=len(done),
        frames=sum(record["frames"] for record in done.values()),
        asked={**head["job"], **head["given"]},
    )


def folder_of(output: str | os.PathLike[str]) -> Path:
    """Where the job for that output keeps its parts: beside it, or here if it is an address."""
    if is_url(output):
        number = hashlib.sha256(str(output).encode()).hexdigest()[:8]
        return Path.cwd() / f".{name_of(str(output))}-{number}.fleet"
    whole = Path(os.path.abspath(output))
    return whole.with_name(f".{whole.name}.fleet")


def is_url(place: str | os.PathLike[str]) -> bool:
    """Whether it is an address rather than a path."""
    return isinstance(place, str) and _URL.match(place) is not None


def name_of(place: str) -> str:
    """The last word of an address or a path."""
    return (
        place.partition("?")[0].rstrip("/").rpartition("/")[2]
        if is_url(place)
        else Path(place).name
    )


def fingerprint(asked: Record) -> str:
    """Two jobs of the same fingerprint may share their parts."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def hash_file(path: str | os.PathLike[str], left: Callable[[], bool] = lambda: False) -> str:
    """The content of a file as one number; of its beginning, once nobody waits for it any more."""
    digest = hashlib.blake2b(digest_size=32)
    with open(path, "rb") as file:
        while not left() and (block := file.read(_BLOCK)):
            digest.update(block)
    return digest.hexdigest()


def read_lines(raw: bytes) -> Iterator[Record]:
    """The whole lines of a journal; what is cut off is left out."""
    for line in raw.splitlines():
        try:
            value = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _is_head(line: Record) -> bool:
    """Whether a line is the first of a journal."""
    return (
        isinstance(line.get("job"), dict)
        and isinstance(line.get("given"), dict)
        and _is_count(line.get("tasks"))
    )


def _latest(head: Record, lines: Iterable[Record]) -> tuple[Record, list[Record]]:
    """What the job was asked for last, and the lines of what is finished."""
    done = []
    for line in lines:
        if line.get("fingerprint") == head.get("fingerprint") and _is_head(line):
            head = line
        else:
            done.append(line)
    return head, done


def _finished(lines: Iterable[Record], head: Record) -> dict[str, Record]:
    """The tasks of a job that its lines say are finished; a line of anything else does not count."""
    sources = head["given"].get("paths")  # of fleet.map: each is a task
    known = set(map(str, sources)) if isinstance(sources, list) else None
    found: dict[str, Record] = {}
    for line in lines:
        key, record = line.get("finished"), {k: v for k, v in line.items() if k != "finished"}
        if not isinstance(key, str) or not _is_count(record.get("frames")):
            continue
        if not _is_count(record.get("bytes", 0)):
            continue
        if key in known if known is not None else _is_part(key, head["tasks"]):
            found[key] = record
    return found


def _is_part(key: str, count: int) -> bool:
    number = key.removeprefix("part-")
    few = len(number) < 20 and number.isdecimal()
    return few and int(number) < count and key == part_key(int(number))


def _lines(value: object) -> list[str]:
    return [line for line in value if isinstance(line, str)] if isinstance(value, list) else []


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def lock_file(file: Any) -> None:
    """Hold a file for this process, until it closes it or ends; OSError where another one does."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
