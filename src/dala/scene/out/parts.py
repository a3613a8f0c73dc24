"""A scene's file made in parts: those that are complete stay, so that an export that was left goes on.

    scene ─ document ─┬─ part ─ noted ─┬─ joined, the sound mixed beside ─ file
                      └─ part ─ noted ─┘

What was asked for is the journal's fingerprint: another scene, file, time or encoding begins anew.
``dala.fleet`` has other processes make the same parts.
"""

from __future__ import annotations

import math
import os
import time as machine
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dala._version import __version__
from dala.compute.default import default_name
from dala.errors import DalaError, ParameterError, SceneError
from dala.language.kernel import Kernel
from dala.media.chain import Chain
from dala.scene.files.shown import files_shown, fonts_behind
from dala.scene.files.writing import to_document
from dala.scene.nodes.media import is_scene
from dala.scene.out.canvas import Canvas
from dala.scene.out.stage import Composed, count_of, device_of
from dala.scene.out.tracks import Audio, track_of
from dala.scene.paint import painted_by
from dala.scene.sound import SceneSound
from dala.scene.sources.opening import is_live
from dala.video.codecs import Settings, choose_encoder
from dala.video.encoding import Encoding
from dala.video.library import load_av
from dala.video.output import Output
from dala.video.parts import (
    Journal,
    Part,
    Record,
    Track,
    encoding_for,
    hash_file,
    join_with_track,
    part_key,
    suffix_of,
)  # fmt: skip
from dala.video.pixels import Pixels
from dala.video.places import place_of
from dala.video.production import Report
from dala.video.progress import OnProgress, Progress

PART_S = 10.0
PIXELS = Pixels(alpha=False, bits=8, rgb=False)
Span = tuple[Fraction, Fraction]
ExportPart = Callable[[Path, Fraction, Fraction, Encoding, OnProgress], int]


@dataclass(frozen=True)
class Asked:
    """What an export is asked for."""

    scene: Composed
    path: Path
    fps: Fraction
    start: Fraction
    end: Fraction
    encoding: Encoding
    audio: Audio
    device: str | None
    progress: OnProgress | None

    @property
    def count(self) -> int:
        """Of all frames."""
        return count_of(self.start, self.end, self.fps)


def export_in_parts(asked: Asked, export_part: ExportPart) -> Report:
    """Make the parts that are missing, then the file; ``export_part`` says how many frames one has."""
    began = machine.perf_counter()
    target = Path(os.path.abspath(asked.path))
    settings = settings_of(target, asked.encoding)
    spans = spans_of(asked.start, asked.end, asked.fps, PART_S)
    said = _said(asked, settings, target, spans)
    encoding = Encoding(**said["encoding"])
    with Journal(target, said, len(spans)) as journal:
        parts = [journal.folder / f"{part_key(n)}{said['part_suffix']}" for n in range(len(spans))]
        journal.check({part_key(n): part for n, part in enumerate(parts)})
        resumed = len(journal.finished)
        watch = _Watch(asked, sum(r["frames"] for r in journal.finished.values()), began)
        for number, (span, part) in enumerate(zip(spans, parts, strict=True)):
            key = part_key(number)
            if key in journal.finished:
                continue
            frames = export_part(part, *span, encoding, watch)
            journal.note(key, {"frames": frames, "bytes": part.stat().st_size})
            watch.done += frames
        made = parts_of(parts, spans)
        notes = join(asked.scene, settings, made, spans, asked.audio, journal.folder)
        journal.remove()
    seconds = max(machine.perf_counter() - began, 1e-9)
    return Report(
        frames=asked.count,
        size=(asked.scene.width, asked.scene.height),
        duration=asked.count / asked.fps,
        seconds=seconds,
        fps=(asked.count - watch.begun_with) / seconds,
        device=painted_by(device_of(asked.scene, asked.device)),
        plan=f"{len(spans)} parts, {resumed} of them were there",
        dropped=(),
        notes=tuple(notes),
        damaged=0,
    )


class _Watch:
    """The progress of a part as that of the whole."""

    def __init__(self, asked: Asked, begun_with: int, began: float) -> None:
        self.done = self.begun_with = begun_with
        self._asked, self._began = asked, began

    def __call__(self, part: Progress) -> None:
        if self._asked.progress is None:
            return
        frames = self.done + part.frames
        rate = (frames - self.begun_with) / max(machine.perf_counter() - self._began, 1e-9)
        seconds, whole = float(frames / self._asked.fps), self._asked.end - self._asked.start
        self._asked.progress(Progress(frames, self._asked.count, seconds, float(whole), rate))


def _said(asked: Asked, settings: Settings, target: Path, spans: list[Span]) -> Record:
    """What the parts depend on, in values that JSON can hold."""
    whole, views = asked.scene, []
    while isinstance(whole, Canvas):
        views.append([whole.width, whole.height, whole.fit, *whole.focus])
        whole = whole.scene
    scene: Any = whole
    check_portable(scene, "export: resume")
    document = to_document(scene, target.parent)
    files = sorted(files_shown(scene))
    if os.path.realpath(target) in files:
        raise ParameterError(f"{target}: the scene shows it, so it cannot be the result, too")
    return {
        **said_of(asked.fps, spans, settings, asked.audio, asked.device or scene.device),
        "kind": "scene.export",
        "default": default_name(),  # of effects, whatever paints the scene
        "scene": document,
        "views": views,
        "files": {path: hash_file(path) for path in files},
        "fonts": fonts_behind(scene),
        "encoding": encoding_for(asked.encoding, settings),
    }


# -- what exports in this process and in others share ------------------------------------------------


def said_of(
    fps: Fraction, spans: list[Span], settings: Settings, audio: Audio, device: str | None
) -> Record:
    """The part of what is asked for that has to do with times and containers."""
    return {
        "fps": str(fps),
        "start": str(spans[0][0]),
        "end": str(spans[-1][1]),
        "segments": [str(begin) for begin, _ in spans],
        "part_suffix": suffix_of(settings),
        "audio": audio,
        "device": device,
        "versions": {"dala": __version__, "av": load_av().__version__},
    }


def settings_of(target: Path, encoding: Encoding) -> Settings:
    """How the whole file is encoded; one that cannot be joined of parts is refused."""
    settings = choose_encoder(str(target), encoding, PIXELS)
    if settings.target.kind != "file" or settings.pixel_format == "pal8":
        raise ParameterError(
            f"{target}: parts become one video file, such as .mp4 or .mkv; scene.export writes others"
        )
    return settings


def spans_of(first: Fraction, last: Fraction, rate: Fraction, part_s: float) -> list[Span]:
    """From when until when each part is: whole frames, at least so many seconds but for the last."""
    length = max(1, math.ceil(Fraction(str(part_s)) * rate)) / rate
    count = math.ceil((last - first) / length)
    return [(first + n * length, min(first + (n + 1) * length, last)) for n in range(count)]


def parts_of(paths: Sequence[Path], spans: Sequence[Span]) -> list[Part]:
    """The parts of a scene that are in these files."""
    first = spans[0][0]
    return [Part(str(path), span[0] - first) for path, span in zip(paths, spans, strict=True)]


def join(
    scene: Composed,
    settings: Settings,
    parts: Iterable[Part],
    spans: Sequence[Span],
    audio: Audio,
    folder: Path,
) -> list[str]:
    """The parts as one file, the scene's sound beside them; what is to be said of that sound.

    Until it is complete, it stands in the folder.
    """
    first, last = spans[0][0], spans[-1][1]

    def open_track(output: Output) -> Track | None:
        return track_of(sound, audio, settings, output, first, last)

    with closing(SceneSound(scene)) as sound:
        return join_with_track(settings, parts, open_track, folder)


def check_portable(scene: Any, who: str) -> None:
    """Refuse a scene that another process would not paint alike; arrays are refused in writing."""
    for node in scene.nodes():
        for name, value in node.props.items():
            what = f"{who}: {name} of node {node.id} ({node.type})"
            if is_scene(value):
                check_portable(value.of, who)
            elif name == "image" and isinstance(value, int):
                raise SceneError(
                    f"{what} is image {value}, which was loaded into this process; "
                    "save it and give its path"
                )
            elif (
                name in ("stream", "source") and isinstance(value, str) and is_live(place_of(value))
            ):
                raise SceneError(
                    f"{what} is {value}, which is live: it would be seen at another time; "
                    "record it first, or use scene.export without parts"
                )
            elif isinstance(value, Kernel) and not _is_known(value):
                raise SceneError(
                    f"{what} is the kernel {value.name!r} of this process; give its text instead"
                )


def _is_known(kernel: Kernel) -> bool:
    """Whether its name means this very kernel, wherever it is read."""
    try:
        return [step.kernel for step in Chain.of(kernel.name).steps] == [kernel]
    except DalaError:
        return False
