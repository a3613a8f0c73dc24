"""Sampled Y, U and V as pixels; pictures multiplied by their alpha. Words of the rasteriser's language."""

from __future__ import annotations

from dala.scene.paint.cpu.lanes import B, H, multiply, order, splat16, word

_WEAVE = order(n // 2 + n % 2 * 32 for n in range(64))
_FACTORS = ("black", "ky", "rv", "gu", "gv", "bu")


def _yuv_row() -> str:
    splats = "\n".join(
        f"""  %{name}.at = getelementptr i64, ptr %factors.p, i64 {i}
  %{name}.64 = load i64, ptr %{name}.at, align 8
{splat16(name, f"%{name}.64")}"""
        for i, name in enumerate(_FACTORS)
    )
    return f"""
{multiply()}

declare {H} @llvm.smax.v32i16({H}, {H})
declare {H} @llvm.smin.v32i16({H}, {H})
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal {H} @as_level({H} %v) alwaysinline {{
  %h = add {H} %v, splat (i16 16)
  %s = ashr {H} %h, splat (i16 5)
  %low = call {H} @llvm.smax.v32i16({H} %s, {H} zeroinitializer)
  %r = call {H} @llvm.smin.v32i16({H} %low, {H} splat (i16 255))
  ret {H} %r
}}

define internal i64 @yuv_row(i64 %to, i64 %y, i64 %u, i64 %v, i64 %count, i64 %factors) {{
  %rest = alloca <64 x i16>, align 64
  %factors.p = inttoptr i64 %factors to ptr
{splats}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %stored ]
  %i2 = shl i64 %i, 1
  %i4 = shl i64 %i, 2
  %y.at = add i64 %y, %i2
  %u.at = add i64 %u, %i2
  %v.at = add i64 %v, %i2
  %to.at = add i64 %to, %i4
  %yp = inttoptr i64 %y.at to ptr
  %up = inttoptr i64 %u.at to ptr
  %vp = inttoptr i64 %v.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %y0 = load {H}, ptr %yp, align 2
  %u0 = load {H}, ptr %up, align 2
  %v0 = load {H}, ptr %vp, align 2
  %y1 = sub {H} %y0, %black
  %u1 = sub {H} %u0, splat (i16 16384)
  %v1 = sub {H} %v0, splat (i16 16384)
  %luma = call {H} @multiply({H} %y1, {H} %ky)
  %mr = call {H} @multiply({H} %v1, {H} %rv)
  %mg = call {H} @multiply({H} %u1, {H} %gu)
  %mh = call {H} @multiply({H} %v1, {H} %gv)
  %mb = call {H} @multiply({H} %u1, {H} %bu)
  %r5 = add {H} %luma, %mr
  %g4 = add {H} %luma, %mg
  %g5 = add {H} %g4, %mh
  %b5 = add {H} %luma, %mb
  %r = call {H} @as_level({H} %r5)
  %g = call {H} @as_level({H} %g5)
  %b = call {H} @as_level({H} %b5)
  %g8 = shl {H} %g, splat (i16 8)
  %rg = or {H} %r, %g8
  %ba = or {H} %b, splat (i16 -256)
  %rgba = shufflevector {H} %rg, {H} %ba, <64 x i32> {_WEAVE}
  %next = add i64 %i, 32
  %whole = icmp sle i64 %next, %count
  br i1 %whole, label %store, label %tail
store:
  store <64 x i16> %rgba, ptr %tp, align 1
  br label %stored
tail:
  store <64 x i16> %rgba, ptr %rest, align 64
  %left = sub i64 %count, %i
  %bytes = shl i64 %left, 2
  call void @llvm.memcpy.p0.p0.i64(ptr %tp, ptr %rest, i64 %bytes, i1 false)
  br label %stored
stored:
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


# colours times alpha / 255, rounded; both have room for a vector behind their end
_PREMULTIPLY = f"""
define internal i64 @multiply_alpha(i64 %to, i64 %from, i64 %count) {{
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i4 = shl i64 %i, 2
  %f.at = add i64 %from, %i4
  %to.at = add i64 %to, %i4
  %fp = inttoptr i64 %f.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %v = load {B}, ptr %fp, align 1
  %c = zext {B} %v to {H}
  %a0 = shufflevector {H} %c, {H} poison, <32 x i32> {order(n | 3 for n in range(32))}
  %a = or {H} %a0, <{", ".join("i16 255" if n % 4 == 3 else "i16 0" for n in range(32))}>
  %m = mul {H} %c, %a
  %t = add {H} %m, splat (i16 128)
  %t8 = lshr {H} %t, splat (i16 8)
  %s = add {H} %t, %t8
  %r16 = lshr {H} %s, splat (i16 8)
  %r = trunc {H} %r16 to {B}
  store {B} %r, ptr %tp, align 1
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""

yuv_row = word("yuv_row", _yuv_row)
multiply_alpha = word("multiply_alpha", lambda: _PREMULTIPLY)
