"""Pictures under any transform, and rows of pixels put onto the surface through coverage, with vectors.

A pixel's centre lies at (u, v) in the picture, in pixels, less one half; the row's next one at (u + du,
v + dv). It is mixed from four by ``between`` (sampling.py) in steps of 1/256. Outside, by ``spread``: 0 the
picture's border goes on, 1 it repeats, 2 it repeats mirrored, 3 there is nothing.
"""

from __future__ import annotations

import ctypes
import math

from dala.gpu.raster.language import Word
from dala.gpu.raster.rows import blend_pixel, blend_text, vector_names
from dala.gpu.raster.sampling import between, between_text
from dala.gpu.raster.words import load_u32, store32

PAD, REPEAT, REFLECT, NOTHING = range(4)

_HELPERS = """
declare {D} @llvm.floor.v{L}f64({D})
declare {D} @llvm.minnum.v{L}f64({D}, {D})
declare {D} @llvm.maxnum.v{L}f64({D}, {D})
declare {V} @llvm.smin.v{L}i32({V}, {V})
declare {V} @llvm.smax.v{L}i32({V}, {V})
declare {V} @llvm.masked.gather.v{L}i32.v{L}p0(<{L} x ptr>, i32, <{L} x i1>, {V})

define internal {D} @splat_f(double %x) alwaysinline {{
  %one = insertelement {D} poison, double %x, i64 0
  %r = shufflevector {D} %one, {D} poison, <{L} x i32> zeroinitializer
  ret {D} %r
}}

define internal {V} @splat_i(i64 %x) alwaysinline {{
  %d = trunc i64 %x to i32
  %one = insertelement {V} poison, i32 %d, i64 0
  %r = shufflevector {V} %one, {V} poison, <{L} x i32> zeroinitializer
  ret {V} %r
}}

; where a coordinate falls within 0 … n, when the picture repeats, mirrored or not
define internal {D} @fold({D} %u, {D} %n, i64 %spread) {{
  %repeats = icmp eq i64 %spread, 1
  br i1 %repeats, label %repeat, label %mirror
repeat:
  %q = fdiv {D} %u, %n
  %f = call {D} @llvm.floor.v{L}f64({D} %q)
  %fn = fmul {D} %f, %n
  %r = fsub {D} %u, %fn
  ret {D} %r
mirror:
  %h = fadd {D} %u, splat (double 0.5)
  %n2 = fadd {D} %n, %n
  %q2 = fdiv {D} %h, %n2
  %f2 = call {D} @llvm.floor.v{L}f64({D} %q2)
  %fn2 = fmul {D} %f2, %n2
  %m = fsub {D} %h, %fn2
  %back = fsub {D} %n2, %m
  %nearer = call {D} @llvm.minnum.v{L}f64({D} %m, {D} %back)
  %r2 = fsub {D} %nearer, splat (double 0.5)
  ret {D} %r2
}}

define internal {D} @place({D} %u, {D} %n, i64 %spread) alwaysinline {{
  %folds = icmp eq i64 %spread, 1
  %mirrors = icmp eq i64 %spread, 2
  %any = or i1 %folds, %mirrors
  br i1 %any, label %folded, label %held
folded:
  %f = call {D} @fold({D} %u, {D} %n, i64 %spread)
  br label %held
held:
  %w = phi {D} [ %u, %0 ], [ %f, %folded ]
  %low = call {D} @llvm.maxnum.v{L}f64({D} %w, {D} splat (double -2.0))
  %most = fadd {D} %n, splat (double 2.0)
  %high = call {D} @llvm.minnum.v{L}f64({D} %low, {D} %most)
  ret {D} %high
}}

; a pixel's number, held within 0 … last, or on the other side if the picture repeats
define internal {V} @hold({V} %x, {V} %last, i1 %repeats) alwaysinline {{
  %low = call {V} @llvm.smax.v{L}i32({V} %x, {V} zeroinitializer)
  %held = call {V} @llvm.smin.v{L}i32({V} %low, {V} %last)
  %under = icmp slt {V} %x, zeroinitializer
  %over = icmp sgt {V} %x, %last
  %a = select <{L} x i1> %under, {V} %last, {V} %x
  %b = select <{L} x i1> %over, {V} zeroinitializer, {V} %a
  %r = select i1 %repeats, {V} %b, {V} %held
  ret {V} %r
}}

define internal {V} @fetch(ptr %base, <{L} x i64> %row, {V} %x, <{L} x i1> %there) alwaysinline {{
  %wide = sext {V} %x to <{L} x i64>
  %bytes = shl <{L} x i64> %wide, splat (i64 2)
  %at = add <{L} x i64> %row, %bytes
  %p = getelementptr i8, ptr %base, <{L} x i64> %at
  %v = call {V} @llvm.masked.gather.v{L}i32.v{L}p0(
    <{L} x ptr> %p, i32 4, <{L} x i1> %there, {V} zeroinitializer)
  ret {V} %v
}}

define internal <{L} x i1> @within({V} %x, {V} %last) alwaysinline {{
  %c = icmp ule {V} %x, %last
  ret <{L} x i1> %c
}}"""

_SAMPLE = """
define internal i64 @sample_affine(
    i64 %to, i64 %count, i64 %pixels, i64 %stride, i64 %width, i64 %height,
    double %u0, double %v0, double %du, double %dv, i64 %spread, i64 %nearest) noinline {{
  %base = inttoptr i64 %pixels to ptr
  %w = sub i64 %width, 1
  %h = sub i64 %height, 1
  %last.x = call {V} @splat_i(i64 %w)
  %last.y = call {V} @splat_i(i64 %h)
  %wf = sitofp i64 %width to double
  %hf = sitofp i64 %height to double
  %n.x = call {D} @splat_f(double %wf)
  %n.y = call {D} @splat_f(double %hf)
  %us = call {D} @splat_f(double %u0)
  %vs = call {D} @splat_f(double %v0)
  %dus = call {D} @splat_f(double %du)
  %dvs = call {D} @splat_f(double %dv)
  %strides = insertelement <{L} x i64> poison, i64 %stride, i64 0
  %step = shufflevector <{L} x i64> %strides, <{L} x i64> poison, <{L} x i32> zeroinitializer
  %repeats = icmp eq i64 %spread, 1
  %bare = icmp eq i64 %spread, 3
  %flat = icmp ne i64 %nearest, 0
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %store ]
  %index = phi {D} [ {lanes_f}, %0 ], [ %index.next, %store ]
  %ux = fmul {D} %index, %dus
  %vx = fmul {D} %index, %dvs
  %u = fadd {D} %us, %ux
  %v = fadd {D} %vs, %vx
  %pu = call {D} @place({D} %u, {D} %n.x, i64 %spread)
  %pv = call {D} @place({D} %v, {D} %n.y, i64 %spread)
  %hu = fadd {D} %pu, splat (double 0.5)
  %hv = fadd {D} %pv, splat (double 0.5)
  %ru = call {D} @llvm.floor.v{L}f64({D} %hu)
  %rv = call {D} @llvm.floor.v{L}f64({D} %hv)
  %cu = select i1 %flat, {D} %ru, {D} %pu
  %cv = select i1 %flat, {D} %rv, {D} %pv
  %u256 = fmul {D} %cu, splat (double 256.0)
  %v256 = fmul {D} %cv, splat (double 256.0)
  %uh = fadd {D} %u256, splat (double 0.5)
  %vh = fadd {D} %v256, splat (double 0.5)
  %uf = call {D} @llvm.floor.v{L}f64({D} %uh)
  %vf = call {D} @llvm.floor.v{L}f64({D} %vh)
  %fu = fptosi {D} %uf to {V}
  %fv = fptosi {D} %vf to {V}
  %x = ashr {V} %fu, splat (i32 8)
  %y = ashr {V} %fv, splat (i32 8)
  %wx = and {V} %fu, splat (i32 255)
  %wy = and {V} %fv, splat (i32 255)
  %x1 = add {V} %x, splat (i32 1)
  %y1 = add {V} %y, splat (i32 1)
  %vx8 = sub {V} splat (i32 256), %wx
  %vy8 = sub {V} splat (i32 256), %wy
  %wa = mul {V} %vx8, %vy8
  %wb = mul {V} %wx, %vy8
  %wc = mul {V} %vx8, %wy
  %wd = mul {V} %wx, %wy
  %left = call {V} @hold({V} %x, {V} %last.x, i1 %repeats)
  %right = call {V} @hold({V} %x1, {V} %last.x, i1 %repeats)
  %upper = call {V} @hold({V} %y, {V} %last.y, i1 %repeats)
  %lower = call {V} @hold({V} %y1, {V} %last.y, i1 %repeats)
  %in.l = call <{L} x i1> @within({V} %x, {V} %last.x)
  %in.r = call <{L} x i1> @within({V} %x1, {V} %last.x)
  %in.u = call <{L} x i1> @within({V} %y, {V} %last.y)
  %in.d = call <{L} x i1> @within({V} %y1, {V} %last.y)
  %every = xor i1 %bare, true
  %every1 = insertelement <{L} x i1> poison, i1 %every, i64 0
  %always = shufflevector <{L} x i1> %every1, <{L} x i1> poison, <{L} x i32> zeroinitializer
  %ta0 = and <{L} x i1> %in.l, %in.u
  %tb0 = and <{L} x i1> %in.r, %in.u
  %tc0 = and <{L} x i1> %in.l, %in.d
  %td0 = and <{L} x i1> %in.r, %in.d
  %ta = or <{L} x i1> %ta0, %always
  %tb = or <{L} x i1> %tb0, %always
  %tc = or <{L} x i1> %tc0, %always
  %td = or <{L} x i1> %td0, %always
  %upper64 = sext {V} %upper to <{L} x i64>
  %lower64 = sext {V} %lower to <{L} x i64>
  %row.u = mul <{L} x i64> %upper64, %step
  %row.d = mul <{L} x i64> %lower64, %step
  %a = call {V} @fetch(ptr %base, <{L} x i64> %row.u, {V} %left, <{L} x i1> %ta)
  %b = call {V} @fetch(ptr %base, <{L} x i64> %row.u, {V} %right, <{L} x i1> %tb)
  %c = call {V} @fetch(ptr %base, <{L} x i64> %row.d, {V} %left, <{L} x i1> %tc)
  %d = call {V} @fetch(ptr %base, <{L} x i64> %row.d, {V} %right, <{L} x i1> %td)
  %both = and {V} %a, %b
  %others = and {V} %c, %d
  %all4 = and {V} %both, %others
  %opaque = icmp uge {V} %all4, splat (i32 -16777216)
  %simple = call i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1> %opaque)
  br i1 %simple, label %quick, label %general
quick:
  %s = call {V} @between_opaque({values})
  br label %store
general:
  %g = call {V} @between_any({values})
  br label %store
store:
  %r = phi {V} [ %s, %quick ], [ %g, %general ]
  %offset = shl i64 %i, 2
  %at = add i64 %to, %offset
  %p = inttoptr i64 %at to ptr
  store {V} %r, ptr %p, align 4
  %next = add i64 %i, {L}
  %index.next = fadd {D} %index, splat (double {L}.0)
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""

_COVERED = """
declare {V} @llvm.masked.load.v{L}i32.p0(ptr, i32, <{L} x i1>, {V})
declare void @llvm.masked.store.v{L}i32.p0({V}, ptr, i32, <{L} x i1>)

define internal {V} @share({V} %a, {V} %b) alwaysinline {{
  %m = mul {V} %a, %b
  %m128 = add {V} %m, splat (i32 128)
  %m257 = mul {V} %m128, splat (i32 257)
  %r = lshr {V} %m257, splat (i32 16)
  ret {V} %r
}}

define internal i64 @blend_covered(
    i64 %to, i64 %count, i64 %border, i64 %pixels, i64 %cover, i64 %tint) noinline {{
{tints}
  %limit = trunc i64 %count to i32
  %limit1 = insertelement {V} poison, i32 %limit, i64 0
  %limits = shufflevector {V} %limit1, {V} poison, <{L} x i32> zeroinitializer
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %again ]
  %index = phi {V} [ {lanes}, %0 ], [ %index.next, %again ]
  %offset = shl i64 %i, 2
  %from = add i64 %pixels, %offset
  %over = add i64 %cover, %offset
  %at = add i64 %to, %offset
  %fp = inttoptr i64 %from to ptr
  %op = inttoptr i64 %over to ptr
  %p = inttoptr i64 %at to ptr
  %pixel = load {V}, ptr %fp, align 4
  %c = load {V}, ptr %op, align 4
  %inside = icmp slt {V} %index, %limits
  %seen = select <{L} x i1> %inside, {V} %c, {V} zeroinitializer
  %alpha = lshr {V} %pixel, splat (i32 24)
  %own.alpha = call {V} @share({V} %alpha, {V} %t24)
  %a = call {V} @share({V} %own.alpha, {V} %seen)
{channels}
  %a24 = shl {V} %a, splat (i32 24)
  %rg = or {V} %h0, %h8
  %rgb = or {V} %rg, %h16
  %s = or {V} %rgb, %a24
  %reach = add i64 %at, {B}
  %own = icmp sle i64 %reach, %border
  br i1 %own, label %whole, label %masked
whole:
  %d = load {V}, ptr %p, align 4
  %new = call {V} @blend_picture({V} %s, {V} %d)
  store {V} %new, ptr %p, align 4
  br label %again
masked:
  %dm = call {V} @llvm.masked.load.v{L}i32.p0(ptr %p, i32 4, <{L} x i1> %inside, {V} splat (i32 -1))
  %newm = call {V} @blend_picture({V} %s, {V} %dm)
  call void @llvm.masked.store.v{L}i32.p0({V} %newm, ptr %p, i32 4, <{L} x i1> %inside)
  br label %again
again:
  %next = add i64 %i, {L}
  %index.next = add {V} %index, splat (i32 {L})
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""
_TINT = """  %t{c}.64 = lshr i64 %tint, {c}
  %t{c}.8 = and i64 %t{c}.64, 255
  %t{c} = call {V} @splat_i(i64 %t{c}.8)"""
_CHANNEL = """  %p{c}.0 = lshr {V} %pixel, splat (i32 {c})
  %p{c} = and {V} %p{c}.0, splat (i32 255)
  %g{c} = call {V} @share({V} %p{c}, {V} %t{c})
  %h{c} = shl {V} %g{c}, splat (i32 {c})"""


def _names() -> dict[str, object]:
    v = vector_names()
    count = int(str(v["L"]))
    values = [f"{v['V']} %{name}" for name in ("a", "b", "c", "d", "wa", "wb", "wc", "wd")]
    return {
        **v,
        "D": f"<{count} x double>",
        "lanes_f": "<" + ", ".join(f"double {i}.0" for i in range(count)) + ">",
        "values": ", ".join(values),
    }


def _spell_sample() -> str:
    names = _names()
    return "\n\n".join([between_text(), _HELPERS.format(**names), _SAMPLE.format(**names)])


def _spell_covered() -> str:
    names = _names()
    tints = "\n".join(_TINT.format(c=c, **names) for c in (0, 8, 16, 24))
    channels = "\n".join(_CHANNEL.format(c=c, **names) for c in (0, 8, 16))
    text = _COVERED.format(tints=tints, channels=channels, **names)
    return "\n\n".join([blend_text(), _HELPERS.format(**names), text])


def _place(u: float, n: int, spread: int) -> float:
    if spread == REPEAT:
        return u - math.floor(u / n) * n
    if spread == REFLECT:
        h = u + 0.5
        m = h - math.floor(h / (2 * n)) * (2 * n)
        return min(m, 2 * n - m) - 0.5
    return min(max(u, -2.0), n + 2.0)


def _sample_affine(
    to: int, count: int, pixels: int, stride: int, width: int, height: int,
    u0: float, v0: float, du: float, dv: float, spread: int, nearest: int,
) -> int:  # fmt: skip
    def fetch(x: int, y: int) -> int:
        if spread == NOTHING and not (0 <= x < width and 0 <= y < height):
            return 0
        if spread == REPEAT:
            x, y = x % width, y % height
        x, y = min(max(x, 0), width - 1), min(max(y, 0), height - 1)
        return load_u32(pixels + y * stride + x * 4)

    for i in range(count):
        u, v = _place(u0 + i * du, width, spread), _place(v0 + i * dv, height, spread)
        if nearest:
            u, v = math.floor(u + 0.5), math.floor(v + 0.5)
        fu, fv = math.floor(u * 256 + 0.5), math.floor(v * 256 + 0.5)
        x, y = fu >> 8, fv >> 8
        four = fetch(x, y), fetch(x + 1, y), fetch(x, y + 1), fetch(x + 1, y + 1)
        store32(to + i * 4, between(*four, fu & 255, fv & 255))
    return 0


def _share(a: int, b: int) -> int:
    return (a * b + 127) // 255


def _blend_covered(to: int, count: int, _border: int, pixels: int, cover: int, tint: int) -> int:
    row = (ctypes.c_uint32 * count).from_address(to)
    for i in range(count):
        p = load_u32(pixels + i * 4)
        alpha = _share(_share(p >> 24, tint >> 24 & 255), load_u32(cover + i * 4))
        s = alpha << 24
        for c in (0, 8, 16):
            s |= _share(p >> c & 255, tint >> c & 255) << c
        row[i] = blend_pixel(s, row[i])
    return 0


# Pixels of a picture into a row, which is written in whole vectors.
sample_affine = Word("sample_affine", _spell_sample, _sample_affine, floats=(6, 7, 8, 9))
# A row of pixels through coverage (numbers of 32 bits), each channel multiplied by the tint's.
blend_covered = Word("blend_covered", _spell_covered, _blend_covered)
