"""A user's function over every frame, before the filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from dala.errors import ShapeError
from dala.media.program import engine_of
from dala.video.device import Format, Given
from dala.video.frame import Converter, Frame
from dala.video.rgba import as_rgba

if TYPE_CHECKING:
    from dala.video.inputs import Input
    from dala.video.pictures import Decoded
    from dala.video.production import Moment

OnFrame: TypeAlias = Callable[[Frame], object]


class Touch:
    """Hands frames to a function, and takes what it gives as the frame."""

    def __init__(self, on_frame: OnFrame, source: Input, device: str | None) -> None:
        self._on_frame = on_frame
        self._source = source
        self._converter = Converter(engine_of(device))
        self._number = 0
        own = source.format
        self._deep = own.bits > 8  # so many are kept to the end
        self.format = Format("rgba", own.width, own.height, own.color, 16 if self._deep else 8)

    def __call__(self, decoded: Decoded, moment: Moment) -> Given:
        """The picture that goes on to the filters."""
        clock = self._source.clock
        frame = Frame(
            decoded.picture,
            number=self._number,
            pts=decoded.picture.pts or 0,
            time_base=clock.time_base,
            duration=moment.duration,
            color=decoded.color,
            turn=decoded.turn,
            converter=self._converter,
        )
        self._number += 1
        made = self._on_frame(frame)
        if made is None or made is frame:
            return Given(frame.rgba16 if self._deep else frame.rgba)
        pixels = as_rgba(made, deep=self._deep)
        if pixels.shape[:2] != (frame.height, frame.width):
            raise ShapeError(
                f"on_frame: expected a picture of {frame.width} × {frame.height}, as the frame is; got "
                f"{pixels.shape[1]} × {pixels.shape[0]}; the filter resize changes sizes"
            )
        return Given(pixels)
