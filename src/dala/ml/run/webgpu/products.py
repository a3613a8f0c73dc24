"""Products: a tile of rows in workgroup memory, times some columns of a matrix of weights.

What fills the tile is what the layer reads (fills.py): rows of pixels as they are, the windows of a
convolution, or rows that a depthwise convolution makes on the way. The sums of a long row are divided among
several invocations, which add their parts in the same memory: one invocation alone took ten times as long
on an H200 for 960 channels at 7×7 pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dala.backends.webgpu.shader import MOST_GROUPS, Shader
from dala.ml.run.webgpu.access import Access, Stored
from dala.ml.run.webgpu.shader import LayerShader
from dala.ml.run.webgpu.tiling import TILE, Tiling, Work, choose_tiling

ADD_IN_STEPS = 16  # parts from which on they are added in two steps


@dataclass(frozen=True, slots=True)
class Fill:
    """Where the rows of a product come from."""

    work: Work
    emit: Callable[
        [Tiling], str
    ]  # the lines that fill ``tile`` with sums ``start`` to ``start + here``
    place: str = ""  # lines that make ``row`` of ``place``, or return where there is none


def emit_product(
    shader: LayerShader, fill: Fill, weight: Stored, bias: Stored, finish: str
) -> Shader:
    """``finish`` is the name of the function that takes row, quad and the sum."""
    w, b = shader.array(weight), shader.array(bias)
    t = choose_tiling(fill.work)
    q, k = shader.number("quads", fill.work.quads), shader.number("sums", fill.work.sums)
    rows = shader.number("rows of all", fill.work.rows)
    place = fill.place or f"    if (place >= {rows}) {{ return; }}\n    let row = place;\n"
    shader.function(
        "fn store(place: u32, quad: u32, v: vec4<f32>) {\n"
        f"{place}    {finish}(row, quad, v + {b.read('0u', 'quad')});\n}}\n"
    )
    outputs = t.quads * t.groups
    size = max(t.height * t.sums, t.threads * min(t.rows, TILE // t.threads) * (t.parts > 1))
    shader.shared = f"var<workgroup> tile: array<vec4<f32>, {size}>;\n"
    lines = [
        f"let first = (group.y + groups.y * group.z) * {t.height}u;",
        f"let part = lane / {outputs}u;",
        f"let g = (lane / {t.quads}u) % {t.groups}u;",
        f"let own = group.x * {t.quads}u + lane % {t.quads}u;",
        f"let quad = min(own, {q} - 1u);",
        *(f"var v{i} = vec4<f32>(0.0);" for i in range(t.rows)),
        f"for (var start = 0u; start < {k}; start += {t.sums}u) {{",
        f"    let here = min({t.sums}u, {k} - start);",
        *(["    workgroupBarrier();"] if fill.work.sums > t.sums else []),
        *_indented(fill.emit(t)),
        "    workgroupBarrier();",
        *(f"    {line}" for line in _multiply(w, t)),
        "}",
        *_join(t),
    ]
    across, down = -(-fill.work.quads // t.quads), -(-fill.work.rows // t.height)
    high = min(down, MOST_GROUPS)
    body = "".join(f"    {line}\n" for line in lines)
    return shader.frame(body, t.threads, (across, high, -(-down // high)))


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.rstrip("\n").split("\n")]


def _multiply(w: Access, t: Tiling) -> list[str]:
    """An invocation's part of what is in the tile."""
    lines = [f"for (var c = part; c < here; c += {t.parts}u) {{"]
    lines += [f"    let w{j} = {w.read(f'(start + c) * 4u + {j}u', 'quad')};" for j in range(4)]
    for i in range(t.rows):
        lines.append(f"    let x{i} = tile[(g * {t.rows}u + {i}u) * {t.sums}u + c];")
        lines.append(f"    v{i} += x{i}.x * w0 + x{i}.y * w1 + x{i}.z * w2 + x{i}.w * w3;")
    return [*lines, "}"]


def _join(t: Tiling) -> list[str]:
    """Parts added, as many rows at a time as there is room for, and the sums stored."""
    if t.parts == 1:
        stores = [f"    store(first + g * {t.rows}u + {i}u, quad, v{i});" for i in range(t.rows)]
        return ["if (own == quad) { // beyond the last column nothing is stored", *stores, "}"]
    outputs, room, lines = t.quads * t.groups, TILE // t.threads, []
    for begin in range(0, t.rows, room):
        rows = min(room, t.rows - begin)
        lines.append("workgroupBarrier();")
        lines += [f"tile[{i * t.threads}u + lane] = v{begin + i};" for i in range(rows)]
        lines.append("workgroupBarrier();")
        parts, fewer = t.parts, 1 << (t.parts.bit_length() // 2)
        if t.parts >= ADD_IN_STEPS and fewer * rows <= t.parts:
            lines += _add_some(t, rows, fewer)
            parts = fewer
        lines.append(f"for (var i = part; i < {rows}u; i += {t.parts}u) {{")
        lines.append(f"    let at = i * {t.threads}u + lane % {outputs}u;")
        lines.append("    var sum = tile[at];")
        lines.append(
            f"    for (var s = 1u; s < {parts}u; s += 1u) {{ sum += tile[at + s * {outputs}u]; }}"
        )
        lines.append(
            f"    if (own == quad) {{ store(first + g * {t.rows}u + {begin}u + i, quad, sum); }}"
        )
        lines.append("}")
    return lines


def _add_some(t: Tiling, rows: int, fewer: int) -> list[str]:
    """Many parts become ``fewer``: each is the sum of every so many."""
    outputs = t.quads * t.groups
    return [
        "{",
        f"let some = part / {rows}u;",
        f"let from_ = (part % {rows}u) * {t.threads}u + lane % {outputs}u + some * {outputs}u;",
        "var few = vec4<f32>(0.0);",
        f"if (some < {fewer}u) {{",
        f"    for (var s = 0u; s < {t.parts // fewer}u; s += 1u) {{",
        f"        few += tile[from_ + s * {fewer * outputs}u];",
        "    }",
        "}",
        "workgroupBarrier();",
        f"if (some < {fewer}u) {{ tile[from_] = few; }}",
        "workgroupBarrier();",
        "}",
    ]


def emit_matmul(
    shader: LayerShader, a: Stored, b: Stored, shape: tuple[int, ...], batched: bool, finish: str
) -> Shader:
    """A product of two values that both depend on the data: an invocation per four results."""
    length, rows, columns = a.shape[-1], shape[-2], shape[-1]
    x, y = shader.array(a), shader.array(b)
    quads = -(-columns // 4)
    total = 1
    for n in shape[:-1]:
        total *= n
    q, k, r = (
        shader.number("quads", quads),
        shader.number("length", length),
        shader.number("rows", rows),
    )
    matrix = f"(row / {r}) * {k}" if batched else "0u"
    body = (
        f"    let quad = at % {q};\n    let row = at / {q};\n    var v = vec4<f32>(0.0);\n"
        f"    for (var c = 0u; c < {k}; c += 1u) {{\n"
        f"        v += {x.one(f'row * {k} + c')} * {y.read(f'{matrix} + c', 'quad')};\n    }}\n"
        f"    {finish}(row, quad, v);\n"
    )
    return shader.finish(body, total * quads)
