"""Pixels onto the canvas, eight at a time. Words of the rasteriser's language.

Where eight pixels of the canvas are opaque and the mode is ``over``, 16-bit lanes suffice. Everything else
goes through ``@meet``, which is ``meeting.py`` in 32-bit lanes. A row's last pixels are read and written
alone, as what lies behind them may be another thread's.

Sources are rows of:   sampled   1/128 levels, multiplied by alpha; a fraction goes on to the next pixel
                       straight  u8 as in a picture
                       opaque    u8, every alpha taken as 255
"""

from __future__ import annotations

from dala.scene.layers import BLENDS
from dala.scene.paint.cpu.lanes import B, F, H, W, multiply, order, splat16, word

_ALPHAS = order(n | 3 for n in range(32))
_IS_ALPHA = "<" + ", ".join(f"i1 {'true' if n % 4 == 3 else 'false'}" for n in range(32)) + ">"
_SPREAD = order(n // 4 for n in range(32))
_P = "<8 x i32>"


def _f(value: float) -> str:
    import struct

    single = struct.unpack("<f", struct.pack("<f", value))[0]
    bits = struct.unpack("<Q", struct.pack("<d", single))[0]
    return f"splat (float 0x{bits:016X})"


_SCREEN = f"""
define internal {F} @screen({F} %a, {F} %b) alwaysinline {{
  %s = fadd {F} %a, %b
  %m = fmul {F} %a, %b
  %r = fsub {F} %s, %m
  ret {F} %r
}}"""
_HARD = f"""
define internal {F} @hard_light({F} %a, {F} %b) alwaysinline {{
  %b2 = fmul {F} %b, {_f(2)}
  %m = fmul {F} %a, %b2
  %c = fsub {F} %b2, {_f(1)}
  %s = call {F} @screen({F} %a, {F} %c)
  %low = fcmp ole {F} %b, {_f(0.5)}
  %r = select <32 x i1> %low, {F} %m, {F} %s
  ret {F} %r
}}"""
_SOFT = f"""
declare {F} @llvm.sqrt.v32f32({F})

define internal {F} @soft_light({F} %a, {F} %b) alwaysinline {{
  %x1 = fmul {F} %a, {_f(16)}
  %x2 = fsub {F} %x1, {_f(12)}
  %x3 = fmul {F} %x2, %a
  %x4 = fadd {F} %x3, {_f(4)}
  %x5 = fmul {F} %x4, %a
  %root = call {F} @llvm.sqrt.v32f32({F} %a)
  %dark = fcmp ole {F} %a, {_f(0.25)}
  %curve = select <32 x i1> %dark, {F} %x5, {F} %root
  %aa = fmul {F} %a, %a
  %lower = fsub {F} %a, %aa
  %upper = fsub {F} %curve, %a
  %low = fcmp ole {F} %b, {_f(0.5)}
  %chosen = select <32 x i1> %low, {F} %lower, {F} %upper
  %b2 = fmul {F} %b, {_f(2)}
  %c = fsub {F} %b2, {_f(1)}
  %m = fmul {F} %c, %chosen
  %r = fadd {F} %a, %m
  ret {F} %r
}}"""
# what a mode makes of %a, the canvas, and %b, the layer
_MODES = {
    "add": f"%r.add = fadd {F} %a, %b",
    "subtract": f"%r.subtract = fsub {F} %a, %b",
    "multiply": f"%r.multiply = fmul {F} %a, %b",
    "screen": f"%r.screen = call {F} @screen({F} %a, {F} %b)",
    "overlay": f"%r.overlay = call {F} @hard_light({F} %b, {F} %a)",
    "darken": f"%less = fcmp olt {F} %a, %b\n  %r.darken = select <32 x i1> %less, {F} %a, {F} %b",
    "lighten": f"%more = fcmp ogt {F} %a, %b\n  %r.lighten = select <32 x i1> %more, {F} %a, {F} %b",
    "difference": f"%gap = fsub {F} %a, %b\n  %r.difference = call {F} @llvm.fabs.v32f32({F} %gap)",
    "soft_light": f"%r.soft_light = call {F} @soft_light({F} %a, {F} %b)",
    "hard_light": f"%r.hard_light = call {F} @hard_light({F} %a, {F} %b)",
}


def _mode() -> str:
    names = [m for m in BLENDS if m != "over"]
    cases = "\n".join(f"    i64 {BLENDS.index(m)}, label %{m}" for m in names)
    blocks = "\n".join(f"{m}:\n  {_MODES[m]}\n  br label %done" for m in names)
    values = ", ".join(f"[ %r.{m}, %{m} ]" for m in names)
    return f"""
declare {F} @llvm.fabs.v32f32({F})
declare {F} @llvm.maxnum.v32f32({F}, {F})

define internal {F} @blended({F} %a, {F} %b, i64 %mode) noinline {{
  switch i64 %mode, label %none [
{cases}
  ]
none:
  br label %done
{blocks}
done:
  %r = phi {F} [ %b, %none ], {values}
  %z = call {F} @llvm.maxnum.v32f32({F} %r, {F} zeroinitializer)
  ret {F} %z
}}"""


_WIDE = f"""
declare {W} @llvm.smax.v32i32({W}, {W})
declare {W} @llvm.smin.v32i32({W}, {W})
declare {F} @llvm.floor.v32f32({F})

define internal {W} @multiply_wide({W} %a, {W} %b) alwaysinline {{
  %m = mul {W} %a, %b
  %n = add {W} %m, splat (i32 16384)
  %r = ashr {W} %n, splat (i32 15)
  ret {W} %r
}}

define internal {W} @share_wide({W} %v) alwaysinline {{
  %s = ashr {W} %v, splat (i32 8)
  %r = add {W} %v, %s
  ret {W} %r
}}

define internal {W} @part_wide({W} %v, {W} %k) alwaysinline {{
  %k7 = shl {W} %k, splat (i32 7)
  %m = call {W} @multiply_wide({W} %v, {W} %k7)
  %full = icmp eq {W} %k, splat (i32 256)
  %r = select <32 x i1> %full, {W} %v, {W} %m
  ret {W} %r
}}

define internal {W} @rounded({F} %v) alwaysinline {{
  %h = fadd {F} %v, {_f(0.5)}
  %f = call {F} @llvm.floor.v32f32({F} %h)
  %r = fptosi {F} %f to {W}
  ret {W} %r
}}

define internal {W} @divided({W} %color, {W} %alpha) alwaysinline {{
  %n = mul {W} %color, splat (i32 255)
  %some = call {W} @llvm.smax.v32i32({W} %alpha, {W} splat (i32 1))
  %nf = sitofp {W} %n to {F}
  %df = sitofp {W} %some to {F}
  %q = fdiv {F} %nf, %df
  %r = call {W} @rounded({F} %q)
  ret {W} %r
}}

define internal {W} @mode_color({W} %p, {W} %a, {W} %d, {W} %b, i64 %mode) alwaysinline {{
  %some = call {W} @llvm.smax.v32i32({W} %a, {W} splat (i32 1))
  %pf = sitofp {W} %p to {F}
  %sf = sitofp {W} %some to {F}
  %af = sitofp {W} %a to {F}
  %top = fdiv {F} %pf, %sf
  %df = sitofp {W} %d to {F}
  %base = fmul {F} %df, {_f(1 / 255)}
  %bf = sitofp {W} %b to {F}
  %opacity = fmul {F} %bf, {_f(1 / 255)}
  %mixed = call {F} @blended({F} %base, {F} %top, i64 %mode)
  %gap = fsub {F} %mixed, %top
  %part = fmul {F} %gap, %opacity
  %color = fadd {F} %top, %part
  %times = fmul {F} %color, %af
  %r = call {W} @rounded({F} %times)
  ret {W} %r
}}"""

_MEET = f"""
define internal {_P} @meet({H} %p16, {H} %s16, i1 %straight, {H} %k16, {_P} %d32, i64 %mode) noinline {{
  %p = sext {H} %p16 to {W}
  %k = sext {H} %k16 to {W}
  %d8 = bitcast {_P} %d32 to {B}
  %d = zext {B} %d8 to {W}
  %a = shufflevector {W} %p, {W} poison, <32 x i32> {_ALPHAS}
  %b = shufflevector {W} %d, {W} poison, <32 x i32> {_ALPHAS}
  %over = icmp eq i64 %mode, 0
  br i1 %over, label %plain, label %changed
changed:
  %m0 = call {W} @mode_color({W} %p, {W} %a, {W} %d, {W} %b, i64 %mode)
  %m = select <32 x i1> {_IS_ALPHA}, {W} %p, {W} %m0
  br label %plain
plain:
  %c = phi {W} [ %p, %0 ], [ %m, %changed ]
  %ck = call {W} @part_wide({W} %c, {W} %k)
  %ak = shufflevector {W} %ck, {W} poison, <32 x i32> {_ALPHAS}
  %inv = sub {W} splat (i32 32640), %ak
  %keep = call {W} @share_wide({W} %inv)
  %d7 = shl {W} %d, splat (i32 7)
  %b7 = shl {W} %b, splat (i32 7)
  %kept = call {W} @multiply_wide({W} %d7, {W} %keep)
  %o0 = add {W} %ck, %kept
  %o1 = add {W} %o0, splat (i32 64)
  %opaque = ashr {W} %o1, splat (i32 7)
  %bs = call {W} @share_wide({W} %b7)
  %db = call {W} @multiply_wide({W} %d7, {W} %bs)
  %own = call {W} @multiply_wide({W} %db, {W} %keep)
  %rest = call {W} @multiply_wide({W} %b7, {W} %keep)
  %alpha = add {W} %ak, %rest
  %both = add {W} %ck, %own
  %mixed = call {W} @divided({W} %both, {W} %alpha)
  %e0 = call {W} @divided({W} %p, {W} %a)
  %s = sext {H} %s16 to {W}
  %empty = select i1 %straight, {W} %s, {W} %e0
  %is.opaque = icmp eq {W} %b, splat (i32 255)
  %is.empty = icmp eq {W} %b, zeroinitializer
  %c1 = select <32 x i1> %is.empty, {W} %empty, {W} %mixed
  %c2 = select <32 x i1> %is.opaque, {W} %opaque, {W} %c1
  %l0 = add {W} %alpha, splat (i32 64)
  %l1 = ashr {W} %l0, splat (i32 7)
  %l2 = select <32 x i1> %is.opaque, {W} splat (i32 255), {W} %l1
  %c3 = select <32 x i1> {_IS_ALPHA}, {W} %l2, {W} %c2
  %low = call {W} @llvm.smax.v32i32({W} %c3, {W} zeroinitializer)
  %in = call {W} @llvm.smin.v32i32({W} %low, {W} splat (i32 255))
  %nothing = icmp eq {W} %ak, zeroinitializer
  %r32 = select <32 x i1> %nothing, {W} %d, {W} %in
  %r8 = trunc {W} %r32 to {B}
  %r = bitcast {B} %r8 to {_P}
  ret {_P} %r
}}"""

_QUICK = f"""
define internal {_P} @over_opaque({H} %p, {H} %k, {_P} %d32) alwaysinline {{
  %k7 = shl {H} %k, splat (i16 7)
  %m = call {H} @multiply({H} %p, {H} %k7)
  %full = icmp eq {H} %k, splat (i16 256)
  %ck = select <32 x i1> %full, {H} %p, {H} %m
  %ak = shufflevector {H} %ck, {H} poison, <32 x i32> {_ALPHAS}
  %inv = sub {H} splat (i16 32640), %ak
  %inv8 = lshr {H} %inv, splat (i16 8)
  %keep = add {H} %inv, %inv8
  %d8 = bitcast {_P} %d32 to {B}
  %d = zext {B} %d8 to {H}
  %d7 = shl {H} %d, splat (i16 7)
  %kept = call {H} @multiply({H} %d7, {H} %keep)
  %o0 = add {H} %ck, %kept
  %o1 = add {H} %o0, splat (i16 64)
  %o2 = lshr {H} %o1, splat (i16 7)
  %r8 = trunc {H} %o2 to {B}
  %r = bitcast {B} %r8 to {_P}
  ret {_P} %r
}}

declare i1 @llvm.vector.reduce.and.v8i1(<8 x i1>)
declare i64 @llvm.vector.reduce.or.v8i64(<8 x i64>)

define internal {_P} @blend8({H} %p, {H} %s, i1 %straight, {H} %k, {_P} %d, i64 %mode) alwaysinline {{
  %full = icmp uge {_P} %d, splat (i32 -16777216)
  %all = call i1 @llvm.vector.reduce.and.v8i1(<8 x i1> %full)
  %over = icmp eq i64 %mode, 0
  %quick = and i1 %all, %over
  br i1 %quick, label %fast, label %slow
fast:
  %x = call {_P} @over_opaque({H} %p, {H} %k, {_P} %d)
  ret {_P} %x
slow:
  %y = call {_P} @meet({H} %p, {H} %s, i1 %straight, {H} %k, {_P} %d, i64 %mode)
  ret {_P} %y
}}"""

# how eight pixels of a source are read from %src + %i pixels: %p and, where they are known, levels in %s
_SOURCES = {
    "sampled": f"""
  %src8 = shl i64 %i, 3
  %s.at = add i64 %src, %src8
  %n.at = add i64 %s.at, 8
  %sp = inttoptr i64 %s.at to ptr
  %np = inttoptr i64 %n.at to ptr
  %v0 = load {H}, ptr %sp, align 2
  %v1 = load {H}, ptr %np, align 2
  %gap = sub {H} %v1, %v0
  %gf = call {H} @multiply({H} %gap, {H} %fs)
  %p = add {H} %v0, %gf
  %s = add {H} zeroinitializer, zeroinitializer""",
    "straight": f"""
  %src4 = shl i64 %i, 2
  %s.at = add i64 %src, %src4
  %sp = inttoptr i64 %s.at to ptr
  %s32 = call {_P} @llvm.masked.load.v8i32.p0(ptr %sp, i32 1, <8 x i1> %inside, {_P} zeroinitializer)
  %s8 = bitcast {_P} %s32 to {B}
  %s = zext {B} %s8 to {H}
  %c7 = shl {H} %s, splat (i16 7)
  %a7 = shufflevector {H} %c7, {H} poison, <32 x i32> {_ALPHAS}
  %a8 = lshr {H} %a7, splat (i16 8)
  %as = add {H} %a7, %a8
  %pm = call {H} @multiply({H} %c7, {H} %as)
  %p = select <32 x i1> {_IS_ALPHA}, {H} %c7, {H} %pm""",
    "opaque": f"""
  %src4 = shl i64 %i, 2
  %s.at = add i64 %src, %src4
  %sp = inttoptr i64 %s.at to ptr
  %s32 = call {_P} @llvm.masked.load.v8i32.p0(ptr %sp, i32 1, <8 x i1> %inside, {_P} zeroinitializer)
  %s8 = bitcast {_P} %s32 to {B}
  %s = zext {B} %s8 to {H}
  %c7 = shl {H} %s, splat (i16 7)
  %p = select <32 x i1> {_IS_ALPHA}, {H} splat (i16 32640), {H} %c7""",
}
_COVERS = {
    "blend": "  %k = add {H} %ks, zeroinitializer",
    "cover": """  %k2 = shl i64 %i, 1
  %k.at = add i64 %k0, %k2
  %kp = inttoptr i64 %k.at to ptr
  %k8 = load <8 x i16>, ptr %kp, align 2
  %k = shufflevector <8 x i16> %k8, <8 x i16> poison, <32 x i32> {SPREAD}""",
}


def _blend(cover: str, source: str) -> str:
    name = f"{cover}_{source}"
    shown = _COVERS[cover].format(H=H, SPREAD=_SPREAD)
    body = f"""{_SOURCES[source].strip(chr(10))}
{shown}
  %p64 = bitcast {H} %p to <8 x i64>
  %any = call i64 @llvm.vector.reduce.or.v8i64(<8 x i64> %p64)
  %seen = icmp ne i64 %any, 0"""
    straight = "false" if source == "sampled" else "true"
    return f"""
{multiply()}
{_SCREEN}
{_HARD}
{_SOFT}
{_mode()}
{_WIDE}
{_MEET}
{_QUICK}

declare {_P} @llvm.masked.load.v8i32.p0(ptr, i32, <8 x i1>, {_P})
declare void @llvm.masked.store.v8i32.p0({_P}, ptr, i32, <8 x i1>)

define internal i64 @{name}(i64 %to, i64 %count, i64 %src, i64 %f, i64 %k0, i64 %mode) {{
  %f7 = shl i64 %f, 7
{splat16("fs", "%f7")}
{splat16("ks", "%k0")}
  %none = icmp sle i64 %count, 0
  br i1 %none, label %end, label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %on ]
  %left = sub i64 %count, %i
  %limit = call i64 @llvm.smin.i64(i64 %left, i64 8)
  %limit32 = trunc i64 %limit to i32
  %limit1 = insertelement {_P} poison, i32 %limit32, i64 0
  %limits = shufflevector {_P} %limit1, {_P} poison, <8 x i32> zeroinitializer
  %inside = icmp slt {_P} {order(range(8))}, %limits
{body}
  br i1 %seen, label %paint, label %on
paint:
  %i4 = shl i64 %i, 2
  %to.at = add i64 %to, %i4
  %tp = inttoptr i64 %to.at to ptr
  %d = call {_P} @llvm.masked.load.v8i32.p0(ptr %tp, i32 4, <8 x i1> %inside, {_P} splat (i32 -1))
  %r = call {_P} @blend8({H} %p, {H} %s, i1 {straight}, {H} %k, {_P} %d, i64 %mode)
  call void @llvm.masked.store.v8i32.p0({_P} %r, ptr %tp, i32 4, <8 x i1> %inside)
  br label %on
on:
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


# an opaque row that covers all of its pixels: the canvas is not read
_STORE = f"""
declare void @llvm.masked.store.v8i32.p0({_P}, ptr, i32, <8 x i1>)

define internal i64 @store_sampled(i64 %to, i64 %count, i64 %src, i64 %f) {{
  %f7 = shl i64 %f, 7
{splat16("fs", "%f7")}
  %none = icmp sle i64 %count, 0
  br i1 %none, label %end, label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %left = sub i64 %count, %i
  %limit = call i64 @llvm.smin.i64(i64 %left, i64 8)
  %limit32 = trunc i64 %limit to i32
  %limit1 = insertelement {_P} poison, i32 %limit32, i64 0
  %limits = shufflevector {_P} %limit1, {_P} poison, <8 x i32> zeroinitializer
  %inside = icmp slt {_P} {order(range(8))}, %limits
{_SOURCES["sampled"].strip(chr(10))}
  %h = add {H} %p, splat (i16 64)
  %l = lshr {H} %h, splat (i16 7)
  %b = trunc {H} %l to {B}
  %r = bitcast {B} %b to {_P}
  %i4 = shl i64 %i, 2
  %to.at = add i64 %to, %i4
  %tp = inttoptr i64 %to.at to ptr
  call void @llvm.masked.store.v8i32.p0({_P} %r, ptr %tp, i32 4, <8 x i1> %inside)
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""

# so many pixels of one colour
_FILL = """
define internal i64 @fill_pixels(i64 %to, i64 %count, i64 %pixel) {
  %v = trunc i64 %pixel to i32
  %none = icmp sle i64 %count, 0
  br i1 %none, label %end, label %one
one:
  %i = phi i64 [ 0, %0 ], [ %next, %one ]
  %i4 = shl i64 %i, 2
  %at = add i64 %to, %i4
  %p = inttoptr i64 %at to ptr
  store i32 %v, ptr %p, align 4
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %one, label %end
end:
  ret i64 0
}"""

blend_sampled = word("blend_sampled", lambda: _blend("blend", "sampled"))
blend_straight = word("blend_straight", lambda: _blend("blend", "straight"))
blend_opaque = word("blend_opaque", lambda: _blend("blend", "opaque"))
cover_sampled = word("cover_sampled", lambda: _blend("cover", "sampled"))
cover_straight = word("cover_straight", lambda: _blend("cover", "straight"))
cover_opaque = word("cover_opaque", lambda: _blend("cover", "opaque"))
store_sampled = word("store_sampled", lambda: multiply() + "\n" + _STORE)
fill_pixels = word("fill_pixels", lambda: _FILL)
