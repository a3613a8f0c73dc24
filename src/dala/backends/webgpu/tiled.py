"""Products of matrices in tiles: both factors in workgroup memory, a square of results per invocation.

128 × 128 results per workgroup, 8 × 8 per invocation, 8 steps of the inner axis at a time; or 64 × 64,
4 × 4 and 16, where there would be too few of the large ones to keep a GPU busy. The first factor lies
transposed in workgroup memory, so that both are read as vec4. While one pair of tiles is multiplied the
next one is on its way from memory: there are two pairs, in 16 KiB together, which every adapter has.

Where the factors come from and where results go, the caller's functions say: ``left_at(row, k, …)`` and
``right_at(k, column, …)`` give four elements, zeros beyond the ends; ``store(row, column, v, …)`` takes
four.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dala.backends.webgpu.listing import THREADS, Listing
from dala.backends.webgpu.shader import Shader

ENOUGH = 192  # large tiles


@dataclass(frozen=True, slots=True)
class Blocking:
    """Results along a side, inner steps, results of an invocation along a side."""

    block: int
    step: int
    side: int

    @property
    def quarter(self) -> int:
        return self.block // 4

    @property
    def tile(self) -> int:
        """vec4s of one factor: one for each invocation."""
        return self.step * self.quarter


LARGE, MEDIUM = Blocking(128, 8, 8), Blocking(64, 16, 4)


def choose_blocking(rows: int, columns: int, count: int = 1) -> Blocking:
    """Large tiles, if there are enough of them, and none of them is half empty."""
    block = LARGE.block
    enough = count * -(-rows // block) * -(-columns // block) >= ENOUGH
    return LARGE if enough and min(rows, columns) > MEDIUM.block else MEDIUM


def emit_tiled(
    text: Listing, b: Blocking, shape: tuple[int, int], *, count: int = 1, before: str = ""
) -> Shader:
    """The shader of ``count`` products of this shape; ``rows``, ``inner`` and ``columns`` are names of it.

    ``before``: lines before anything is read, where ``group.z`` is the number of the product and ``column``
    the first of the four that this invocation reads.
    """
    assert b.tile == THREADS
    # two tiles each; in arrays of their own they were read at two thirds of the speed (H200)
    text.shared("left", "vec4<f32>", 2 * b.tile)  # [inner][row / 4]
    text.shared("right", "vec4<f32>", 2 * b.tile)  # [inner][column / 4]
    text.main(_body(b, before))
    rows, columns = shape
    return text.shader_of((-(-columns // b.block), -(-rows // b.block), count), THREADS)


def _body(b: Blocking, before: str) -> str:
    """Two pairs of tiles in turns: one is multiplied while the other is fetched."""
    parts = [(i, h) for i in range(b.side) for h in range(b.side // 4)]
    sums = "\n".join(f"    var s{i}{h} = vec4<f32>();" for i, h in parts)
    stores = "\n".join(
        f"    store(y0 + {i // 4 * 64 + i % 4}u, x0 + {64 * h}u, s{i}{h}, rows, columns);"
        for i, h in parts
    )
    return f"""
    let lane_x = lane % 16u;
    let lane_y = lane / 16u;
    // an invocation's rows and columns are groups of four, 64 apart: neighbours read neighbouring ones
    let x0 = group.x * {b.block}u + lane_x * 4u;
    let y0 = group.y * {b.block}u + lane_y * 4u;
    let row = group.y * {b.block}u + lane / {b.step // 4}u;
    let k = (lane % {b.step // 4}u) * 4u;
    let line = lane / {b.quarter}u;
    let column = group.x * {b.block}u + (lane % {b.quarter}u) * 4u;
{before}{sums}
    var p = left_at(row, k, rows, inner);
    var q = right_at(line, column, inner, columns);
{_keep(b, 0)}
    for (var start = 0u; start < inner; start += {2 * b.step}u) {{
{_load(b.step)}
{_multiply(b, parts, 0)}
{_keep(b, 1)}
{_load(2 * b.step)}
{_multiply(b, parts, 1)}
{_keep(b, 0)}
    }}
{stores}
"""


def _load(ahead: int) -> str:
    """This invocation's share of a later pair of tiles; beyond the last one nobody uses it."""
    return f"""\
        p = left_at(row, start + {ahead}u + k, rows, inner);
        q = right_at(start + {ahead}u + line, column, inner, columns);"""


def _keep(b: Blocking, number: int) -> str:
    """What was loaded goes to workgroup memory: the first factor turned, the second as it is."""
    turned = "\n".join(
        f"        left[at + {number * b.tile + i * b.quarter}u][place] = p.{'xyzw'[i]};"
        for i in range(4)
    )
    own = f"lane / {b.step // 4}u"
    return f"""\
    {{
        let place = {own} % 4u;
        let at = k * {b.quarter}u + {own} / 4u;
{turned}
        right[{number * b.tile}u + lane] = q;
    }}
    workgroupBarrier();"""


def _multiply(b: Blocking, parts: Sequence[tuple[int, int]], number: int) -> str:
    """The inner steps, unrolled: every element in workgroup memory is a constant away from two of them."""
    lines = []
    for k in range(b.step):
        at = number * b.tile + k * b.quarter
        lines.append("        {")
        for h in range(b.side // 4):
            lines.append(f"            let p{h} = left[lane_y + {at + 16 * h}u];")
            lines.append(f"            let q{h} = right[lane_x + {at + 16 * h}u];")
        lines += [
            f"            s{i}{h} = fma(vec4<f32>(p{i // 4}.{'xyzw'[i % 4]}), q{h}, s{i}{h});"
            for i, h in parts
        ]
        lines.append("        }")
    return "\n".join(lines)
