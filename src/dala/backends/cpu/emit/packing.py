"""Levels in f32 → packed pixels of bytes, on x86: converting rounds, and packing clamps.

``level`` is v · 255, clamped to 0..255 and rounded to even; spelled out that is four instructions per
channel, and three more put it into its place. Here v · 255 is cut at 255 and converted, which rounds; what
is below 0, or NaN (converted, it is the smallest integer there is), becomes 0 when 32 bits are packed into
16. Two more steps put the channels of a pixel side by side. The bytes are the same.

Sums of 32 bits whose upper halves are levels (dot.py) take one step less: two channels share a vector of
16-bit numbers, and packing those clamps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from dala.backends.cpu.emit.lanes import LaneWriter
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Node
from dala.ir.rewrite import is_whole

CHANNELS = 4
BLOCK = 16  # bytes that are packed among themselves: four pixels


class _Names(NamedTuple):
    convert: str
    to_16: str
    to_8: str


_NAMES = {
    64: _Names(
        "llvm.x86.avx512.mask.cvtps2dq.512",
        "llvm.x86.avx512.packusdw.512",
        "llvm.x86.avx512.packuswb.512",
    ),
    32: _Names("llvm.x86.avx.cvt.ps2dq.256", "llvm.x86.avx2.packusdw", "llvm.x86.avx2.packuswb"),
}


def can_pack(code: Code, lanes: int) -> bool:
    """Whether this machine has instructions for a vector of so many pixels."""
    return code.names.x86 and lanes * CHANNELS in _NAMES


def pack_pixels(writer: LaneWriter, levels: Mapping[int, Node]) -> str:
    """Pixels as 32-bit words, from the levels of some channels; the others are 0."""
    code, lanes = writer.lane, writer.lanes
    size = lanes * CHANNELS
    names, i32 = _NAMES[size], Type(S32, lanes)
    i16, i8 = f"<{size // 2} x i16>", f"<{size} x i8>"
    whole = [
        _converted(writer, levels[c], names) if c in levels else "zeroinitializer"
        for c in range(CHANNELS)
    ]
    low, high = (_pack(code, names.to_16, i16, str(i32), *whole[k : k + 2]) for k in (0, 2))
    planes = _pack(code, names.to_8, i8, i16, low, high)
    places = [
        b + BLOCK // CHANNELS * c + p
        for b in range(0, size, BLOCK)
        for p in range(4)
        for c in range(4)
    ]
    order = ", ".join(f"i32 {place}" for place in places)
    pixels = code.op(f"shufflevector {i8} {planes}, {i8} poison, <{size} x i32> <{order}>")
    return code.op(f"bitcast {i8} {pixels} to {i32}")


def _converted(writer: LaneWriter, level: Node, names: _Names) -> str:
    """A level, in 32 bits, still to be clamped below."""
    code, f32, i32 = writer.lane, Type(F32, writer.lanes), Type(S32, writer.lanes)
    if level.op == "level":
        writer.write(level.args)
        most = code.constant(f32, 255.0)
        scaled = code.op(f"fmul {f32} {writer.vector(level.args[0])}, {most}")
        value = code.select(f32, code.op(f"fcmp ogt {f32} {scaled}, {most}"), most, scaled)
    elif is_whole(level):
        levels = level.args[0].args[0].args[0]
        writer.write([levels])
        value, most = writer.vector(levels), code.constant(f32, 255.0)
        value = code.select(f32, code.op(f"fcmp ogt {f32} {value}, {most}"), most, value)
    else:
        writer.write([level])
        value = writer.vector(level)
    if writer.lanes * CHANNELS < 64:
        return code.call(i32, names.convert, f32, [value])
    code.names.declarations[names.convert] = (
        f"declare {i32} @{names.convert}({f32}, {i32}, i16, i32)"
    )
    return code.op(f"call {i32} @{names.convert}({f32} {value}, {i32} poison, i16 -1, i32 4)")


def _pack(code: Code, name: str, result: str, operand: str, a: str, b: str) -> str:
    code.names.declarations[name] = f"declare {result} @{name}({operand}, {operand})"
    return code.op(f"call {result} @{name}({operand} {a}, {operand} {b})")


def pack_upper_halves(
    code: Code, lanes: int, sums: Sequence[str | None], kept: Mapping[str, Collection[int]]
) -> str:
    """Pixels of bytes, with their type: the upper halves of sums, clamped; some channels are kept bytes."""
    size = lanes * CHANNELS
    names, i32, i8 = _NAMES[size], Type(S32, lanes), f"<{size} x i8>"
    found = list(dict.fromkeys(s for s in sums if s is not None))
    words: list[str] = []
    places: dict[str, int] = {}
    for number in range(0, len(found), 2):
        pair = found[number : number + 2]
        words.append(_upper_words(code, i32, pair))
        # of the sixteen bytes of four pixels, the first eight come from the first vector of words
        places |= {s: 4 * number + k for k, s in enumerate(pair, 2 - len(pair))}
    packed = _pack(code, names.to_8, i8, f"<{size // 2} x i16>", words[0], words[-1])
    order = ", ".join(
        "i32 undef" if s is None else f"i32 {block + places[s] + 2 * pixel}"
        for block in range(0, size, BLOCK)
        for pixel in range(4)
        for s in sums
    )
    pixels = code.op(f"shufflevector {i8} {packed}, {i8} poison, <{size} x i32> <{order}>")
    for source, channels in kept.items():
        chosen = ", ".join(f"i1 {str(i % CHANNELS in channels).lower()}" for i in range(size))
        pixels = code.op(f"select <{size} x i1> <{chosen}>, {i8} {source}, {i8} {pixels}")
    return f"{i8} {pixels}"


def _upper_words(code: Code, i32: Type, sums: Sequence[str]) -> str:
    """The upper halves of one or two sums, as 16-bit numbers in turn; of one, it is the second."""
    words = sums[-1]
    if len(sums) == 2:
        low = code.op(f"lshr {i32} {sums[0]}, {code.constant(i32, 16)}")
        high = code.op(f"and {i32} {sums[1]}, {code.constant(i32, -65536)}")
        words = code.op(f"or {i32} {low}, {high}")
    return code.op(f"bitcast {i32} {words} to <{i32.lanes * 2} x i16>")
