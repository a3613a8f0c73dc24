"""The painter as machine code, compiled once per process when something is first painted."""

from __future__ import annotations

from types import FunctionType

from dala.backends.cpu.llvm.jit import Module
from dala.gpu.raster.language import compile_functions
from dala.once import once
from dala.scene.paint.cpu import walk, whole

ENTRIES: tuple[FunctionType, ...] = (walk.paint_bands, whole.reduce_bands, whole.premultiply_bands)  # type: ignore[assignment]


class Code:
    """Addresses of functions that threads call (``void work(ptr block, ptr scratch)``)."""

    def __init__(self) -> None:
        self._module = Module(compile_functions(ENTRIES), optimise=True)
        self.paint_bands = self._module.address("paint_bands")
        self.reduce_bands = self._module.address("reduce_bands")
        self.premultiply_bands = self._module.address("premultiply_bands")


@once
def code() -> Code:
    """The compiled painter."""
    return Code()
