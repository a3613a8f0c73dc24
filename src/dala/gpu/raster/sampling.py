"""A row of a scaled image, a vector of pixels at a time.

Each pixel lies between four of the source: two of the upper row, two of the lower. Weights are in 1/256 of
the way across and down; a colour counts by its alpha, so what is invisible has no influence:

    A = Σ weight · alpha,   alpha = (A + 32768) div 65536,
    color = (Σ weight · alpha · color + A div 2) div A

Where all are opaque that is (Σ weight · color + 32768) div 65536. Sums stay below 2³², and a quotient of
such numbers in f64 is never rounded across a whole number.
"""

from __future__ import annotations

from dala.gpu.raster.language import Word
from dala.gpu.raster.rows import vector_names
from dala.gpu.raster.words import load_s32, load_u32, store32

_BETWEEN = """
declare {V} @llvm.masked.gather.v{L}i32.v{L}p0(<{L} x ptr>, i32, <{L} x i1>, {V})
declare i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1>)
declare {V} @llvm.umax.v{L}i32({V}, {V})

declare {V} @llvm.umin.v{L}i32({V}, {V})

define internal {V} @gather(ptr %row, {V} %x) alwaysinline {{
  %p = getelementptr i32, ptr %row, {V} %x
  %v = call {V} @llvm.masked.gather.v{L}i32.v{L}p0(
    <{L} x ptr> %p, i32 4, <{L} x i1> splat (i1 true), {V} poison)
  ret {V} %v
}}

; Σ weight · channel, of the four pixels; the channel begins at bit %shift
define internal {V} @weigh({arguments}, {V} %shift) alwaysinline {{
{terms}
  %ab = add {V} %ma, %mb
  %cd = add {V} %mc, %md
  %sum = add {V} %ab, %cd
  ret {V} %sum
}}

define internal {V} @quotient({V} %n, {V} %half, <{L} x double> %divisor) alwaysinline {{
  %nh = add {V} %n, %half
  %f = uitofp {V} %nh to <{L} x double>
  %q = fdiv <{L} x double> %f, %divisor
  %i = fptoui <{L} x double> %q to {V}
  ret {V} %i
}}

define internal {V} @between_opaque({arguments}) alwaysinline {{
{opaque}
  %rg = or {V} %p0, %p8
  %rgb = or {V} %rg, %p16
  %rgba = or {V} %rgb, splat (i32 -16777216)
  ret {V} %rgba
}}

define internal {V} @between_any({arguments}) {{
{alphas}
  %ab = add {V} %xa, %xb
  %cd = add {V} %xc, %xd
  %total = add {V} %ab, %cd
  %half = lshr {V} %total, splat (i32 1)
  %some = call {V} @llvm.umax.v{L}i32({V} %total, {V} splat (i32 1))
  %divisor = uitofp {V} %some to <{L} x double>
{general}
  %round = add {V} %total, splat (i32 32768)
  %alpha = lshr {V} %round, splat (i32 16)
  %alpha24 = shl {V} %alpha, splat (i32 24)
  %rg = or {V} %p0, %p8
  %rgb = or {V} %rg, %p16
  %rgba = or {V} %rgb, %alpha24
  ret {V} %rgba
}}"""

_ROW = """
define internal i64 @sample_row(
    i64 %to, i64 %count, i64 %columns, i64 %upper, i64 %lower, i64 %last, i64 %down) {{
  %above = inttoptr i64 %upper to ptr
  %below = inttoptr i64 %lower to ptr
  %last32 = trunc i64 %last to i32
  %last1 = insertelement {V} poison, i32 %last32, i64 0
  %lasts = shufflevector {V} %last1, {V} poison, <{L} x i32> zeroinitializer
  %down32 = trunc i64 %down to i32
  %down1 = insertelement {V} poison, i32 %down32, i64 0
  %wy = shufflevector {V} %down1, {V} poison, <{L} x i32> zeroinitializer
  %vy = sub {V} splat (i32 256), %wy
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %store ]
  %offset = shl i64 %i, 2
  %from = add i64 %columns, %offset
  %fp = inttoptr i64 %from to ptr
  %f = load {V}, ptr %fp, align 4
  %x = lshr {V} %f, splat (i32 8)
  %x1 = add {V} %x, splat (i32 1)
  %beside = call {V} @llvm.umin.v{L}i32({V} %x1, {V} %lasts)
  %wx = and {V} %f, splat (i32 255)
  %vx = sub {V} splat (i32 256), %wx
  %wa = mul {V} %vx, %vy
  %wb = mul {V} %wx, %vy
  %wc = mul {V} %vx, %wy
  %wd = mul {V} %wx, %wy
  %a = call {V} @gather(ptr %above, {V} %x)
  %b = call {V} @gather(ptr %above, {V} %beside)
  %c = call {V} @gather(ptr %below, {V} %x)
  %d = call {V} @gather(ptr %below, {V} %beside)
  %both = and {V} %a, %b
  %others = and {V} %c, %d
  %every = and {V} %both, %others
  %opaque = icmp uge {V} %every, splat (i32 -16777216)
  %all = call i1 @llvm.vector.reduce.and.v{L}i1(<{L} x i1> %opaque)
  br i1 %all, label %simple, label %general
simple:
  %s = call {V} @between_opaque({values})
  br label %store
general:
  %g = call {V} @between_any({values})
  br label %store
store:
  %r = phi {V} [ %s, %simple ], [ %g, %general ]
  %at = add i64 %to, %offset
  %p = inttoptr i64 %at to ptr
  store {V} %r, ptr %p, align 4
  %next = add i64 %i, {L}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""
_TERM = """
  %s{p} = lshr {V} %{p}, %shift
  %level{p} = and {V} %s{p}, splat (i32 255)
  %m{p} = mul {V} %level{p}, %w{p}"""
_ALPHA = """
  %al{p} = lshr {V} %{p}, splat (i32 24)
  %x{p} = mul {V} %al{p}, %w{p}"""
_WEIGHED = "call {V} @weigh({V} %a, {V} %b, {V} %c, {V} %d, {weights}, {V} splat (i32 {c}))"
_OPAQUE = """
  %sum{c} = {weighed}
  %round{c} = add {V} %sum{c}, splat (i32 32768)
  %q{c} = lshr {V} %round{c}, splat (i32 16)
  %p{c} = shl {V} %q{c}, splat (i32 {c})"""
_ANY = """
  %sum{c} = {weighed}
  %q{c} = call {V} @quotient({V} %sum{c}, {V} %half, <{L} x double> %divisor)
  %p{c} = shl {V} %q{c}, splat (i32 {c})"""


def between_text() -> str:
    """``@between_opaque`` and ``@between_any`` on vectors of four pixels and their weights."""
    v = vector_names()
    arguments = _arguments()

    def channels(template: str, letter: str) -> str:
        weights = ", ".join(f"{v['V']} %{letter}{p}" for p in "abcd")
        weighed = [_WEIGHED.format(weights=weights, c=c, **v) for c in (0, 8, 16)]
        return "".join(
            template.format(weighed=w, c=c, **v) for c, w in zip((0, 8, 16), weighed, strict=True)
        )

    return _BETWEEN.format(
        terms="".join(_TERM.format(p=p, **v) for p in "abcd"),
        alphas="".join(_ALPHA.format(p=p, **v) for p in "abcd"),
        opaque=channels(_OPAQUE, "w"),
        general=channels(_ANY, "x"),
        arguments=arguments,
        **v,
    )


def _arguments() -> str:
    names = ("a", "b", "c", "d", "wa", "wb", "wc", "wd")
    return ", ".join(f"{vector_names()['V']} %{name}" for name in names)


def _spell() -> str:
    row = _ROW.format(values=_arguments(), **vector_names())
    return f"{between_text()}\n\n{row}"


def between(a: int, b: int, c: int, d: int, across: int, down: int) -> int:
    """The pixel between four, by the rule above."""
    weights = [
        (256 - across) * (256 - down),
        across * (256 - down),
        (256 - across) * down,
        across * down,
    ]
    counted = [(p, w * (p >> 24)) for p, w in zip((a, b, c, d), weights, strict=True)]
    total = sum(w for _, w in counted)
    result = (total + 32768) // 65536 << 24
    for bit in (0, 8, 16):
        part = sum((p >> bit & 255) * w for p, w in counted) + total // 2
        result |= part // max(total, 1) << bit
    return result


def _sample_row(
    to: int, count: int, columns: int, upper: int, lower: int, last: int, down: int
) -> int:
    for i in range(count):
        f = load_s32(columns + i * 4)
        x, beside = (f >> 8) * 4, min((f >> 8) + 1, last) * 4
        a, b = load_u32(upper + x), load_u32(upper + beside)
        c, d = load_u32(lower + x), load_u32(lower + beside)
        store32(to + i * 4, between(a, b, c, d, f & 255, down))
    return 0


# Pixels into a row, from where 32-bit numbers in ``columns`` say, in 1/256 pixel. Both are read and
# written in whole vectors: columns behind the count have to be columns of the image too.
sample_row = Word("sample_row", _spell, _sample_row)
