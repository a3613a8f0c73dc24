"""conv2d: a product of the weights with the windows of the picture, in tiles (tiled.py).

A window is a column: its taps of all channels. Nothing is written out for that: the tiles of the second
factor are gathered from the picture. Where a group makes few channels, an invocation computes four of them
for four neighbouring pixels, and where there are too few of those to keep a GPU busy, a single result.
"""

from __future__ import annotations

from typing import Any

from dala.backends.webgpu.listing import THREADS, Element, Listing
from dala.backends.webgpu.shader import Shader
from dala.backends.webgpu.tiled import choose_blocking, emit_tiled
from dala.ir.dtypes import F32
from dala.plan.whole import WholePass

TILE = 4
ENOUGH = 4096  # tiles
MANY = 32  # channels and pixels, of which half a tile of a product is made


def emit_conv2d(work: WholePass, options: dict[str, Any]) -> Shader:
    """The shader of a convolution of (N, C, H, W)."""
    source, weight, *bias = work.reads
    target = work.writes[0]
    count, made, out_rows, out_columns = target.type.shape
    _, taken, kernel_rows, kernel_columns = weight.type.shape
    in_group = made // options["groups"]
    if in_group >= MANY and target.type.dtype == F32 and out_rows * out_columns >= MANY:
        return _product(work, options)
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
    text.numbers(**numbers)
    body = _tile if tiled else _single
    text.main(body(text.elements, kernel_rows * kernel_columns, kernel_columns))
    return text.shader(-(-numbers["count"] // THREADS))


def _product(work: WholePass, options: dict[str, Any]) -> Shader:
    """Rows are channels of a group, columns are pixels; a product for each picture and group."""
    source, weight, *bias = work.reads
    target = work.writes[0]
    count, made, out_rows, out_columns = target.type.shape
    _, taken, kernel_rows, kernel_columns = weight.type.shape
    groups, taps, pixels = options["groups"], kernel_rows * kernel_columns, out_rows * out_columns
    text = Listing(work.labels[0], [source, target, weight, *bias], written=1)
    rows, inner = made // groups, taken * taps
    text.numbers(rows=rows, inner=inner, columns=pixels)
    u = {
        name: text.uniform(name, value)
        for name, value in {
            "height": source.type.shape[2], "width": source.type.shape[3], "across": out_columns,
            "channels": source.type.shape[1], "taken": taken, "groups": groups,
            "stride": options["stride"], "padding": options["padding"],
        }.items()
    }  # fmt: skip
    a, out, w, *b = text.elements
    text.function(PRIVATE + _results(out, b) + _weights(w) + _windows(a, u, taps, kernel_columns))
    before = f"""\
    let window = vec4<u32>(column) + vec4<u32>(0u, 1u, 2u, 3u);
    top = vec4<i32>(window / {u["across"]} * {u["stride"]}) - i32({u["padding"]});
    before = vec4<i32>(window % {u["across"]} * {u["stride"]}) - i32({u["padding"]});
    first_row = (group.z % {u["groups"]}) * rows;
    first_plane = (group.z / {u["groups"]}) * {u["channels"]} + (group.z % {u["groups"]}) * {u["taken"]};
    first_made = ((group.z / {u["groups"]}) * {u["groups"]} * rows + first_row) * columns;
"""
    return emit_tiled(
        text,
        choose_blocking(rows, pixels, count * groups),
        (rows, pixels),
        count=count * groups,
        before=before,
    )


PRIVATE = """\
var<private> top: vec4<i32>;
var<private> before: vec4<i32>;
var<private> first_row: u32;
var<private> first_plane: u32;
var<private> first_made: u32;
"""


def _results(out: Element, bias: list[Element]) -> str:
    """Four neighbouring pixels of a channel, those that there are."""
    start = f" + {bias[0].read('first_row + row')}" if bias else ""
    stores = "\n".join(
        f"    if (column + {k}u < columns) {{ {out.write(f'at + {k}u', f'v[{k}]{start}')} }}"
        for k in range(4)
    )
    return f"""\
fn store(row: u32, column: u32, v: vec4<f32>, rows: u32, columns: u32) {{
    if (row >= rows) {{ return; }}
    let at = first_made + row * columns + column;
{stores}
}}
"""


def _weights(w: Element) -> str:
    """Four neighbouring weights of a channel, zeros beyond the last."""
    reads = "\n".join(
        f"    if (k + {i}u < inner) {{ p[{i}] = {w.read(f'line + {i}u')}; }}" for i in range(4)
    )
    return f"""\
fn left_at(row: u32, k: u32, rows: u32, inner: u32) -> vec4<f32> {{
    var p = vec4<f32>();
    if (row >= rows) {{ return p; }}
    let line = (first_row + row) * inner + k;
{reads}
    return p;
}}
"""


def _windows(a: Element, u: dict[str, str], taps: int, across: int) -> str:
    """One tap of four neighbouring windows, zeros beside the picture."""
    elements = [f"line + u32(rows_at[{k}]) * {u['width']} + u32(at[{k}])" for k in range(4)]
    reads = "\n".join(
        f"    if (inside[{k}]) {{ p[{k}] = {a.read(element)}; }}"
        for k, element in enumerate(elements)
    )
    return f"""\
fn right_at(k: u32, column: u32, inner: u32, columns: u32) -> vec4<f32> {{
    var p = vec4<f32>();
    if (k >= inner) {{ return p; }}
    let tap = k % {taps}u;
    let rows_at = top + i32(tap / {across}u);
    let at = before + i32(tap % {across}u);
    let line = (first_plane + k / {taps}u) * {u["height"]} * {u["width"]};
    let zero = vec4<i32>();
    let high = vec4<i32>(i32({u["height"]}));
    let wide = vec4<i32>(i32({u["width"]}));
    let inside = (rows_at >= zero) & (rows_at < high) & (at >= zero) & (at < wide);
{reads}
    return p;
}}
"""


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
