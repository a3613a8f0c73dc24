"""The README's tables of numbers, from bench/results: `make bench` writes them, a test compares them.

python bench/readme.py            writes them
python bench/readme.py --check    only compares; exit 1 if README and results differ
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HD = "1920×1080"
RACES = {
    "blur r3": "blur r3", "blur r10": "blur r10", "sepia": "sepia", "denoise": "bilateral",
    "chain of five": "the chain",
}  # fmt: skip
ON_A_GPU = {
    "brightness": "brightness", "grayscale": "grayscale", "blur 3": "blur, radius 3",
    "blur 7": "blur, radius 7", "median 1": "median 3×3", "denoise": "bilateral 5×5",
    "chain of five": "the chain above",
}  # fmt: skip
RIVALS = {"cvcuda": "NVIDIA's CV-CUDA", "torchvision": "torchvision", "cupy": "CuPy"}


def load(name: str) -> Any:
    return json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def short(value: float) -> str:
    """Two digits that count."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def on_the_cpu() -> str:
    scaling, peers = load("scaling"), load("peers")
    memory = {row["run"]: row["ms"] for row in scaling["memory"][HD]}
    compiling = {row["run"]: row["ms"] for row in scaling["compile"][""]}
    overhead = {row["run"]: row["us"] for row in scaling["overhead"][""]}
    what, _, *busy, when = scaling["title"].split("; ")
    stages = scaling["stages"]["curves, 1920×1080"][-1]
    ratios = {row["job"]: row.get("opencv_ratio") for row in peers["rows"] if row["size"] == HD}
    rows = {
        f"{HD} RGBA, {'; '.join([what, *busy])}": when,
        "---": "---",
        "blur → sharpen → contrast → brightness → grayscale, fused": (
            f"{short(memory['chain of five: fused'])} ms"
        ),
        "the same, stage by stage": f"{short(memory['chain of five: stage by stage'])} ms",
        "compiling the fused chain, once": f"{short(compiling['chain of five'])} ms",
        "running a pipeline again, Python and call": f"{short(overhead['pipeline of 5, again'])} µs",
        f"{stages['stages']} point-wise stages in one pass (a plain copy: {short(stages['copy_ms'])} ms)": (
            f"{short(stages['ms'])} ms"
        ),
        f"OpenCV's time ÷ dala's, same threads, one run: {' · '.join(RACES.values())}": (
            " · ".join(short(ratios[job]) for job in RACES)
        ),
    }
    return "".join(f"| {name} | {value} |\n" for name, value in rows.items())


def on_a_gpu() -> str:
    """Ours beside theirs; the least of a row stands out."""
    measured = load("h200")
    found = {("dala", row["name"]): row["gpu_us"] for row in measured["kernels"]}
    found |= {(row["library"], row["name"]): row["gpu_us"] for row in measured["peers"]}
    lines = [f"| µs on the GPU | dala | {' | '.join(RIVALS.values())} |", "|---" * 5 + "|"]
    for name, words in ON_A_GPU.items():
        times = [found.get((library, name)) for library in ("dala", *RIVALS)]
        least = min(t for t in times if t) if any(times[1:]) else None
        cells = ["" if t is None else f"{t:,.0f}" for t in times]
        marked = [f"**{c}**" if t and t == least else c for t, c in zip(times, cells, strict=True)]
        lines.append(f"| {words} | {' | '.join(marked)} |")
    return "\n".join(lines) + "\n"


BLOCKS = {"bench": on_the_cpu, "h200": on_a_gpu}


def with_numbers(text: str) -> str:
    """The README with its tables written anew."""
    for name, table in BLOCKS.items():
        block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        if not block.search(text):
            raise SystemExit(f"README.md has no <!-- {name} --> block")
        text = block.sub(table(), text)
    return text


def main() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    new = with_numbers(text)
    if "--check" not in sys.argv:
        readme.write_text(new, encoding="utf-8")
    elif new != text:
        raise SystemExit("README.md and bench/results differ: run python bench/readme.py")


if __name__ == "__main__":
    main()
