"""A user's samples as a track of sound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, ShapeError, VideoError
from dala.video.codecs import Settings
from dala.video.library import load_av
from dala.video.output import Output
from dala.video.voice import SoundGraph, Voice

RATE = 48_000
MOST_CHANNELS = 8
_LAYOUTS = {1: "mono", 2: "stereo", 3: "2.1", 4: "quad", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}


class Samples:
    """Sound in the order it comes; what comes before the first picture is held until then."""

    def __init__(self, audio: bool | int, settings: Settings) -> None:
        if audio is not True and not 8_000 <= int(audio) <= 192_000:
            raise ParameterError(
                f"audio is True, or samples per second in 8000..192000; got {audio!r}"
            )
        if not settings.target.holds_sound:
            raise VideoError(f"{settings.target.name}: {settings.target.format} holds no sound")
        self._codec = settings.audio_encoder
        self._rate = RATE if audio is True else int(audio)
        self._voice: Voice | None = None
        self._graph: SoundGraph | None = None
        self._kind: tuple[int, int] | None = None  # rate and channels of what is written
        self._held: list[tuple[npt.NDArray[np.float32], int]] = []
        self._written = 0  # samples, at the rate they came with

    def begin(self, encoder: Output) -> None:
        """The file is open: make the track."""
        self._voice = Voice(encoder.sink, self._codec, self._rate, "stereo")
        held, self._held = self._held, []
        for samples, rate in held:
            self._push(samples, rate)

    def write(self, samples: object, rate: object) -> None:
        """The next samples."""
        if isinstance(rate, bool) or not isinstance(rate, int) or not 1_000 <= rate <= 768_000:
            raise ParameterError(f"rate is samples per second, such as 48000; got {rate!r}")
        waves = as_waves(samples)
        kind = rate, waves.shape[1]
        if self._kind is not None and kind != self._kind:
            raise ParameterError(
                f"write_audio: the sound before had {self._kind[0]} samples a second and {self._kind[1]} "
                f"channels, got {kind[0]} and {kind[1]}"
            )
        self._kind = kind
        if self._voice is None:
            self._held.append((waves, rate))
        else:
            self._push(waves, rate)

    def finish(self) -> None:
        """Encode what is left."""
        if self._graph is not None:
            self._graph.finish()
        if self._voice is not None:
            self._voice.finish()

    def _push(self, waves: npt.NDArray[np.float32], rate: int) -> None:
        assert self._voice is not None
        if self._graph is None:
            self._graph = SoundGraph(self._voice)
        for begin in range(0, len(waves), rate):  # a second at a time
            piece = np.ascontiguousarray(waves[begin : begin + rate].reshape(1, -1))
            frame: Any = load_av().AudioFrame.from_ndarray(
                piece, format="flt", layout=_LAYOUTS[waves.shape[1]]
            )
            frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
            frame.pts = self._written
            self._written += frame.samples
            self._graph.push(frame)


def as_waves(samples: object) -> npt.NDArray[np.float32]:
    """(count, channels) f32 in -1..1."""
    array = np.asarray(samples)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not 1 <= array.shape[1] <= MOST_CHANNELS:
        raise ShapeError(
            f"write_audio: expected samples of (count,) or (count, channels), at most {MOST_CHANNELS} "
            f"channels; got {array.shape}"
        )
    if array.dtype.kind == "f":
        return np.nan_to_num(array.astype(np.float32), nan=0.0, posinf=1.0, neginf=-1.0)
    if array.dtype in (np.int16, np.int32):
        return (array / -float(np.iinfo(array.dtype).min)).astype(np.float32)
    raise ParameterError(
        f"write_audio: expected floats in -1..1 or integers of 16 or 32 bits, got {array.dtype}"
    )
