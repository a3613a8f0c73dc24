"""A game's time: steps of one length, however long frames take."""

from __future__ import annotations

from dala.errors import ParameterError
from dala.gpu.paint import finite_numbers

LEAST_RATE = 1e-9  # a step in thirty years


class FixedStep:
    """How many steps of 1/rate seconds are due at a time; ``blend`` is how far the next one has come, 0..1,
    to draw what lies between two. After a long wait at most ``most`` steps are made up for.

    >>> from dala import gpu
    >>> steps = gpu.FixedStep(rate=10)
    >>> steps.due(0.0), steps.due(0.25), round(steps.blend, 6)
    (0, 2, 0.5)
    """

    def __init__(self, rate: float = 60.0, *, most: int = 8) -> None:
        finite_numbers((rate, most), "FixedStep: rate and most")
        if rate < LEAST_RATE or most < 1:
            raise ParameterError(f"FixedStep: rate > 0 and most ≥ 1, got {rate!r}, {most!r}")
        self.length = 1.0 / rate
        self.most = most
        self.blend = 0.0
        self._last: float | None = None
        self._left = 0.0

    def due(self, seconds: float) -> int:
        """The number of steps since the last call; ``seconds`` never goes back.

        >>> from dala import gpu
        >>> steps = gpu.FixedStep(rate=100, most=5)
        >>> steps.due(0), steps.due(1)
        (0, 5)
        """
        finite_numbers((seconds,), "FixedStep: seconds")
        last, self._last = self._last, seconds
        if last is not None:
            self._left += max(seconds - last, 0.0)
        count = int(min(self._left / self.length + 1e-9, self.most + 1))
        self._left = 0.0 if count > self.most else max(self._left - count * self.length, 0.0)
        self.blend = min(self._left / self.length, 1.0)
        return min(count, self.most)
