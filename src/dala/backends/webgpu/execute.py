"""A compiled plan: recorded once, replayed with one submit per run.

    compile   shaders → pipelines; temporaries and copies are known
    launch    uniform blocks whose values changed, one command buffer, one submit; then wait
    enqueue   the same without waiting, and the submit is shared with other runs (queue.py)

Bind groups are kept for the arrays used last. Everything between taking the queue and the submit is in
order with what other threads do; waiting is not.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dala.backends.base import QueuedExecutable, Storage, Timer
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.backends.webgpu.opened import OpenGpu
from dala.backends.webgpu.record import BoundDispatch, PublicRecorder, Recorder
from dala.backends.webgpu.shader import Shader
from dala.backends.webgpu.timers import TimerRing
from dala.plan.fuse import Location
from dala.plan.planner import Plan

KEPT_BIND_GROUPS = 16
KEPT_BINDINGS = 8  # of all dispatches of a run
Params = Sequence[float | int]
FindMemory = Callable[[Location], Memory]


@dataclass(frozen=True, slots=True, eq=False)
class OwnedLocation(Location):
    """An array that belongs to the code that reads it: the weights of a network."""

    array: GpuArray


@dataclass(frozen=True, slots=True)
class CopyPass:
    """Bytes from one array to another."""

    source: Location
    target: Location
    bytes: int


class Dispatch:
    """One shader with its pipeline, its uniform block and its bind groups."""

    def __init__(self, device: OpenGpu, shader: Shader) -> None:
        self.device = device
        self.shader = shader
        self.pipeline, self.layout = device.pipelines.get(shader)
        self._groups: OrderedDict[tuple[int, ...], Any] = OrderedDict()
        self._values: bytes = b""
        self._known: tuple[Params, bytes] | None = None
        self._uniforms: Any = None

    def update(self, params: Params) -> None:
        """Write the uniform block if its values changed: runs that were recorded before this are submitted
        first, as they need the old ones."""
        if not self.shader.uniforms.fields:
            return
        if self._known is None or self._known[0] != params:
            self._known = (params, self.shader.uniforms.pack(params))
        values = self._known[1]
        if values == self._values:
            return
        if self._uniforms is None:
            self._uniforms = self.device.gpu.create_buffer(
                size=len(values), usage="UNIFORM|COPY_DST"
            )
        self.device.queue.write_buffer(self._uniforms, values)
        self._values = values

    def bind_group(self, memories: Sequence[Memory]) -> Any:
        key = tuple([m.serial for m in memories])
        found = self._groups.get(key)
        if found is not None:
            self._groups.move_to_end(key)
            return found
        resources = [{"buffer": m.buffer, "offset": 0, "size": m.bytes} for m in memories]
        if self._uniforms is not None:
            size = len(self._values)
            resources.append({"buffer": self._uniforms, "offset": 0, "size": size})
        entries = [{"binding": i, "resource": r} for i, r in enumerate(resources)]
        group = self.device.gpu.create_bind_group(layout=self.layout, entries=entries)
        self._groups[key] = group
        while len(self._groups) > KEPT_BIND_GROUPS:
            self._groups.popitem(last=False)
        return group


Step = Dispatch | CopyPass


class GpuExecutable(QueuedExecutable):
    """The steps of a plan."""

    def __init__(self, device: OpenGpu, plan: Plan, steps: Sequence[Step]) -> None:
        self.device = device
        self.plan = plan
        self.steps = list(steps)
        self.groups = _groups(steps)
        self.passes = sum(isinstance(g, list) for g in self.groups)  # compute passes
        self._bound: dict[tuple[int, ...], dict[Dispatch, BoundDispatch]] = {}
        self._bound_params: Params | None = None  # those of all of them
        self.label = " → ".join(plan.labels)

    def launch(
        self, slots: Sequence[Storage | None], params: Params, *, timed: bool = False
    ) -> Timer | None:
        timer = self.submit(slots, params, timed=timed)
        with mapped(self.label, device=self.device):
            self.device.wait(self.label)
        return timer

    def submit(
        self, slots: Sequence[Storage | None], params: Params, *, timed: bool = False
    ) -> Timer | None:
        """Hand a run to the GPU without waiting for it; the queue keeps the order."""
        device = self.device
        device.check_process()
        timers = device.timers if timed and self.passes else None
        with mapped(self.label, device=device), device.queue.lock:
            device.queue.submit_recorded()
            run = timers.begin() if timers is not None else 0
            recorder = device.queue.recorder if timers is None else PublicRecorder(device.gpu)
            with self._memory_of(slots) as (find, key):
                self._record(recorder, find, self._bind(find, key, params), 1, timers, run)
        return functools.partial(timers.read_ms, run) if timers is not None else None

    def enqueue(self, slots: Sequence[Storage | None], params: Params) -> None:
        self.device.enqueued = True
        queue = self.device.queue
        if any(isinstance(step, CopyPass) for step in self.steps):  # only dispatches are shared
            self.submit(slots, params)
            return
        self.device.check_process()
        with mapped(self.label, device=self.device), queue.lock, self._memory_of(slots) as memory:
            queue.share(self._bind(*memory, params).values())

    def repeat(self, slots: Sequence[Storage | None], params: Params, times: int) -> None:
        """Many runs in one submit, to measure them."""
        queue = self.device.queue
        with mapped(self.label, device=self.device), queue.lock:
            queue.submit_recorded()
            with self._memory_of(slots) as (find, key):
                self._record(queue.recorder, find, self._bind(find, key, params), times)

    @contextmanager
    def _memory_of(
        self, slots: Sequence[Storage | None]
    ) -> Iterator[tuple[FindMemory, tuple[int, ...]]]:
        """Where everything lies in one run, and by what that is recognised.

        Temporaries are given back at its end: whoever gets them comes later in the queue.
        """
        pool = self.device.pool
        temps: list[Memory] = []

        def find(location: Location) -> Memory:
            if location.kind == "temp":
                return temps[location.number]
            if isinstance(location, OwnedLocation):
                return location.array.memory
            array = slots[location.number]
            assert isinstance(array, GpuArray)
            return array.memory

        used = [s.memory for s in slots if isinstance(s, GpuArray)]
        try:
            for type_ in self.plan.temps:
                temps.append(pool.take(type_)[0])
            yield find, tuple([m.serial for m in (*temps, *used)])
        finally:
            for memory in temps:
                pool.give(memory)

    def _bind(
        self, find: FindMemory, key: tuple[int, ...], params: Params
    ) -> dict[Dispatch, BoundDispatch]:
        """All dispatches, before any is recorded: these calls may fail on their own.

        A run on the memory of one before it, with the last one's numbers, finds them as they were: for a
        network of 54 layers that is half of what Python takes.
        """
        if self._bound_params != params:
            self._bound.clear()
        elif key in self._bound:
            return self._bound[key]
        bound = {}
        for step in self.steps:
            if isinstance(step, Dispatch):
                step.update(params)
                group = step.bind_group([find(b.location) for b in step.shader.bindings])
                bound[step] = BoundDispatch(step.pipeline, group, step.shader.groups)
        while len(self._bound) >= KEPT_BINDINGS:
            self._bound.pop(next(iter(self._bound)))
        self._bound_params, self._bound[key] = params, bound
        return bound

    def _record(
        self,
        recorder: Recorder,
        find: FindMemory,
        bound: Mapping[Dispatch, BoundDispatch],
        times: int = 1,
        timers: TimerRing | None = None,
        run: int = 0,
    ) -> None:
        """A command buffer of its own, submitted; ``run`` is the number under which it is timed."""
        done = 0
        try:
            recorder.start()
            for work in self.groups * times:
                if isinstance(work, CopyPass):
                    recorder.copy(find(work.source).buffer, find(work.target).buffer, work.bytes)
                    continue
                done += 1
                marks = None
                if timers is not None:
                    marks = timers.marks(run, first=done == 1, last=done == self.passes)
                recorder.begin_pass(marks)
                for dispatch in work:
                    recorder.dispatch(*bound[dispatch])
                recorder.end_pass()
            if timers is not None:
                assert isinstance(recorder, PublicRecorder)
                timers.resolve(recorder.encoder, run)
            recorder.submit()
        finally:
            recorder.abandon()


def _groups(steps: Sequence[Step]) -> list[list[Dispatch] | CopyPass]:
    """Dispatches in a row share a compute pass."""
    groups: list[list[Dispatch] | CopyPass] = []
    for step in steps:
        if isinstance(step, CopyPass):
            groups.append(step)
        elif groups and isinstance(groups[-1], list):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups
