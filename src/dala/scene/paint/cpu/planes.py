"""A band of pixels as rows of Y, U and V; planes of a video that is seen as it is are copied.

Functions and words of the rasteriser's language; ``planar.py`` says what they mean.
"""

from __future__ import annotations

from dala.gpu.raster.words import copy_bytes, load64, store64
from dala.scene.paint.cpu.lanes import H, multiply, order, splat16, word
from dala.scene.paint.cpu.layout import (
    BASE,
    BOTTOM,
    BOX_RIGHT,
    CANVAS_STRIDE,
    COLUMNS,
    COPIED,
    FIRST_PLANE,
    LAYER_BYTES,
    LAYERS,
    LEFT,
    OUT_BLACK,
    OUT_C_STRIDE,
    OUT_U,
    OUT_V,
    OUT_Y,
    OUT_Y_STRIDE,
    PIXELS,
    PLANE_BYTES,
    RANGE_LEFT,
    RANGE_RIGHT,
    RIGHT,
    ROWS,
    STRIDE,
    TABLE,
    TOP,
)

_PIXELS = "<32 x i32>"
_EVEN, _ODD = order(range(0, 64, 2)), order(range(1, 64, 2))
_CHANNELS = (("r", 0), ("g", 8), ("b", 16))


def _factors(first: int, names: str) -> str:
    """Factors from the run's words, in all lanes."""
    return "\n".join(
        f"""  %{name}.at = getelementptr i64, ptr %factors.p, i64 {first + i}
  %{name}.64 = load i64, ptr %{name}.at, align 8
{splat16(name, f"%{name}.64")}"""
        for i, name in enumerate(names.split())
    )


def _split(row: str) -> str:
    """Red, green and blue of 32 pixels as 16-bit lanes."""
    return "\n".join(
        f"""  %{row}{c}.s = lshr {_PIXELS} %{row}, splat (i32 {bits})
  %{row}{c}.b = and {_PIXELS} %{row}{c}.s, splat (i32 255)
  %{row}{c} = trunc {_PIXELS} %{row}{c}.b to {H}"""
        for c, bits in _CHANNELS
    )


def _weighed(to: str, colors: str, factors: str, offset: str) -> str:
    parts = [
        f"  %{to}.{c} = call {H} @multiply({H} %{colors}{c}, {H} %{factors}{c})" for c in "rgb"
    ]
    return "\n".join([
        *parts,
        f"  %{to}.rg = add {H} %{to}.r, %{to}.g",
        f"  %{to}.sum = add {H} %{to}.rg, %{to}.b",
        f"  %{to}.on = add {H} %{to}.sum, {offset}",
        f"  %{to}.half = add {H} %{to}.on, splat (i16 64)",
        f"  %{to}.level = lshr {H} %{to}.half, splat (i16 7)",
        f"  %{to}.most = call {H} @llvm.umin.v32i16({H} %{to}.level, {H} splat (i16 255))",
        f"  %{to} = trunc {H} %{to}.most to <32 x i8>",
    ])  # fmt: skip


def _store(name: str, at: str) -> str:
    """32 bytes, or as many as there are left."""
    return f"""  %{name}.out = inttoptr i64 {at} to ptr
  store <32 x i8> %{name}, ptr %rest, align 32
  call void @llvm.memcpy.p0.p0.i64(ptr %{name}.out, ptr %rest, i64 %left, i1 false)"""


_DECLARED = f"""
declare {H} @llvm.umin.v32i16({H}, {H})
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""


def _luma_row() -> str:
    return f"""
{multiply()}
{_DECLARED}

define internal i64 @luma_row(i64 %to, i64 %pixels, i64 %count, i64 %factors) {{
  %rest = alloca <32 x i8>, align 32
  %factors.p = inttoptr i64 %factors to ptr
{_factors(0, "black yr yg yb")}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %on ]
  %i4 = shl i64 %i, 2
  %at = add i64 %pixels, %i4
  %p = inttoptr i64 %at to ptr
  %a = load {_PIXELS}, ptr %p, align 4
{_split("a")}
  %cr = shl {H} %ar, splat (i16 7)
  %cg = shl {H} %ag, splat (i16 7)
  %cb = shl {H} %ab, splat (i16 7)
{_weighed("y", "c", "y", "%black")}
  %to.at = add i64 %to, %i
  %next = add i64 %i, 32
  %whole = icmp sle i64 %next, %count
  br i1 %whole, label %store, label %tail
store:
  %tp = inttoptr i64 %to.at to ptr
  store <32 x i8> %y, ptr %tp, align 1
  br label %on
tail:
  %left = sub i64 %count, %i
{_store("y", "%to.at")}
  br label %on
on:
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


def _pairs(part: str) -> str:
    """Colours of 32 columns of two rows, added."""
    lines = [_split(f"a{part}"), _split(f"b{part}")]
    lines += [f"  %s{part}{c} = add {H} %a{part}{c}, %b{part}{c}" for c in "rgb"]
    return "\n".join(lines)


def _chroma_row() -> str:
    loads = "\n".join(
        f"""  %{row}{part}.at = add i64 %{row}.at, {128 * part}
  %{row}{part}.p = inttoptr i64 %{row}{part}.at to ptr
  %{row}{part} = load {_PIXELS}, ptr %{row}{part}.p, align 4"""
        for row in "ab"
        for part in (0, 1)
    )
    means = "\n".join(
        f"""  %e{c} = shufflevector {H} %s0{c}, {H} %s1{c}, <32 x i32> {_EVEN}
  %o{c} = shufflevector {H} %s0{c}, {H} %s1{c}, <32 x i32> {_ODD}
  %t{c} = add {H} %e{c}, %o{c}
  %m{c} = shl {H} %t{c}, splat (i16 5)"""
        for c in "rgb"
    )
    return f"""
{multiply()}
{_DECLARED}

define internal i64 @chroma_row(i64 %u.to, i64 %v.to, i64 %a, i64 %b, i64 %count, i64 %factors) {{
  %rest = alloca <32 x i8>, align 32
  %factors.p = inttoptr i64 %factors to ptr
{_factors(4, "ur ug ub vr vg vb")}
  br label %vector
vector:
  %i = phi i64 [ 0, %0 ], [ %next, %vector ]
  %i8 = shl i64 %i, 3
  %a.at = add i64 %a, %i8
  %b.at = add i64 %b, %i8
{loads}
{_pairs("0")}
{_pairs("1")}
{means}
{_weighed("u", "m", "u", "splat (i16 16384)")}
{_weighed("v", "m", "v", "splat (i16 16384)")}
  %remain = sub i64 %count, %i
  %left = call i64 @llvm.smin.i64(i64 %remain, i64 32)
  %u.at = add i64 %u.to, %i
  %v.at = add i64 %v.to, %i
{_store("u", "%u.at")}
{_store("v", "%v.at")}
  %next = add i64 %i, 32
  %more = icmp slt i64 %next, %count
  br i1 %more, label %vector, label %end
end:
  ret i64 0
}}"""


luma_row = word("luma_row", _luma_row)
chroma_row = word("chroma_row", _chroma_row)


def emit_band(block: int, top: int, bottom: int, room: int) -> None:
    """The band's rows, two at a time; a band begins at an even row."""
    y = top
    while y < bottom:
        x, width = 0, load64(block + BOX_RIGHT)
        while x < width:
            end = width
            if load64(block + COPIED):
                end = touched_until(block, x, y)
            if end > x:
                convert(block, x, end, y, room)
                x = end
            else:
                end = free_until(block, x, y)
                copy_planes(block, x, end, y)
                x = end
        y += 2


def touched_until(block: int, x: int, y: int) -> int:
    """How far layers above the video reach without a gap, from x on; x itself where there is none."""
    end, before = x, x - 1
    while end > before:
        before = end
        for i in range(1, load64(block + LAYERS)):
            layer = load64(block + TABLE) + i * LAYER_BYTES
            if load64(layer + TOP) < y + 2 and load64(layer + BOTTOM) > y:
                left, right = load64(layer + LEFT) >> 1 << 1, load64(layer + RIGHT) + 1 >> 1 << 1
                if left <= end and right > end:
                    end = right
    return end


def free_until(block: int, x: int, y: int) -> int:
    """Where the next layer above the video begins."""
    end = load64(block + BOX_RIGHT)
    for i in range(1, load64(block + LAYERS)):
        layer = load64(block + TABLE) + i * LAYER_BYTES
        if load64(layer + TOP) < y + 2 and load64(layer + BOTTOM) > y:
            left = load64(layer + LEFT) >> 1 << 1
            if left >= x:
                end = min(end, left)
    return end


def narrow_range(block: int, top: int, bottom: int, room: int) -> None:
    """To the columns where layers lie above the video that is copied elsewhere."""
    left, right = load64(block + BOX_RIGHT), 0
    for i in range(1, load64(block + LAYERS)):
        layer = load64(block + TABLE) + i * LAYER_BYTES
        if load64(layer + TOP) < bottom and load64(layer + BOTTOM) > top:
            left = min(left, load64(layer + LEFT) >> 1 << 1)
            right = max(right, load64(layer + RIGHT) + 1 >> 1 << 1)
    store64(room + RANGE_LEFT, left)
    store64(room + RANGE_RIGHT, right)


def convert(block: int, x: int, end: int, y: int, room: int) -> None:
    stride = load64(block + CANVAS_STRIDE)
    first = load64(room + BASE) + y * stride + x * 4
    to = load64(block + OUT_Y) + y * load64(block + OUT_Y_STRIDE) + x
    luma_row(to, first, end - x, block + OUT_BLACK)
    luma_row(to + load64(block + OUT_Y_STRIDE), first + stride, end - x, block + OUT_BLACK)
    at = (y >> 1) * load64(block + OUT_C_STRIDE) + (x >> 1)
    u, v = load64(block + OUT_U) + at, load64(block + OUT_V) + at
    chroma_row(u, v, first, first + stride, end - x >> 1, block + OUT_BLACK)


def copy_planes(block: int, x: int, end: int, y: int) -> None:
    """Of the lowest layer, which is a video at an even position."""
    plane = load64(block + TABLE) + FIRST_PLANE
    to = load64(block + OUT_Y) + y * load64(block + OUT_Y_STRIDE) + x
    dx, dy = load64(plane + COLUMNS + 16) >> 32, load64(plane + ROWS + 16) >> 32
    stride = load64(plane + STRIDE)
    at = load64(plane + PIXELS) + (y + dy) * stride + x + dx
    copy_bytes(to, at, end - x)
    copy_bytes(to + load64(block + OUT_Y_STRIDE), at + stride, end - x)
    half = (y >> 1) * load64(block + OUT_C_STRIDE) + (x >> 1)
    copy_half(plane + PLANE_BYTES, x + dx, y + dy, load64(block + OUT_U) + half, end - x >> 1)
    copy_half(plane + 2 * PLANE_BYTES, x + dx, y + dy, load64(block + OUT_V) + half, end - x >> 1)


def copy_half(plane: int, x: int, y: int, to: int, count: int) -> None:
    copy_bytes(to, load64(plane + PIXELS) + (y >> 1) * load64(plane + STRIDE) + (x >> 1), count)
