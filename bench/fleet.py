"""A job by one process and by several: one long video, and many of them; on a Ray cluster, what that costs.

    python bench/fleet.py [--seconds N] [--files N]
    python bench/fleet.py --scaling 1,4,16 [--seconds N]
    python bench/fleet.py --ray [--queued N]
    python bench/fleet.py --ray-data [--seconds N]

"one process" is video.transcode; it is compared with one worker of as many threads. ``--scaling`` gives
each worker (of one thread) a core and as many seconds of film, so that all jobs take as long. Beside each
job as many processes that know nothing of each other do the same parts.

Virtual cores share physical ones, and clocks fall when all cores work: N cores rarely give N times what one
gives. How much they do is measured right before and after each job, on the same cores, by BLAKE2 of 64 KiB
(arithmetic in the caches) in one process and in one on each core, by turns; medians. "Of N-fold" is the
speed-up over one worker divided by N. "Of what the cores gave" divides it by that of the arithmetic: what
is left is what workers cost each other: memory, caches, disks, waiting. For ``--ray…`` see fleet_ray.py.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("DALA_DEVICE", "cpu")

import numpy as np

from dala import fleet, video
from dala.backends.cpu.run.cores import machine_threads
from dala.fleet.cuts import cut, scan
from dala.fleet.parts import ENCODER_THREADS as ENCODER_THREADS  # for the processes apart
from dala.fleet.placement import task_environment
from dala.video.library import as_fraction
from measure import machine, use_the_cpu

CHAIN = [("blur", {"radius": 2}), ("contrast", {"value": 0.1}), ("saturation", {"value": 0.2})]
SIZE = (720, 1280)
FPS = 25
PIECE_S = 8  # of film that is encoded; longer ones show it again and again
HAS_CORES = hasattr(os, "sched_setaffinity")  # which a process may be bound to
PART_S = 4  # of jobs that are scaled: parts of one length, which workers can share out evenly
ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from fleet import CHAIN, video
encoding = video.Encoding(options={"threads": sys.argv[4]})
video.transcode(sys.argv[2], sys.argv[3], CHAIN, encoding=encoding)
"""
APART = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from fractions import Fraction
from fleet import CHAIN, ENCODER_THREADS, video
begun = []
def note(progress):
    begun or (progress.frames and begun.append(time.perf_counter()))
encoding = video.Encoding(options={"threads": str(ENCODER_THREADS)})
for n, (start, end) in enumerate(json.loads(sys.argv[4])):
    video.transcode(sys.argv[2], f"{sys.argv[3]}-{n}.mp4", CHAIN, start=Fraction(start),
                    end=None if end is None else Fraction(end), encoding=encoding, progress=note)
print(json.dumps([begun[0], time.perf_counter()]))
"""
ARITHMETIC = """
import hashlib, os, sys, time
if sys.argv[1] != "-":
    os.sched_setaffinity(0, {int(sys.argv[1])})
block, count = bytes(1 << 16), 0
print("ready", flush=True)
begin, end = map(float, sys.stdin.readline().split())
while time.monotonic() < begin:
    pass
while time.monotonic() < end:
    hashlib.blake2b(block).digest()
    count += 1
print(count)
"""
TURNS = 3  # of arithmetic, before a job and after it
TURN_S = 0.25


def write_film(path: Path, seconds: int) -> int:
    """Noise that moves, with a key frame every second; of how many frames, at least so many seconds."""
    length = min(seconds, PIECE_S)
    piece = path.with_name(f"piece-{length}.mp4")
    if not piece.exists():
        _write_piece(piece, length)
    times = -(-seconds // length)
    _repeat(piece, path, times)
    return times * length * FPS


def _write_piece(path: Path, seconds: int) -> None:
    random = np.random.default_rng(0)
    texture = random.integers(0, 256, (SIZE[0] // 8, SIZE[1] // 8 + 64, 3), np.uint8)
    with video.Writer(path, fps=FPS, options={"g": str(FPS)}) as writer:
        for n in range(seconds * FPS):
            left = n % 64
            part = texture[:, left : left + SIZE[1] // 8]
            writer.write(part.repeat(8, 0).repeat(8, 1))


def _repeat(piece: Path, path: Path, times: int) -> None:
    """Its packets again and again, at later times."""
    import av

    with av.open(piece) as source, av.open(path, "w") as film:
        shown = source.streams.video[0]
        track = film.add_stream_from_template(shown)
        length = round(Fraction(shown.frames, FPS) / as_fraction(shown.time_base))
        for n in range(times):
            source.seek(0)
            for packet in source.demux(shown):
                if packet.size:
                    packet.pts, packet.dts = packet.pts + n * length, packet.dts + n * length
                    packet.stream = track
                    film.mux(packet)


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
    """In real time and in processor time, which others on the machine disturb less."""
    clip = folder / "clip.mp4"
    frames = write_film(clip, seconds)
    for threads in sorted({1, machine_threads()}):
        runs: dict[str, Callable[[], object]] = {
            "process": lambda n=threads: run_alone(clip, folder / "alone.mp4", n),
            "worker": lambda n=threads: fleet.transcode(
                clip, folder / "job.mp4", CHAIN, workers=1, threads=n
            ),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        for name, run in list(runs.items()) * 3:  # by turns
            before = Spent.by_children()
            real = timed(run)
            found[name].append((real, Spent.by_children().since(before).seconds))
        real, processor = (
            [sorted(turn[k] for turn in found[name])[1] for name in runs] for k in (0, 1)
        )
        print(
            f"one file, {threads} threads: one process {frames / real[0]:.1f} fps, one worker "
            f"{frames / real[1]:.1f} fps, ratio {real[0] / real[1]:.2f}, of processor time "
            f"{processor[0] / processor[1]:.2f} (medians of three)",
            flush=True,
        )


@dataclass(frozen=True)
class Spent:
    """What child processes that have ended took."""

    user: float
    system: float
    faults: int

    @classmethod
    def by_children(cls) -> Spent:
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(now.ru_utime, now.ru_stime, now.ru_minflt)

    def since(self, before: Spent) -> Spent:
        return Spent(
            self.user - before.user, self.system - before.system, self.faults - before.faults
        )

    @property
    def seconds(self) -> float:
        return self.user + self.system


@dataclass(frozen=True)
class Ran:
    """A job, or as many processes apart."""

    processes: int
    frames: int
    start: float  # until the first frame
    middle: float
    end: float  # when all parts were finished
    spent: Spent

    @property
    def fps(self) -> float:
        return self.frames / (self.start + self.middle + self.end)

    def row(self, name: str) -> str:
        times = f"start {self.start:.2f} s, middle {self.middle:.2f} s, end {self.end:.2f} s"
        user, system = (1e3 * t / self.frames for t in (self.spent.user, self.spent.system))
        faults = self.spent.faults / self.frames
        per_frame = f"user {user:.2f} ms, system {system:.2f} ms, {faults:.0f} page faults"
        return f"{name:>9} {self.processes:3} {self.fps:8.1f} fps; {times}; a frame: {per_frame}"


@dataclass(frozen=True)
class Given:
    """What cores did right before and after a job, in blocks of arithmetic a second."""

    one: float
    all: float

    @classmethod
    def of(cls, looks: Sequence[tuple[float, float]]) -> Given:
        return cls(*(statistics.median(look[k] for look in looks) for k in (0, 1)))

    def row(self, count: int) -> str:
        fold = self.all / self.one
        share = f"{fold / count:.2f} of {count}-fold"
        return f"{'cores':>9} {count:3} gave {fold:.2f} times what one gave, {share}"


@dataclass(frozen=True)
class Scaled:
    """A run, and what its cores gave."""

    ran: Ran
    given: Given

    def row(self, name: str, first: Scaled) -> str:
        count, faster = self.ran.processes, self.ran.fps / first.ran.fps
        given = self.given.all / first.given.all
        shares = (
            f"{faster / count:.2f} of {count}-fold, {faster / given:.2f} of what the cores gave"
        )
        then = f"{given:.2f} times what one gave beside the one"
        return f"{name:>9} {count:3} had {faster:.2f} times the speed of one, {shares} ({then})"


def bench_scaling(folder: Path, seconds: int, counts: Sequence[int]) -> None:
    """Workers of a job, and as many processes apart, on the same parts; each has a core and its share."""
    first: tuple[Scaled, Scaled] | None = None
    for count in counts:
        film = folder / f"film{count}.mp4"
        write_film(film, seconds * count)
        with on_cores(count):
            both = run_scaled(film, folder, count)
        first = first or both
        for name, ways in zip(("workers", "apart"), zip(both, first, strict=True), strict=True):
            scaled, one = ways
            print(scaled.ran.row(name), scaled.given.row(count), scaled.row(name, one), sep="\n")
        print(flush=True)
        film.unlink()


def run_scaled(film: Path, folder: Path, count: int) -> tuple[Scaled, Scaled]:
    """Both, each between two looks at what their cores give."""
    looks = [_looks(count)]
    job = run_job(film, folder / "job.mp4", count)
    looks.append(_looks(count))
    apart = run_apart(film, folder / "apart", count)
    looks.append(_looks(count))
    return Scaled(job, Given.of(looks[0] + looks[1])), Scaled(apart, Given.of(looks[1] + looks[2]))


def _looks(count: int) -> list[tuple[float, float]]:
    return [blocks_a_second(count) for _ in range(TURNS)]


def blocks_a_second(count: int) -> tuple[float, float]:
    """Of one core, and of so many at once."""
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))[:count]] if HAS_CORES else []
    cores += ["-"] * (count - len(cores))
    return _hashed(cores[:1]), _hashed(cores)


def _hashed(cores: Sequence[str]) -> float:
    """Blocks a second, by a process on each of these cores at the same time."""
    started: list[Any] = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", ARITHMETIC, core],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for core in cores
    ]  # fmt: skip
    for process in started:
        process.stdout.readline()
    begin = time.monotonic() + 0.02
    for process in started:
        process.stdin.write(f"{begin} {begin + TURN_S}\n")
        process.stdin.flush()
    counted = [int(process.communicate()[0]) for process in started]
    return sum(counted) / TURN_S


@contextlib.contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Have so many cores, where the system allows it: encoders and decoders have threads of their own, with
    which one worker fills three cores."""
    if not HAS_CORES:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run_job(film: Path, target: Path, workers: int) -> Ran:
    """By the local pool."""
    times: list[float] = []  # of the first frame, and of the last part

    def look(progress: fleet.Progress) -> None:
        if progress.frames and not times:
            times.append(time.perf_counter())
        if progress.finished == progress.total:
            times.append(time.perf_counter())

    before, began = Spent.by_children(), time.perf_counter()
    report = fleet.transcode(
        film, target, CHAIN, workers=workers, threads=1, segment_s=PART_S, progress=look
    )
    ended = time.perf_counter()
    edges = [began, times[0], times[-1], ended]
    return _ran(workers, report.frames, edges, before)


def run_apart(film: Path, targets: Path, count: int) -> Ran:
    """The same parts by processes that know nothing of each other."""
    segments = cut(scan(film), PART_S)
    spans = [[str(s.begin or 0), None if s.end is None else str(s.end)] for s in segments]
    environment = {**os.environ, **task_environment(1)}
    before, began = Spent.by_children(), time.perf_counter()
    started: list[Any] = [
        subprocess.Popen(
            [sys.executable, "-c", APART, str(Path(__file__).parent), str(film),
             f"{targets}{n}", json.dumps(spans[n::count])],
            env=environment, stdout=subprocess.PIPE, text=True,
        )
        for n in range(count)
    ]  # fmt: skip
    said = [json.loads(process.communicate()[0]) for process in started]
    ended = time.perf_counter()
    edges = [began, min(first for first, _ in said), max(last for _, last in said), ended]
    return _ran(count, sum(s.frames for s in segments), edges, before)


def _ran(processes: int, frames: int, edges: Sequence[float], before: Spent) -> Ran:
    start, middle, end = (b - a for a, b in pairwise(edges))
    return Ran(processes, frames, start, middle, end, Spent.by_children().since(before))


def bench_many_files(folder: Path, seconds: int, files: int) -> None:
    short = folder / "short.mp4"
    write_film(short, max(1, seconds // files))
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=32)
    parser.add_argument("--scaling", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--ray-data", action="store_true")
    parser.add_argument("--queued", type=int, default=10_000)
    options = parser.parse_args()
    use_the_cpu()
    print(machine(), flush=True)
    folder = Path(tempfile.mkdtemp())
    try:
        if options.ray or options.ray_data:
            import fleet_ray

            if options.ray:
                fleet_ray.bench_cluster(folder, options.seconds, options.queued)
            if options.ray_data:
                fleet_ray.bench_data(folder, options.seconds)
        elif options.scaling:
            bench_scaling(folder, options.seconds, options.scaling)
        else:
            bench_one_file(folder, options.seconds)
            bench_many_files(folder, options.seconds, options.files)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
