"""Matrix product: tiles of both factors in workgroup memory, a square of results per invocation.

Large f32 matrices: 128 × 128 results per workgroup, 8 × 8 per invocation, 16 steps of the inner axis at a
time; the first factor lies transposed in workgroup memory, so that both are read as vec4. Other types and
small matrices: 16 × 16, one result per invocation.
"""

from __future__ import annotations

from dala.backends.webgpu.listing import Listing
from dala.backends.webgpu.shader import Shader
from dala.ir.dtypes import F32
from dala.plan.planner import WholePass

BLOCK, STEP, SIDE = 128, 16, 8  # results along a side, inner steps, results of an invocation
SMALL = 16


def emit_matmul(work: WholePass) -> Shader:
    """The shader for these two matrices."""
    (rows, inner), columns = work.reads[0].type.shape, work.reads[1].type.shape[1]
    large = work.writes[0].type.dtype == F32 and min(rows, columns) >= 96 and inner >= 32
    return _large(work) if large else _small(work)


def _start(work: WholePass) -> Listing:
    first, second, target = *work.reads, work.writes[0]
    arrays = [first, target, second] if first.place != second.place else [first, target]
    text = Listing(work.labels[0], arrays, written=1)
    text.number("rows", first.type.shape[0])
    text.number("inner", first.type.shape[1])
    text.number("columns", second.type.shape[1])
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
    """Each invocation loads 8 + 8 elements per step and keeps 64 results in registers."""
    text = _start(work)
    b = text.elements[-1] if len(text.elements) == 3 else text.elements[0]
    quarter = BLOCK // 4
    text.shared("left", "vec4<f32>", STEP * quarter)  # [inner][row / 4]
    text.shared("right", "vec4<f32>", STEP * quarter)  # [inner][column / 4]
    sums = "\n".join(
        f"    var s{i}{h} = vec4<f32>();" for i in range(SIDE) for h in range(SIDE // 4)
    )
    products = "\n".join(
        f"            s{i}{h} = fma(vec4<f32>(p{i // 4}.{'xyzw'[i % 4]}), q{h}, s{i}{h});"
        for i in range(SIDE)
        for h in range(SIDE // 4)
    )
    stores = "\n".join(
        f"    store(y0 + {i}u, x0 + {4 * quarter_of(h)}u, s{i}{h}, rows, columns);"
        for i in range(SIDE)
        for h in range(SIDE // 4)
    )
    text.function(
        f"""\
fn store(row: u32, column: u32, v: vec4<f32>, rows: u32, columns: u32) {{
    if (row >= rows) {{ return; }}
    let at = row * columns + column;
    if (column < columns) {{ a1[at] = v.x; }}
    if (column + 1u < columns) {{ a1[at + 1u] = v.y; }}
    if (column + 2u < columns) {{ a1[at + 2u] = v.z; }}
    if (column + 3u < columns) {{ a1[at + 3u] = v.w; }}
}}
fn left_at(row: u32, k: u32, rows: u32, inner: u32) -> f32 {{
    return select(0.0f, a0[min(row, rows - 1u) * inner + min(k, inner - 1u)], row < rows && k < inner);
}}
fn right_at(k: u32, column: u32, inner: u32, columns: u32) -> f32 {{
    return select(0.0f, {b.name}[min(k, inner - 1u) * columns + min(column, columns - 1u)],
        k < inner && column < columns);
}}
"""
    )
    text.main(
        f"""
    let lane_x = lane % 16u;
    let lane_y = lane / 16u;
    let x0 = group.x * {BLOCK}u + lane_x * 4u;
    let y0 = group.y * {BLOCK}u + lane_y * {SIDE}u;
{sums}
    // for loading: 16 inner positions x 16 groups, each of 8 rows; 16 positions x 16 runs of 8 columns
    let load_k = lane % {STEP}u;
    let load_row = (lane / {STEP}u) * 8u;
    for (var start = 0u; start < inner; start += {STEP}u) {{
        let k = start + load_k;
        let row = group.y * {BLOCK}u + load_row;
        for (var half = 0u; half < 2u; half += 1u) {{
            let r = row + half * 4u;
            left[load_k * {quarter}u + load_row / 4u + half] = vec4<f32>(
                left_at(r, k, rows, inner), left_at(r + 1u, k, rows, inner),
                left_at(r + 2u, k, rows, inner), left_at(r + 3u, k, rows, inner));
            let line = half * 8u + lane / 32u;
            let column = group.x * {BLOCK}u + (lane % 32u) * 4u;
            right[line * {quarter}u + lane % 32u] = vec4<f32>(
                right_at(start + line, column, inner, columns),
                right_at(start + line, column + 1u, inner, columns),
                right_at(start + line, column + 2u, inner, columns),
                right_at(start + line, column + 3u, inner, columns));
        }}
        workgroupBarrier();
        for (var i = 0u; i < {STEP}u; i += 1u) {{
            let p0 = left[i * {quarter}u + lane_y * 2u];
            let p1 = left[i * {quarter}u + lane_y * 2u + 1u];
            let q0 = right[i * {quarter}u + lane_x];
            let q1 = right[i * {quarter}u + lane_x + 16u];
{products}
        }}
        workgroupBarrier();
    }}
{stores}
"""
    )
    rows, columns = work.writes[0].type.shape
    return text.shader_of((-(-columns // BLOCK), -(-rows // BLOCK), 1), 256)


def quarter_of(half: int) -> int:
    """Where the groups of four columns of an invocation begin: they lie 64 apart, so that
    neighbouring invocations read neighbouring groups."""
    return 16 * half
