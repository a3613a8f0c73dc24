"""Command buffers: dispatches and copies in order; then a submit of one or several.

wgpu-py checks and wraps every call, which costs more than the calls themselves (one dispatch, measured side
by side: 54 µs against 15). ``NativeRecorder`` makes the same calls on wgpu-native directly and looks for an
error once they are all made. It needs parts of wgpu-py that are not public; where they are missing,
``PublicRecorder`` serves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

Groups = tuple[int, int, int]


class Recorder(ABC):
    """Records one command buffer at a time; whoever uses it holds the queue's lock."""

    def __init__(self) -> None:
        self._finished: list[Any] = []

    @property
    def recorded(self) -> int:
        """How many command buffers are complete, and not submitted."""
        return len(self._finished)

    def forget(self) -> None:
        """Drop those: the GPU is lost."""
        self._finished.clear()

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
    def finish(self) -> None:
        """Complete the command buffer; raises what was wrong with it."""

    @abstractmethod
    def submit(self) -> None:
        """Hand all complete command buffers to the GPU, in order."""

    @abstractmethod
    def abandon(self) -> None:
        """Forget the command buffer that is being recorded. Those that are complete stay."""


class PublicRecorder(Recorder):
    """Through wgpu-py, call by call."""

    def __init__(self, gpu: Any) -> None:
        super().__init__()
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

    def finish(self) -> None:
        self._finished.append(self.encoder.finish())
        self.encoder = None

    def submit(self) -> None:
        finished, self._finished = self._finished, []
        self.gpu.queue.submit(finished)

    def abandon(self) -> None:
        self.encoder = self._pass = None


class NativeRecorder(Recorder):
    """On wgpu-native itself. Without timestamps: a timed run goes the public way."""

    def __init__(self, gpu: Any) -> None:
        from wgpu.backends.wgpu_native import _api, _helpers

        super().__init__()
        self._lib, self._ffi = _api.lib, _api.ffi
        self._errors, self._kinds = _api.error_handler, _helpers.ERROR_TYPES
        self._errors._get_proxy_stack()  # it is there, or the public way serves
        self._gpu = gpu
        self._device, self._queue = gpu._internal, gpu.queue._internal
        new = self._ffi.new
        self._encoder_options = new("WGPUCommandEncoderDescriptor *")
        self._pass_options = new("WGPUComputePassDescriptor *")
        self._buffer_options = new("WGPUCommandBufferDescriptor *")
        self._encoder: Any = None
        self._pass: Any = None
        self._slots: Any = None  # of this thread, in which wgpu-py collects errors
        self._depth = 0  # how many there were before ours

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
        lib.wgpuComputePassEncoderSetPipeline(here, pipeline._internal)
        lib.wgpuComputePassEncoderSetBindGroup(here, 0, bind_group._internal, 0, self._ffi.NULL)
        lib.wgpuComputePassEncoderDispatchWorkgroups(here, *groups)

    def end_pass(self) -> None:
        self._lib.wgpuComputePassEncoderEnd(self._pass)
        here, self._pass = self._pass, None
        self._lib.wgpuComputePassEncoderRelease(here)

    def copy(self, source: Any, target: Any, size: int) -> None:
        self._lib.wgpuCommandEncoderCopyBufferToBuffer(
            self._encoder, source._internal, 0, target._internal, 0, size
        )

    def finish(self) -> None:
        buffer = self._lib.wgpuCommandEncoderFinish(self._encoder, self._buffer_options)
        buffer = self._ffi.gc(buffer, self._lib.wgpuCommandBufferRelease)
        # Before the submit, not after: given a command buffer with an error in it, wgpu-native does not
        # report it but ends the process.
        self._raise(self._finish())
        self._finished.append(buffer)

    def submit(self) -> None:
        finished = self._finished
        commands = self._ffi.new("WGPUCommandBuffer[]", finished)
        self._capture()
        hand_over = partial(self._lib.wgpuQueueSubmit, self._queue, len(finished), commands)
        _do_both(hand_over, finished.clear)
        self._raise(self._finish())

    def _raise(self, found: tuple[str, str] | None) -> None:
        if found is not None:
            kind, message = found
            raise self._kinds.get(kind, self._kinds[""])(message)

    def abandon(self) -> None:
        self._finish()

    def _finish(self) -> tuple[str, str] | None:
        """Let go of what is held; the error that came up meanwhile, if any."""
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
        slots = self._errors._get_proxy_stack()
        self._slots, self._depth = slots, len(slots)
        self._errors.capture("dala")


def _do_both(first: partial[Any], second: Callable[[], object]) -> None:
    """Call two functions that are written in C: Python does not look for signals in between, so that no
    Ctrl-C can have the one done without the other."""
    deque(map(partial.__call__, (first, partial(second))), maxlen=0)


def make_recorder(gpu: Any) -> Recorder:
    """The quick one where this version of wgpu-py allows it."""
    try:
        return NativeRecorder(gpu)
    except (ImportError, AttributeError):
        return PublicRecorder(gpu)
