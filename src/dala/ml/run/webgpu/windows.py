"""Layers with windows: an invocation computes four channels of one pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dala.backends.webgpu.shader import Shader
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.shader import LayerShader

Options = Mapping[str, Any]


def _frame(shader: LayerShader, source: Sequence[int], made: Sequence[int]) -> tuple[str, int]:
    """Where the invocation is, and how many there are."""
    _, height, width, channels = made
    quads = -(-channels // 4)
    q, h, w = (
        shader.number("quads", quads),
        shader.number("height", height),
        shader.number("width", width),
    )
    shader.number("rows", source[1])
    shader.number("columns", source[2])
    text = (
        f"    let quad = at % {q};\n    let row = at / {q};\n    let x = i32(row % {w});\n"
        f"    let y = i32((row / {w}) % {h});\n    let picture = row / ({w} * {h});\n"
    )
    return text, made[0] * height * width * quads


def _sizes(shader: LayerShader, options: Options) -> dict[str, str]:
    """Strides, dilations and pads, as uniforms."""
    given = {
        "sy": options["strides"][0], "sx": options["strides"][1],
        "dy": options["dilations"][0], "dx": options["dilations"][1],
        "top": options["pads"][0], "left": options["pads"][1],
    }  # fmt: skip
    return {name: f"i32({shader.number(name, value)})" for name, value in given.items()}


def _taps(shader: LayerShader, window: Sequence[int], s: Mapping[str, str], inner: str) -> str:
    """A loop over the taps that lie in the picture; ``from_`` is the tap's row of the source."""
    rows, columns = shader.number("rows", 0), shader.number("columns", 0)
    return (
        f"    for (var i = 0i; i < {window[0]}i; i += 1i) {{\n"
        f"        let sy = y * {s['sy']} + i * {s['dy']} - {s['top']};\n"
        f"        if (sy < 0i || sy >= i32({rows})) {{ continue; }}\n"
        f"        for (var j = 0i; j < {window[1]}i; j += 1i) {{\n"
        f"            let sx = x * {s['sx']} + j * {s['dx']} - {s['left']};\n"
        f"            if (sx < 0i || sx >= i32({columns})) {{ continue; }}\n"
        f"            let from_ = (picture * {rows} + u32(sy)) * {columns} + u32(sx);\n"
        f"            let tap = u32(i * {window[1]}i + j);\n{inner}        }}\n    }}\n"
    )


def emit_depthwise(
    shader: LayerShader, source: Stored, weight: Stored, bias: Stored, options: Options,
    made: Sequence[int], window: Sequence[int], finish: str,
) -> Shader:  # fmt: skip
    a, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    frame, threads = _frame(shader, source.shape, made)
    inner = f"            v += {a.read('from_', 'quad')} * {w.read('tap', 'quad')};\n"
    body = f"{frame}    var v = {b.read('0u', 'quad')};\n"
    body += _taps(shader, window, _sizes(shader, options), inner)
    return shader.finish(f"{body}    {finish}(row, quad, v);\n", threads)


def emit_conv(
    shader: LayerShader, source: Stored, weight: Stored, bias: Stored, options: Options,
    made: Sequence[int], window: Sequence[int], finish: str,
) -> Shader:  # fmt: skip
    a, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    frame, threads = _frame(shader, source.shape, made)
    body = f"{frame}    var v = {b.read('0u', 'quad')};\n"
    body += _taps(shader, window, _sizes(shader, options), _sum(shader, a, w, source))
    return shader.finish(f"{body}    {finish}(row, quad, v);\n", threads)


def _sum(shader: LayerShader, a: Any, w: Any, source: Stored) -> str:
    """All channels of one tap."""
    sums = shader.number("sums", -(-source.shape[-1] // 4))
    products = " + ".join(f"s.{c} * {w.read(f'at_ + {k}u', 'quad')}" for k, c in enumerate("xyzw"))
    return (
        f"            for (var c = 0u; c < {sums}; c += 1u) {{\n"
        f"                let s = {a.read('from_', 'c')};\n"
        f"                let at_ = (tap * {sums} + c) * 4u;\n"
        f"                v += {products};\n            }}\n"
    )


def emit_transposed(
    shader: LayerShader, source: Stored, weight: Stored, bias: Stored, options: Options,
    made: Sequence[int], window: Sequence[int], finish: str,
) -> Shader:  # fmt: skip
    """Which pixels are added to this one: those from which the window's taps reach it."""
    a, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    frame, threads = _frame(shader, source.shape, made)
    s = _sizes(shader, options)
    rows, columns = shader.number("rows", 0), shader.number("columns", 0)
    body = (
        f"{frame}    var v = {b.read('0u', 'quad')};\n"
        f"    for (var i = 0i; i < {window[0]}i; i += 1i) {{\n"
        f"        let py = y + {s['top']} - i * {s['dy']};\n"
        f"        if (py < 0i || py % {s['sy']} != 0i || py / {s['sy']} >= i32({rows})) {{ continue; }}\n"
        f"        for (var j = 0i; j < {window[1]}i; j += 1i) {{\n"
        f"            let px = x + {s['left']} - j * {s['dx']};\n"
        f"            let sx = px / {s['sx']};\n"
        f"            if (px < 0i || px % {s['sx']} != 0i || sx >= i32({columns})) {{ continue; }}\n"
        f"            let from_ = (picture * {rows} + u32(py / {s['sy']})) * {columns} + u32(sx);\n"
        f"            let tap = u32(i * {window[1]}i + j);\n"
        f"{_sum(shader, a, w, source)}        }}\n    }}\n"
        f"    {finish}(row, quad, v);\n"
    )
    return shader.finish(body, threads)


def emit_pool(
    shader: LayerShader, source: Stored, options: Options, made: Sequence[int], finish: str
) -> Shader:
    a = shader.array(source)
    frame, threads = _frame(shader, source.shape, made)
    window, largest = options["window"], options["mode"] == "max"
    read = a.read("from_", "quad")
    inner = (
        f"            v = max(v, {read});\n"
        if largest
        else f"            v += {read};\n            count += 1.0;\n"
    )
    start = "-3.4e38" if largest else "0.0"
    body = f"{frame}    var v = vec4<f32>({start});\n    var count = 0.0;\n"
    body += _taps(shader, window, _sizes(shader, options), inner)
    if not largest:
        all_ = f"{window[0] * window[1]}.0" if options["include_pad"] else "max(count, 1.0)"
        body += f"    v = v / {all_};\n"
    return shader.finish(f"{body}    {finish}(row, quad, v);\n", threads)


def emit_resize(
    shader: LayerShader, source: Stored, tables: Sequence[Stored], made: Sequence[int], finish: str
) -> Shader:
    """Between two rows and two columns, which the tables name."""
    a, rows_of, columns_of = shader.array(source), shader.array(tables[0]), shader.array(tables[1])
    frame, threads = _frame(shader, source.shape, made)
    rows, columns = shader.number("rows", 0), shader.number("columns", 0)

    def at(row: str, column: str) -> str:
        return a.read(f"(picture * {rows} + u32({row})) * {columns} + u32({column})", "quad")

    body = (
        f"{frame}    let r = {rows_of.read('u32(y)', '0u')};\n"
        f"    let c = {columns_of.read('u32(x)', '0u')};\n"
        f"    let above = mix({at('r.x', 'c.x')}, {at('r.x', 'c.y')}, c.z);\n"
        f"    let below = mix({at('r.y', 'c.x')}, {at('r.y', 'c.y')}, c.z);\n"
        f"    {finish}(row, quad, mix(above, below, r.z));\n"
    )
    return shader.finish(body, threads)
