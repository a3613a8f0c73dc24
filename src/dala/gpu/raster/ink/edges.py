"""Edges: what a shape's outline is before it is painted, clipped to the surface, in 1/512 pixel.

Functions of the rasteriser's language (language.py). An edge is four 32-bit numbers, x0 y0 x1 y1. What lies
above or below the surface is dropped; what lies left of it or right of it is moved to its border, where it
still counts for everything on its right, and for how far the shape reaches.
"""

from __future__ import annotations

from dala.gpu.raster.language import Word
from dala.gpu.raster.layout import EMIT_LIMIT, HEIGHT, MATRIX, WIDTH
from dala.gpu.raster.words import floor, load64, load_f64, load_s32, store32, store64, truncate

UNIT = 512.0
EDGE_BYTES = 16
FAR = 1e18  # coordinates beyond are as good as there
# what is behind a list of edges: none is written beyond its limit less this
SPLIT_BYTES = 3 * EDGE_BYTES


def to_x(s: int, x: float, y: float) -> float:
    """A point's x on the surface."""
    far = load_f64(s + MATRIX) * x + load_f64(s + MATRIX + 16) * y + load_f64(s + MATRIX + 32)
    return max(min(far, FAR), -FAR)


def to_y(s: int, x: float, y: float) -> float:
    """A point's y on the surface."""
    far = load_f64(s + MATRIX + 8) * x + load_f64(s + MATRIX + 24) * y + load_f64(s + MATRIX + 40)
    return max(min(far, FAR), -FAR)


def emit_user(s: int, out: int, x0: float, y0: float, x1: float, y1: float) -> int:
    """An edge in the user's coordinates."""
    return emit(s, out, to_x(s, x0, y0), to_y(s, x0, y0), to_x(s, x1, y1), to_y(s, x1, y1))


def emit(s: int, out: int, x0: float, y0: float, x1: float, y1: float) -> int:
    """An edge on the surface, in pixels; where the next one goes. Beyond the limit nothing is written:
    who began the list sees that it was reached."""
    high = load64(s + HEIGHT) * 1.0
    if max(y0, y1) <= 0.0 or min(y0, y1) >= high or y0 == y1 or out > load64(s + EMIT_LIMIT):
        return out
    slope = (x1 - x0) / (y1 - y0)
    if y0 < 0.0:
        x0, y0 = x0 - y0 * slope, 0.0
    elif y0 > high:
        x0, y0 = x0 + (high - y0) * slope, high
    if y1 < 0.0:
        x1, y1 = x1 - y1 * slope, 0.0
    elif y1 > high:
        x1, y1 = x1 + (high - y1) * slope, high
    return emit_across(s, out, x0, y0, x1, y1)


def emit_across(s: int, out: int, x0: float, y0: float, x1: float, y1: float) -> int:
    """The same for an edge between the first row and the last."""
    wide = load64(s + WIDTH) * 1.0
    if x0 >= 0.0 and x1 >= 0.0 and x0 <= wide and x1 <= wide:
        return put(s, out, x0, y0, x1, y1)
    if min(x0, x1) >= wide:
        return put(s, out, wide, y0, wide, y1)
    if max(x0, x1) <= 0.0:
        return put(s, out, 0.0, y0, 0.0, y1)
    steep = (y1 - y0) / (x1 - x0)
    if x0 < 0.0:
        middle = y0 - x0 * steep
        out = put(s, out, 0.0, y0, 0.0, middle)
        x0, y0 = 0.0, middle
    elif x0 > wide:
        middle = y0 + (wide - x0) * steep
        out = put(s, out, wide, y0, wide, middle)
        x0, y0 = wide, middle
    if x1 < 0.0:
        middle = y1 - x1 * steep
        out = put(s, out, 0.0, middle, 0.0, y1)
        x1, y1 = 0.0, middle
    elif x1 > wide:
        middle = y1 + (wide - x1) * steep
        out = put(s, out, wide, middle, wide, y1)
        x1, y1 = wide, middle
    return put(s, out, x0, y0, x1, y1)


def put(s: int, out: int, x0: float, y0: float, x1: float, y1: float) -> int:
    """Held within the surface: a slope may have been infinite."""
    wide, high = load64(s + WIDTH) << 9, load64(s + HEIGHT) << 9
    a, b = min(max(to_unit(y0), 0), high), min(max(to_unit(y1), 0), high)
    if a == b:
        return out
    store32(out, min(max(to_unit(x0), 0), wide))
    store32(out + 4, a)
    store32(out + 8, min(max(to_unit(x1), 0), wide))
    store32(out + 12, b)
    return out + EDGE_BYTES


def to_unit(v: float) -> int:
    return int(floor(v * UNIT + 0.5))


def inside_unit(v: float) -> int:
    """The same of a place that is known to be on the surface."""
    return truncate(v * UNIT + 0.5)


# -- the rectangle of pixels that edges lie in -------------------------------------------------------

AREA_LEFT, AREA_TOP, AREA_RIGHT, AREA_BOTTOM = 0, 8, 16, 24
_MEASURE = """
declare <4 x i32> @llvm.smin.v4i32(<4 x i32>, <4 x i32>)
declare <4 x i32> @llvm.smax.v4i32(<4 x i32>, <4 x i32>)

define internal i64 @measure(i64 %first, i64 %end, i64 %to) {
  %some = icmp slt i64 %first, %end
  br i1 %some, label %edge, label %done
edge:
  %at = phi i64 [ %first, %0 ], [ %next, %edge ]
  %low = phi <4 x i32> [ splat (i32 2147483647), %0 ], [ %lower, %edge ]
  %high = phi <4 x i32> [ splat (i32 -1), %0 ], [ %higher, %edge ]
  %p = inttoptr i64 %at to ptr
  %e = load <4 x i32>, ptr %p, align 4
  %lower = call <4 x i32> @llvm.smin.v4i32(<4 x i32> %low, <4 x i32> %e)
  %higher = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %high, <4 x i32> %e)
  %next = add i64 %at, 16
  %more = icmp slt i64 %next, %end
  br i1 %more, label %edge, label %done
done:
  %lows = phi <4 x i32> [ splat (i32 2147483647), %0 ], [ %lower, %edge ]
  %highs = phi <4 x i32> [ splat (i32 -1), %0 ], [ %higher, %edge ]
  %low.1 = shufflevector <4 x i32> %lows, <4 x i32> poison, <4 x i32> <i32 2, i32 3, i32 0, i32 1>
  %high.1 = shufflevector <4 x i32> %highs, <4 x i32> poison, <4 x i32> <i32 2, i32 3, i32 0, i32 1>
  %least = call <4 x i32> @llvm.smin.v4i32(<4 x i32> %lows, <4 x i32> %low.1)
  %most = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %highs, <4 x i32> %high.1)
  %behind = add <4 x i32> %most, splat (i32 511)
  %both = shufflevector <4 x i32> %least, <4 x i32> %behind, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %pixels = ashr <4 x i32> %both, splat (i32 9)
  %wide = sext <4 x i32> %pixels to <4 x i64>
  %tp = inttoptr i64 %to to ptr
  store <4 x i64> %wide, ptr %tp, align 8
  ret i64 0
}"""


def _measure(edges: int, end: int, to: int) -> int:
    rows = range(edges, end, EDGE_BYTES)
    across = [load_s32(edge + offset) for edge in rows for offset in (0, 8)]
    down = [load_s32(edge + offset) for edge in rows for offset in (4, 12)]
    store64(to + AREA_LEFT, min(across, default=2**31 - 1) >> 9)
    store64(to + AREA_TOP, min(down, default=2**31 - 1) >> 9)
    store64(to + AREA_RIGHT, (max(across, default=-1) + 511) >> 9)
    store64(to + AREA_BOTTOM, (max(down, default=-1) + 511) >> 9)
    return 0


# Its first column and row, and those behind its last ones, as four words.
measure = Word("measure", lambda: _MEASURE, _measure)
