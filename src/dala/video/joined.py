"""The sound of several parts as one track: each begins and ends with its pictures, to the sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.video.encoder import Encoder
from dala.video.library import as_fraction, ffmpeg_errors, load_av
from dala.video.voice import SoundGraph, Voice

if TYPE_CHECKING:
    from dala.video.inputs import Input, Track

Waves = npt.NDArray[np.float32]  # (channels, samples)


class JoinedSound:
    """Decodes each part's first track and writes as much of it as pictures were written."""

    def __init__(self, encoder: Encoder, inputs: Sequence[Input]) -> None:
        first = next(i.voices[0] for i in inputs if i.voices).decoder
        codec = encoder.settings.audio_encoder
        self._name = encoder.sink.name
        self._voice = Voice(encoder.sink, codec, first.sample_rate, first.layout.name)
        self._graph = SoundGraph(self._voice)
        self._inputs = inputs
        self._written = 0  # samples of the whole
        self._waiting: list[Waves] = []
        self._track: Track | None = None
        self._resampler: Any = None
        self._format: tuple[str, str, int] | None = None  # of what the resampler was made for
        self._first = Fraction(0)  # when the part's sound is at 0, on its own clock
        self._aligned = False
        self._skip = 0  # samples before the first picture

    def begin(self, part: int) -> None:
        """The next part's sound follows."""
        source = self._inputs[part]
        self._track = source.voices[0] if source.voices else None
        self._first, self._aligned, self._skip = source.begin, False, 0
        self._resampler = self._format = None

    def take(self, packets: Iterable[Any], until: Fraction) -> None:
        """Decode packets, and write what is heard by that time of the whole."""
        with ffmpeg_errors(self._name, "decoding sound"):
            for packet in packets:
                if self._track is not None and packet.stream_index == self._track.index:
                    self._decode(packet)
        self._release(until)

    def end(self, until: Fraction) -> None:
        """The part's pictures are over: so is its sound. What is missing is silent."""
        with ffmpeg_errors(self._name, "decoding sound"):
            if self._track is not None:
                self._decode(None)
                self._drain()
        self._release(until)
        self._waiting = []
        missing = round(until * self._voice.rate) - self._written
        if missing > 0:
            channels = self._voice.context.layout.nb_channels
            self._write(np.zeros((channels, missing), np.float32))

    def finish(self) -> None:
        """Encode what is left."""
        self._graph.finish()
        self._voice.finish()

    def _decode(self, packet: Any | None) -> None:
        assert self._track is not None
        for frame in self._track.decoder.decode(packet):
            if not self._aligned:
                self._align(frame)
            self._resample(frame)

    def _resample(self, frame: Any) -> None:
        format_ = frame.format.name, frame.layout.name, frame.sample_rate
        if format_ != self._format:  # a programme may change its own
            self._drain()
            made = load_av().AudioResampler("fltp", self._voice.layout, self._voice.rate)
            self._resampler, self._format = made, format_
        self._hold(self._resampler.resample(frame))

    def _drain(self) -> None:
        """What the resampler still holds."""
        if self._resampler is not None:
            self._hold(self._resampler.resample(None))
            self._resampler = self._format = None

    def _align(self, frame: Any) -> None:
        """Sound that begins after the first picture begins with silence."""
        self._aligned = True
        if frame.pts is None:
            return
        late = frame.pts * as_fraction(frame.time_base) - self._first
        self._skip = max(0, round(-late * self._voice.rate))
        if late > 0:
            channels = self._voice.context.layout.nb_channels
            self._waiting.append(np.zeros((channels, round(late * self._voice.rate)), np.float32))

    def _hold(self, frames: Iterable[Any]) -> None:
        for frame in frames:
            waves: Waves = frame.to_ndarray()
            if self._skip:
                left_out = min(self._skip, waves.shape[1])
                self._skip -= left_out
                waves = waves[:, left_out:]
            self._waiting.append(waves)

    def _release(self, until: Fraction) -> None:
        room = round(until * self._voice.rate) - self._written
        while self._waiting and room > 0:
            waves = self._waiting.pop(0)
            if waves.shape[1] > room:
                self._waiting.insert(0, waves[:, room:])
                waves = waves[:, :room]
            self._write(waves)
            room -= waves.shape[1]

    def _write(self, waves: Waves) -> None:
        if not waves.size:
            return
        rate = self._voice.rate
        frame = load_av().AudioFrame.from_ndarray(
            np.ascontiguousarray(waves), format="fltp", layout=self._voice.layout
        )
        frame.sample_rate, frame.time_base, frame.pts = rate, Fraction(1, rate), self._written
        self._written += waves.shape[1]
        self._graph.push(frame)
