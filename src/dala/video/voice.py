"""A track of sound being encoded, and the filters that cut sound or change its speed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dala.video.library import as_fraction, ffmpeg_errors, has_threads, load_av
from dala.video.sink import Sink
from dala.video.span import WHOLE, Span

OPUS_RATES = (48_000, 24_000, 16_000, 12_000, 8_000)
_KNOWN_LAYOUTS = ("mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1")
_ATEMPO = Fraction(1, 2), Fraction(2)  # within which one atempo keeps every sample


class Voice:
    """An encoder of sound and its stream."""

    def __init__(
        self, sink: Sink, codec: str, rate: int, layout: str, *, bit_rate: int | None = None
    ) -> None:
        self.sink = sink
        self._doing = f"encoding sound with {codec}"
        self.rate = 48_000 if codec == "libopus" and rate not in OPUS_RATES else rate
        self.layout = _layout_for(layout)
        with ffmpeg_errors(sink.name, self._doing):
            self.stream = sink.container.add_stream(codec, rate=self.rate, layout=self.layout)
            self.context = self.stream.codec_context
            if bit_rate:
                self.context.bit_rate = bit_rate
            self.context.open()

    def encode(self, frame: Any) -> None:
        """A frame of the encoder's own format and size, with its pts."""
        with ffmpeg_errors(self.sink.name, self._doing):
            packets = self.stream.encode(frame)
        self.sink.mux(packets)

    def finish(self) -> None:
        """Encode what is left."""
        with ffmpeg_errors(self.sink.name, self._doing):
            packets = self.stream.encode(None)
        self.sink.mux(packets)


def _layout_for(layout: str) -> str:
    """Of the speakers that encoders know; others are mixed down to two."""
    name = layout.removesuffix("(side)")
    return name if name in _KNOWN_LAYOUTS else "stereo"


class SoundGraph:
    """Decoded sound into a voice: resampled, and where asked for cut to the sample and sped up."""

    def __init__(self, voice: Voice, span: Span = WHOLE, begin: Fraction = Fraction(0)) -> None:
        self._voice = voice
        self._span = span
        self._begin = begin
        self._over = False
        self._graph: Any = None  # made with the first frame, which alone tells its format

    def push(self, frame: Any) -> None:
        """Sound that was decoded; its pts is on the input's clock."""
        with ffmpeg_errors(self._voice.sink.name, "filtering sound"):
            if self._graph is None:
                self._graph = self._make(frame)
            self._give(frame)
        self._pull()

    def finish(self) -> None:
        """What is left goes to the encoder."""
        if self._graph is not None:
            with ffmpeg_errors(self._voice.sink.name, "filtering sound"):
                self._give(None)
            self._pull()

    def _give(self, frame: Any | None) -> None:
        if self._over:
            return
        try:
            self._graph.push(frame)
        except (load_av().error.EOFError, EOFError):  # atrim has had the last sample it wants
            self._over = True

    def _make(self, frame: Any) -> Any:
        graph = load_av().filter.Graph()
        last = graph.add_abuffer(
            sample_rate=frame.sample_rate,
            format=frame.format.name,
            layout=frame.layout.name,
            time_base=as_fraction(frame.time_base),
        )
        for name, arguments in self._filters():
            following = graph.add(name, arguments)
            last.link_to(following)
            last = following
        last.link_to(graph.add("abuffersink"))
        graph.configure()
        if self._voice.context.frame_size:
            graph.set_audio_frame_size(self._voice.context.frame_size)
        has_threads(self, graph)
        return graph

    def _filters(self) -> Iterator[tuple[str, str]]:
        voice, span = self._voice, self._span
        rate = voice.rate
        layout = (
            f"sample_fmts={voice.context.format.name}:sample_rates={rate}"
            f":channel_layouts={voice.context.layout.name}"
        )
        yield "aresample", str(rate)
        if not span.is_whole:
            first = round((self._begin + span.start) * rate)
            last = "" if span.end is None else f":end_pts={round((self._begin + span.end) * rate)}"
            yield "atrim", f"start_pts={first}{last}"
            yield "asetpts", f"PTS-({first})"
            yield "aresample", f"{rate}:async=1:first_pts=0"  # silence where there is a gap
        for factor in _factors(span.speed):
            yield "atempo", f"{float(factor):.9f}"
        yield "aformat", layout

    def _pull(self) -> None:
        av = load_av()
        while True:
            try:
                piece = self._graph.pull()
            except (av.error.BlockingIOError, av.error.EOFError, BlockingIOError, EOFError):
                return
            self._voice.encode(piece)


def _factors(speed: Fraction) -> Iterator[Fraction]:
    """The speed as factors that atempo takes without leaving samples out."""
    while speed > _ATEMPO[1]:
        yield _ATEMPO[1]
        speed /= _ATEMPO[1]
    while speed < _ATEMPO[0]:
        yield _ATEMPO[0]
        speed /= _ATEMPO[0]
    if speed != 1:
        yield speed
