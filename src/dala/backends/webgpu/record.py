"""Command buffers: dispatches and copies in order, then a submit.

wgpu-py checks and wraps every call, which costs more than the calls themselves (one dispatch, measured side
by side: 54 µs against 15). ``NativeRecorder`` makes the same calls on wgpu-native directly and looks for an
error once they are all made. It needs parts of wgpu-py that are not public; where they are missing,
``PublicRecorder`` serves.

Several runs can share a command buffer: to complete one takes 13 µs on an H200, to submit it 9 to 13, and a
run itself 7. A run is added by a chain of calls in which Python does not look for signals: it is there or
not. (What is complete must be submitted: released without that, wgpu-native keeps it and its device for
good.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from dala.backends.webgpu.wgpu_private import ErrorSlots, handle_of, load_library

Groups = tuple[int, int, int]


class BoundDispatch(NamedTuple):
    """A shader with all that it needs."""

    pipeline: Any
    bind_group: Any
    groups: Groups


class Recorder(ABC):
    """Records one command buffer at a time; whoever uses it holds the queue's lock."""

    @property
    def shared(self) -> int:
        """How many runs wait in the command buffer that several share."""
        return 0

    def share(self, run: Iterable[BoundDispatch]) -> None:
        """Add a run to that; here, where none is shared, it is submitted at once."""
        try:
            self.start()
            self.begin_pass(None)
            for dispatch in run:
                self.dispatch(*dispatch)
            self.end_pass()
            self.submit()
        finally:
            self.abandon()

    def submit_shared(self) -> None:
        """Hand what is shared to the GPU; raises what was wrong with it."""
        assert not self.shared

    def forget_shared(self) -> None:
        """Drop it: the GPU is lost."""
        assert not self.shared

    @abstractmethod
    def start(self) -> None:
        """Begin a command buffer."""

    @abstractmethod
    def begin_pass(self, marks: dict[str, Any] | None) -> None:
        """Open a compute pass; ``marks`` ask for timestamps."""

    @abstractmethod
    def dispatch(self, pipeline: Any, bind_group: Any, groups: Groups) -> None:
        """Run a shader."""

    @abstractmethod
    def end_pass(self) -> None:
        """Close the compute pass."""

    @abstractmethod
    def copy(self, source: Any, target: Any, size: int) -> None:
        """Copy bytes between buffers."""

    @abstractmethod
    def submit(self) -> None:
        """Hand the command buffer to the GPU; raises what was wrong with it."""

    @abstractmethod
    def abandon(self) -> None:
        """Forget a command buffer that is not complete. After a submit this does nothing."""


class PublicRecorder(Recorder):
    """Through wgpu-py, call by call."""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self.encoder: Any = None
        self._pass: Any = None

    def start(self) -> None:
        self.encoder = self.gpu.create_command_encoder()

    def begin_pass(self, marks: dict[str, Any] | None) -> None:
        self._pass = self.encoder.begin_compute_pass(timestamp_writes=marks)

    def dispatch(self, pipeline: Any, bind_group: Any, groups: Groups) -> None:
        self._pass.set_pipeline(pipeline)
        self._pass.set_bind_group(0, bind_group)
        self._pass.dispatch_workgroups(*groups)

    def end_pass(self) -> None:
        self._pass.end()
        self._pass = None

    def copy(self, source: Any, target: Any, size: int) -> None:
        self.encoder.copy_buffer_to_buffer(source, 0, target, 0, size)

    def submit(self) -> None:
        self.gpu.queue.submit([self.encoder.finish()])
        self.encoder = None

    def abandon(self) -> None:
        self.encoder = self._pass = None


class NativeRecorder(Recorder):
    """On wgpu-native itself. Without timestamps: a timed run goes the public way."""

    def __init__(self, gpu: Any) -> None:
        self._lib, self._ffi = load_library()
        self._errors = ErrorSlots()
        self._gpu = gpu
        self._device, self._queue = handle_of(gpu), handle_of(gpu.queue)
        new = self._ffi.new
        self._encoder_options = new("WGPUCommandEncoderDescriptor *")
        self._pass_options = new("WGPUComputePassDescriptor *")
        self._buffer_options = new("WGPUCommandBufferDescriptor *")
        self._commands = new("WGPUCommandBuffer[]", 1)
        self._encoder: Any = None
        self._pass: Any = None
        self._slots: Any = None  # of this thread, in which wgpu-py collects errors
        self._depth = 0  # how many there were before ours
        self._shared: list[None] = []  # an item for each run
        self._open: list[Any] = []  # encoder and pass that they share
        self._finished: list[Any] = []  # complete and not submitted: only if that was interrupted

    def start(self) -> None:
        self._capture()
        self._encoder = self._lib.wgpuDeviceCreateCommandEncoder(
            self._device, self._encoder_options
        )

    def begin_pass(self, marks: dict[str, Any] | None) -> None:
        assert marks is None, "a timed run goes the public way"
        self._pass = self._lib.wgpuCommandEncoderBeginComputePass(self._encoder, self._pass_options)

    def dispatch(self, pipeline: Any, bind_group: Any, groups: Groups) -> None:
        lib, here = self._lib, self._pass
        lib.wgpuComputePassEncoderSetPipeline(here, handle_of(pipeline))
        lib.wgpuComputePassEncoderSetBindGroup(here, 0, handle_of(bind_group), 0, self._ffi.NULL)
        lib.wgpuComputePassEncoderDispatchWorkgroups(here, *groups)

    def end_pass(self) -> None:
        self._lib.wgpuComputePassEncoderEnd(self._pass)
        here, self._pass = self._pass, None
        self._lib.wgpuComputePassEncoderRelease(here)

    def copy(self, source: Any, target: Any, size: int) -> None:
        self._lib.wgpuCommandEncoderCopyBufferToBuffer(
            self._encoder, handle_of(source), 0, handle_of(target), 0, size
        )

    def submit(self) -> None:
        lib = self._lib
        buffer = lib.wgpuCommandEncoderFinish(self._encoder, self._buffer_options)
        try:
            # Before the submit, not after: given a command buffer with an error in it, wgpu-native
            # does not report it but ends the process.
            self._raise(self._finish())
            self._capture()
            self._commands[0] = buffer
            lib.wgpuQueueSubmit(self._queue, 1, self._commands)
            self._raise(self._finish())
        finally:
            lib.wgpuCommandBufferRelease(buffer)

    # -- runs that share ---------------------------------------------------------------------------

    @property
    def shared(self) -> int:
        return len(self._shared)

    def share(self, run: Iterable[BoundDispatch]) -> None:
        if not self._open:
            self._begin_shared()
        lib, dispatches = self._lib, list(run)
        here, zero, null = repeat(self._open[1]), repeat(0), repeat(self._ffi.NULL)
        pipelines = [handle_of(d.pipeline) for d in dispatches]
        bind_groups = [handle_of(d.bind_group) for d in dispatches]
        sizes = zip(*[d.groups for d in dispatches], strict=True)
        # one call of each for every dispatch; made of objects for each call, this took three times as long
        calls = zip(
            map(lib.wgpuComputePassEncoderSetPipeline, here, pipelines),
            map(lib.wgpuComputePassEncoderSetBindGroup, here, zero, bind_groups, zero, null),
            map(lib.wgpuComputePassEncoderDispatchWorkgroups, here, *sizes),
            strict=False,
        )
        _uninterrupted([partial(deque, calls, 0), partial(self._shared.append, None)])

    def _begin_shared(self) -> None:
        lib, owned = self._lib, self._ffi.gc
        encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, self._encoder_options)
        encoder = owned(encoder, lib.wgpuCommandEncoderRelease)
        here = lib.wgpuCommandEncoderBeginComputePass(encoder, self._pass_options)
        self._open.extend((encoder, owned(here, lib.wgpuComputePassEncoderRelease)))

    def submit_shared(self) -> None:
        lib, finished = self._lib, self._finished
        if self._open:
            encoder, here = self._open
            self._capture()
            finish = map(lib.wgpuCommandEncoderFinish, [encoder], [self._buffer_options])
            end = partial(lib.wgpuComputePassEncoderEnd, here)
            _uninterrupted([end, partial(finished.extend, finish), partial(self._open.clear)])
        found = self._finish()
        if found is not None:
            self.forget_shared()
            self._raise(found)
        commands, count = self._ffi.new("WGPUCommandBuffer[]", finished), len(finished)
        self._capture()
        hand_over = partial(lib.wgpuQueueSubmit, self._queue, count, commands)
        _uninterrupted([hand_over, partial(finished.clear), partial(self._shared.clear)])
        for buffer in commands:
            lib.wgpuCommandBufferRelease(buffer)
        self._raise(self._finish())

    def forget_shared(self) -> None:
        for kept in (self._shared, self._open, self._finished):
            kept.clear()

    # -- errors ------------------------------------------------------------------------------------

    def _raise(self, found: tuple[str, str] | None) -> None:
        if found is not None:
            raise self._errors.error(*found)

    def abandon(self) -> None:
        self._finish()

    def _finish(self) -> tuple[str, str] | None:
        """Let go of what is kept; the error that came up meanwhile, if any."""
        here, self._pass = self._pass, None
        if here is not None:
            self._lib.wgpuComputePassEncoderRelease(here)
        encoder, self._encoder = self._encoder, None
        if encoder is not None:
            self._lib.wgpuCommandEncoderRelease(encoder)
        found: tuple[str, str] | None = None
        # Down to the depth there was, not just ours: a signal handler's exception may have left one behind.
        while self._slots is not None and len(self._slots) > self._depth:
            slot = self._slots.pop()
            if slot.message is not None:
                found = (slot.type, slot.message)
        self._slots = None
        return found

    def _capture(self) -> None:
        """Let errors be collected until ``_finish``, rather than logged."""
        slots = self._errors.of_this_thread()
        self._slots, self._depth = slots, len(slots)
        self._errors.open()


def _uninterrupted(calls: Sequence[partial[Any]]) -> None:
    """Call functions that are written in C, one after the other: Python does not look for signals in
    between, so that no Ctrl-C can have one done without the next."""
    deque(map(partial.__call__, calls), maxlen=0)


def make_recorder(gpu: Any) -> Recorder:
    """The quick one where this version of wgpu-py allows it."""
    try:
        return NativeRecorder(gpu)
    except (ImportError, AttributeError):
        return PublicRecorder(gpu)
