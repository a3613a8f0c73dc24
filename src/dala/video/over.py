"""A picture over every frame, behind the filters: captions, time codes, logos that move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dala.compute.pipelines import Pipeline
from dala.errors import ShapeError
from dala.video.device import Format, Given, Middle, Tensor, rgba_scratch
from dala.video.rgba import as_rgba

if TYPE_CHECKING:
    from dala.video.production import Moment


@dataclass(frozen=True)
class Instant:
    """A frame of the output that something is laid over.

    >>> from fractions import Fraction
    >>> from dala import video
    >>> video.Instant(25, Fraction(1), 640, 480).time
    Fraction(1, 1)
    """

    number: int  # from 0
    time: Fraction  # in seconds from the beginning of the output
    width: int
    height: int


OnOver: TypeAlias = Callable[[Instant], object]


class Over:
    """Asks a function for the picture over each frame; none is nothing over it."""

    def __init__(self, over: OnOver, target: Format, time_base: Fraction, begin: int) -> None:
        self._over = over
        self._time_base, self._begin = time_base, begin
        self.format = Format("rgba", target.width, target.height, target.color)
        self._nothing = np.zeros((target.height, target.width, 4), np.uint8)
        self._number = 0

    def __call__(self, moment: Moment) -> Given:
        """The picture over a frame."""
        time = (moment.pts - self._begin) * self._time_base
        instant = Instant(self._number, time, self.format.width, self.format.height)
        self._number += 1
        made = self._over(instant)
        if made is None:
            return Given(self._nothing)
        pixels = as_rgba(made, who="over")
        if pixels.shape != self._nothing.shape:
            raise ShapeError(
                f"over: expected a picture of {instant.width} × {instant.height}, as the frame is; got "
                f"{pixels.shape[1]} × {pixels.shape[0]}"
            )
        return Given(pixels)


def laid_over(middle: Middle | None) -> Middle:
    """What happens to a frame, and then the second picture over it."""

    def add(pipeline: Pipeline, pictures: Sequence[Tensor], output: Tensor) -> None:
        below = pictures[0]
        if middle is not None:
            below = rgba_scratch(*output.shape[:2])
            middle(pipeline, pictures[:1], below)
        pipeline.add(
            {
                "kernel": "blend",
                "inputs": [below, pictures[1]],
                "output": output,
                "params": {"alpha": 1.0},
            }
        )

    return add
