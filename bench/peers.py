"""dala beside OpenCV, Pillow and scikit-image: the same job, the same threads, one run.

    python bench/peers.py [--quick] [--out bench/results]

Each row: medians over many runs, interleaved so that a noisy moment hits everyone, and the ratio
peer time ÷ dala time (above 1: dala is faster). Sizes 640×480, 1920×1080 and 3840×2160, RGBA u8.
Writes peers.md, peers.json and peers.png. Needs the ``bench`` extra.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from skimage import filters as skfilters

from dala import compute
from dala.backends.cpu.launch import thread_count

Run = Callable[[], object]
SIZES = [(640, 480), (1920, 1080), (3840, 2160)]
SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])


@dataclass
class Job:
    """One kernel call and what the peers do for the same result."""

    name: str
    stages: list[tuple[str, dict[str, object]]]
    opencv: Callable[[np.ndarray, np.ndarray], Run] | None = None
    pillow: Callable[[Image.Image], Run] | None = None
    skimage: Callable[[np.ndarray], Run] | None = None
    output: Callable[[int, int], tuple[int, ...]] = field(default=lambda h, w: (h, w, 4))


def gaussian_cv(radius: int, sigma: float) -> Callable[[np.ndarray, np.ndarray], Run]:
    size = (2 * radius + 1, 2 * radius + 1)
    edge = cv2.BORDER_REPLICATE
    return lambda a, out: lambda: cv2.GaussianBlur(a, size, sigma, dst=out, borderType=edge)


def sharpen_cv(amount: float) -> Callable[[np.ndarray, np.ndarray], Run]:
    k = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]], np.float32) * amount
    k[1, 1] += 1
    return lambda a, out: lambda: cv2.filter2D(a, -1, k, dst=out, borderType=cv2.BORDER_REPLICATE)


def scale_cv(alpha: float, beta: float) -> Callable[[np.ndarray, np.ndarray], Run]:
    return lambda a, out: lambda: cv2.convertScaleAbs(a, dst=out, alpha=alpha, beta=beta)


def gray_cv(a: np.ndarray, out: np.ndarray) -> Run:
    return lambda: cv2.cvtColor(cv2.cvtColor(a, cv2.COLOR_RGBA2GRAY), cv2.COLOR_GRAY2RGBA, dst=out)


def table_cv(a: np.ndarray, out: np.ndarray) -> Run:
    table = (255 * (np.arange(256) / 255) ** (1 / 2.2)).round().astype(np.uint8)
    return lambda: cv2.LUT(a, table, dst=out)


def sepia_cv(a: np.ndarray, out: np.ndarray) -> Run:
    matrix = np.eye(4, dtype=np.float32)
    matrix[:3, :3] = SEPIA
    return lambda: cv2.transform(a, matrix, dst=out)


def sobel_cv(a: np.ndarray, out: np.ndarray) -> Run:
    def run() -> object:
        gray = cv2.cvtColor(a, cv2.COLOR_RGBA2GRAY)
        gx = cv2.Sobel(gray, cv2.CV_16S, 1, 0, borderType=cv2.BORDER_REPLICATE)
        gy = cv2.Sobel(gray, cv2.CV_16S, 0, 1, borderType=cv2.BORDER_REPLICATE)
        return cv2.addWeighted(cv2.convertScaleAbs(gx), 0.5, cv2.convertScaleAbs(gy), 0.5, 0)

    return run


def bilateral_cv(a: np.ndarray, out: np.ndarray) -> Run:
    rgb = np.ascontiguousarray(a[..., :3])  # OpenCV's bilateral filter takes no alpha
    return lambda: cv2.bilateralFilter(rgb, 5, 30, 2)


def hsv_cv(a: np.ndarray, out: np.ndarray) -> Run:
    def run() -> object:
        hsv = cv2.cvtColor(a, cv2.COLOR_RGB2HSV)
        hsv[..., 1] = cv2.convertScaleAbs(hsv[..., 1], alpha=1.3)[:, :]
        return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)

    return run


def half_cv(a: np.ndarray, out: np.ndarray) -> Run:
    size = (a.shape[1] // 2, a.shape[0] // 2)
    return lambda: cv2.resize(a, size, interpolation=cv2.INTER_LINEAR)


def chain_cv(a: np.ndarray, out: np.ndarray) -> Run:
    steps = [
        gaussian_cv(3, 1.5),
        sharpen_cv(0.5),
        scale_cv(1.2, -25.5),
        scale_cv(1.0, 12.75),
        gray_cv,
    ]
    images = [a, *(np.empty_like(a) for _ in steps[:-1]), out]
    runs = [step(images[i], images[i + 1]) for i, step in enumerate(steps)]

    def run() -> None:
        for each in runs:
            each()

    return run


CHAIN: list[tuple[str, dict[str, object]]] = [
    ("blur", {"radius": 3, "sigma": 1.5}),
    ("sharpen", {"amount": 0.5}),
    ("contrast", {"value": 0.2}),
    ("brightness", {"value": 0.05}),
    ("grayscale", {}),
]
JOBS = [
    Job(
        "blur r3", [("blur", {"radius": 3, "sigma": 1.5})], gaussian_cv(3, 1.5),
        lambda im: lambda: im.filter(ImageFilter.GaussianBlur(1.5)),
        lambda a: lambda: skfilters.gaussian(a, 1.5, channel_axis=2),
    ),
    Job(
        "blur r10", [("blur", {"radius": 10, "sigma": 5})], gaussian_cv(10, 5),
        lambda im: lambda: im.filter(ImageFilter.GaussianBlur(5)),
        lambda a: lambda: skfilters.gaussian(a, 5, channel_axis=2),
    ),
    Job("sharpen", [("sharpen", {"amount": 0.5})], sharpen_cv(0.5)),
    Job("grayscale", [("grayscale", {})], gray_cv, lambda im: lambda: ImageOps.grayscale(im)),
    Job(
        "brightness", [("brightness", {"value": 0.05})], scale_cv(1, 12.75),
        lambda im: lambda: ImageEnhance.Brightness(im).enhance(1.05),
    ),
    Job(
        "contrast", [("contrast", {"value": 0.2})], scale_cv(1.2, -25.5),
        lambda im: lambda: ImageEnhance.Contrast(im).enhance(1.2),
    ),
    Job("invert", [("invert", {})], lambda a, out: lambda: cv2.bitwise_not(a, dst=out)),
    Job("gamma", [("gamma", {"value": 2.2})], table_cv),
    Job("sepia", [("sepia", {"intensity": 1.0})], sepia_cv),
    Job("saturation", [("saturation", {"value": 0.3})], hsv_cv),
    Job("hue", [("hue", {"degrees": 30})], hsv_cv),
    Job("edge_detect", [("edge_detect", {})], sobel_cv),
    Job(
        "median r1", [("median", {"radius": 1})],
        lambda a, out: lambda: cv2.medianBlur(a, 3, dst=out),
        lambda im: lambda: im.filter(ImageFilter.MedianFilter(3)),
    ),
    Job("denoise", [("denoise", {"strength": 0.5})], bilateral_cv),
    Job(
        "resize half", [("resize", {})], half_cv,
        lambda im: lambda: im.resize((im.width // 2, im.height // 2), Image.Resampling.BILINEAR),
        output=lambda h, w: (h // 2, w // 2, 4),
    ),
    Job("chain of five", CHAIN, chain_cv),
]  # fmt: skip


def dala_run(job: Job, photo: compute.Buffer) -> Run:
    height, width, _ = photo.shape
    pipeline = compute.pipeline()
    current: compute.Buffer | compute.Scratch = photo
    for index, (kernel, params) in enumerate(job.stages):
        last = index == len(job.stages) - 1
        shape = job.output(height, width)
        output = compute.buffer_zeros(shape, "u8") if last else compute.scratch(photo.shape, "u8")
        pipeline.add({"kernel": kernel, "inputs": [current], "output": output, "params": params})
        current = output
    return pipeline.run


def measure(runs: dict[str, Run], seconds: float) -> dict[str, float]:
    """Median milliseconds of each, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline or min(map(len, times.values())) < 7:
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
        if max(map(len, times.values())) > 400:
            break
    return {name: statistics.median(t) * 1e3 for name, t in times.items()}


def bench(seconds: float) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    known = set(compute.kernels())
    for width, height in SIZES:
        rng = np.random.default_rng(0)
        noise = rng.integers(0, 256, (height // 8, width // 8, 4), dtype=np.uint8)
        a = cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
        a[..., 3] = 255
        photo, out, picture = compute.from_array(a), np.empty_like(a), Image.fromarray(a[..., :3])
        copied = np.empty_like(a)
        copy = measure({"copy": lambda s=a, c=copied: np.copyto(c, s)}, seconds / 2)["copy"]
        for job in JOBS:
            if not {kernel for kernel, _ in job.stages} <= known:
                continue
            runs: dict[str, Run] = {"dala": dala_run(job, photo)}
            if job.opencv is not None:
                runs["opencv"] = job.opencv(a, out)
            if job.pillow is not None and width < 3000:
                runs["pillow"] = job.pillow(picture)
            if job.skimage is not None and width < 1000:
                runs["skimage"] = job.skimage(a[..., :3])
            found = measure(runs, seconds)
            row: dict[str, object] = {"size": f"{width}×{height}", "job": job.name, "copy_ms": copy}
            row |= {f"{name}_ms": ms for name, ms in found.items()}
            row |= {f"{n}_ratio": ms / found["dala"] for n, ms in found.items() if n != "dala"}
            rows.append(row)
            print(markdown_row(row), flush=True)
    return rows


def markdown_row(row: dict[str, object]) -> str:
    def cell(key: str, form: str) -> str:
        return format(row[key], form) if key in row else "–"

    peers = [
        f"{cell(f'{p}_ms', '.2f')} | {cell(f'{p}_ratio', '.1f')}"
        for p in ("opencv", "pillow", "skimage")
    ]
    over_copy = float(row["dala_ms"]) / float(row["copy_ms"])  # type: ignore[arg-type]
    own = f"{cell('dala_ms', '.2f')} | {over_copy:.1f}"
    return f"| {row['size']} | {row['job']} | {own} | {' | '.join(peers)} |"


HEAD = """| size | job | dala ms | × copy | OpenCV ms | ratio | Pillow ms | ratio | skimage ms | ratio |
|---|---|---|---|---|---|---|---|---|---|"""


def plot(rows: list[dict[str, object]], path: Path) -> None:
    """Ratios to OpenCV at 1920×1080 as bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    chosen = [r for r in rows if r["size"] == "1920×1080" and "opencv_ratio" in r]
    names = [str(r["job"]) for r in chosen]
    ratios = [float(r["opencv_ratio"]) for r in chosen]  # type: ignore[arg-type]
    figure, axes = pyplot.subplots(figsize=(9, 0.4 * len(names) + 1.2))
    axes.barh(names[::-1], ratios[::-1], color=["#2a7" if x >= 1 else "#c55" for x in ratios[::-1]])
    axes.axvline(1, color="#333", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel(
        "OpenCV time ÷ dala time, 1920×1080 RGBA u8 (right of the line: dala is faster)"
    )
    for index, ratio in enumerate(ratios[::-1]):
        axes.text(ratio * 1.03, index, f"{ratio:.1f}", va="center", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the time, noisier")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    cv2.setNumThreads(thread_count())
    info = compute.device_info()
    title = (
        f"{info['name']}, {info['threads']} threads, {info['vector_bits']}-bit vectors; dala "
        f"{info['version']}, OpenCV {cv2.__version__}, Pillow {Image.__version__}, "
        f"NumPy {np.__version__}, Python {platform.python_version()}; {time.strftime('%Y-%m-%d')}"
    )
    print(f"{title}\n\n{HEAD}")
    rows = bench(0.12 if options.quick else 0.6)
    options.out.mkdir(parents=True, exist_ok=True)
    body = "\n".join(markdown_row(r) for r in rows)
    command = "python bench/peers.py" + (" --quick" if options.quick else "")
    (options.out / "peers.md").write_text(
        f"{title}\n\n`{command}`\n\n{HEAD}\n{body}\n", encoding="utf-8"
    )
    (options.out / "peers.json").write_text(json.dumps({"title": title, "rows": rows}, indent=1))
    plot(rows, options.out / "peers.png")
    print(f"\nwritten: {options.out}/peers.md, peers.json, peers.png")


if __name__ == "__main__":
    main()
