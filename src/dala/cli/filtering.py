"""``dala filter``: pictures on all cores, videos one after the other; a failed one does not stop the rest.

Every result is written under another name beside its place and moved there when it is complete.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

import dala
from dala.cli.bars import Bars
from dala.cli.batch import Crew, Room, count_cores, keep_memory, usual_room
from dala.cli.captions import Caption
from dala.cli.films import (
    is_film_of_pictures,
    is_numbered,
    is_pipe,
    is_piped_or_numbered,
    plan_film,
)
from dala.cli.mistakes import FAILED, Failed, UsageMistake, explain_os_error
from dala.cli.names import Job, check_source, plan_jobs, what_it_is
from dala.cli.piped import as_files
from dala.cli.screen import complain, complaint, note_of, say_json
from dala.cli.videos import VideoOptions, filter_video
from dala.errors import DalaError
from dala.media.losses import report_losses

if TYPE_CHECKING:
    from dala.media.chain import Chain


@dataclass(frozen=True)
class Settings:
    """How files are written."""

    overwrite: bool = False
    quiet: bool = False
    as_json: bool = False
    quality: int = 92  # of JPEG, WebP and AVIF
    video: VideoOptions = field(default_factory=VideoOptions)
    skip_existing: bool = False  # results that are there already are left alone
    caption: Caption | None = None  # a text on every result


@dataclass
class Outcome:
    """What became of one file."""

    input: str
    output: str
    kind: str = ""  # picture or video
    width: int = 0
    height: int = 0
    frames: int = 0
    seconds: float = 0.0
    error: str | None = None
    skipped: bool = False  # it was there already
    notes: list[str] = field(default_factory=list)  # what the result could not hold


def filter_files(inputs: Sequence[str], output: str, chain: Chain, settings: Settings) -> int:
    """Filter every input; the exit code."""
    jobs = plan_film(inputs, output, kind_of_name) or plan_jobs(
        inputs, output, is_media=lambda path: bool(kind_of_name(path))
    )
    shown = not (settings.quiet or settings.as_json)
    outcomes: list[Outcome] = []
    with Bars(len(jobs), shown=shown) as bars:
        for outcome in _outcomes(jobs, chain, settings, bars):
            outcomes.append(outcome)
            _show_end(bars, outcome, shown=shown)
    failed = [o for o in outcomes if o.error is not None]
    if settings.as_json:
        say_json(
            {
                "device": dala.compute.device_info()["device"],
                "filters": [repr(step) for step in chain.steps],
                "files": [asdict(o) for o in outcomes],
            }
        )
    elif failed and len(jobs) > 1:
        complain("dala filter", f"{len(failed)} of {len(jobs)} files failed")
    return FAILED if failed else 0


def _outcomes(
    jobs: Sequence[Job], chain: Chain, settings: Settings, bars: Bars
) -> Iterator[Outcome]:
    """What becomes of each job, in their order. Threads do the pictures; videos, which use all cores by
    themselves and can be interrupted, are done here."""
    workers = count_cores()
    room = usual_room(workers)

    def attempt(job: Job) -> Outcome:
        try:
            return _attempt(job, chain, settings, bars, room, alone=len(jobs) == 1)
        except Exception as error:
            if len(jobs) == 1:
                raise  # a mistake in the command line, or a defect of dala with its traceback
            told = f"{job.source}: {type(error).__name__}: {error}; by itself it shows where"
            return Outcome(str(job.source), str(job.target), error=told)

    pictures = [job for job in jobs if _is_quick(job)]
    if len(pictures) < 2:
        for job in jobs:
            bars.begin(job.source.name)
            yield attempt(job)
        return
    keep_memory(workers)
    numbers = {job: number for number, job in enumerate(pictures)}
    with Crew(pictures, attempt, workers) as crew:
        for job in jobs:
            bars.begin(job.source.name)
            number = numbers.get(job)
            yield attempt(job) if number is None else crew.result(number)


def _is_quick(job: Job) -> bool:
    """Whether it is a picture that becomes a picture, by their names."""
    ends = kind_of_name(job.source), kind_of_name(job.target)
    return ends == ("picture", "picture") and not job.film


def _show_end(bars: Bars, outcome: Outcome, *, shown: bool) -> None:
    """The lines that remain of a file: what it became, and what of it was lost; or why it did not."""
    if outcome.error is not None:
        bars.finish(None, complaint("dala filter", outcome.error))
        return
    said = outcome.notes[:1]
    if outcome.kind == "video":  # of a picture it is a whole sentence already
        said = []
        report_losses(outcome.output, outcome.notes, tell=said.append)
    lost = note_of(said[0]) if said and shown else None
    line = _line(outcome) if shown else None
    if is_pipe(Path(outcome.output)):
        bars.finish(None, line)  # what goes to stdout is the result itself
        line = None
    bars.finish(line, lost)


def _attempt(
    job: Job, chain: Chain, settings: Settings, bars: Bars, room: Room, *, alone: bool
) -> Outcome:
    outcome = Outcome(str(job.source), str(job.target))
    started = time.perf_counter()
    try:
        with as_files(job, kind_of_name) as files:
            _filter_one(files, chain, settings, bars, room, outcome)
    except UsageMistake as error:
        if alone:
            raise
        outcome.error = _about(job, str(error))
    except (DalaError, Failed) as error:
        outcome.error = _about(job, str(error))
    except OSError as error:
        outcome.error = _about(job, explain_os_error(error))
    outcome.seconds = round(time.perf_counter() - started, 4)
    return outcome


def _about(job: Job, message: str) -> str:
    """An error that names the file."""
    names = (str(job.source), str(job.target), job.source.name, "stdin", "stdout")
    return message if any(n in message for n in names) else f"{job.source}: {message}"


def _filter_one(
    job: Job, chain: Chain, settings: Settings, bars: Bars, room: Room, outcome: Outcome
) -> None:
    if not is_piped_or_numbered(job.source):
        check_source(job.source)
    if job.make_folder:
        job.target.parent.mkdir(parents=True, exist_ok=True)
    if not job.target.parent.is_dir():
        raise Failed(f"no folder {str(job.target.parent)!r} for {job.target.name}")
    if job.target.is_dir():
        raise Failed(f"{job.target} is a folder")
    if job.target.exists() and settings.skip_existing:
        outcome.skipped = True
        return
    if job.target.exists() and not settings.overwrite:
        raise Failed(f"{job.target} exists; --overwrite replaces it")
    outcome.kind = _kind_of_job(job, settings.video)
    if outcome.kind == "picture":
        from dala.media.files.reading import count_pixels, is_animation

        if settings.video.changes_time and is_animation(job.source):
            raise Failed(
                f"{job.source}: --from, --to, --fps and --speed take videos and GIFs; make an .apng "
                "of it first"
            )
        with room.taking(count_pixels(job.source)):
            _filter_picture(job, chain, settings, outcome, room)
    else:
        over = settings.caption.of(job.source.name).over if settings.caption else None
        told = filter_video(job.film or job.source, job.target, chain, settings.video, bars, over)
        outcome.width, outcome.height, outcome.frames = told.width, told.height, told.frames
        outcome.notes = told.notes


def _kind_of_job(job: Job, options: VideoOptions) -> str:
    """``picture`` where a picture becomes one; all else is a video: of a video, of pictures, in a pipe."""
    if job.film or is_piped_or_numbered(job.source) or is_pipe(job.target):
        return "video"
    own, wanted = kind_of(job.source), kind_of_name(job.target)
    if own != "picture" and (what := what_it_is(job.source)) and not _is_video_after_all(job, what):
        raise Failed(f"{job.source} is {what}, neither a picture nor a video")
    if is_numbered(job.target) or (options.changes_time and is_film_of_pictures(job.source)):
        return "video"
    return "picture" if own == "picture" and wanted != "video" else "video"


def _is_video_after_all(job: Job, what: str) -> bool:
    """Whether what looks like a text is the video its name says: of a dark Y4M all bytes are letters."""
    from dala import video

    if what != "a text file" or kind_of_name(job.source) != "video":
        return False
    try:
        video.probe(job.source)
    except video.VideoError:
        return False
    return True


def _filter_picture(
    job: Job, chain: Chain, settings: Settings, outcome: Outcome, room: Room
) -> None:
    from dala.cli.photo import filter_photo
    from dala.media.files.place import moved_into_place

    with moved_into_place(job.target) as unfinished:
        size = filter_photo(
            job.source,
            unfinished,
            job.target,
            chain,
            settings.quality,
            settings.caption.of(job.source.name) if settings.caption else None,
            strict=settings.video.strict,
            tell=outcome.notes.append,
            room=room,
        )
    (outcome.width, outcome.height), outcome.frames = size, 1


def kind_of(source: Path) -> str:
    """``picture`` or ``video``, by the ending; where that says nothing, ``picture`` if Pillow reads it."""
    found = kind_of_name(source)
    if found:
        return found
    from dala.media.files.formats import READ, pillow

    image = pillow("filter")
    try:
        with image.open(source, formats=[f for f in READ if f in image.OPEN]):
            return "picture"
    except OSError:  # also what Pillow raises for what it does not know
        return ""


def kind_of_name(path: Path) -> str:
    """``picture``, ``video``, or nothing if the ending is unknown."""
    import PIL  # noqa: F401  # whoever lacks it is told as for the rest of the command line

    from dala.media.files import picture_endings
    from dala.video.endings import is_video_name

    known = path.suffix.lower() in picture_endings()
    return "video" if is_video_name(path) else "picture" if known else ""


def _line(outcome: Outcome) -> Text:
    """``a.jpg → b.jpg  1920×1080  14 ms``."""
    if outcome.skipped:
        return Text.assemble(outcome.input, (" → ", "dim"), outcome.output, ("  is there", "dim"))
    if outcome.kind == "video":
        fps = outcome.frames / outcome.seconds if outcome.seconds else 0
        plural = "frame" if outcome.frames == 1 else "frames"
        facts = f"{outcome.frames} {plural}, {fps:.0f} fps, {outcome.seconds:.1f} s"
    else:
        facts = f"{outcome.seconds * 1e3:.0f} ms"
    size = f"  {outcome.width}×{outcome.height}, "
    return Text.assemble(
        outcome.input, (" → ", "dim"), (outcome.output, "green"), (size + facts, "dim")
    )
