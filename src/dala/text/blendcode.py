"""Machine code that lays tiles of coverage or of colours over rows of pixels.

    draw_1, draw_3, draw_4  (pixels, stride, width, height, commands, count, dx, dy)

A command is eight numbers (``COMMAND``). A row is done in blocks of 16 pixels and then 8, 4, 2, 1: no byte
beside the tile is read or written, so other threads may draw beside it. Blending is straight alpha, rounded
to nearest: exact wherever the picture is opaque, and by one division where it is not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable

from dala.backends.cpu.llvm.jit import Module
from dala.once import OnceByKey

COMMAND = ("address", "pitch", "x", "y", "width", "height", "color", "kind")
COVERAGE, COLORS = 0, 1  # kinds
BLOCKS = (16, 8, 4, 2, 1)


_compiled: OnceByKey[int, Callable[..., None]] = OnceByKey(3)


def blend_function(channels: int) -> Callable[..., None]:
    """The function for pictures of 1, 3 or 4 channels, compiled when first asked for."""

    def compile_() -> Callable[..., None]:
        module = Module(blend_text(channels), optimise=True)
        return module.function(f"draw_{channels}", None, *[ctypes.c_int64] * 8)

    return _compiled.get(channels, compile_)


def blend_text(channels: int) -> str:
    """All of it as LLVM text."""
    text = "declare i64 @llvm.smax.i64(i64, i64)\ndeclare i64 @llvm.smin.i64(i64, i64)\n"
    text += "".join(f"declare i8 @llvm.vector.reduce.and.v{n}i8(<{n} x i8>)\n" for n in BLOCKS)
    text += _slow_pixel()
    for kind in (COVERAGE, COLORS):
        text += "".join(_block(n, channels, kind) for n in BLOCKS) + _row(channels, kind)
    return text + _draw(channels)


def _mask(places: Iterable[int]) -> str:
    return ", ".join(f"i32 {place}" for place in places)


def _divide_by_255(name: str, value: str, kind: str) -> str:
    """Rounded to nearest, for products of two bytes."""
    return f"""
  {name}.h = add {kind} {value}, splat (i16 128)
  {name}.s = lshr {kind} {name}.h, splat (i16 8)
  {name}.t = add {kind} {name}.h, {name}.s
  {name} = lshr {kind} {name}.t, splat (i16 8)"""


def _block(n: int, channels: int, kind: int) -> str:
    """``n`` pixels: the source's alpha and colour, then over what is there."""
    lanes, per = n * channels, 1 if kind == COVERAGE else 4
    vector, wide = f"<{n} x i16>", f"<{lanes} x i16>"
    spread = _mask(p for p in range(n) for _ in range(channels))
    text = f"""
define internal void @block_{channels}_{kind}_{n}(
    ptr %t, ptr %d, <4 x i16> %color, i16 %alpha) alwaysinline {{
  %src = load <{n * per} x i8>, ptr %t, align 1"""
    if kind == COVERAGE:
        text += f"\n  %cov = or <{n} x i8> %src, zeroinitializer"
    else:
        mask = _mask(4 * p + 3 for p in range(n))
        text += f"\n  %cov = shufflevector <{4 * n} x i8> %src, <{4 * n} x i8> poison, <{n} x i32> <{mask}>"
    text += f"""
  %bits = bitcast <{n} x i8> %cov to i{8 * n}
  %any = icmp ne i{8 * n} %bits, 0
  br i1 %any, label %work, label %end
work:
  %cov16 = zext <{n} x i8> %cov to {vector}
  %one.i = insertelement {vector} poison, i16 %alpha, i32 0
  %one = shufflevector {vector} %one.i, {vector} poison, <{n} x i32> zeroinitializer
  %prod = mul {vector} %cov16, %one{_divide_by_255("%a", "%prod", vector)}
  %aw = shufflevector {vector} %a, {vector} poison, <{lanes} x i32> <{spread}>
{_source_colors(n, channels, kind)}
  %dst = load <{lanes} x i8>, ptr %d, align 1"""
    if channels == 4:
        alphas = _mask(4 * p + 3 for p in range(n))
        text += f"""
  %da = shufflevector <{lanes} x i8> %dst, <{lanes} x i8> poison, <{n} x i32> <{alphas}>
  %all = call i8 @llvm.vector.reduce.and.v{n}i8(<{n} x i8> %da)
  %opaque = icmp eq i8 %all, -1
  br i1 %opaque, label %fast, label %slow
slow:{_slow_calls(n)}
  br label %end
fast:"""
    return (
        text
        + f"""
  %dw = zext <{lanes} x i8> %dst to {wide}
  %inv = sub {wide} splat (i16 255), %aw
  %x = mul {wide} %dw, %inv
  %y = mul {wide} %col, %aw
  %sum = add {wide} %x, %y{_divide_by_255("%q", "%sum", wide)}
  %out = trunc {wide} %q to <{lanes} x i8>
  store <{lanes} x i8> %out, ptr %d, align 1
  br label %end
end:
  ret void
}}
"""
    )


def _source_colors(n: int, channels: int, kind: int) -> str:
    """The colour of each lane; an opaque picture stays so, and a grey one takes the first channel."""
    lanes, wide = n * channels, f"<{n * channels} x i16>"
    if kind == COVERAGE:
        mask = _mask(c for _ in range(n) for c in range(channels))
        return (
            f"  %col = shufflevector <4 x i16> %color, <4 x i16> poison, <{lanes} x i32> <{mask}>"
        )
    count = 4 * n  # in a shuffle, from here on: an element of the second vector, which is all ones
    mask = _mask(4 * p + c if c < 3 else count for p in range(n) for c in range(channels))
    vector = f"<{count} x i8>"
    return f"""  %col8 = shufflevector {vector} %src, {vector} splat (i8 -1), <{lanes} x i32> <{mask}>
  %col = zext <{lanes} x i8> %col8 to {wide}"""


def _slow_calls(n: int) -> str:
    text = ""
    for p in range(n):
        text += f"""
  %sa{p} = extractelement <{n} x i16> %a, i32 {p}
  %sd{p} = getelementptr i8, ptr %d, i64 {4 * p}"""
        colors = []
        for c in range(3):
            text += f"\n  %sc{p}.{c} = extractelement <{4 * n} x i16> %col, i32 {4 * p + c}"
            colors.append(f"i16 %sc{p}.{c}")
        text += f"\n  call void @over(ptr %sd{p}, i16 %sa{p}, {', '.join(colors)})"
    return text


def _slow_pixel() -> str:
    """A colour over a pixel that is not opaque: straight alpha, with 255² as one."""
    text = """
define internal void @over(ptr %d, i16 %a16, i16 %c0, i16 %c1, i16 %c2) noinline {
  %a = zext i16 %a16 to i32
  %pa = getelementptr i8, ptr %d, i64 3
  %da8 = load i8, ptr %pa, align 1
  %da = zext i8 %da8 to i32
  %inv = sub i32 255, %a
  %under = mul i32 %da, %inv
  %above = mul i32 %a, 255
  %total = add i32 %above, %under
  %some = icmp ne i32 %total, 0
  br i1 %some, label %work, label %end
work:
  %half = lshr i32 %total, 1"""
    for c in range(3):
        text += f"""
  %s{c} = zext i16 %c{c} to i32
  %p{c} = getelementptr i8, ptr %d, i64 {c}
  %d{c}.8 = load i8, ptr %p{c}, align 1
  %d{c} = zext i8 %d{c}.8 to i32
  %x{c} = mul i32 %s{c}, %above
  %y{c} = mul i32 %d{c}, %under
  %z{c} = add i32 %x{c}, %y{c}
  %r{c} = add i32 %z{c}, %half
  %q{c} = udiv i32 %r{c}, %total
  %o{c} = trunc i32 %q{c} to i8
  store i8 %o{c}, ptr %p{c}, align 1"""
    return (
        text
        + """
  %ra = add i32 %total, 127
  %qa = udiv i32 %ra, 255
  %oa = trunc i32 %qa to i8
  store i8 %oa, ptr %pa, align 1
  br label %end
end:
  ret void
}
"""
    )


def _row(channels: int, kind: int) -> str:
    """``n`` pixels of a row: whole blocks, then the bits of what is left."""
    per = 1 if kind == COVERAGE else 4
    text = f"""
define internal void @row_{channels}_{kind}(ptr %t, ptr %d, i64 %n, <4 x i16> %color, i16 %alpha) {{
entry:
  %blocks = and i64 %n, -16
  %some = icmp ne i64 %blocks, 0
  br i1 %some, label %loop, label %rest16
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ti = mul i64 %i, {per}
  %di = mul i64 %i, {channels}
  %tp = getelementptr i8, ptr %t, i64 %ti
  %dp = getelementptr i8, ptr %d, i64 %di
  call void @block_{channels}_{kind}_16(ptr %tp, ptr %dp, <4 x i16> %color, i16 %alpha)
  %next = add i64 %i, 16
  %more = icmp ult i64 %next, %blocks
  br i1 %more, label %loop, label %rest16
rest16:"""
    for n in BLOCKS[1:]:
        text += f"""
  %has{n} = and i64 %n, {n}
  %do{n} = icmp ne i64 %has{n}, 0
  br i1 %do{n}, label %part{n}, label %rest{n}
part{n}:
  %at{n} = and i64 %n, {-2 * n}
  %ti{n} = mul i64 %at{n}, {per}
  %di{n} = mul i64 %at{n}, {channels}
  %tp{n} = getelementptr i8, ptr %t, i64 %ti{n}
  %dp{n} = getelementptr i8, ptr %d, i64 %di{n}
  call void @block_{channels}_{kind}_{n}(ptr %tp{n}, ptr %dp{n}, <4 x i16> %color, i16 %alpha)
  br label %rest{n}
rest{n}:"""
    return text + "\n  ret void\n}\n"


def _draw(channels: int) -> str:
    """All commands, clipped to the picture."""
    loads = ""
    for place, name in enumerate(COMMAND):
        loads += f"""
  %{name}.p = getelementptr i64, ptr %command, i64 {place}
  %{name} = load i64, ptr %{name}.p, align 8"""
    parts = ""
    for c in range(4):
        parts += f"""
  %part{c}.s = lshr i64 %color, {8 * c}
  %part{c}.t = trunc i64 %part{c}.s to i16
  %part{c} = and i16 %part{c}.t, 255"""
    return f"""
define void @draw_{channels}(
    i64 %pixels, i64 %stride, i64 %w, i64 %h, i64 %commands, i64 %count, i64 %dx, i64 %dy) {{
entry:
  %list = inttoptr i64 %commands to ptr
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %end
loop:
  %n = phi i64 [ 0, %entry ], [ %n.next, %done ]
  %place = mul i64 %n, {len(COMMAND)}
  %command = getelementptr i64, ptr %list, i64 %place{loads}
  %left = add i64 %x, %dx
  %top = add i64 %y, %dy
  %right = add i64 %left, %width
  %bottom = add i64 %top, %height
  %x0 = call i64 @llvm.smax.i64(i64 %left, i64 0)
  %y0 = call i64 @llvm.smax.i64(i64 %top, i64 0)
  %x1 = call i64 @llvm.smin.i64(i64 %right, i64 %w)
  %y1 = call i64 @llvm.smin.i64(i64 %bottom, i64 %h)
  %across = sub i64 %x1, %x0
  %seen.x = icmp sgt i64 %across, 0
  %seen.y = icmp sgt i64 %y1, %y0
  %seen = and i1 %seen.x, %seen.y
  br i1 %seen, label %begin, label %done
begin:{parts}
  %c0 = insertelement <4 x i16> poison, i16 %part0, i32 0
  %c1 = insertelement <4 x i16> %c0, i16 %part1, i32 1
  %c2 = insertelement <4 x i16> %c1, i16 %part2, i32 2
  %c3 = insertelement <4 x i16> %c2, i16 255, i32 3
  %skip.x = sub i64 %x0, %left
  %skip.y = sub i64 %y0, %top
  %t.row = mul i64 %skip.y, %pitch
  %is.color = icmp ne i64 %kind, 0
  %per = select i1 %is.color, i64 4, i64 1
  %t.x = mul i64 %skip.x, %per
  %t.at = add i64 %t.row, %t.x
  %t.first = add i64 %address, %t.at
  %d.row = mul i64 %y0, %stride
  %d.x = mul i64 %x0, {channels}
  %d.at = add i64 %d.row, %d.x
  %d.first = add i64 %pixels, %d.at
  br label %rows
rows:
  %r = phi i64 [ %y0, %begin ], [ %r.next, %row.done ]
  %t.now = phi i64 [ %t.first, %begin ], [ %t.next, %row.done ]
  %d.now = phi i64 [ %d.first, %begin ], [ %d.next, %row.done ]
  %t = inttoptr i64 %t.now to ptr
  %d = inttoptr i64 %d.now to ptr
  br i1 %is.color, label %colors, label %coverage
coverage:
  call void @row_{channels}_{COVERAGE}(ptr %t, ptr %d, i64 %across, <4 x i16> %c3, i16 %part3)
  br label %row.done
colors:
  call void @row_{channels}_{COLORS}(ptr %t, ptr %d, i64 %across, <4 x i16> %c3, i16 %part3)
  br label %row.done
row.done:
  %r.next = add i64 %r, 1
  %t.next = add i64 %t.now, %pitch
  %d.next = add i64 %d.now, %stride
  %r.more = icmp slt i64 %r.next, %y1
  br i1 %r.more, label %rows, label %done
done:
  %n.next = add i64 %n, 1
  %n.more = icmp slt i64 %n.next, %count
  br i1 %n.more, label %loop, label %end
end:
  ret void
}}
"""
