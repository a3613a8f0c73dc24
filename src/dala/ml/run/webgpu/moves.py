"""Moving elements: map (in place), take (other axes, other positions), copies into a concat."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dala.backends.webgpu.shader import Shader
from dala.backends.webgpu.spelling import constant
from dala.ir.dtypes import F32
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.shader import LayerShader


def emit_map(shader: LayerShader, read: str, rows: int, quads: int, finish: str) -> Shader:
    """An invocation per four channels; ``read`` is the running value there."""
    q = shader.number("quads", quads)
    body = f"    let quad = at % {q};\n    let row = at / {q};\n    {finish}(row, quad, {read});\n"
    return shader.finish(body, rows * quads)


def emit_copy(
    shader: LayerShader, source: Stored, target: Stored, run: int, whole: int, start: int
) -> Shader:
    """Runs of ``run`` elements, to ``start`` of every ``whole`` of the target."""
    a = shader.array(source, source.count)
    out = shader.array(target, target.count if _in_quads(run, whole, start) else 1, written=True)
    r, w, s = (
        shader.number("run", run),
        shader.number("whole", whole),
        shader.number("start", start),
    )
    if _in_quads(run, whole, start):
        body = (
            f"    let part = {r} / 4u;\n    let to = (at / part) * ({w} / 4u) + {s} / 4u + at % part;\n"
            f"    {out.write('0u', 'to', a.read('0u', 'at'))}\n"
        )
        return shader.finish(body, source.count // 4)
    element = f"vec4<f32>({a.one('at')})"
    body = (
        f"    let to = (at / {r}) * {w} + {s} + at % {r};\n    {out.write('to', '0u', element)}\n"
    )
    return shader.finish(body, source.count)


def _in_quads(run: int, whole: int, start: int) -> bool:
    return run % 4 == 0 and whole % 4 == 0 and start % 4 == 0


def emit_take(
    shader: LayerShader,
    source: Stored,
    target: Stored,
    tables: Stored | None,
    starts: Mapping[int, int],
    axes: Sequence[int],
    fill: float,
) -> Shader:
    """Every element from where its axes and the tables say; rows that stay whole go by fours."""
    rank = len(target.shape)
    last = rank - 1
    rows = axes[last] == last and last not in starts and target.shape[last] % 4 == 0
    a = shader.array(source, None if rows else source.count)
    out = shader.array(target, None if rows else 1, written=True)
    table = shader.array(tables, tables.count) if tables is not None else None
    moved = range(last) if rows else range(rank)
    strides = [math.prod(source.shape[k + 1 :]) for k in range(rank)]
    body = "    var rest = at;\n"
    if rows:
        quads = shader.number("quads", target.shape[last] // 4)
        body = f"    let quad = at % {quads};\n    var rest = at / {quads};\n    let row = rest;\n"
        strides = [math.prod(source.shape[k + 1 : last]) for k in range(last)]
    body += "    var from_ = 0u;\n    var outside = false;\n"
    for axis in reversed(moved):
        n = shader.number(f"n{axis}", target.shape[axis])
        s = shader.number(f"s{axis}", strides[axes[axis]])
        body += f"    let i{axis} = rest % {n};\n    rest = rest / {n};\n"
        if axis in starts:
            assert table is not None
            t = shader.number(f"t{axis}", starts[axis])
            body += f"    let p{axis} = i32({table.one(f'{t} + i{axis}')});\n"
            body += f"    outside = outside || p{axis} < 0i;\n    from_ += u32(max(p{axis}, 0i)) * {s};\n"
        else:
            body += f"    from_ += i{axis} * {s};\n"
    value = f"vec4<f32>({constant(F32, float(fill))})"
    if rows:
        chosen = f"select({a.read('from_', 'quad')}, {value}, outside)"
        return shader.finish(f"{body}    {out.write('row', 'quad', chosen)}\n", target.count // 4)
    chosen = f"select(vec4<f32>({a.one('from_')}), {value}, outside)"
    body += f"    {out.write('at', '0u', chosen)}\n"
    return shader.finish(body, target.count)
