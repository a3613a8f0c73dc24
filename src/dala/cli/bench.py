"""``dala bench``: a few kernels and a chain on this machine, beside OpenCV where it is installed.

The picture lies in the device's memory already. OpenCV gets as many threads, its results are compared, and
they take turns, so that a noisy moment hits both.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import compute
from dala.backends.cpu.launch import thread_count
from dala.cli.screen import Row, say, say_columns, say_heading, say_json
from dala.media import Chain, Filters

Array = npt.NDArray[np.uint8]
Run = Callable[[], Any]
Peer = Callable[[Any, Array], Run]  # of the module cv2 and a picture
Job = tuple[str, Filters, "Peer | None"]
FEWEST = 5  # runs of each, even if one takes long
SAME_LEVELS, SAME_SHARE = 2, 0.02  # results agree: so many levels apart at most, but for this share

CHAIN: Filters = (
    ("blur", {"radius": 3, "sigma": 1.5}),
    ("sharpen", {"amount": 0.5}),
    ("contrast", {"value": 0.2}),
    ("brightness", {"value": 0.05}),
    ("grayscale", {}),
)


@dataclass(frozen=True)
class Timed:
    """One measurement, in milliseconds."""

    name: str
    ms: float
    first_ms: float  # the first run compiles
    opencv_ms: float | None = None
    same: bool = True  # OpenCV gets the same picture

    @property
    def ratio(self) -> float | None:
        """How often dala is done while OpenCV works once."""
        return self.opencv_ms / self.ms if self.opencv_ms else None


def show_bench(size: tuple[int, int], seconds: float, filters: Filters, *, as_json: bool) -> None:
    """Measure and print."""
    width, height = size
    picture = _picture(width, height)
    cv2 = _find_opencv()
    jobs: list[Job] = [("your filters", filters, None)] if filters else _jobs(cv2, size)
    rows = [
        _measure(name, picture, steps, peer and peer(cv2, picture), seconds)
        for name, steps, peer in jobs
    ]
    info = compute.device_info()
    if as_json:
        say_json(
            {
                "device": info["device"],
                "name": info["name"],
                "version": info["version"],
                "width": width,
                "height": height,
                "opencv": cv2.__version__ if cv2 and not filters else None,
                "rows": [_row_data(r, width * height) for r in rows],
            }
        )
        return
    _show(rows, info, size, cv2 is not None and not filters)


def _picture(width: int, height: int) -> Array:
    """Soft shapes and a little noise, as in a photo."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    waves = [np.sin(x / 60 + k) + np.cos(y / 45 - 2 * k) for k in range(4)]
    noise = np.random.default_rng(0).normal(0, 4, (height, width, 4))
    return np.clip(np.stack(waves, -1) * 50 + 128 + noise, 0, 255).astype(np.uint8)


def _row_data(row: Timed, pixels: int) -> dict[str, object]:
    return {
        "name": row.name,
        "ms": round(row.ms, 4),
        "first_ms": round(row.first_ms, 2),
        "megapixels_per_s": round(pixels / row.ms / 1e3, 1),
        "opencv_ms": row.opencv_ms and round(row.opencv_ms, 4),
        "opencv_agrees": row.same if row.opencv_ms else None,
    }


def _show(
    rows: Sequence[Timed], info: Mapping[str, object], size: tuple[int, int], raced: bool
) -> None:
    threads = f", {thread_count()} threads" if not info["gpu"] else ""
    say_heading(f"{size[0]}×{size[1]} RGBA on {info['name']}{threads}")
    pixels = size[0] * size[1]
    head = ("", "ms", "frames/s", "first run", "OpenCV" if raced else "")
    table: list[Row] = [head]
    for row in rows:
        peer = ""
        if row.ratio is not None:
            peer = f"{row.opencv_ms:8.2f} ms  {row.ratio:5.1f} ×"
            peer += "" if row.same else "  (another result)"
        speed = f"{row.ms:8.2f}", f"{1e3 / row.ms:8,.0f}", f"{row.first_ms:6.0f} ms"
        table.append((row.name, *speed, peer))
    say_columns(_right_aligned(table), styles=("cyan", "bold"))
    say()
    best = max(rows, key=lambda r: pixels / r.ms)
    say(f"fastest: {best.name}, {pixels / best.ms / 1e6:.1f} gigapixels/s", "dim")
    if not raced and importlib.util.find_spec("cv2") is None:
        say("OpenCV is not installed; with it (opencv-python-headless) both are measured", "dim")
    elif raced:
        say("× says how much longer OpenCV takes, with as many threads", "dim")


def _right_aligned(table: list[Row]) -> list[Row]:
    """Headings above numbers end where the numbers end."""
    head, body = table[0], table[1:]
    widths = [max(len(r[k]) for r in body) for k in range(len(head))]
    words = [h if k in (0, len(head) - 1) else h.rjust(widths[k]) for k, h in enumerate(head)]
    return [tuple(words), *body]


def _measure(
    name: str, picture: Array, steps: Filters, theirs: Run | None, seconds: float
) -> Timed:
    source = compute.from_array(picture)
    result, pipeline = build_pipeline(source, steps)

    def ours() -> None:
        pipeline.run()
        compute.synchronize()

    started = time.perf_counter()
    ours()
    first = time.perf_counter() - started
    if theirs is None:
        (spent,) = _in_turns([ours], seconds)
        return Timed(name, spent, first * 1e3)
    apart = np.abs(theirs()[..., :3].astype(np.int16) - result.read()[..., :3])
    same = bool((apart > SAME_LEVELS).mean() <= SAME_SHARE)
    spent, other = _in_turns([ours, theirs], seconds)
    return Timed(name, spent, first * 1e3, other, same)


def build_pipeline(
    source: compute.Buffer, steps: Filters
) -> tuple[compute.Buffer, compute.Pipeline]:
    """Filters from a buffer into a new one, fused as far as they go."""
    chain = Chain.of(steps)
    width, height = chain.size_after(source.shape[1], source.shape[0])
    result = compute.buffer_zeros((height, width, 4), "u8")
    pipeline = compute.pipeline()
    chain.add_to(pipeline, source, result)
    return result, pipeline


def _in_turns(runs: Sequence[Run], seconds: float) -> list[float]:
    """The median time of each in milliseconds."""
    times: list[list[float]] = [[] for _ in runs]
    until = time.perf_counter() + seconds * len(runs)
    while len(times[0]) < FEWEST or time.perf_counter() < until:
        for run, spent in zip(runs, times, strict=True):
            started = time.perf_counter()
            run()
            spent.append(time.perf_counter() - started)
    return [statistics.median(t) * 1e3 for t in times]


# -- the same with OpenCV --------------------------------------------------------------------------------


def _find_opencv() -> Any:
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError:
        return None
    cv2.setNumThreads(thread_count())
    return cv2


def _jobs(cv2: Any, size: tuple[int, int]) -> list[Job]:
    """What is measured: its name, its filters, and OpenCV's way to the same."""
    half = {"width": size[0] // 2, "height": size[1] // 2, "interpolation": "area"}
    jobs: list[Job] = [
        ("contrast", [("contrast", {"value": 0.2})], _curve),
        ("sepia", [("sepia", {"intensity": 1.0})], _sepia),
        ("grayscale", [("grayscale", {})], _grey),
        ("sharpen", [("sharpen", {"amount": 0.5})], _cross),
        ("blur radius=3", [("blur", {"radius": 3, "sigma": 1.5})], _gauss(3)),
        ("blur radius=10", [("blur", {"radius": 10, "sigma": 5.0})], _gauss(10)),
        ("resize to half", [("resize", half)], _half),
        ("chain of five", CHAIN, _chain),
    ]
    return [(name, steps, peer if cv2 else None) for name, steps, peer in jobs]


def _curve(cv2: Any, picture: Array) -> Run:
    levels = (np.arange(256) / 255 - 0.5) * 1.2 + 0.5
    table = np.rint(np.clip(levels, 0, 1) * 255).astype(np.uint8)
    out = np.empty_like(picture)
    return lambda: cv2.LUT(picture, table, dst=out)


def _sepia(cv2: Any, picture: Array) -> Run:
    matrix, out = np.eye(4, dtype=np.float32), np.empty_like(picture)
    matrix[:3, :3] = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
    return lambda: cv2.transform(picture, matrix, dst=out)


def _grey(cv2: Any, picture: Array) -> Run:
    grey, out = np.empty(picture.shape[:2], np.uint8), np.empty_like(picture)

    def run() -> object:
        cv2.cvtColor(picture, cv2.COLOR_RGBA2GRAY, dst=grey)
        return cv2.cvtColor(grey, cv2.COLOR_GRAY2RGBA, dst=out)

    return run


def _gauss(radius: int) -> Peer:
    size = (2 * radius + 1, 2 * radius + 1)

    def peer(cv2: Any, picture: Array) -> Run:
        edge, out = cv2.BORDER_REPLICATE, np.empty_like(picture)
        return lambda: cv2.GaussianBlur(picture, size, radius / 2, dst=out, borderType=edge)

    return peer


def _cross(cv2: Any, picture: Array) -> Run:
    kernel = np.array([[0, -0.5, 0], [-0.5, 3, -0.5], [0, -0.5, 0]], np.float32)
    edge, out = cv2.BORDER_REPLICATE, np.empty_like(picture)
    return lambda: cv2.filter2D(picture, -1, kernel, dst=out, borderType=edge)


def _half(cv2: Any, picture: Array) -> Run:
    size = (picture.shape[1] // 2, picture.shape[0] // 2)
    out = np.empty((size[1], size[0], 4), np.uint8)
    return lambda: cv2.resize(picture, size, dst=out, interpolation=cv2.INTER_AREA)


def _lighter(cv2: Any, picture: Array) -> Run:
    out = np.empty_like(picture)
    return lambda: cv2.convertScaleAbs(picture, dst=out, alpha=1, beta=12.75)


def _chain(cv2: Any, picture: Array) -> Run:
    """Each call writes an image; OpenCV has no other way."""
    runs, last = [], picture
    for peer in (_gauss(3), _cross, _curve, _lighter, _grey):
        runs.append(peer(cv2, last))
        last = runs[-1]()  # the array it writes, every time the same

    def run() -> object:
        for part in runs:
            result = part()
        return result

    return run
