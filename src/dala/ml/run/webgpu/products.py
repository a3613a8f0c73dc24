"""Products: a pointwise convolution is a matrix of pixels times a matrix of weights.

Where there are few results and long sums, several invocations share a sum, and add their parts in workgroup
memory: one invocation alone took ten times as long on an H200 for 960 channels at 7×7 pixels.
"""

from __future__ import annotations

from dala.backends.webgpu.shader import Shader
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.shader import THREADS, LayerShader

ENOUGH = 16_384  # invocations that keep a large GPU busy
MOST_PARTS = 16


def choose_parts(rows: int, quads: int, sums: int, pixels: int) -> int:
    """Among how many invocations a sum is divided: a power of two."""
    parts, alone = 1, -(-rows // pixels) * quads
    while parts < MOST_PARTS and alone * parts < ENOUGH and sums >= 4 * parts:
        parts *= 2
    return parts


def emit_product(
    shader: LayerShader,
    source: Stored,
    weight: Stored,
    bias: Stored,
    rows: int,
    quads: int,
    finish: str,
) -> Shader:
    """``finish`` is the name of the function that takes row, quad and the sum."""
    x, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    sums = -(-source.shape[-1] // 4)
    pixels = 4 if rows >= 256 else 1
    parts = choose_parts(rows, quads, sums, pixels)
    each, threads = THREADS // parts, -(-rows // pixels) * quads
    q, n = shader.number("quads", quads), shader.number("rows", rows)
    k, total = shader.number("sums", sums), shader.number("threads", threads)
    start, step = ("0u", "1u") if parts == 1 else (f"lane / {each}u", f"{parts}u")
    work = "at" if parts == 1 else f"min(group_number * {each}u + lane % {each}u, {total} - 1u)"
    lines = [
        f"let work = {work};",
        f"let quad = work % {q};",
        f"let first = (work / {q}) * {pixels}u;",
    ]
    lines += [f"var v{i} = vec4<f32>(0.0);" for i in range(pixels)]
    lines.append(f"for (var c = {start}; c < {k}; c += {step}) {{")
    lines += [f"    let w{j} = {w.read(f'c * 4u + {j}u', 'quad')};" for j in range(4)]
    for i in range(pixels):
        lines.append(f"    let x{i} = {x.read(f'min(first + {i}u, {n} - 1u)', 'c')};")
        lines.append(f"    v{i} += x{i}.x * w0 + x{i}.y * w1 + x{i}.z * w2 + x{i}.w * w3;")
    lines.append("}")
    if parts > 1:
        lines += _add_parts(shader, pixels, parts, total)
    lines.append(f"let offset = {b.read('0u', 'quad')};")
    for i in range(pixels):
        lines.append(f"if (first + {i}u < {n}) {{ {finish}(first + {i}u, quad, v{i} + offset); }}")
    return shader.finish("".join(f"    {line}\n" for line in lines), threads, per_group=each)


def _add_parts(shader: LayerShader, pixels: int, parts: int, total: str) -> list[str]:
    """What the invocations of a sum have found, added by the first of them."""
    each = THREADS // parts
    shader.shared = f"var<workgroup> part: array<vec4<f32>, {pixels * THREADS}>;\n"
    lines = [f"part[{i * THREADS}u + lane] = v{i};" for i in range(pixels)]
    lines.append("workgroupBarrier();")
    lines.append(f"if (lane >= {each}u || group_number * {each}u + lane >= {total}) {{ return; }}")
    lines.append(f"for (var s = 1u; s < {parts}u; s += 1u) {{")
    lines += [f"    v{i} += part[{i * THREADS}u + s * {each}u + lane];" for i in range(pixels)]
    return [*lines, "}"]


def emit_matmul(
    shader: LayerShader, a: Stored, b: Stored, shape: tuple[int, ...], batched: bool, finish: str
) -> Shader:
    """A product of two values that both depend on the data: an invocation per four results."""
    length, rows, columns = a.shape[-1], shape[-2], shape[-1]
    x, y = shader.array(a), shader.array(b)
    quads = -(-columns // 4)
    total = 1
    for n in shape[:-1]:
        total *= n
    q, k, r = (
        shader.number("quads", quads),
        shader.number("length", length),
        shader.number("rows", rows),
    )
    matrix = f"(row / {r}) * {k}" if batched else "0u"
    body = (
        f"    let quad = at % {q};\n    let row = at / {q};\n    var v = vec4<f32>(0.0);\n"
        f"    for (var c = 0u; c < {k}; c += 1u) {{\n"
        f"        v += {x.one(f'row * {k} + c')} * {y.read(f'{matrix} + c', 'quad')};\n    }}\n"
        f"    {finish}(row, quad, v);\n"
    )
    return shader.finish(body, total * quads)
