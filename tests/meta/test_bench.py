"""The benchmark races every image kernel, and only against peers that get the same result."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import dala
from dala import gpu
from dala.compute.default import device

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("cv2", "skimage", "PIL"):
        pytest.importorskip(name)
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("peers")


def test_every_image_kernel_has_a_row(peers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    peers.check_complete()
    monkeypatch.setattr(peers, "JOBS", [j for j in peers.JOBS if j.name != "sepia"])
    with pytest.raises(SystemExit, match="no row for: sepia"):
        peers.check_complete()


def test_a_wrong_result_is_seen(peers: ModuleType) -> None:
    (job,) = (j for j in peers.JOBS if j.name == "invert")
    ours = np.full((4, 5, 4), 100, np.uint8)
    assert peers.difference(job, ours, ours + 2) == (2, 0)
    assert peers.difference(job, ours, ours + np.uint8([9, 0, 0, 50])) == (9, 1 / 3)


def test_what_is_raced_is_the_same(peers: ModuleType) -> None:
    with dala.use("cpu"):
        scene = peers.Scene(224, 224)
        for job in peers.JOBS:
            if job.opencv is None or job.apart:
                continue
            pipeline, result = peers.dala_pipeline(job, scene)
            pipeline.run()
            _, strays = peers.difference(job, result.read(), job.opencv(scene)())
            assert strays <= job.strays, f"{job.name}: {strays:.2%} of the values differ"


def test_own_kernels_are_raced_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's kernels and OpenCV's calls have the same result."""
    pytest.importorskip("cv2")
    monkeypatch.syspath_prepend(str(BENCH))
    bench = importlib.import_module("own_kernels")
    image = np.random.default_rng(0).integers(0, 256, (48, 70, 4), dtype=np.uint8)
    with dala.use("cpu"):
        for row in bench.ROWS:
            for run in bench.runs_of(row, image).values():
                run()
        wrong = bench.Row(bench.own_filters.emboss, "sharpen", bench.brightest)
        with pytest.raises(SystemExit, match="emboss: OpenCV's result is"):
            bench.runs_of(wrong, image)


def test_drawing_is_raced_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library paints about the same pixels for a job."""
    for name in ("cv2", "pygame", "skia", "PIL"):
        pytest.importorskip(name)
    monkeypatch.syspath_prepend(str(BENCH))
    surfaces = importlib.import_module("surfaces")
    jobs = surfaces.Jobs()
    for name, runs in jobs.runs().items():
        surfaces.check_same(name, runs, jobs)
    with pytest.raises(SystemExit, match="not the same is painted"):
        surfaces.check_same("x", {"dala": runs["dala"], "OpenCV": jobs.surface.present}, jobs)


@pytest.mark.webgpu
def test_drawing_on_a_gpu_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step is timed, and what is painted is what the CPU paints."""
    monkeypatch.syspath_prepend(str(BENCH))
    bench = importlib.import_module("tiles")
    for name, draw in bench.make_jobs(60, 200, 90).items():
        recorder = gpu.Recorder()
        recorder.clear("black")
        draw(recorder)
        _, found = bench.race(device("webgpu"), (200, 90), bytes(recorder), 1, host=False)
        assert found["levels"] <= 1, name
        assert found["runs"] in (0, 1)  # a software GPU may have no timers
        assert min(found[step] for step in ("gather", "_bins", "_send", "host", "CPU")) > 0
