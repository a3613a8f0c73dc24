"""The README's table of numbers, from bench/results: `make bench` writes it, a test compares it.

python bench/readme.py            writes it
python bench/readme.py --check    only compares; exit 1 if README and results differ
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", re.DOTALL)
HD = "1920×1080"
RACES = {
    "blur r3": "blur r3", "blur r10": "blur r10", "sepia": "sepia", "denoise": "bilateral",
    "chain of five": "the chain",
}  # fmt: skip


def load(name: str) -> Any:
    return json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def short(value: float) -> str:
    """Two digits that count."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def table() -> str:
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


def main() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    if not BLOCK.search(text):
        raise SystemExit("README.md has no <!-- bench --> block")
    new = BLOCK.sub(lambda _: table(), text)
    if "--check" not in sys.argv:
        readme.write_text(new, encoding="utf-8")
    elif new != text:
        raise SystemExit("README.md and bench/results differ: run python bench/readme.py")


if __name__ == "__main__":
    main()
