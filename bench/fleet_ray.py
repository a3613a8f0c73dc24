"""Jobs on a Ray cluster: what goes through it, and the same work as a pipeline of Ray Data; see fleet.py.

``bench_cluster`` starts two nodes on this machine and counts what goes through their object stores, and the
driver's memory with many files queued. ``bench_data`` gives the same film to ``fleet.transcode`` and to Ray
Data with frames as rows (decoded, filtered by map_batches, encoded where they come together), on the same
cluster by turns.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.cluster_utils import Cluster

from dala import fleet, media, video
from dala.backends.cpu.run.cores import machine_threads
from dala.fleet.cuts import cut, scan
from dala.fleet.parts import ENCODER_THREADS
from fleet import CHAIN, FPS, PART_S, timed, write_film

ENOUGH = 100  # files that are done before the driver's memory is read; all others are queued
STORE = 1 << 30  # bytes; frames as rows need room
BATCH = 25  # frames
ROUNDS = 3


class Enough(Exception):
    """The driver has shown how much memory it takes."""


def bench_cluster(folder: Path, seconds: int, queued: int) -> None:
    """Both nodes have one core."""
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
        minutes = write_film(clip, seconds) / FPS / 60
        before = stored_bytes()
        fleet.transcode(clip, folder / "ray.mp4", CHAIN, engine="ray", segment_s=2)
        stored = stored_bytes() - before
        print(
            f"Ray, {minutes * 60:.0f} s of video: {stored} bytes into the object store, "
            f"{stored / minutes / 1e6:.3f} MB per minute (limit 1)"
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


def stored_bytes() -> int:
    """All that was ever put into the object stores of the cluster; the machines say it by gRPC."""
    from ray._private.internal_api import node_stats

    return sum(
        node_stats(
            node["NodeManagerAddress"], node["NodeManagerPort"], False
        ).store_stats.cumulative_created_bytes
        for node in ray.nodes()
    )


def bench_data(folder: Path, seconds: int) -> None:
    """The first round of each starts Ray's workers and is not counted."""
    film = folder / "film.mp4"
    frames = write_film(film, seconds)
    ray.init(num_cpus=machine_threads(), object_store_memory=STORE, log_to_driver=False)
    ways = {
        "fleet, engine='ray'": lambda: fleet.transcode(
            film, folder / "fleet.mp4", CHAIN, engine="ray", segment_s=PART_S
        ),
        "Ray Data, frames as rows": lambda: by_data(film, folder / "data.mp4"),
    }
    try:
        found: dict[str, list[tuple[float, int]]] = {name: [] for name in ways}
        for name, run in list(ways.items()) * (1 + ROUNDS):
            before = stored_bytes()
            found[name].append((timed(run), stored_bytes() - before))
        for name, rounds in found.items():
            real, stored = sorted(rounds[1:])[ROUNDS // 2]
            per_minute = stored / (frames / FPS / 60) / 1e6
            print(
                f"{name}: {frames / real:.1f} fps, {per_minute:.1f} MB into the object store per minute of "
                f"film (median of {ROUNDS})"
            )
    finally:
        ray.shutdown()


def by_data(film: Path, target: Path) -> None:
    """Parts are decoded, batches of frames filtered side by side; the driver encodes them in order."""
    import ray.data

    ray.data.DataContext.get_current().execution_options.preserve_order = True
    ray.data.DataContext.get_current().enable_progress_bars = False
    parts = [
        {"film": str(film), "begin": str(s.begin or 0), "frames": s.frames}
        for s in cut(scan(film), PART_S)
    ]
    rows = ray.data.from_items(parts, override_num_blocks=len(parts)).flat_map(decoded)
    encoding = video.Encoding(options={"threads": str(ENCODER_THREADS)})
    with video.Writer(target, fps=FPS, encoding=encoding) as writer:
        for row in rows.map_batches(filtered, batch_size=BATCH).iter_rows():
            writer.write(row["frame"])
    if writer.frames != sum(part["frames"] for part in parts):
        raise RuntimeError(f"Ray Data gave {writer.frames} frames")


def decoded(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The frames of a part, as rows."""
    with video.Reader(part["film"]) as reader:
        reader.seek(Fraction(part["begin"]))
        for _ in range(part["frames"]):
            yield {"frame": next(reader).rgb}


def filtered(batch: dict[str, Any]) -> dict[str, Any]:
    """The chain on each frame of a batch."""
    return {"frame": np.stack([media.apply_filters(f, CHAIN) for f in batch["frame"]])}
