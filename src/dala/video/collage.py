"""Pictures straight into their parts of a frame: YUV → YUV, each by a pass of its own size.

What needs no scaling and has the frame's colours is copied, to the byte. On a GPU, and where a part begins
or ends in the middle of a pixel of chroma, all of it is one pass over RGBA (``canvas.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dala.backends.host import HostDevice
from dala.compute.engine import Engine
from dala.compute.pipelines import Pipeline
from dala.video.canvas import Box, Canvas, scaled
from dala.video.device import Format, FrameByFrame, FramePass, Given, PassInput, PassThrough, Tensor
from dala.video.pictures import planes_of

Job = TypeVar("Job")
Array = npt.NDArray[Any]


def suits(engine: Engine, sources: Sequence[Format], target: Format, canvas: Canvas) -> bool:
    """Whether every part begins and ends with a pixel of chroma, in the host's memory, at 8 bits."""
    if not isinstance(engine.device, HostDevice) or target.kind != "yuv420p":
        return False
    if any(one.bits != 8 for one in (*sources, target)) or target.width % 2 or target.height % 2:
        return False
    return all(edge % 2 == 0 for box in parts_of(canvas, sources) for edge in box)


def parts_of(canvas: Canvas, sources: Sequence[Format]) -> list[Box]:
    """Where each input is, in its proportions."""
    pairs = zip(canvas.boxes, sources, strict=True)
    return [box.holding(source.width, source.height) for box, source in pairs]


class Collage(FrameByFrame):
    """Frames of several inputs in parts of one picture; see ``FramePass``."""

    def __init__(
        self, engine: Engine, sources: Sequence[Format], target: Format, canvas: Canvas
    ) -> None:
        self.engine, self.target = engine, target
        self._parts = parts_of(canvas, sources)
        self._passes = [
            _pass_for(engine, source, replace(target, width=box.width, height=box.height))
            for source, box in zip(sources, self._parts, strict=True)
        ]
        self._whole = PassThrough(engine, target)
        self._background: tuple[int, ...] | None = None
        if self._parts[0] != (0, 0, target.width, target.height):
            self._background = _levels(engine, canvas.background, target)

    def compile(self) -> None:
        """Compile now what the first frame would wait for."""
        for one in self._passes:
            one.compile()

    def explain(self) -> str:
        """The plan in words."""
        pairs = zip(self._parts, self._passes, strict=True)
        return "\n".join(
            f"into {b.width} × {b.height} at ({b.left}, {b.top}): {one.explain()}"
            for b, one in pairs
        )

    def _frame_of(self, pictures: Sequence[PassInput]) -> Array:
        frame = self._whole.take()
        planes = planes_of(frame)
        if self._background is not None:
            for plane, level in zip(planes, self._background, strict=True):
                plane[...] = level
        for picture, box, way in zip(pictures, self._parts, self._passes, strict=True):
            if isinstance(way, PassThrough) and box == (0, 0, *_size(self.target)):
                picture.fill(frame)
                continue
            ((_, part),) = way.run([picture], lambda one: [one])
            assert part is not None
            for plane, own, scale in zip(planes, planes_of(part), (1, 2, 2), strict=True):
                top, left = box.top // scale, box.left // scale
                plane[top : top + own.shape[0], left : left + own.shape[1]] = own
        return frame


def _size(format_: Format) -> tuple[int, int]:
    return format_.width, format_.height


def _pass_for(engine: Engine, source: Format, part: Format) -> FramePass | PassThrough:
    """From an input's frames to its part; nothing but a copy where they are alike."""
    alike = source.kind == part.kind and source.kernel_params == part.kernel_params
    if alike and _size(source) == _size(part):
        return PassThrough(engine, part)
    middle = None if _size(source) == _size(part) else _fit
    return FramePass(engine, [source], part, middle)


def _fit(pipeline: Pipeline, pictures: Sequence[Tensor], output: Tensor) -> None:
    scaled(pipeline, pictures[0], output)


def _levels(engine: Engine, color: bytes, target: Format) -> tuple[int, ...]:
    """A colour as Y, U and V."""
    source, small = (Format(kind, 2, 2, target.color) for kind in ("rgba", "yuv420p"))
    pixels = np.broadcast_to(np.frombuffer(color, np.uint8), (2, 2, 4))
    made = FramePass(engine, [source], small).convert(Given(pixels))
    return tuple(int(plane[0, 0]) for plane in planes_of(made))
