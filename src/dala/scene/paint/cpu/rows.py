"""Rows of values: reduced, between two rows, between two columns. Words of the rasteriser's language.

Rows in a thread's memory have room for a vector behind their ends. A content's own memory has not: there
the last vector ends where the row ends, and a row shorter than a vector is read value by value.
"""

from __future__ import annotations

from dala.scene.paint.cpu.lanes import B, H, multiply, order, splat16, word

_EVEN, _ODD = order(range(0, 64, 2)), order(range(1, 64, 2))


# t = (a·(256 − g) + b·g) >> 1, of u8 into i16
def _lerp_rows() -> str:
    return f"""
define internal i64 @lerp_rows(i64 %to, i64 %a, i64 %b, i64 %count, i64 %g) {{
{splat16("gs", "%g")}
  %long = icmp sge i64 %count, 32
  br i1 %long, label %vectors, label %short
vectors:
  %last = sub i64 %count, 32
  br label %vector
vector:
  %i = phi i64 [ 0, %vectors ], [ %next, %vector ]
  %a.at = add i64 %a, %i
  %b.at = add i64 %b, %i
  %ap = inttoptr i64 %a.at to ptr
  %bp = inttoptr i64 %b.at to ptr
  %i2 = shl i64 %i, 1
  %to.at = add i64 %to, %i2
  %tp = inttoptr i64 %to.at to ptr
  %a8 = load {B}, ptr %ap, align 1
  %b8 = load {B}, ptr %bp, align 1
  %x = zext {B} %a8 to {H}
  %y = zext {B} %b8 to {H}
  %d = sub {H} %y, %x
  %m = mul {H} %d, %gs
  %s = shl {H} %x, splat (i16 8)
  %r = add {H} %s, %m
  %t = lshr {H} %r, splat (i16 1)
  store {H} %t, ptr %tp, align 2
  %step = add i64 %i, 32
  %next = call i64 @llvm.smin.i64(i64 %step, i64 %last)
  %more = icmp slt i64 %i, %last
  br i1 %more, label %vector, label %end
short:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %one, label %end
one:
  %j = phi i64 [ 0, %short ], [ %j.next, %one ]
  %a1.at = add i64 %a, %j
  %b1.at = add i64 %b, %j
  %a1p = inttoptr i64 %a1.at to ptr
  %b1p = inttoptr i64 %b1.at to ptr
  %j2 = shl i64 %j, 1
  %to1.at = add i64 %to, %j2
  %t1p = inttoptr i64 %to1.at to ptr
  %a1 = load i8, ptr %a1p
  %b1 = load i8, ptr %b1p
  %x1 = zext i8 %a1 to i64
  %y1 = zext i8 %b1 to i64
  %d1 = sub i64 %y1, %x1
  %m1 = mul i64 %d1, %g
  %s1 = shl i64 %x1, 8
  %r1 = add i64 %s1, %m1
  %h1 = lshr i64 %r1, 1
  %t1 = trunc i64 %h1 to i16
  store i16 %t1, ptr %t1p, align 2
  %j.next = add i64 %j, 1
  %again = icmp slt i64 %j.next, %count
  br i1 %again, label %one, label %end
end:
  ret i64 0
}}"""


# to = t + ((t[gap] − t)·f + 128 >> 8); gap is in bytes
def _lerp_columns() -> str:
    return f"""
{multiply()}

define internal i64 @lerp_columns(i64 %to, i64 %t, i64 %count, i64 %gap, i64 %f) {{
  %f7 = shl i64 %f, 7
{splat16("fs", "%f7")}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i2 = shl i64 %i, 1
  %a.at = add i64 %t, %i2
  %b.at = add i64 %a.at, %gap
  %to.at = add i64 %to, %i2
  %ap = inttoptr i64 %a.at to ptr
  %bp = inttoptr i64 %b.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %x = load {H}, ptr %ap, align 2
  %y = load {H}, ptr %bp, align 2
  %d = sub {H} %y, %x
  %m = call {H} @multiply({H} %d, {H} %fs)
  %r = add {H} %x, %m
  store {H} %r, ptr %tp, align 2
  %next = add i64 %i, 32
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


# two pixels for each value: even ones from ``even`` on, odd ones from ``odd`` on
def _lerp_halves() -> str:
    weave = order(n // 2 + n % 2 * 32 for n in range(64))
    return f"""
{multiply()}

define internal i64 @lerp_halves(i64 %to, i64 %even, i64 %odd, i64 %count, i64 %f, i64 %g) {{
  %f7 = shl i64 %f, 7
  %g7 = shl i64 %g, 7
{splat16("fs", "%f7")}
{splat16("gs", "%g7")}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i2 = shl i64 %i, 1
  %a.at = add i64 %even, %i
  %b.at = add i64 %a.at, 2
  %c.at = add i64 %odd, %i
  %d.at = add i64 %c.at, 2
  %to.at = add i64 %to, %i2
  %ap = inttoptr i64 %a.at to ptr
  %bp = inttoptr i64 %b.at to ptr
  %cp = inttoptr i64 %c.at to ptr
  %dp = inttoptr i64 %d.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %a = load {H}, ptr %ap, align 2
  %b = load {H}, ptr %bp, align 2
  %c = load {H}, ptr %cp, align 2
  %d = load {H}, ptr %dp, align 2
  %ab = sub {H} %b, %a
  %cd = sub {H} %d, %c
  %m = call {H} @multiply({H} %ab, {H} %fs)
  %n = call {H} @multiply({H} %cd, {H} %gs)
  %x = add {H} %a, %m
  %y = add {H} %c, %n
  %r = shufflevector {H} %x, {H} %y, <64 x i32> {weave}
  store <64 x i16> %r, ptr %tp, align 2
  %next = add i64 %i, 64
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


# where to read: at + step·i in units of 2⁻³², as a number from ``low`` on and a fraction of 256
_MAKE_TAPS = f"""
declare <8 x i64> @llvm.smax.v8i64(<8 x i64>, <8 x i64>)
declare <8 x i64> @llvm.smin.v8i64(<8 x i64>, <8 x i64>)

define internal i64 @make_taps(
    i64 %to, i64 %fractions, i64 %count, i64 %begin, i64 %step, i64 %low, i64 %high) {{
  %b1 = insertelement <8 x i64> poison, i64 %begin, i64 0
  %bs = shufflevector <8 x i64> %b1, <8 x i64> poison, <8 x i32> zeroinitializer
  %s1 = insertelement <8 x i64> poison, i64 %step, i64 0
  %ss = shufflevector <8 x i64> %s1, <8 x i64> poison, <8 x i32> zeroinitializer
  %below = sub i64 %low, 1
  %l1 = insertelement <8 x i64> poison, i64 %below, i64 0
  %ls = shufflevector <8 x i64> %l1, <8 x i64> poison, <8 x i32> zeroinitializer
  %h1 = insertelement <8 x i64> poison, i64 %high, i64 0
  %hs = shufflevector <8 x i64> %h1, <8 x i64> poison, <8 x i32> zeroinitializer
  %steps = mul <8 x i64> %ss, <{", ".join(f"i64 {n}" for n in range(8))}>
  %first = add <8 x i64> %bs, %steps
  %stride = shl <8 x i64> %ss, splat (i64 3)
  %base = add <8 x i64> %ls, splat (i64 1)
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %p = phi <8 x i64> [ %first, %0 ], [ %p.next, %vector ]
  %whole = ashr <8 x i64> %p, splat (i64 32)
  %low1 = call <8 x i64> @llvm.smax.v8i64(<8 x i64> %whole, <8 x i64> %ls)
  %in = call <8 x i64> @llvm.smin.v8i64(<8 x i64> %low1, <8 x i64> %hs)
  %from = sub <8 x i64> %in, %base
  %index = trunc <8 x i64> %from to <8 x i32>
  %part = lshr <8 x i64> %p, splat (i64 24)
  %f64 = and <8 x i64> %part, splat (i64 255)
  %f = trunc <8 x i64> %f64 to <8 x i32>
  %i4 = shl i64 %i, 2
  %to.at = add i64 %to, %i4
  %f.at = add i64 %fractions, %i4
  %tp = inttoptr i64 %to.at to ptr
  %fp = inttoptr i64 %f.at to ptr
  store <8 x i32> %index, ptr %tp, align 4
  store <8 x i32> %f, ptr %fp, align 4
  %p.next = add <8 x i64> %p, %stride
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""

# a value and the next one are gathered as one number of 32 bits, then weighed at once
_LERP_TAPS = f"""
declare <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x i32>)

define internal i64 @lerp_taps(i64 %to, i64 %t, i64 %taps, i64 %fractions, i64 %count) {{
  %t0 = inttoptr i64 %t to ptr
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i4 = shl i64 %i, 2
  %i2 = shl i64 %i, 1
  %x.at = add i64 %taps, %i4
  %f.at = add i64 %fractions, %i4
  %to.at = add i64 %to, %i2
  %xp = inttoptr i64 %x.at to ptr
  %fp = inttoptr i64 %f.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %x = load <16 x i32>, ptr %xp, align 4
  %f = load <16 x i32>, ptr %fp, align 4
  %at = getelementptr i16, ptr %t0, <16 x i32> %x
  %pair = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(
      <16 x ptr> %at, i32 2, <16 x i1> splat (i1 true), <16 x i32> poison)
  %w = mul <16 x i32> %f, splat (i32 65535)
  %ws = add <16 x i32> %w, splat (i32 256)
  %p16 = bitcast <16 x i32> %pair to {H}
  %w16 = bitcast <16 x i32> %ws to {H}
  %pe = shufflevector {H} %p16, {H} poison, <16 x i32> {order(range(0, 32, 2))}
  %po = shufflevector {H} %p16, {H} poison, <16 x i32> {order(range(1, 32, 2))}
  %we = shufflevector {H} %w16, {H} poison, <16 x i32> {order(range(0, 32, 2))}
  %wo = shufflevector {H} %w16, {H} poison, <16 x i32> {order(range(1, 32, 2))}
  %pe32 = sext <16 x i16> %pe to <16 x i32>
  %po32 = sext <16 x i16> %po to <16 x i32>
  %we32 = sext <16 x i16> %we to <16 x i32>
  %wo32 = sext <16 x i16> %wo to <16 x i32>
  %m = mul <16 x i32> %pe32, %we32
  %n = mul <16 x i32> %po32, %wo32
  %mn = add <16 x i32> %m, %n
  %half = add <16 x i32> %mn, splat (i32 128)
  %s = lshr <16 x i32> %half, splat (i32 8)
  %r = trunc <16 x i32> %s to <16 x i16>
  store <16 x i16> %r, ptr %tp, align 2
  %next = add i64 %i, 16
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""

_TIMES4 = order(n // 2 for n in range(16))


# the same of pixels of four values
def _lerp_pixels() -> str:
    return f"""
{multiply()}

declare <8 x i64> @llvm.masked.gather.v8i64.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x i64>)

define internal i64 @lerp_pixels(i64 %to, i64 %t, i64 %taps, i64 %fractions, i64 %count) {{
  %t0 = inttoptr i64 %t to ptr
  %second = add i64 %t, 8
  %t1 = inttoptr i64 %second to ptr
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i4 = shl i64 %i, 2
  %i8 = shl i64 %i, 3
  %x.at = add i64 %taps, %i4
  %f.at = add i64 %fractions, %i4
  %to.at = add i64 %to, %i8
  %xp = inttoptr i64 %x.at to ptr
  %fp = inttoptr i64 %f.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %x = load <8 x i32>, ptr %xp, align 4
  %f = load <8 x i32>, ptr %fp, align 4
  %at = getelementptr i64, ptr %t0, <8 x i32> %x
  %at1 = getelementptr i64, ptr %t1, <8 x i32> %x
  %a64 = call <8 x i64> @llvm.masked.gather.v8i64.v8p0(
      <8 x ptr> %at, i32 2, <8 x i1> splat (i1 true), <8 x i64> poison)
  %b64 = call <8 x i64> @llvm.masked.gather.v8i64.v8p0(
      <8 x ptr> %at1, i32 2, <8 x i1> splat (i1 true), <8 x i64> poison)
  %a = bitcast <8 x i64> %a64 to {H}
  %b = bitcast <8 x i64> %b64 to {H}
  %ff = mul <8 x i32> %f, splat (i32 8388736)
  %f4 = shufflevector <8 x i32> %ff, <8 x i32> poison, <16 x i32> {_TIMES4}
  %fs = bitcast <16 x i32> %f4 to {H}
  %d = sub {H} %b, %a
  %m = call {H} @multiply({H} %d, {H} %fs)
  %r = add {H} %a, %m
  store {H} %r, ptr %tp, align 2
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


# -- reducing ----------------------------------------------------------------------------------

# columns' sums over ``rows`` rows, of which those behind the last one are that; u8 into u16
_SUM_ROWS = f"""
define internal i64 @sum_rows(i64 %to, i64 %from, i64 %stride, i64 %rows, i64 %last, i64 %count) {{
  %long = icmp sge i64 %count, 32
  %top = sub i64 %count, 32
  br i1 %long, label %vector, label %short
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %stored ]
  br label %row
row:
  %r = phi i64 [ 0, %vector ], [ %r.next, %row ]
  %sum = phi {H} [ zeroinitializer, %vector ], [ %sum.next, %row ]
  %in = call i64 @llvm.smin.i64(i64 %r, i64 %last)
  %down = mul i64 %in, %stride
  %at0 = add i64 %from, %down
  %at = add i64 %at0, %i
  %p = inttoptr i64 %at to ptr
  %v = load {B}, ptr %p, align 1
  %w = zext {B} %v to {H}
  %sum.next = add {H} %sum, %w
  %r.next = add i64 %r, 1
  %more.rows = icmp slt i64 %r.next, %rows
  br i1 %more.rows, label %row, label %stored
stored:
  %i2 = shl i64 %i, 1
  %to.at = add i64 %to, %i2
  %tp = inttoptr i64 %to.at to ptr
  store {H} %sum.next, ptr %tp, align 2
  %step = add i64 %i, 32
  %next = call i64 @llvm.smin.i64(i64 %step, i64 %top)
  %more = icmp slt i64 %i, %top
  br i1 %more, label %vector, label %end
short:
  %j = phi i64 [ 0, %0 ], [ %j.next, %stored1 ]
  br label %row1
row1:
  %r1 = phi i64 [ 0, %short ], [ %r1.next, %row1 ]
  %sum1 = phi i16 [ 0, %short ], [ %sum1.next, %row1 ]
  %in1 = call i64 @llvm.smin.i64(i64 %r1, i64 %last)
  %down1 = mul i64 %in1, %stride
  %at01 = add i64 %from, %down1
  %at1 = add i64 %at01, %j
  %p1 = inttoptr i64 %at1 to ptr
  %v1 = load i8, ptr %p1
  %w1 = zext i8 %v1 to i16
  %sum1.next = add i16 %sum1, %w1
  %r1.next = add i64 %r1, 1
  %more1 = icmp slt i64 %r1.next, %rows
  br i1 %more1, label %row1, label %stored1
stored1:
  %j2 = shl i64 %j, 1
  %to1.at = add i64 %to, %j2
  %t1p = inttoptr i64 %to1.at to ptr
  store i16 %sum1.next, ptr %t1p, align 2
  %j.next = add i64 %j, 1
  %again = icmp slt i64 %j.next, %count
  br i1 %again, label %short, label %end
end:
  ret i64 0
}}"""


def _add_pairs(name: str, even: str, odd: str) -> str:
    """Sums of neighbours, in place: what is read is never behind what is written."""
    return f"""
define internal i64 @{name}(i64 %at, i64 %count) {{
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i2 = shl i64 %i, 1
  %i4 = shl i64 %i, 2
  %from = add i64 %at, %i4
  %to = add i64 %at, %i2
  %fp = inttoptr i64 %from to ptr
  %tp = inttoptr i64 %to to ptr
  %v = load <64 x i16>, ptr %fp, align 2
  %e = shufflevector <64 x i16> %v, <64 x i16> poison, <32 x i32> {even}
  %o = shufflevector <64 x i16> %v, <64 x i16> poison, <32 x i32> {odd}
  %s = add {H} %e, %o
  store {H} %s, ptr %tp, align 2
  %next = add i64 %i, 32
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


def _quads(first: int) -> str:
    return order(8 * (n // 4) + n % 4 + first for n in range(32))


# (sum + half) >> bits, u16 into u8
_ROUND_SUMS = f"""
define internal i64 @round_sums(i64 %to, i64 %from, i64 %count, i64 %bits) {{
  %one = shl i64 1, %bits
  %half = lshr i64 %one, 1
{splat16("hs", "%half")}
{splat16("bs", "%bits")}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i2 = shl i64 %i, 1
  %f.at = add i64 %from, %i2
  %to.at = add i64 %to, %i
  %fp = inttoptr i64 %f.at to ptr
  %tp = inttoptr i64 %to.at to ptr
  %v = load {H}, ptr %fp, align 2
  %h = add {H} %v, %hs
  %s = lshr {H} %h, %bs
  %r = trunc {H} %s to {B}
  store {B} %r, ptr %tp, align 1
  %next = add i64 %i, 32
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""

lerp_rows = word("lerp_rows", _lerp_rows)
lerp_columns = word("lerp_columns", _lerp_columns)
lerp_halves = word("lerp_halves", _lerp_halves)
make_taps = word("make_taps", lambda: _MAKE_TAPS)
lerp_taps = word("lerp_taps", lambda: _LERP_TAPS)
lerp_pixels = word("lerp_pixels", _lerp_pixels)
sum_rows = word("sum_rows", lambda: _SUM_ROWS)
add_pairs = word("add_pairs", lambda: _add_pairs("add_pairs", _EVEN, _ODD))
add_pixel_pairs = word(
    "add_pixel_pairs", lambda: _add_pairs("add_pixel_pairs", _quads(0), _quads(4))
)
round_sums = word("round_sums", lambda: _ROUND_SUMS)
