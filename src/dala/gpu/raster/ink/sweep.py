"""Rows of cells (cells.py) summed up and painted, a vector of pixels at a time; the cells are zero after.

    sum      area = Σ cells up to here, 2¹⁹ for a pixel wound round once
    nonzero  c = min(|area|, 2¹⁹)
    evenodd  c = how far the area is from the nearest even number of turns
    cover    (c · 255 + 2¹⁸) div 2¹⁹, 0 … 255

A colour of alpha a is blended (rows.py) with alpha (a · cover + 127) div 255. Pixels before ``skip`` and
from ``count`` on are left alone.
"""

from __future__ import annotations

import ctypes

from dala.gpu.raster.language import Word
from dala.gpu.raster.rows import blend_pixel, blend_text, vector_names

FULL = 1 << 19

_COVER = """
declare {V} @llvm.abs.v{L}i32({V}, i1)
declare {V} @llvm.umin.v{L}i32({V}, {V})

define internal {V} @sum_up({V} %a, i32 %carry) alwaysinline {{
{sums}
  %c1 = insertelement {V} poison, i32 %carry, i64 0
  %c = shufflevector {V} %c1, {V} poison, <{L} x i32> zeroinitializer
  %r = add {V} %s{last}, %c
  ret {V} %r
}}

define internal {V} @cover({V} %area, i1 %evenodd) alwaysinline {{
  %size = call {V} @llvm.abs.v{L}i32({V} %area, i1 false)
  %nonzero = call {V} @llvm.umin.v{L}i32({V} %size, {V} splat (i32 524288))
  %turned = and {V} %area, splat (i32 1048575)
  %back = sub {V} splat (i32 1048576), %turned
  %even = call {V} @llvm.umin.v{L}i32({V} %turned, {V} %back)
  %c = select i1 %evenodd, {V} %even, {V} %nonzero
  %c255 = mul {V} %c, splat (i32 255)
  %half = add {V} %c255, splat (i32 262144)
  %r = lshr {V} %half, splat (i32 19)
  ret {V} %r
}}"""
_SUM = """
  %m{k} = shufflevector {V} %s{k}, {V} zeroinitializer, <{L} x i32> {mask}
  %s{n} = add {V} %s{k}, %m{k}"""

_SWEEP = """
declare {V} @llvm.masked.load.v{L}i32.p0(ptr, i32, <{L} x i1>, {V})
declare void @llvm.masked.store.v{L}i32.p0({V}, ptr, i32, <{L} x i1>)
declare i1 @llvm.vector.reduce.or.v{L}i1(<{L} x i1>)
declare i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1>)

define internal i64 @sweep_color(
    i64 %first, i64 %step, i64 %skip, i64 %count, i64 %rows, i64 %border, i64 %pixel,
    i64 %cells.0, i64 %stride, i64 %rule) noinline {{
  %evenodd = icmp ne i64 %rule, 0
  %dword = trunc i64 %pixel to i32
  %one = insertelement {V} poison, i32 %dword, i64 0
  %color = shufflevector {V} %one, {V} poison, <{L} x i32> zeroinitializer
  %rgb = and {V} %color, splat (i32 16777215)
  %alpha = lshr {V} %color, splat (i32 24)
  %solid = icmp uge i32 %dword, -16777216
  %skip32 = trunc i64 %skip to i32
  %skip1 = insertelement {V} poison, i32 %skip32, i64 0
  %skips = shufflevector {V} %skip1, {V} poison, <{L} x i32> zeroinitializer
  %limit = trunc i64 %count to i32
  %limit1 = insertelement {V} poison, i32 %limit, i64 0
  %limits = shufflevector {V} %limit1, {V} poison, <{L} x i32> zeroinitializer
  br label %row
row:
  %done = phi i64 [ 0, %0 ], [ %done.next, %end ]
  %to = phi i64 [ %first, %0 ], [ %to.next, %end ]
  %cells = phi i64 [ %cells.0, %0 ], [ %cells.next, %end ]
  %cells.end = add i64 %cells, %stride
  br label %vector
vector:
  %cell = phi i64 [ %cells, %row ], [ %cell.next, %next ]
  %at = phi i64 [ %to, %row ], [ %at.next, %next ]
  %index = phi {V} [ {lanes}, %row ], [ %index.next, %next ]
  %carry = phi i32 [ 0, %row ], [ %carry.next, %next ]
  %cp = inttoptr i64 %cell to ptr
  %a = load {V}, ptr %cp, align 4
  %used = icmp ne {V} %a, zeroinitializer
  %any = call i1 @llvm.vector.reduce.or.v{L}i1(<{L} x i1> %used)
  %covered = icmp ne i32 %carry, 0
  %some = or i1 %any, %covered
  br i1 %some, label %sum, label %next
sum:
  store {V} zeroinitializer, ptr %cp, align 4
  %area = call {V} @sum_up({V} %a, i32 %carry)
  %last = extractelement {V} %area, i64 {last_lane}
  %cover = call {V} @cover({V} %area, i1 %evenodd)
  %after = icmp sge {V} %index, %skips
  %before = icmp slt {V} %index, %limits
  %inside = and <{L} x i1> %after, %before
  %seen = select <{L} x i1> %inside, {V} %cover, {V} zeroinitializer
  %full = icmp eq {V} %seen, splat (i32 255)
  %whole = call i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1> %full)
  %plain = and i1 %whole, %solid
  %p = inttoptr i64 %at to ptr
  br i1 %plain, label %fill, label %mix
fill:
  store {V} %color, ptr %p, align 4
  br label %next
mix:
  %m = mul {V} %seen, %alpha
  %m128 = add {V} %m, splat (i32 128)
  %m257 = mul {V} %m128, splat (i32 257)
  %share = lshr {V} %m257, splat (i32 16)
  %share24 = shl {V} %share, splat (i32 24)
  %s = or {V} %rgb, %share24
  %shown = icmp ne {V} %seen, zeroinitializer
  %visible = call i1 @llvm.vector.reduce.or.v{L}i1(<{L} x i1> %shown)
  br i1 %visible, label %touch, label %next
touch:
  %reach = add i64 %at, {B}
  %own = icmp sle i64 %reach, %border
  br i1 %own, label %mix_whole, label %mix_masked
mix_whole:
  %d = load {V}, ptr %p, align 4
  %new = call {V} @blend({V} %s, {V} %d)
  store {V} %new, ptr %p, align 4
  br label %next
mix_masked:
  %dm = call {V} @llvm.masked.load.v{L}i32.p0(ptr %p, i32 4, <{L} x i1> %inside, {V} splat (i32 -1))
  %newm = call {V} @blend({V} %s, {V} %dm)
  call void @llvm.masked.store.v{L}i32.p0({V} %newm, ptr %p, i32 4, <{L} x i1> %inside)
  br label %next
next:
  %carry.next = phi i32 [ 0, %vector ], [ %last, %fill ], [ %last, %mix ],
    [ %last, %mix_whole ], [ %last, %mix_masked ]
  %cell.next = add i64 %cell, {B}
  %at.next = add i64 %at, {B}
  %index.next = add {V} %index, splat (i32 {L})
  %more = icmp slt i64 %cell.next, %cells.end
  br i1 %more, label %vector, label %end
end:
  %done.next = add i64 %done, 1
  %to.next = add i64 %to, %step
  %cells.next = add i64 %cells, %stride
  %again = icmp slt i64 %done.next, %rows
  br i1 %again, label %row, label %leave
leave:
  ret i64 0
}}"""

_TO_COVER = """
define internal i64 @sweep_cover(i64 %cells.0, i64 %stride, i64 %rows, i64 %rule) noinline {{
  %evenodd = icmp ne i64 %rule, 0
  br label %row
row:
  %done = phi i64 [ 0, %0 ], [ %done.next, %end ]
  %cells = phi i64 [ %cells.0, %0 ], [ %cells.end, %end ]
  %cells.end = add i64 %cells, %stride
  br label %vector
vector:
  %cell = phi i64 [ %cells, %row ], [ %cell.next, %vector ]
  %carry = phi i32 [ 0, %row ], [ %last, %vector ]
  %cp = inttoptr i64 %cell to ptr
  %a = load {V}, ptr %cp, align 4
  %area = call {V} @sum_up({V} %a, i32 %carry)
  %last = extractelement {V} %area, i64 {last_lane}
  %c = call {V} @cover({V} %area, i1 %evenodd)
  store {V} %c, ptr %cp, align 4
  %cell.next = add i64 %cell, {B}
  %more = icmp slt i64 %cell.next, %cells.end
  br i1 %more, label %vector, label %end
end:
  %done.next = add i64 %done, 1
  %again = icmp slt i64 %done.next, %rows
  br i1 %again, label %row, label %leave
leave:
  ret i64 0
}}"""


def _names() -> dict[str, object]:
    v = vector_names()
    count = int(str(v["L"]))
    sums, k = ["  %s0 = or {V} %a, zeroinitializer".format(**v)], 0
    shift = 1
    while shift < count:
        lanes = ", ".join(f"i32 {i - shift if i >= shift else count + i}" for i in range(count))
        sums.append(_SUM.format(k=k, n=k + 1, mask=f"<{lanes}>", **v))
        shift, k = shift * 2, k + 1
    return {**v, "sums": "\n".join(sums), "last": k, "last_lane": count - 1}


def _spell_color() -> str:
    names = _names()
    return "\n\n".join([blend_text(), _COVER.format(**names), _SWEEP.format(**names)])


def _spell_cover() -> str:
    names = _names()
    return "\n\n".join([_COVER.format(**names), _TO_COVER.format(**names)])


def cover_of(area: int, rule: int) -> int:
    """The rule above for one pixel."""
    turned = area & 2 * FULL - 1
    c = min(turned, 2 * FULL - turned) if rule else min(abs(area), FULL)
    return (c * 255 + FULL // 2) >> 19


def _sweep_cover(cells: int, stride: int, rows: int, rule: int) -> int:
    for y in range(rows):
        row = (ctypes.c_int32 * (stride // 4)).from_address(cells + y * stride)
        area = 0
        for i in range(stride // 4):
            area += row[i]
            row[i] = cover_of(area, rule)
    return 0


def _sweep_color(
    to: int, step: int, skip: int, count: int, rows: int, _border: int, pixel: int,
    cells: int, stride: int, rule: int,
) -> int:  # fmt: skip
    _sweep_cover(cells, stride, rows, rule)
    for y in range(rows):
        row = (ctypes.c_int32 * (stride // 4)).from_address(cells + y * stride)
        pixels = (ctypes.c_uint32 * count).from_address(to + y * step)
        for i in range(skip, count):
            alpha = ((pixel >> 24) * row[i] + 127) // 255
            pixels[i] = blend_pixel(pixel & 0xFFFFFF | alpha << 24, pixels[i])
        ctypes.memset(cells + y * stride, 0, stride)
    return 0


sweep_color = Word("sweep_color", _spell_color, _sweep_color)
# Cells become coverage, in place, each a number of 32 bits; whoever uses it makes them zero.
sweep_cover = Word("sweep_cover", _spell_cover, _sweep_cover)
