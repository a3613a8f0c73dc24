"""Averages of levels in 16-bit fixed point: a blur on u8 images at twice the speed of f32.

A value is a level (0..255) with 7 binary places, so 0..32640; the sum of two fits into 16 unsigned
bits, and taps with one weight are added in pairs before they are multiplied. Weights have 16 places
and the product's upper half is kept: one instruction. Channels stay interleaved as they lie in
memory: every element is treated alike, so nothing needs to be taken apart.

The error, in levels: each kept product loses at most 2⁻⁷ (half of that is given back on average), and
each weight is off by at most 2⁻¹⁷. With ``n`` taps, of which at most (n + 1) / 2 products, two passes
stay below 2·((n + 1)/2·2⁻⁸ + n·255·2⁻¹⁷). For the largest n (MAX_TAPS) that is 0.41 < ½, so the
result is never more than one level from the exact one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dala.backends.cpu.code import Code, Type
from dala.backends.cpu.lanes import LaneWriter
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Access, Node
from dala.ir.ops import split_average

if TYPE_CHECKING:
    from dala.backends.cpu.body import BodyEmitter

MAX_TAPS = 51
PLACES = 7  # binary places of a held level


def write_fixed(body: BodyEmitter, node: Node) -> tuple[str, str]:
    """The average ``node`` of one channel, for all of them: (fixed point, level as bytes)."""
    lanes, code = body.lanes, body.lane
    vector = f"<{lanes} x i16>"
    values, weights = split_average(_average_of(node).args)
    scaled = _scale_weights(body, weights)
    groups: dict[int, list[Access]] = {}
    for value, weight in zip(values, weights, strict=True):
        assert isinstance(value.attr, Access)
        groups.setdefault(id(weight), []).append(value.attr)
    total = ""
    products = 0
    for weight, taps in groups.items():
        for start in range(0, len(taps), 2):
            pair = taps[start : start + 2]
            term = _load(body, pair[0])
            if len(pair) == 2:
                term = code.op(f"add {vector} {term}, {_load(body, pair[1])}")
            if body.form_of(pair[0].source) == "u8":
                term = code.op(f"shl {vector} {term}, {_splat(lanes, PLACES)}")
            term = _multiply_high(code, lanes, term, scaled[weight])
            products += 1
            total = code.op(f"add {vector} {total}, {term}") if total else term
    total = code.op(f"add {vector} {total}, {_splat(lanes, products // 2)}")  # what cutting lost
    rounded = code.op(f"add {vector} {total}, {_splat(lanes, 1 << (PLACES - 1))}")
    level = code.op(f"lshr {vector} {rounded}, {_splat(lanes, PLACES)}")
    return total, code.op(f"trunc {vector} {level} to <{lanes} x i8>")


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
        vector = f"<{body.lanes} x i16>"
        single = code.op(f"insertelement {vector} poison, i16 {small}, i64 0")
        zeros = f"<{body.lanes} x i32> zeroinitializer"
        scaled[key] = code.op(f"shufflevector {vector} {single}, {vector} poison, {zeros}")
    return scaled


def _load(body: BodyEmitter, access: Access) -> str:
    place = body.place_of(access)
    code, lanes = body.lane, body.lanes
    if body.form_of(access.source) == "u16":
        return code.op(f"load <{lanes} x i16>, ptr {place}, align 2")
    small = code.op(f"load <{lanes} x i8>, ptr {place}, align 1")
    return code.op(f"zext <{lanes} x i8> {small} to <{lanes} x i16>")


def _multiply_high(code: Code, lanes: int, a: str, b: str) -> str:
    """The upper 16 bits of a 16 × 16 bit product: one instruction, once LLVM has seen the pattern."""
    wide, narrow = f"<{lanes} x i32>", f"<{lanes} x i16>"
    x = code.op(f"zext {narrow} {a} to {wide}")
    y = code.op(f"zext {narrow} {b} to {wide}")
    product = code.op(f"mul nuw {wide} {x}, {y}")
    high = code.op(f"lshr {wide} {product}, {_splat(lanes, 16, 'i32')}")
    return code.op(f"trunc {wide} {high} to {narrow}")


def _splat(lanes: int, value: int, element: str = "i16") -> str:
    return "<" + ", ".join([f"{element} {value}"] * lanes) + ">"


