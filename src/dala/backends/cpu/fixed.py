"""Averages of levels in 16-bit fixed point: a blur on u8 images at twice the speed of f32.

A value is a level (0..255) with 7 binary places, so 0..32640; the sum of two fits into 16 unsigned
bits, and taps with one weight are added in pairs before they are multiplied. Weights have 16 places
and the product's upper half is kept: one instruction. Channels stay interleaved as they lie in
memory: every element is treated alike, so nothing needs to be taken apart.

The error, in levels. Each product kept loses less than 2⁻⁷, and half of that is given back, so ``p``
products are off by at most p·2⁻⁸; each weight is off by at most 2⁻¹⁷, so ``n`` taps by n·255·2⁻¹⁷. With
the largest window (MAX_TAPS, MAX_PRODUCTS) that is 0.20 for a pass, and no more than two passes follow each
other: 0.41 < ½, so the result is never more than one level from the exact one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dala.backends.cpu.code import Type
from dala.backends.cpu.lanes import LaneWriter
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Access, Node
from dala.ir.ops import split_average

if TYPE_CHECKING:
    from dala.backends.cpu.body import BodyEmitter

MAX_TAPS = 51
MAX_PRODUCTS = 26  # taps of one weight go in pairs
MAX_PASSES = 2
PLACES = 7  # binary places of a held level


def write_fixed(body: BodyEmitter) -> None:
    """Compute the body's average for every channel, then hold and store it."""
    code = body.lane
    vector = _vector(body)
    node = _average_of(body.body.roots[0])  # the channels are all alike
    values, weights = split_average(node.args)
    scaled = _scale_weights(body, weights)
    groups: dict[tuple[int, str], list[Access]] = {}
    for value, weight in zip(values, weights, strict=True):
        assert isinstance(value.attr, Access)
        groups.setdefault((id(weight), body.form_of(value.attr.source)), []).append(value.attr)
    pairs = [
        (taps[start : start + 2], scaled[weight])
        for (weight, _), taps in groups.items()
        for start in range(0, len(taps), 2)
    ]
    totals = []
    for part in range(_parts(body)):
        total = ""
        for taps, factor in pairs:
            term = _multiply_high(body, _add_taps(body, taps, part), factor)
            total = code.op(f"add {vector} {total}, {term}") if total else term
        bias = _splat(len(pairs) // 2)  # what cutting off the lower half lost
        total = code.op(f"add {vector} {total}, {bias}")
        # rounded weights and the bias may push white past itself, and the next sum past 16 bits
        top = _splat(255 << PLACES)
        over = code.op(f"icmp ugt {vector} {total}, {top}")
        mask = f"<{_lanes(body)} x i1>"
        totals.append(code.op(f"select {mask} {over}, {vector} {top}, {vector} {total}"))
    _keep(body, totals)


def _keep(body: BodyEmitter, totals: list[str]) -> None:
    ring = body.body.ring
    if ring is not None and ring.form == "u16":
        for plane, total in enumerate(totals):
            place = body.own_place(plane)
            body.lane.line(f"store {_vector(body)} {total}, ptr {place}, align 2")
        return
    levels = _levels(body, totals)
    if ring is not None:
        body.lane.line(f"store {levels}, ptr {body.own_place(0)}, align 1")
    for store in body.body.stores:
        place = body.store_place(store.write, body.channels)
        body.lane.line(f"store {levels}, ptr {place}, align 1")


def _levels(body: BodyEmitter, totals: list[str]) -> str:
    """The totals rounded to whole levels, as they lie in memory."""
    code, vector, lanes = body.lane, _vector(body), _lanes(body)
    whole = []
    for total in totals:
        rounded = code.op(f"add {vector} {total}, {_splat(1 << (PLACES - 1))}")
        whole.append(code.op(f"lshr {vector} {rounded}, {_splat(PLACES)}"))
    if len(whole) == 1:
        return f"<{lanes} x i8> " + code.op(f"trunc {vector} {whole[0]} to <{lanes} x i8>")
    odd = code.op(f"shl {vector} {whole[1]}, {_splat(8)}")
    return f"{vector} " + code.op(f"or {vector} {whole[0]}, {odd}")


def _parts(body: BodyEmitter) -> int:
    """RGBA is split into (r, b) and (g, a): the lower and the upper byte of every 16 bits."""
    return 2 if body.channels == 4 else 1


def _lanes(body: BodyEmitter) -> int:
    return body.lanes * body.channels // _parts(body)


def _vector(body: BodyEmitter) -> str:
    return f"<{_lanes(body)} x i16>"


def _add_taps(body: BodyEmitter, taps: list[Access], part: int) -> str:
    """One tap, or the sum of two, with 7 binary places."""
    code, vector = body.lane, _vector(body)
    loaded = [_load(body, tap, part) for tap in taps]
    total = loaded[0] if len(taps) == 1 else code.op(f"add {vector} {loaded[0]}, {loaded[1]}")
    if body.form_of(taps[0].source) == "u16":
        return total
    return code.op(f"shl {vector} {total}, {_splat(PLACES)}")


def _average_of(node: Node) -> Node:
    """The average under what storing or viewing a u8 image puts around it."""
    while node.op != "average":
        node = node.args[0]
    return node


def _scale_weights(body: BodyEmitter, weights: tuple[Node, ...]) -> dict[int, str]:
    """Normalised weights with 16 binary places, once per pass, repeated over the lanes."""
    code = body.uniform
    writer = LaneWriter(body, body.lanes, body.uniform, body.row, body.lane)
    writer.write(weights)
    f32 = Type(F32)
    known: dict[int, str] = {}
    total = ""
    for weight in weights:
        name = writer.names[id(weight)]
        above = code.op(f"fcmp ogt float {name}, {code.constant(f32, 0.0)}")
        known[id(weight)] = code.select(f32, above, name, code.constant(f32, 0.0))
        total = code.op(f"fadd float {total}, {known[id(weight)]}") if total else known[id(weight)]
    scaled = {}
    for key, name in known.items():
        share = code.op(f"fdiv float {name}, {total}")
        places = code.op(f"fmul float {share}, {code.constant(f32, 65536.0)}")
        near = code.intrinsic("roundeven", f32, [places])
        whole = code.call(Type(S32), "llvm.fptoui.sat.i32.f32", f32, [near])
        over = code.op(f"icmp ugt i32 {whole}, 65535")
        fitting = code.op(f"select i1 {over}, i32 65535, i32 {whole}")
        small = code.op(f"trunc i32 {fitting} to i16")
        vector = _vector(body)
        single = code.op(f"insertelement {vector} poison, i16 {small}, i64 0")
        zeros = f"<{_lanes(body)} x i32> zeroinitializer"
        scaled[key] = code.op(f"shufflevector {vector} {single}, {vector} poison, {zeros}")
    return scaled


def _load(body: BodyEmitter, access: Access, part: int) -> str:
    """One part of the pixels at an offset: whole levels from bytes, 7 binary places if held so."""
    code, lanes, vector = body.lane, _lanes(body), _vector(body)
    if body.form_of(access.source) == "u16":
        return code.op(f"load {vector}, ptr {body.place_of(access, part)}, align 2")
    place = body.place_of(access)
    if _parts(body) == 1:
        small = code.op(f"load <{lanes} x i8>, ptr {place}, align 1")
        return code.op(f"zext <{lanes} x i8> {small} to {vector}")
    pixels = code.op(f"load {vector}, ptr {place}, align 1")
    if part == 0:
        return code.op(f"and {vector} {pixels}, {_splat(255)}")
    return code.op(f"lshr {vector} {pixels}, {_splat(8)}")


_X86_MULTIPLY_HIGH = {32: "avx512.pmulhu.w.512", 16: "avx2.pmulhu.w", 8: "sse2.pmulhu.w"}


def _multiply_high(body: BodyEmitter, a: str, b: str) -> str:
    """The upper 16 bits of a 16 × 16 bit product.

    LLVM finds the instruction in the plain form too, but on vectors twice as wide as a register that
    search takes much of the compile time of a blur.
    """
    code, lanes = body.lane, _lanes(body)
    wide, narrow = f"<{lanes} x i32>", f"<{lanes} x i16>"
    if body.owner.x86 and lanes in _X86_MULTIPLY_HIGH:
        name = f"llvm.x86.{_X86_MULTIPLY_HIGH[lanes]}"
        code.names.declarations[name] = f"declare {narrow} @{name}({narrow}, {narrow})"
        return code.op(f"call {narrow} @{name}({narrow} {a}, {narrow} {b})")
    x = code.op(f"zext {narrow} {a} to {wide}")
    y = code.op(f"zext {narrow} {b} to {wide}")
    product = code.op(f"mul nuw {wide} {x}, {y}")
    high = code.op(f"lshr {wide} {product}, {_splat(16, 'i32')}")
    return code.op(f"trunc {wide} {high} to {narrow}")


def _splat(value: int, element: str = "i16") -> str:
    return f"splat ({element} {value})"
