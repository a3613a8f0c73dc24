"""Gathering as machine code, in two parts: the second is compiled when ink is first drawn."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import FunctionType
from typing import cast

from dala.backends.cpu.llvm.jit import Module
from dala.gpu.raster.ink import walk
from dala.gpu.raster.language import compile_functions
from dala.gpu.tiles import bins, gather, gather_ink, pieces, primitives
from dala.once import once


def _compile(*functions: Callable[..., object]) -> Module:
    return Module(compile_functions([cast("FunctionType", f) for f in functions]), optimise=True)


class Code:
    """What Python calls, on addresses and numbers; the GIL is released. And the addresses of what threads
    call."""

    def __init__(self) -> None:
        self._module = _compile(
            gather.gather, primitives.forget, pieces.gather_pieces, pieces.join_pieces,
            bins.order_stretches, bins.place_stretches,
        )  # fmt: skip
        self.gather = self._module.function("gather", *[ctypes.c_int64] * 6)
        self.forget = self._module.function("forget", *[ctypes.c_int64] * 2)
        self.join_pieces = self._module.function("join_pieces", *[ctypes.c_int64] * 2)
        self.order_stretches = self._module.function("order_stretches", *[ctypes.c_int64] * 4)
        self.gather_pieces = self._module.address("gather_pieces")
        self.place_stretches = self._module.address("place_stretches")


@once
def code() -> Code:
    """Plain commands, pieces, and bins."""
    return Code()


@once
def ink_code() -> Module:
    """Commands of ink."""
    return _compile(walk.survey_ink, gather_ink.gather_ink)
