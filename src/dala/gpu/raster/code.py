"""The rasteriser as machine code, compiled once per process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.llvm.jit import Module
from dala.gpu.raster import bands, protocol
from dala.gpu.raster.language import compile_functions
from dala.gpu.raster.layout import SMALL
from dala.gpu.raster.shapes import compute_half_width
from dala.once import once

ENTRIES: tuple[FunctionType, ...] = (protocol.check, bands.begin, bands.paint_bands)  # type: ignore[assignment]


class Code:
    """The functions that Python calls, on addresses and numbers; the GIL is released.

    And the address of the one that threads call: that it returns a number makes no difference to them.
    """

    def __init__(self) -> None:
        self._module = Module(compile_functions(ENTRIES), optimise=True)
        self.check = self._function(protocol.check, 7)
        self.begin = self._function(bands.begin, 7)
        self.paint_bands = self._module.address("paint_bands")

    def _function(self, function: Callable[..., Any], arguments: int) -> Callable[..., int]:
        kinds = [ctypes.c_int64] * (arguments + 1)
        return self._module.function(function.__name__, *kinds)


@once
def half_widths() -> npt.NDArray[np.uint8]:
    """Half widths of the rows of small discs, [radius, row]."""
    table = np.zeros((SMALL, SMALL), np.uint8)
    for radius in range(SMALL):
        for dy in range(radius + 1):
            table[radius, dy] = compute_half_width(radius, dy)
    return table


@once
def code() -> Code:
    """The compiled rasteriser."""
    return Code()
