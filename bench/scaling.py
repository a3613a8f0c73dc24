"""How cost grows, and what a fused chain costs in memory traffic.

    python bench/scaling.py [--quick] [--only SECTION] [--out bench/results]

Point-wise stages 1 → 16, blur radius 1 → 100, pixels × 1 → 400, threads 1 → all; an image far larger
than the cache, fused and stage by stage, against a plain copy; compile time and overhead per run.
Writes scaling.md, scaling.json and scaling.png. Needs the ``bench`` extra.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import dala
from dala import compute
from dala.backends.copying import copy_array
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import Compiled, detect_host
from dala.backends.cpu.run.cores import thread_count
from dala.backends.cpu.run.pool import pool
from dala.plan.fuse import FusedPass
from measure import Run, machine, measure, median_ms, use_the_cpu, write_results

Stage = tuple[str, dict[str, object]]
Table = list[dict[str, float]]
CHAIN: list[Stage] = [
    ("blur", {"radius": 3, "sigma": 1.5}),
    ("sharpen", {"amount": 0.5}),
    ("contrast", {"value": 0.2}),
    ("brightness", {"value": 0.05}),
    ("grayscale", {}),
]
COUNTS = (1, 2, 4, 8, 12, 16)
RADII = (1, 2, 3, 5, 10, 15, 20, 25, 30, 50, 75, 100)
SIZES = ((192, 108), (384, 216), (640, 480), (1280, 720), (1920, 1080), (3840, 2160))
HD, UHD, LARGE = (1920, 1080), (3840, 2160), (8192, 8192)


def photo(size: tuple[int, int]) -> compute.Buffer:
    buffer = compute.buffer_zeros((size[1], size[0], 4), "u8")
    compute.run_kernel("generate_noise", [], buffer)
    return buffer


def fused(
    stages: Sequence[Stage], source: compute.Buffer, result: compute.Buffer
) -> compute.Pipeline:
    pipeline = compute.pipeline()
    current: compute.Buffer | compute.Scratch = source
    for index, (kernel, params) in enumerate(stages):
        last = index == len(stages) - 1
        output = result if last else compute.scratch(source.shape, "u8")
        pipeline.add({"kernel": kernel, "inputs": [current], "output": output, "params": params})
        current = output
    return pipeline


def apart(stages: Sequence[Stage], source: compute.Buffer, images: Sequence[compute.Buffer]) -> Run:
    """Each stage writes a whole image, in turns into two."""
    pipelines, current = [], source
    for index, stage in enumerate(stages):
        output = images[index % 2]
        pipelines.append(fused([stage], current, output))
        current = output

    def run() -> None:
        for pipeline in pipelines:
            pipeline.run()

    return run


def chain_run(stages: Sequence[Stage], size: tuple[int, int]) -> Run:
    source = photo(size)
    return fused(stages, source, compute.buffer_zeros(source.shape, "u8")).run


# -- what grows --------------------------------------------------------------------------------


def curves(count: int) -> list[Stage]:
    """Each channel for itself: what a table can do."""
    kernels = ("contrast", "brightness", "gamma", "exposure")
    values = ("value", "value", "value", "stops")
    return [(kernels[i % 4], {values[i % 4]: 0.01 + (i % 4 == 2)}) for i in range(count)]


def mixes(count: int) -> list[Stage]:
    """Channels mixed with each other: no table helps."""
    params: list[Stage] = [("saturation", {"value": 0.05}), ("hue", {"degrees": 3.0})]
    return [params[i % 2] for i in range(count)]


def bench_stages(size: tuple[int, int], seconds: float) -> dict[str, Table]:
    """``per_stage``: what a further stage costs, as a share of the pass of one stage.

    Both images of HD stay in the cache, where sums count most; those of UHD do not.
    """
    source = photo(size)
    result, host = compute.buffer_zeros(source.shape, "u8"), source.read()
    target = np.empty_like(host)
    found = {}
    for kind, make in (("curves", curves), ("colour mixes", mixes)):
        name = f"{kind}, {size[0]}×{size[1]}"
        runs: dict[str, Run] = {str(n): fused(make(n), source, result).run for n in COUNTS}
        runs["copy"] = lambda: np.copyto(target, host)
        times = measure(runs, seconds * len(runs))
        first, copy = times["1"], times.pop("copy")
        found[name] = [
            {
                "stages": n,
                "ms": times[str(n)],
                "per_stage": (times[str(n)] - first) / (n - 1) / first if n > 1 else 1.0,
                "copy_ms": copy,
            }
            for n in COUNTS
        ]
    return found


def bench_radius(seconds: float) -> Table:
    runs = {str(r): chain_run([("blur", {"radius": r})], HD) for r in RADII}
    return [{"radius": r, "ms": median_ms(runs[str(r)], seconds)} for r in RADII]


def bench_pixels(seconds: float) -> dict[str, Table]:
    jobs: dict[str, list[Stage]] = {"brightness": curves(1), "blur r3": CHAIN[:1], "chain": CHAIN}
    found: dict[str, Table] = {}
    for name, stages in jobs.items():
        found[name] = []
        for size in SIZES:
            ms, pixels = median_ms(chain_run(stages, size), seconds), size[0] * size[1]
            found[name].append({"pixels": pixels, "ms": ms, "ns_per_pixel": ms * 1e6 / pixels})
    return found


def bench_threads(seconds: float) -> dict[str, Table]:
    """The same passes on 1 … all threads; ``efficiency`` is the share of n-fold speed that they reach.

    No pass that memory bounds is faster than a copy on as many threads.
    """
    most = thread_count()
    counts = sorted({1, *(n for n in (2, 4, 8, 16, 32, 64) if n < most), most})
    jobs: dict[str, tuple[list[Stage], tuple[int, int]]] = {
        "brightness": (curves(1), UHD), "grayscale": ([("grayscale", {})], UHD),
        "chain of five": (CHAIN, UHD), "blur r10": ([("blur", {"radius": 10})], UHD),
        "denoise": ([("denoise", {})], UHD), "sharpen 224×224": (CHAIN[1:2], (224, 224)),
        "blur r3 224×224": (CHAIN[:1], (224, 224)), "blur r3 640×480": (CHAIN[:1], (640, 480)),
    }  # fmt: skip
    runs = {name: chain_run(*job) for name, job in jobs.items()}
    source, target = (np.empty((*reversed(UHD), 4), np.uint8) for _ in range(2))
    source[:] = target[:] = 1  # the system has given the memory
    runs = {"copy": lambda: copy_array(target, source), **runs}
    found: dict[str, Table] = {name: [] for name in runs}
    for count in counts:
        with dala.use("cpu", threads=count):
            for name, ms in measure(runs, seconds * len(runs)).items():
                alone = found[name][0]["ms"] if found[name] else ms
                row = {"threads": count, "ms": ms, "efficiency": alone / ms / count}
                found[name].append(row)
    found["chains of five per second, several callers"] = bench_callers(seconds)
    return found | {"waking helpers that sleep": bench_wake(most)}


def bench_wake(most: int) -> Table:
    """From the call until so many of all helpers are at work, µs; ``again`` right after the last time."""
    if most == 1:
        return [{"helpers": 0, "us": 0.0, "us_again": 0.0}]
    asleep, again = [], []
    for _ in range(101):
        time.sleep(0.002)
        asleep.append(pool().measure_arrivals(most - 1))
        again.append(pool().measure_arrivals(most - 1))
    counts = sorted({1, *(n for n in (3, 7, 11, 13, 31) if n < most), most - 1})
    us = [
        [statistics.median(t[n - 1] for t in times) / 1e3 for n in counts]
        for times in (asleep, again)
    ]
    return [{"helpers": n, "us": a, "us_again": b} for n, a, b in zip(counts, *us, strict=True)]


def bench_callers(seconds: float) -> Table:
    """Four chains of 3840×2160, each on images of its own: one after another from one thread of Python, and
    from four at once; meanwhile another one ticks.

    ``longest_ms`` is the longest time between two ticks, which sleep for a millisecond.
    """
    rows = []
    for callers in (1, 4):
        runs = [chain_run(CHAIN, UHD) for _ in range(4)]
        for run in runs:
            run()
        until = time.perf_counter() + 5 * seconds
        counts, gaps = [0] * callers, [0.0]

        def call(number: int, runs: list[Run] = runs, until: float = until) -> None:
            mine = itertools.cycle(runs[number::callers])  # noqa: B023 (joined below)
            while time.perf_counter() < until:
                next(mine)()
                counts[number] += 1  # noqa: B023

        def tick(until: float = until) -> None:
            while time.perf_counter() < until:
                begun = time.perf_counter()
                time.sleep(0.001)
                gaps.append(time.perf_counter() - begun)  # noqa: B023

        threads = [threading.Thread(target=call, args=(n,)) for n in range(callers)]
        threads.append(threading.Thread(target=tick))
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        per_second = sum(counts) / (time.perf_counter() - begun)
        rows.append({"callers": callers, "per_second": per_second, "longest_ms": 1e3 * max(gaps)})
    return rows


# -- memory, compiling, overhead ---------------------------------------------------------------


def bench_memory(size: tuple[int, int], seconds: float) -> Table:
    """Time as traffic: one read and one write of the image, over the time."""
    source = photo(size)
    images = [compute.buffer_zeros(source.shape, "u8") for _ in range(2)]
    host, target = source.read(), np.empty(source.shape, np.uint8)
    tones = curves(8)
    runs: dict[str, Run] = {
        "copy (NumPy, one thread)": lambda: np.copyto(target, host),
        "copy (dala, all threads)": fused([("brightness", {"value": 0.0})], source, images[0]).run,
        "eight curves: fused": fused(tones, source, images[0]).run,
        "eight curves: stage by stage": apart(tones, source, images),
        "chain of five: fused": fused(CHAIN, source, images[0]).run,
        "chain of five: stage by stage": apart(CHAIN, source, images),
    }
    times = measure(runs, seconds * len(runs))
    traffic = 2 * host.nbytes
    return [{"run": n, "ms": ms, "gb_per_s": traffic / ms / 1e6} for n, ms in times.items()]  # type: ignore[dict-item]


def bench_compile(seconds: float) -> Table:
    """From the fused plan to machine code, nothing cached."""
    source, host = photo((64, 64)), detect_host()
    found = []
    names = {"brightness": curves(1), "blur r3": CHAIN[:1], "chain of five": CHAIN}
    for name, stages in names.items():
        pipeline = fused(stages, source, compute.buffer_zeros(source.shape, "u8"))
        (work,) = pipeline.engine.prepare(pipeline._stages).executable.plan.passes
        assert isinstance(work, FusedPass)
        ms = median_ms(lambda w=work: Compiled(emit_pass(w, host).text), seconds)
        found.append({"run": name, "ms": ms})
    return found  # type: ignore[return-value]


def bench_overhead(seconds: float) -> Table:
    """Tiny images: what is left is Python and the call."""
    small, other, out = photo((8, 8)), photo((8, 8)), compute.buffer_zeros((8, 8, 4), "u8")
    pipeline = fused(CHAIN, small, out)
    counter = iter(range(10**9))

    def with_new_values() -> None:
        pipeline.set_params(1, amount=(next(counter) % 100) / 100)
        pipeline.run()

    runs: dict[str, Run] = {
        "run_kernel": lambda: compute.run_kernel("brightness", [small], out, {"value": 0.1}),
        "pipeline of 5, again": pipeline.run,
        "pipeline of 5, new parameter value": with_new_values,
        "pipeline of 5, other buffer": lambda: pipeline.run(buffers={small: other}),
    }
    return [{"run": n, "us": ms * 1e3} for n, ms in measure(runs, seconds).items()]  # type: ignore[dict-item]


# -- results -----------------------------------------------------------------------------------


def markdown_table(rows: Table) -> str:
    """Columns as they are named."""

    def cell(value: object) -> str:
        if not isinstance(value, float):
            return str(value)
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"

    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([cell(row[key]) for key in head] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(title: str, data: dict[str, dict[str, Table]]) -> str:
    parts = [title]
    for section, tables in data.items():
        parts.append(f"## {HEADINGS[section]}")
        for name, rows in tables.items():
            parts += [f"{name}:" if name else "", markdown_table(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


HEADINGS = {
    "stages": "Point-wise stages in one pass",
    "radius": "Blur radius, 1920×1080",
    "pixels": "Pixels",
    "threads": "Threads; 3840×2160 unless another size is named",
    "memory": "Memory: one read and one write of the image ÷ time",
    "compile": "Compiling, nothing cached",
    "overhead": "Overhead per run, 8×8 image",
}


def bench(seconds: float, only: str) -> dict[str, dict[str, Table]]:
    sections: dict[str, Callable[[], dict[str, Table]]] = {
        "stages": lambda: bench_stages(HD, seconds) | bench_stages(UHD, 2 * seconds),
        "radius": lambda: {"": bench_radius(seconds)},
        "pixels": lambda: bench_pixels(seconds),
        "threads": lambda: bench_threads(seconds),
        "memory": lambda: {
            "1920×1080": bench_memory(HD, seconds),
            "8192×8192, 256 MiB": bench_memory(LARGE, 3 * seconds),
        },
        "compile": lambda: {"": bench_compile(seconds)},
        "overhead": lambda: {"": bench_overhead(4 * seconds)},
    }
    found = {}
    for section, run in sections.items():
        if only not in section:
            continue
        print(f"{HEADINGS[section]} …", flush=True)
        found[section] = run()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the time, noisier")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    parser.add_argument("--only", default="", help="one of the sections; writes no files")
    options = parser.parse_args()
    use_the_cpu()
    title = f"{machine()}; {time.strftime('%Y-%m-%d')}"
    data = bench(0.08 if options.quick else 0.4, options.only)
    text = report(title, data)
    print(f"\n{text}")
    if options.only:
        return
    write_results(options.out, "scaling", text, {"title": title, **data})
    from scaling_plot import plot

    plot(data, options.out / "scaling.png")
    print(f"written: {options.out}/scaling.md, scaling.json, scaling.png")


if __name__ == "__main__":
    main()
