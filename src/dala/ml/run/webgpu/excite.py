"""Squeeze and excite: the means of all channels and one product or two of them, in a workgroup."""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.webgpu.shader import Shader
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.shader import LayerShader

MANY = 256  # invocations
KEPT = 64  # quads of values on the way

Matrix = tuple[Stored, Stored]  # weights and bias


def emit_excite(
    shader: LayerShader,
    source: Stored,
    matrices: Sequence[Matrix],
    before: str,
    between: str,
    finish: str,
) -> Shader:
    """``before`` changes ``v`` where it is read, ``between`` what the first product makes."""
    shader.shared = (
        f"var<workgroup> part: array<vec4<f32>, {MANY}>;\n"
        f"var<workgroup> kept: array<vec4<f32>, {KEPT}>;\n"
    )
    body = _means(shader, source, before)
    for number, matrix in enumerate(matrices):
        if number < len(matrices) - 1:
            done = f"var v = sum;\n{between}        kept[lane] = v;"
            body += _product(shader, matrix, number, done) + "    workgroupBarrier();\n"
        else:
            body += _product(shader, matrix, number, f"{finish}(group.x, lane, sum);")
    return shader.frame(body, MANY, (source.shape[0], 1, 1))


def _means(shader: LayerShader, source: Stored, before: str) -> str:
    """Of all rows, by as many invocations as there are for each quad of channels."""
    _, height, width, channels = source.shape
    a, n = shader.array(source), shader.number("length", height * width)
    q = shader.number("quads", -(-channels // 4))
    return (
        f"    {{\n    let quad = lane % {q};\n    let parts = {MANY}u / {q};\n"
        f"    var all_ = vec4<f32>(0.0);\n"
        f"    for (var k = lane / {q}; k < {n} && lane < parts * {q}; k += parts) {{\n"
        f"        let row = group.x * {n} + k;\n        var v = {a.read('row', 'quad')};\n"
        f"{before}        all_ += v;\n    }}\n"
        f"    part[lane] = all_;\n    workgroupBarrier();\n    if (lane < {q}) {{\n"
        f"        for (var s = 1u; s < parts; s += 1u) {{ all_ += part[s * {q} + lane]; }}\n"
        f"        kept[lane] = all_ / f32({n});\n    }}\n    workgroupBarrier();\n    }}\n"
    )


def _product(shader: LayerShader, matrix: Matrix, number: int, done: str) -> str:
    """What is kept times a matrix; ``done``: what becomes of ``sum``, a quad of the result."""
    w, b = (shader.array(stored) for stored in matrix)
    k = shader.number(f"taken{number}", matrix[0].shape[0] // 4)
    m = shader.number(f"made{number}", matrix[0].shape[1] // 4)
    products = " + ".join(
        f"x.{axis} * {w.read(f'c * 4u + {j}u', f'lane % {m}')}" for j, axis in enumerate("xyzw")
    )
    return (
        f"    {{\n    let parts = {MANY}u / {m};\n    var sum = vec4<f32>(0.0);\n"
        f"    for (var c = lane / {m}; c < {k} && lane < parts * {m}; c += parts) {{\n"
        f"        let x = kept[c];\n        sum += {products};\n    }}\n"
        f"    part[lane] = sum;\n    workgroupBarrier();\n    if (lane < {m}) {{\n"
        f"        for (var s = 1u; s < parts; s += 1u) {{ sum += part[s * {m} + lane]; }}\n"
        f"        sum += {b.read('0u', 'lane')};\n        {done}\n    }}\n    }}\n"
    )
