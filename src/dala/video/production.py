"""From open inputs to a finished file: what transcode and the merging recipes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.video.device import FramePass, PassThrough
from dala.video.encoder import Encoder
from dala.video.flow import run_flow
from dala.video.inputs import Input
from dala.video.pictures import Decoded
from dala.video.progress import OnProgress, Watch
from dala.video.sound import Companion, bring_along

Array = npt.NDArray[np.uint8]


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
    duration: Fraction  # of the video written, in seconds
    seconds: float  # that it took
    fps: float  # frames per second of real time
    device: str
    plan: str  # the fused passes, in words
    dropped: tuple[str, ...]  # streams that could not come along
    damaged: int  # errors of the decoder that were concealed


class Moment(NamedTuple):
    """A frame to be made: one picture of each input, or none; and packets to be passed on before it."""

    pictures: tuple[Any, ...]
    pts: int
    duration: int
    packets: list[Any]


def produce_file(
    inputs: Sequence[Input],
    speaker: int | None,
    moments: Iterator[Moment],
    frames: FramePass | PassThrough,
    encoder: Encoder,
    progress: OnProgress | None,
) -> Report:
    """Run it all. ``speaker`` is the number of the input whose sound is kept; nothing is left by errors."""
    lead = inputs[0]
    try:
        ways: dict[int, Companion] = {}
        dropped: list[str] = []
        if speaker is not None:
            voice = inputs[speaker]
            container = voice.source.container
            ways, dropped = bring_along(encoder, voice.passed_on, voice.audio)
            dropped += voice.left_out
            encoder.describe(container.metadata, container.chapters())
        watch = Watch(progress, encoder, lead.source)
        run_flow(
            moments,
            lambda given: frames.run(given, lambda moment: _pictures(inputs, moment)),
            lambda made, checkpoint: _encode(made, encoder, ways, checkpoint),
            watch=watch,
        )
        watch()
    finally:
        encoder.discard()
    return Report(
        frames=encoder.frames,
        duration=encoder.end - lead.begin,
        seconds=watch.elapsed,
        fps=encoder.frames / watch.elapsed,
        device=frames.engine.device.name,
        plan=frames.explain(),
        dropped=tuple(dropped),
        damaged=sum(i.source.damaged for i in inputs),
    )


def _pictures(inputs: Sequence[Input], moment: Moment) -> list[Decoded]:
    return [one.decoded(p) for one, p in zip(inputs, moment.pictures, strict=False)]


def _encode(
    made: Iterable[tuple[Moment, Array | None]],
    encoder: Encoder,
    ways: Mapping[int, Companion],
    checkpoint: Callable[[], None],
) -> None:
    with encoder.sink.writing:
        try:
            for moment, frame in made:
                for packet in moment.packets:
                    if packet.stream_index in ways:
                        ways[packet.stream_index].take(packet)
                if frame is not None:
                    encoder.encode(frame, moment.pts, moment.duration)
            for way in ways.values():
                way.finish()
            encoder.finish(checkpoint)
        finally:
            encoder.discard()
