"""Where the wall time from a frame on a GPU to results goes.

    python bench/models.py FOLDER --device webgpu --moments

Of each model: how long a prediction takes, when it comes to each of its moments (medians; looking at the
clock costs a little), and what a dispatch costs the host. The GPU is at work from the end of the submit to
about the end of the wait: everything else is the host's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from dala import ml
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.record import NativeRecorder, Run
from dala.backends.webgpu.waiting import _Asked
from dala.ml import model as ml_model
from dala.ml.network import Network
from dala.ml.run.webgpu.runner import GpuRunner
from network_layers import compile_alone

RUNS, SOFTWARE_RUNS = 300, 9
clock = time.perf_counter_ns
NOTED = (  # what is called once or more often by a prediction
    (ml_model, "sample_tensor", "looking up how to sample"),
    (Network, "run_on", "sampling and network"),
    (NativeRecorder, "share", "recording"),
    (NativeRecorder, "submit_shared", "complete and submit"),
    (_Asked, "finish", "wait"),
)


def print_moments(name: str, model: ml.Model, predict: Callable[[], object]) -> None:
    device = model.network.device
    assert isinstance(device, WebGpuDevice)
    runs = SOFTWARE_RUNS if device.adapter.is_software else RUNS
    for _ in range(runs // 3):
        predict()
    alone = [_timed(predict) for _ in range(runs)]
    print(f"{name}: {_spread(alone)}")
    with _noted() as marks:
        rows = [_moments(predict, marks) for _ in range(runs)]
    at = {k: float(np.median([row[k] for row in rows])) for k in rows[0]}
    last = 0.0
    for label, ns in sorted(at.items(), key=lambda item: item[1]):
        print(f"    {label:26} {ns / 1e3:8.1f} µs  + {(ns - last) / 1e3:6.1f}")
        last = ns
    _print_dispatches(model, device, runs)


def _timed(work: Callable[[], object]) -> int:
    begun = clock()
    work()
    return clock() - begun


def _moments(predict: Callable[[], object], marks: dict[str, int]) -> dict[str, int]:
    marks.clear()
    begun = clock()
    predict()
    marks["results"] = clock()
    return {label: at - begun for label, at in marks.items()}


@contextmanager
def _noted() -> Iterator[dict[str, int]]:
    """Have the first beginning and the last end of each of those put down."""
    marks: dict[str, int] = {}
    with ExitStack() as stack:
        for owner, name, label in NOTED:
            stack.enter_context(mock.patch.object(owner, name, _noting(owner, name, label, marks)))
        yield marks


def _noting(owner: Any, name: str, label: str, marks: dict[str, int]) -> Callable[..., Any]:
    call = getattr(owner, name)

    def noted(*args: Any, **options: Any) -> Any:
        marks.setdefault(f"{label} begins", clock())
        result = call(*args, **options)
        marks[f"{label} ends"] = clock()
        return result

    return noted


def _print_dispatches(model: ml.Model, device: WebGpuDevice, runs: int) -> None:
    """What recording and completing the network alone takes, for each of its dispatches."""
    runner = model.network._runner
    assert isinstance(runner, GpuRunner) and model.network._shapes is not None
    body = runner.body(model.network._shapes)
    executable = compile_alone(body)
    arrays = [device.allocate(t) for t in (*body.input_types, *body.output_types)]
    recorder = device.queue.recorder

    def submit(run: Run) -> tuple[int, int]:
        return _timed(lambda: recorder.share(run)), _timed(recorder.submit_shared)

    taken = []
    for _ in range(runs):
        taken.append(executable._make_ready(arrays, (), submit))
        device.wait("dispatches")
    count, (recording, submitting) = len(executable.steps), np.median(np.array(taken), axis=0)
    print(
        f"    {count} dispatches: recorded in {recording / count:.0f} ns each, completed and submitted in "
        f"{submitting / count:.0f}"
    )


def _spread(taken: list[int]) -> str:
    us = np.array(taken) / 1e3
    return f"median {np.median(us):.0f} µs, least {us.min():.0f}, of {len(us)}"
