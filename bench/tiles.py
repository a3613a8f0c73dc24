"""Drawing on a GPU, and the CPU beside it: many primitives in one frame.

    python bench/tiles.py [--count 100000] [--size 3840x2160] [--rounds 5] [--jobs WORD] [--host]

For each job, the best of the rounds in milliseconds: what the host takes to gather and send the
primitives, what the GPU takes to paint them (its own timestamps, where it has them), both together from the
bytes to the finished frame; then the CPU's time for the same bytes, with all cores, and how far apart the
two frames are, in levels. Bytes are encoded before. A software GPU says nothing about real ones: with
``--host`` nothing is painted, and only the host's part means something.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from dala.backends.webgpu.device import WebGpuDevice
from dala.compute.default import device as find_device
from dala.gpu import Recorder
from dala.gpu.canvas import Canvas, Outcome
from dala.gpu.shaders import ShaderSet
from dala.gpu.tiles.canvas import TileCanvas

SIDE = 32
Job = Callable[[Recorder], None]


def make_jobs(count: int, width: int, height: int) -> dict[str, Job]:
    """Seeded places and colours."""
    rng = np.random.default_rng(7)
    at = rng.uniform((0, 0), (width, height), (count, 2))
    whole = at.astype(np.int64)
    colors = rng.integers(0, 256, (count, 4), dtype=np.uint8)
    radii = rng.uniform(3, 20, (count, 1))
    ends = at + rng.uniform(-30, 30, (count, 2))
    ids = np.ones(count, np.int64)
    return {
        "sprites 32×32, alpha": lambda r: r.blits(ids, whole - SIDE // 2),
        "sprites turned": lambda r: r.draw_sprites(ids, at, rotation=radii[:, 0]),
        "discs, anti-aliased, radius 3-20": lambda r: r.fill_discs(
            np.concatenate([at, radii], 1), colors
        ),
        "lines, anti-aliased, width 3": lambda r: r.stroke_lines(
            np.concatenate([at, ends], 1), colors, 3
        ),
        "triangles, anti-aliased": lambda r: r.fill_polygons(
            np.stack([at, ends, ends + radii], 1), colors
        ),
        "circles": lambda r: r.fill_circles(
            np.concatenate([whole, radii.astype(np.int64)], 1), colors
        ),
        "rectangles": lambda r: r.fill_rects(
            np.concatenate([np.maximum(whole, 0), np.full((count, 2), 24)], 1), colors
        ),
    }


def load_sprite(canvas: Canvas) -> None:
    canvas.sprites.load(
        1, np.random.default_rng(3).integers(0, 256, (SIDE, SIDE, 4), dtype=np.uint8)
    )


def apply(canvas: Canvas, data: bytes) -> None:
    outcome = Outcome()
    canvas.apply(data, outcome)
    assert not outcome.errors, outcome.errors


def race(
    gpu: WebGpuDevice, size: tuple[int, int], data: bytes, rounds: int, *, host: bool
) -> tuple[list[float], float]:
    """Host, GPU, both, CPU; and how far apart the frames are."""
    tiles = TileCanvas(*size, replace=False, shaders=ShaderSet(gpu))
    cpu = Canvas(*size, replace=False, shaders=None)
    best = [float("inf")] * 4
    for canvas in (tiles, cpu):
        load_sprite(canvas)
    tiles.tiles.timed = gpu.timers is not None and not host
    if host:
        tiles.tiles._dispatch = lambda *_: None  # type: ignore[method-assign]
    for _ in range(rounds + 1):  # the first compiles
        begun = time.perf_counter()
        apply(tiles, data)
        tiles.flush()
        sent = time.perf_counter()
        gpu.wait()
        done = time.perf_counter()
        apply(cpu, data)
        ended = time.perf_counter()
        timers = gpu.timers if tiles.tiles.timed else None
        took = timers.read_ms(tiles.tiles.run) if timers is not None else None
        times = [(sent - begun) * 1e3, took or float("nan"), (done - begun) * 1e3]
        best = [min(a, b) for a, b in zip([*times, (ended - done) * 1e3], best, strict=True)]
    apart = tiles.read(0, 0, *size).astype(int) - cpu.read(0, 0, *size)
    return best, float(np.abs(apart).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", default="")
    parser.add_argument("--host", action="store_true", help="gather and send, but paint nothing")
    args = parser.parse_args()
    width, height = (int(side) for side in args.size.split("x"))
    gpu = find_device("webgpu")
    assert isinstance(gpu, WebGpuDevice)
    print(f"{gpu.adapter}, {args.count:,} of each at {width}×{height}, ms")
    print(f"{'':34}{'host':>9}{'GPU':>9}{'both':>9}{'CPU':>9}{'levels':>9}")
    for name, draw in make_jobs(args.count, width, height).items():
        if args.jobs not in name:
            continue
        recorder = Recorder()
        recorder.clear("black")
        draw(recorder)
        times, apart = race(gpu, (width, height), bytes(recorder), args.rounds, host=args.host)
        print(f"{name:34}" + "".join(f"{t:9.2f}" for t in times) + f"{apart:9.0f}", flush=True)


if __name__ == "__main__":
    main()
