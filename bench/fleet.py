"""A job by one process and by several: one long video, and many of them; on a Ray cluster, what that costs.

    python bench/fleet.py [--seconds N] [--files N]
    python bench/fleet.py --workers 1,2,4,8,16 [--seconds N]
    python bench/fleet.py --ray [--queued N]

"one process" is video.transcode; it is compared with one worker of as many threads. Efficiency is the
speed-up over one worker divided by the number of workers. ``--workers`` measures nothing but that, of
workers of one thread each, and checks that all files are the same. ``--ray`` starts a cluster of two
nodes on this machine and counts what goes through its object store, and the driver's memory with many
files queued.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("DALA_DEVICE", "cpu")

import numpy as np

from dala import fleet, media, video
from dala.backends.cpu.run.cores import machine_threads
from measure import machine, use_the_cpu

CHAIN = [("blur", {"radius": 2}), ("contrast", {"value": 0.1}), ("saturation", {"value": 0.2})]
SIZE = (720, 1280)
FPS = 25
PART_S = 2  # short parts, so that many workers end at the same time
BOUND_S = 24
ENOUGH = 100  # files that are done before the driver's memory is read; all others are queued
ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from fleet import CHAIN, video
encoding = video.Encoding(options={"threads": sys.argv[4]})
video.transcode(sys.argv[2], sys.argv[3], CHAIN, encoding=encoding)
"""


def write_clip(path: Path, seconds: int) -> None:
    """Noise that moves, with a key frame every second."""
    random = np.random.default_rng(0)
    texture = random.integers(0, 256, (SIZE[0] // 8, SIZE[1] // 8 + 64, 3), np.uint8)
    with video.Writer(path, fps=FPS, options={"g": str(FPS)}) as writer:
        for n in range(seconds * FPS):
            left = n % 64
            part = texture[:, left : left + SIZE[1] // 8]
            writer.write(part.repeat(8, 0).repeat(8, 1))


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def run_alone(clip: Path, target: Path, threads: int) -> None:
    """A process of its own, from its start to its end, as a worker is."""
    words = [str(Path(__file__).parent), str(clip), str(target), str(threads)]
    environment = {**os.environ, "DALA_THREADS": str(threads)}
    subprocess.run([sys.executable, "-c", ALONE, *words], env=environment, check=True)


def bench_one_file(folder: Path, seconds: int) -> None:
    clip = folder / "clip.mp4"
    write_clip(clip, seconds)
    frames, cores = seconds * FPS, machine_threads()
    for threads in sorted({1, cores}):
        alone = timed(lambda n=threads: run_alone(clip, folder / "alone.mp4", n))
        job = timed(
            lambda n=threads: fleet.transcode(clip, folder / "job.mp4", CHAIN, workers=1, threads=n)
        )
        print(
            f"one file, {threads} threads: one process {frames / alone:.1f} fps, one worker "
            f"{frames / job:.1f} fps, ratio {alone / job:.2f}"
        )
    bench_workers(folder, clip, seconds, sorted({1, 2, cores // 2 or 1, cores}))


def bench_workers(folder: Path, clip: Path, seconds: int, counts: Sequence[int]) -> None:
    """So many workers of one thread each, on parts that they can share out evenly."""
    base, made = 0.0, b""
    for workers in counts:
        target = folder / f"by{workers}.mp4"
        spent = timed(
            lambda n=workers, t=target: fleet.transcode(
                clip, t, CHAIN, workers=n, threads=1, segment_s=PART_S
            )
        )
        made = made or target.read_bytes()
        same = "" if target.read_bytes() == made else "; ANOTHER FILE"
        base = base or spent * workers
        print(
            f"one file, {workers} workers × 1 thread: {seconds * FPS / spent:.1f} fps, "
            f"efficiency {base / spent / workers:.2f}{same}",
            flush=True,
        )


def bench_bound(folder: Path, clip: Path, seconds: int, counts: Sequence[int]) -> None:
    """So many processes at once that know nothing of each other: what the machine itself allows."""
    base = 0.0
    for processes in counts:
        with ThreadPoolExecutor(processes) as pool:
            targets = [folder / f"apart{n}.mp4" for n in range(processes)]
            spent = timed(lambda r=pool, t=targets: list(r.map(lambda f: run_alone(clip, f, 1), t)))
        base = base or spent
        print(
            f"the machine, {processes} processes apart: {processes * seconds * FPS / spent:.1f} fps, "
            f"efficiency {base / spent:.2f}",
            flush=True,
        )


def bench_many_files(folder: Path, seconds: int, files: int) -> None:
    short = folder / "short.mp4"
    write_clip(short, max(1, seconds // files))
    names = [folder / f"in{n}.mp4" for n in range(files)]
    for name in names:
        shutil.copy(short, name)
    base = 0.0
    for workers in sorted({1, machine_threads()}):
        spent = timed(
            lambda n=workers: fleet.map(names, folder / f"out{n}", CHAIN, workers=n, threads=1)
        )
        base = base or spent
        print(
            f"{files} files, {workers} workers × 1 thread: {files / spent:.2f} files/s, "
            f"efficiency {base / spent / workers:.2f}"
        )


class Enough(Exception):
    """The driver has shown how much memory it takes."""


def bench_ray(folder: Path, seconds: int, queued: int) -> None:
    """Both nodes have one core."""
    import ray
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        cluster.add_node(**node)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        queue_photos(folder, queued)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"Ray, driver with {queued} files queued: peak {peak / 1024:.0f} MB (limit 300)")
        clip = folder / "clip.mp4"
        write_clip(clip, seconds)
        before = stored_bytes(ray)
        fleet.transcode(clip, folder / "ray.mp4", CHAIN, engine="ray", segment_s=2)
        stored = stored_bytes(ray) - before
        print(
            f"Ray, {seconds} s of video: {stored} bytes into the object store, "
            f"{stored / seconds * 60 / 1e6:.3f} MB per minute (limit 1)"
        )
        ray.shutdown()
    finally:
        cluster.shutdown()


def queue_photos(folder: Path, count: int) -> None:
    """So many tiny pictures, left when some are done."""
    photo = folder / "photo.png"
    media.save(np.full((8, 8, 3), 7, np.uint8), photo)
    names = [folder / f"photo{n}.png" for n in range(count)]
    for name in names:
        os.link(photo, name)

    def look(progress: fleet.Progress) -> None:
        if progress.finished >= ENOUGH:
            raise Enough

    try:
        fleet.map(names, folder / "photos", ["invert"], engine="ray", progress=look)
    except Enough:
        return


def stored_bytes(ray: Any) -> int:
    """All that was ever put into the object stores of the cluster; the machines say it by gRPC."""
    from ray._private.internal_api import node_stats

    return sum(
        node_stats(
            node["NodeManagerAddress"], node["NodeManagerPort"], False
        ).store_stats.cumulative_created_bytes
        for node in ray.nodes()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=96)
    parser.add_argument("--workers", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--queued", type=int, default=10_000)
    options = parser.parse_args()
    use_the_cpu()
    print(machine())
    folder = Path(tempfile.mkdtemp())
    try:
        if options.ray:
            bench_ray(folder, options.seconds, options.queued)
        elif options.workers:
            write_clip(folder / "clip.mp4", options.seconds)
            bench_workers(folder, folder / "clip.mp4", options.seconds, options.workers)
            write_clip(folder / "short.mp4", BOUND_S)
            bench_bound(folder, folder / "short.mp4", BOUND_S, options.workers)
        else:
            bench_one_file(folder, options.seconds)
            bench_many_files(folder, options.seconds, options.files)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
