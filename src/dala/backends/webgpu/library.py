"""Whole-array ops as hand-written WGSL: reductions, softmax, layer_norm, conv2d; matmul is in matmul.py.

An array that is reduced is seen as (outer, n, inner), n being the axis. Where lines are contiguous
(inner is 1) a workgroup takes a line, or a piece of it if there are few and long ones; else an invocation
takes a line, so that neighbours read neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dala.backends.webgpu.convolution import emit_conv2d
from dala.backends.webgpu.listing import Element, Listing
from dala.backends.webgpu.matmul import emit_matmul
from dala.backends.webgpu.selection import emit_top_k
from dala.backends.webgpu.shader import Shader
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import S32
from dala.ir.library import LibraryCall
from dala.plan.fuse import Location, PassArray
from dala.plan.whole import WholePass

NewTemp = Callable[[ArrayType], Location]
THREADS = 256
PIECE = 16_384  # elements of a long line that one workgroup reduces


def emit_library(work: WholePass, new_temp: NewTemp) -> list[Shader]:
    """The shaders of a library op, in order."""
    assert isinstance(work.work, LibraryCall)
    options: dict[str, Any] = dict(work.work.options)
    return EMITTERS[work.work.op](work, options, new_temp)


def _lines(type_: ArrayType, axis: int | None) -> tuple[int, int, int]:
    """(outer, n, inner) of an array along an axis; all of it is one line if there is none."""
    if axis is None:
        return 1, type_.count, 1
    axis %= len(type_.shape)
    shape = type_.shape
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


# -- reductions --------------------------------------------------------------------------------


def _identity(op: str, element: Element) -> str:
    if op in ("reduce_sum", "reduce_mean"):
        return element.zero
    return element.lowest if op == "reduce_max" else element.highest


def _combine(op: str, element: Element, a: str, b: str) -> str:
    if op in ("reduce_sum", "reduce_mean"):
        return element.wrapped(f"{a} + {b}")
    sign = ">" if op == "reduce_max" else "<"
    wins = f"{a} {sign} {b}"
    if element.dtype.is_float:  # NaN wins
        wins = f"({wins} || !({a} == {a}))"
    return f"select({b}, {a}, {wins})"


def _reduce(work: WholePass, options: dict[str, Any], new_temp: NewTemp) -> list[Shader]:
    assert isinstance(work.work, LibraryCall)
    op = work.work.op
    source, target = work.reads[0], work.writes[0]
    outer, n, inner = _lines(source.type, options["axis"])
    if inner > 1:
        return [_reduce_columns(work, op, source, target, (outer, n, inner))]
    pieces = -(-n // PIECE) if outer < 256 else 1
    if pieces == 1:
        return [_reduce_lines(work, op, source, target, (outer, n, n), whole=n)]
    partial = ArrayType((outer, pieces), source.type.dtype)
    between = PassArray(new_temp(partial), partial)
    return [
        _reduce_lines(work, op, source, between, (outer, n, PIECE), whole=0),
        _reduce_lines(work, op, between, target, (outer, pieces, pieces), whole=n),
    ]


def _reduce_lines(
    work: WholePass,
    op: str,
    source: PassArray,
    target: PassArray,
    size: tuple[int, int, int],
    whole: int,
) -> Shader:
    """A workgroup per piece of a line; ``whole`` is what a mean divides by, once it is known."""
    outer, n, piece = size
    pieces = -(-n // piece)
    text = Listing(work.labels[0], [source, target], written=1)
    a, out = text.elements
    t = a.type
    text.numbers(n=n, piece=piece, pieces=pieces, lines=outer * pieces)
    text.shared("part", t, THREADS)
    mean = op == "reduce_mean" and whole
    if mean:
        text.numbers(whole=whole)
    text.main(
        f"""
    let line = group.y * groups.x + group.x;
    let first = (line / pieces) * n + (line % pieces) * piece;
    let last = min(first + piece, (line / pieces) * n + n);
    var total = {_identity(op, a)};
    if (line < lines) {{
        for (var i = first + lane; i < last; i += {THREADS}u) {{
            let v = {a.read("i")};
            total = {_combine(op, a, "total", "v")};
        }}
    }}
    part[lane] = total;
    workgroupBarrier();
{text.tree("part", lambda x, y: _combine(op, a, x, y))}
    if (lane == 0u && line < lines) {{
        let result = {f"part[0] / {t}(whole)" if mean else "part[0]"};
        {out.write("line", "result")}
    }}
"""
    )
    return text.shader(outer * pieces)


def _reduce_columns(
    work: WholePass, op: str, source: PassArray, target: PassArray, size: tuple[int, int, int]
) -> Shader:
    outer, n, inner = size
    text = Listing(work.labels[0], [source, target], written=1)
    a, out = text.elements
    text.numbers(n=n, inner=inner, count=outer * inner)
    mean = op == "reduce_mean"
    text.main(
        f"""
    let at = (group.y * groups.x + group.x) * {THREADS}u + lane;
    if (at >= count) {{ return; }}
    let first = (at / inner) * n * inner + at % inner;
    var total = {_identity(op, a)};
    for (var k = 0u; k < n; k += 1u) {{
        let v = {a.read("first + k * inner")};
        total = {_combine(op, a, "total", "v")};
    }}
    let result = {f"total / {a.type}(n)" if mean else "total"};
    {out.write("at", "result")}
"""
    )
    return text.shader(-(-outer * inner // THREADS))


# -- argmax ------------------------------------------------------------------------------------


def _argmax(work: WholePass, options: dict[str, Any], new_temp: NewTemp) -> list[Shader]:
    """Where the largest stands: pieces of a line first, then the best of the pieces' bests."""
    source, target = work.reads[0], work.writes[0]
    outer, n, inner = _lines(source.type, options["axis"])
    pieces = -(-n // PIECE) if inner == 1 and outer < 256 else 1
    if pieces == 1:
        return [_argmax_lines(work, source, target, None, (outer, n, inner, n))]
    found = ArrayType((outer, pieces), S32)
    indices = PassArray(new_temp(found), found)
    return [
        _argmax_lines(work, source, indices, None, (outer, n, 1, PIECE)),
        _argmax_lines(work, source, target, indices, (outer, n, 1, pieces)),
    ]


def _argmax_lines(
    work: WholePass,
    source: PassArray,
    target: PassArray,
    candidates: PassArray | None,
    size: tuple[int, int, int, int],
) -> Shader:
    outer, n, inner, piece = size
    pieces = 1 if candidates else -(-n // piece)
    arrays = [source, target] if candidates is None else [source, target, candidates]
    text = Listing(work.labels[0], arrays, written=1)
    a, out = text.elements[:2]
    t = a.type
    text.numbers(n=n, inner=inner, piece=piece, pieces=pieces, lines=outer * inner * pieces)
    text.shared("best", t, THREADS)
    text.shared("place", "u32", THREADS)
    wins = "v > top || (v == top && k < spot)"
    later = "best[other] > best[lane] || (best[other] == best[lane] && place[other] < place[lane])"
    if a.dtype.is_float:  # NaN is the largest; the first of them
        wins = f"{_nan_or('v', 'top', 'k', 'spot')} || (!is_not_number(top) && ({wins}))"
        both = _nan_or("best[other]", "best[lane]", "place[other]", "place[lane]")
        later = f"{both} || (!is_not_number(best[lane]) && ({later}))"
        text.function(f"fn is_not_number(v: {t}) -> bool {{ return !(v == v); }}\n")
    end = "n" if candidates is None else "piece"
    begin = "(line / inner) * n * inner + line % inner"
    element = a.read("first + k * inner")
    chosen = "c" if candidates is None else f"u32({text.elements[2].read('line * piece + c')})"
    text.main(
        f"""
    let number = group.y * groups.x + group.x;
    let line = number / pieces;
    let start = (number % pieces) * piece;
    let first = {begin};
    var top = {a.lowest};
    var spot = 0xffffffffu;
    if (number < lines) {{
        for (var c = start + lane; c < min(start + piece, {end}); c += {THREADS}u) {{
            let k = {chosen};
            let v = {element};
            if ({wins} || spot == 0xffffffffu) {{ top = v; spot = k; }}
        }}
    }}
    best[lane] = top;
    place[lane] = spot;
    workgroupBarrier();
    for (var step = {THREADS // 2}u; step > 0u; step /= 2u) {{
        let other = lane + step;
        if (lane < step && place[other] != 0xffffffffu) {{
            if (place[lane] == 0xffffffffu || {later}) {{
                best[lane] = best[other];
                place[lane] = place[other];
            }}
        }}
        workgroupBarrier();
    }}
    if (lane == 0u && number < lines) {{
        {out.write("number", f"{out.type}(place[0])")}
    }}
"""
    )
    return text.shader(outer * inner * pieces)


def _nan_or(v: str, top: str, k: str, spot: str) -> str:
    return f"(is_not_number({v}) && (!is_not_number({top}) || {k} < {spot}))"


# -- softmax, layer_norm -----------------------------------------------------------------------


def _softmax(work: WholePass, options: dict[str, Any], new_temp: NewTemp) -> list[Shader]:
    source, target = work.reads[0], work.writes[0]
    outer, n, inner = _lines(source.type, options["axis"])
    text = Listing(work.labels[0], [source, target], written=1)
    a, out = text.elements
    t, exp = a.type, "safe_exp" if a.type == "f32" else "f64_exp"
    text.numbers(n=n, inner=inner, lines=outer * inner)
    text.shared("part", t, THREADS)
    largest = _combine("reduce_max", a, "total", "v")
    read = a.read("first + k * inner")
    text.main(
        f"""
    let line = group.y * groups.x + group.x;
    let first = (line / inner) * n * inner + line % inner;
    var total: {t};
{_over_line(text, a.lowest, f"let v = {read}; total = {largest};", "reduce_max")}
    let top = part[0];
    workgroupBarrier();
{_over_line(text, a.zero, f"total += {exp}({read} - top);", "reduce_sum")}
    let all = part[0];
    if (line < lines) {{
        for (var k = lane; k < n; k += {THREADS}u) {{
            let share = {exp}({read} - top) / all;
            {out.write("first + k * inner", "share")}
        }}
    }}
"""
    )
    return [text.shader(outer * inner)]


def _layer_norm(work: WholePass, options: dict[str, Any], new_temp: NewTemp) -> list[Shader]:
    source, target = work.reads[0], work.writes[0]
    n = source.type.shape[-1]
    lines = source.type.count // n
    text = Listing(work.labels[0], [source, target, *work.reads[1:]], written=1)
    a, out, *affine = text.elements
    text.numbers(n=n, lines=lines)
    text.value("eps", a.dtype, float(options["eps"]))
    text.shared("part", a.type, THREADS)
    result = f"(({a.read('first + k')}) - mean) / root"
    if affine:
        result = f"({result}) * {affine[0].read('k')}"
    if len(affine) > 1:
        result = f"{result} + {affine[1].read('k')}"
    element = a.read("first + k")
    square = f"let apart = {element} - mean; total += apart * apart;"
    text.main(
        f"""
    let line = group.y * groups.x + group.x;
    let first = line * n;
    var total: {a.type};
{_over_line(text, a.zero, f"total += {element};", "reduce_sum")}
    let mean = part[0] / {a.type}(n);
    workgroupBarrier();
{_over_line(text, a.zero, square, "reduce_sum")}
    let root = sqrt(part[0] / {a.type}(n) + eps);
    if (line < lines) {{
        for (var k = lane; k < n; k += {THREADS}u) {{
            let result = {result};
            {out.write("first + k", "result")}
        }}
    }}
"""
    )
    return [text.shader(lines)]


def _over_line(text: Listing, start: str, each: str, combine: str) -> str:
    """Lines that add up a line of ``n`` elements in ``part[0]``; ``each`` says what the k-th adds."""
    return f"""\
    total = {start};
    if (line < lines) {{
        for (var k = lane; k < n; k += {THREADS}u) {{ {each} }}
    }}
    part[lane] = total;
    workgroupBarrier();
{text.tree("part", lambda x, y: _combine(combine, text.elements[0], x, y))}"""


Emitter = Callable[[WholePass, dict[str, Any], NewTemp], list[Shader]]
EMITTERS: dict[str, Emitter] = {
    "matmul": lambda work, options, new_temp: [emit_matmul(work)],
    "reduce_sum": _reduce,
    "reduce_max": _reduce,
    "reduce_min": _reduce,
    "reduce_mean": _reduce,
    "argmax": _argmax,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "conv2d": lambda work, options, new_temp: [emit_conv2d(work, options)],
    "top_k": lambda work, options, new_temp: [emit_top_k(work)],
}
