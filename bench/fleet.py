"""A job by one process and by several: one long video, and many of them.

    python bench/fleet.py [--seconds N] [--files N]

Efficiency is the speed-up over one worker divided by the number of workers. "one process" is
video.transcode with all its threads.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("DALA_DEVICE", "cpu")

import numpy as np

from dala import fleet, video
from dala.backends.cpu.run.cores import machine_threads
from measure import machine, use_the_cpu

CHAIN = [("blur", {"radius": 2}), ("contrast", {"value": 0.1}), ("saturation", {"value": 0.2})]
SIZE = (720, 1280)


def write_clip(path: Path, seconds: int) -> None:
    """Noise that moves, with a key frame every second."""
    random = np.random.default_rng(0)
    texture = random.integers(0, 256, (SIZE[0] // 8, SIZE[1] // 8 + 64, 3), np.uint8)
    with video.Writer(path, fps=25, options={"g": "25"}) as writer:
        for n in range(seconds * 25):
            left = n % 64
            part = texture[:, left : left + SIZE[1] // 8]
            writer.write(part.repeat(8, 0).repeat(8, 1))


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=40)
    parser.add_argument("--files", type=int, default=8)
    options = parser.parse_args()
    use_the_cpu()
    cores = machine_threads()
    print(machine())
    folder = Path(tempfile.mkdtemp())
    try:
        clip = folder / "clip.mp4"
        write_clip(clip, options.seconds)
        frames = options.seconds * 25
        alone = timed(lambda: video.transcode(clip, folder / "alone.mp4", CHAIN))
        print(f"one process, all threads          {frames / alone:7.1f} fps")
        base = 0.0
        for workers in sorted({1, 2, cores // 2 or 1, cores}):
            spent = timed(
                lambda n=workers: fleet.transcode(
                    clip, folder / f"by{n}.mp4", CHAIN, workers=n, threads=1, segment_s=2
                )
            )
            base = base or spent
            efficiency = base / spent / workers
            print(
                f"one file, {workers:2} workers × 1 thread   {frames / spent:7.1f} fps   {efficiency:.2f}"
            )
        short = folder / "short.mp4"
        write_clip(short, max(1, options.seconds // options.files))
        names = [folder / f"in{n}.mp4" for n in range(options.files)]
        for name in names:
            shutil.copy(short, name)
        for workers in sorted({1, cores}):
            spent = timed(
                lambda n=workers: fleet.map(names, folder / f"out{n}", CHAIN, workers=n, threads=1)
            )
            what = f"{options.files} files, {workers:2} workers × 1 thread"
            print(f"{what}   {options.files / spent:7.2f} files/s")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
