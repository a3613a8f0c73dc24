"""top_k: a workgroup for each line finds the largest, then the largest of what comes behind it, and so on.

That is k turns over a line: for the five best of a thousand classes, less than to sort them.
"""

from __future__ import annotations

from dala.backends.webgpu.listing import THREADS, Listing
from dala.backends.webgpu.shader import Shader
from dala.plan.whole import WholePass

NOWHERE = "0xffffffffu"


def emit_top_k(work: WholePass) -> Shader:
    """Rows of value and position; NaN before all others, equals in their order."""
    source, target = work.reads[0], work.writes[0]
    n, k = source.type.shape[-1], target.type.shape[-2]
    lines = source.type.count // n
    text = Listing(work.labels[0], [source, target], written=1)
    a, out = text.elements
    text.numbers(n=n, chosen=k, lines=lines)
    text.shared("best", a.type, THREADS)
    text.shared("place", "u32", THREADS)
    text.function(
        f"""fn comes_before(v: {a.type}, i: u32, w: {a.type}, j: u32) -> bool {{
    if (i == {NOWHERE} || j == {NOWHERE}) {{ return j == {NOWHERE} && i != {NOWHERE}; }}
    let odd = !(v == v);
    let even = w == w;
    if (odd || !even) {{ return odd && (even || i < j); }}
    return v > w || (v == w && i < j);
}}
"""
    )
    text.main(
        f"""
    let number = group.y * groups.x + group.x;
    let line = min(number, lines - 1u);
    var last = {a.zero};
    var last_place = {NOWHERE};
    for (var turn = 0u; turn < chosen; turn += 1u) {{
        var top = {a.zero};
        var spot = {NOWHERE};
        for (var i = lane; i < n; i += {THREADS}u) {{
            let v = {a.read("line * n + i")};
            if ((turn == 0u || comes_before(last, last_place, v, i)) && comes_before(v, i, top, spot)) {{
                top = v;
                spot = i;
            }}
        }}
        best[lane] = top;
        place[lane] = spot;
        workgroupBarrier();
        for (var step = {THREADS // 2}u; step > 0u; step /= 2u) {{
            let other = min(lane + step, {THREADS - 1}u);
            if (lane < step && comes_before(best[other], place[other], best[lane], place[lane])) {{
                best[lane] = best[other];
                place[lane] = place[other];
            }}
            workgroupBarrier();
        }}
        last = best[0];
        last_place = place[0];
        workgroupBarrier();
        if (lane == 0u && number < lines) {{
            let at = (line * chosen + turn) * 2u;
            {out.write("at", "last")}
            {out.write("at + 1u", f"{out.type}(last_place)")}
        }}
    }}
"""
    )
    return text.shader(lines)
