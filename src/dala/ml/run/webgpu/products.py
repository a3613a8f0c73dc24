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
    shader: LayerShader, source: Stored, weight: Stored, bias: Stored, rows: int, quads: int, finish: str
) -> Shader:
    """``finish`` is the name of the function that takes row, quad and the sum."""
    channels = source.shape[-1]
    x, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    sums = -(-channels // 4)
    pixels = 4 if rows >= 256 else 1
    parts = choose_parts(rows, quads, sums, pixels)
    each = THREADS // parts
    q, k, n = shader.number("quads", quads), shader.number("sums", sums), shader.number("rows", rows)
    threads = -(-rows // pixels) * quads
    start, step = ("0u", "1u") if parts == 1 else (f"lane / {each}u", f"{parts}u")
    place = "at" if parts == 1 else f"min(group_number * {each}u + lane % {each}u, {threads_name(shader, threads)} - 1u)"
    reads = "".join(
        f"        let x{i} = {x.read(f'min(first + {i}u, {n} - 1u)', 'c')};\n" for i in range(pixels)
    )
    weights = "".join(f"        let w{j} = {w.read(f'c * 4u + {j}u', 'quad')};\n" for j in range(4))
    adds = "".join(
        f"        v{i} += x{i}.x * w0 + x{i}.y * w1 + x{i}.z * w2 + x{i}.w * w3;\n" for i in range(pixels)
    )
    body = (
        f"    let work = {place};\n"
        f"    let quad = work % {q};\n    let first = (work / {q}) * {pixels}u;\n"
        + "".join(f"    var v{i} = vec4<f32>(0.0);\n" for i in range(pixels))
        + f"    for (var c = {start}; c < {k}; c += {step}) {{\n{weights}{reads}{adds}    }}\n"
    )
    if parts > 1:
        shader.shared = f"var<workgroup> part: array<vec4<f32>, {pixels * THREADS}>;\n"
        body += "".join(f"    part[{i * THREADS}u + lane] = v{i};\n" for i in range(pixels))
        body += "    workgroupBarrier();\n"
        body += f"    if (lane >= {each}u || group_number * {each}u + lane >= {threads_name(shader, threads)}) {{ return; }}\n"
        body += f"    for (var s = 1u; s < {parts}u; s += 1u) {{\n"
        body += "".join(f"        v{i} += part[{i * THREADS}u + s * {each}u + lane];\n" for i in range(pixels))
        body += "    }\n"
    body += f"    let offset = {b.read('0u', 'quad')};\n"
    for i in range(pixels):
        body += f"    if (first + {i}u < {n}) {{ {finish}(first + {i}u, quad, v{i} + offset); }}\n"
    return shader.finish(body, threads, per_group=each)


def threads_name(shader: LayerShader, threads: int) -> str:
    """How many invocations have work."""
    return shader.number("threads", threads)


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
    q, k, r = shader.number("quads", quads), shader.number("length", length), shader.number("rows", rows)
    matrix = f"(row / {r}) * {k}" if batched else "0u"
    body = (
        f"    let quad = at % {q};\n    let row = at / {q};\n    var v = vec4<f32>(0.0);\n"
        f"    for (var c = 0u; c < {k}; c += 1u) {{\n"
        f"        v += {x.one(f'row * {k} + c')} * {y.read(f'{matrix} + c', 'quad')};\n    }}\n"
        f"    {finish}(row, quad, v);\n"
    )
    return shader.finish(body, total * quads)
