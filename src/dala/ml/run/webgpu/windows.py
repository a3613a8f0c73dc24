"""Layers with windows: an invocation computes four channels of a pixel, or of a run of four pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dala.backends.webgpu.shader import Shader
from dala.ml.run.webgpu.access import Access, Stored
from dala.ml.run.webgpu.shader import LayerShader

Options = Mapping[str, Any]
RUN = 4  # neighbouring pixels


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


def sizes(shader: LayerShader, options: Options) -> dict[str, str]:
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


def depthwise_run(
    shader: LayerShader, a: Access, w: Access, b: Access, source: Stored, options: Options,
    made: Sequence[int], window: Sequence[int], between: str,
) -> str:  # fmt: skip
    """The name of a function that makes four neighbouring pixels of a run, for a quad of channels.

    What they read in common is read once; ``between`` changes ``v``, a result.
    """
    _, height, width, _ = made
    (_, stride), (_, far) = options["strides"], options["dilations"]
    runs, h = shader.number("across", -(-width // RUN)), shader.number("height", height)
    rows, columns = (
        shader.number("rows", source.shape[1]),
        shader.number("columns", source.shape[2]),
    )
    s = sizes(shader, options)
    columns_read = sorted({i * stride + j * far for i in range(RUN) for j in range(window[1])})
    lines = [
        f"let x = i32((run % {runs}) * {RUN * stride}u) - {s['left']};",
        f"let y = i32((run / {runs}) % {h}) * {s['sy']} - {s['top']};",
        f"let picture = run / ({runs} * {h}) * {rows};",
        f"let offset = {b.read('0u', 'c')};",
        f"var four = array<vec4<f32>, {RUN}>({', '.join(['offset'] * RUN)});",
    ]
    for i in range(window[0]):
        lines += [f"let y{i} = y + {i}i * {s['dy']};", f"if (y{i} >= 0i && y{i} < i32({rows})) {{"]
        lines.append(f"    let line = (picture + u32(y{i})) * {columns};")
        for at in columns_read:
            place = f"line + u32(clamp(x + {at}i, 0i, i32({columns}) - 1i))"
            inside = f"x + {at}i >= 0i && x + {at}i < i32({columns})"
            read = f"select(vec4<f32>(0.0), {a.read(place, 'c')}, {inside})"
            lines.append(f"    let p{at} = {read};")
        for j in range(window[1]):
            lines.append(f"    let w{j} = {w.read(f'{i * window[1] + j}u', 'c')};")
        for k in range(RUN):
            terms = (f"p{k * stride + j * far} * w{j}" for j in range(window[1]))
            lines.append(f"    four[{k}] += {' + '.join(terms)};")
        lines.append("}")
    if between:
        for k in range(RUN):
            lines += [f"{{\n    var v = four[{k}];", between.rstrip("\n"), f"    four[{k}] = v; }}"]
    text = "".join(f"    {line}\n" for line in [*lines, "return four;"])
    shader.function(f"fn depthwise(run: u32, c: u32) -> array<vec4<f32>, {RUN}> {{\n{text}}}\n")
    return "depthwise"


def emit_depthwise(
    shader: LayerShader, source: Stored, weight: Stored, bias: Stored, options: Options,
    made: Sequence[int], window: Sequence[int], finish: str,
) -> Shader:  # fmt: skip
    """An invocation computes four neighbouring pixels."""
    count, height, width, channels = made
    a, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    name = depthwise_run(shader, a, w, b, source, options, made, window, "")
    runs, quads = -(-width // RUN), -(-channels // 4)
    q, r, n = (
        shader.number("quads", quads),
        shader.number("across", runs),
        shader.number("width", width),
    )
    body = (
        f"    let quad = at % {q};\n    let run = at / {q};\n    let four = {name}(run, quad);\n"
        f"    let x = (run % {r}) * {RUN}u;\n    let row = (run / {r}) * {n} + x;\n"
    )
    for k in range(RUN):
        body += f"    if (x + {k}u < {n}) {{ {finish}(row + {k}u, quad, four[{k}]); }}\n"
    return shader.finish(body, count * height * runs * quads)


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
    s = sizes(shader, options)
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
    body += _taps(shader, window, sizes(shader, options), inner)
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
