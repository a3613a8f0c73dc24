"""What has samples at 48 kHz."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

RATE = 48_000
Waves: TypeAlias = npt.NDArray[np.float32]  # (count, 2)


class Sound(Protocol):
    """Samples at 48 kHz, two channels; sample 0 belongs to time 0 of its source."""

    @property
    def length(self) -> int | None:
        """How many there are; None: without end."""

    def samples(self, begin: int, end: int) -> Waves:
        """From one sample until before another: (end - begin, 2); silence where there are none."""

    def close(self) -> None:
        """Give back what is held."""


def silence(count: int) -> Waves:
    """So many samples of nothing."""
    return np.zeros((count, 2), np.float32)


def cut(waves: Waves, begin: int, end: int, at: int = 0) -> Waves:
    """Samples ``begin`` to ``end`` of waves whose first one has the number ``at``; silence around them."""
    out = silence(end - begin)
    first, last = max(begin, at), min(end, at + len(waves))
    if first < last:
        out[first - begin : last - begin] = waves[first - at : last - at]
    return out


def stereo(waves: npt.NDArray[np.float32]) -> Waves:
    """Two channels: one is heard on both sides; of more, the first two as they are, the others softer."""
    if waves.shape[1] == 1:
        return np.repeat(waves, 2, axis=1)
    if waves.shape[1] == 2:
        return np.ascontiguousarray(waves)
    others = waves[:, 2:].sum(axis=1, keepdims=True) * np.float32(0.5)
    return np.ascontiguousarray(waves[:, :2] + others)
