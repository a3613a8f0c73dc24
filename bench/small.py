"""Small images, where Python's part of a call shows: dala beside OpenCV, microseconds per call.

    python bench/small.py [--size 224x224]

One kernel by ``run_kernel``, every call with its checks, and the same as a prepared pipeline; OpenCV
with a preallocated result. Medians, measured in turns; a ratio above 1 means that dala is faster.
Needs the ``bench`` extra.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import cv2
import numpy as np

from dala import compute
from dala.backends.cpu.run.cores import thread_count
from measure import use_the_cpu

Array = np.ndarray
Run = Callable[[], object]
TURNS, CALLS = 60, 20
EDGE = cv2.BORDER_REPLICATE
SHARPEN = np.array([[0, -0.5, 0], [-0.5, 3, -0.5], [0, -0.5, 0]], np.float32)
GAMMA = (255 * (np.arange(256) / 255) ** (1 / 2.2)).round().astype(np.uint8)
SEPIA = np.array(
    [[0.393, 0.769, 0.189, 0], [0.349, 0.686, 0.168, 0], [0.272, 0.534, 0.131, 0], [0, 0, 0, 1]],
    np.float32,
)


@dataclass
class Job:
    """Kernels in a row, and what OpenCV does for the same result."""

    name: str
    stages: list[tuple[str, dict[str, object]]]
    opencv: Callable[[Array, Array], Run]
    scale: int = 1  # the output is this much smaller


def blur(a: Array, out: Array) -> Run:
    return lambda: cv2.GaussianBlur(a, (7, 7), 1.5, dst=out, borderType=EDGE)


def sharpen(a: Array, out: Array) -> Run:
    return lambda: cv2.filter2D(a, -1, SHARPEN, dst=out, borderType=EDGE)


def gray(a: Array, out: Array) -> Run:
    one = np.empty(a.shape[:2], np.uint8)

    def run() -> None:
        cv2.cvtColor(a, cv2.COLOR_RGBA2GRAY, dst=one)
        cv2.cvtColor(one, cv2.COLOR_GRAY2RGBA, dst=out)

    return run


def brighten(a: Array, out: Array) -> Run:
    return lambda: cv2.convertScaleAbs(a, dst=out, alpha=1, beta=12.75)


def sobel(a: Array, out: Array) -> Run:
    """Its magnitude needs both directions; the cheap sum of their absolute values stands for it."""
    one = np.empty(a.shape[:2], np.uint8)
    gx, gy = np.empty(a.shape[:2], np.int16), np.empty(a.shape[:2], np.int16)
    ax, ay = one.copy(), one.copy()

    def run() -> None:
        cv2.cvtColor(a, cv2.COLOR_RGBA2GRAY, dst=one)
        cv2.Sobel(one, cv2.CV_16S, 1, 0, dst=gx, borderType=EDGE)
        cv2.Sobel(one, cv2.CV_16S, 0, 1, dst=gy, borderType=EDGE)
        cv2.add(cv2.convertScaleAbs(gx, ax), cv2.convertScaleAbs(gy, ay), dst=one)
        cv2.cvtColor(one, cv2.COLOR_GRAY2RGBA, dst=out)

    return run


def half(a: Array, out: Array) -> Run:
    return lambda: cv2.resize(a, out.shape[1::-1], dst=out)


def blur_and_brighten(a: Array, out: Array) -> Run:
    soft = np.empty_like(a)
    first, second = blur(a, soft), brighten(soft, out)
    return lambda: (first(), second())


JOBS = [
    Job("blur r3", [("blur", {"radius": 3, "sigma": 1.5})], blur),
    Job("sharpen", [("sharpen", {"amount": 0.5})], sharpen),
    Job("grayscale", [("grayscale", {})], gray),
    Job("brightness", [("brightness", {"value": 0.05})], brighten),
    Job("invert", [("invert", {})], lambda a, out: lambda: cv2.bitwise_not(a, dst=out)),
    Job("gamma", [("gamma", {"value": 2.2})], lambda a, out: lambda: cv2.LUT(a, GAMMA, dst=out)),
    Job("sepia", [("sepia", {})], lambda a, out: lambda: cv2.transform(a, SEPIA, dst=out)),
    Job("Sobel", [("edge_detect", {})], sobel),
    Job("resize half", [("resize", {})], half, scale=2),
    Job(
        "blur r3, brightness",
        [("blur", {"radius": 3, "sigma": 1.5}), ("brightness", {"value": 0.05})],
        blur_and_brighten,
    ),
]


def measure(runs: dict[str, Run]) -> dict[str, float]:
    """Median microseconds of each, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(TURNS + 5):
        for name, run in runs.items():
            started = time.perf_counter()
            for _ in range(CALLS):
                run()
            if turn >= 5:
                times[name].append((time.perf_counter() - started) / CALLS)
    return {name: median(t) * 1e6 for name, t in times.items()}


def bench(job: Job, image: Array) -> dict[str, float]:
    shape = (image.shape[0] // job.scale, image.shape[1] // job.scale, 4)
    photo, result = compute.from_array(image), compute.buffer_zeros(shape, "u8")
    pipeline = compute.pipeline()
    current: compute.Buffer | compute.Scratch = photo
    for number, (kernel, params) in enumerate(job.stages):
        target = result if number == len(job.stages) - 1 else compute.scratch(image.shape, "u8")
        pipeline.add({"kernel": kernel, "inputs": [current], "output": target, "params": params})
        current = target
    runs: dict[str, Run] = {"pipeline": pipeline.run}
    if len(job.stages) == 1:
        kernel, params = job.stages[0]
        runs["run_kernel"] = lambda: compute.run_kernel(kernel, [photo], result, params)
    runs["opencv"] = job.opencv(image, np.empty(shape, np.uint8))
    return measure(runs)


def main() -> None:
    use_the_cpu()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="224x224")
    width, height = map(int, parser.parse_args().size.split("x"))
    cv2.setNumThreads(thread_count())
    image = np.random.default_rng(0).integers(0, 256, (height, width, 4), dtype=np.uint8)
    print(f"{width}×{height} RGBA u8, {thread_count()} threads, µs per call; ratios to OpenCV\n")
    print("| job | run_kernel | ratio | pipeline | ratio | OpenCV |\n|---|---|---|---|---|---|")
    for job in JOBS:
        found = bench(job, image)
        peer = found["opencv"]
        single = found.get("run_kernel")
        alone = "– | –" if single is None else f"{single:.1f} | {peer / single:.1f}"
        ours = found["pipeline"]
        print(f"| {job.name} | {alone} | {ours:.1f} | {peer / ours:.1f} | {peer:.1f} |", flush=True)


if __name__ == "__main__":
    main()
