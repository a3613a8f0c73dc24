"""RGB ↔ RGBA, at the speed of memory.

A device has pixels of four channels. NumPy has no quick way from three to four: along the axis of three it
takes as long as a blur, and as three strided copies still longer than reading and writing the picture. So
levels of 8 and 16 bits go through a few lines of machine code, four or two pixels at a time, whose shuffles
exist on every CPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.llvm.jit import Module
from dala.backends.cpu.run.bands import BandedLoop, in_bands
from dala.once import once

Array = npt.NDArray[Any]
VECTOR = 16  # bytes: four pixels of u8, or two of u16; four of them are a turn of the loop
NS_PER_BLOCK = 12.0  # one thread, memory that no cache holds
SPARE = 2  # pixels at the end that are left to NumPy: the last vector is read past its own
_ALPHA = 16  # in a shuffle: an element of the second vector, which is all ones
_WHITE = {
    np.dtype(np.uint8): 255,
    np.dtype(np.uint16): 65535,
}  # what is packed here; else it is 1.0


def add_alpha(rgb: Array, room: Array | None = None) -> Array:
    """RGB as opaque RGBA, into ``room`` if that is given."""
    out = np.empty((*rgb.shape[:2], 4), rgb.dtype) if room is None else room
    if rgb.dtype not in _WHITE or not out.flags.c_contiguous:
        _add_slowly(rgb, out, _WHITE.get(rgb.dtype, 1.0))
        return out
    _pack(np.ascontiguousarray(rgb).reshape(-1, 3), out.reshape(-1, 4))
    return out


def drop_alpha(rgba: Array) -> Array:
    """RGBA as RGB."""
    out = np.empty((*rgba.shape[:2], 3), rgba.dtype)
    if rgba.dtype not in _WHITE:
        for channel in range(3):
            out[..., channel] = rgba[..., channel]
        return out
    _unpack(np.ascontiguousarray(rgba).reshape(-1, 4), out.reshape(-1, 3))
    return out


def _pack(source: Array, target: Array) -> None:
    loops = _wide_code() if source.itemsize == 2 else _code()
    blocks = loops.blocks_of(len(source))
    loops.pack(source.ctypes.data, target.ctypes.data, blocks)
    done = blocks * loops.pixels
    _add_slowly(source[done:], target[done:], _WHITE[source.dtype])


def _unpack(source: Array, target: Array) -> None:
    loops = _wide_code() if source.itemsize == 2 else _code()
    blocks = loops.blocks_of(len(source))
    loops.unpack(source.ctypes.data, target.ctypes.data, blocks)
    done = blocks * loops.pixels
    target[done:] = source[done:, :3]


def _add_slowly(rgb: Array, out: Array, alpha: float) -> None:
    for channel in range(3):  # along the axis of three it takes five times as long
        out[..., channel] = rgb[..., channel]
    out[..., 3] = alpha


class _Code:
    """The two loops for channels of ``size`` bytes, on addresses; the interpreter's lock is released."""

    def __init__(self, size: int) -> None:
        self.pixels = VECTOR // size  # in a block
        rgb, rgba = 3 * VECTOR, 4 * VECTOR
        text = _loop("pack", rgb, rgba, _packed(size)) + in_bands("pack", rgb, rgba)
        text += _loop("unpack", rgba, rgb, _unpacked(size)) + in_bands("unpack", rgba, rgb)
        module = Module(text)
        self.pack = BandedLoop(module, "pack", NS_PER_BLOCK)
        self.unpack = BandedLoop(module, "unpack", NS_PER_BLOCK)

    def blocks_of(self, pixels: int) -> int:
        return max(0, pixels - SPARE) // self.pixels


@once
def _code() -> _Code:
    return _Code(1)


@once
def _wide_code() -> _Code:
    return _Code(2)


def _packed(size: int) -> str:
    """Four vectors of whole pixels; of the 16 bytes that are read for each, four belong to the next one."""
    rgb = 3 * size
    mask = _mask(
        c for p in range(4 // size) for c in (*range(rgb * p, rgb * (p + 1)), *[_ALPHA] * size)
    )
    text = ""
    for k in range(4):
        text += f"""{_load(f"%v{k}", 12 * k)}
  %w{k} = shufflevector <16 x i8> %v{k}, <16 x i8> splat (i8 -1), <16 x i32> <{mask}>
{_store(f"%w{k}", 16 * k)}"""
    return text


def _unpacked(size: int) -> str:
    """Three whole vectors out of four: nothing is written past the block, where another thread may be."""
    text = "".join(_load(f"%v{k}", 16 * k) for k in range(4))
    for k in range(3):
        rgb, bytes_ = 3 * size, range(16 * k, 16 * k + 16)
        places = [(b // rgb) * 4 * size + b % rgb for b in bytes_]  # within all four
        mask = _mask(place - 16 * k for place in places)
        text += f"""
  %w{k} = shufflevector <16 x i8> %v{k}, <16 x i8> %v{k + 1}, <16 x i32> <{mask}>
{_store(f"%w{k}", 16 * k)}"""
    return text


def _mask(places: Iterable[int]) -> str:
    return ", ".join(f"i32 {place}" for place in places)


def _load(name: str, offset: int) -> str:
    return f"""
  {name}.at = getelementptr i8, ptr %from, i64 {offset}
  {name} = load <16 x i8>, ptr {name}.at, align 1"""


def _store(name: str, offset: int) -> str:
    return f"""
  {name}.at = getelementptr i8, ptr %to, i64 {offset}
  store <16 x i8> {name}, ptr {name}.at, align 1"""


def _loop(name: str, bytes_in: int, bytes_out: int, body: str) -> str:
    """LLVM text: ``body`` for block after block, from ``%from`` to ``%to``."""
    return f"""
define internal void @{name}(i64 %source, i64 %target, i64 %blocks) {{
entry:
  %some = icmp sgt i64 %blocks, 0
  br i1 %some, label %loop, label %end
loop:
  %n = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = mul i64 %n, {bytes_in}
  %from.at = add i64 %source, %at
  %from = inttoptr i64 %from.at to ptr
  %there = mul i64 %n, {bytes_out}
  %to.at = add i64 %target, %there
  %to = inttoptr i64 %to.at to ptr{body}
  %next = add i64 %n, 1
  %more = icmp slt i64 %next, %blocks
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
