"""What a frame pipeline costs beyond the pipeline it runs, and what overlapping gains.

    python bench/frames.py [DEVICE]

Best of many runs, taking turns, of the chain blur → sharpen → contrast → brightness → grayscale: the
compute pipeline alone, on buffers that are there; process_frame with a Chain, with a fresh list of new
values each time, with RGB and with bytes; apply_filters; and frames per second, waited for one by one and
overlapped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import dala
from dala import media
from dala.media.frames import FramePipeline

SIZES = [(640, 480), (1920, 1080), (3840, 2160)]


def chain(value: float) -> list[Any]:
    return [
        ("blur", {"radius": 3}), ("sharpen", {"amount": 0.5}), ("contrast", {"value": 0.2}),
        ("brightness", {"value": value}), "grayscale",
    ]  # fmt: skip


def side_by_side(ways: dict[str, Callable[[], object]], seconds: float = 4.0) -> dict[str, float]:
    """The shortest time of each way in microseconds; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - begun)
    return {name: min(seen) * 1e6 for name, seen in times.items()}


def ways_for(ctx: FramePipeline, width: int, height: int) -> dict[str, Callable[[], object]]:
    rgba = np.random.default_rng(0).integers(0, 256, (height, width, 4), dtype=np.uint8)
    rgb, data = np.ascontiguousarray(rgba[..., :3]), rgba.tobytes()
    known = media.Chain.of(chain(0.05))
    ctx.process(rgba, known)
    program = ctx._current
    assert program is not None
    count = iter(range(1 << 30))

    return {
        "the pipeline alone": program.pipeline.run,
        "process_frame, a Chain": lambda: ctx.process(rgba, known),
        "process_frame, new values": lambda: ctx.process(rgba, chain(next(count) % 100 / 1000)),
        "process_frame, RGB": lambda: ctx.process(rgb, known),
        "process_frame, bytes": lambda: ctx.process(data, known),
        "apply_filters": lambda: media.apply_filters(rgba, known),
    }


def frames_per_second(ctx: FramePipeline, width: int, height: int) -> tuple[float, float]:
    """Waited for one by one, and overlapped; a result is let go before the next one, as a display does."""
    clip = [np.full((height, width, 4), n, np.uint8) for n in range(8)] * 4
    known = media.Chain.of(chain(0.05))

    def drain(results: Iterable[object]) -> None:
        for _ in results:
            pass

    seen = side_by_side({
        "waited": lambda: drain(ctx.process(frame, known) for frame in clip),
        "overlapped": lambda: drain(ctx.map(clip, known)),
    })  # fmt: skip
    return len(clip) / seen["waited"] * 1e6, len(clip) / seen["overlapped"] * 1e6


def main() -> None:
    if len(sys.argv) > 1:
        dala.use(sys.argv[1])
    print("| µs | " + " | ".join(f"{w}×{h}" for w, h in SIZES) + " |")
    print("| --- |" + " --- |" * len(SIZES))
    rows: dict[str, list[str]] = {}
    for width, height in SIZES:
        with media.start_pipeline(width, height) as ctx:
            for name, value in side_by_side(ways_for(ctx, width, height)).items():
                rows.setdefault(name, []).append(f"{value:,.0f}")
            waited, overlapped = frames_per_second(ctx, width, height)
            rows.setdefault("frames per second, waited · overlapped", []).append(
                f"{waited:,.0f} · {overlapped:,.0f}"
            )
    for name, values in rows.items():
        print(f"| {name} | {' | '.join(values)} |")


if __name__ == "__main__":
    main()
