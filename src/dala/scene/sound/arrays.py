"""A user's own array of samples."""

from __future__ import annotations

from dala.errors import ParameterError
from dala.scene.sound.resampling import Resampled
from dala.scene.sound.sounds import RATE, Sound, Waves, cut, stereo
from dala.video.samples import as_waves


class ArraySound:
    """A user's samples: (count,) or (count, channels), floats in -1..1 or integers of 16 or 32 bits.

    >>> import numpy as np
    >>> from dala.scene.sound import ArraySound
    >>> ArraySound(np.ones(24_000, np.float32), rate=24_000).length
    48000
    """

    def __init__(self, samples: object, rate: int = RATE) -> None:
        if isinstance(rate, bool) or not isinstance(rate, int) or not 1_000 <= rate <= 768_000:
            raise ParameterError(f"rate is samples per second, such as 48000; got {rate!r}")
        waves = as_waves(samples)
        native = _Native(stereo(waves), rate)
        self._sound: Sound = native if rate == RATE else Resampled(native, rate)

    @property
    def length(self) -> int | None:
        """At 48 kHz."""
        return self._sound.length

    def samples(self, begin: int, end: int) -> Waves:
        """At 48 kHz."""
        return self._sound.samples(begin, end)

    def close(self) -> None:
        """Nothing is open."""


class _Native:
    def __init__(self, waves: Waves, rate: int) -> None:
        self._waves = waves
        self.length = len(waves)
        self.rate = rate

    def samples(self, begin: int, end: int) -> Waves:
        return cut(self._waves, begin, end)

    def close(self) -> None:
        """Nothing is open."""
