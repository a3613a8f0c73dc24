"""Copies of large arrays on several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.llvm.jit import Module
from dala.backends.cpu.run.bands import BandedLoop, in_bands
from dala.backends.cpu.run.parking import c_function
from dala.once import once

Array = npt.NDArray[Any]
LARGE = 1 << 20  # bytes from which a copy may be worth a second thread
PIECE = 4096  # bytes that stay together
NS_PER_PIECE = 400.0  # one thread, memory that no cache holds

_TEXT = """
define internal void @copy(i64 %from, i64 %to, i64 %pieces) {{
  %bytes = mul i64 %pieces, {piece}
  %source = inttoptr i64 %from to ptr
  %target = inttoptr i64 %to to ptr
  %r = call ptr {memcpy}(ptr %target, ptr %source, i64 %bytes)
  ret void
}}
"""


def copy_bytes(target: Array, source: Array) -> None:
    """Copy bytes from one run of memory to another, which must be apart from it."""
    pieces = source.nbytes // PIECE
    if source.nbytes < LARGE or not target.flags.writeable:  # which NumPy refuses
        np.copyto(target, source)
        return
    _copy_pieces()(source.ctypes.data, target.ctypes.data, pieces)
    done = pieces * PIECE
    np.copyto(target[done:], source[done:])


def copy_array(target: Array, source: Array) -> None:
    """Copy an array into one of the same shape and type."""
    if (
        target.flags.c_contiguous
        and source.flags.c_contiguous
        and target.dtype == source.dtype
        and target.nbytes >= LARGE
        and not np.may_share_memory(target, source)
    ):
        copy_bytes(target.reshape(-1).view(np.uint8), source.reshape(-1).view(np.uint8))
    else:
        np.copyto(target, source)


@once
def _copy_pieces() -> BandedLoop:
    text = _TEXT.format(piece=PIECE, memcpy=c_function("memcpy"))
    return BandedLoop(Module(text + in_bands("copy", PIECE, PIECE)), "copy", NS_PER_PIECE)
