"""Many pictures and videos through the same filters, each by one worker, whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from dala._version import __version__
from dala.errors import ArgumentError, FleetError
from dala.fleet.addresses import absolute, inside, state_of
from dala.fleet.engines import find_engine
from dala.fleet.parts import encoding_of
from dala.fleet.placement import Workers, name_of_device, place
from dala.fleet.running import EngineName, OnProgress, Report, Task, run_tasks
from dala.fleet.sizes import largest_pixels
from dala.media import looks
from dala.media.chain import Chain, Filters
from dala.video.encoding import Encoding, Words, with_words
from dala.video.endings import is_video_name
from dala.video.parts.folder import LOOK
from dala.video.parts.journal import Journal, Record, hash_file, is_url, name_of
from dala.video.source import OnDamage

if TYPE_CHECKING:
    from typing_extensions import Unpack

PathLike = str | os.PathLike[str]


def map(  # the API's own name
    paths: Sequence[PathLike],
    out_dir: PathLike,
    filters: Filters = (),
    *,
    names: str = "{name}{ext}",
    workers: Workers = "auto",
    threads: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """Pictures and videos through filters into a folder, several at once.

    ``names`` says how the results are called (``{name}``, ``{ext}``): another ending is another format. A
    file that cannot be done is one entry of the report's ``failures``, and the others go on. Called again
    after an interruption it does what is left; other filters, or a file that has changed, are done anew.
    Files and folder may also lie at addresses that fsspec knows (``s3://…``).

    >>> import numpy as np
    >>> from dala import fleet, media
    >>> for number in range(3):
    ...     media.save(np.full((8, 8, 3), number, np.uint8), f"photo{number}.png")
    >>> report = fleet.map(["photo0.png", "photo1.png", "photo2.png"], "inverted", ["invert"], workers=2)
    >>> report.tasks, report.failures
    (3, ())
    """
    if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable):
        raise ArgumentError(f"paths is a list of files, got {paths!r}")
    folder = absolute(out_dir)
    device = name_of_device(device)
    chain = Chain.of(filters)
    targets = plan_targets(paths, folder, names)
    asked: Record = {
        "kind": "map",
        "chain": looks.lines_of(chain, Path(os.sep)),
        "files": {path: hash_file(path) for path in looks.files_of(chain)},
        "strength": chain.strength,
        "encoding": encoding_of(with_words(encoding, words)),
        "on_damage": on_damage,
        "device": device,
        "names": names,
        "versions": {"dala": __version__},
    }
    placement = place(
        workers, len(targets), threads,
        here=engine == "local", device=device, pixels=largest_pixels(targets),
    )  # fmt: skip
    given = {"paths": list(targets), "threads": placement.threads, "engine": engine}
    with Journal(folder, asked, len(targets), given) as journal:
        look = looks.save(journal.folder / LOOK, chain.at(1.0))
        tasks = [_task(s, t, look, chain, asked) for s, t in targets.items()]
        journal.forget(_undone(tasks, journal))
        report = run_tasks(
            find_engine(engine, placement, address, device, workers),
            tasks, journal, progress=progress, stop_at_failure=False,
        )  # fmt: skip
        notes = journal.notes(targets)
        if not report.failures:
            journal.remove()
    return replace(report, notes=tuple(notes))


def plan_targets(paths: Sequence[PathLike], folder: str, names: str) -> dict[str, str]:
    """Each source's result; two that would be written to one file are refused before anything runs."""
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for path in paths:
        source = absolute(path)
        known_by = PurePath(name_of(source))
        try:
            name = names.format(name=known_by.stem, ext=known_by.suffix)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise FleetError(
                f"names is a pattern of {{name}} and {{ext}}, got {names!r} ({error})"
            ) from error
        target = inside(folder, name)
        if taken.get(target, source) != source:
            raise FleetError(
                f"{source} and {taken[target]} would both become {target}; name them apart"
            )
        if target == source:
            raise FleetError(f"{source}: this is the input itself; name another folder")
        taken[target] = source
        found[source] = target
    return found


def _task(source: str, target: str, look: Path, chain: Chain, asked: Record) -> Task:
    facts: Record = {name: asked[name] for name in ("encoding", "on_damage", "device")}
    facts |= {
        "source": source,
        "target": target,
        "is_video": is_video_name(name_of(source)),
        "state": state_of(source),
        "look": str(look),
        "strength": chain.strength,
    }
    return Task(source, "filter_file", facts)


def _undone(tasks: Sequence[Task], journal: Journal) -> list[str]:
    return [t.key for t in tasks if not _is_done(t, journal.finished.get(t.key))]


def _is_done(task: Task, record: Record | None) -> bool:
    if record is None or record.get("state") != task.facts["state"]:
        return False
    made = state_of(task.facts["target"])
    return made is not None and (is_url(task.facts["target"]) or made[0] == record.get("bytes"))
