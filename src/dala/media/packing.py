"""RGB ↔ RGBA, at the speed of memory.

A device has pixels of four channels. NumPy has no quick way from three to four: along the axis of three it
takes as long as a blur, and as three strided copies still longer than reading and writing the picture. So
bytes go through a few lines of machine code, four pixels at a time, whose shuffles exist on every CPU.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.jit import Module
from dala.once import once
from dala.threads import COPIERS, share

Array = npt.NDArray[Any]
BLOCK = 16  # pixels in a turn of the loop
PART = 1 << 19  # pixels that are worth a thread
SPARE = 2  # pixels at the end that are left to NumPy: the last vector reads or writes past its own
_ALPHA = 16  # in a shuffle: an element of the second vector, which is all ones


def add_alpha(rgb: Array, room: Array | None = None) -> Array:
    """RGB as opaque RGBA, into ``room`` if that is given."""
    out = np.empty((*rgb.shape[:2], 4), rgb.dtype) if room is None else room
    if rgb.dtype != np.uint8 or not out.flags.c_contiguous:
        _add_slowly(rgb, out, 1.0 if rgb.dtype != np.uint8 else 255)
        return out
    _in_parts(_pack, np.ascontiguousarray(rgb).reshape(-1, 3), out.reshape(-1, 4))
    return out


def drop_alpha(rgba: Array) -> Array:
    """RGBA as RGB."""
    out = np.empty((*rgba.shape[:2], 3), rgba.dtype)
    if rgba.dtype != np.uint8:
        for channel in range(3):
            out[..., channel] = rgba[..., channel]
        return out
    _in_parts(_unpack, np.ascontiguousarray(rgba).reshape(-1, 4), out.reshape(-1, 3))
    return out


def _in_parts(work: Callable[[Array, Array], None], source: Array, target: Array) -> None:
    """Runs of pixels, those of a large picture on several threads; none writes past its own."""
    step = -(-len(source) // max(1, min(COPIERS, len(source) // PART)))
    runs = [slice(start, start + step) for start in range(0, len(source), step or 1)]
    share([functools.partial(work, source[run], target[run]) for run in runs])


def _pack(source: Array, target: Array) -> None:
    done = _whole_blocks(len(source))
    _code().pack(source.ctypes.data, target.ctypes.data, done // BLOCK)
    _add_slowly(source[done:], target[done:], 255)


def _unpack(source: Array, target: Array) -> None:
    done = _whole_blocks(len(source))
    _code().unpack(source.ctypes.data, target.ctypes.data, done // BLOCK)
    target[done:] = source[done:, :3]


def _add_slowly(rgb: Array, out: Array, alpha: float) -> None:
    for channel in range(3):  # along the axis of three it takes five times as long
        out[..., channel] = rgb[..., channel]
    out[..., 3] = alpha


def _whole_blocks(pixels: int) -> int:
    return max(0, pixels - SPARE) // BLOCK * BLOCK


class _Code:
    """The two loops, on addresses; the interpreter's lock is released."""

    def __init__(self) -> None:
        pack = [c for p in range(4) for c in (3 * p, 3 * p + 1, 3 * p + 2, _ALPHA)]
        unpack = [4 * p + c for p in range(4) for c in range(3)] + [_ALPHA] * 4
        module = Module(_loop("pack", 3, 4, pack) + _loop("unpack", 4, 3, unpack))
        addresses = [ctypes.c_int64] * 3
        self.pack = module.function("pack", None, *addresses)
        self.unpack = module.function("unpack", None, *addresses)


@once
def _code() -> _Code:
    return _Code()


def _loop(name: str, step_in: int, step_out: int, shuffle: list[int]) -> str:
    """LLVM text: pixels of ``step_in`` bytes to pixels of ``step_out``, 16 bytes read and written at once.

    Of three-byte pixels four are 12 bytes: the rest is read in vain, or overwritten by the next four.
    """
    mask = ", ".join(f"i32 {i}" for i in shuffle)
    body = ""
    for k in range(BLOCK // 4):
        body += f"""
  %from{k} = add i64 %from, {4 * step_in * k}
  %p{k} = inttoptr i64 %from{k} to ptr
  %v{k} = load <16 x i8>, ptr %p{k}, align 1
  %w{k} = shufflevector <16 x i8> %v{k}, <16 x i8> splat (i8 -1), <16 x i32> <{mask}>
  %to{k} = add i64 %to, {4 * step_out * k}
  %q{k} = inttoptr i64 %to{k} to ptr
  store <16 x i8> %w{k}, ptr %q{k}, align 1"""
    return f"""
define void @{name}(i64 %source, i64 %target, i64 %blocks) {{
entry:
  %some = icmp sgt i64 %blocks, 0
  br i1 %some, label %loop, label %end
loop:
  %n = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = phi i64 [ %source, %entry ], [ %from_next, %loop ]
  %to = phi i64 [ %target, %entry ], [ %to_next, %loop ]{body}
  %next = add i64 %n, 1
  %from_next = add i64 %from, {BLOCK * step_in}
  %to_next = add i64 %to, {BLOCK * step_out}
  %more = icmp slt i64 %next, %blocks
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
