"""What a drawing call leaves on a small surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala import gpu

Array = npt.NDArray[Any]
SIZE = 40


def alpha_of(draw: Any, width: int = SIZE, height: int = SIZE) -> Array:
    """The coverage that a drawing call leaves."""
    with gpu.create_surface(width, height, device="cpu") as surface:
        draw(surface)
        return np.asarray(surface.read_pixels(0, 0, width, height)[..., 3]).astype(int)
