"""The edges of a polygon that stands for an ellipse, a vector of corners at a time."""

from __future__ import annotations

from dala.gpu.raster.ink.edges import EDGE_BYTES, UNIT, inside_unit
from dala.gpu.raster.language import Word
from dala.gpu.raster.rows import literal, vector_names
from dala.gpu.raster.words import load_f64, store32

_RING = """
define internal {D} @ring_everywhere(double %value) alwaysinline {{
  %one = insertelement {D} poison, double %value, i64 0
  %r = shufflevector {D} %one, {D} poison, <{N} x i32> zeroinitializer
  ret {D} %r
}}

; m + cos · u + sin · v, in units
define internal <{N} x i32> @ring_units({D} %cos, {D} %sin, {D} %m, {D} %u, {D} %v) alwaysinline {{
  %a = fmul {D} %cos, %u
  %b = fadd {D} %m, %a
  %c = fmul {D} %sin, %v
  %d = fadd {D} %b, %c
  %e = fmul {D} %d, splat (double {unit})
  %f = fadd {D} %e, splat (double 0.5)
  %r = fptosi {D} %f to <{N} x i32>
  ret <{N} x i32> %r
}}

define internal i64 @ring_edges(i64 %out, i64 %table, i64 %count,
    double %x, double %y, double %ux, double %uy, double %vx, double %vy) noinline {{
  %xs = call {D} @ring_everywhere(double %x)
  %ys = call {D} @ring_everywhere(double %y)
  %uxs = call {D} @ring_everywhere(double %ux)
  %uys = call {D} @ring_everywhere(double %uy)
  %vxs = call {D} @ring_everywhere(double %vx)
  %vys = call {D} @ring_everywhere(double %vy)
  %size = shl i64 %count, 3
  %sines = add i64 %table, %size
  %last = sub i64 %size, {bytes}
  br label %vector
vector:                                     ; the last ones first: the first edge begins there
  %at = phi i64 [ %last, %0 ], [ 0, %first ], [ %at.next, %edges ]
  %to = phi i64 [ %out, %0 ], [ %out, %first ], [ %to.next, %edges ]
  %before = phi <{N} x i64> [ poison, %0 ], [ %corners, %first ], [ %corners, %edges ]
  %begun = phi i1 [ false, %0 ], [ true, %first ], [ true, %edges ]
  %cos.at = add i64 %table, %at
  %sin.at = add i64 %sines, %at
  %cp = inttoptr i64 %cos.at to ptr
  %sp = inttoptr i64 %sin.at to ptr
  %cos = load {D}, ptr %cp, align 8
  %sin = load {D}, ptr %sp, align 8
  %px = call <{N} x i32> @ring_units({D} %cos, {D} %sin, {D} %xs, {D} %uxs, {D} %vxs)
  %py = call <{N} x i32> @ring_units({D} %cos, {D} %sin, {D} %ys, {D} %uys, {D} %vys)
  %both = shufflevector <{N} x i32> %px, <{N} x i32> %py, <{N2} x i32> {in_turn}
  %corners = bitcast <{N2} x i32> %both to <{N} x i64>
  br i1 %begun, label %edges, label %first
first:
  br label %vector
edges:
  %from = shufflevector <{N} x i64> %before, <{N} x i64> %corners, <{N} x i32> {one_before}
  %pairs = shufflevector <{N} x i64> %from, <{N} x i64> %corners, <{N2} x i32> {in_turn}
  %p = inttoptr i64 %to to ptr
  store <{N2} x i64> %pairs, ptr %p, align 8
  %at.next = add i64 %at, {bytes}
  %to.next = add i64 %to, {edge_bytes}
  %more = icmp slt i64 %at.next, %size
  br i1 %more, label %vector, label %done
done:
  ret i64 %to.next
}}"""


def _spell_ring() -> str:
    count = int(str(vector_names()["L"])) // 2
    return _RING.format(
        D=f"<{count} x double>", N=count, N2=2 * count, unit=UNIT, bytes=count * 8,
        edge_bytes=count * EDGE_BYTES, one_before=literal(range(count - 1, 2 * count - 1)),
        in_turn=literal(i + n for i in range(count) for n in (0, count)),
    )  # fmt: skip


def _ring_edges(
    out: int, table: int, count: int,
    x: float, y: float, ux: float, uy: float, vx: float, vy: float,
) -> int:  # fmt: skip
    angles = [(load_f64(table + i * 8), load_f64(table + (count + i) * 8)) for i in range(count)]
    corners = [
        (inside_unit(x + cos * ux + sin * vx), inside_unit(y + cos * uy + sin * vy))
        for cos, sin in angles
    ]
    for i in range(count):
        for k, place in enumerate((*corners[i - 1], *corners[i])):
            store32(out + i * EDGE_BYTES + k * 4, place)
    return out + count * EDGE_BYTES


# Edges around (x, y), which lie on the surface; the cosines and sines of their corners are in a table,
# all of one after all of the other, a multiple of 16. Where the edges end.
ring_edges = Word("ring_edges", _spell_ring, _ring_edges, floats=(3, 4, 5, 6, 7, 8))
