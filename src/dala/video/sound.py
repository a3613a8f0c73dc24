"""Streams that come along with the pictures: copied packet by packet, or sound encoded anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from dala.errors import ParameterError, VideoError
from dala.video.encoder import Encoder
from dala.video.library import ffmpeg_errors, load_av

Audio = Literal["copy", "encode", "none"]


def check_audio(audio: object) -> None:
    """Refuse whatever is no way to treat sound."""
    if audio not in get_args(Audio):
        raise ParameterError(f"audio is one of {', '.join(get_args(Audio))}, got {audio!r}")


class Copied:
    """Packets of another file, as they are."""

    def __init__(self, encoder: Encoder, stream: Any) -> None:
        self._encoder = encoder
        self._stream = stream
        self._last: int | None = None  # dts; it must go forward in every container

    def take(self, packet: Any) -> None:
        """Pass a packet on."""
        if self._last is not None and packet.dts <= self._last:
            packet.dts = self._last + 1
            packet.pts = packet.dts if packet.pts is None else max(packet.pts, packet.dts)
        self._last = packet.dts
        packet.stream = self._stream
        self._encoder.sink.mux(packet)

    def finish(self) -> None:
        """Nothing is left."""


class Recoded:
    """Sound decoded and encoded anew, for a container that cannot hold it as it is."""

    def __init__(self, encoder: Encoder, template: Any) -> None:
        av, sink = load_av(), encoder.sink
        self._sink = sink
        self._source = template.codec_context
        codec = encoder.settings.audio_encoder
        with ffmpeg_errors(sink.name, f"encoding sound with {codec}"):
            rate = 48_000 if codec == "libopus" else self._source.sample_rate
            layout = "stereo" if self._source.channels > 1 else "mono"
            self._stream = sink.container.add_stream(codec, rate=rate, layout=layout)
            self._stream.metadata.update(template.metadata)
            self._stream.codec_context.open()
            context = self._stream.codec_context
            self._resampler = av.AudioResampler(
                context.format, context.layout, rate, context.frame_size or None
            )

    def take(self, packet: Any) -> None:
        """Decode and encode a packet."""
        with ffmpeg_errors(self._sink.name, "encoding sound"):
            for frame in self._source.decode(packet):
                self._encode(frame)

    def finish(self) -> None:
        """Encode what is left in decoder, resampler and encoder."""
        with ffmpeg_errors(self._sink.name, "encoding sound"):
            for frame in self._source.decode(None):
                self._encode(frame)
            self._encode(None)
            self._sink.mux(self._stream.encode(None))

    def _encode(self, frame: Any | None) -> None:
        for piece in self._resampler.resample(frame):
            self._sink.mux(self._stream.encode(piece))


Companion = Copied | Recoded


def bring_along(
    encoder: Encoder, streams: Sequence[Any], audio: Audio
) -> tuple[dict[int, Companion], list[str]]:
    """Each stream's way into the new file. Sound that does not fit is refused, the rest is named."""
    ways: dict[int, Companion] = {}
    dropped: list[str] = []
    for stream in streams:
        codec = stream.codec_context.name if stream.codec_context is not None else "unknown"
        if stream.type == "audio" and audio == "encode":
            if stream.codec_context is None:
                raise VideoError(f"{encoder.sink.name}: its sound cannot be decoded here")
            ways[stream.index] = Recoded(encoder, stream)
            continue
        made = encoder.copy_stream(stream)
        if made is not None:
            ways[stream.index] = Copied(encoder, made)
        elif stream.type == "audio":
            raise VideoError(
                f"{encoder.sink.name}: {encoder.sink.format} cannot hold {codec} audio; audio='encode' "
                "encodes it anew, audio='none' leaves it out, .mkv holds everything"
            )
        else:
            dropped.append(f"{stream.type} {stream.index} ({codec})")
    return ways, dropped
