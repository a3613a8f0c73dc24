"""The sound that comes with pictures, decoded as it comes: what a live source is heard by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.video.library import load_av
from dala.video.source import Source

RATE = 48_000
Waves: TypeAlias = npt.NDArray[np.float32]  # (count, 2)


class Ear(Protocol):
    """Who listens."""

    @property
    def wanted(self) -> bool:
        """Whether it is to be decoded."""

    @property
    def tell(self) -> Any:
        """Called with what cannot be decoded."""

    def take(self, waves: Waves) -> None:
        """The next samples."""


class Hearing:
    """The first track of sound of a source at 48 kHz; damage is told and passed over, pictures go on."""

    def __init__(self, source: Source, ear: Ear) -> None:
        tracks = [s for s in source.container.streams.audio if s.codec_context is not None]
        self._stream: Any = tracks[0] if tracks else None
        self._ear = ear
        self._resampler: Any = None
        self._format: tuple[str, str, int] | None = None  # of what the resampler was made for

    @property
    def streams(self) -> Sequence[Any]:
        """Those whose packets are wanted."""
        return [] if self._stream is None else [self._stream]

    def hear(self, packets: Sequence[Any]) -> None:
        """Decode packets of the track and hand over what is in them."""
        av = load_av()
        for packet in packets if self._ear.wanted else ():
            try:
                for frame in self._stream.codec_context.decode(packet):
                    self._hand_over(frame)
            except av.error.FFmpegError as error:
                self._resampler = None  # what it held was before the damage
                self._ear.tell(f"a part of its sound cannot be decoded: {error.strerror or error}")

    def _hand_over(self, frame: Any) -> None:
        frame.pts = None  # samples follow each other; gaps in their times are the network's
        format = frame.format.name, frame.layout.name, frame.sample_rate
        if self._resampler is not None and format != self._format:  # a programme may change its own
            self._take(self._resampler.resample(None))
            self._resampler = None
        if self._resampler is None:
            self._resampler, self._format = load_av().AudioResampler("flt", "stereo", RATE), format
        self._take(self._resampler.resample(frame))

    def _take(self, frames: Sequence[Any]) -> None:
        for made in frames:
            waves = made.to_ndarray().reshape(-1, 2)
            if len(waves):
                self._ear.take(np.nan_to_num(waves.astype(np.float32), posinf=1.0, neginf=-1.0))
