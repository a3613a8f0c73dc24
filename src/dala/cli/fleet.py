"""``dala fleet``: long videos, scenes and many files, by several processes or a cluster."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dala.cli.flags import FilterCommand, chain_of, chosen_flags
from dala.cli.help import Command, Group
from dala.cli.mistakes import FAILED, UsageMistake
from dala.cli.scenes import AllowSources, Set, parameters, sources_of

if TYPE_CHECKING:
    from dala.fleet import Progress, Report
    from dala.fleet.running import EngineName

fleet = typer.Typer(
    name="fleet",
    cls=Group,
    help="Long videos, scenes and many files, by all cores or a Ray cluster.",
)

WorkerCount = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Processes; one per core if not given."),
]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Of a Ray cluster; this machine if not given."),
]
Strength = Annotated[
    float, typer.Option(help="Mix the result with the original: 0 is the original.")
]
Codec = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of videos: h264, hevc, vp9, av1, prores.")
]
Crf = Annotated[
    float | None, typer.Option(min=0, max=63, metavar="N", help="Lower is better and larger.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON line for every step, for scripts.")]


@fleet.command(cls=FilterCommand)
def transcode(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="IN", help="A video.", show_default=False)],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The file to make.", show_default=False)
    ],
    workers: WorkerCount = None,
    address: Address = None,
    segment: Annotated[
        float, typer.Option(metavar="SECONDS", help="Length of a part, at least.")
    ] = 10.0,
    strength: Strength = 1.0,
    codec: Codec = None,
    crf: Crf = None,
    json: Json = False,
) -> int:
    """One long video through filters, cut at key frames; called again, it goes on where it was."""
    from dala import fleet as jobs

    chain = chain_of(chosen_flags(context), strength)
    with _Shown(target, as_json=json) as shown:
        report = jobs.transcode(
            source, target, chain, workers=workers or "auto", engine=_engine(address),
            address=_join(address), segment_s=segment, codec=codec, crf=crf, progress=shown.advance,
        )  # fmt: skip
    return shown.end(report)


@fleet.command(cls=Command)
def export(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A scene's file (JSON).", show_default=False)
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The video to make.", show_default=False)
    ],
    workers: WorkerCount = None,
    address: Address = None,
    segment: Annotated[float, typer.Option(metavar="SECONDS", help="Length of a part.")] = 10.0,
    start: Annotated[
        float | None, typer.Option("--from", metavar="SECONDS", help="Where it begins.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", metavar="SECONDS", help="Where it ends.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="N", help="Frames a second; the scene's if not given.")
    ] = None,
    set_: Set = None,
    allow_sources: AllowSources = False,
    codec: Codec = None,
    crf: Crf = None,
    json: Json = False,
) -> int:
    """A scene's file as a video, cut by time; called again, it goes on where it was."""
    from dala import fleet as jobs
    from dala import scene as scenes

    loaded = scenes.load(source, sources=sources_of(allow_sources), **parameters(set_))
    with loaded as stage, _Shown(target, as_json=json) as shown:
        report = jobs.export(
            stage, target, workers=workers or "auto", engine=_engine(address),
            address=_join(address), segment_s=segment, start=start, end=end, fps=fps, codec=codec,
            crf=crf, progress=shown.advance,
        )  # fmt: skip
    return shown.end(report)


@fleet.command("map", cls=FilterCommand)
def map_(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="IN... FOLDER", help="Pictures and videos, then a folder.", show_default=False
        ),
    ],
    workers: WorkerCount = None,
    address: Address = None,
    names: Annotated[
        str, typer.Option(metavar="PATTERN", help="How results are called.")
    ] = "{name}{ext}",
    strength: Strength = 1.0,
    codec: Codec = None,
    crf: Crf = None,
    json: Json = False,
) -> int:
    """Many pictures and videos through the same filters; one that fails is one line."""
    from dala import fleet as jobs
    from dala.cli.names import expand

    if len(paths) < 2:
        raise UsageMistake(f"{paths[0]} shall go where? dala fleet map IN... FOLDER")
    chain = chain_of(chosen_flags(context), strength)
    with _Shown(paths[-1], as_json=json) as shown:
        report = jobs.map(
            expand(paths[:-1]), paths[-1], chain, names=names, workers=workers or "auto",
            engine=_engine(address), address=_join(address), codec=codec, crf=crf, progress=shown.advance,
        )  # fmt: skip
    return shown.end(report)


@fleet.command(cls=Command)
def resume(
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="The file or folder that was to be made.", show_default=False
        ),
    ],
    workers: WorkerCount = None,
    address: Address = None,
    json: Json = False,
) -> int:
    """Go on with a job that was interrupted."""
    from dala import fleet as jobs

    with _Shown(target, as_json=json) as shown:
        report = jobs.resume(
            target, workers=workers or "auto", address=_join(address), progress=shown.advance
        )
    return shown.end(report)


@fleet.command(cls=Command)
def status(
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="The file or folder that is to be made.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """How far a job is."""
    from dala import fleet as jobs
    from dala.cli.screen import say

    found = jobs.status(target)
    if json:
        _line({"output": found.output, "kind": found.kind, "finished": found.finished,
               "total": found.total, "frames": found.frames})  # fmt: skip
        return
    of = "files" if found.kind == "map" else "parts"
    say(f"{found.output}: {found.finished} of {found.total} {of}, {found.frames} frames")


def _engine(address: str | None) -> EngineName:
    return "local" if address is None else "ray"


def _join(address: str | None) -> str | None:
    return None if address in (None, "auto") else address


class _Shown:
    """One bar for all workers; in a pipe none; with --json a line for every step."""

    def __init__(self, target: str, *, as_json: bool) -> None:
        self._target = target
        self._as_json = as_json
        self._bar: Callable[[Progress], None] | None = None
        self._last = (-1, -1)

    def __enter__(self) -> _Shown:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[facts]}"),
        )
        self._progress = Bar(*columns, console=console, transient=True)
        self._task = self._progress.add_task("", total=None, facts="reads, starts workers")
        if console.is_terminal and not self._as_json:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_raised: object) -> None:
        from dala.cli.screen import say_note

        if self._progress.live.is_started:  # else it would write an empty line
            self._progress.stop()
        if kind is KeyboardInterrupt and self._last[0] > 0:
            left = f"{self._last[0]} of {self._total} tasks are finished and stay so"
            say_note(f"{left}; dala fleet resume {shlex.quote(self._target)} goes on")

    def advance(self, now: Progress) -> None:
        """What an engine has told."""
        before, self._last = self._last, (now.finished, now.failed)
        self._total = now.total
        if self._as_json and before != self._last:
            _line({"finished": now.finished, "total": now.total, "failed": now.failed,
                   "frames": now.frames, "fps": round(now.fps, 2), "lost": now.lost})  # fmt: skip
        left = "" if now.seconds_left is None else f"  {_clock(now.seconds_left)} left"
        failed = f"  {now.failed} failed" if now.failed else ""
        self._progress.update(
            self._task, description=f"{now.finished}/{now.total}", completed=now.frames,
            total=now.total_frames, facts=f"{now.fps:.0f} fps{left}{failed}",
        )  # fmt: skip

    def end(self, report: Report) -> int:
        """What became of it; the exit code."""
        from dala.cli.screen import complain, say, say_note

        for failure in report.failures:
            named = failure.reason.startswith(failure.name)
            complain("dala fleet", failure.reason if named else f"{failure.name}: {failure.reason}")
        if not self._as_json:
            for note in report.notes:
                say_note(note)
        if self._as_json:
            _line({"output": str(Path(self._target)), "tasks": report.tasks, "resumed": report.resumed,
                   "frames": report.frames, "seconds": round(report.seconds, 3), "notes": report.notes,
                   "failures": [asdict(failure) for failure in report.failures]})  # fmt: skip
        else:
            done = report.tasks - len(report.failures)
            say(f"{self._target}  {done} of {report.tasks} tasks, {report.frames} frames, "
                f"{report.fps:.0f} fps, {report.seconds:.1f} s, "
                f"workers × threads: {report.placement}")  # fmt: skip
        return FAILED if report.failures else 0


def _line(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return (
        f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
    )
