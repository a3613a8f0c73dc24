"""``dala demo``: a clip through a fused chain; what it looks like, how it is planned, how fast it is.

    clip (made, or given) → before.mp4 → transcode → after.mp4 → side by side, contact sheet

One frame is also run stage by stage, and the bytes are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dala import compute, video
from dala.cli.bars import Bars
from dala.cli.bench import Run, in_turns
from dala.cli.clip import dusk_frames, photo_frames
from dala.cli.filtering import kind_of
from dala.cli.mistakes import Failed
from dala.cli.names import check_source
from dala.cli.screen import say, say_columns
from dala.cli.sheet import Moment, make_sheet
from dala.media import Chain
from dala.media.files.place import moved_into_place
from dala.video.progress import OnProgress

Array = npt.NDArray[np.uint8]
SIZE, FPS, SECONDS = (1280, 720), 30, 4
MOMENTS = 4  # on the contact sheet
MEASURE_S = 0.3
GPU_STRAYS = (
    0.001  # of the bytes may be a level apart on a GPU, where compilers contract differently
)


def run_demo(given: str | None, folder: Path, chain: Chain) -> None:
    """Make everything in ``folder`` and say how it went."""
    folder.mkdir(parents=True, exist_ok=True)
    after, both, sheet = (
        folder / n for n in ("after.mp4", "before_after.mp4", "contact_sheet.png")
    )
    before, about = _find_clip(given, folder)
    _introduce(before, about, chain)
    report = _with_bar(
        "filtering", lambda advance: video.transcode(before, after, chain, progress=advance)
    )
    say(report.plan)
    say()
    _with_bar(
        "side by side",
        lambda advance: video.side_by_side(before, after, both, until="first", progress=advance),
    )
    moments = _pick_moments(before, after, report.duration)
    fused_ms, apart_ms = _compare(moments[0].before, chain)
    _conclude(report, moments[0].before.shape, fused_ms, apart_ms)
    with moved_into_place(sheet) as unfinished:
        passes = report.plan.splitlines()[0].partition("→")[2].strip()
        title = f"{len(chain)} filters in {passes}, {fused_ms:.1f} ms a frame"
        names = "  ·  ".join(step.name for step in chain.steps)
        make_sheet(moments, title, names).save(unfinished, "PNG")
    say()
    say(f"look at {sheet} and {both}", "bold")


def _conclude(
    report: video.Report, shape: tuple[int, ...], fused_ms: float, apart_ms: float
) -> None:
    took = f"{report.frames} frames decoded, filtered and encoded in {report.seconds:.2f} s"
    alone = f"{shape[1]}×{shape[0]} filtered in {fused_ms:.2f} ms"
    rows = [
        ("video", f"{took}: {report.fps:.0f} fps"),
        ("frame", f"{alone}, fused: {1e3 / fused_ms:.0f} fps"),
        (
            "",
            f"stage by stage in {apart_ms:.2f} ms, {apart_ms / fused_ms:.1f} × as long; the same result",
        ),
    ]
    say_columns(rows, indent=0)


def _introduce(clip: Path, about: str, chain: Chain) -> None:
    info, facts = compute.device_info(), video.probe(clip)
    length = f"{float(facts.duration):.1f} s, " if facts.duration else ""
    rows = [
        ("device", f"{info['name']}; {info['reason']}"),
        ("clip", f"{clip}, {facts.width}×{facts.height}, {length}{about}"),
        ("filters", " → ".join(map(repr, chain.steps))),
    ]
    say_columns(rows, indent=0)
    say()


def _with_bar(name: str, work: Callable[[OnProgress], video.Report]) -> video.Report:
    with Bars(1) as bars:
        bars.begin(name)
        return work(lambda p: bars.advance(p.frames, p.total_frames, p.fps))


def _find_clip(given: str | None, folder: Path) -> tuple[Path, str]:
    """The clip and where it comes from: drawn, flown over a photo, or given."""
    count = FPS * SECONDS
    if given is None:
        frames, about = dusk_frames(SIZE, count, FPS), "drawn by a kernel"
    else:
        source = Path(given)
        check_source(source)
        if kind_of(source) != "picture":
            return source, "as given"
        frames, about = photo_frames(source, SIZE, count), f"a flight over {source.name}"
    path = folder / "before.mp4"
    started = time.perf_counter()
    with Bars(1) as bars, video.Writer(path, fps=FPS, crf=16) as writer:
        bars.begin("making a clip")
        for number, frame in enumerate(frames, 1):
            writer.write(frame)
            bars.advance(number, count, number / (time.perf_counter() - started))
    return path, about


def _pick_moments(before: Path, after: Path, duration: Fraction) -> list[Moment]:
    """The same frames of both videos."""
    with video.Reader(before) as first, video.Reader(after) as second:
        found = []
        for number in range(MOMENTS):
            at = duration * (2 * number + 1) / (2 * MOMENTS)
            first.seek(at)
            old = next(first)
            second.seek(old.time)
            found.append(Moment(float(old.time), old.rgba, next(second).rgba))
    return found


def _compare(frame: Array, chain: Chain) -> tuple[float, float]:
    """One frame fused and stage by stage: milliseconds of each, and they must be the same."""
    source = compute.from_array(frame)
    fused = Run.of(source, [chain])
    apart = Run.of(source, [Chain([step]) for step in chain.steps])
    fused()
    apart()
    _check_same(fused.result.read(), apart.result.read())
    fused_ms, apart_ms = in_turns([fused, apart], MEASURE_S)
    return fused_ms, apart_ms


def _check_same(fused: Array, apart: Array) -> None:
    distance = np.abs(fused.astype(np.int16) - apart)
    allowed = GPU_STRAYS if compute.device_info()["gpu"] else 0.0
    if distance.max() > 1 or (distance > 0).mean() > allowed:
        raise Failed("the fused result differs from the one stage by stage: a defect of dala")
