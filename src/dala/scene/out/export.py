"""export: a scene as a file, frame by frame, faster than it plays where the machine allows.

times ─ evaluate: sources decode ahead ─ queue ─ paint ─ queue ─ encode pictures and sound ─ mux
"""

from __future__ import annotations

import os
import time as machine
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy.typing as npt

from dala.errors import ParameterError
from dala.scene.layers import Composition
from dala.scene.out.frames import FramePainter
from dala.scene.out.parts import PIXELS, Asked, export_in_parts
from dala.scene.out.stage import Composed, check_stage, count_of, fps_of, span_of
from dala.scene.out.tracks import Audio, track_of
from dala.scene.paint import painted_by
from dala.scene.sound import SceneSound
from dala.scene.times import Time
from dala.video.codecs import Settings, choose_encoder
from dala.video.color import usual_color
from dala.video.encoder import Encoder, target_format
from dala.video.encoding import Encoding, Words, with_words
from dala.video.flow import run_flow
from dala.video.parts import Track
from dala.video.production import Report
from dala.video.progress import OnProgress, Progress
from dala.video.writer import TICKS

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[Any]
PathLike = str | os.PathLike[str]


def export(
    scene: Composed,
    path: PathLike,
    *,
    fps: float | Fraction | None = None,
    start: Time | None = None,
    end: Time | None = None,
    video: Encoding | None = None,
    audio: Audio = "auto",
    also: Mapping[PathLike, Composed] | None = None,
    progress: OnProgress | None = None,
    device: str | None = None,
    resume: bool = False,
    **words: Unpack[Words],
) -> Report:
    """Write a scene into a file: every frame at its exact time, every sample at its place.

    Frame n shows the scene at ``start + n / fps``; there are as many as begin before ``end`` (by default
    the end of the last thing in the scene). ``fps`` is the scene's unless given. The file appears under its
    name when it is complete; an error, Ctrl-C or a kill leaves nothing there.

    ``video`` and its parts by themselves (``crf=18``) say how it is encoded, see ``video.Encoding``.
    ``audio="auto"`` copies the packets of a sound that is heard alone and unchanged, and mixes otherwise;
    ``"encode"`` always mixes, ``"none"`` leaves the sound out. ``also`` are further files from the same
    evaluation, such as ``{"tall.mp4": scene.Canvas(stage, 1080, 1920)}``. ``progress`` is called with a
    ``video.Progress``; an exception raised in it ends the export. ``device`` paints it; the scene's own one
    if no other is named.

    What is transparent is seen on black, unless the pixels hold alpha: those of ``.webp`` and ``.gif`` do,
    of a ``.webm`` those with ``pixel_format="yuva420p"``, of a ``.mov`` those with ``codec="prores",
    pixel_format="yuva444p10le"``.

    ``resume=True`` goes on where the same export was left: it is made in parts of ten seconds, which stay
    in a hidden folder beside the file until that is complete. Another scene, file, time or encoding begins
    anew. The scene is one that a file can hold, and nothing in it is live.

    >>> from dala import scene, video
    >>> with scene.Scene(64, 48, background="navy") as stage:
    ...     _ = stage.add_shape(position=(8, 8), size=(16, 16), fill="gold")
    ...     report = scene.export(stage, "card.mp4", fps=25, end=0.4)
    >>> report.frames, report.duration, video.probe("card.mp4").frames
    (10, Fraction(2, 5), 10)
    """
    check_stage(scene, "export")
    if audio not in get_args(Audio):
        raise ParameterError(f"audio is one of {', '.join(get_args(Audio))}, got {audio!r}")
    rate = fps_of(scene, fps)
    first, last = span_of(scene, start, end, "export")
    encoding = with_words(video, words)
    if resume:
        if also:
            raise ParameterError("export: resume makes one file; leave also out, or resume each")
        return export_in_parts(
            Asked(scene, Path(path), rate, first, last, encoding, audio, device, progress),
            lambda part, begin, until, how, watch: export(
                scene, part, fps=rate, start=begin, end=until, audio="none", video=how,
                device=device, progress=watch,
            ).frames,
        )  # fmt: skip
    job = _Job(rate, first, last, count_of(first, last, rate))
    chosen = {
        p: (s, choose_encoder(p, encoding, PIXELS))
        for p, s in {path: scene, **(also or {})}.items()
    }
    with ExitStack() as opened:
        sound = SceneSound(scene)
        opened.callback(sound.close)
        outputs = [
            _Output(stage, settings, job, sound, audio, device, opened)
            for stage, settings in chosen.values()
        ]
        watch = _Watch(progress, outputs[0].encoder, job)
        run_flow(
            _moments(outputs, job),
            lambda given: _painted(given, outputs),
            lambda made, checkpoint: _encode(made, outputs, job, checkpoint),
            watch=watch,
        )
        watch()
    return outputs[0].report(watch.elapsed)


@dataclass(frozen=True)
class _Job:
    fps: Fraction
    start: Fraction
    end: Fraction
    count: int

    @property
    def time_base(self) -> Fraction:
        """In which every frame's time is a whole number."""
        return Fraction(1, self.fps.numerator * -(-TICKS // self.fps.numerator))

    @property
    def ticks(self) -> int:
        """Of one frame."""
        return int(1 / self.fps / self.time_base)

    @property
    def length(self) -> Fraction:
        return self.end - self.start


class _Output:
    """One file of an export."""

    def __init__(
        self,
        stage: Composed,
        settings: Settings,
        job: _Job,
        sound: SceneSound,
        audio: Audio,
        device: str | None,
        opened: ExitStack,
    ) -> None:
        width, height = stage.width, stage.height
        self.stage = stage
        format_ = target_format(settings, width, height, usual_color(width, height))
        self.painter = FramePainter(stage, settings, format_.color, device)
        self.encoder = Encoder(
            settings,
            width=width,
            height=height,
            color=format_.color,
            time_base=job.time_base,
            fps=job.fps,
        )
        opened.callback(self.encoder.discard)
        self.track: Track | None = track_of(
            sound, audio, settings, self.encoder, job.start, job.end
        )
        if self.track is not None:
            opened.callback(self.track.close)

    def report(self, seconds: float) -> Report:
        encoder = self.encoder
        return Report(
            frames=encoder.frames,
            size=encoder.size,
            duration=encoder.end,
            seconds=seconds,
            fps=encoder.frames / seconds,
            device=painted_by(self.painter.device),
            plan=f"{encoder.frames} frames, {self.painter.repeated} like the one before",
            dropped=(),
            notes=tuple(self.track.notes) if self.track is not None else (),
            damaged=0,
        )


def _moments(outputs: list[_Output], job: _Job) -> Iterator[tuple[int, list[Composition]]]:
    for number in range(job.count):
        time = job.start + number / job.fps
        yield number, [output.stage.evaluate(time) for output in outputs]


def _painted(
    given: Iterable[tuple[int, list[Composition]]], outputs: list[_Output]
) -> Iterator[tuple[int, list[Array]]]:
    for number, compositions in given:
        pairs = zip(outputs, compositions, strict=True)
        yield number, [output.painter.paint(composition) for output, composition in pairs]


def _encode(
    made: Iterable[tuple[int, list[Array]]],
    outputs: list[_Output],
    job: _Job,
    checkpoint: Callable[[], None],
) -> None:
    with ExitStack() as held:
        for output in outputs:
            held.enter_context(output.encoder.sink.writing)
            held.callback(output.encoder.discard)
        for number, frames in made:
            for output, frame in zip(outputs, frames, strict=True):
                if output.track is not None:
                    output.track.until(min(Fraction(number + 1) / job.fps, job.length))
                output.encoder.encode(frame, number * job.ticks, job.ticks)
        for output in outputs:
            if output.track is not None:
                output.track.finish()
            output.encoder.finish(checkpoint)


class _Watch:
    """Calls the progress function whenever there is something new."""

    def __init__(self, callback: OnProgress | None, encoder: Encoder, job: _Job) -> None:
        self._callback, self._encoder, self._job = callback, encoder, job
        self._seen = -1
        self._started = machine.perf_counter()

    @property
    def elapsed(self) -> float:
        return max(machine.perf_counter() - self._started, 1e-9)

    def __call__(self) -> None:
        frames = self._encoder.frames
        if self._callback is None or frames == self._seen:
            return
        self._seen = frames
        seconds, duration = float(self._encoder.end), float(self._job.length)
        rate = frames / self.elapsed
        self._callback(Progress(frames, self._job.count, seconds, duration, rate))
