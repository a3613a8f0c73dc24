"""Pixels of a layer that is rotated or sheared: each reads its four neighbours wherever they are.

Words of the rasteriser's language. ``plane`` is a record (layout.py); u and v are the position of the first
pixel in units of 2⁻³².
"""

from __future__ import annotations

from dala.scene.paint.cpu.lanes import B, H, multiply, order, word
from dala.scene.paint.cpu.layout import COLUMNS, HEIGHT, PIXELS, ROWS, STRIDE, WIDTH

_V, _I = "<8 x i64>", "<8 x i32>"
_SPREAD = order(n // 4 for n in range(32))


def _splat(name: str, value: str) -> str:
    return f"""  %{name}.1 = insertelement {_V} poison, i64 {value}, i64 0
  %{name} = shufflevector {_V} %{name}.1, {_V} poison, <8 x i32> zeroinitializer"""


def _field(name: str, offset: int) -> str:
    return f"""  %{name}.a = add i64 %plane, {offset}
  %{name}.p = inttoptr i64 %{name}.a to ptr
  %{name}.v = load i64, ptr %{name}.p, align 8"""


def _axis(at: str, low: str, high: str, most: str, f: str) -> str:
    """Two neighbours and the fraction between them."""
    return f"""  %{low}.w = ashr {_V} %{at}, splat (i64 32)
  %{high}.w = add {_V} %{low}.w, splat (i64 1)
  %{low}.c = call {_V} @llvm.smax.v8i64({_V} %{low}.w, {_V} zeroinitializer)
  %{high}.c = call {_V} @llvm.smax.v8i64({_V} %{high}.w, {_V} zeroinitializer)
  %{low} = call {_V} @llvm.smin.v8i64({_V} %{low}.c, {_V} %{most})
  %{high} = call {_V} @llvm.smin.v8i64({_V} %{high}.c, {_V} %{most})
  %{f}.s = lshr {_V} %{at}, splat (i64 24)
  %{f} = and {_V} %{f}.s, splat (i64 255)"""


_BEGIN = "\n".join(
    [
        _field("base", PIXELS), _field("stride", STRIDE), _field("width", WIDTH),
        _field("height", HEIGHT), _field("du", COLUMNS), _field("dv", ROWS),
        "  %base = inttoptr i64 %base.v to ptr",
        "  %right = sub i64 %width.v, 1", "  %bottom = sub i64 %height.v, 1",
        _splat("strides", "%stride.v"), _splat("rights", "%right"), _splat("bottoms", "%bottom"),
        _splat("us", "%u"), _splat("vs", "%v"), _splat("dus", "%du.v"), _splat("dvs", "%dv.v"),
        f"  %lu = mul {_V} %dus, <{', '.join(f'i64 {n}' for n in range(8))}>",
        f"  %lv = mul {_V} %dvs, <{', '.join(f'i64 {n}' for n in range(8))}>",
        f"  %u0 = add {_V} %us, %lu", f"  %v0 = add {_V} %vs, %lv",
        f"  %su = shl {_V} %dus, splat (i64 3)", f"  %sv = shl {_V} %dvs, splat (i64 3)",
    ]
)  # fmt: skip
_NEIGHBOURS = "\n".join(
    [
        _axis("ui", "x0", "x1", "rights", "f"), _axis("vi", "y0", "y1", "bottoms", "g"),
        f"  %r0 = mul {_V} %y0, %strides", f"  %r1 = mul {_V} %y1, %strides",
    ]
)  # fmt: skip
_EXTREMES = f"""
declare {_V} @llvm.smax.v8i64({_V}, {_V})
declare {_V} @llvm.smin.v8i64({_V}, {_V})
declare {_I} @llvm.masked.gather.v8i32.v8p0(<8 x ptr>, i32, <8 x i1>, {_I})"""


def _tap(name: str, row: str, column: str) -> str:
    return f"""  %{name}.o = add {_V} %{row}, %{column}
  %{name}.p = getelementptr i8, ptr %base, {_V} %{name}.o
  %{name}.g = call {_I} @llvm.masked.gather.v8i32.v8p0(
      <8 x ptr> %{name}.p, i32 1, <8 x i1> splat (i1 true), {_I} poison)
  %{name}.b = bitcast {_I} %{name}.g to {B}
  %{name} = zext {B} %{name}.b to {H}"""


def _down(to: str, a: str, b: str) -> str:
    return f"""  %{to}.d = sub {H} %{b}, %{a}
  %{to}.m = mul {H} %{to}.d, %gs
  %{to}.s = shl {H} %{a}, splat (i16 8)
  %{to}.r = add {H} %{to}.s, %{to}.m
  %{to} = lshr {H} %{to}.r, splat (i16 1)"""


def _sample_pixels() -> str:
    taps = "\n".join(_tap(f"p{y}{x}", f"r{y}", f"c{x}") for y in range(2) for x in range(2))
    return f"""
{multiply()}
{_EXTREMES}

define internal i64 @sample_pixels(i64 %to, i64 %count, i64 %plane, i64 %u, i64 %v) {{
{_BEGIN}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %ui = phi {_V} [ %u0, %0 ], [ %u.next, %vector ]
  %vi = phi {_V} [ %v0, %0 ], [ %v.next, %vector ]
{_NEIGHBOURS}
  %c0 = shl {_V} %x0, splat (i64 2)
  %c1 = shl {_V} %x1, splat (i64 2)
{taps}
  %g8 = trunc {_V} %g to <8 x i16>
  %gs = shufflevector <8 x i16> %g8, <8 x i16> poison, <32 x i32> {_SPREAD}
  %f8 = trunc {_V} %f to <8 x i16>
  %f7 = shl <8 x i16> %f8, splat (i16 7)
  %fs = shufflevector <8 x i16> %f7, <8 x i16> poison, <32 x i32> {_SPREAD}
{_down("t0", "p00", "p10")}
{_down("t1", "p01", "p11")}
  %gap = sub {H} %t1, %t0
  %m = call {H} @multiply({H} %gap, {H} %fs)
  %r = add {H} %t0, %m
  %i8 = shl i64 %i, 3
  %to.at = add i64 %to, %i8
  %tp = inttoptr i64 %to.at to ptr
  store {H} %r, ptr %tp, align 2
  %u.next = add {_V} %ui, %su
  %v.next = add {_V} %vi, %sv
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


def _value(name: str, row: str, column: str) -> str:
    """A byte, read with three more: near the plane's end those before it."""
    return f"""  %{name}.o = add {_V} %{row}, %{column}
  %{name}.n = call {_V} @llvm.smin.v8i64({_V} %{name}.o, {_V} %lasts)
  %{name}.p = getelementptr i8, ptr %base, {_V} %{name}.n
  %{name}.g = call {_I} @llvm.masked.gather.v8i32.v8p0(
      <8 x ptr> %{name}.p, i32 1, <8 x i1> splat (i1 true), {_I} poison)
  %{name}.d = sub {_V} %{name}.o, %{name}.n
  %{name}.e = shl {_V} %{name}.d, splat (i64 3)
  %{name}.s = trunc {_V} %{name}.e to {_I}
  %{name}.h = lshr {_I} %{name}.g, %{name}.s
  %{name} = and {_I} %{name}.h, splat (i32 255)"""


def _between(to: str, a: str, b: str) -> str:
    return f"""  %{to}.d = sub {_I} %{b}, %{a}
  %{to}.m = mul {_I} %{to}.d, %g8
  %{to}.s = shl {_I} %{a}, splat (i32 8)
  %{to}.r = add {_I} %{to}.s, %{to}.m
  %{to} = lshr {_I} %{to}.r, splat (i32 1)"""


def _sample_values() -> str:
    taps = "\n".join(_value(f"p{y}{x}", f"r{y}", f"x{x}") for y in range(2) for x in range(2))
    return f"""
{_EXTREMES}

define internal i64 @sample_values(i64 %to, i64 %count, i64 %plane, i64 %u, i64 %v) {{
{_BEGIN}
  %down = mul i64 %bottom, %stride.v
  %size = add i64 %down, %width.v
  %last = sub i64 %size, 4
{_splat("lasts", "%last")}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %ui = phi {_V} [ %u0, %0 ], [ %u.next, %vector ]
  %vi = phi {_V} [ %v0, %0 ], [ %v.next, %vector ]
{_NEIGHBOURS}
{taps}
  %g8 = trunc {_V} %g to {_I}
  %f8 = trunc {_V} %f to {_I}
{_between("t0", "p00", "p10")}
{_between("t1", "p01", "p11")}
  %gap = sub {_I} %t1, %t0
  %m = mul {_I} %gap, %f8
  %h = add {_I} %m, splat (i32 128)
  %s = ashr {_I} %h, splat (i32 8)
  %r32 = add {_I} %t0, %s
  %r = trunc {_I} %r32 to <8 x i16>
  %i2 = shl i64 %i, 1
  %to.at = add i64 %to, %i2
  %tp = inttoptr i64 %to.at to ptr
  store <8 x i16> %r, ptr %tp, align 2
  %u.next = add {_V} %ui, %su
  %v.next = add {_V} %vi, %sv
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


sample_pixels = word("sample_pixels", _sample_pixels)
sample_values = word("sample_values", _sample_values)
