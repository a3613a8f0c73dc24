"""dala beside OpenCV, Pillow and scikit-image: the same job, the same threads, one run.

    python bench/peers.py [--quick] [--only NAME] [--out bench/results]

Each row: medians over many runs, in turns, and the ratio peer time ÷ dala time (above 1: dala is
faster); "differs" says how far dala's result and OpenCV's are apart. RGBA u8 from 224×224 to
3840×2160. Writes peers.md, peers.json and peers.png. Needs the ``bench`` extra.

    job.py           what a job is        color_jobs.py, filter_jobs.py, geometry_jobs.py   the jobs
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import skimage
from PIL import Image

import color_jobs
import filter_jobs
import geometry_jobs
from dala import compute
from dala.backends.cpu.run.cores import thread_count
from dala.language.registry import find_kernel
from job import EQUAL, Job, Peer, Scene, dala_pipeline, difference
from measure import Run, machine, measure, median_ms, use_the_cpu, write_results

SIZES = [(224, 224), (640, 480), (1920, 1080), (3840, 2160)]
JOBS: list[Job] = [
    *color_jobs.JOBS, *filter_jobs.JOBS, *geometry_jobs.JOBS, *filter_jobs.CHAINS,
]  # fmt: skip
PEERS = {"opencv": "OpenCV", "plain": "plain calls", "pillow": "Pillow", "skimage": "skimage"}
# The slow ones are not waited for on large images.
WIDEST = {"opencv": 10**6, "plain": 10**6, "pillow": 2000, "skimage": 700}
Row = dict[str, object]


def bench(jobs: Sequence[Job], seconds: float) -> list[Row]:
    rows = []
    for width, height in SIZES:
        scene, copied = Scene(width, height), np.empty((height, width, 4), np.uint8)
        copy = median_ms(lambda s=scene, c=copied: np.copyto(c, s.rgba), seconds)
        for job in jobs:
            rows.append(bench_job(job, scene, seconds, copy))
            print(markdown_row(rows[-1]), flush=True)
    return rows


def bench_job(job: Job, scene: Scene, seconds: float, copy: float) -> Row:
    pipeline, result = dala_pipeline(job, scene)
    started = time.perf_counter()
    pipeline.run()
    row: Row = {"size": f"{scene.width}×{scene.height}", "job": job.name}
    row["first_ms"] = (time.perf_counter() - started) * 1e3
    runs: dict[str, Run] = {"dala": pipeline.run}
    for name in PEERS:
        peer: Peer | None = getattr(job, name)
        if peer is not None and scene.width <= WIDEST[name]:
            runs[name] = peer(scene)
    if job.apart:
        row["apart"] = job.apart
    elif job.opencv is not None:
        row["differs"], row["strays"] = difference(job, result.read(), runs["opencv"]())
        row["wrong"] = float(row["strays"]) > job.strays  # type: ignore[arg-type]
    found = measure(runs, seconds)
    row |= {f"{name}_ms": ms for name, ms in found.items()}
    row |= {f"{n}_ratio": ms / found["dala"] for n, ms in found.items() if n != "dala"}
    row["copies"] = found["dala"] / copy
    return row


def number(value: object) -> str:
    """Three digits that count."""
    assert isinstance(value, float)
    return (
        f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    )


def markdown_row(row: Row) -> str:
    cells = [str(row["size"]), str(row["job"]), *(number(row[k]) for k in ("dala_ms", "copies"))]
    for peer in PEERS:
        known = f"{peer}_ms" in row
        cells += [number(row[f"{peer}_{k}"]) if known else "" for k in ("ms", "ratio")]
        if peer == "opencv":
            cells.append(str(row.get("apart", "")) or differs(row))
    return f"| {' | '.join(cells)} | {number(row['first_ms'])} |"


def differs(row: Row) -> str:
    if "differs" not in row:
        return ""
    levels, strays = float(row["differs"]), float(row["strays"])  # type: ignore[arg-type]
    return f"{levels:.0f}" if levels <= EQUAL else f"{levels:.0f} ({strays:.2%} > {EQUAL})"


HEAD = (
    "| size | job | dala ms | × copy | OpenCV ms | ratio | differs, levels | plain calls ms | ratio "
    "| Pillow ms | ratio | skimage ms | ratio | first run ms |\n" + "|---" * 14 + "|"
)


def slower(rows: Sequence[Row]) -> list[str]:
    """Where a peer is ahead."""
    return [
        f"{row['size']} {row['job']}: {PEERS[peer]} {number(row[f'{peer}_ratio'])}"
        for row in rows
        for peer in PEERS
        if float(row.get(f"{peer}_ratio", 1)) < 1  # type: ignore[arg-type]
    ]


def plot(rows: Sequence[Row], path: Path) -> None:
    """Ratios at 1920×1080: bars for OpenCV, a dot for Pillow."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    chosen = [r for r in rows if r["size"] == "1920×1080" and "opencv_ratio" in r][::-1]
    ratios = np.array([r["opencv_ratio"] for r in chosen], float)
    figure, axes = pyplot.subplots(figsize=(9, 0.24 * len(chosen) + 1.2))
    colors = np.where(ratios >= 1, "#2a9d70", "#cc5544")
    axes.barh(range(len(chosen)), ratios - 1, left=1, color=colors, height=0.72)
    pillow = [(float(r["pillow_ratio"]), i) for i, r in enumerate(chosen) if "pillow_ratio" in r]  # type: ignore[arg-type]
    axes.plot(
        *np.transpose(pillow) if pillow else ([], []), "o", color="#335", ms=4, label="Pillow"
    )
    axes.axvline(1, color="#333", linewidth=1)
    axes.set(xscale="log", ylim=(-0.7, len(chosen) - 0.3))
    axes.set_yticks(range(len(chosen)), [str(r["job"]) for r in chosen], fontsize=8)
    axes.set_xlabel("OpenCV's time ÷ dala's (bars), 1920×1080 RGBA u8: right of 1 dala is faster")
    for index, ratio in enumerate(ratios):
        where = axes.get_yaxis_transform()  # in a column of their own, clear of the dots
        axes.text(1.01, index, number(float(ratio)), va="center", fontsize=7, transform=where)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(axis="x", color="#ddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def check_complete() -> None:
    """Every image kernel has a row."""
    benched = {kernel for job in JOBS for kernel, _ in job.stages}
    missing = [
        n for n in compute.kernels() if find_kernel(n).domain == "image" and n not in benched
    ]
    if missing:
        raise SystemExit(f"no row for: {', '.join(missing)}")


def main() -> None:
    use_the_cpu()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the time, noisier")
    parser.add_argument("--only", default="", help="jobs whose name holds this; writes no files")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    check_complete()
    cv2.setNumThreads(thread_count())
    title = (
        f"{machine()}; OpenCV {cv2.__version__}, Pillow {Image.__version__}, "
        f"scikit-image {skimage.__version__}; {time.strftime('%Y-%m-%d')}"
    )
    print(f"{title}\n\n{HEAD}")
    rows = bench([j for j in JOBS if options.only in j.name], 0.08 if options.quick else 0.4)
    behind = slower(rows)
    print("\nwhere a peer is ahead (its time ÷ dala's):", *(behind or ["nowhere"]), sep="\n")
    if not options.only:
        body = "\n".join([title, "", HEAD, *map(markdown_row, rows)])
        body += "\n\nWhere a peer is ahead (its time ÷ dala's):\n\n" + "\n".join(
            f"* {b}" for b in behind
        )
        write_results(options.out, "peers", body + "\n", {"title": title, "rows": rows})
        plot(rows, options.out / "peers.png")
        print(f"\nwritten: {options.out}/peers.md, peers.json, peers.png")
    wrong = [f"{r['size']} {r['job']}: {differs(r)}" for r in rows if r.get("wrong")]
    if wrong:
        raise SystemExit("not the same result as OpenCV's:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
