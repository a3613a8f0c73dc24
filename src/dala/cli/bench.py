"""``dala bench``: a few kernels and a chain on this machine, beside OpenCV where it is installed.

The picture lies in the device's memory already. OpenCV gets as many threads, its results are compared, and
they take turns, so that a noisy moment hits both.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import compute
from dala.backends.cpu.run.cores import thread_count
from dala.cli.screen import say, say_heading, say_json
from dala.media import Chain, Filters

Array = npt.NDArray[np.uint8]
Work = Callable[[], Any]
Peer = Callable[[Any, Array], Work]  # of the module cv2 and a picture
FEWEST = 5  # runs of each, even if one takes long
NAME = 16  # columns
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
    def line(self) -> str:
        """As a row of the table."""
        own = f"  {self.name:<{NAME}}{self.ms:>9.2f}{1e3 / self.ms:>10,.0f}{self.first_ms:>9.0f} ms"
        if self.opencv_ms is None:
            return own
        verdict = "" if self.same else "  (another result)"
        return f"{own}{self.opencv_ms:>9.2f} ms{self.opencv_ms / self.ms:>7.1f} ×{verdict}"

    def as_data(self, pixels: int) -> dict[str, object]:
        """As JSON would have it."""
        return {
            "name": self.name,
            "ms": round(self.ms, 4),
            "first_ms": round(self.first_ms, 2),
            "megapixels_per_s": round(pixels / self.ms / 1e3, 1),
            "opencv_ms": self.opencv_ms and round(self.opencv_ms, 4),
            "opencv_agrees": self.same if self.opencv_ms else None,
        }


def show_bench(
    size: tuple[int, int], seconds: float, chain: Chain, *, as_json: bool, share: bool = False
) -> None:
    """Measure the usual jobs, or a chain of the user's, and print each as it comes."""
    picture = make_picture(*size)
    cv2 = None if len(chain) else find_opencv()
    info = compute.device_info()
    aloud = not as_json and not share
    if aloud:
        _show_head(info, size, raced=cv2 is not None)
    found = []
    for row in _race_chain(picture, chain, seconds) if len(chain) else _race(cv2, picture, seconds):
        found.append(row)
        if aloud:
            say(row.line)
    if share:
        from dala.cli.sharing import as_table

        say(as_table(info, size, found, cv2 and cv2.__version__))
    elif as_json:
        facts = {key: info[key] for key in ("device", "name", "version")}
        facts |= {"width": size[0], "height": size[1], "opencv": cv2 and cv2.__version__}
        say_json({**facts, "rows": [row.as_data(size[0] * size[1]) for row in found]})
    elif len(chain):
        say()
        say(Run.of(compute.from_array(picture), [chain]).pipelines[0].explain())
    else:
        _show_foot(raced=cv2 is not None)


def _show_head(info: Mapping[str, object], size: tuple[int, int], *, raced: bool) -> None:
    threads = f", {thread_count()} threads" if info["device"] == "cpu" else ""
    say_heading(f"{size[0]}×{size[1]} RGBA on {info['name']}{threads}")
    head = f"  {'':<{NAME}}{'ms':>9}{'frames/s':>10}{'first run':>12}"
    say(f"{head}{'OpenCV':>12}" if raced else head, "dim")


def _show_foot(*, raced: bool) -> None:
    say()
    if raced:
        say(f"× is how much longer OpenCV takes, on {thread_count()} threads", "dim")
    else:
        say("OpenCV is not here; pip install opencv-python-headless, and it is measured too", "dim")


def make_picture(width: int, height: int) -> Array:
    """Soft shapes and a little noise, as in a photo."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    waves = [np.sin(x / 60 + k) + np.cos(y / 45 - 2 * k) for k in range(4)]
    noise = np.random.default_rng(0).normal(0, 4, (height, width, 4))
    return np.clip(np.stack(waves, -1) * 50 + 128 + noise, 0, 255).astype(np.uint8)


# -- measuring -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Chains one after the other on a buffer; each is a pipeline, fused within itself."""

    pipelines: list[compute.Pipeline]
    result: compute.Buffer

    @classmethod
    def of(cls, source: compute.Buffer, chains: Sequence[Chain]) -> Run:
        """Set up, without running anything."""
        pipelines = []
        for chain in chains:
            width, height = chain.size_after(source.shape[1], source.shape[0])
            result = compute.buffer_zeros((height, width, 4), "u8")
            pipelines.append(compute.pipeline())
            chain.add_to(pipelines[-1], source, result)
            source = result
        return cls(pipelines, source)

    def __call__(self) -> None:
        for pipeline in self.pipelines:
            pipeline.run()
        compute.synchronize()


def _race_chain(picture: Array, chain: Chain, seconds: float) -> Iterator[Timed]:
    """A chain of the user's: fused, and stage by stage."""
    source = compute.from_array(picture)
    yield _time("fused", Run.of(source, [chain]), None, seconds)
    if len(chain) > 1:
        apart = Run.of(source, [Chain([step]) for step in chain.steps])
        yield _time("stage by stage", apart, None, seconds)


def _race(cv2: Any, picture: Array, seconds: float) -> Iterator[Timed]:
    source = compute.from_array(picture)
    for name, filters, peer in jobs_of(picture.shape[1], picture.shape[0]):
        theirs = peer(cv2, picture) if cv2 is not None else None
        yield _time(name, Run.of(source, [Chain.of(filters)]), theirs, seconds)


def _time(name: str, ours: Run, theirs: Work | None, seconds: float) -> Timed:
    started = time.perf_counter()
    ours()
    first_ms = (time.perf_counter() - started) * 1e3
    if theirs is None:
        (spent,) = in_turns([ours], seconds)
        return Timed(name, spent, first_ms)
    apart = np.abs(theirs()[..., :3].astype(np.int16) - ours.result.read()[..., :3])
    same = bool((apart > SAME_LEVELS).mean() <= SAME_SHARE)
    spent, other = in_turns([ours, theirs], seconds)
    return Timed(name, spent, first_ms, other, same)


def in_turns(runs: Sequence[Work], seconds: float) -> list[float]:
    """The median time of each in milliseconds; so many seconds for each."""
    times: list[list[float]] = [[] for _ in runs]
    until = time.perf_counter() + seconds * len(runs)
    while len(times[0]) < FEWEST or time.perf_counter() < until:
        for run, spent in zip(runs, times, strict=True):
            started = time.perf_counter()
            run()
            spent.append(time.perf_counter() - started)
    return [statistics.median(t) * 1e3 for t in times]


# -- the same with OpenCV --------------------------------------------------------------------------------


def find_opencv() -> Any:
    """The module cv2, or None."""
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError:
        return None
    cv2.setNumThreads(thread_count())
    return cv2


def jobs_of(width: int, height: int) -> list[tuple[str, Filters, Peer]]:
    """What is measured: its name, its filters, and OpenCV's way to the same."""
    half = {"width": width // 2, "height": height // 2, "interpolation": "area"}
    return [
        ("contrast", [("contrast", {"value": 0.2})], _curve),
        ("sepia", [("sepia", {"intensity": 1.0})], _sepia),
        ("grayscale", ["grayscale"], _grey),
        ("sharpen", [("sharpen", {"amount": 0.5})], _cross),
        ("blur radius=3", [("blur", {"radius": 3, "sigma": 1.5})], _gauss(3)),
        ("blur radius=10", [("blur", {"radius": 10, "sigma": 5.0})], _gauss(10)),
        ("resize to half", [("resize", half)], _half),
        ("chain of five", CHAIN, _chain),
    ]


def _curve(cv2: Any, picture: Array) -> Work:
    levels = (np.arange(256) / 255 - 0.5) * 1.2 + 0.5
    table = np.rint(np.clip(levels, 0, 1) * 255).astype(np.uint8)
    out = np.empty_like(picture)
    return lambda: cv2.LUT(picture, table, dst=out)


def _sepia(cv2: Any, picture: Array) -> Work:
    matrix, out = np.eye(4, dtype=np.float32), np.empty_like(picture)
    matrix[:3, :3] = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
    return lambda: cv2.transform(picture, matrix, dst=out)


def _grey(cv2: Any, picture: Array) -> Work:
    grey, out = np.empty(picture.shape[:2], np.uint8), np.empty_like(picture)

    def run() -> object:
        cv2.cvtColor(picture, cv2.COLOR_RGBA2GRAY, dst=grey)
        return cv2.cvtColor(grey, cv2.COLOR_GRAY2RGBA, dst=out)

    return run


def _gauss(radius: int) -> Peer:
    size = (2 * radius + 1, 2 * radius + 1)

    def peer(cv2: Any, picture: Array) -> Work:
        edge, out = cv2.BORDER_REPLICATE, np.empty_like(picture)
        return lambda: cv2.GaussianBlur(picture, size, radius / 2, dst=out, borderType=edge)

    return peer


def _cross(cv2: Any, picture: Array) -> Work:
    kernel = np.array([[0, -0.5, 0], [-0.5, 3, -0.5], [0, -0.5, 0]], np.float32)
    edge, out = cv2.BORDER_REPLICATE, np.empty_like(picture)
    return lambda: cv2.filter2D(picture, -1, kernel, dst=out, borderType=edge)


def _half(cv2: Any, picture: Array) -> Work:
    size = (picture.shape[1] // 2, picture.shape[0] // 2)
    out = np.empty((size[1], size[0], 4), np.uint8)
    return lambda: cv2.resize(picture, size, dst=out, interpolation=cv2.INTER_AREA)


def _lighter(cv2: Any, picture: Array) -> Work:
    out = np.empty_like(picture)
    return lambda: cv2.convertScaleAbs(picture, dst=out, alpha=1, beta=12.75)


def _chain(cv2: Any, picture: Array) -> Work:
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
