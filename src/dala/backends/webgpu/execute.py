"""A compiled plan: recorded once, replayed with one submit per run.

    compile   shaders → pipelines; temporaries and copies are known
    launch    uniform blocks whose values changed, one command buffer, one submit; then wait
    enqueue   the same without waiting, and the submit is shared with other runs (queue.py)

Bind groups are kept for the arrays used last. Everything between taking the queue and the submit is in
order with what other threads do; waiting is not.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dala.backends.base import QueuedExecutable, Storage, Timer
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory, padded_size
from dala.backends.webgpu.opened import OpenGpu
from dala.backends.webgpu.pipelines import BindGroups
from dala.backends.webgpu.record import BoundCopy, BoundDispatch, Run, encode
from dala.backends.webgpu.shader import Shader
from dala.backends.webgpu.staging import VIEWED, Reading
from dala.backends.webgpu.timers import TimerRing
from dala.ir.arrays import ArrayType
from dala.leaving import native
from dala.plan.fuse import Location
from dala.plan.planner import Plan

KEPT_BIND_GROUPS = 16
KEPT_BINDINGS = 8  # of all dispatches of a run
KEPT_FETCHING = (
    32  # the same of runs that end in main memory, by two ways in turns, for every picture
)
Array = npt.NDArray[Any]
Result = TypeVar("Result")
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
    at: int = 0  # in the target

    def bind(self, find: FindMemory, _params: Params) -> BoundCopy:
        """It, on the memory of one run."""
        source, target = find(self.source).buffer, find(self.target).buffer
        return BoundCopy(source, 0, target, self.at, self.bytes)


class Dispatch:
    """One shader with its pipeline, its uniform block and its bind groups."""

    def __init__(self, device: OpenGpu, shader: Shader) -> None:
        self.device = device
        self.shader = shader
        self.compiled = device.pipelines.get(shader)
        self.has_uniforms = bool(shader.uniforms.fields)
        self._groups = BindGroups(device.gpu, KEPT_BIND_GROUPS)
        self._values: bytes = b""
        self._known: tuple[Params, bytes] | None = None
        self._uniforms: Any = None

    def bind(self, find: FindMemory, params: Params) -> BoundDispatch:
        """It, on the memory and with the numbers of one run."""
        self.update(params)
        memories = [find(b.location) for b in self.shader.bindings]
        group = self._groups.get(self.compiled, memories, self._uniforms)
        return BoundDispatch(self.compiled.pipeline, group, self.shader.groups)

    def update(self, params: Params) -> None:
        """Write the uniform block if its values changed: runs that were recorded before this are submitted
        first, as they need the old ones."""
        if not self.has_uniforms:
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
        self._values = b""  # should an exception of a signal's handler come behind the next line
        self.device.queue.write_buffer(self._uniforms, values)
        self._values = values


Step = Dispatch | CopyPass


class GpuExecutable(QueuedExecutable):
    """The steps of a plan."""

    kept = KEPT_BINDINGS

    def __init__(self, device: OpenGpu, plan: Plan, steps: Sequence[Step]) -> None:
        self.device = device
        self.plan = plan
        self.steps = list(steps)
        dispatches = itertools.groupby(isinstance(step, Dispatch) for step in steps)
        self.passes = sum(is_pass for is_pass, _ in dispatches)  # compute passes
        self._temps = [(type_, padded_size(type_)) for type_ in plan.temps]
        self._changing = [s for s in steps if isinstance(s, Dispatch) and s.has_uniforms]
        self._bound: dict[tuple[int, ...], Run] = {}
        self._bound_params: Params | None = None  # those of all of them
        self.label = " → ".join(plan.labels)

    def launch(
        self, slots: Sequence[Storage | None], params: Params, *, timed: bool = False
    ) -> Timer | None:
        timer = self.submit(slots, params, timed=timed)
        with mapped(self.label, device=self.device), native:
            self.device.wait(self.label)
        return timer

    def submit(
        self, slots: Sequence[Storage | None], params: Params, *, timed: bool = False
    ) -> Timer | None:
        """Hand a run to the GPU without waiting for it; the queue keeps the order."""
        timers = self.device.timers if timed and self.passes else None
        if timers is None:
            self.repeat(slots, params, 1)
            return None
        return self._make_ready(slots, params, functools.partial(self._submit_timed, timers))

    def enqueue(
        self, slots: Sequence[Storage | None], params: Params, *, held: bool = False
    ) -> None:
        self.device.enqueued = True
        queue = self.device.queue
        self._make_ready(slots, params, queue.record if held else queue.share)

    def repeat(self, slots: Sequence[Storage | None], params: Params, times: int) -> None:
        """Many runs in one submit, to measure them."""
        self._make_ready(slots, params, functools.partial(self._submit, times))

    def _make_ready(
        self, slots: Sequence[Storage | None], params: Params, hand_over: Callable[[Run], Result]
    ) -> Result:
        """Hand over a run on these arrays, with the queue's lock held.

        Temporaries are given back at the end: whoever gets them comes later in the queue.
        """
        self.device.check_process()
        temps: list[Memory] = []
        with mapped(self.label, device=self.device), native, self.device.queue.lock:
            try:
                self._take(temps)
                return hand_over(self._bind(slots, temps, params))
            finally:
                self._give(temps)

    def _take(self, temps: list[Memory]) -> None:
        pool = self.device.pool
        for type_, size in self._temps:
            temps.append(pool.take_used(size) or pool.take(type_)[0])

    def _give(self, temps: list[Memory]) -> None:
        for memory in temps:
            self.device.pool.give(memory)

    def _submit(self, times: int, run: Run) -> None:
        deque(map(self.device.queue.record, itertools.repeat(run, times)), maxlen=0)
        self.device.queue.submit_recorded()

    def _submit_timed(self, timers: TimerRing, run: Run) -> Timer:
        number = timers.begin()
        encoder = self.device.gpu.create_command_encoder()
        last = self.passes - 1
        encode(encoder, run, lambda k: timers.marks(number, first=k == 0, last=k == last))
        timers.resolve(encoder, number)
        self.device.queue.submit(encoder)
        return functools.partial(timers.read_ms, number)

    def _bind(
        self, slots: Sequence[Storage | None], temps: Sequence[Memory], params: Params
    ) -> Run:
        """All that is done, before any of it is recorded: these calls may fail on their own.

        A run on the memory of one before it, with the last one's numbers, is that run again.
        """
        used = [s.memory for s in slots if isinstance(s, GpuArray)]
        key = tuple([m.serial for m in (*temps, *used)])
        if self._bound_params != params:
            self._bound_params = None  # until all of them are written
            for step in self._changing:
                step.update(params)
        run = self._bound.get(key)
        if run is None:
            find = functools.partial(find_memory, slots, temps)
            run = Run([step.bind(find, params) for step in self.steps])
            while len(self._bound) >= self.kept:
                self._bound.pop(next(iter(self._bound)))
            self._bound[key] = run
        self._bound_params = params
        return run


class FetchingExecutable(GpuExecutable):
    """A plan with results among its temporaries: a run of it ends with their copies to where the host can
    read them, in the same submit."""

    def __init__(self, whole: GpuExecutable, results: Sequence[tuple[Location, ArrayType]]) -> None:
        landing = Location("temp", len(whole.plan.temps))
        sizes = [padded_size(type_) for _, type_ in results]
        starts = [*itertools.accumulate(sizes, initial=0)]
        copies = [
            CopyPass(location, landing, size, at)
            for (location, _), size, at in zip(results, sizes, starts, strict=False)
        ]
        super().__init__(whole.device, whole.plan, [*whole.steps, *copies])
        self.bytes = starts[-1]
        if self.bytes < VIEWED:  # what is kept holds the memory that it goes to
            self.kept = KEPT_FETCHING
        self._results = [
            (type_.shape, type_.dtype.numpy, at)
            for (_, type_), at in zip(results, starts, strict=False)
        ]

    def fetch(self, slots: Sequence[Storage], params: Params) -> list[Array]:
        """Run it and wait for the results."""
        self.device.check_process()
        with mapped(self.label, device=self.device), native:
            content = self.device.staging.content(self._begin(slots, params), self.bytes)
        return [np.ndarray(shape, dtype, content, at) for shape, dtype, at in self._results]

    def _begin(self, slots: Sequence[Storage], params: Params) -> Reading:
        temps: list[Memory] = []
        with self.device.queue.lock:
            try:
                self._take(temps)
                landing = self.device.staging.landing(self.bytes)
                run = self._bind(slots, [*temps, landing], params)
                return self.device.staging.begin_read_run(run, landing)
            finally:
                self._give(temps)


def find_memory(
    slots: Sequence[Storage | None], temps: Sequence[Memory], location: Location
) -> Memory:
    """Where an array lies in one run."""
    if location.kind == "temp":
        return temps[location.number]
    array = location.array if isinstance(location, OwnedLocation) else slots[location.number]
    assert isinstance(array, GpuArray)
    return array.memory
