"""How a network sees a picture: which part of its input the picture fills, and the way back."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Box = tuple[float, float, float, float]
Window = tuple[float, float, float, float]  # x0, y0, x1, y1 in the picture
# stretch: all of the input; letterbox: in proportion, in the middle; corner: the same at the upper left
Fit = Literal["stretch", "letterbox", "corner"]
FITS: tuple[Fit, ...] = ("stretch", "letterbox", "corner")


@dataclass(frozen=True, slots=True)
class View:
    """A picture inside the input of a network; places are distances from the upper left corner."""

    width: int  # of the input
    height: int
    picture_width: int
    picture_height: int
    left: float  # where the picture begins in the input
    top: float
    across: float  # pixels of the picture in a pixel of the input
    down: float

    def points_in_picture(self, points: Array) -> Array:
        """(…, 2) x and y in the input, as places in the picture."""
        origin, scale = np.array([self.left, self.top]), np.array([self.across, self.down])
        result: Array = (points - origin) * scale
        return result

    def places_in_picture(self, numbers: Sequence[float]) -> list[tuple[float, float]]:
        """The same of x and y by turns."""
        left, top, across, down = self.left, self.top, self.across, self.down
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return [((x - left) * across, (y - top) * down) for x, y in pairs]

    def within(self, upper: tuple[float, float], lower: tuple[float, float]) -> Box:
        """A box of the picture by two corners, cut off at its border."""
        width, height = float(self.picture_width), float(self.picture_height)
        (x0, y0), (x1, y1) = upper, lower
        x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), max(x1, 0.0), max(y1, 0.0)
        return min(x0, width), min(y0, height), min(x1, width), min(y1, height)

    def boxes_in_picture(self, boxes: Array) -> Array:
        """(N, 4) boxes in the input, as boxes within the picture."""
        corners = self.points_in_picture(boxes.reshape(-1, 2, 2))
        limits = np.array([self.picture_width, self.picture_height])
        result: Array = np.minimum(np.maximum(corners, 0), limits).reshape(-1, 4)
        return result

    @property
    def filled(self) -> tuple[slice, slice]:
        """The rows and columns of the input that show the picture."""
        high = max(1, round(self.picture_height / self.down))
        wide = max(1, round(self.picture_width / self.across))
        top, left = round(self.top), round(self.left)
        return slice(top, top + high), slice(left, left + wide)


@functools.lru_cache(64)
def view_of(
    picture: tuple[int, int], size: tuple[int, int], fit: Fit, window: Window | None = None
) -> View:
    """A picture of (width, height), or a window of it, in an input of (width, height)."""
    x0, y0, x1, y1 = window or (0.0, 0.0, *picture)
    width, height = size
    across, down = (x1 - x0) / width, (y1 - y0) / height
    left = top = 0.0
    if fit != "stretch":
        across = down = max(across, down)
        if fit == "letterbox":
            left = (width - (x1 - x0) / across) / 2
            top = (height - (y1 - y0) / down) / 2
    return View(width, height, *picture, left - x0 / across, top - y0 / down, across, down)
