"""Whether the bytes of an image were given with width and height swapped.

Neighbours in an image are alike. With the wrong width the pixel below is a stranger, and with the right one
it is a neighbour again: so a few pairs of rows are compared in both ways. Noise and flat colours tell
nothing, and are believed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
PAIRS = 32  # of rows that are compared
SMALLEST = 16  # pixels along a side: fewer say little
TIMES = 2.5  # how much better the other way must be
LEAST = 3.0  # levels of 255; what differs by less is smooth anyway


def is_turned(image: Array) -> bool:
    """Whether an image of bytes, (rows, columns, 3 or 4), is more likely one of (columns, rows, …).

    >>> across = np.arange(0, 240, 6, np.uint8)[None, :, None]
    >>> image = np.ascontiguousarray(np.broadcast_to(across, (60, 40, 4)))
    >>> is_turned(image), is_turned(image.reshape(40, 60, 4))
    (False, True)
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in (3, 4):
        return False
    rows, columns, channels = image.shape
    if rows == columns or min(rows, columns) < SMALLEST:
        return False
    given = _step_down(image)
    return given > LEAST and given > TIMES * _step_down(image.reshape(columns, rows, channels))


def _step_down(image: Array) -> float:
    """How far a pixel is from the one below it, on average."""
    places = np.linspace(0, image.shape[0] - 2, PAIRS).astype(int)
    above, below = image[places].astype(np.int16), image[places + 1].astype(np.int16)
    return float(np.abs(above - below).mean())
