"""conv2d: an invocation computes four channels of four neighbouring pixels, or a single result.

In a tile every input and every weight that is read serves four products. Where there are too few tiles to
keep a GPU busy, single results are quicker.
"""

from __future__ import annotations

from typing import Any

from dala.backends.webgpu.listing import THREADS, Element, Listing
from dala.backends.webgpu.shader import Shader
from dala.plan.whole import WholePass

TILE = 4
ENOUGH = 4096  # tiles


def emit_conv2d(work: WholePass, options: dict[str, Any]) -> Shader:
    """The shader of a convolution of (N, C, H, W)."""
    source, weight, *bias = work.reads
    target = work.writes[0]
    count, made, out_rows, out_columns = target.type.shape
    _, taken, kernel_rows, kernel_columns = weight.type.shape
    in_group = made // options["groups"]
    across = -(-out_columns // TILE)
    tiles = count * -(-made // TILE) * out_rows * across
    tiled = tiles >= ENOUGH and (options["groups"] == 1 or in_group % TILE == 0)
    text = Listing(work.labels[0], [source, target, weight, *bias], written=1)
    numbers = {
        "channels": source.type.shape[1], "rows": source.type.shape[2], "columns": source.type.shape[3],
        "made": made, "taken": taken, "out_rows": out_rows, "out_columns": out_columns,
        "count": tiles if tiled else target.type.count, "in_group": in_group,
        "stride": options["stride"], "padding": options["padding"], "across": across,
        "quads": -(-made // TILE),
    }  # fmt: skip
    for name, value in numbers.items():
        text.number(name, value)
    body = _tile if tiled else _single
    text.main(body(text.elements, kernel_rows * kernel_columns, kernel_columns))
    return text.shader(-(-numbers["count"] // THREADS))


def _single(elements: list[Element], taps: int, kernel_columns: int) -> str:
    """An invocation per output; the window is a loop within that of the channels."""
    a, out, w, *b = elements
    return f"""
    let at = (group.y * groups.x + group.x) * {THREADS}u + lane;
    if (at >= count) {{ return; }}
    let x = at % out_columns;
    let y = (at / out_columns) % out_rows;
    let o = (at / (out_columns * out_rows)) % made;
    let image = at / (out_columns * out_rows * made);
    let channel0 = (o / in_group) * taken;
    var total = {b[0].read("o") if b else a.zero};
    for (var c = 0u; c < taken; c += 1u) {{
        let plane = (image * channels + channel0 + c) * rows;
        let weights = (o * taken + c) * {taps}u;
        for (var tap = 0u; tap < {taps}u; tap += 1u) {{
            let row = i32(y * stride + tap / {kernel_columns}u) - i32(padding);
            let column = i32(x * stride + tap % {kernel_columns}u) - i32(padding);
            if (row >= 0 && row < i32(rows) && column >= 0 && column < i32(columns)) {{
                let from_ = (plane + u32(row)) * columns + u32(column);
                total += {a.read("from_")} * {w.read("weights + tap")};
            }}
        }}
    }}
    {out.write("at", "total")}
"""


def _tile(elements: list[Element], taps: int, kernel_columns: int) -> str:
    """Beyond the edges the last channel and the last pixel are computed again, and not stored."""
    a, out, w, *b = elements
    each = range(TILE)
    starts = "".join(
        f"    let o{m} = min(first + {m}u, made - 1u);\n"
        f"    var v{m} = vec4<{a.type}>({b[0].read(f'o{m}') if b else a.zero});\n"
        for m in each
    )
    reads = "".join(
        f"            let at{k} = column + {k}i * i32(stride);\n"
        f"            if (at{k} >= 0i && at{k} < i32(columns)) {{\n"
        f"                p[{k}] = {a.read(f'line + u32(at{k})')};\n            }}\n"
        for k in each
    )
    adds = "".join(
        f"            v{m} += p * {w.read(f'(o{m} * taken + c) * {taps}u + tap')};\n" for m in each
    )
    stores = "".join(
        f"    if (first + {m}u < made && x + {k}u < out_columns) {{ "
        f"{out.write(f'start + {m}u * out_rows * out_columns + {k}u', f'v{m}[{k}]')} }}\n"
        for m in each
        for k in each
    )
    return f"""
    let at = (group.y * groups.x + group.x) * {THREADS}u + lane;
    if (at >= count) {{ return; }}
    let x = (at % across) * {TILE}u;
    let y = (at / across) % out_rows;
    let first = ((at / (across * out_rows)) % quads) * {TILE}u;
    let image = at / (across * out_rows * quads);
    let channel0 = (first / in_group) * taken;
{starts}    for (var c = 0u; c < taken; c += 1u) {{
        let plane = (image * channels + channel0 + c) * rows;
        for (var tap = 0u; tap < {taps}u; tap += 1u) {{
            let row = i32(y * stride + tap / {kernel_columns}u) - i32(padding);
            if (row < 0i || row >= i32(rows)) {{ continue; }}
            let line = (plane + u32(row)) * columns;
            let column = i32(x * stride + tap % {kernel_columns}u) - i32(padding);
            var p = vec4<{a.type}>({a.zero});
{reads}{adds}        }}
    }}
    let start = ((image * made + first) * out_rows + y) * out_columns + x;
{stores}"""
