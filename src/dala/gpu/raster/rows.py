"""Rows of pixels, a vector at a time: fill with a colour, blend a colour, blend pixels.

Source-over with straight alpha, exactly. With source colour s and alpha a, destination d and alpha b:

    keep  = b·(255 − a)           what is left of the destination
    total = 255·a + keep
    alpha = (total + 127) div 255
    color = (255·a·s + keep·d + total div 2) div total

So a source of alpha 0 changes nothing; neither does it where the total is 0.

Where the destination is opaque that is (a·s + (255 − a)·d + 127) div 255, computed in 16-bit lanes;
otherwise the quotient is computed in f32, where it is exact as well: numerators stay below 2²⁴, and
the nearest quotient below a whole number q ≤ 255 is 1/65025 away, further than f32 rounds.

A row's last vector is read and written whole, with the pixels behind the row's end unchanged: that is
fastest on every machine. But what lies behind the border (layout.py) is another thread's, who may paint it
just now: there only the row's own lanes are touched, by masked loads and stores. Pictures are only read,
and have room behind their end.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable

from dala.backends.cpu.llvm.jit import detect_host
from dala.gpu.raster.language import Word

# Memory this many rows further down is asked for while a row is blended: a sprite's row is over before
# the machine could notice where the next one lies.
AHEAD = 8

_FILL = """
declare void @llvm.masked.store.v{L}i32.p0({V}, ptr, i32, <{L} x i1>)

define internal i64 @fill_row(i64 %to, i64 %count, i64 %pixel, i64 %border) {{
  %dword = trunc i64 %pixel to i32
  %one = insertelement {V} poison, i32 %dword, i64 0
  %color = shufflevector {V} %one, {V} poison, <{L} x i32> zeroinitializer
  %size = shl i64 %count, 2
  %end = add i64 %to, %size
  %long = icmp sge i64 %count, {L}
  br i1 %long, label %vectors, label %short
vectors:
  %last = sub i64 %end, {B}
  br label %vector
vector:
  %at = phi i64 [ %to, %vectors ], [ %next, %vector ]
  %p = inttoptr i64 %at to ptr
  store {V} %color, ptr %p, align 4
  %next = add i64 %at, {B}
  %more = icmp slt i64 %next, %last
  br i1 %more, label %vector, label %overlap
overlap:                                    ; the last vector ends where the row ends
  %q = inttoptr i64 %last to ptr
  store {V} %color, ptr %q, align 4
  ret i64 0
short:
  %r = inttoptr i64 %to to ptr
  %limit = trunc i64 %count to i32
  %limit1 = insertelement {V} poison, i32 %limit, i64 0
  %limits = shufflevector {V} %limit1, {V} poison, <{L} x i32> zeroinitializer
  %inside = icmp slt {V} {lanes}, %limits
  %reach = add i64 %to, {B}
  %own = icmp sle i64 %reach, %border
  br i1 %own, label %whole, label %masked
whole:
  %old = load {V}, ptr %r, align 4
  %new = select <{L} x i1> %inside, {V} %color, {V} %old
  store {V} %new, ptr %r, align 4
  ret i64 0
masked:
  call void @llvm.masked.store.v{L}i32.p0({V} %color, ptr %r, i32 4, <{L} x i1> %inside)
  ret i64 0
}}"""

_BLEND = """
declare i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1>)
declare {V} @llvm.umax.v{L}i32({V}, {V})

; (a·s + (255 − a)·d + 127) div 255 in 16-bit lanes, as (n + 128)·257 div 2¹⁶
define internal {H} @mix({H} %s, {H} %d, {H} %a, {H} %na) alwaysinline {{
  %m = mul {H} %s, %a
  %n = mul {H} %d, %na
  %mn = add {H} %m, %n
  %t = add {H} %mn, splat (i16 128)
  %wide = zext {H} %t to {W}
  %product = mul {W} %wide, splat (i32 257)
  %high = lshr {W} %product, splat (i32 16)
  %r = trunc {W} %high to {H}
  ret {H} %r
}}

; red and blue are the lower bytes of 16-bit lanes, green and alpha the upper ones
define internal {V} @blend_opaque({V} %s, {V} %d) alwaysinline {{
  %bytes = bitcast {V} %s to <{B} x i8>
  %spread = shufflevector <{B} x i8> %bytes, <{B} x i8> zeroinitializer, <{B} x i32> {spread}
  %a = bitcast <{B} x i8> %spread to {H}
  %na = xor {H} %a, splat (i16 255)
  %sh = bitcast {V} %s to {H}
  %dh = bitcast {V} %d to {H}
  %s.rb = and {H} %sh, splat (i16 255)
  %d.rb = and {H} %dh, splat (i16 255)
  %rb = call {H} @mix({H} %s.rb, {H} %d.rb, {H} %a, {H} %na)
  %s.opaque = or {V} %s, splat (i32 -16777216)          ; alpha stays 255
  %so = bitcast {V} %s.opaque to {H}
  %s.ga = lshr {H} %so, splat (i16 8)
  %d.ga = lshr {H} %dh, splat (i16 8)
  %ga = call {H} @mix({H} %s.ga, {H} %d.ga, {H} %a, {H} %na)
  %ga8 = shl {H} %ga, splat (i16 8)
  %rgba = or {H} %rb, %ga8
  %r = bitcast {H} %rgba to {V}
  ret {V} %r
}}

define internal {V} @blend_any({V} %s, {V} %d) {{
  %a = lshr {V} %s, splat (i32 24)
  %b = lshr {V} %d, splat (i32 24)
  %na = sub {V} splat (i32 255), %a
  %keep = mul {V} %b, %na
  %take = mul {V} %a, splat (i32 255)
  %total = add {V} %take, %keep
  %half = lshr {V} %total, splat (i32 1)
  %some = call {V} @llvm.umax.v{L}i32({V} %total, {V} splat (i32 1))
  %divisor = uitofp {V} %some to <{L} x float>
{channels}
  %t127 = add {V} %total, splat (i32 127)
  %t1 = mul {V} %t127, splat (i32 32897)    ; ⌊v · 32897 / 2²³⌋ = v div 255 for 16 bits
  %alpha = lshr {V} %t1, splat (i32 23)
  %alpha24 = shl {V} %alpha, splat (i32 24)
  %rg = or {V} %out0, %out8
  %rgb = or {V} %rg, %out16
  %rgba = or {V} %rgb, %alpha24
  %nothing = icmp eq {V} %total, zeroinitializer
  %r = select <{L} x i1> %nothing, {V} %d, {V} %rgba
  ret {V} %r
}}

define internal {V} @blend({V} %s, {V} %d) alwaysinline {{
  %opaque = icmp uge {V} %d, splat (i32 -16777216)
  %all = call i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1> %opaque)
  br i1 %all, label %simple, label %general
simple:
  %x = call {V} @blend_opaque({V} %s, {V} %d)
  ret {V} %x
general:
  %y = call {V} @blend_any({V} %s, {V} %d)
  ret {V} %y
}}

; most vectors of most pictures are opaque or transparent throughout: those are only chosen from
define internal {V} @blend_picture({V} %s, {V} %d) alwaysinline {{
  %turned = add {V} %s, splat (i32 16777216)            ; alpha 255 becomes 0, and 0 becomes 1
  %clear_cut = icmp ult {V} %turned, splat (i32 33554432)
  %all = call i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1> %clear_cut)
  br i1 %all, label %choose, label %mix
choose:
  %opaque = icmp uge {V} %s, splat (i32 -16777216)
  %x = select <{L} x i1> %opaque, {V} %s, {V} %d
  ret {V} %x
mix:
  %y = call {V} @blend({V} %s, {V} %d)
  ret {V} %y
}}"""

_CHANNEL = """
  %s{c} = lshr {V} %s, splat (i32 {c})
  %d{c} = lshr {V} %d, splat (i32 {c})
  %sc{c} = and {V} %s{c}, splat (i32 255)
  %dc{c} = and {V} %d{c}, splat (i32 255)
  %m{c} = mul {V} %sc{c}, %take
  %n{c} = mul {V} %dc{c}, %keep
  %mn{c} = add {V} %m{c}, %n{c}
  %num{c} = add {V} %mn{c}, %half
  %f{c} = uitofp {V} %num{c} to <{L} x float>
  %q{c} = fdiv <{L} x float> %f{c}, %divisor
  %i{c} = fptoui <{L} x float> %q{c} to {V}
  %out{c} = shl {V} %i{c}, splat (i32 {c})"""

# large, so it is called and not copied to its callers
_ROWS = """
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare {V} @llvm.masked.load.v{L}i32.p0(ptr, i32, <{L} x i1>, {V})
declare void @llvm.masked.store.v{L}i32.p0({V}, ptr, i32, <{L} x i1>)

define internal i64 @{name}(
    i64 %first, i64 %step, i64 %count, i64 %rows, i64 %border, i64 %source{steps}) noinline {{
  {before}
  %whole = sub i64 %count, {L}
  %long = icmp sge i64 %whole, 0
  %ahead = mul i64 %step, {ahead}
  br label %row
row:
  %done = phi i64 [ 0, %0 ], [ %done.next, %end ]
  %to = phi i64 [ %first, %0 ], [ %to.next, %end ]
  {row}
  br i1 %long, label %vector, label %rest
vector:
  %i = phi i64 [ 0, %row ], [ %next, %vector ]
  {place}
  %d = load {V}, ptr %p, align 4
  {source}
  %below = add i64 %at, %ahead
  %soon = inttoptr i64 %below to ptr
  call void @llvm.prefetch.p0(ptr %soon, i32 1, i32 3, i32 1)
  %new = call {V} @{blend}({V} %s, {V} %d)
  store {V} %new, ptr %p, align 4
  %next = add i64 %i, {L}
  %more = icmp sle i64 %next, %whole
  br i1 %more, label %vector, label %rest
rest:
  %behind = phi i64 [ 0, %row ], [ %next, %vector ]
  %left = sub i64 %count, %behind
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %tail, label %end
tail:
  {place_tail}
  %limit = trunc i64 %left to i32
  %limit1 = insertelement {V} poison, i32 %limit, i64 0
  %limits = shufflevector {V} %limit1, {V} poison, <{L} x i32> zeroinitializer
  %inside = icmp slt {V} {lanes}, %limits
  %reach = add i64 %at.t, {B}
  %own = icmp sle i64 %reach, %border
  br i1 %own, label %load_whole, label %load_masked
load_whole:
  %d.whole = load {V}, ptr %p.t, align 4
  br label %mix_tail
load_masked:                                ; opaque where nothing is loaded: the simple way will do
  %d.masked = call {V} @llvm.masked.load.v{L}i32.p0(ptr %p.t, i32 4, <{L} x i1> %inside, {V} splat (i32 -1))
  br label %mix_tail
mix_tail:
  %d.t = phi {V} [ %d.whole, %load_whole ], [ %d.masked, %load_masked ]
  {source_tail}
  %mixed = call {V} @{blend}({V} %s.t, {V} %d.t)
  br i1 %own, label %store_whole, label %store_masked
store_whole:
  %kept = select <{L} x i1> %inside, {V} %mixed, {V} %d.t
  store {V} %kept, ptr %p.t, align 4
  br label %end
store_masked:
  call void @llvm.masked.store.v{L}i32.p0({V} %mixed, ptr %p.t, i32 4, <{L} x i1> %inside)
  br label %end
end:
  %done.next = add i64 %done, 1
  %to.next = add i64 %to, %step
  %again = icmp slt i64 %done.next, %rows
  br i1 %again, label %row, label %leave
leave:
  ret i64 0
}}"""
# where the destination's vector at pixel {at} is, and the source's; names end in {t}
_PLACE = """%offset{t} = shl i64 %{at}, 2
  %at{t} = add i64 %to, %offset{t}
  %p{t} = inttoptr i64 %at{t} to ptr"""
_SPLAT = """%dword = trunc i64 %source to i32
  %one = insertelement {V} poison, i32 %dword, i64 0
  %color = shufflevector {V} %one, {V} poison, <{L} x i32> zeroinitializer"""
_COLOR = "%s{t} = or {V} %color, zeroinitializer"
_SOURCE_ROW = """%skipped = mul i64 %done, %source_step
  %source.row = add i64 %source, %skipped"""
_PIXELS = """%from{t} = add i64 %source.row, %offset{t}
  %sp{t} = inttoptr i64 %from{t} to ptr
  %s{t} = load {V}, ptr %sp{t}, align 4"""


@functools.cache
def vector_names() -> dict[str, object]:
    """How this machine's vectors of pixels are spelled: V as 32-bit lanes, H as 16-bit halves of
    them, W those widened."""
    count = detect_host().vector_bytes // 4
    size = 4 * count
    # each alpha byte into both halves of its pixel; the first byte of the zeros beside them
    spread = [i // 4 * 4 + 3 if i % 2 == 0 else size for i in range(size)]
    return {
        "L": count,
        "B": size,
        "V": f"<{count} x i32>",
        "H": f"<{2 * count} x i16>",
        "W": f"<{2 * count} x i32>",
        "lanes": literal(range(count)),
        "spread": literal(spread),
    }


def literal(numbers: Iterable[int]) -> str:
    """A constant vector of 32-bit numbers."""
    return "<" + ", ".join(f"i32 {n}" for n in numbers) + ">"


def _spell_fill() -> str:
    return _FILL.format(**vector_names())


def _spell_rows(
    name: str, blend: str, source: str, *, before: str = "", row: str = "", steps: str = ""
) -> str:
    v = vector_names()
    rows = _ROWS.format(
        name=name, blend=blend, before=before.format(**v), row=row, steps=steps, ahead=AHEAD,
        place=_PLACE.format(at="i", t=""), place_tail=_PLACE.format(at="behind", t=".t"),
        source=source.format(t="", **v), source_tail=source.format(t=".t", **v), **v,
    )  # fmt: skip
    return f"{blend_text()}\n\n{rows}"


def blend_text() -> str:
    """``@blend`` and ``@blend_picture`` on vectors of pixels, for words that need them."""
    v = vector_names()
    channels = "".join(_CHANNEL.format(c=c, **v) for c in (0, 8, 16))
    return _BLEND.format(channels=channels, **v)


def blend_pixel(s: int, d: int) -> int:
    """The rule above for one pixel, as a number of 32 bits with red in the lowest byte."""
    a, b = s >> 24, d >> 24
    keep = b * (255 - a)
    total = 255 * a + keep
    if total == 0:
        return d
    result = (total + 127) // 255 << 24
    for c in (0, 8, 16):
        part = 255 * a * (s >> c & 255) + keep * (d >> c & 255) + total // 2
        result |= part // total << c
    return result


def _pixels(address: int, count: int) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * max(count, 0)).from_address(address)


def _fill_row(to: int, count: int, pixel: int, _border: int) -> int:
    row = _pixels(to, count)
    for i in range(count):
        row[i] = pixel
    return 0


def _blend_color(to: int, step: int, count: int, rows: int, _border: int, pixel: int) -> int:
    for y in range(rows):
        row = _pixels(to + y * step, count)
        for i in range(count):
            row[i] = blend_pixel(pixel & 0xFFFFFFFF, row[i])
    return 0


def _blend_pixels(
    to: int, step: int, count: int, rows: int, _border: int, source: int, source_step: int
) -> int:
    for y in range(rows):
        row, pixels = _pixels(to + y * step, count), _pixels(source + y * source_step, count)
        for i in range(count):
            row[i] = blend_pixel(pixels[i], row[i])
    return 0


fill_row = Word("fill_row", _spell_fill, _fill_row)
# Rows of ``count`` pixels, ``step`` bytes from one to the next; at least one row.
blend_color = Word(
    "blend_color", lambda: _spell_rows("blend_color", "blend", _COLOR, before=_SPLAT), _blend_color
)
blend_pixels = Word(
    "blend_pixels",
    lambda: _spell_rows(
        "blend_pixels", "blend_picture", _PIXELS, row=_SOURCE_ROW, steps=", i64 %source_step"
    ),
    _blend_pixels,
)
