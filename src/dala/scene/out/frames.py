"""Compositions → frames as an encoder takes them: 4:2:0 straight from the painter, or RGBA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy.typing as npt

from dala.media.program import engine_of
from dala.scene import paint as painting
from dala.scene.frame import FrameMemory
from dala.scene.layers import Composition
from dala.scene.out.stage import Composed, device_of
from dala.video.codecs import Settings
from dala.video.color import Color
from dala.video.device import Format, FramePass, Given
from dala.video.flow import DEPTH
from dala.video.pictures import planes_of

Array = npt.NDArray[Any]
UNDER_WAY = (
    DEPTH + 4
)  # frames: those that wait, the last one, one that is painted, two in the encoder


class FramePainter:
    """Paints compositions of a stage, on its device unless another is named; one that looks like the one
    before is not painted again."""

    def __init__(
        self, stage: Composed, settings: Settings, color: Color, device: str | None
    ) -> None:
        width, height = self._size = stage.width, stage.height
        self._rgba = settings.takes_rgba
        self._color = color
        self.device = device_of(stage, device)
        self._direct = not self._rgba and width % 2 == 0 and height % 2 == 0
        shape = (height * 3 // 2, width) if self._direct else (height, width, 4)
        self._frames = FrameMemory(*shape, kept=UNDER_WAY)
        self._pass: FramePass | None = None
        self._last: tuple[object, Array] | None = None
        self.repeated = 0  # frames that were not painted again

    def paint(self, composition: Composition) -> Array:
        """A frame that nobody changes any more."""
        key = composition.key
        if self._last is not None and self._last[0] == key:
            self.repeated += 1
            return self._last[1]
        made = self._paint(composition)
        self._last = key, made
        return made

    def _paint(self, composition: Composition) -> Array:
        if self._rgba:
            return painting.paint(composition, device=self.device, out=self._frames.take())
        black = on_black(composition)
        if self._direct:
            frame = self._frames.take()
            painting.paint_planes(
                black,
                matrix=self._color.matrix,
                full_range=self._color.range == "full",
                device=self.device,
                out=planes_of(frame),
            )
            return frame
        if self._pass is None:  # of odd sizes; their last row or column is repeated
            source = Format("rgba", *self._size, self._color)
            target = Format("yuv420p", *self._size, self._color)
            self._pass = FramePass(engine_of(self.device), [source], target)
        pixels = painting.paint(black, device=self.device, out=self._frames.take())
        return self._pass.convert(Given(pixels))


def on_black(composition: Composition) -> Composition:
    """What holds no alpha shows what is transparent on black."""
    *color, alpha = composition.background
    if alpha == 255:
        return composition
    red, green, blue = (level * alpha // 255 for level in color)
    return replace(composition, background=(red, green, blue, 255))
