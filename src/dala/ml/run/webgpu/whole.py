"""Over whole axes: arrays are seen as (outer, length, inner)."""

from __future__ import annotations

from dala.backends.webgpu.shader import MOST_GROUPS, Shader
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.shader import THREADS, LayerShader

Lines = tuple[int, int, int]
JOIN = {
    "mean": "{a} + {b}",
    "sum": "{a} + {b}",
    "max": "max({a}, {b})",
    "min": "min({a}, {b})",
    "prod": "{a} * {b}",
}
MANY = 256  # invocations of a long softmax
START = {"mean": "0.0", "sum": "0.0", "max": "-3.4e38", "min": "3.4e38", "prod": "1.0"}


def _tree(join: str, threads: int = THREADS) -> str:
    """Reduce what the lanes hold in ``part`` into its first element."""
    joined = join.format(a="part[lane]", b="part[lane + step]")
    return (
        f"    workgroupBarrier();\n    for (var step = {threads // 2}u; step > 0u; step /= 2u) {{\n"
        f"        if (lane < step) {{ part[lane] = {joined}; }}\n        workgroupBarrier();\n    }}\n"
    )


def emit_reduce(
    shader: LayerShader,
    source: Stored,
    lines: Lines,
    channels: int,
    mode: str,
    before: str,
    finish: str,
) -> Shader:
    """A workgroup for four results: the inner axis is one of rows of channels; ``before`` changes ``v``."""
    outer, length, inner = lines
    a = shader.array(source, channels)
    quads = -(-channels // 4)
    q, n, m = (
        shader.number(k, v) for k, v in (("quads", quads), ("length", length), ("inner", inner))
    )
    shader.shared = f"var<workgroup> part: array<vec4<f32>, {THREADS}>;\n"
    joined = JOIN[mode].format(a="all_", b="v")
    mean = f"    if (lane == 0u) {{ part[0] = part[0] / f32({n}); }}\n" if mode == "mean" else ""
    total = shader.number("threads", outer * inner * quads)
    body = (
        f"    let quad = group_number % {q};\n    let made = group_number / {q};\n"
        f"    var all_ = vec4<f32>({START[mode]});\n    if (group_number < {total}) {{\n"
        f"        for (var k = lane; k < {n}; k += {THREADS}u) {{\n"
        f"            let row = ((made / {m}) * {n} + k) * {m} + made % {m};\n"
        f"            var v = {a.read('row', 'quad')};\n{before}            all_ = {joined};\n"
        "        }\n    }\n"
        f"    part[lane] = all_;\n{_tree(JOIN[mode])}{mean}"
        f"    if (lane == 0u && group_number < {total}) {{ {finish}(made, quad, part[0]); }}\n"
    )
    return shader.finish(body, outer * inner * quads, per_group=1)


def emit_softmax(
    shader: LayerShader, source: Stored, target: Stored, lines: Lines, behind: str
) -> Shader:
    """A workgroup for each line; ``behind``: lines that change ``v``, a result."""
    outer, length, inner = lines
    threads = MANY if length > THREADS else THREADS
    a = shader.array(source, source.count)
    out = shader.array(target, 1, written=True)
    n, i = shader.number("length", length), shader.number("inner", inner)
    shader.shared = f"var<workgroup> part: array<f32, {threads}>;\n"
    element = a.one("first + k * " + i)
    loop = f"for (var k = lane; k < {n}; k += {threads}u)"
    body = (
        "    let line = min(group.y * groups.x + group.x, "
        f"{shader.number('threads', outer * inner)} - 1u);\n"
        f"    let first = (line / {i}) * {n} * {i} + line % {i};\n"
        f"    var top = -3.4e38;\n    {loop} {{ top = max(top, {element}); }}\n"
        f"    part[lane] = top;\n{_tree(JOIN['max'], threads)}    top = part[0];\n    workgroupBarrier();\n"
        f"    var total = 0.0;\n    {loop} {{ total += exp({element} - top); }}\n"
        f"    part[lane] = total;\n{_tree(JOIN['sum'], threads)}    total = part[0];\n"
        f"    {loop} {{\n        var v = vec4<f32>(exp({element} - top) / total);\n{behind}"
        f"        {out.write(f'first + k * {i}', '0u', 'v')}\n    }}\n"
    )
    across = min(outer * inner, MOST_GROUPS)
    return shader.frame(body, threads, (across, -(-outer * inner // across), 1))


def emit_argmax(
    shader: LayerShader, source: Stored, target: Stored, lines: Lines, *, smallest: bool
) -> Shader:
    """An invocation for each line; the first of several."""
    outer, length, inner = lines
    a = shader.array(source, source.count)
    out = shader.array(target, 1, written=True)
    n, i = shader.number("length", length), shader.number("inner", inner)
    better = "<" if smallest else ">"
    body = (
        f"    let first = (at / {i}) * {n} * {i} + at % {i};\n"
        f"    var best = {a.one('first')};\n    var place = 0u;\n"
        f"    for (var k = 1u; k < {n}; k += 1u) {{\n"
        f"        let v = {a.one(f'first + k * {i}')};\n"
        f"        if (v {better} best) {{ best = v; place = k; }}\n    }}\n"
        f"    {out.write('at', '0u', 'vec4<f32>(f32(place))')}\n"
    )
    return shader.finish(body, outer * inner)
