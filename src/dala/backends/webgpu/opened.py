"""A GPU that is open: its queue, its memory, its shaders, and whether it is lost."""

from __future__ import annotations

import os
from typing import Any

from dala.backends.base import Device
from dala.backends.webgpu.adapters import Adapter
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import MemoryPool
from dala.backends.webgpu.pipelines import PipelineCache
from dala.backends.webgpu.queue import Queue
from dala.backends.webgpu.record import make_recorder
from dala.backends.webgpu.spelling import NEEDS
from dala.backends.webgpu.staging import StagingRing
from dala.backends.webgpu.tiles import Tuning
from dala.backends.webgpu.timers import make_timers
from dala.backends.webgpu.waiting import Submitted, make_waiter
from dala.backends.webgpu.wgpu_log import withheld_warnings
from dala.errors import DeviceError
from dala.ir.dtypes import BUFFER_DTYPES
from dala.leaving import native
from dala.threads import call_with_stack

OPENING_STACK = 8 << 20  # bytes: drivers are used to a main thread's
WANTED_FEATURES = ("shader-f16", "shader-f64", "shader-int64", "timestamp-query")


class OpenGpu(Device):
    """What runs need of a GPU."""

    backend = "wgpu"

    def __init__(self, adapter: Adapter, name: str = "webgpu") -> None:
        self.name = name
        self.adapter = adapter
        self.is_gpu = not adapter.is_software
        has = adapter.handle.features
        features = [f for f in WANTED_FEATURES if f in has]
        with mapped(str(adapter)), native:
            # on a thread of its own: a signal's exception within wgpu-py's callback would be lost there
            self.gpu = call_with_stack(OPENING_STACK, lambda: _request(adapter, features))
        self.limits: dict[str, int] = dict(self.gpu.limits)
        self.dtypes = tuple(d for d in BUFFER_DTYPES if NEEDS.get(d, "") in ("", *features))
        self.waiter = make_waiter(self.gpu)
        recorder = make_recorder(self.gpu)
        # a software adapter makes whoever submits wait until what was submitted before is done
        self.queue = Queue(self.gpu, recorder, self.waiter, in_parts=self.is_gpu)
        self.pool = MemoryPool(self.gpu, self.limits, str(adapter), self.queue)
        self.staging = StagingRing(self.gpu, self.queue, self.waiter)
        self.pipelines = PipelineCache(self.gpu)
        # a software adapter has no f16 units: there it would only be slower
        self.tuning = Tuning(half="shader-f16" in features and self.is_gpu)
        self.timers = make_timers(self.gpu, self.queue, self.staging)
        self.process = os.getpid()
        self.enqueued = False  # whether there are runs that nobody has waited for

    @property
    def lost(self) -> bool:  # those who wait are told as well
        """Whether the driver gave up on it; a new one can be opened then."""
        return self.waiter.lost

    @lost.setter
    def lost(self, lost: bool) -> None:
        self.waiter.lost = lost

    def check_process(self) -> None:
        """Refuse in a forked process: the driver's threads and locks are not there."""
        if os.getpid() != self.process:
            raise DeviceError(
                f"{self.name}: this process was forked from one that had opened the GPU; "
                "start it with multiprocessing's 'spawn' method instead"
            )

    def wait(self, what: str = "submitted work") -> None:
        """Return when the GPU has done what it was given; other threads can submit meanwhile."""
        self.queue.submit_recorded()
        self.waiter.until_done(what)

    def submitted(self) -> Submitted:
        """What it was given so far, for whoever wants to know later when it is done."""
        self.queue.submit_recorded()
        return self.waiter.submitted()

    def finish(self) -> None:
        if self.enqueued:
            self.enqueued = False  # before: what comes meanwhile is for the next who asks
            with mapped("enqueued runs", device=self), native:
                self.wait("enqueued runs")


def _request(adapter: Adapter, features: list[str]) -> Any:
    """The GPU, opened; what it has not, and nobody asked for, is not said."""
    with withheld_warnings():
        return adapter.handle.request_device_sync(
            required_features=features, required_limits=_limits(adapter)
        )


def _limits(adapter: Adapter) -> dict[str, int]:
    """Ask for as much as the adapter has where it matters here."""
    wanted = (
        "max-buffer-size",
        "max-storage-buffer-binding-size",
        "max-storage-buffers-per-shader-stage",
        "max-compute-workgroup-storage-size",
        "max-compute-invocations-per-workgroup",
    )
    return {name: adapter.handle.limits[name] for name in wanted}
