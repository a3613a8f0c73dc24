"""Matrix product: f32 in tiles (tiled.py); other types and small ones: 16 × 16, a result per invocation."""

from __future__ import annotations

from dala.backends.webgpu.listing import Listing
from dala.backends.webgpu.shader import Shader
from dala.backends.webgpu.tiled import Blocking, choose_blocking, emit_tiled
from dala.ir.dtypes import F32
from dala.plan.whole import WholePass

SMALL = 16


def emit_matmul(work: WholePass) -> Shader:
    """The shader for these two matrices."""
    (rows, inner), columns = work.reads[0].type.shape, work.reads[1].type.shape[1]
    large = work.writes[0].type.dtype == F32 and min(rows, columns) >= 48 and inner >= 32
    return _large(work) if large else _small(work)


def _start(work: WholePass) -> Listing:
    first, second, target = *work.reads, work.writes[0]
    arrays = [first, target, second] if first.location != second.location else [first, target]
    text = Listing(work.labels[0], arrays, written=1)
    rows, inner = first.type.shape
    text.numbers(rows=rows, inner=inner, columns=second.type.shape[1])
    return text


def _small(work: WholePass) -> Shader:
    text = _start(work)
    a, out, b = text.elements[0], text.elements[1], text.elements[-1]
    if len(text.elements) == 2:
        b = a
    text.shared("left", a.type, SMALL * SMALL)
    text.shared("right", a.type, SMALL * SMALL)
    product = a.wrapped(f"total + left[y * {SMALL}u + k] * right[k * {SMALL}u + x]")
    text.main(
        f"""
    let x = lane % {SMALL}u;
    let y = lane / {SMALL}u;
    let row = group.y * {SMALL}u + y;
    let column = group.x * {SMALL}u + x;
    var total = {a.zero};
    for (var start = 0u; start < inner; start += {SMALL}u) {{
        var p = {a.zero};
        var q = {a.zero};
        if (row < rows && start + x < inner) {{ p = {a.read("row * inner + start + x")}; }}
        if (column < columns && start + y < inner) {{
            q = {b.read("(start + y) * columns + column")};
        }}
        left[lane] = p;
        right[lane] = q;
        workgroupBarrier();
        for (var k = 0u; k < {SMALL}u; k += 1u) {{ total = {product}; }}
        workgroupBarrier();
    }}
    if (row < rows && column < columns) {{
        {out.write("row * columns + column", "total")}
    }}
"""
    )
    rows, columns = work.writes[0].type.shape
    return text.shader_of((-(-columns // SMALL), -(-rows // SMALL), 1), SMALL * SMALL)


def _large(work: WholePass) -> Shader:
    """Where sizes are multiples of the tile, all is read in fours and nothing is checked."""
    text = _start(work)
    b = text.elements[-1] if len(text.elements) == 3 else text.elements[0]
    (rows, inner), columns = work.reads[0].type.shape, work.reads[1].type.shape[1]
    blocking = choose_blocking(rows, columns)
    whole = _is_whole(blocking, rows, inner, columns)
    if whole:
        text.read_as_fours()
    text.function(_whole_access(b.name) if whole else _checked_access(b.name))
    return emit_tiled(text, blocking, (rows, columns))


def _is_whole(blocking: Blocking, rows: int, inner: int, columns: int) -> bool:
    block, step = blocking.block, blocking.step
    return rows % block == 0 and columns % block == 0 and inner % (2 * step) == 0


def _whole_access(second: str) -> str:
    """Sizes are multiples of the tile: four elements at once, and nothing to check."""
    return f"""\
fn store(row: u32, column: u32, v: vec4<f32>, rows: u32, columns: u32) {{
    a1[(row * columns + column) / 4u] = v;
}}
fn left_at(row: u32, k: u32, rows: u32, inner: u32) -> vec4<f32> {{
    return a0[(row * inner + k) / 4u];
}}
fn right_at(k: u32, column: u32, inner: u32, columns: u32) -> vec4<f32> {{
    return {second}[(k * columns + column) / 4u];
}}
"""


def _checked_access(second: str) -> str:
    """Beyond the matrices there are zeros, and nothing is written."""
    return f"""\
fn store(row: u32, column: u32, v: vec4<f32>, rows: u32, columns: u32) {{
    if (row >= rows) {{ return; }}
    let at = row * columns + column;
    if (column < columns) {{ a1[at] = v.x; }}
    if (column + 1u < columns) {{ a1[at + 1u] = v.y; }}
    if (column + 2u < columns) {{ a1[at + 2u] = v.z; }}
    if (column + 3u < columns) {{ a1[at + 3u] = v.w; }}
}}
fn left_one(row: u32, k: u32, rows: u32, inner: u32) -> f32 {{
    return select(0.0f, a0[min(row, rows - 1u) * inner + min(k, inner - 1u)], row < rows && k < inner);
}}
fn left_at(row: u32, k: u32, rows: u32, inner: u32) -> vec4<f32> {{
    return vec4<f32>({", ".join(f"left_one(row, k + {i}u, rows, inner)" for i in range(4))});
}}
fn right_one(k: u32, column: u32, inner: u32, columns: u32) -> f32 {{
    return select(0.0f, {second}[min(k, inner - 1u) * columns + min(column, columns - 1u)],
        k < inner && column < columns);
}}
fn right_at(k: u32, column: u32, inner: u32, columns: u32) -> vec4<f32> {{
    return vec4<f32>({", ".join(f"right_one(k, column + {i}u, inner, columns)" for i in range(4))});
}}
"""
