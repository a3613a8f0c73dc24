"""What is in a video file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dala.video.color import Color, Matrix, Range, color_of
from dala.video.library import as_fraction, load_av
from dala.video.pictures import Turn, turn_of
from dala.video.places import Spec, place_of
from dala.video.source import Source, open_source


@dataclass(frozen=True)
class Track:
    """One stream of sound or subtitles.

    >>> from dala import video
    >>> video.Track(index=1, codec="aac", language="eng", duration=None, rate=48000, channels=2).codec
    'aac'
    """

    index: int
    codec: str
    language: str | None
    duration: Fraction | None
    rate: int | None = None
    channels: int | None = None


@dataclass(frozen=True)
class Info:
    """What probe() found; sizes are those of the upright picture, times are in seconds.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("probed.mp4", fps=25) as writer:
    ...     writer.write(np.zeros((48, 64, 4), np.uint8))
    >>> info = video.probe("probed.mp4")
    >>> info.width, info.height, info.fps, info.codec
    (64, 48, Fraction(25, 1), 'h264')
    """

    name: str
    format: str
    codec: str
    pixel_format: str
    width: int
    height: int
    rotation: int  # degrees counter-clockwise that the stored picture is turned by
    mirrored: bool
    fps: Fraction | None
    time_base: Fraction
    start: Fraction
    duration: Fraction | None
    frames: int | None
    matrix: Matrix
    range: Range
    primaries: str | None
    transfer: str | None
    bit_rate: int | None
    audio: tuple[Track, ...]
    subtitles: tuple[Track, ...]
    metadata: dict[str, str]


def probe(source: Spec) -> Info:
    """What is in a file: one frame is decoded, nothing is converted.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("probed.mp4", fps=25) as writer:
    ...     writer.write(np.zeros((48, 64, 4), np.uint8))
    >>> video.probe("probed.mp4").duration
    Fraction(1, 25)
    """
    opened = open_source(place_of(source), on_damage="conceal", timeout=10)
    try:
        first = next((i.picture for i in opened.items() if i.picture is not None), None)
        tagged = opened.context if first is None else first
        turn = Turn() if first is None else turn_of(first)
        return info_of(opened, turn, color_of(tagged))
    finally:
        opened.close()


def info_of(source: Source, turn: Turn, color: Color) -> Info:
    """The description of an open source."""
    container, stream = source.container, source.stream
    context, enums = source.context, load_av().video.reformatter
    width, height = turn.size(context.width, context.height)
    return Info(
        name=source.place.name,
        format=container.format.name,
        codec=context.codec.canonical_name,
        pixel_format=context.pix_fmt or "",
        width=width,
        height=height,
        rotation=turn.degrees,
        mirrored=turn.mirrored,
        fps=source.rate,
        time_base=source.time_base,
        start=source.begin,
        duration=_duration(stream, container),
        frames=stream.frames or None,
        matrix=color.matrix,
        range=color.range,
        primaries=_name(enums.ColorPrimaries, color.primaries),
        transfer=_name(enums.ColorTrc, color.transfer),
        bit_rate=container.bit_rate or None,
        audio=tuple(_track(s) for s in container.streams.audio),
        subtitles=tuple(_track(s) for s in container.streams.subtitles),
        metadata=dict(container.metadata),
    )


def _duration(stream: Any, container: Any) -> Fraction | None:
    if stream.duration:
        return int(stream.duration) * as_fraction(stream.time_base)
    return Fraction(container.duration, load_av().time_base) if container.duration else None


def _track(stream: Any) -> Track:
    context = stream.codec_context
    length = int(stream.duration) * as_fraction(stream.time_base) if stream.duration else None
    sound = stream.type == "audio" and context is not None
    return Track(
        index=stream.index,
        codec=context.codec.canonical_name if context is not None else "unknown",
        language=stream.metadata.get("language"),
        duration=length,
        rate=context.sample_rate if sound else None,
        channels=context.channels if sound else None,
    )


def _name(numbers: Any, value: int) -> str | None:
    """The name of a tag; None where the stream says nothing."""
    found = next((n for n in numbers if int(n) == value), None)
    return None if found is None or found.name == "UNSPECIFIED" else str(found.name).lower()
