"""What a worker does with a task: decode → chain → encode, all in this process.

A task is a few JSON values; so is what comes back. What is written is moved to its name when it is
complete, by ``dala.video`` and ``dala.media`` themselves.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dala.compute.default import default_name, use
from dala.errors import DalaError, FleetError
from dala.fleet.addresses import deliver, fetch
from dala.media.chain import Chain
from dala.media.files.place import STEM as PHOTO_STEM
from dala.media.losses import report_losses
from dala.video.parts.journal import Record, is_url, name_of

Tell = Callable[[int], None]  # frames done so far


def run_task(action: str, facts: Record, tell: Tell) -> Record:
    """Do it; what is worth noting of the result."""
    if action not in ACTIONS:
        raise FleetError(f"a worker knows {', '.join(ACTIONS)}, got {action!r}")
    device = str(facts.get("default") or facts["device"])
    os.environ["DALA_DEVICE"] = device  # opened when something needs it
    if default_name() != device:
        use(device)  # a task before this one had another
    return ACTIONS[action](facts, tell)


def reason_of(error: Exception) -> str:
    """Why a task could not be done, in a line; what no user can mend is told with its type."""
    expected = isinstance(error, DalaError | OSError)
    text = str(error) if expected else f"{type(error).__name__}: {error}"
    return " ".join(text.splitlines())


def remove_unfinished(facts: Record) -> None:
    """What a worker had begun to write for a task when it was killed; nobody else has begun yet."""
    target = facts.get("part") or facts["target"]
    if is_url(target):  # which is made in a folder of the machine's for such
        return
    path = Path(target)
    stem, suffix = re.escape(path.stem), re.escape(path.suffix)
    names = rf"\.{stem}-[0-9a-f]{{16}}\.part{suffix}"
    if len(path.stem) < PHOTO_STEM:  # else it may be another one's
        names += rf"|\.{stem}\.[0-9a-f]{{8}}\.part{suffix}"
    with suppress(OSError):  # it is out of the way as it is
        _unlink_all(path.parent, names)


def _unlink_all(folder: Path, names: str) -> None:
    for found in folder.iterdir():
        if re.fullmatch(names, found.name):
            found.unlink()


def encode_segment(facts: Record, tell: Tell) -> Record:
    """The frames of one segment, and nothing else, into a file of their own."""
    from dala.video.encoding import Encoding
    from dala.video.span import span_of
    from dala.video.transcode import transcode_span

    span = span_of(_time(facts["begin"]), _time(facts["end"]))
    if not span.is_whole:  # filters count frames and seconds as if it were
        since, warm = Fraction(facts["shown"]), _time(facts["warm"])
        span = replace(span, before=facts["before"], since=since, warm=warm)
    report = transcode_span(
        facts["source"],
        facts["part"],
        chain_of(facts),
        span,
        Encoding(**facts["encoding"]),
        on_damage=facts["on_damage"],
        progress=lambda progress: tell(progress.frames),
        bare=True,
    )
    size = os.path.getsize(facts["part"])
    return {"frames": report.frames, "bytes": size, "notes": list(report.notes)}


def export_span(facts: Record, tell: Tell) -> Record:
    """A scene from one time to another, without sound, into a file of its own."""
    from dala import scene, video

    # written by the job, of a scene that was allowed to name what it names
    with scene.load(facts["scene"], sources="any") as stage:
        report = scene.export(
            stage,
            facts["part"],
            fps=Fraction(facts["fps"]),
            start=Fraction(facts["begin"]),
            end=Fraction(facts["end"]),
            audio="none",
            video=video.Encoding(**facts["encoding"]),
            device=facts["device"],
            progress=lambda progress: tell(progress.frames),
        )
    return {"frames": report.frames, "bytes": os.path.getsize(facts["part"])}


def filter_file(facts: Record, tell: Tell) -> Record:
    """One picture or one video, whole; from an address, or to one, by way of a folder of its own."""
    source, target = str(facts["source"]), str(facts["target"])
    with tempfile.TemporaryDirectory(prefix="dala-fleet-") as folder:
        made = Path(folder, "made", name_of(target)) if is_url(target) else Path(target)
        made.parent.mkdir(parents=True, exist_ok=True)
        read = fetch(source, Path(folder, name_of(source))) if is_url(source) else Path(source)
        notes: list[str] = []
        frames = _filter(read, made, facts, tell, notes.append)
        size = made.stat().st_size
        if is_url(target):
            deliver(made, target)
    return {"frames": frames, "bytes": size, "state": facts["state"], "notes": notes}


def _filter(
    source: Path, target: Path, facts: Record, tell: Tell, note: Callable[[str], None]
) -> int:
    """How many frames; what the result does not hold is noted in a line."""
    if facts["is_video"]:
        from dala import video

        report = video.transcode(
            source,
            target,
            chain_of(facts),
            encoding=video.Encoding(**facts["encoding"]),
            on_damage=facts["on_damage"],
            progress=lambda progress: tell(progress.frames),
        )
        report_losses(target, [*report.notes, *report.dropped], tell=note)
        return report.frames
    from dala.media.apply import apply_to_photo
    from dala.media.files import open_photo, save_photo

    save_photo(apply_to_photo(open_photo(source), chain_of(facts)), target, tell=note)
    return 1


def chain_of(facts: Record) -> Chain:
    """The filters of a job, as its folder has them."""
    return Chain.of(Path(facts["look"])).at(facts["strength"])


def _time(text: Any) -> Fraction | None:
    return None if text is None else Fraction(text)


# what those who do a task load: the process that forks workers loads it for all of them
NEEDED: dict[str, tuple[str, ...]] = {
    "encode_segment": ("dala.video.transcode", "dala.backends.cpu.device"),
    "export_span": ("dala.scene", "dala.backends.cpu.device"),
    "filter_file": ("dala.video.transcode", "dala.backends.cpu.device"),
}
ACTIONS: dict[str, Callable[[Record, Tell], Record]] = {
    "encode_segment": encode_segment,
    "export_span": export_span,
    "filter_file": filter_file,
}
