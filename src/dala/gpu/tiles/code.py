"""Gathering as machine code, in two parts: the second is compiled when ink is first drawn."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import FunctionType
from typing import cast

from dala.backends.cpu.llvm.jit import Module
from dala.gpu.raster.ink import walk
from dala.gpu.raster.language import compile_functions
from dala.gpu.tiles import bins, gather, gather_ink
from dala.once import once


def _compile(*functions: Callable[..., object]) -> Module:
    return Module(compile_functions([cast("FunctionType", f) for f in functions]), optimise=True)


class Code:
    """What Python calls, on addresses and numbers; the GIL is released."""

    def __init__(self) -> None:
        self._module = _compile(gather.gather, bins.sort_bins)
        self.gather = self._module.function("gather", *[ctypes.c_int64] * 7)
        self.sort_bins = self._module.function("sort_bins", *[ctypes.c_int64] * 6)


@once
def code() -> Code:
    """Plain commands, and bins."""
    return Code()


@once
def ink_code() -> Module:
    """Commands of ink."""
    return _compile(walk.foresee_ink, walk.survey_ink, gather_ink.gather_ink)
