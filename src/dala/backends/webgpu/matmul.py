"""Matrix product: tiles of both factors in workgroup memory, a square of results per invocation.

Large f32 matrices: 128 × 128 results per workgroup, 8 × 8 per invocation, 8 steps of the inner axis at a
time; the first factor lies transposed in workgroup memory, so that both are read as vec4. While one pair of
tiles is multiplied the next one is on its way from memory: there are two pairs, in 16 KiB together, which
every adapter has. Other types and small matrices: 16 × 16, one result per invocation.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.webgpu.listing import THREADS, Listing
from dala.backends.webgpu.shader import Shader
from dala.ir.dtypes import F32
from dala.plan.whole import WholePass

BLOCK, STEP, SIDE = 128, 8, 8  # results along a side, inner steps, results of an invocation
QUARTER = BLOCK // 4
TILE = STEP * QUARTER  # vec4s
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
    """Each invocation loads 4 + 4 elements per step and keeps 64 results in registers."""
    text = _start(work)
    b = text.elements[-1] if len(text.elements) == 3 else text.elements[0]
    (rows, inner), columns = work.reads[0].type.shape, work.reads[1].type.shape[1]
    whole = rows % BLOCK == 0 and columns % BLOCK == 0 and inner % (2 * STEP) == 0
    # two tiles each; in arrays of their own they were read at two thirds of the speed (H200)
    text.shared("left", "vec4<f32>", 2 * TILE)  # [inner][row / 4]
    text.shared("right", "vec4<f32>", 2 * TILE)  # [inner][column / 4]
    if whole:
        text.read_as_fours()
    text.function(_whole_access(b.name) if whole else _checked_access(b.name))
    parts = [(i, h) for i in range(SIDE) for h in range(SIDE // 4)]
    sums = "\n".join(f"    var s{i}{h} = vec4<f32>();" for i, h in parts)
    stores = "\n".join(
        f"    store(y0 + {i // 4 * 64 + i % 4}u, x0 + {64 * h}u, s{i}{h}, rows, columns);"
        for i, h in parts
    )
    text.main(
        f"""
    let lane_x = lane % 16u;
    let lane_y = lane / 16u;
    // an invocation's rows and columns are two groups of four, 64 apart: neighbours read neighbouring ones
    let x0 = group.x * {BLOCK}u + lane_x * 4u;
    let y0 = group.y * {BLOCK}u + lane_y * 4u;
    let row = group.y * {BLOCK}u + lane / 2u;
    let k = (lane % 2u) * 4u;
    let line = lane / {QUARTER}u;
    let column = group.x * {BLOCK}u + (lane % {QUARTER}u) * 4u;
{sums}
    var p = left_at(row, k, rows, inner);
    var q = right_at(line, column, inner, columns);
{_keep(0)}
    for (var start = 0u; start < inner; start += {2 * STEP}u) {{
{_load(STEP)}
{_multiply(parts, 0)}
{_keep(1)}
{_load(2 * STEP)}
{_multiply(parts, 1)}
{_keep(0)}
    }}
{stores}
"""
    )
    return text.shader_of((-(-columns // BLOCK), -(-rows // BLOCK), 1), THREADS)


def _load(ahead: int) -> str:
    """This invocation's share of a later pair of tiles; beyond the last one nobody uses it."""
    return f"""\
        p = left_at(row, start + {ahead}u + k, rows, inner);
        q = right_at(start + {ahead}u + line, column, inner, columns);"""


def _keep(number: int) -> str:
    """What was loaded goes to workgroup memory: the first factor turned, the second as it is."""
    turned = "\n".join(
        f"        left[at + {number * TILE + i * QUARTER}u][place] = p.{'xyzw'[i]};"
        for i in range(4)
    )
    return f"""\
    {{
        let place = lane / 2u % 4u;
        let at = k * {QUARTER}u + lane / 8u;
{turned}
        right[{number * TILE}u + lane] = q;
    }}
    workgroupBarrier();"""


def _multiply(parts: Sequence[tuple[int, int]], number: int) -> str:
    """The inner steps, unrolled: every place in workgroup memory is a constant away from two of them."""
    lines = []
    for k in range(STEP):
        at = number * TILE + k * QUARTER
        lines.append("        {")
        for h in range(2):
            lines.append(f"            let p{h} = left[lane_y + {at + 16 * h}u];")
            lines.append(f"            let q{h} = right[lane_x + {at + 16 * h}u];")
        lines += [
            f"            s{i}{h} = fma(vec4<f32>(p{i // 4}.{'xyzw'[i % 4]}), q{h}, s{i}{h});"
            for i, h in parts
        ]
        lines.append("        }")
    return "\n".join(lines)


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
