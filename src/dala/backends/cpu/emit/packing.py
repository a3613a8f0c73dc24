"""Levels in f32 → packed pixels of bytes, on x86: converting rounds, and packing clamps.

``level`` is v · 255, clamped to 0..255 and rounded to even; spelled out that is four instructions per
channel, and three more move it into its byte. Here v · 255 is cut at 255 and converted, which rounds; what
is below 0, or NaN (converted, it is the smallest integer there is), becomes 0 when 32 bits are packed into
16. Two more steps put the channels of a pixel side by side. The bytes are the same.

Sums of 32 bits whose upper halves are levels (dot.py) take one step less: two channels share a vector of
16-bit numbers, and packing those clamps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dala.backends.cpu.emit.lanes import LaneWriter
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32, S32, U8, U16
from dala.ir.graph import Node, const, make
from dala.ir.rewrite import WHITE, is_whole

CHANNELS = 4


def can_pack(code: Code, lanes: int) -> bool:
    """Whether this machine has instructions for a vector of so many pixels."""
    return isa.has(code, "round_to_whole", lanes * CHANNELS)


def pack_pixels(writer: LaneWriter, levels: Mapping[int, Node]) -> str:
    """Pixels as 32-bit words, from the levels of some channels; the others are 0."""
    code, lanes = writer.lane, writer.lanes
    size = lanes * CHANNELS
    i32, i8 = Type(S32, lanes), Type(U8, size)
    whole = [
        _converted(writer, levels[c]) if c in levels else "zeroinitializer" for c in range(CHANNELS)
    ]
    halves = [isa.narrow_to_unsigned_words(code, size, whole[k : k + 2]) for k in (0, 2)]
    planes = isa.narrow_to_bytes(code, size, halves)
    order = [
        block + isa.BLOCK // CHANNELS * channel + pixel
        for block in range(0, size, isa.BLOCK)
        for pixel in range(4)
        for channel in range(CHANNELS)
    ]
    return code.op(f"bitcast {i8} {code.shuffle(i8, planes, order)} to {i32}")


def _converted(writer: LaneWriter, level: Node) -> str:
    """A level, in 32 bits, still to be clamped below."""
    code, f32 = writer.lane, Type(F32, writer.lanes)
    if level.op != "level" and not is_whole(level):
        writer.write([level])
        return isa.round_to_whole(code, f32, writer.vector(level))
    most = code.constant(f32, 255.0)
    inner = level.args[0] if level.op == "level" else level.args[0].args[0].args[0]
    writer.write([inner])
    value = writer.vector(inner)
    if level.op == "level":
        value = code.op(f"fmul {f32} {value}, {most}")
    value = code.select(f32, code.op(f"fcmp ogt {f32} {value}, {most}"), most, value)
    return isa.round_to_whole(code, f32, value)


def pack_words(writer: LaneWriter, value: Node) -> str:
    """Levels of 16 bits, rounded and clamped, from what is two vectors of f32 on this machine."""
    code, t = writer.lane, Type(F32, writer.lanes)
    words, half = Type(U16, writer.lanes), writer.lanes // 2
    most = const(WHITE[U16], F32)
    if not isa.has(code, "round_to_whole", 4 * half):
        level = make("round", make("min", make("max", value, const(0.0, F32)), most))
        writer.write([level])
        whole = code.op(f"fptosi {t} {writer.vector(level)} to {Type(S32, t.lanes)}")
        return code.op(f"trunc {Type(S32, t.lanes)} {whole} to {words}")
    writer.write([value])
    cut, top = writer.vector(value), code.constant(t, WHITE[U16])
    cut = code.select(t, code.op(f"fcmp ogt {t} {cut}, {top}"), top, cut)
    parts = [code.shuffle(t, cut, range(first, first + half)) for first in (0, half)]
    rounded = [isa.round_to_whole(code, Type(F32, half), part) for part in parts]
    narrow = isa.narrow_to_unsigned_words(code, 4 * half, rounded)
    block = isa.BLOCK // 4  # of four from the first vector, and four from the second
    order = [2 * k - k % block + first for first in (0, block) for k in range(half)]
    return code.shuffle(words, narrow, order)


def pack_upper_halves(
    code: Code, lanes: int, sums: Sequence[str | None], kept: Mapping[str, Collection[int]]
) -> str:
    """Pixels of bytes, with their type: the upper halves of sums, clamped; some channels are kept bytes."""
    size = lanes * CHANNELS
    i32, i8 = Type(S32, lanes), Type(U8, size)
    found = list(dict.fromkeys(s for s in sums if s is not None))
    words: list[str] = []
    positions: dict[str, int] = {}
    for number in range(0, len(found), 2):
        pair = found[number : number + 2]
        words.append(_upper_words(code, i32, pair))
        # of the sixteen bytes of four pixels, the first eight come from the first vector of words
        positions |= {s: 4 * number + k for k, s in enumerate(pair, 2 - len(pair))}
    packed = isa.narrow_to_bytes(code, size, [words[0], words[-1]])
    order = ", ".join(
        "i32 undef" if s is None else f"i32 {block + positions[s] + 2 * pixel}"
        for block in range(0, size, isa.BLOCK)
        for pixel in range(4)
        for s in sums
    )
    pixels = code.op(f"shufflevector {i8} {packed}, {i8} poison, <{size} x i32> <{order}>")
    for source, channels in kept.items():
        pixels = code.blend(i8, [i % CHANNELS in channels for i in range(size)], source, pixels)
    return f"{i8} {pixels}"


def _upper_words(code: Code, i32: Type, sums: Sequence[str]) -> str:
    """The upper halves of one or two sums, as 16-bit numbers in turn; of one, it is the second."""
    words = sums[-1]
    if len(sums) == 2:
        low = code.op(f"lshr {i32} {sums[0]}, {code.constant(i32, 16)}")
        high = code.op(f"and {i32} {sums[1]}, {code.constant(i32, -65536)}")
        words = code.op(f"or {i32} {low}, {high}")
    return code.op(f"bitcast {i32} {words} to <{i32.lanes * 2} x i16>")
