"""Streams that come along with the pictures: copied packet by packet, or sound encoded anew.

Sound that is cut or runs at another speed is encoded anew: a packet is 20 ms and more, and a cut is exact.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

from dala.errors import ParameterError, VideoError, VideoFileError
from dala.video.library import as_fraction, ffmpeg_errors
from dala.video.output import Output
from dala.video.span import WHOLE, Span
from dala.video.voice import SoundGraph, Voice

Audio = Literal["copy", "encode", "none"]
_NAMES = {"audio": "its sound", "subtitle": "its subtitles"}


def check_audio(audio: object) -> None:
    """Refuse whatever is no way to treat sound."""
    if audio not in get_args(Audio):
        raise ParameterError(f"audio is one of {', '.join(get_args(Audio))}, got {audio!r}")


def sound_file(audio: object) -> Path | None:
    """The file whose sound is wanted instead; None for the words that say what becomes of the own one."""
    if isinstance(audio, os.PathLike):
        return Path(audio)
    if isinstance(audio, str) and audio not in get_args(Audio):
        if "." in audio or os.path.exists(audio):
            return Path(audio)
        listed = ", ".join(get_args(Audio))
        raise ParameterError(f"audio is one of {listed}, or a file with sound; got {audio!r}")
    check_audio(audio)
    return None


class Copied:
    """Packets of another file, as they are; those of a part of it are moved to its beginning."""

    def __init__(
        self, encoder: Output, stream: Any, span: Span = WHOLE, begin: Fraction = Fraction(0)
    ) -> None:
        self._encoder = encoder
        self._stream = stream
        self._span = span
        self._begin = begin
        self._last: int | None = None  # dts; it must go forward in every container

    def take(self, packet: Any) -> None:
        """Pass a packet on."""
        if not self._span.is_whole and not self._move(packet):
            return
        if self._last is not None and packet.dts <= self._last:
            packet.dts = self._last + 1
            packet.pts = packet.dts if packet.pts is None else max(packet.pts, packet.dts)
        self._last = packet.dts
        packet.stream = self._stream
        self._encoder.sink.mux(packet)

    def _move(self, packet: Any) -> bool:
        """Give a packet (of subtitles) its time within the part; whether it is seen there at all."""
        span, base = self._span, as_fraction(packet.time_base)
        stamp = packet.pts if packet.pts is not None else packet.dts
        begin = stamp * base - self._begin
        end = begin + (packet.duration or 0) * base
        last = end if span.end is None else min(end, span.end)
        if last <= span.start or (span.end is not None and begin >= span.end):
            return False
        moved = span.out(max(begin, span.start))
        packet.pts = packet.dts = round(moved / base)
        packet.duration = round((span.out(last) - moved) / base)
        return True

    def finish(self) -> None:
        """Nothing is left."""


class Recoded:
    """Sound decoded and encoded anew: for a container that cannot hold it as it is, or for a part of it."""

    def __init__(
        self,
        encoder: Output,
        template: Any,
        codec: str,
        span: Span = WHOLE,
        begin: Fraction = Fraction(0),
    ) -> None:
        self._sink = encoder.sink
        self._source = template.codec_context
        self._voice = Voice(
            encoder.sink,
            codec,
            self._source.sample_rate,
            self._source.layout.name,
            bit_rate=self._source.bit_rate if _codec(template) in codec else None,
        )
        self._voice.stream.metadata.update(template.metadata)
        self._graph = SoundGraph(self._voice, span, begin)

    def take(self, packet: Any) -> None:
        """Decode and encode a packet."""
        with ffmpeg_errors(self._sink.name, "encoding sound"):
            for frame in self._source.decode(packet):
                self._graph.push(frame)

    def finish(self) -> None:
        """Encode what is left in decoder, graph and encoder."""
        with ffmpeg_errors(self._sink.name, "encoding sound"):
            for frame in self._source.decode(None):
                self._graph.push(frame)
        self._graph.finish()
        self._voice.finish()


Companion = Copied | Recoded


def bring_along(
    encoder: Output,
    streams: Sequence[Any],
    audio: Audio,
    span: Span = WHOLE,
    begin: Fraction = Fraction(0),
) -> tuple[dict[int, Companion], list[str], list[str]]:
    """Each stream's way into the new file; what has none; and what is said of those that have."""
    ways: dict[int, Companion] = {}
    dropped: list[str] = []
    notes: list[str] = []
    for stream in streams:
        codec = _codec(stream)
        if stream.type != "audio":
            made = encoder.copy_stream(stream)
            if made is None:
                dropped.append(f"{_NAMES[stream.type]} ({codec})")
            else:
                ways[stream.index] = Copied(encoder, made, span, begin)
        elif not encoder.settings.target.holds_sound:
            if encoder.settings.target.kind == "file":  # of pictures nobody expects sound
                dropped.append(f"{_NAMES[stream.type]} ({codec})")
        else:
            ways[stream.index], said = _sound_way(encoder, stream, audio, span, begin)
            notes += said
    return ways, dropped, notes


def _sound_way(
    encoder: Output, stream: Any, audio: Audio, span: Span, begin: Fraction
) -> tuple[Companion, list[str]]:
    codec, usual = _codec(stream), encoder.settings.audio_encoder
    if audio == "copy" and span.is_whole:
        made = encoder.copy_stream(stream)
        if made is not None:
            return Copied(encoder, made, span, begin), []
        _require_decoder(encoder, stream)
        said = f"{codec} sound (encoded anew with {usual})"
        return Recoded(encoder, stream, usual, span, begin), [said]
    _require_decoder(encoder, stream)
    chosen = usual
    if audio == "copy" and not encoder.settings.audio_chosen:
        chosen = _same_codec(encoder, codec) or usual
    return Recoded(encoder, stream, chosen, span, begin), []


def _same_codec(encoder: Output, codec: str) -> str | None:
    """An encoder of the codec that the sound had, if the container holds it."""
    from dala.video.codecs import AUDIO_ENCODERS, can_encode

    for name in AUDIO_ENCODERS.get(codec, (codec,)):
        if can_encode(name, "audio") and codec in encoder.sink.container.supported_codecs:
            return str(name)
    return None


def _require_decoder(encoder: Output, stream: Any) -> None:
    if stream.codec_context is None:
        raise VideoError(
            f"{encoder.sink.name}: its sound cannot be decoded here; audio='none' leaves it out"
        )


def _codec(stream: Any) -> str:
    context = stream.codec_context
    return "unknown" if context is None else str(context.codec.canonical_name)


def other_sound(encoder: Output, file: SoundFile) -> tuple[Companion, list[str]]:
    """The way of another file's sound."""
    span = WHOLE if file.begin == 0 else Span(start=Fraction(0))
    # a wav beside an mp4: browsers and phones play no plain samples in one
    plain = _codec(file.stream).startswith("pcm_") and encoder.settings.target.format == "mp4"
    return _sound_way(encoder, file.stream, "encode" if plain else "copy", span, file.begin)


class SoundFile:
    """The sound of a file of its own, packet by packet, as far as the pictures are."""

    def __init__(self, path: Path) -> None:
        from dala.video.opening import open_container
        from dala.video.places import place_of

        self.name = str(path)
        try:
            self.container = open_container(place_of(path), 10)
        except VideoFileError:
            raise
        except VideoError as error:
            raise VideoError(f"{self.name}: this is no file with sound") from error
        streams = self.container.streams.audio
        if not streams:
            self.container.close()
            raise VideoError(f"{self.name}: there is no sound in it")
        self.stream = streams[0]
        self.begin = Fraction(self.stream.start_time or 0) * as_fraction(self.stream.time_base)
        self._packets = self.container.demux(self.stream)
        self._next: Any | None = None

    def until(self, seconds: Fraction) -> list[Any]:
        """The packets that begin before that time, counted from the first one."""
        found: list[Any] = []
        while True:
            packet = self._next or self._read()
            if packet is None or self._time(packet) >= seconds:
                self._next = packet
                return found
            found.append(packet)
            self._next = None

    def close(self) -> None:
        """Twice does nothing."""
        self.container.close()

    def _time(self, packet: Any) -> Fraction:
        stamp = packet.pts if packet.pts is not None else packet.dts
        return Fraction(stamp) * as_fraction(packet.time_base) - self.begin

    def _read(self) -> Any | None:
        with ffmpeg_errors(self.name, "reading"):
            for packet in self._packets:
                if packet.size and (packet.pts is not None or packet.dts is not None):
                    packet.dts = packet.pts if packet.dts is None else packet.dts
                    return packet
        return None
