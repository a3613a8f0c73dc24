"""What fills the tile of a product: rows, the windows of a convolution, or a depthwise one's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.products import Fill
from dala.ml.run.webgpu.shader import LayerShader
from dala.ml.run.webgpu.tiling import Tiling, Work
from dala.ml.run.webgpu.windows import RUN, depthwise_run, sizes

Options = Mapping[str, Any]


def _units(t: Tiling, inner: str, *, each: int = 1) -> str:
    """Every invocation makes some of the tile's quads, or ``each`` rows of one at once."""
    return (
        f"for (var unit = lane; unit < {t.height // each}u * here; unit += {t.threads}u) {{\n"
        f"    let c = unit % here;\n    let line = unit / here;\n{inner}}}\n"
    )


def fill_rows(shader: LayerShader, source: Stored, rows: int, quads: int, before: str = "") -> Fill:
    """Rows as they are; ``before``: lines that change ``v``, what was read at ``row`` and ``quad``."""
    sums = -(-source.shape[-1] // 4)
    x, n = shader.array(source), shader.number("rows of all", rows)

    def emit(t: Tiling) -> str:
        return _units(
            t,
            f"    let row = min(first + line, {n} - 1u);\n    let quad = start + c;\n"
            f"    var v = {x.read('row', 'quad')};\n{before}    tile[line * {t.sums}u + c] = v;\n",
        )

    return Fill(Work(rows, quads, sums), emit)


def fill_windows(
    shader: LayerShader, source: Stored, options: Options, made: Sequence[int], window: Sequence[int],
    before: str,
) -> Fill:  # fmt: skip
    """A row is a window: its taps one after the other, the channels of each in whole quads.

    ``before``: lines that change ``v``, what was read; what lies beside the picture stays zero.
    """
    channels = -(-source.shape[-1] // 4)
    count, height, width, _ = made
    x, rows = shader.array(source), count * height * width
    n, q = shader.number("rows of all", rows), shader.number("channel quads", channels)
    h, w = shader.number("height", height), shader.number("width", width)
    high, wide = shader.number("rows", source.shape[1]), shader.number("columns", source.shape[2])
    s = sizes(shader, options)

    def emit(t: Tiling) -> str:
        return _units(
            t,
            f"    let row = min(first + line, {n} - 1u);\n"
            f"    let tap = (start + c) / {q};\n"
            f"    let i = i32(tap / {window[1]}u);\n    let j = i32(tap % {window[1]}u);\n"
            f"    let y = i32((row / {w}) % {h}) * {s['sy']} + i * {s['dy']} - {s['top']};\n"
            f"    let x = i32(row % {w}) * {s['sx']} + j * {s['dx']} - {s['left']};\n"
            "    var v = vec4<f32>(0.0);\n"
            f"    if (y >= 0i && y < i32({high}) && x >= 0i && x < i32({wide})) {{\n"
            f"        let from_ = ((row / ({w} * {h})) * {high} + u32(y)) * {wide} + u32(x);\n"
            f"        v = {x.read('from_', f'(start + c) % {q}')};\n{before}    }}\n"
            f"    tile[line * {t.sums}u + c] = v;\n",
        )

    return Fill(Work(rows, -(-made[3] // 4), window[0] * window[1] * channels, 1.5), emit)


def fill_depthwise(
    shader: LayerShader, source: Stored, weight: Stored, bias: Stored, options: Options,
    made: Sequence[int], window: Sequence[int], between: str, quads: int,
) -> Fill:  # fmt: skip
    """Rows are made by a depthwise convolution, and the lines ``between`` change ``v``, its result.

    Four neighbouring pixels at a time; rows of pictures are filled up to fours.
    """
    count, height, width, _ = made
    runs = -(-width // RUN)
    a, w, b = shader.array(source), shader.array(weight), shader.array(bias)
    total, across = shader.number("runs", count * height * runs), shader.number("across", runs)
    wide = shader.number("width", width)
    function = depthwise_run(shader, a, w, b, source, options, made, window, between)

    def emit(t: Tiling) -> str:
        stores = "".join(
            f"    tile[(line * {RUN}u + {i}u) * {t.sums}u + c] = four[{i}];\n" for i in range(RUN)
        )
        return _units(
            t,
            f"    let run = min(first / {RUN}u + line, {total} - 1u);\n"
            f"    let four = {function}(run, start + c);\n{stores}",
            each=RUN,
        )

    place = (
        f"    let run = place / {RUN}u;\n    let x = (run % {across}) * {RUN}u + place % {RUN}u;\n"
        f"    if (run >= {total} || x >= {wide}) {{ return; }}\n"
        f"    let row = (run / {across}) * {wide} + x;\n"
    )
    sums, rows = -(-source.shape[-1] // 4), count * height * runs * RUN
    reads = window[0] * (window[1] + RUN) / RUN
    return Fill(Work(rows, quads, sums, reads, whole_rows=True), emit, place)
