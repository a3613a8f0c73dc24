"""Edges cut at the borders of rows, and what each piece adds to its cells (cells.py), a vector of pieces
at a time.

An edge is laid once for each row it passes; then every lane of a vector has an edge and a row, and goes
through the same arithmetic whatever the edge's slope and length:

    x      of the edge where it enters the row and where it leaves it, rounded to a unit
    h₁…h₃  how much of the piece's height lies in the cell it begins in, and in the next two
    r₁…r₃  twice how far right within each of them its middle is
    areas  h·(1024 − r) for a cell, and h·r for the next one

A piece that reaches over more than three cells is left as its ends.
"""

from __future__ import annotations

import ctypes
import struct

from dala.gpu.raster.ink.edges import EDGE_BYTES
from dala.gpu.raster.language import Word
from dala.gpu.raster.layout import ROOM
from dala.gpu.raster.rows import literal, vector_names
from dala.gpu.raster.words import load_s32, store32

LAID = 4  # rows that are laid at once
MOST = 256  # pieces, and as many more as a vector has, that are cut together
# their memory: an edge each, behind those a row each; cut, these are four areas, and the first one's place
ROWS_AT = (MOST + ROOM) * EDGE_BYTES
PIECES_BYTES = ROWS_AT + (MOST + ROOM) * 4
HALF = 0.5 + 2**-26  # what makes a half round upwards, and nothing else (nearest)

_LAY = """
define internal i64 @lay_edge(i64 %edge, i64 %row, i64 %pieces, i64 %number) alwaysinline {{
  %ep = inttoptr i64 %edge to ptr
  %e = load <4 x i32>, ptr %ep, align 4
  %four = shufflevector <4 x i32> %e, <4 x i32> poison, <16 x i32> <{four}>
  %behind = shl i64 %number, 4
  %to = add i64 %pieces, %behind
  %tp = inttoptr i64 %to to ptr
  store <16 x i32> %four, ptr %tp, align 4
  %first = trunc i64 %row to i32
  %row1 = insertelement <4 x i32> poison, i32 %first, i64 0
  %row4 = shufflevector <4 x i32> %row1, <4 x i32> poison, <4 x i32> zeroinitializer
  %rows = add <4 x i32> %row4, <i32 0, i32 1, i32 2, i32 3>
  %behind4 = shl i64 %number, 2
  %rows.at = add i64 %pieces, {rows_at}
  %to4 = add i64 %rows.at, %behind4
  %rp = inttoptr i64 %to4 to ptr
  store <4 x i32> %rows, ptr %rp, align 4
  ret i64 0
}}"""

_CUT = """
declare {V} @llvm.smin.v{L}i32({V}, {V})
declare {V} @llvm.smax.v{L}i32({V}, {V})
declare {D} @llvm.floor.v{L}f64({D})

; how far along after so much of the way down, to the nearest, for edges of any length: as ``nearest``
; (cells.py) has it
define internal {V} @cut_along({D} %slope, {V} %way) alwaysinline {{
  %far = sitofp {V} %way to {D}
  %part = fmul {D} %slope, %far
  %up = fadd {D} %part, splat (double {half})
  %whole = call {D} @llvm.floor.v{L}f64({D} %up)
  %r = fptosi {D} %whole to {V}
  ret {V} %r
}}

; a · b / d to the nearest where a ≤ 512, b ≤ 1024, d ≤ 1536: (2ab + d) div 2d is of numbers below 2²⁴, and
; in f32 their quotient does not reach a whole number that they do not reach
define internal {V} @cut_share({V} %a, {V} %b, {V} %d) alwaysinline {{
  %ab = mul {V} %a, %b
  %twice = shl {V} %ab, splat (i32 1)
  %n = add {V} %twice, %d
  %d2 = shl {V} %d, splat (i32 1)
  %nf = sitofp {V} %n to <{L} x float>
  %df = sitofp {V} %d2 to <{L} x float>
  %q = fdiv <{L} x float> %nf, %df
  %r = fptosi <{L} x float> %q to {V}
  ret {V} %r
}}

define internal {V} @cut_lanes(i64 %value) alwaysinline {{
  %short = trunc i64 %value to i32
  %one = insertelement {V} poison, i32 %short, i64 0
  %r = shufflevector {V} %one, {V} poison, <{L} x i32> zeroinitializer
  ret {V} %r
}}

define internal i64 @cut_pieces(
    i64 %pieces, i64 %count, i64 %left, i64 %top, i64 %stride) noinline {{
  %lefts = call {V} @cut_lanes(i64 %left)
  %tops = call {V} @cut_lanes(i64 %top)
  %strides = call {V} @cut_lanes(i64 %stride)
  %aside = shl {V} %lefts, splat (i32 9)
  br label %vector
vector:
  %number = phi i64 [ 0, %0 ], [ %number.next, %vector ]
  %behind = shl i64 %number, 4
  %at = add i64 %pieces, %behind
  %p = inttoptr i64 %at to ptr
  %edges = load <{L4} x i32>, ptr %p, align 4
  %behind4 = shl i64 %number, 2
  %rows = add i64 %pieces, {rows_at}
  %at4 = add i64 %rows, %behind4
  %p4 = inttoptr i64 %at4 to ptr
  %row = load {V}, ptr %p4, align 4
  %xa = shufflevector <{L4} x i32> %edges, <{L4} x i32> poison, <{L} x i32> {every0}
  %ya = shufflevector <{L4} x i32> %edges, <{L4} x i32> poison, <{L} x i32> {every1}
  %xb = shufflevector <{L4} x i32> %edges, <{L4} x i32> poison, <{L} x i32> {every2}
  %yb = shufflevector <{L4} x i32> %edges, <{L4} x i32> poison, <{L} x i32> {every3}
  ; downwards, and as far as the row goes
  %falls = icmp sle {V} %ya, %yb
  %x0 = select <{L} x i1> %falls, {V} %xa, {V} %xb
  %x1 = select <{L} x i1> %falls, {V} %xb, {V} %xa
  %y0 = call {V} @llvm.smin.v{L}i32({V} %ya, {V} %yb)
  %y1 = call {V} @llvm.smax.v{L}i32({V} %ya, {V} %yb)
  %above = shl {V} %row, splat (i32 9)
  %below = add {V} %above, splat (i32 512)
  %enter = call {V} @llvm.smax.v{L}i32({V} %y0, {V} %above)
  %leave = call {V} @llvm.smin.v{L}i32({V} %y1, {V} %below)
  %dx = sub {V} %x1, %x0
  %dy = sub {V} %y1, %y0
  %fall = call {V} @llvm.smax.v{L}i32({V} %dy, {V} splat (i32 1))
  %across = sitofp {V} %dx to {D}
  %along = sitofp {V} %fall to {D}
  %slope = fdiv {D} %across, %along
  %down0 = sub {V} %enter, %y0
  %down1 = sub {V} %leave, %y0
  %right0 = call {V} @cut_along({D} %slope, {V} %down0)
  %right1 = call {V} @cut_along({D} %slope, {V} %down1)
  %high = sub {V} %leave, %enter
  ; from its left end to its right one, counted from the border of the cell it begins in
  %from = sub {V} %x0, %aside
  %u0 = add {V} %from, %right0
  %u1 = add {V} %from, %right1
  %l = call {V} @llvm.smin.v{L}i32({V} %u0, {V} %u1)
  %r = call {V} @llvm.smax.v{L}i32({V} %u0, {V} %u1)
  %start = and {V} %l, splat (i32 511)
  %wide = sub {V} %r, %l
  %far = add {V} %start, %wide
  %to1 = sub {V} splat (i32 512), %start
  %to2 = sub {V} splat (i32 1024), %start
  %some = call {V} @llvm.smax.v{L}i32({V} %wide, {V} splat (i32 1))
  %share1 = call {V} @cut_share({V} %high, {V} %to1, {V} %some)
  %share2 = call {V} @cut_share({V} %high, {V} %to2, {V} %some)
  %in1 = icmp sle {V} %far, splat (i32 512)
  %in2 = icmp sle {V} %far, splat (i32 1024)
  %until1 = select <{L} x i1> %in1, {V} %high, {V} %share1
  %until2 = select <{L} x i1> %in2, {V} %high, {V} %share2
  ; heights, those of an edge that rises below zero
  %part2 = sub {V} %until2, %until1
  %part3 = sub {V} %high, %until2
  %no1 = sub {V} zeroinitializer, %until1
  %no2 = sub {V} zeroinitializer, %part2
  %no3 = sub {V} zeroinitializer, %part3
  %h1 = select <{L} x i1> %falls, {V} %until1, {V} %no1
  %h2 = select <{L} x i1> %falls, {V} %part2, {V} %no2
  %h3 = select <{L} x i1> %falls, {V} %part3, {V} %no3
  %far1 = call {V} @llvm.smin.v{L}i32({V} %far, {V} splat (i32 512))
  %r1 = add {V} %start, %far1
  %past1 = sub {V} %far, splat (i32 512)
  %r2 = call {V} @llvm.smin.v{L}i32({V} %past1, {V} splat (i32 512))
  %r3 = sub {V} %far, splat (i32 1024)
  %on1 = mul {V} %h1, %r1
  %on2 = mul {V} %h2, %r2
  %on3 = mul {V} %h3, %r3
  %all1 = shl {V} %h1, splat (i32 10)
  %all2 = shl {V} %h2, splat (i32 10)
  %all3 = shl {V} %h3, splat (i32 10)
  %rest1 = sub {V} %all1, %on1
  %rest2 = sub {V} %all2, %on2
  %rest3 = sub {V} %all3, %on3
  %mid1 = add {V} %on1, %rest2
  %mid2 = add {V} %on2, %rest3
  ; where the first cell is; one's complement for what is left as it is
  %down = sub {V} %row, %tops
  %before = mul {V} %down, %strides
  %cell = ashr {V} %l, splat (i32 9)
  %cell4 = shl {V} %cell, splat (i32 2)
  %place = add {V} %before, %cell4
  %long = icmp sgt {V} %far, splat (i32 1536)
  %flip = sext <{L} x i1> %long to {V}
  %placed = xor {V} %place, %flip
  %way = select <{L} x i1> %falls, {V} splat (i32 1), {V} splat (i32 -1)
  %a = select <{L} x i1> %long, {V} %l, {V} %rest1
  %b = select <{L} x i1> %long, {V} %r, {V} %mid1
  %c = select <{L} x i1> %long, {V} %high, {V} %mid2
  %d = select <{L} x i1> %long, {V} %way, {V} %on3
  %ab = shufflevector {V} %a, {V} %b, <{L2} x i32> {in_turn}
  %cd = shufflevector {V} %c, {V} %d, <{L2} x i32> {in_turn}
  %areas = shufflevector <{L2} x i32> %ab, <{L2} x i32> %cd, <{L4} x i32> {pairs}
  store <{L4} x i32> %areas, ptr %p, align 4
  store {V} %placed, ptr %p4, align 4
  %number.next = add i64 %number, {L}
  %more = icmp slt i64 %number.next, %count
  br i1 %more, label %vector, label %done
done:
  ret i64 0
}}"""


def _names() -> dict[str, object]:
    v = vector_names()
    count = int(str(v["L"]))
    pairs = [2 * i + k + n for i in range(count) for n in (0, 2 * count) for k in (0, 1)]
    return {
        **v,
        "D": f"<{count} x double>",
        "L2": 2 * count,
        "L4": 4 * count,
        "half": f"0x{struct.unpack('<Q', struct.pack('<d', HALF))[0]:016X}",
        "rows_at": ROWS_AT,
        **{f"every{k}": literal(range(k, 4 * count, 4)) for k in range(4)},
        "in_turn": literal(i + n for i in range(count) for n in (0, count)),
        "pairs": literal(pairs),
    }


def _spell_lay() -> str:
    return _LAY.format(four=", ".join(f"i32 {i % 4}" for i in range(16)), rows_at=ROWS_AT)


def _lay_edge(edge: int, row: int, pieces: int, number: int) -> int:
    for i in range(LAID):
        ctypes.memmove(pieces + (number + i) * EDGE_BYTES, edge, EDGE_BYTES)
        store32(pieces + ROWS_AT + (number + i) * 4, row + i)
    return 0


def _cut_pieces(pieces: int, count: int, left: int, top: int, stride: int) -> int:
    for i in range(count):
        at, row_at = pieces + i * EDGE_BYTES, pieces + ROWS_AT + i * 4
        x0, y0, x1, y1 = (load_s32(at + k) for k in (0, 4, 8, 12))
        row, way = load_s32(row_at), 1 if y0 <= y1 else -1
        if way < 0:
            x0, y0, x1, y1 = x1, y1, x0, y0
        enter, leave = max(y0, row << 9), min(y1, (row + 1) << 9)
        ends = [x0 - (left << 9) + _nearest((x1 - x0) * (y - y0), y1 - y0) for y in (enter, leave)]
        place = (row - top) * stride + (min(ends) >> 9) * 4
        areas = _areas(min(ends), max(ends), leave - enter, way)
        store32(row_at, place if areas else ~place)
        for k, area in enumerate(areas or (min(ends), max(ends), leave - enter, way)):
            store32(at + k * 4, area)
    return 0


def _areas(left: int, right: int, high: int, way: int) -> list[int]:
    """What a piece adds to four cells; nothing if it reaches over more than three."""
    start = left & 511
    far = start + right - left
    if far > 1536:
        return []
    areas, done = [0] * 4, 0
    for cell in range(3):
        border = (cell + 1) * 512
        until = high if far <= border else _nearest(high * (border - start), right - left)
        part = (until - done) * ((start if cell == 0 else 0) + min(far - border + 512, 512))
        areas[cell] += way * ((until - done) * 1024 - part)
        areas[cell + 1] += way * part
        done = until
    return areas


def _nearest(a: int, b: int) -> int:
    return (2 * a + b) // (2 * b) if b else 0


# An edge of four 32-bit numbers, and the rows from ``row`` on, for four pieces.
lay_edge = Word("lay_edge", _spell_lay, _lay_edge)
# Pieces of a shape whose cells begin at (left, top): areas for four cells, and where the first of those is;
# or the ends of one that is longer, its height, its way, and one's complement of where its first cell is.
cut_pieces = Word("cut_pieces", lambda: _CUT.format(**_names()), _cut_pieces)
