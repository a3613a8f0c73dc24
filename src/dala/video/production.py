"""From open inputs to a finished file: what transcode and the merging recipes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from dala.compute.engine import Engine
from dala.media.losses import report_losses
from dala.video.collage import Collage
from dala.video.device import FramePass, PassInput, PassThrough
from dala.video.enclosed import Cover, bring_enclosed
from dala.video.encoder import Encoder
from dala.video.flow import run_flow
from dala.video.inputs import Input
from dala.video.library import as_fraction
from dala.video.pictures import Decoded
from dala.video.progress import OnProgress, Watch
from dala.video.sound import Companion, SoundFile, bring_along, other_sound
from dala.video.timecode import KEPT_IN, NAME, has_timecode, timecode_of, without_timecode

Array = npt.NDArray[Any]
ZERO = Fraction(0)


class _Passes(Protocol):
    """Whatever made the frames."""

    engine: Engine

    def explain(self) -> str:
        """The plan in words."""


@dataclass(frozen=True)
class Report:
    """What was written, and how.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("plain.mp4", fps=25) as writer:
    ...     writer.write(np.zeros((48, 64, 3), np.uint8))
    >>> video.transcode("plain.mp4", "inverted.mp4", ["invert"], device="cpu").plan.splitlines()[0]
    '3 stages → 1 pass on cpu'
    """

    frames: int
    size: tuple[int, int]  # width and height of a frame
    duration: Fraction  # of the video written, in seconds
    seconds: float  # that it took
    fps: float  # frames per second of real time
    device: str
    plan: str  # the fused passes, in words
    dropped: tuple[str, ...]  # streams that could not come along
    notes: tuple[str, ...]  # what else the output could not hold, a few words each
    damaged: int  # errors of the decoder that were concealed


def report_of(
    passes: _Passes,
    encoder: Encoder,
    watch: Watch,
    inputs: Sequence[Input],
    losses: tuple[Sequence[str], Sequence[str]],
    begin: Fraction = ZERO,
) -> Report:
    """Of a finished file whose times start at ``begin``. Losses: streams that were dropped, and notes."""
    dropped, notes = losses
    return Report(
        frames=encoder.frames,
        size=encoder.size,
        duration=encoder.end - begin,
        seconds=watch.elapsed,
        fps=encoder.frames / watch.elapsed,
        device=passes.engine.device.name,
        plan=passes.explain(),
        dropped=tuple(dropped),
        notes=tuple(notes),
        damaged=sum(i.source.damaged for i in inputs),
    )


class Moment(NamedTuple):
    """A frame to be made: one picture of each input, or none; and packets to be passed on before it."""

    pictures: tuple[Any, ...]
    pts: int
    duration: int
    packets: list[Any]
    sound: Sequence[Any] = ()  # packets of a file of sound
    written: bool = True  # else only filters see it, which remember what they saw


@dataclass(frozen=True)
class Extras:
    """What a production may have besides: other sound, a look at every frame, what was lost so far."""

    sound: SoundFile | None = None
    touch: Callable[[Decoded, Moment], PassInput] | None = None
    notes: Sequence[str] = ()
    strict: bool = False
    over: Callable[[Moment], PassInput] | None = None


def produce_file(
    inputs: Sequence[Input],
    speaker: int | None,
    moments: Iterator[Moment],
    frames: FramePass | PassThrough | Collage,
    encoder: Encoder,
    progress: OnProgress | None,
    extras: Extras = Extras(),
) -> Report:
    """Run it all. ``speaker`` is the number of the input whose sound is kept; nothing is left by errors."""
    lead = inputs[0]
    try:
        ways: dict[int, Companion | Cover] = {}
        dropped: list[str] = []
        notes = list(extras.notes)
        if speaker is not None:
            voice = inputs[speaker]
            heard, dropped, said = bring_along(
                encoder, voice.passed_on, voice.audio, voice.span, voice.begin
            )
            beside, left_out = bring_enclosed(encoder, voice.source)
            ways = {**heard, **beside}
            notes += said
            dropped += left_out
            dropped += _describe(encoder, lead, voice)
        other = None
        if extras.sound is not None:
            other, said = other_sound(encoder, extras.sound)
            notes += said
        if extras.strict:
            report_losses(encoder.sink.name, [*notes, *dropped], strict=True)
        watch = Watch(progress, encoder, [lead.source], lead.span)
        run_flow(
            moments,
            lambda given: frames.run(
                given,
                lambda moment: _pictures(inputs, moment, extras),
                lambda moment: float(moment.pts * encoder.time_base + lead.span.since),
                lead.span.before,
            ),
            lambda made, checkpoint: _encode(made, encoder, (ways, other), checkpoint),
            watch=watch,
        )
        watch()
    finally:
        encoder.discard()
    begin = lead.begin if lead.keeps_times else ZERO
    return report_of(frames, encoder, watch, inputs, (dropped, notes), begin)


def _describe(encoder: Encoder, lead: Input, voice: Input) -> list[str]:
    """What the file says about itself; and what of that it has no place for."""
    container = voice.source.container
    metadata = without_timecode(container.metadata)
    code = timecode_of(lead) if encoder.settings.target.format in KEPT_IN else None
    if code is not None:
        metadata["timecode"] = code
    encoder.describe(metadata, _chapters(container.chapters(), voice))
    is_file = encoder.settings.target.kind == "file"  # of a still nobody asks for it
    return [NAME] if is_file and code is None and has_timecode(lead) else []


def _chapters(chapters: list[dict[str, Any]], voice: Input) -> list[dict[str, Any]]:
    """The chapters of the part that is taken, on its clock."""
    span, kept = voice.span, []
    if span.is_whole:
        return chapters
    for chapter in chapters:
        base = as_fraction(chapter["time_base"])
        begin, end = (chapter[k] * base - voice.begin for k in ("start", "end"))
        last = end if span.end is None else min(end, span.end)
        if last > span.start and (span.end is None or begin < span.end):
            start = round(span.out(max(begin, span.start)) / base)
            kept.append(chapter | {"start": start, "end": round(span.out(last) / base)})
    return kept


def _pictures(inputs: Sequence[Input], moment: Moment, extras: Extras) -> list[PassInput]:
    pairs = zip(inputs, moment.pictures, strict=False)
    decoded = [one.decoded(picture) for one, picture in pairs]
    if extras.touch is None:
        shown: list[PassInput] = [*decoded]
    else:
        shown = [extras.touch(one, moment) for one in decoded]
    return [*shown, extras.over(moment)] if shown and extras.over is not None else shown


def _encode(
    made: Iterable[tuple[Moment, Array | None]],
    encoder: Encoder,
    companions: tuple[Mapping[int, Companion | Cover], Companion | None],
    checkpoint: Callable[[], None],
) -> None:
    ways, other = companions
    every = [*ways.values(), *([other] if other else [])]
    with encoder.sink.writing:
        try:
            for moment, frame in made:
                _encode_moment(moment, frame, encoder, ways, other)
            for way in every:
                way.finish()
            encoder.finish(checkpoint)
        finally:
            encoder.discard()


def _encode_moment(
    moment: Moment,
    frame: Array | None,
    encoder: Encoder,
    ways: Mapping[int, Companion | Cover],
    other: Companion | None,
) -> None:
    for packet in moment.packets:
        if packet.stream_index in ways:
            ways[packet.stream_index].take(packet)
    if other is not None:
        for packet in moment.sound:
            other.take(packet)
    if frame is not None and moment.written:
        encoder.encode(frame, moment.pts, moment.duration)
