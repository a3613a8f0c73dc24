"""Squeeze and excite: the means of all channels and one product or two of them, in a workgroup."""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.webgpu.shader import Shader
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.shader import LayerShader

MANY = 256  # invocations
KEPT = 64  # quads of values on the way
FEW = 8  # parts that one invocation adds
TOGETHER = 8  # rows that are on their way at once: one workgroup has to wait for all of them

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
    for matrix in matrices:
        if matrix is not matrices[-1]:
            done = f"var v = sum;\n{between}        kept[lane] = v;"
            body += _product(shader, matrix, done) + "    workgroupBarrier();\n"
        else:
            body += _product(shader, matrix, f"{finish}(group.x, lane, sum);")
    return shader.frame(body, MANY, (source.shape[0], 1, 1))


def _means(shader: LayerShader, source: Stored, before: str) -> str:
    """Of all rows, by as many invocations as there are for each quad of channels."""
    _, height, width, channels = source.shape
    rows, quads = height * width, -(-channels // 4)
    parts = min(MANY // quads, rows)
    a, n = shader.array(source), shader.number("length", rows)
    together = min(TOGETHER, -(-rows // parts))
    reads = "".join(
        f"        {{\n        let at = k + {j * parts}u;\n"
        f"        let row = group.x * {n} + min(at, {n} - 1u);\n"
        f"        var v = {a.read('row', 'quad')};\n{before}"
        f"        sum += select(vec4<f32>(0.0), v, at < {n});\n        }}\n"
        for j in range(together)
    )
    return (
        "    {\n    var sum = vec4<f32>(0.0);\n"
        f"    if (lane < {parts * quads}u) {{\n        let quad = lane % {quads}u;\n"
        f"        for (var k = lane / {quads}u; k < {n}; k += {together * parts}u) {{\n"
        f"{reads}    }}\n    }}\n"
        f"{_add(quads, parts, f'kept[lane] = sum / f32({n});')}    workgroupBarrier();\n    }}\n"
    )


def _product(shader: LayerShader, matrix: Matrix, done: str) -> str:
    """What is kept times a matrix; ``done``: what becomes of ``sum``, a quad of the result."""
    w, b = (shader.array(stored) for stored in matrix)
    taken, made = (n // 4 for n in matrix[0].shape)
    parts = min(MANY // made, taken)
    products = " + ".join(
        f"x.{axis} * {w.read(f'c * 4u + {j}u', f'lane % {made}u')}" for j, axis in enumerate("xyzw")
    )
    done = f"sum += {b.read('0u', 'lane')};\n        {done}"
    return (
        f"    {{\n    var sum = vec4<f32>(0.0);\n    if (lane < {parts * made}u) {{\n"
        f"    for (var c = lane / {made}u; c < {taken}u; c += {parts}u) {{\n"
        f"        let x = kept[c];\n        sum += {products};\n    }}\n    }}\n"
        f"{_add(made, parts, done)}    }}\n"
    )


def _add(width: int, parts: int, done: str) -> str:
    """The parts of ``width`` sums, added by the first invocations: many of them in two steps."""
    text = "    part[lane] = sum;\n    workgroupBarrier();\n"
    if parts > 2 * FEW and FEW * width <= MANY:
        text += (
            f"    sum = vec4<f32>(0.0);\n    if (lane < {FEW * width}u) {{\n"
            f"        for (var s = lane / {width}u; s < {parts}u; s += {FEW}u) {{ "
            f"sum += part[s * {width}u + lane % {width}u]; }}\n    }}\n"
            "    workgroupBarrier();\n    part[lane] = sum;\n    workgroupBarrier();\n"
        )
        parts = FEW
    return (
        f"{text}    if (lane < {width}u) {{\n        sum = part[lane];\n"
        f"        for (var s = 1u; s < {parts}u; s += 1u) {{ sum += part[s * {width}u + lane]; }}\n"
        f"        {done}\n    }}\n"
    )
