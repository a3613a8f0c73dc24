"""Parts → one file: their packets one after the other, sound and subtitles of the source beside them.

Nothing is decoded: a frame of the result is the frame that a worker has encoded, at the time that the
source gives it. Sound is copied packet by packet or encoded once, as ``dala.video`` does.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from fractions import Fraction
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dala.errors import FleetError
from dala.video.codecs import Settings
from dala.video.enclosed import Cover, bring_enclosed
from dala.video.encoding import Encoding
from dala.video.library import as_fraction, ffmpeg_errors, load_av
from dala.video.output import Output
from dala.video.places import place_of
from dala.video.sink import Sink
from dala.video.sound import Audio, Companion, bring_along
from dala.video.source import Source
from dala.video.timecode import NAME, first_timecode, without_timecode

# FFmpeg decodes some frames of what it opens, to guess what the head of a part says; that took 17 of the
# 18 ms that a part takes to be joined
UNDECODED = {"skip_frame": "all"}


class Part(NamedTuple):
    """An encoded segment, and when its first frame is shown."""

    path: str
    begin: Fraction


class Track(Protocol):
    """The sound of a file being made."""

    notes: list[str]

    def until(self, time: Fraction) -> None:
        """Write what is heard before that time of the file."""

    def finish(self) -> None:
        """Write what is left."""

    def close(self) -> None:
        """Give back what is open."""


class _Timed(NamedTuple):
    """A packet, in the order in which a file has them."""

    time: Fraction  # when it is decoded
    rank: int  # pictures before what is heard with them
    number: int
    packet: Any


def suffix_of(settings: Settings) -> str:
    """Of parts: a container that has exact times and holds what was encoded."""
    return ".mov" if settings.encoder.startswith("prores") else ".mp4"


def encoding_for(encoding: Encoding, settings: Settings) -> dict[str, Any]:
    """How parts are encoded: by the codec of the whole file, not the usual one of their own container."""
    return asdict(replace(encoding, codec=encoding.codec or settings.target.codec))


def join_parts(
    source: str, settings: Settings, parts: Iterable[Part], audio: Audio, folder: Path | None = None
) -> list[str]:
    """Write the file; what of the source it does not hold.

    A part is read when it is asked for, so ``parts`` may have to wait for it; until it is complete, the
    file stands in ``folder``, or beside its place.
    """
    output = Output(settings, folder)
    try:
        with closing(Source(place_of(source), timeout=10)) as spoken:
            with ffmpeg_errors(output.sink.name, "joining parts"):
                pictures = _Pictures(output.sink, parts)
            streams = spoken.container.streams
            kept = [*(() if audio == "none" else streams.audio), *streams.subtitles]
            heard, dropped, notes = bring_along(output, kept, audio)
            beside, left_out = bring_enclosed(output, spoken)
            companions: dict[int, Companion | Cover] = {**heard, **beside}
            dropped += left_out
            # a track of timecode needs a rate, which packets have not
            if first_timecode(spoken) is not None:
                dropped.append(NAME)
            said = without_timecode(spoken.container.metadata)
            output.describe(said, spoken.container.chapters())
            with ffmpeg_errors(output.sink.name, "joining parts"):
                _interleave(output.sink, pictures, spoken, companions)
        output.sink.finish()
    finally:
        output.discard()
    return [*dropped, *notes]


def join_with_track(
    settings: Settings,
    parts: Iterable[Part],
    open_track: Callable[[Output], Track | None],
    folder: Path | None = None,
) -> list[str]:
    """Write a file whose sound is made beside its parts; what is to be said of that sound."""
    output = Output(settings, folder)
    try:
        with ffmpeg_errors(output.sink.name, "joining parts"):
            pictures = _Pictures(output.sink, parts)
        track = open_track(output)
        with ExitStack() as opened:
            if track is not None:
                opened.callback(track.close)
            for timed in pictures:
                if track is not None:
                    track.until(max(timed.time, Fraction(0)))
                output.sink.mux(timed.packet)
            if track is not None:
                track.finish()
        output.sink.finish()
    finally:
        output.discard()
    return [] if track is None else list(track.notes)


class _Pictures:
    """The packets of all parts on the source's clock."""

    def __init__(self, sink: Sink, parts: Iterable[Part]) -> None:
        rest = iter(parts)
        first = next(rest)
        self._parts = chain([first], rest)
        with load_av().open(f"file:{first.path}") as opened:
            template = opened.streams.video[0]
            self._head = bytes(template.codec_context.extradata or b"")
            self.time_base = as_fraction(template.time_base)
            self.stream = sink.container.add_stream_from_template(template, opaque=True)
            self.stream.time_base = template.time_base
            if (
                sink.format == "mov"
            ):  # which tells ProRes with alpha by its tag, and parts have the same
                self.stream.codec_context.codec_tag = template.codec_context.codec_tag

    def __iter__(self) -> Iterator[_Timed]:
        last: int | None = None  # dts; it goes forward in every container
        number = count()
        for part in self._parts:
            with load_av().open(f"file:{part.path}", options=UNDECODED) as container:
                stream = container.streams.video[0]
                self._check(part, stream)
                shift: int | None = None
                for packet in container.demux(stream):
                    if not packet.size:
                        continue
                    if shift is None:  # a part begins with its first picture, and counts from it
                        shift = round(part.begin / self.time_base) - packet.pts
                    packet.pts += shift
                    packet.dts += shift
                    if last is not None and packet.dts <= last:
                        packet.dts = last + 1
                    last = packet.dts
                    packet.stream = self.stream
                    yield _Timed(packet.dts * self.time_base, 0, next(number), packet)

    def _check(self, part: Part, stream: Any) -> None:
        """One head serves all parts only if they were encoded alike."""
        if as_fraction(stream.time_base) != self.time_base or self._head != bytes(
            stream.codec_context.extradata or b""
        ):
            raise FleetError(
                f"{part.path}: encoded unlike the first part, so the two cannot be joined; "
                "do all workers have the same version of PyAV? Remove the folder and begin anew"
            )


def _interleave(
    sink: Sink, pictures: _Pictures, spoken: Source, companions: dict[int, Companion | Cover]
) -> None:
    """Everything in order of time, so that no stream has to wait in memory for another."""
    beside = _companions(spoken, companions)
    for timed in heapq.merge(pictures, beside):
        if timed.rank == 0:
            sink.mux(timed.packet)
        else:
            companions[timed.packet.stream_index].take(timed.packet)
    for companion in companions.values():
        companion.finish()


def _companions(spoken: Source, companions: dict[int, Companion | Cover]) -> Iterator[_Timed]:
    if not companions:
        return
    last = Fraction(-(1 << 40))
    streams = [s for s in spoken.container.streams if s.index in companions]
    for number, packet in enumerate(spoken.container.demux(streams)):
        if packet.dts is None:
            packet.dts = packet.pts
        if packet.size and packet.dts is not None:
            # several streams may be stored a little out of order, which heapq would not forgive
            last = max(last, packet.dts * as_fraction(packet.time_base))
            yield _Timed(last, 1, number, packet)
