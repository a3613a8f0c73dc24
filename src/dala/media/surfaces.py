"""Surfaces as pictures: what is drawn so far is filtered, and what comes back is a new surface."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def is_surface(image: object) -> bool:
    """Whether it is a surface; nothing is imported to find out."""
    module = sys.modules.get("dala.gpu.surface")
    return module is not None and isinstance(image, module.Surface)


def pixels_of_surface(surface: Any) -> Array:
    """All pixels after every command so far, presented or not."""
    pixels: Array = surface.read_pixels(0, 0, surface.width, surface.height)
    return pixels


def surface_like(surface: Any) -> Callable[[Array], object]:
    """How pixels become a surface on the same device, presented; it is the caller's to close."""

    def restore(result: Array) -> object:
        rows, columns = result.shape[:2]
        made = type(surface)(columns, rows, device=surface.device.name)
        made.set_pixels(np.ascontiguousarray(result))
        made.present()
        return made

    return restore
